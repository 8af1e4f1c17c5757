//! The people of a release: names with the places of their records, in the order in which a ledger looks at them.
//!
//! The list may be longer than memory: it is sorted in parts that lie in a file without a name, which only this program can
//! read and which is gone when it ends.

use crate::{LedgerError, Terms};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};

/// The people of a release.
pub struct Roll {
    terms: Terms,
    records: u64,
    names: Vec<u8>,
    part: Vec<Row>,
    sorted: Vec<File>,
    /// Who is left out, and the places of their records, in order.
    out: HashSet<Box<[u8]>>,
    gone: Vec<u64>,
}

/// A record whose name lies in `names`.
#[derive(Clone, Copy)]
struct Row {
    bucket: u32,
    start: usize,
    length: u32,
    place: u64,
}

/// People of a bucket, in the order of their names, each with the places of their records.
pub type Group = Vec<(Box<[u8]>, Vec<u64>)>;

/// A part takes about this many bytes of memory.
const PART: usize = 1 << 26;
/// A longer name is refused: it is a mistake.
const LONGEST: usize = 1024;

impl Roll {
    /// Nobody yet.
    pub fn new(terms: &Terms) -> Self {
        Self {
            terms: terms.clone(),
            records: 0,
            names: Vec::new(),
            part: Vec::new(),
            sorted: Vec::new(),
            out: HashSet::new(),
            gone: Vec::new(),
        }
    }

    /// The next record is this person's. Spaces around a name do not belong to it.
    ///
    /// # Errors
    /// [`LedgerError`] if that is no name, or the part cannot be put aside.
    pub fn add(&mut self, name: &[u8]) -> Result<(), LedgerError> {
        let refused = |what: &str| {
            Err(LedgerError::invalid(
                format!("the name of the person of record {} {what}", self.records + 1),
                "each row needs a name or number that is always the same for the same person",
            ))
        };
        let name = name.trim_ascii();
        if name.is_empty() {
            return refused("is missing");
        }
        if name.len() > LONGEST {
            return refused("is longer than 1024 bytes");
        }
        if std::str::from_utf8(name).is_err() {
            return refused("is not UTF-8");
        }
        self.records += 1;
        let row = Row {
            bucket: self.terms.bucket(name),
            start: self.names.len(),
            length: name.len() as u32,
            place: self.records,
        };
        self.names.extend_from_slice(name);
        self.part.push(row);
        if self.names.len() + self.part.len() * size_of::<Row>() >= PART {
            self.put_aside().map_err(cannot_sort)?;
        }
        Ok(())
    }

    /// How many records there are, without those of people who are left out.
    pub fn records(&self) -> u64 {
        self.records - self.gone.len() as u64
    }

    /// Leaves people out, with all their records at these places.
    pub fn leave_out(&mut self, people: impl IntoIterator<Item = (Box<[u8]>, Vec<u64>)>) {
        // Those places are counted without those who were left out before.
        let mut gone: Vec<u64> = Vec::new();
        for (name, places) in people {
            gone.extend(places.into_iter().map(|place| self.original(place)));
            self.out.insert(name);
        }
        self.gone.extend(gone);
        self.gone.sort_unstable();
    }

    /// Who is left out.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.out.iter().filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// The records that are left out, by their places from 1 upwards in what was given.
    pub fn records_left_out(&self) -> &[u64] {
        &self.gone
    }

    /// The place among the records that remain.
    fn place(&self, original: u64) -> u64 {
        original - self.gone.partition_point(|&gone| gone < original) as u64
    }

    /// The place in what was given.
    fn original(&self, place: u64) -> u64 {
        let mut original = place;
        loop {
            let before = self.gone.partition_point(|&gone| gone <= original) as u64;
            if place + before == original {
                return original;
            }
            original = place + before;
        }
    }

    /// How many people there are, without those who are left out.
    ///
    /// # Errors
    /// [`LedgerError`] if the list cannot be sorted.
    pub fn people(&mut self) -> Result<u64, LedgerError> {
        let mut people = 0;
        self.each_bucket(|_, group| {
            people += group.len() as u64;
            Ok(())
        })?;
        Ok(people)
    }

    fn sort_part(&mut self) {
        let names = &self.names;
        let name = |row: &Row| &names[row.start..row.start + row.length as usize];
        self.part.sort_by(|a, b| (a.bucket, name(a), a.place).cmp(&(b.bucket, name(b), b.place)));
    }

    fn put_aside(&mut self) -> std::io::Result<()> {
        self.sort_part();
        let mut file = BufWriter::new(tempfile::tempfile()?);
        for row in &self.part {
            file.write_all(&row.bucket.to_le_bytes())?;
            file.write_all(&row.place.to_le_bytes())?;
            file.write_all(&row.length.to_le_bytes())?;
            file.write_all(&self.names[row.start..row.start + row.length as usize])?;
        }
        self.sorted.push(file.into_inner()?);
        self.names.clear();
        self.part.clear();
        Ok(())
    }

    /// Calls `work` for each bucket with the people in it.
    pub(crate) fn each_bucket(
        &mut self,
        mut work: impl FnMut(u32, Group) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.sort_part();
        let mut parts: Vec<Part> = Vec::with_capacity(self.sorted.len());
        for file in &self.sorted {
            let mut file = file.try_clone().map_err(cannot_sort)?;
            file.seek(SeekFrom::Start(0)).map_err(cannot_sort)?;
            parts.push(Part(BufReader::with_capacity(1 << 16, file)));
        }
        let name = |row: &Row| self.names[row.start..row.start + row.length as usize].into();
        let mut memory =
            self.part.iter().map(|row| Item { bucket: row.bucket, name: name(row), place: row.place });
        let from_memory = parts.len();
        let mut next = |part: usize| match parts.get_mut(part) {
            Some(part) => part.next().map_err(cannot_sort),
            None => Ok(memory.next()),
        };
        let mut heads = BinaryHeap::new();
        for part in 0..=from_memory {
            heads.extend(next(part)?.map(|item| Reverse((item, part))));
        }
        let mut current: Option<(u32, Group)> = None;
        while let Some(Reverse((item, part))) = heads.pop() {
            heads.extend(next(part)?.map(|item| Reverse((item, part))));
            if self.out.contains(&item.name) {
                continue;
            }
            if let Some((bucket, group)) = current.take_if(|(bucket, _)| *bucket != item.bucket) {
                work(bucket, group)?;
            }
            let (_, group) = current.get_or_insert_with(|| (item.bucket, Vec::new()));
            let place = self.place(item.place);
            match group.last_mut() {
                Some((name, places)) if *name == item.name => places.push(place),
                _ => group.push((item.name, vec![place])),
            }
        }
        match current {
            Some((bucket, group)) => work(bucket, group),
            None => Ok(()),
        }
    }
}

/// A record with its name, in the order in which they are looked at.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    bucket: u32,
    name: Box<[u8]>,
    place: u64,
}

/// A part that was put aside.
struct Part(BufReader<File>);

impl Part {
    fn next(&mut self) -> std::io::Result<Option<Item>> {
        let mut head = [0; 16];
        match self.0.read_exact(&mut head) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let place = u64::from(word(4)) | u64::from(word(8)) << 32;
        let mut name = vec![0; word(12) as usize];
        self.0.read_exact(&mut name)?;
        Ok(Some(Item { bucket: word(0), name: name.into(), place }))
    }
}

fn cannot_sort(error: std::io::Error) -> LedgerError {
    LedgerError::Store {
        what: "the list of people cannot be sorted".to_owned(),
        cause: Some(Box::new(error)),
        help: "make room in the folder for temporary files; TMPDIR names another",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Choice};
    use dobrushin::{Delta, Epsilon, Neighbours};

    fn roll(parts_of: Option<usize>, names: &[String]) -> Roll {
        let budget =
            Budget::new(Epsilon::new(1.0).expect("ε"), Delta::new(0.0).expect("δ"), Choice::Adaptive);
        let mut roll = Roll::new(&Terms::new(Neighbours::ReplaceOne, budget, 0, [7; 16]));
        for (place, name) in names.iter().enumerate() {
            roll.add(name.as_bytes()).expect("a name");
            if parts_of.is_some_and(|size| place % size == size - 1) {
                roll.put_aside().expect("a folder for temporary files");
            }
        }
        roll
    }

    fn all(roll: &mut Roll) -> Vec<(u32, String, Vec<u64>)> {
        let mut found = Vec::new();
        let group = |bucket, group: Group| {
            found.extend(
                group
                    .into_iter()
                    .map(|(name, places)| (bucket, String::from_utf8_lossy(&name).into_owned(), places)),
            );
            Ok(())
        };
        roll.each_bucket(group).expect("sorted");
        found
    }

    #[test]
    fn everybody_comes_once_with_all_their_places_however_the_list_is_divided() {
        let names: Vec<String> = (0..1000).map(|record| format!("p{}", record * 7 % 300)).collect();
        let whole = all(&mut roll(None, &names));
        assert_eq!(whole.len(), 300);
        assert_eq!(whole.iter().map(|(.., places)| places.len()).sum::<usize>(), 1000);
        assert!(whole.is_sorted());
        for (_, name, places) in &whole {
            assert!(places.iter().all(|&place| names[place as usize - 1] == *name) && places.is_sorted());
        }
        for size in [1, 13, 999] {
            assert_eq!(all(&mut roll(Some(size), &names)), whole, "{size}");
        }
    }

    #[test]
    fn who_is_left_out_leaves_no_gap() {
        let names: Vec<String> = ["a", "b", "a", "c", "d", "b"].map(str::to_owned).to_vec();
        let mut roll = roll(Some(2), &names);
        roll.leave_out([(b"b"[..].into(), vec![2, 6])]);
        roll.leave_out([(b"c"[..].into(), vec![3])]);
        assert_eq!((roll.records(), roll.records_left_out()), (3, &[2, 4, 6][..]));
        let mut found: Vec<(String, Vec<u64>)> =
            all(&mut roll).into_iter().map(|(_, name, places)| (name, places)).collect();
        found.sort();
        assert_eq!(found, [("a".to_owned(), vec![1, 2]), ("d".to_owned(), vec![3])]);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let mut roll = roll(None, &[]);
        for name in [&b""[..], b"  ", b"\xff", &[b'x'; 1025]] {
            assert!(matches!(roll.add(name), Err(LedgerError::Invalid { .. })));
        }
        assert_eq!(roll.records(), 0);
    }
}
