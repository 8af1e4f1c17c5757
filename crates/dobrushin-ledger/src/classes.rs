//! What a release costs, and the classes of people who pay the same for it.

use crate::LedgerError;
use crate::codec::damaged;
use crate::codec::{Reader, put_number};
use crate::store::{Rows, Table};
use dobrushin::account::{PlaceCost, cost_of_group, costs_by_place};
use dobrushin::profile::{Direction, Knot, PiecewiseProfile, PrivacyProfile, RunningCost};
use dobrushin::{Delta, Epsilon, Neighbours, Progress, Run};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::num::NonZeroU32;

/// What a release is, and what it costs whoever is in it.
#[derive(Clone, Debug)]
pub struct Spend {
    /// What it is, in a few words.
    pub what: String,
    /// All that it was computed from.
    pub description: Json,
    /// From the cheapest places to the dearest, where this can be said.
    costs: Vec<PlaceCost>,
    /// For each cost its place in that order.
    ranks: Vec<usize>,
}

impl Spend {
    /// A run, whose records are at places from 1 upwards. Of several analyses, the one that is best at this δ is counted.
    ///
    /// # Errors
    /// [`LedgerError::Cost`] if nothing is known of it, or if it is for other neighbours.
    pub fn of_run(
        run: &Run,
        neighbours: Neighbours,
        delta: Delta,
        what: String,
        description: Json,
        progress: &Progress,
    ) -> Result<Self, LedgerError> {
        Ok(Self::new(costs_by_place(run, neighbours, delta, progress)?, delta, what, description))
    }

    /// A release with this profile for everybody in it.
    pub fn of_profile(
        profile: &dyn PrivacyProfile,
        analysis: &'static str,
        what: String,
        description: Json,
    ) -> Self {
        let costs = vec![PlaceCost::everywhere(analysis, profile)];
        Self { what, description, costs, ranks: vec![0] }
    }

    fn new(costs: Vec<PlaceCost>, delta: Delta, what: String, description: Json) -> Self {
        let epsilons: Vec<f64> = costs.iter().map(|cost| cost.profile.epsilon(delta).upper()).collect();
        let mut order: Vec<usize> = (0..costs.len()).collect();
        order.sort_by(|&a, &b| epsilons[a].total_cmp(&epsilons[b]));
        let mut ranks = vec![0; costs.len()];
        order.into_iter().enumerate().for_each(|(rank, cost)| ranks[cost] = rank);
        Self { what, description, costs, ranks }
    }

    /// What it costs at each place.
    pub fn costs(&self) -> &[PlaceCost] {
        &self.costs
    }

    /// The rank of what a place costs.
    fn rank(&self, place: u64) -> Option<usize> {
        let cost = self.costs.partition_point(|cost| cost.to < place);
        self.costs.get(cost).filter(|cost| cost.from <= place)?;
        Some(self.ranks[cost])
    }
}

/// A class of people who pay the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    pub profile: PiecewiseProfile,
    pub cost: RunningCost,
}

/// The classes of a release, as they are found among the people.
pub struct Classes<'a> {
    spend: &'a Spend,
    /// By the rank of the dearest place and the number of places.
    found: HashMap<(usize, u32), u32>,
    pub made: Vec<Class>,
}

impl<'a> Classes<'a> {
    pub fn new(spend: &'a Spend) -> Self {
        Self { spend, found: HashMap::new(), made: Vec::new() }
    }

    /// The class of somebody with records at these places.
    ///
    /// Several records of a person count as so many at any of the places that are not dearer than their dearest.
    pub fn of(&mut self, places: &[u64]) -> Result<u32, LedgerError> {
        let outside = |place: &u64| {
            LedgerError::invalid(
                format!("there is a record at place {place}, but the release has fewer"),
                "the run must have as many records as the list of people has rows",
            )
        };
        let mut dearest = 0;
        for place in places {
            dearest = dearest.max(self.spend.rank(*place).ok_or_else(|| outside(place))?);
        }
        let count = u32::try_from(places.len()).unwrap_or(u32::MAX);
        let key = (dearest, count);
        if let Some(&class) = self.found.get(&key) {
            return Ok(class);
        }
        let up_to = |(cost, rank): (&PlaceCost, &usize)| {
            match count {
                1 => *rank == dearest,
                _ => *rank <= dearest,
            }
            .then(|| cost.clone())
        };
        let costs: Vec<PlaceCost> =
            self.spend.costs.iter().zip(&self.spend.ranks).filter_map(up_to).collect();
        let profile = match (&costs[..], NonZeroU32::new(count)) {
            ([one], Some(NonZeroU32::MIN)) => one.profile.clone(),
            (_, count) => cost_of_group(&costs, count.unwrap_or(NonZeroU32::MIN)),
        };
        let class = self.made.len() as u32;
        self.made.push(Class { cost: RunningCost::of(&profile), profile });
        self.found.insert(key, class);
        Ok(class)
    }
}

impl Class {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.cost.to_bytes().to_vec();
        let directions = match self.profile.is_symmetric() {
            true => &[Direction::Forward][..],
            false => &Direction::BOTH[..],
        };
        put_number(&mut bytes, directions.len() as u64);
        for &direction in directions {
            let knots = self.profile.knots(direction);
            put_number(&mut bytes, knots.len() as u64);
            for knot in knots {
                bytes.extend(knot.epsilon().to_le_bytes());
                bytes.extend(knot.delta().to_le_bytes());
            }
        }
        bytes
    }

    pub fn decode(content: &[u8]) -> Option<Self> {
        let mut reader = Reader(content);
        let cost = reader.cost()?;
        let directions = reader.number()?;
        let mut knots = || -> Option<Vec<Knot>> {
            let count = reader.number()?;
            let mut knot = |_| {
                let (epsilon, delta) =
                    (Epsilon::new(reader.float()?).ok()?, Delta::new(reader.float()?).ok()?);
                Some(Knot::new(epsilon, delta))
            };
            (0..count).map(&mut knot).collect()
        };
        let forward = knots()?;
        let profile = match directions {
            1 => PiecewiseProfile::symmetric(&forward),
            2 => PiecewiseProfile::new(&forward, &knots()?),
            _ => return None,
        };
        reader.is_empty().then_some(Self { profile, cost })
    }

    /// Reads the class of a release.
    pub fn read(rows: &mut dyn Rows, release: u64, class: u32) -> Result<Self, LedgerError> {
        let key = (release as i64, i64::from(class));
        Self::decode(&rows.content(Table::Cost, key)?).ok_or_else(|| damaged(Table::Cost, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::profile::ApproximateProfile;

    #[test]
    fn classes_come_back_from_bytes() {
        let profile = ApproximateProfile::new(Epsilon::new(0.5).expect("ε"), Delta::new(1e-320).expect("δ"));
        let spend = Spend::of_profile(&profile, "claim", "a claim".to_owned(), Json::Null);
        let mut classes = Classes::new(&spend);
        assert_eq!(
            (classes.of(&[1]).expect("0"), classes.of(&[9, 12]).expect("1"), classes.of(&[3]).expect("0")),
            (0, 1, 0)
        );
        for class in &classes.made {
            assert_eq!(Class::decode(&class.encode()).as_ref(), Some(class));
        }
        let twice = |class: &Class| class.profile.epsilon(Delta::new(1e-6).expect("δ")).upper();
        assert!((twice(&classes.made[1]) - 1.0).abs() < 1e-3 && (twice(&classes.made[0]) - 0.5).abs() < 1e-3);
    }
}
