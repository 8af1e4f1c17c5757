//! The people whose names have the same hash.
//!
//! People with the same history have the same sum, so a bucket holds each sum once.

use crate::codec::{Reader, put_number};
use dobrushin::profile::RunningCost;
use std::collections::HashMap;

/// A person, as a bucket knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: Box<[u8]>,
    /// Their number in the bucket, which never changes.
    pub serial: u32,
    /// The number of their budget; 0 is everybody's.
    pub budget: u32,
    /// What they have spent.
    pub cost: RunningCost,
}

/// People in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    pub members: Vec<Member>,
}

impl Bucket {
    /// The place of a name.
    pub fn find(&self, name: &[u8]) -> Option<&Member> {
        let place = self.members.binary_search_by(|member| (*member.name).cmp(name)).ok()?;
        self.members.get(place)
    }

    /// The member with this number; numbers are not in the order of names.
    pub fn by_serial(&mut self) -> HashMap<u32, &mut Member> {
        self.members.iter_mut().map(|member| (member.serial, member)).collect()
    }

    /// Lets `change` see the member of each name, in the order of names and without repetitions; who is not there is added.
    /// Returns how many were added.
    pub fn visit<'a, T>(
        &mut self,
        names: impl Iterator<Item = (&'a [u8], T)>,
        mut change: impl FnMut(&mut Member, T),
    ) -> u64 {
        let mut next = self.members.len() as u32;
        let known = next;
        let mut old = std::mem::take(&mut self.members).into_iter().peekable();
        for (name, what) in names {
            while let Some(member) = old.next_if(|member| *member.name < *name) {
                self.members.push(member);
            }
            let mut member = old.next_if(|member| *member.name == *name).unwrap_or_else(|| {
                next += 1;
                Member { name: name.into(), serial: next - 1, budget: 0, cost: RunningCost::default() }
            });
            change(&mut member, what);
            self.members.push(member);
        }
        self.members.extend(old);
        u64::from(next - known)
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut places: HashMap<(u32, RunningCost), u64> = HashMap::new();
        let mut sums = Vec::new();
        let mut people = Vec::new();
        for member in &self.members {
            let number = places.len() as u64;
            let place = *places.entry((member.budget, member.cost)).or_insert_with(|| {
                put_number(&mut sums, u64::from(member.budget));
                sums.extend_from_slice(&member.cost.to_bytes());
                number
            });
            put_number(&mut people, member.name.len() as u64);
            people.extend_from_slice(&member.name);
            put_number(&mut people, u64::from(member.serial));
            put_number(&mut people, place);
        }
        let mut bytes = Vec::with_capacity(sums.len() + people.len() + 16);
        put_number(&mut bytes, places.len() as u64);
        bytes.extend(sums);
        put_number(&mut bytes, self.members.len() as u64);
        bytes.extend(people);
        bytes
    }

    pub fn decode(content: &[u8]) -> Option<Self> {
        let mut reader = Reader(content);
        let count = reader.number()?;
        let sums: Vec<(u32, RunningCost)> =
            (0..count).map(|_| Some((reader.small()?, reader.cost()?))).collect::<Option<_>>()?;
        let count = reader.number()?;
        let member = |_| {
            let length = reader.number()? as usize;
            let name = reader.bytes(length)?.into();
            let serial = reader.small()?;
            let &(budget, cost) = sums.get(reader.number()? as usize)?;
            Some(Member { name, serial, budget, cost })
        };
        let members = (0..count).map(member).collect::<Option<_>>()?;
        reader.is_empty().then_some(Self { members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costing(bytes: u8) -> RunningCost {
        RunningCost::from_bytes(&[bytes; dobrushin::profile::RUNNING_COST_BYTES])
    }

    #[test]
    fn people_come_back_and_equal_sums_are_stored_once() {
        let mut bucket = Bucket::default();
        let names: Vec<String> = (0..300).map(|number| format!("person {number:03}")).collect();
        let added = bucket.visit(names.iter().map(|name| (name.as_bytes(), ())), |member, ()| {
            member.cost = costing((member.serial % 3) as u8);
            member.budget = member.serial % 2;
        });
        assert_eq!(added, 300);
        let bytes = bucket.encode();
        assert_eq!(Bucket::decode(&bytes).as_ref(), Some(&bucket));
        assert!(bytes.len() < 300 * 18 + 6 * 160, "{}", bytes.len());
        assert!(Bucket::decode(&bytes[..bytes.len() - 1]).is_none());
        assert_eq!(bucket.find(b"person 007").map(|member| member.serial), Some(7));
        assert!(bucket.find(b"person 7").is_none());
    }

    #[test]
    fn numbers_of_people_do_not_change_when_others_come() {
        let mut bucket = Bucket::default();
        bucket.visit([(&b"m"[..], ())].into_iter(), |_, ()| ());
        let added = bucket.visit([(&b"a"[..], ()), (b"m", ()), (b"z", ())].into_iter(), |_, ()| ());
        assert_eq!(added, 2);
        let serials: Vec<(u8, u32)> =
            bucket.members.iter().map(|member| (member.name[0], member.serial)).collect();
        assert_eq!(serials, [(b'a', 1), (b'm', 0), (b'z', 2)]);
    }
}
