//! A ledger, and what can be done with it.

use crate::bucket::Bucket;
use crate::charge::Charge;
use crate::codec::{damaged, of_json};
use crate::entry;
use crate::place::{made, opened};
use crate::store::{Access, Rows, Store, TERMS, Table};
use crate::stored::{Costs, bucket, in_status, limits, put_bucket, release, sums};
use crate::terms::VERSION;
use crate::{Budget, LedgerError, OverBudget, Place, Release, Roll, Spend, Status, Terms};

/// A ledger that is open. See the [crate] for what it is.
///
/// # Guarantee
/// If every release about these people is reserved before it is made, and aborted only if nothing of it was released, then for
/// each person all releases together are (ε, δ)-private by their budget; also if each release was chosen after the earlier
/// ones were seen, unless the budget says that they were planned (see [`Budget`]). This holds for any number of programs that
/// use the ledger at the same time, and however any of them ends.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use dobrushin::profile::ApproximateProfile;
/// use dobrushin::{Delta, Epsilon, Neighbours};
/// use dobrushin_ledger::{Budget, Choice, Ledger, LedgerError, Place, Roll, Spend, Terms};
///
/// let budget = Budget::new(Epsilon::new(1.0)?, Delta::new(1e-6)?, Choice::Adaptive);
/// let path = std::env::temp_dir().join(format!("example-{}.ledger", std::process::id()));
/// let place = Place::File(path.clone());
/// let mut ledger = Ledger::create(&place, Terms::new(Neighbours::ReplaceOne, budget, 100, [7; 16]))?;
///
/// // Ada has two answers in a survey that promises ε = 0.4 for each answer, and Ben has one.
/// let survey = ApproximateProfile::new(Epsilon::new(0.4)?, Delta::new(0.0)?);
/// let survey = Spend::of_profile(&survey, "claim", "a survey".to_owned(), "ε = 0.4".into());
/// let mut people = Roll::new(&ledger.terms()?);
/// for name in ["ada", "ben", "ada"] {
///     people.add(name.as_bytes())?;
/// }
/// let reserved = ledger.reserve(&survey, &mut people, None)?;
/// // … the survey is carried out …
/// ledger.commit(reserved.id, None)?;
///
/// // A second one is too much for Ada.
/// let refused = ledger.reserve(&survey, &mut people, None);
/// assert!(matches!(refused, Err(LedgerError::OverBudget(people)) if people.first == ["ada"]));
/// assert!(ledger.person("ben")?.spent.share < 0.5);
/// # std::fs::remove_file(path)?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Ledger {
    pub(crate) store: Box<dyn Store>,
}

/// What was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reserved {
    /// The number of the release.
    pub id: u64,
    /// How many people are in it.
    pub people: u64,
    /// How many records they have.
    pub records: u64,
}

impl Ledger {
    /// Makes a ledger in which nobody has spent anything.
    ///
    /// # Errors
    /// [`LedgerError`] if there is something at this place already, or it cannot be written.
    pub fn create(place: &Place, terms: Terms) -> Result<Self, LedgerError> {
        terms.budget.allowance()?;
        let fill = &mut |rows: &mut dyn Rows| {
            rows.put_json(Table::Meta, TERMS, &terms)?;
            let nobody = Bucket::default().encode();
            (0..i64::from(terms.buckets))
                .try_for_each(|bucket| rows.put_content(Table::Bucket, (0, bucket), &nobody))
        };
        Ok(Self { store: made(place, fill)? })
    }

    /// Opens a ledger.
    ///
    /// # Errors
    /// [`LedgerError`] if there is none, or it cannot be read.
    pub fn open(place: &Place) -> Result<Self, LedgerError> {
        let mut ledger = Self { store: opened(place)? };
        let version = ledger.terms()?.version;
        if version != VERSION {
            let what =
                format!("the ledger is of version {version}, and this program knows version {VERSION}");
            return Err(LedgerError::store(what, "a newer dobrushin reads it"));
        }
        Ok(ledger)
    }

    /// What it is about.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be read.
    pub fn terms(&mut self) -> Result<Terms, LedgerError> {
        self.read(|rows| rows.json(Table::Meta, TERMS))
    }

    /// Charges everybody on the roll what the release costs them, before it is made; `made` is the day. Nothing happens if
    /// that is more than anybody may spend.
    ///
    /// # Errors
    /// [`LedgerError::OverBudget`] with those who would spend too much; and others if something is wrong.
    pub fn reserve(
        &mut self,
        spend: &Spend,
        roll: &mut Roll,
        made: Option<String>,
    ) -> Result<Reserved, LedgerError> {
        self.write(|rows| {
            let mut terms: Terms = rows.json(Table::Meta, TERMS)?;
            let id = terms.releases + 1;
            let mut charge = Charge::new(rows, &terms, spend)?;
            let (mut people, mut added) = (0, 0);
            let mut over = OverBudget { count: 0, first: Vec::new() };
            roll.each_bucket(|number, group| {
                people += group.len() as u64;
                let (mut bucket, parts, new) = charge.bucket(rows, number, group, &mut |member, _| {
                    over.count += 1;
                    if over.first.len() < OverBudget::LISTED {
                        over.first.push(String::from_utf8_lossy(&member.name).into_owned());
                    }
                })?;
                added += new;
                if over.count == 0 {
                    put_bucket(rows, number, &mut bucket)?;
                    rows.put_content(Table::Entry, (i64::from(number), id as i64), &entry::encode(parts))?;
                }
                Ok(())
            })?;
            if over.count > 0 {
                return Err(LedgerError::OverBudget(over));
            }
            for (class, made) in charge.classes.made.iter().enumerate() {
                rows.put_content(Table::Cost, (id as i64, class as i64), &made.encode())?;
            }
            let release = Release {
                id,
                status: Status::Reserved,
                what: spend.what.clone(),
                made: made.clone(),
                people,
                records: roll.records(),
                classes: charge.classes.made.len() as u32,
                notes: Vec::new(),
                description: spend.description.clone(),
            };
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            terms.releases = id;
            terms.people += added;
            rows.put_json(Table::Meta, TERMS, &terms)?;
            Ok(Reserved { id, people, records: release.records })
        })
    }

    /// Calls `each` for everybody on the roll who would spend too much, with the places of their records; nothing is changed.
    ///
    /// # Errors
    /// [`LedgerError`] if something is wrong.
    pub fn over_budget(
        &mut self,
        spend: &Spend,
        roll: &mut Roll,
        each: &mut dyn FnMut(&[u8], &[u64]),
    ) -> Result<(), LedgerError> {
        self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut charge = Charge::new(rows, &terms, spend)?;
            roll.each_bucket(|number, group| {
                charge.bucket(rows, number, group, &mut |member, places| each(&member.name, places)).map(drop)
            })
        })
    }

    /// What was reserved is about to be released: from now on it cannot be aborted, until it is known that it
    /// [stays](Self::stays).
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before. Then nothing may be released.
    pub fn leaves(&mut self, id: u64) -> Result<Release, LedgerError> {
        self.turn(id, &[Status::Reserved], "released", Status::Leaving)
    }

    /// What was about to be released was not, so it is only reserved again.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before.
    pub fn stays(&mut self, id: u64) -> Result<Release, LedgerError> {
        self.turn(id, &[Status::Reserved, Status::Leaving], "kept", Status::Reserved)
    }

    fn turn(
        &mut self,
        id: u64,
        from: &[Status],
        wanted: &'static str,
        to: Status,
    ) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = in_status(rows, id, from, wanted)?;
            release.status = to;
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// What was reserved has happened.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before.
    pub fn commit(&mut self, id: u64, note: Option<String>) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = in_status(rows, id, &[Status::Reserved, Status::Leaving], "committed")?;
            release.status = Status::Committed;
            release.notes.extend(note.clone());
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// What was reserved will never happen: nothing of it was released, and nobody pays for it.
    ///
    /// # Errors
    /// [`LedgerError::NotReserved`] if it was committed or aborted before.
    pub fn abort(&mut self, id: u64, note: Option<String>) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = in_status(rows, id, &[Status::Reserved], "aborted")?;
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut costs = Costs::default();
            for number in 0..terms.buckets {
                let key = (i64::from(number), id as i64);
                let Some(content) = rows.content_if_any(Table::Entry, key)? else { continue };
                let parts = entry::decode(&content).ok_or_else(|| damaged(Table::Entry, key))?;
                let mut bucket = bucket(rows, number)?;
                rows.delete(Table::Entry, key)?;
                let mut again = Vec::new();
                {
                    let mut members = bucket.by_serial();
                    for (serial, class) in parts {
                        let member = members.get_mut(&serial).ok_or_else(|| damaged(Table::Entry, key))?;
                        match member.cost.without(costs.of(rows, id, class)?) {
                            Some(left) => member.cost = left,
                            None => again.push(serial),
                        }
                    }
                }
                if !again.is_empty() {
                    let sums = sums(rows, number, &mut costs)?;
                    let mut members = bucket.by_serial();
                    for serial in again {
                        if let Some(member) = members.get_mut(&serial) {
                            member.cost = sums.get(&serial).copied().unwrap_or_default();
                        }
                    }
                }
                put_bucket(rows, number, &mut bucket)?;
            }
            release.status = Status::Aborted;
            release.notes.extend(note.clone());
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// Adds a note to a release, such as a deletion from its model.
    ///
    /// # Errors
    /// [`LedgerError`] if there is no such release.
    pub fn note(&mut self, id: u64, note: String) -> Result<Release, LedgerError> {
        self.write(|rows| {
            let mut release = release(rows, id)?;
            release.notes.push(note.clone());
            rows.put_json(Table::Release, (0, id as i64), &release)?;
            Ok(release)
        })
    }

    /// A release.
    ///
    /// # Errors
    /// [`LedgerError::NoSuchRelease`].
    pub fn release(&mut self, id: u64) -> Result<Release, LedgerError> {
        self.read(|rows| release(rows, id))
    }

    /// Calls `each` for every release, from the first to the last.
    ///
    /// # Errors
    /// [`LedgerError`] if one of them is missing or damaged.
    pub fn releases(&mut self, each: &mut dyn FnMut(Release)) -> Result<(), LedgerError> {
        self.read(|rows| {
            let terms: Terms = rows.json(Table::Meta, TERMS)?;
            let mut known = 0;
            rows.each(Table::Release, 0, &mut |number, content| {
                known += 1;
                if number != known {
                    return Err(LedgerError::Damaged(format!("release {known} is missing")));
                }
                each(of_json(Table::Release, (0, number), content)?);
                Ok(())
            })?;
            if known != terms.releases as i64 {
                return Err(LedgerError::Damaged(format!("release {} is missing", known + 1)));
            }
            Ok(())
        })
    }

    /// Changes the budget of everybody who has none of their own. What was spent stays spent.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be written.
    pub fn set_budget(&mut self, budget: Budget) -> Result<(), LedgerError> {
        budget.allowance()?;
        self.write(|rows| {
            let mut terms: Terms = rows.json(Table::Meta, TERMS)?;
            if terms.releases > 0 && budget.is_planned_after(&terms.budget) {
                return Err(too_late_to_plan("everybody"));
            }
            terms.budget = budget;
            rows.put_json(Table::Meta, TERMS, &terms)
        })
    }

    /// Gives everybody on the roll a budget of their own. People who were in no release yet are added.
    ///
    /// # Errors
    /// [`LedgerError`] if it cannot be written.
    pub fn set_budget_of(&mut self, roll: &mut Roll, budget: Budget) -> Result<u64, LedgerError> {
        budget.allowance()?;
        self.write(|rows| {
            let mut terms: Terms = rows.json(Table::Meta, TERMS)?;
            let limits = limits(rows, &terms)?;
            // Equal budgets have one number.
            let mut number = None;
            rows.each(Table::Budget, 0, &mut |known, content| {
                if of_json::<Budget>(Table::Budget, (0, known), content)? == budget {
                    number = u32::try_from(known).ok();
                }
                Ok(())
            })?;
            let number = match number {
                Some(number) => number,
                None => {
                    terms.budgets += 1;
                    rows.put_json(Table::Budget, (0, i64::from(terms.budgets)), &budget)?;
                    terms.budgets
                }
            };
            let mut people = 0;
            roll.each_bucket(|place, group| {
                people += group.len() as u64;
                let mut bucket = bucket(rows, place)?;
                let names = group.iter().map(|(name, _)| (&**name, ()));
                let mut too_late = None;
                terms.people += bucket.visit(names, |member, ()| {
                    let before = limits.get(member.budget as usize).map(|limit| limit.budget);
                    let is_late = before.is_none_or(|before| budget.is_planned_after(&before));
                    if is_late && !member.cost.is_nothing() {
                        too_late = Some(String::from_utf8_lossy(&member.name).into_owned());
                    }
                    member.budget = number;
                });
                if let Some(name) = too_late {
                    return Err(too_late_to_plan(&format!("{name:?}")));
                }
                put_bucket(rows, place, &mut bucket)
            })?;
            rows.put_json(Table::Meta, TERMS, &terms)?;
            Ok(people)
        })
    }

    /// Reads something, all of it at one moment.
    pub(crate) fn read<T>(
        &mut self,
        work: impl FnMut(&mut dyn Rows) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.within(Access::Read, work)
    }

    fn write<T>(
        &mut self,
        work: impl FnMut(&mut dyn Rows) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        self.within(Access::Write, work)
    }

    fn within<T>(
        &mut self,
        access: Access,
        mut work: impl FnMut(&mut dyn Rows) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut found = None;
        self.store.transaction(access, &mut |rows| {
            found = Some(work(rows)?);
            Ok(())
        })?;
        found.ok_or_else(|| LedgerError::store("the ledger did nothing", "try again"))
    }
}

fn too_late_to_plan(who: &str) -> LedgerError {
    LedgerError::invalid(
        format!("the budget of {who} cannot become one for planned releases: there are releases already"),
        "releases are planned before the first of them is seen: leave --planned out, or make another ledger",
    )
}
