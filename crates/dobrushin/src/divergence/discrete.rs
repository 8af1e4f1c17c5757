//! Two laws on finitely many outcomes.

use super::curve::{HockeyStickCurve, Vertex};
use super::{Generator, Pair};
use crate::{Delta, Enclosure, Error, Gamma, Order};

/// How far a sum of probabilities may be from 1 and still be read as rounding.
pub const SUM_TOLERANCE: f64 = 1e-9;

/// A probability law on finitely many outcomes.
///
/// Decimals such as 0.1, 0.2, 0.7 do not sum to 1 in binary, so the given
/// numbers, whose sum must be within [`SUM_TOLERANCE`] of 1, are divided by it and
/// rounded; the law *is* the resulting numbers divided by their own exact sum,
/// which differs from 1 by at most a few units of roundoff.
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteLaw {
    probabilities: Vec<f64>,
    /// A bound on |1 − 1/sum|: 0 if the numbers sum to exactly 1. Equal numbers
    /// are equal laws.
    relative_error: f64,
}

impl FiniteLaw {
    /// A law with the given probabilities; `name` stands in errors.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NotAProbability`] with the place (counted from
    /// 1), or [`Error::SumNotOne`].
    pub fn new(name: &str, probabilities: Vec<f64>) -> Result<Self, Error> {
        if probabilities.is_empty() {
            return Err(Error::Empty { what: name.to_owned(), missing: "probability" });
        }
        for (place, &value) in probabilities.iter().enumerate() {
            if !(0.0..=1.0 + SUM_TOLERANCE).contains(&value) {
                let place = format!("entry {} of {name}", place + 1);
                return Err(Error::NotAProbability { place, value });
            }
        }
        let sum: Enclosure = probabilities.iter().map(|&p| Enclosure::from(p)).sum();
        let excess = sum.midpoint() - 1.0;
        if excess.abs() > SUM_TOLERANCE {
            let (what, sum) = (name.to_owned(), sum.midpoint());
            return Err(Error::SumNotOne { what, sum, excess, tolerance: SUM_TOLERANCE });
        }
        Ok(Self::normalised(probabilities, sum))
    }

    /// The law proportional to the given weights, whatever their sum.
    ///
    /// # Errors
    /// [`Error::Empty`] if there are none or all are 0, [`Error::OutOfRange`] for
    /// a weight that is negative or not finite, or so small next to the others
    /// that its probability would be rounded to 0, which changes the support.
    pub fn proportional_to(name: &str, weights: Vec<f64>) -> Result<Self, Error> {
        if let Some(&value) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::OutOfRange { name: "weight", value, accepted: "finite and 0 or more" });
        }
        let largest = weights.iter().fold(0.0_f64, |most, &w| most.max(w));
        if largest == 0.0 {
            return Err(Error::Empty { what: name.to_owned(), missing: "positive weight" });
        }
        // A power of two keeps the sum of huge weights finite, exactly.
        let scale = if largest > 1e300 { 2f64.powi(-600) } else { 1.0 };
        let given = weights;
        let weights: Vec<f64> = given.iter().map(|w| w * scale).collect();
        let sum = weights.iter().map(|&w| Enclosure::from(w)).sum();
        let law = Self::normalised(weights, sum);
        match given.iter().zip(&law.probabilities).find(|(w, p)| **w > 0.0 && **p == 0.0) {
            Some((&value, _)) => Err(Error::OutOfRange {
                name: "weight",
                value,
                accepted: "0 or at least 1e-323 of the sum of all weights",
            }),
            None => Ok(law),
        }
    }

    /// Divides by the sum, unless that is 1.
    fn normalised(mut weights: Vec<f64>, sum: Enclosure) -> Self {
        let divisor = if sum == Enclosure::ONE { 1.0 } else { sum.midpoint() };
        for weight in &mut weights {
            // Adding 0 turns −0, which would divide as a negative number, into 0.
            *weight = *weight / divisor + 0.0;
        }
        let sum: Enclosure = weights.iter().map(|&p| Enclosure::from(p)).sum();
        // With a sum within 1 ± e, 1/sum is within 1 ± e/(1 − e).
        let away = (sum.upper() - 1.0).max(1.0 - sum.lower());
        Self { probabilities: weights, relative_error: away * (1.0 + 1e-12) }
    }

    /// The stored probabilities: those of the law, rounded.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// How many outcomes there are.
    pub fn len(&self) -> usize {
        self.probabilities.len()
    }

    /// Never: a law has outcomes.
    pub fn is_empty(&self) -> bool {
        self.probabilities.is_empty()
    }

    /// The probabilities of the law.
    pub fn enclosures(&self) -> impl Iterator<Item = Enclosure> + '_ {
        self.probabilities.iter().map(|&p| enclose(p, self.relative_error))
    }

    /// A bound on the relative error of every stored probability.
    pub(crate) fn relative_error(&self) -> f64 {
        self.relative_error
    }
}

fn enclose(p: f64, relative_error: f64) -> Enclosure {
    if relative_error == 0.0 || p == 0.0 { Enclosure::from(p) } else { Enclosure::around(p, relative_error) }
}

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
        let points = roc_points(self.p.probabilities(), self.q.probabilities(), (0, 1));
        HockeyStickCurve::from_points(points, self.p.len(), self.p.relative_error.max(self.q.relative_error))
    }

    /// D_f(P‖Q) = Σ q·f(p/q), with P(q = 0)·lim f(t)/t for what only P can
    /// produce.
    pub fn f_divergence(&self, f: &(impl Generator + ?Sized)) -> Enclosure {
        if self.p == self.q {
            return Enclosure::ZERO;
        }
        let terms = self.both().map(|(p, q)| {
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

    fn renyi(&self, order: Order) -> Enclosure {
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
            divergence = divergence.intersect(self.renyi_near_one(alpha));
        }
        if alpha > 1.0 {
            // The largest term alone, and the order ∞, whatever the order.
            let least = largest / (Enclosure::from(alpha) - Enclosure::ONE);
            divergence = divergence.intersect(least.hull(self.largest_log_ratio()));
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

    /// Infinite if one law can produce what the other cannot.
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

/// The points (Q(A), P(A)) of the sets A of outcomes with the largest ratios
/// p/q, from none to all with p > 0.
pub(crate) fn roc_points(p: &[f64], q: &[f64], pair: (usize, usize)) -> Vec<Vertex> {
    let mut order: Vec<(f64, f64, f64)> =
        p.iter().zip(q).filter(|(p, _)| **p > 0.0).map(|(&p, &q)| (p / q, p, q)).collect();
    // Of ratios that overflow, those with q = 0 come first.
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.2.total_cmp(&b.2)));
    let (mut p_sum, mut q_sum) = (0.0, 0.0);
    order
        .into_iter()
        .map(|(_, p, q)| {
            p_sum += p;
            q_sum += q;
            Vertex { q: q_sum, p: p_sum, pair }
        })
        .collect()
}

/// The E_γ-information I_γ(A; B) = E_γ(P_AB‖P_A×P_B) of a finite joint law, given
/// as a matrix of probabilities (rows A, columns B) that sum to 1 (CED §III).
///
/// ```
/// use dobrushin::{Gamma, divergence::gamma_information};
/// // A fair bit, known exactly: half of the joint mass is where the product has none.
/// let joint = [vec![0.5, 0.0], vec![0.0, 0.5]];
/// assert_eq!(gamma_information(&joint, Gamma::ONE)?.upper(), 0.5);
/// # Ok::<(), dobrushin::Error>(())
/// ```
///
/// # Errors
/// As [`FiniteLaw::new`], and [`Error::LengthMismatch`] for ragged rows.
pub fn gamma_information(joint: &[Vec<f64>], gamma: Gamma) -> Result<Enclosure, Error> {
    let columns = joint.first().map_or(0, Vec::len);
    for (index, row) in joint.iter().enumerate() {
        if row.len() != columns {
            let (what, like) = (format!("row {}", index + 1), "row 1".to_owned());
            return Err(Error::LengthMismatch { what, found: row.len(), expected: columns, like });
        }
    }
    let law = FiniteLaw::new("the joint law", joint.concat())?;
    let cells: Vec<Enclosure> = law.enclosures().collect();
    let rows: Vec<Enclosure> = cells.chunks(columns).map(|row| row.iter().copied().sum()).collect();
    let column = |c: usize| cells.iter().skip(c).step_by(columns).copied().sum::<Enclosure>();
    let columns: Vec<Enclosure> = (0..columns).map(column).collect();
    // Σ(ab − γ·a·b)₊, and for γ < 1 the same minus 1 − γ, written as
    // γ·Σ(a·b − ab/γ)₊.
    let below = gamma.is_below_one();
    let terms = cells.chunks(columns.len()).zip(&rows).flat_map(|(row, &a)| {
        row.iter().zip(&columns).map(move |(&joint, &b)| {
            if joint == Enclosure::ZERO && !below {
                return Enclosure::ZERO;
            }
            let gap = if below { gamma.value() * a * b - joint } else { joint - gamma.value() * a * b };
            gap.positive_part()
        })
    });
    Ok(terms.sum::<Enclosure>().min(Enclosure::ONE))
}
