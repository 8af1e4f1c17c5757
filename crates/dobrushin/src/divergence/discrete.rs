//! Two laws on finitely many outcomes.

use super::curve::{HockeyStickCurve, level_sets};
use super::{FiniteLaw, Generator, Pair};
use crate::{Delta, Enclosure, Error, Gamma, RenyiOrder};

/// P and Q on the same finitely many outcomes.
///
/// ```
/// use dobrushin::divergence::{DiscretePair, FiniteLaw, Pair};
/// let p = FiniteLaw::new("P", vec![0.75, 0.25])?;
/// let q = FiniteLaw::new("Q", vec![0.25, 0.75])?;
/// let pair = DiscretePair::new(p, q)?;
/// assert_eq!(pair.total_variation().upper(), 0.5);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DiscretePair {
    p: FiniteLaw,
    q: FiniteLaw,
}

impl DiscretePair {
    /// # Errors
    /// [`Error::LengthMismatch`] if the laws have different numbers of outcomes.
    pub fn new(p: FiniteLaw, q: FiniteLaw) -> Result<Self, Error> {
        if p.len() == q.len() {
            return Ok(Self { p, q });
        }
        let (found, expected) = (q.len(), p.len());
        Err(Error::LengthMismatch { what: "Q".to_owned(), found, expected, like: "P".to_owned() })
    }

    /// The law of P.
    pub fn p(&self) -> &FiniteLaw {
        &self.p
    }

    /// The law of Q.
    pub fn q(&self) -> &FiniteLaw {
        &self.q
    }

    /// P and Q exchanged.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { p: self.q.clone(), q: self.p.clone() }
    }

    /// γ ↦ E_γ(P‖Q) for all γ ≥ 1 at once.
    pub fn curve(&self) -> HockeyStickCurve {
        let [points, _] = level_sets(self.p.probabilities(), self.q.probabilities(), (0, 1));
        HockeyStickCurve::from_points(
            &points,
            self.p.len(),
            self.p.relative_error().max(self.q.relative_error()),
        )
    }

    /// D_f(P‖Q) = Σ q·f(p/q), plus P(q = 0)·lim f(t)/t for outcomes that only P can produce.
    pub fn f_divergence(&self, f: &(impl Generator + ?Sized)) -> Enclosure {
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        sum_of_terms(self.both(), f)
    }

    fn both(&self) -> impl Iterator<Item = (Enclosure, Enclosure)> + '_ {
        self.p.enclosures().zip(self.q.enclosures())
    }

    /// Σ(p − γq)₊ for γ ≥ 1.
    fn raw_hockey_stick(&self, gamma: Enclosure) -> Enclosure {
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        let terms = self.both().map(|(p, q)| {
            // γ may be infinite where it overflows.
            let cost = if q == Enclosure::ZERO { q } else { gamma * q };
            (p - cost).positive_part().min(p)
        });
        terms.sum::<Enclosure>().min(Enclosure::ONE)
    }

    /// D_∞, the largest ln(p/q).
    fn largest_log_ratio(&self) -> Enclosure {
        let possible = self.both().filter(|(p, _)| *p != Enclosure::ZERO);
        let logs =
            possible.map(|(p, q)| if q == Enclosure::ZERO { Enclosure::INFINITE } else { (p / q).ln() });
        logs.fold(Enclosure::ZERO, Enclosure::max)
    }

    /// D_α = ln(1 + Σ p·[(p/q)^(α−1) − 1])/(α − 1), which keeps its digits near
    /// α = 1; p > 0 = q, for α < 1 only, counts as −p.
    fn renyi_near_one(&self, alpha: f64) -> Enclosure {
        let below = Enclosure::from(alpha) - Enclosure::ONE;
        let terms = self.both().map(|(p, q)| match (p == Enclosure::ZERO, q == Enclosure::ZERO) {
            (true, _) => Enclosure::ZERO,
            (false, true) => -p,
            _ => p * (below * (p / q).ln()).exp_m1(),
        });
        terms.sum::<Enclosure>().ln_1p() / below
    }
}

/// Σ q·f(p/q) over the outcomes of two laws.
pub(crate) fn sum_of_terms(
    both: impl Iterator<Item = (Enclosure, Enclosure)>,
    f: &(impl Generator + ?Sized),
) -> Enclosure {
    let terms = both.map(|(p, q)| {
        if p == q && p.width() == 0.0 {
            Enclosure::ZERO
        } else if q == Enclosure::ZERO {
            p * f.slope_at_infinity()
        } else if p == Enclosure::ZERO {
            q * f.at_zero()
        } else {
            q * f.value(p / q)
        }
    });
    terms.sum::<Enclosure>().positive_part()
}

impl Pair for DiscretePair {
    fn hockey_stick(&self, gamma: Gamma) -> Enclosure {
        if gamma.is_below_one() {
            return (gamma.value() * self.hockey_stick_reversed(gamma.reciprocal())).min(Enclosure::ONE);
        }
        self.raw_hockey_stick(gamma.value())
    }

    fn hockey_stick_reversed(&self, gamma: Gamma) -> Enclosure {
        self.reversed().hockey_stick(gamma)
    }

    fn smallest_epsilon(&self, delta: Delta) -> Enclosure {
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        self.curve().epsilon_at(delta)
    }

    fn renyi(&self, order: RenyiOrder) -> Enclosure {
        let alpha = order.get();
        if alpha == 1.0 {
            return self.kl();
        }
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        if alpha == f64::INFINITY {
            return self.largest_log_ratio();
        }
        let nothing = -Enclosure::INFINITE;
        // ln(p^α q^(1−α)).
        let logs: Vec<Enclosure> = self
            .both()
            .map(|(p, q)| match (p == Enclosure::ZERO, q == Enclosure::ZERO) {
                (true, _) => nothing,
                (false, true) => {
                    if alpha > 1.0 {
                        Enclosure::INFINITE
                    } else {
                        nothing
                    }
                }
                _ => p.ln() + (Enclosure::from(alpha) - Enclosure::ONE) * (p / q).ln(),
            })
            .collect();
        let largest = logs.iter().fold(nothing, |most, &l| most.max(l));
        if largest == Enclosure::INFINITE {
            return largest;
        }
        if largest == nothing {
            // Disjoint supports, α < 1.
            return Enclosure::INFINITE;
        }
        let shift = Enclosure::from(largest.midpoint());
        let sum: Enclosure =
            logs.iter().map(|&l| if l == nothing { Enclosure::ZERO } else { (l - shift).exp() }).sum();
        let mut divergence = (shift + sum.ln()) / (Enclosure::from(alpha) - Enclosure::ONE);
        if (alpha - 1.0).abs() <= 0.25 {
            divergence = divergence.intersect(self.renyi_near_one(alpha)).unwrap_or(divergence);
        }
        if alpha > 1.0 {
            // At every order, the largest term alone is a lower bound, and the divergence of order ∞ an upper one.
            let least = largest / (Enclosure::from(alpha) - Enclosure::ONE);
            divergence = divergence.intersect(least.hull(self.largest_log_ratio())).unwrap_or(divergence);
        }
        divergence.positive_part()
    }

    fn kl(&self) -> Enclosure {
        self.f_divergence(&super::KullbackLeibler)
    }

    /// Σ(p − q)²/q.
    fn chi_squared(&self) -> Enclosure {
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        let terms = self.both().map(|(p, q)| match (p == Enclosure::ZERO, q == Enclosure::ZERO) {
            (true, true) => Enclosure::ZERO,
            (false, true) => Enclosure::INFINITE,
            _ => (p - q).square() / q,
        });
        terms.sum::<Enclosure>().positive_part()
    }

    /// Σ(√p − √q)².
    fn hellinger_squared(&self) -> Enclosure {
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        let terms = self.both().map(|(p, q)| (p.sqrt() - q.sqrt()).square());
        terms.sum::<Enclosure>().min(Enclosure::from(2.0))
    }

    fn last_epsilon(&self) -> Option<f64> {
        let ratios =
            self.both().filter(|(p, q)| p.upper() > 0.0 && q.upper() > 0.0).map(|(p, q)| (p / q).ln());
        Some(ratios.fold(0.0, |most: f64, r| most.max(r.upper()).max(-r.lower())))
    }

    fn knots(&self) -> Vec<f64> {
        let ratios = self.p.probabilities().iter().zip(self.q.probabilities());
        ratios.flat_map(|(p, q)| [p / q, q / p]).filter(|g| *g > 1.0 && g.is_finite()).collect()
    }

    /// Infinite if one law can produce an outcome that the other cannot.
    fn tail_moment(&self, epsilon: f64, power: f64) -> f64 {
        let one_way = |(p, q): (Enclosure, Enclosure)| {
            if p == Enclosure::ZERO {
                return Enclosure::ZERO;
            }
            if q == Enclosure::ZERO {
                return Enclosure::INFINITE;
            }
            let log_ratio = (p / q).ln();
            if log_ratio.upper() <= epsilon {
                return Enclosure::ZERO;
            }
            (q.ln() + Enclosure::from(power) * log_ratio).exp()
        };
        let forward: Enclosure = self.both().map(one_way).sum();
        let backward: Enclosure = self.both().map(|(p, q)| one_way((q, p))).sum();
        forward.upper().max(backward.upper())
    }
}
