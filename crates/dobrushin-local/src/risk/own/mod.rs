//! Questions about laws of one's own: what private reports can tell at best, beside what the papers prove and what the
//! same records would tell without privacy.

mod bayes;
mod information;
mod setting;
mod several;
mod testing;
mod two_laws;

pub use bayes::{Prior, bayes, coin};
pub use information::information;
pub use setting::Setting;
pub use several::{family, hypercube};
pub use testing::testing;
pub use two_laws::two_laws;

use super::{Coefficient, Reports, RiskBound};
use dobrushin::Enclosure;

/// What is found out about a problem.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Known quantities of the problem: divergences and informations.
    pub quantities: Vec<Quantity>,
    /// The questions with their answers.
    pub answers: Vec<Answer>,
}

/// A number with its name.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// A short name, for programs.
    pub id: &'static str,
    /// What it is, in words.
    pub what: String,
    /// Its value.
    pub value: Enclosure,
}

/// A question with every bound on its answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// A short name of the quantity that is bounded, for programs.
    pub id: &'static str,
    /// The quantity, in words.
    pub what: String,
    /// Whether it is bounded from below or from above.
    pub side: Side,
    /// Every bound, the best first.
    pub bounds: Vec<Comparison>,
    /// The exact value from the records in the clear, if they can be enumerated.
    pub clear: Option<Enclosure>,
    /// The exact value from the reports of the given channel, independent of each other, if they can be enumerated.
    pub through: Option<Enclosure>,
}

/// Which end of a bound is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The quantity is at least the lower end.
    AtLeast,
    /// The quantity is at most the upper end.
    AtMost,
}

/// A bound beside the one with the coefficients of the papers, and the one without privacy.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The bound with the best coefficients. It also holds if channels are chosen after earlier reports have been seen.
    pub bound: RiskBound,
    /// The same with φ and φ_n.
    pub published: Option<Enclosure>,
    /// The same for records that are not private.
    pub clear: Option<Enclosure>,
}

impl Answer {
    /// Every bound of a kind, with all coefficients; the best first.
    fn compare(
        setting: &Setting,
        (id, what, side): (&'static str, String, Side),
        of: impl Fn(&Reports) -> Vec<RiskBound>,
    ) -> Self {
        let ours = of(setting.reports());
        let published = setting.published().map(&of).unwrap_or_default();
        let clear = of(&Reports::clear());
        let same = |list: &[RiskBound], id| list.iter().find(|bound| bound.id == id).map(|bound| bound.value);
        let bounds = ours.into_iter().map(|bound| Comparison {
            bound,
            published: same(&published, bound.id),
            clear: same(&clear, bound.id),
        });
        let answer = Self { id, what, side, bounds: bounds.collect(), clear: None, through: None };
        answer.sorted()
    }

    /// Adds the exact values.
    fn with_exact(mut self, clear: Option<Enclosure>, through: Option<Enclosure>) -> Self {
        (self.clear, self.through) = (clear, through);
        self.with_floor(clear)
    }

    /// Adds what holds for records in the clear, and so for reports.
    fn with_floor(mut self, floor: Option<Enclosure>) -> Self {
        self.bounds.extend(floor.map(|value| Comparison {
            bound: RiskBound { id: "local-data-processing", value, coefficient: Coefficient::Clear },
            published: None,
            clear: Some(value),
        }));
        self.sorted()
    }

    fn sorted(mut self) -> Self {
        self.bounds.sort_by(|a, b| {
            let (a, b) = (a.bound.value, b.bound.value);
            match self.side {
                Side::AtLeast => b.lower().total_cmp(&a.lower()),
                Side::AtMost => a.upper().total_cmp(&b.upper()),
            }
        });
        self
    }
}
