//! The whole curve γ ↦ η_γ of a finite kernel.

use super::Kernel;
use super::finite::FiniteKernel;
use crate::divergence::{HockeyStickCurve, level_sets, merged_hull};
use crate::{Delta, Enclosure, Gamma};
use rayon::prelude::*;

/// γ ↦ η_γ, which is exactly piecewise linear for γ ≥ 1, with η_γ = η_{1/γ} below 1, and the pair of inputs that
/// attains each part.
///
/// It is a kernel about which nothing else is known: evaluation costs a binary search, whereas [`FiniteKernel`]
/// compares all pairs of inputs. It is a separate type because the curve of one pair of laws, in one direction, does
/// not bound a kernel.
///
/// ```
/// use dobrushin::kernel::{FiniteKernel, Kernel};
/// use dobrushin::{Delta, Gamma};
///
/// // Randomised response that tells the truth 3 times in 4: a line from 1/2 at γ = 1 to 0 at γ = 3.
/// let curve = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?.curve();
/// assert!(curve.contraction(Gamma::new(2.0)?).contains(0.25));
/// assert!((curve.epsilon_at(Delta::new(0.0)?).upper() - 3_f64.ln()).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContractionCurve(HockeyStickCurve);

impl ContractionCurve {
    /// The γ ≥ 1 at which the curve bends, in increasing order, with the pair of inputs (counted from 0) that attains
    /// it just below; beyond the last it is constant.
    pub fn bends(&self) -> impl Iterator<Item = (f64, (usize, usize))> {
        let below = self.0.vertices().iter().skip(1).map(|vertex| vertex.pair);
        let mut bends: Vec<_> = self.0.knots().zip(below).filter(|(gamma, _)| *gamma >= 1.0).collect();
        bends.reverse();
        bends.into_iter()
    }

    /// The smallest ε ≥ 0 at which the kernel is (ε, δ)-locally private.
    pub fn epsilon_at(&self, delta: Delta) -> Enclosure {
        self.0.epsilon_at(delta)
    }
}

impl Kernel for ContractionCurve {
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        self.0.at(if gamma.is_below_one() { gamma.reciprocal() } else { gamma })
    }

    fn last_epsilon(&self) -> Option<f64> {
        Some(self.bends().last().map_or(0.0, |(gamma, _)| libm::log(gamma)))
    }
}

impl FiniteKernel {
    /// The whole curve γ ↦ η_γ.
    pub fn curve(&self) -> ContractionCurve {
        self.curve_with_progress(|| {})
    }

    /// [`FiniteKernel::curve`], calling `row_done` after each of the inputs.
    pub fn curve_with_progress(&self, row_done: impl Fn() + Sync) -> ContractionCurve {
        let rows = self.outer_rows();
        let points = (0..rows.len())
            .into_par_iter()
            .map(|place| {
                let mut hull = Vec::new();
                let x = rows[place];
                for &y in &rows[place + 1..] {
                    for sets in level_sets(self.row(x), self.row(y), (x, y)) {
                        hull = merged_hull(&hull, &sets);
                    }
                }
                row_done();
                hull
            })
            .reduce(Vec::new, |a, b| merged_hull(&a, &b));
        ContractionCurve(HockeyStickCurve::from_points(&points, self.outputs(), self.relative_error()))
    }
}
