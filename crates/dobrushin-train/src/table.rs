//! Records in memory, each within the declared bounds.

use crate::{Bounds, Target};

/// Records as rows of features and targets, one target for each task.
///
/// # Guarantee
/// The features of every row have Euclidean norm at most [`Bounds::norm`], and every target is within
/// [`Bounds::target`], or else the record is empty: its features are 0 and its targets NaN, and it contributes nothing
/// to any gradient. No other row can be added.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::{Bounds, Table, Target};
///
/// let target = Target::Range { lower: -1.0, upper: 1.0 };
/// let mut table = Table::new(Bounds { dimension: 1, norm: Positive::new(1.0)?, target }, 1);
/// table.push(&[5.0], &[-7.0]);
/// // Both were moved to the bounds.
/// assert!((table.features(0)[0] - 1.0).abs() < 1e-6 && table.target(0, 0) == -1.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Table {
    bounds: Bounds,
    tasks: usize,
    features: Vec<f32>,
    targets: Vec<f32>,
}

/// What was done to a record to make it obey the bounds. It depends on the record, so it is as private as the record.
///
/// ```
/// use dobrushin::Positive;
/// use dobrushin_train::{Bounds, Enforced, Table, Target};
///
/// let target = Target::Range { lower: -1.0, upper: 1.0 };
/// let mut table = Table::new(Bounds { dimension: 1, norm: Positive::new(1.0)?, target }, 1);
/// assert_eq!(table.push(&[0.5], &[0.5]), Enforced::default());
/// assert!(table.push(&[5.0], &[0.5]).scaled && table.push(&[0.5], &[5.0]).moved);
/// assert!(table.push(&[f32::NAN], &[0.5]).emptied);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enforced {
    /// Its features were scaled down.
    pub scaled: bool,
    /// A target was moved into its range.
    pub moved: bool,
    /// A value was not finite, so the record is empty.
    pub emptied: bool,
}

impl Table {
    /// No records yet.
    pub fn new(bounds: Bounds, tasks: usize) -> Self {
        Self { bounds, tasks, features: Vec::new(), targets: Vec::new() }
    }

    /// Adds a record, made to obey the bounds. A record with a value that is not finite is empty, and so is one with
    /// the wrong number of features or targets.
    pub fn push(&mut self, features: &[f32], targets: &[f32]) -> Enforced {
        let fits = features.len() == self.bounds.dimension && targets.len() == self.tasks;
        let finite = features.iter().chain(targets).all(|value| value.is_finite());
        let known = targets.iter().all(|&target| self.is_class(target));
        if !(fits && finite && known) {
            self.push_empty();
            return Enforced { emptied: true, ..Enforced::default() };
        }
        let first = self.features.len();
        self.features.extend_from_slice(features);
        let scaled = self.bounds.scale_down(&mut self.features[first..]);
        let mut moved = false;
        for &target in targets {
            let inside = self.within(target);
            moved |= inside != target;
            self.targets.push(inside);
        }
        Enforced { scaled, moved, emptied: false }
    }

    /// Adds a record that contributes nothing.
    pub fn push_empty(&mut self) {
        self.features.resize(self.features.len() + self.bounds.dimension, 0.0);
        self.targets.resize(self.targets.len() + self.tasks, f32::NAN);
    }

    /// Makes a record contribute nothing from now on, and keeps its place. Nothing is left of what it held.
    ///
    /// ```
    /// use dobrushin::Positive;
    /// use dobrushin_train::{Bounds, Table, Target};
    ///
    /// let mut table = Table::new(Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) }, 1);
    /// table.push(&[0.5], &[1.0]);
    /// table.push(&[0.25], &[0.0]);
    /// table.empty(0);
    /// assert!(table.len() == 2 && table.features(0) == [0.0] && table.target(0, 0).is_nan());
    /// assert!(table.features(1) == [0.25] && table.target(1, 0) == 0.0);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn empty(&mut self, record: usize) {
        let (dimension, tasks) = (self.bounds.dimension, self.tasks);
        self.features[record * dimension..(record + 1) * dimension].fill(0.0);
        self.targets[record * tasks..(record + 1) * tasks].fill(f32::NAN);
    }

    /// Forgets all records.
    pub fn clear(&mut self) {
        self.features.clear();
        self.targets.clear();
    }

    /// The bounds that all records obey.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The number of targets of a record.
    pub fn tasks(&self) -> usize {
        self.tasks
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.targets.len() / self.tasks.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The features of a record.
    #[inline]
    pub fn features(&self, record: usize) -> &[f32] {
        &self.features[record * self.bounds.dimension..(record + 1) * self.bounds.dimension]
    }

    /// A target of a record; NaN if it is empty.
    #[inline]
    pub fn target(&self, record: usize, task: usize) -> f32 {
        self.targets[record * self.tasks + task]
    }

    fn is_class(&self, target: f32) -> bool {
        match self.bounds.target {
            Target::Classes(count) => {
                target >= 0.0 && target.fract() == 0.0 && f64::from(target) < count as f64
            }
            Target::Range { .. } => true,
        }
    }

    /// The nearest value in the range, rounded into it.
    fn within(&self, target: f32) -> f32 {
        match self.bounds.target.ends() {
            // This is not `clamp`, which panics where no number of 24 digits lies between the two.
            Some((least, most)) => target.max(least).min(most),
            None => target,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::Positive;
    use dobrushin::numeric::Random;

    fn bounds(norm: f64, target: Target) -> Bounds {
        Bounds { dimension: 3, norm: Positive::new(norm).expect("above 0"), target }
    }

    #[test]
    fn no_row_is_longer_than_the_bound_and_short_rows_stay_as_they_are() {
        let mut random = Random::new(1);
        for norm in [1e-3, 0.1, 1.0, 1.7320508, 1e6] {
            let mut table = Table::new(bounds(norm, Target::Range { lower: -1.0, upper: 1.0 }), 1);
            for _ in 0..2000 {
                let row: [f32; 3] =
                    std::array::from_fn(|_| (norm * (4.0 * random.between(0.0, 1.0) - 2.0)) as f32);
                let length = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
                let record = table.len();
                let enforced = table.push(&row, &[0.5]);
                let kept = table.features(record);
                let after = kept.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
                assert!(after <= norm);
                assert_eq!(enforced.scaled, length > norm);
                assert!(length > norm * (1.0 - 1e-9) || kept == row);
                assert!(length < norm || after > norm * (1.0 - 1e-6));
            }
        }
    }

    #[test]
    fn what_is_no_number_or_no_class_makes_an_empty_record() {
        let mut table = Table::new(bounds(1.0, Target::Classes(3)), 1);
        for (features, target) in [
            (vec![f32::NAN, 0.0, 0.0], 0.0),
            (vec![f32::INFINITY, 0.0, 0.0], 0.0),
            (vec![0.1, 0.1, 0.1], f32::NAN),
            (vec![0.1, 0.1, 0.1], 3.0),
            (vec![0.1, 0.1, 0.1], -1.0),
            (vec![0.1, 0.1, 0.1], 0.5),
            (vec![0.1, 0.1], 0.0),
        ] {
            assert!(table.push(&features, &[target]).emptied);
        }
        assert_eq!(table.len(), 7);
        for record in 0..7 {
            assert_eq!(table.features(record), [0.0; 3]);
            assert!(table.target(record, 0).is_nan());
        }
        assert_eq!(table.push(&[0.1; 3], &[2.0]), Enforced::default());
    }

    #[test]
    fn targets_are_moved_into_their_range_not_beyond_it() {
        let (lower, upper) = (-0.1, 0.1);
        let mut table = Table::new(bounds(1.0, Target::Range { lower, upper }), 2);
        assert!(table.push(&[0.0; 3], &[5.0, -5.0]).moved);
        assert!(f64::from(table.target(0, 0)) <= upper && f64::from(table.target(0, 1)) >= lower);
        assert!(!table.push(&[0.0; 3], &[0.05, -0.05]).moved);
    }
}
