//! Whether a ledger says what was written into it.

use crate::store::{TERMS, Table};
use crate::stored::{Costs, bucket, sums};
use crate::{Ledger, LedgerError, Release, Status, Terms};
use std::collections::BTreeMap;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The number of people.
    pub people: u64,
    /// The number of releases.
    pub releases: u64,
    /// What is wrong, in words; nothing if all is well.
    pub faults: Vec<String>,
}

impl Ledger {
    /// Reads everything, adds up again what everybody has spent, and compares.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be read at all; what is damaged is in the list.
    pub fn check(&mut self) -> Result<Checked, LedgerError> {
        let mut checked = Checked { faults: self.store.faults()?, ..Checked::default() };
        let mut statuses: BTreeMap<u64, (Status, u64)> = BTreeMap::new();
        let listed = self.releases(&mut |release: Release| {
            statuses.insert(release.id, (release.status, release.people));
        });
        checked.faults.extend(listed.err().map(|error| error.to_string()));
        checked.releases = statuses.len() as u64;
        let (mut people, mut faults) = (0, Vec::new());
        let terms = self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut costs = Costs::default();
            let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
            (people, faults) = (0, Vec::new());
            for number in 0..terms.buckets {
                let found = (|| {
                    let bucket = bucket(rows, number)?;
                    people += bucket.members.len() as u64;
                    for history in crate::stored::histories(rows, number)?.into_values() {
                        history.into_iter().for_each(|(release, _)| *seen.entry(release).or_default() += 1);
                    }
                    let mut sums = sums(rows, number, &mut costs)?;
                    let of_name =
                        |member: &crate::bucket::Member| String::from_utf8_lossy(&member.name).into_owned();
                    for member in &bucket.members {
                        if terms.bucket(&member.name) != number {
                            faults.push(format!("{:?} is in a bucket of other people", of_name(member)));
                        }
                        if sums.remove(&member.serial).unwrap_or_default() != member.cost {
                            faults.push(format!(
                                "what {:?} has spent is not the sum of their releases",
                                of_name(member)
                            ));
                        }
                    }
                    if !sums.is_empty() {
                        faults.push(format!("{} people of bucket {number} are missing", sums.len()));
                    }
                    Ok::<_, LedgerError>(())
                })();
                faults.extend(found.err().map(|error| error.to_string()));
            }
            for (release, (status, count)) in &statuses {
                let expected = if *status == Status::Aborted { 0 } else { *count };
                let found = seen.remove(release).unwrap_or(0);
                if found != expected {
                    faults.push(format!("release {release} has {found} people instead of {expected}"));
                }
            }
            faults.extend(seen.keys().map(|release| format!("release {release} is not listed")));
            Ok(terms)
        })?;
        checked.people = people;
        checked.faults.append(&mut faults);
        if people != terms.people {
            checked.faults.push(format!("there are {people} people instead of {}", terms.people));
        }
        Ok(checked)
    }
}
