//! Training for auditors: some gradients are crafted, and everything else is the trainer's own.
//!
//! An auditor trains many models on two neighbouring tables and tries to tell them apart. What a guarantee allows is
//! worst-case, and real records are not. So the auditor replaces gradients by vectors of its choice, before they are
//! clipped. The schedule, clipping, the divisor, the noise, the projection and the rounding of the release are those of
//! [`Plan::train`].

use crate::descent::{Gradients, Released};
use crate::{Generators, Plan, Table, TrainError};

/// A gradient that an auditor writes: for a step, counted from 1, and its iterate, into a vector of zeros.
pub type CraftedGradient<'a> = dyn Fn(u64, &[f64], &mut [f64]) + Sync + 'a;

/// A record whose gradient is crafted.
///
/// ```
/// use dobrushin_train::{Canary, CraftedGradient};
///
/// // The gradient is long enough to be clipped, and only the last of ten steps uses it.
/// let push: &CraftedGradient = &|step, _, gradient| {
///     if step == 10 {
///         gradient[0] = 1000.0;
///     }
/// };
/// let canary = Canary { record: 0, gradient: push };
/// let mut gradient = [0.0];
/// (canary.gradient)(10, &[0.0], &mut gradient);
/// assert_eq!(gradient, [1000.0]);
/// ```
#[derive(Clone, Copy)]
pub struct Canary<'a> {
    /// Which record, counted from 0.
    pub record: u32,
    /// Its gradient before clipping.
    pub gradient: &'a CraftedGradient<'a>,
}

/// Which gradients are crafted.
///
/// ```
/// use dobrushin_train::{Canary, Crafted};
///
/// let still = |_: u64, _: &[f64], _: &mut [f64]| ();
/// // Two records have no gradient; the others have their own.
/// let canaries = vec![Canary { record: 7, gradient: &still }, Canary { record: 3, gradient: &still }];
/// assert_eq!(Crafted::new(canaries, None).records().collect::<Vec<_>>(), [3, 7]);
/// ```
#[derive(Clone)]
pub struct Crafted<'a> {
    /// In the order of their records, which are different.
    canaries: Vec<Canary<'a>>,
    others: Option<&'a CraftedGradient<'a>>,
}

impl<'a> Crafted<'a> {
    /// These records' gradients, and the gradient of each other record; without it, other records keep their own. Of
    /// two canaries for one record, the first counts.
    pub fn new(mut canaries: Vec<Canary<'a>>, others: Option<&'a CraftedGradient<'a>>) -> Self {
        canaries.sort_by_key(|canary| canary.record);
        canaries.dedup_by_key(|canary| canary.record);
        Self { canaries, others }
    }

    /// The records whose gradients are crafted one by one.
    pub fn records(&self) -> impl Iterator<Item = u32> {
        self.canaries.iter().map(|canary| canary.record)
    }

    /// The gradient of each other record, if it is crafted.
    pub(crate) fn others(&self) -> Option<&'a CraftedGradient<'a>> {
        self.others
    }

    /// The canaries among the records of a step; the other records are left in `others`.
    pub(crate) fn split(&self, records: &[u32], others: &mut Vec<u32>) -> Vec<&'a CraftedGradient<'a>> {
        let mut found = Vec::new();
        others.clear();
        others.extend(records.iter().filter(|&record| {
            let place = self.canaries.binary_search_by_key(record, |canary| canary.record);
            found.extend(place.map(|place| self.canaries[place].gradient));
            place.is_err()
        }));
        found
    }
}

impl Plan {
    /// Carries out the plan with gradients that an auditor crafted. **The release is for the audit only**: it is not a
    /// model of the records.
    ///
    /// Everything happens in the thread that calls this, so that you can train one model in each thread.
    ///
    /// # Errors
    /// [`TrainError`]; then nothing is released.
    ///
    /// ```
    /// use dobrushin::{Order, Positive, Release, Run};
    /// use dobrushin_train::loss::Logistic;
    /// use dobrushin_train::{Bounds, Canary, Crafted, Description, Generators, Model, Plan, Seed, Table, Target};
    ///
    /// let run = Run::dp_sgd(2).order(Order::Full).batch_size(2).steps(1).release(Release::Last);
    /// let run = run.learning_rate(1.0).clip_norm(1.0).noise_multiplier(1e-6).build()?;
    /// let bounds = Bounds { dimension: 1, norm: Positive::new(1.0)?, target: Target::Classes(2) };
    /// let plan = Plan::new(Description {
    ///     training: run.as_training().ok_or("it is an iteration")?.clone(),
    ///     model: Model::Linear { loss: Logistic.into(), features: 1 },
    ///     bounds,
    ///     projection: None,
    ///     loss_bound: Positive::new(1.0)?,
    /// })?;
    /// let mut table = Table::new(bounds, 1);
    /// table.push_empty();
    /// table.push_empty();
    /// // However long the gradient is, the record moves the mean of two by 1/2 at most.
    /// let push = |_: u64, _: &[f64], gradient: &mut [f64]| gradient[0] = -1000.0;
    /// let crafted = Crafted::new(vec![Canary { record: 0, gradient: &push }], None);
    /// let generators = Generators::new(Seed::Known(1))?;
    /// let released = plan.train_with_crafted_gradients(&table, None, &generators, &crafted)?;
    /// assert!((released.parameters[0][0] - 0.5).abs() < 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn train_with_crafted_gradients(
        &self,
        mut records: &Table,
        public: Option<&Table>,
        generators: &Generators,
        crafted: &Crafted<'_>,
    ) -> Result<Released, TrainError> {
        let gradients = &mut Gradients::Crafted(crafted);
        Ok(self.train_by(&mut records, public, generators, &mut || (), gradients, None)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Squared;
    use crate::{Bounds, Description, Model, Seed, Target};
    use dobrushin::run::{Algorithm, Batch, Divisor, Length, Order, Release, Run};
    use dobrushin::{Positive, Probability};

    fn positive(value: f64) -> Positive {
        Positive::new(value).expect("above 0")
    }

    /// Five records, and targets so far away that every gradient is clipped.
    fn setting(order: Order) -> (Plan, Table) {
        let run = Run::dp_sgd(5).order(Order::Full).batch_size(5).steps(3).release(Release::Last);
        let mut training =
            run.learning_rate(0.5).clip_norm(1.0).noise_multiplier(0.1).training().expect("all is said");
        (training.order, training.algorithm) = (order, Algorithm::DpSgd);
        if order == Order::Poisson {
            training.batch = Batch::Probability(Probability::new(0.5).expect("a probability"));
            (training.divide_by, training.length) = (Divisor::Actual, Length::Steps(20));
        }
        let target = Target::Range { lower: -1000.0, upper: 1000.0 };
        let bounds = Bounds { dimension: 3, norm: positive(1.0), target };
        let plan = Plan::new(Description {
            training,
            model: Model::Linear { loss: Squared.into(), features: 3 },
            bounds,
            projection: None,
            loss_bound: positive(1.0),
        });
        let mut table = Table::new(bounds, 1);
        for record in 0..5 {
            let mut row = [0.0; 3];
            row[record % 2] = 1.0;
            table.push(&row, &[1000.0]);
        }
        (plan.expect("it fits together"), table)
    }

    fn generators() -> Generators {
        Generators::new(Seed::Known(5)).expect("a number")
    }

    #[test]
    fn gradients_crafted_as_the_records_own_give_the_models_of_training() {
        // The clipped gradient of a record is −x, in as many digits as f32 has.
        let pushes: Vec<_> = (0..5)
            .map(|record| {
                move |_: u64, _: &[f64], gradient: &mut [f64]| gradient[record % 2] = -17.0 - record as f64
            })
            .collect();
        for order in [Order::Full, Order::Poisson] {
            let (plan, table) = setting(order);
            let trained = plan.train(&mut &table, None, &generators(), &mut || ()).expect("it fits");
            for crafted in 0..=5 {
                let canaries = pushes[..crafted].iter().enumerate();
                let canaries = canaries.map(|(record, gradient)| Canary { record: record as u32, gradient });
                let crafted = Crafted::new(canaries.collect(), None);
                let audited = plan.train_with_crafted_gradients(&table, None, &generators(), &crafted);
                let audited = audited.expect("it fits").parameters;
                for (audited, trained) in audited[0].iter().zip(&trained.parameters[0]) {
                    assert!((audited - trained).abs() < 1e-4, "{audited} against {trained}");
                }
            }
        }
    }

    #[test]
    fn others_that_are_crafted_count_as_often_as_they_are_drawn() {
        let (plan, table) = setting(Order::Full);
        let push = |_: u64, _: &[f64], gradient: &mut [f64]| gradient[2] = -1e9;
        let still = |_: u64, _: &[f64], _: &mut [f64]| ();
        let third = |crafted: &Crafted| {
            let released = plan.train_with_crafted_gradients(&table, None, &generators(), crafted);
            released.expect("it fits").parameters[0][2]
        };
        let nobody = third(&Crafted::new(Vec::new(), Some(&still)));
        let all = third(&Crafted::new(Vec::new(), Some(&push)));
        let but_one = third(&Crafted::new(vec![Canary { record: 3, gradient: &still }], Some(&push)));
        // Three steps of length 1/2.
        assert!((all - nobody - 1.5).abs() < 2e-3);
        assert!((but_one - nobody - 1.2).abs() < 2e-3);
    }

    #[test]
    fn a_crafted_gradient_that_is_no_number_contributes_nothing() {
        let (plan, table) = setting(Order::Full);
        let still = |_: u64, _: &[f64], _: &mut [f64]| ();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let push = |_: u64, _: &[f64], gradient: &mut [f64]| gradient[0] = bad;
            let train = |crafted: &Crafted| {
                let released = plan.train_with_crafted_gradients(&table, None, &generators(), crafted);
                released.expect("it fits").parameters
            };
            let canary = |gradient| Crafted::new(vec![Canary { record: 0, gradient }], Some(&still));
            assert!(train(&canary(&push)) == train(&canary(&still)));
        }
    }
}
