//! Rows around a private mean.

use crate::random::Streams;
use crate::{Model, Plan, Records, Table, TrainError, digits, noise};

/// Features whose mean is far from 0 waste the bound on a gradient's norm on what all records have in common. So a noisy
/// mean of the rows is subtracted from each of them before training; the intercept, which is the last feature, stays.
/// Afterwards the intercept makes up for it, so that the model is one of rows as they were.
pub(crate) struct Centre {
    /// What is subtracted from every feature but the last.
    mean: Vec<f64>,
}

/// Rows are summed as whole multiples of this share of the largest norm: exactly, in any order.
const UNIT: f64 = 1.0 / (1_u64 << 30) as f64;
/// There is this much more noise than described, because rows that are rounded to multiples may be longer.
const ROOM: f64 = 1.0 + 1.0 / 1024.0;
/// The number of records that are brought together.
const BLOCK: u32 = 4096;

impl Plan {
    /// The mean of the rows with noise, if the plan asks for one.
    ///
    /// # Guarantee
    /// A row adds a vector of norm at most R to the sum, [`crate::Bounds::norm`], and an empty record adds nothing. The
    /// noise in each coordinate is at least the multiplier times R, as [`dobrushin::run::Centre`] says, and the sum is
    /// divided by the number of records in the plan, which is public. What follows is computed from that: the mean is drawn
    /// towards the average μ̄ of its coordinates by v/(v + τ), where τ is the variance of their noise, and v + τ at most
    /// their variance.
    pub(crate) fn centre(
        &self,
        records: &mut dyn Records,
        streams: &mut Streams<'_>,
    ) -> Result<Option<Centre>, TrainError> {
        let Some(centre) = self.training().centre else {
            return Ok(None);
        };
        if !records.any_order() {
            return Err(TrainError::NotInMemory);
        }
        let norm = self.bounds.norm.get();
        let mut sums = vec![0_i64; self.bounds.dimension.saturating_sub(1)];
        self.for_each(records, |table, place| {
            for (sum, &feature) in sums.iter_mut().zip(table.features(place)) {
                // At most 2³² rows have features of at most 2³⁰ units.
                *sum += (f64::from(feature) / (norm * UNIT)).round() as i64;
            }
        })?;
        let deviation = centre.noise_multiplier.get() * norm * ROOM;
        let mut noises = vec![0.0; sums.len()];
        noise::gaussian(&mut streams.fresh(), &mut noises);
        let count = self.training().records as f64;
        let noisy = sums.iter().zip(&noises).map(|(&sum, noise)| {
            digits::round(sum as f64 * (norm * UNIT) + deviation * noise, deviation) / count
        });
        Ok(Some(Centre { mean: drawn_together(noisy.collect(), deviation / count) }))
    }

    /// All records as rows around the mean.
    pub(crate) fn around(&self, centre: &Centre, records: &mut dyn Records) -> Result<Table, TrainError> {
        let mut rows = Table::new(self.bounds, records.tasks());
        self.for_each(records, |table, place| centre.push(table, place, &mut rows))?;
        Ok(rows)
    }

    fn for_each(
        &self,
        records: &mut dyn Records,
        mut use_one: impl FnMut(&Table, usize),
    ) -> Result<(), TrainError> {
        let count = records.count() as u32;
        for from in (0..count).step_by(BLOCK as usize) {
            let wanted: Vec<u32> = (from..from.saturating_add(BLOCK).min(count)).collect();
            let (table, places) = self.bring(records, &wanted)?;
            places.iter().for_each(|&place| use_one(table, place as usize));
        }
        Ok(())
    }
}

impl Centre {
    /// Adds a record around the mean, made to obey the bounds again; an empty record stays empty.
    fn push(&self, table: &Table, place: usize, rows: &mut Table) {
        let targets: Vec<f32> = (0..table.tasks()).map(|task| table.target(place, task)).collect();
        if targets.iter().any(|target| target.is_nan()) {
            return rows.push_empty();
        }
        let mut row = table.features(place).to_vec();
        row.iter_mut().zip(&self.mean).for_each(|(x, mean)| *x = (f64::from(*x) - mean) as f32);
        rows.push(&row, &targets);
    }

    /// Public records around the mean.
    pub fn around_public(&self, table: &Table) -> Table {
        let mut rows = Table::new(*table.bounds(), table.tasks());
        (0..table.len()).for_each(|place| self.push(table, place, &mut rows));
        rows
    }

    /// Turns parameters for rows around the mean into parameters for rows as they were: ⟨w, x − μ⟩ + b is
    /// ⟨w, x⟩ + (b − ⟨w, μ⟩).
    pub fn undo(&self, model: &Model, parameters: &mut [f64]) {
        let features = match model {
            Model::Linear { features, .. } | Model::Softmax { features, .. } => *features,
            Model::Network { .. } => return,
        };
        for row in parameters.chunks_exact_mut(features.max(1)) {
            if let Some((intercept, weights)) = row.split_last_mut() {
                *intercept -= weights.iter().zip(&self.mean).map(|(weight, mean)| weight * mean).sum::<f64>();
            }
        }
    }
}

/// Coordinates with noise of this deviation, drawn towards their average as far as their spread is noise.
fn drawn_together(noisy: Vec<f64>, deviation: f64) -> Vec<f64> {
    let count = noisy.len().max(1) as f64;
    let average = noisy.iter().sum::<f64>() / count;
    let spread = noisy.iter().map(|value| (value - average).powi(2)).sum::<f64>() / count;
    let noise = deviation * deviation;
    let signal = (spread - noise).max(0.0);
    let share = if signal > 0.0 { signal / (signal + noise) } else { 0.0 };
    noisy.into_iter().map(|value| average + share * (value - average)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Logistic;
    use crate::{Bounds, Description, Generators, Seed, Target};
    use dobrushin::mechanism::Neighbours;
    use dobrushin::{Order, Positive, Release, Run};

    const NORM: f64 = 2.0;

    fn plan(records: u64, multiplier: f64) -> Plan {
        let run = Run::gradient_descent(records).order(Order::Full).steps(3).release(Release::Last);
        let run = run.neighbours(Neighbours::ZeroOut).learning_rate(0.1).clip_norm(1.0).noise_multiplier(3.0);
        let run = run.centre_noise(multiplier).build().expect("all is said");
        Plan::new(Description {
            training: run.as_training().expect("it is an iteration").clone(),
            model: Model::Linear { loss: Logistic.into(), features: 3 },
            bounds: bounds(),
            projection: None,
            loss_bound: Positive::new(1.0).expect("above 0"),
        })
        .expect("it fits together")
    }

    fn bounds() -> Bounds {
        let norm = Positive::new(NORM).expect("above 0");
        Bounds { dimension: 3, norm, target: Target::Classes(2) }
    }

    fn table(rows: &[Option<[f32; 2]>]) -> Table {
        let mut table = Table::new(bounds(), 1);
        for row in rows {
            match row {
                Some([x, y]) => drop(table.push(&[*x, *y, 1.0], &[1.0])),
                None => table.push_empty(),
            }
        }
        table
    }

    fn mean(plan: &Plan, table: &mut Table, seed: u64) -> Vec<f64> {
        let generators = Generators::new(Seed::Known(seed)).expect("a number");
        let centre = plan.centre(table, &mut Streams::new(&generators)).expect("it is in memory");
        centre.expect("the plan has one").mean
    }

    #[test]
    fn one_record_moves_the_sum_by_no_more_than_the_norm_and_the_noise_is_as_large_as_described() {
        // Coordinates are drawn together less and less where they differ by far more than the noise.
        let multiplier = 1e-2;
        let plan = plan(4, multiplier);
        let far = [Some([1.7, -1.0]), Some([-1.7, 0.5]), None, Some([0.3, 1.0])];
        let mut without = far;
        without[0] = None;
        let (mut full, mut less) = (table(&far), table(&without));
        let row = full.features(0).to_vec();
        let length = row[..2].iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        let undrawn = |table: &mut Table, seed| {
            // The noise alone decides how far the coordinates are drawn together, so that is undone.
            let generators = Generators::new(Seed::Known(seed)).expect("a number");
            let mut noises = vec![0.0; 2];
            noise::gaussian(&mut Streams::new(&generators).fresh(), &mut noises);
            let sums: Vec<f64> = (0..2)
                .map(|j| {
                    (0..4).map(|i| f64::from(table.features(i)[j])).sum::<f64>()
                        + multiplier * NORM * ROOM * noises[j]
                })
                .collect();
            (mean(&plan, table, seed), sums)
        };
        for seed in 0..20 {
            let (got, sums) = undrawn(&mut full, seed);
            let expected =
                drawn_together(sums.iter().map(|s| s / 4.0).collect(), multiplier * NORM * ROOM / 4.0);
            for (got, expected) in got.iter().zip(&expected) {
                assert!((got - expected).abs() < 1e-6, "{got} against {expected}");
            }
            let (_, others) = undrawn(&mut less, seed);
            let moved = sums.iter().zip(&others).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            assert!((moved - length).abs() < 1e-9 && moved <= NORM);
        }
    }

    #[test]
    fn rows_around_the_mean_obey_the_bounds_and_empty_records_stay_empty() {
        let plan = plan(3, 1e12);
        let mut records = table(&[Some([1.0, 1.0]), None, Some([-1.0, 0.2])]);
        let generators = Generators::new(Seed::Known(1)).expect("a number");
        let centre =
            plan.centre(&mut records, &mut Streams::new(&generators)).expect("in memory").expect("has one");
        let rows = plan.around(&centre, &mut records).expect("in memory");
        assert_eq!(rows.len(), 3);
        assert!(rows.target(1, 0).is_nan() && rows.features(1) == [0.0; 3]);
        for record in [0, 2] {
            let length = rows.features(record).iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
            assert!(length <= NORM, "{length}");
        }
    }

    #[test]
    fn the_intercept_makes_up_for_the_mean() {
        let centre = Centre { mean: vec![0.25, -0.5] };
        for model in
            [Model::Linear { loss: Logistic.into(), features: 3 }, Model::Softmax { classes: 2, features: 3 }]
        {
            let before: Vec<f64> = (0..model.parameters()).map(|i| f64::from(i as u32) - 1.5).collect();
            let mut after = before.clone();
            centre.undo(&model, &mut after);
            let (row, around) = ([0.5_f32, 0.125, 1.0], [0.25_f32, 0.625, 1.0]);
            assert_eq!(model.scores(&after, &row), model.scores(&before, &around));
        }
    }

    #[test]
    fn a_mean_that_is_all_noise_is_drawn_together_entirely() {
        assert_eq!(drawn_together(vec![1.0, 3.0], 5.0), [2.0, 2.0]);
        assert_eq!(drawn_together(vec![1.0, 3.0], 0.0), [1.0, 3.0]);
        assert!(drawn_together(Vec::new(), 1.0).is_empty());
    }
}
