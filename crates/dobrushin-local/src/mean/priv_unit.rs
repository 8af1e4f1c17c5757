//! Vectors in a ball, reported by a direction that is near them more often than not.

use super::direction::{check, check_radius, direction, dot, keeps_direction, mean_cosine, mix};
use super::level;
use super::nearest::Nearest;
use super::profile::{Outcome, Outcomes};
use super::vector::VectorMechanism;
use crate::profile::LocalProfile;
use dobrushin::numeric::bits::{Coin, RandomBits, below};
use dobrushin::numeric::{GoldenSection, beta};
use dobrushin::{Enclosure, Epsilon, Error, Positive, Probability};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A seed, and one of the directions that it represents: PrivUnit (Bhowmick, Duchi, Freudiger, Kapoor, Rogers 2018) with
/// a cap of nearest directions.
///
/// PrivUnit reports a uniform direction in the cap {z: ⟨z, v⟩ ≥ γ} with probability p, and one outside it otherwise.
/// Drawn with floating-point numbers, such a direction may reveal the vector by its last digits, and the share of the
/// cap among the directions that can occur at all is not known exactly. Here the cap is one of *rank*. The vector v is
/// rounded at random to ±r·v/‖v‖, without bias. A seed, drawn independently of the vector, represents h axes,
/// independent and uniform, and with them 2h directions ±z. The m ≤ h of these that are nearest to the vector are the
/// cap: with probability p one of them is reported, otherwise one of the 2h − m others, uniformly either way. (This is
/// the encoding by the k closest codewords of Isik, Chen, Özgür, Weissman and No, 2023.) The decoded form is B·z with
///
/// ```text
/// B = r/(T·(p/m − (1 − p)/(2h − m))),   T = E[sum of the m largest of h cosines |⟨z, e⟩|],
/// ```
///
/// since the cosines of all 2h directions add up to 0. The sum of the variances of its coordinates is B² − ‖v‖². For
/// h → ∞ it is PrivUnit with a cap of measure m/(2h); with one axis it is [`HalfSphere`](super::HalfSphere). The measure
/// of the cap, and with it the division of ε between p and γ, is the one that is best for PrivUnit (Asi, Feldman, Talwar
/// 2022); h is the smallest power of 2 from 64 to 1024 for which m is at least 16. B² is then within 2 % of PrivUnit's for
/// ε up to 8.
///
/// # Guarantee
/// For every vector, every seed has the same probability, and given the seed each direction has probability p/m or
/// (1 − p)/(2h − m); p/m ≤ e^ε·(1 − p)/(2h − m) was checked for the realised p. This holds for whichever m directions are
/// taken to be the nearest, however the directions and the cosines are computed. The caps of v and −v have nothing in
/// common, so the profile is (p − e^ε·(1 − p)·m/(2h − m))₊. Only the unbiasedness of the estimate relies on the
/// generator of directions, which is that of [`HalfSphere`](super::HalfSphere).
///
/// ```
/// use dobrushin::{Epsilon, Positive};
/// use dobrushin_local::mean::{HalfSphere, PrivUnit, VectorMechanism};
///
/// let (dimension, radius, epsilon) = (100.try_into()?, Positive::new(1.0)?, Epsilon::new(6.0)?);
/// let cap = PrivUnit::new(dimension, radius, epsilon)?;
/// assert_eq!(cap.privacy().delta(epsilon).upper(), 0.0);
/// // The mean square error is a seventh of that of one bit.
/// let half = HalfSphere::new(dimension, radius, epsilon)?;
/// assert!(cap.length().square().upper() < half.length().square().lower() / 7.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PrivUnit {
    dimension: NonZeroU32,
    radius: Positive,
    /// h.
    axes: NonZeroU32,
    /// m.
    nearest: NonZeroU32,
    /// p.
    nearness: Coin,
    /// B.
    length: Enclosure,
    /// The largest mean square of one coordinate.
    coordinate_moment: Enclosure,
}

/// The cap has at least this many directions, if that does not take more than the largest number of axes.
const LEAST_NEAREST: f64 = 16.0;
const LEAST_AXES: u32 = 64;
const MOST_AXES: u32 = 1024;
/// Beyond this, the cosines of so many axes, and their law, take too long to compute.
const MOST_DIMENSIONS: u32 = 1 << 16;

impl PrivUnit {
    /// A mechanism for vectors of the given dimension and norm at most r, calibrated to ε.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless ε is between 1e-6 and 1000, r between 1e-100 and 1e100, and d at most 2¹⁶.
    pub fn new(dimension: NonZeroU32, radius: Positive, epsilon: Epsilon) -> Result<Self, Error> {
        level::check(epsilon)?;
        if dimension.get() > MOST_DIMENSIONS {
            return Self::on(dimension, radius, epsilon, NonZeroU32::MIN, NonZeroU32::MIN);
        }
        let share = 2.0 * best_measure(dimension, epsilon)?;
        let mut axes = LEAST_AXES;
        while f64::from(axes) * share < LEAST_NEAREST && axes < MOST_AXES {
            axes *= 2;
        }
        let nearest = (f64::from(axes) * share).round().clamp(1.0, f64::from(axes)) as u32;
        // If half of all directions are near, one axis says as much as many.
        let (axes, nearest) = if nearest == axes { (1, 1) } else { (axes, nearest) };
        let [axes, nearest] = [axes, nearest].map(|count| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN));
        Self::on(dimension, radius, epsilon, axes, nearest)
    }

    /// The same with any number h of axes and any cap of m ≤ h directions; in one dimension there is one axis.
    ///
    /// # Errors
    /// The errors of [`PrivUnit::new`], and [`Error::OutOfRange`] if h is above 2¹², m above h, or h above 1 in one
    /// dimension.
    pub fn on(
        dimension: NonZeroU32,
        radius: Positive,
        epsilon: Epsilon,
        axes: NonZeroU32,
        nearest: NonZeroU32,
    ) -> Result<Self, Error> {
        check_radius(radius)?;
        let level = level::check(epsilon)?;
        if dimension.get() > MOST_DIMENSIONS {
            let (name, value) = ("the dimension", f64::from(dimension.get()));
            return Err(Error::OutOfRange { name, value, accepted: "up to 65536; half-sphere takes any" });
        }
        if axes.get() > 1 << 12 || (dimension.get() == 1 && axes.get() > 1) {
            let (name, value) = ("the number of axes", f64::from(axes.get()));
            return Err(Error::OutOfRange { name, value, accepted: "up to 4096, and 1 in one dimension" });
        }
        if nearest > axes {
            let (name, value) = ("the number of nearest directions", f64::from(nearest.get()));
            return Err(Error::OutOfRange { name, value, accepted: "at most the number of axes" });
        }
        let [h, m, d] = [axes, nearest, dimension].map(|count| Enclosure::from(f64::from(count.get())));
        let others = h + h - m;
        let nearness = level::likeliest_coin(level, m / others);
        let (near, far) = (nearness.probability() / m, nearness.complement() / others);
        let Nearest { cosines, squares } = Nearest::of(axes, nearest, dimension)?;
        let length = Enclosure::from(radius) / (cosines * (near - far));
        // The mean square of the cosine of a report; what is left is shared by the other d − 1 coordinates.
        let along = near * squares + far * (h + h) / d - far * squares;
        let along = along.min(Enclosure::ONE);
        let across = match dimension.get() {
            1 => Enclosure::ZERO,
            _ => (Enclosure::ONE - along) / (d - Enclosure::ONE),
        };
        let coordinate_moment = length.square() * along.max(across);
        Ok(Self { dimension, radius, axes, nearest, nearness, length, coordinate_moment })
    }

    /// h.
    pub fn axes(&self) -> NonZeroU32 {
        self.axes
    }

    /// m.
    pub fn nearest(&self) -> NonZeroU32 {
        self.nearest
    }

    /// p.
    pub fn nearness(&self) -> Enclosure {
        self.nearness.probability()
    }

    /// The 2h choices of a seed: first the m that are nearest to the vector, then all others.
    ///
    /// Which they are depends on rounding, but there are always m, and the choices of −v are those of v turned round.
    pub fn ranked(&self, vector: &[f64], seed: u64) -> Vec<u64> {
        let axes = u64::from(self.axes.get());
        let mut cosines: Vec<(f64, u64)> =
            (0..axes).map(|axis| (dot(&self.axis(seed, axis), vector), axis)).collect();
        // Every pair has a place of its own, and so the order is the same everywhere.
        let order = |a: &(f64, u64), b: &(f64, u64)| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1));
        cosines.sort_unstable_by(order);
        let (near, far) = cosines.split_at(self.nearest.get() as usize);
        let towards = |&(cosine, axis): &(f64, u64)| 2 * axis + u64::from(cosine < 0.0);
        let away = near.iter().map(|pair| towards(pair) ^ 1);
        let both = far.iter().flat_map(|pair| [towards(pair), towards(pair) ^ 1]);
        near.iter().map(towards).chain(away).chain(both).collect()
    }

    /// The direction of an axis.
    fn axis(&self, seed: u64, axis: u64) -> Vec<f64> {
        // The axes of a seed, and of seeds near each other, must not share numbers.
        direction(mix(seed) ^ mix(!axis), self.dimension.get() as usize)
    }
}

impl VectorMechanism for PrivUnit {
    fn id(&self) -> &'static str {
        "priv-unit"
    }

    fn dimension(&self) -> NonZeroU32 {
        self.dimension
    }

    fn radius(&self) -> Positive {
        self.radius
    }

    fn privacy(&self) -> LocalProfile {
        let [h, m] = [self.axes, self.nearest].map(|count| Enclosure::from(f64::from(count.get())));
        let (p, q) = (self.nearness.probability(), self.nearness.complement() * (m / (h + h - m)));
        LocalProfile::new(Arc::new(Outcomes(vec![Outcome { weight: Enclosure::ONE, p, q }])))
    }

    fn report(&self, vector: &[f64], bits: &mut dyn RandomBits) -> Result<[u64; 2], Error> {
        check(vector, self.dimension)?;
        let same = keeps_direction(vector, self.radius, bits);
        let seed = bits.bits();
        let ranked = self.ranked(vector, seed);
        let (near, far) = ranked.split_at(self.nearest.get() as usize);
        let choices = if self.nearness.toss(bits) { near } else { far };
        let choice = choices[below(choices.len() as u64, bits) as usize];
        Ok([seed, choice ^ u64::from(!same)])
    }

    fn is_report(&self, [_, choice]: [u64; 2]) -> bool {
        choice < 2 * u64::from(self.axes.get())
    }

    fn vector(&self, [seed, choice]: [u64; 2]) -> Vec<f64> {
        let length = self.length.midpoint();
        let signed = if choice % 2 == 0 { length } else { -length };
        let mut vector = self.axis(seed, choice / 2);
        vector.iter_mut().for_each(|x| *x *= signed);
        vector
    }

    fn length(&self) -> Enclosure {
        self.length
    }

    /// If the cosine with e has mean square s, a coordinate has e_j²·s + (1 − e_j²)(1 − s)/(d − 1), by symmetry.
    fn coordinate_moment(&self) -> Enclosure {
        self.coordinate_moment
    }
}

/// Nearly the measure q of the cap, at most 1/2, for which PrivUnit has the least variance: the largest
///
/// ```text
/// E[⟨z, e⟩; cap]·(e^ε − 1)/(1 + q(e^ε − 1)),   E[⟨z, e⟩; cap] = (c/2)(1 − γ²)^((d − 1)/2).
/// ```
fn best_measure(dimension: NonZeroU32, epsilon: Epsilon) -> Result<f64, Error> {
    let rest = (f64::from(dimension.get()) - 1.0) / 2.0;
    let (Ok(rest), half) = (Positive::new(rest), Positive::new(0.5)?) else {
        return Ok(0.5);
    };
    let measure = |cosine: f64| {
        let square = Probability::new((cosine * cosine).min(1.0));
        square.map_or(0.5, |square| beta::complement(half, rest, square).midpoint() / 2.0)
    };
    let cosine = mean_cosine(dimension)?.midpoint();
    let odds = epsilon.get().exp_m1();
    let loss = |gamma: f64| (1.0 / odds + measure(gamma)).ln() - rest.get() * (-gamma * gamma).ln_1p();
    // Beyond ten times the mean cosine, the cap is emptier than e^(−30).
    let end = (10.0 * cosine).min(1.0);
    let (gamma, least) = GoldenSection::new((0.0, end), loss).narrowed(60).lowest();
    Ok(if least < loss(0.0) { measure(gamma) } else { 0.5 })
}
