//! All bounds that apply to a task.

use super::{Ball, Frequencies, MomentClass, Reports, RiskBound, Testing, sorted};
use dobrushin::{Enclosure, Probability};
use std::num::NonZeroU32;

/// What is to be learned from the reports.
///
/// ```
/// use dobrushin::{Delta, Epsilon, Positive};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{Ball, Reports, Task};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? });
/// let task = Task::BallMean(Ball { radius: Positive::new(1.0)?, dimension: 3.try_into()? });
/// assert!(!task.bounds(&reports, 1000.try_into()?).bounds.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The mean of a law with a bounded moment, with squared error.
    Mean(MomentClass),
    /// The mean of a law on a ball, with squared error.
    BallMean(Ball),
    /// Which of two laws the records have: the error of the second kind at a level.
    Testing(Testing, Probability),
    /// How often each value occurs.
    Frequencies(Frequencies),
}

/// The cost of local privacy in a task.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
/// use dobrushin_local::risk::{MomentClass, Reports, Task};
///
/// let reports = Reports::promised(LocalPrivacy { epsilon: Epsilon::new(3_f64.ln())?, delta: Delta::new(0.0)? });
/// let summary = Task::Mean(MomentClass::new(2.0)?).bounds(&reports, 1000.try_into()?);
/// // η_KL = 1/4: at most 250 records' worth of information. The best bound comes first.
/// assert!((summary.effective_records.upper() - 250.0).abs() < 1e-9);
/// assert!(summary.bounds.is_sorted_by(|a, b| a.value.lower() >= b.value.lower()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Summary {
    /// η_TV of one report.
    pub total_variation: Enclosure,
    /// η_KL of one report.
    pub information: Enclosure,
    /// φ, if a promise is known.
    pub published: Option<Enclosure>,
    /// n·η_KL.
    pub effective_records: Enclosure,
    /// Every bound, the best first.
    pub bounds: Vec<RiskBound>,
}

impl Task {
    /// Every bound that applies.
    ///
    /// ```
    /// use dobrushin_local::LocalPrivacy;
    /// use dobrushin_local::risk::{MomentClass, Reports, Task};
    /// use dobrushin::{Delta, Epsilon};
    /// use std::num::NonZeroU32;
    ///
    /// let privacy = LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? };
    /// let task = Task::Mean(MomentClass::new(2.0)?);
    /// let summary = task.bounds(&Reports::promised(privacy), NonZeroU32::new(1000).unwrap());
    /// // A mean square error below 0.01 is impossible: without privacy 0.001 would do.
    /// assert_eq!(summary.bounds[0].id, "mean-moments");
    /// assert!(summary.bounds[0].value.lower() > 0.01);
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    pub fn bounds(&self, reports: &Reports, records: NonZeroU32) -> Summary {
        let bounds = match self {
            Self::Mean(class) => {
                let mut bounds = vec![class.risk(reports, records), class.simple_risk(reports, records)];
                bounds.extend(class.pure_risk(reports, records));
                bounds
            }
            Self::BallMean(ball) => ball.bounds(reports, records),
            Self::Testing(testing, level) => testing.missed(reports, records, *level),
            Self::Frequencies(frequencies) => vec![frequencies.assouad(reports, records)],
        };
        Summary {
            total_variation: reports.total_variation(),
            information: reports.information(),
            published: reports.phi(),
            effective_records: reports.effective_records(records),
            bounds: sorted(bounds),
        }
    }
}
