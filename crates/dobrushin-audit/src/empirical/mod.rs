//! What runs prove about anybody's program: scores of models that were trained with a record and without it.
//!
//! An attacker looks at what was released, and answers with a number, the score: the larger it is (or the smaller),
//! the more it believes that the record was there. [`evidence()`] turns the scores of independent runs into statements
//! that are wrong with at most the chosen [`Risk`]:
//!
//! - a lower bound on ε at one δ, and the most that this many runs could have proved;
//! - a lower bound on μ, if the worst trade-off curve is that of two normal laws, and its ε;
//! - whether a claimed profile is contradicted ([`Evidence::contradicts`]).
//!
//! [`score_models`] makes scores of whole models, and [`one_run()`] needs a single run with many canaries.
//!
//! ```
//! use dobrushin::numeric::Random;
//! use dobrushin::profile::ApproximateProfile;
//! use dobrushin::{Delta, Epsilon};
//! use dobrushin_audit::{Risk, Scores, evidence};
//!
//! // Randomised response that tells the truth with probability 3/4: ε = ln 3.
//! let mut random = Random::new(1);
//! let mut answers = |truth: f64| (0..4000).map(|_| if random.below(4) < 3 { truth } else { 1.0 - truth }).collect();
//! let scores = Scores { with: answers(1.0), without: answers(0.0) };
//! let delta = Delta::new(1e-6)?;
//! let found = evidence(&scores, delta, Risk::new(0.05)?)?;
//! assert!(0.9 < found.epsilon && found.epsilon < 3_f64.ln());
//!
//! // Somebody claims that it is half as much.
//! let claim = ApproximateProfile::new(Epsilon::new(0.55)?, delta);
//! assert!(found.contradicts(&claim).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contradiction;
mod direction;
mod evidence;
mod guesses;
mod one_run;
mod risk;
mod rule;

pub use contradiction::Contradiction;
pub use direction::{Models, score_models};
pub use evidence::{Evidence, GaussianEvidence, Point, Scores, evidence};
pub use guesses::{Guesses, Rates};
pub use one_run::{Canaries, OneRun, Refutation, guesses_for, one_run};
pub use risk::Risk;
pub use rule::{Purpose, Rule, Tail};

use dobrushin::numeric::Random;

/// A permutation that depends on the number of runs alone.
///
/// Independent runs stay independent in any order that does not depend on them. In this order, a first part is typical
/// of the rest even if somebody has sorted the runs.
fn mixed(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut random = Random::new(0x0064_6f62_7275_7368);
    for last in (1..count).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// The part of the runs from which a rule or a direction is learnt. The rest is counted.
fn first_part(runs: usize) -> usize {
    runs / 4
}
