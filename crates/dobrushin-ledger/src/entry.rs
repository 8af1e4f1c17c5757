//! Who of a bucket was in a release: runs of people with the same cost.

use crate::codec::{Reader, put_number};

/// A person's number in the bucket, and the number of what the release costs them.
pub type Part = (u32, u32);

/// The parts as bytes, in the order of the people.
pub fn encode(mut parts: Vec<Part>) -> Vec<u8> {
    parts.sort_unstable();
    let mut bytes = Vec::new();
    let mut next = 0;
    for run in parts.chunk_by(|a, b| a.0 + 1 == b.0 && a.1 == b.1) {
        let (first, class) = run[0];
        put_number(&mut bytes, u64::from(first - next));
        put_number(&mut bytes, run.len() as u64);
        put_number(&mut bytes, u64::from(class));
        next = first + run.len() as u32;
    }
    bytes
}

/// Reads what [`encode`] wrote.
pub fn decode(content: &[u8]) -> Option<Vec<Part>> {
    let mut reader = Reader(content);
    let (mut parts, mut next) = (Vec::new(), 0_u32);
    while !reader.is_empty() {
        let first = next.checked_add(reader.small()?)?;
        let (count, class) = (reader.small()?, reader.small()?);
        next = first.checked_add(count)?;
        parts.extend((first..next).map(|person| (person, class)));
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_and_runs_take_few_bytes() {
        let scattered: Vec<Part> = vec![(0, 3), (1, 3), (4, 3), (5, 1), (70_000, 2)];
        let mut backwards = scattered.clone();
        backwards.reverse();
        assert_eq!(decode(&encode(backwards)), Some(scattered));
        let all = encode((0..1000).map(|person| (person, 7)).collect());
        assert_eq!(all.len(), 4);
        assert_eq!(decode(&all).map(|parts| parts.len()), Some(1000));
        assert_eq!(decode(&encode(Vec::new())), Some(Vec::new()));
        assert!(decode(&all[..3]).is_none());
    }
}
