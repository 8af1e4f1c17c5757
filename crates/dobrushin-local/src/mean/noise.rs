//! Noise on the integers, sampled exactly (Canonne, Kamath, Steinke 2020).

use super::chance::{exponential_chance, run_of_exponential_chances};
use dobrushin::numeric::bits::{RandomBits, below};
use dobrushin::{Enclosure, Error};

/// Noise on the integers.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin_local::mean::{DiscreteLaplace, IntegerNoise};
///
/// // A moment of order 1/t and above is infinite.
/// let noise = DiscreteLaplace::new(2)?;
/// assert!(noise.log_moment(Enclosure::from(0.25)).upper() < f64::INFINITY);
/// assert_eq!(noise.log_moment(Enclosure::from(0.75)).upper(), f64::INFINITY);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub trait IntegerNoise: Copy + Send + Sync {
    /// The name of a mechanism with this noise.
    const ID: &'static str;

    /// One draw from exactly this law.
    fn sample(self, bits: &mut dyn RandomBits) -> i128;

    /// Its variance.
    fn variance(self) -> Enclosure;

    /// A bound on ln E e^(xk); infinite where it does not exist.
    fn log_moment(self, x: Enclosure) -> Enclosure;
}

/// P(k) ∝ e^(−|k|/t) for an integer t.
///
/// ```
/// use dobrushin_local::mean::{DiscreteLaplace, IntegerNoise};
///
/// // 2q/(1 − q)² with q = e^(−1/2).
/// let q = (-0.5_f64).exp();
/// let variance = DiscreteLaplace::new(2)?.variance();
/// assert!((variance.upper() / (2.0 * q / (1.0 - q).powi(2)) - 1.0).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteLaplace {
    scale: u64,
}

impl DiscreteLaplace {
    /// Scale t.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless t is between 1 and 2⁴⁰.
    pub fn new(scale: u64) -> Result<Self, Error> {
        if !(1..=1 << 40).contains(&scale) {
            let (name, value) = ("the scale of the discrete Laplace law", scale as f64);
            return Err(Error::OutOfRange { name, value, accepted: "between 1 and 2^40" });
        }
        Ok(Self { scale })
    }

    /// t.
    pub fn scale(self) -> u64 {
        self.scale
    }

    /// ln q = −1/t.
    fn decay(self) -> Enclosure {
        -(Enclosure::ONE / Enclosure::from(self.scale))
    }
}

impl IntegerNoise for DiscreteLaplace {
    const ID: &'static str = "laplace";

    /// Exactly this law (Algorithm 2): |k| = u + t·v, where u is below t and accepted with probability e^(−u/t), and v
    /// is the length of a run of events of probability 1/e. A negative 0 is redrawn.
    fn sample(self, bits: &mut dyn RandomBits) -> i128 {
        loop {
            let remainder = below(self.scale, bits);
            if !exponential_chance(u128::from(remainder), u128::from(self.scale), bits) {
                continue;
            }
            let run = run_of_exponential_chances(bits);
            let magnitude = i128::from(remainder) + i128::from(self.scale) * i128::from(run);
            let negative = bits.bits() & 1 == 1;
            if !(negative && magnitude == 0) {
                return if negative { -magnitude } else { magnitude };
            }
        }
    }

    /// 2q/(1 − q)² with q = e^(−1/t).
    fn variance(self) -> Enclosure {
        let decay = self.decay();
        Enclosure::from(2.0) * decay.exp() / decay.exp_m1().square()
    }

    /// ln E e^(xk) = ln[(1 − q)²/((1 − qe^x)(1 − qe^(−x)))], infinite from x = 1/t on.
    fn log_moment(self, x: Enclosure) -> Enclosure {
        let decay = self.decay();
        let side = |x: Enclosure| {
            // (1 − q)/(1 − qe^x).
            let rest = -(decay + x).exp_m1();
            if rest.lower() > 0.0 { (-decay.exp_m1() / rest).ln() } else { Enclosure::INFINITE }
        };
        let (up, down) = (side(x), side(-x));
        if up == Enclosure::INFINITE { up } else { (up + down).positive_part() }
    }
}

/// P(k) ∝ e^(−k²/(2σ²)) for σ a multiple of 1/16.
///
/// ```
/// use dobrushin_local::mean::{DiscreteGaussian, IntegerNoise};
///
/// // 48 sixteenths are σ = 3, and the variance is just below 9.
/// let noise = DiscreteGaussian::new(48)?;
/// assert_eq!(noise.sigma(), 3.0);
/// assert!((noise.variance().upper() - 9.0).abs() < 1e-9);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscreteGaussian {
    sixteenths: u32,
}

impl DiscreteGaussian {
    /// σ in sixteenths.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless σ is between 1/16 and 10⁵.
    pub fn new(sixteenths: u32) -> Result<Self, Error> {
        if !(1..=1_600_000).contains(&sixteenths) {
            let (name, value) = ("sigma of the discrete Gaussian", f64::from(sixteenths) / 16.0);
            return Err(Error::OutOfRange { name, value, accepted: "between 1/16 and 1e5" });
        }
        Ok(Self { sixteenths })
    }

    /// σ.
    pub fn sigma(self) -> f64 {
        f64::from(self.sixteenths) / 16.0
    }

    fn square(self) -> Enclosure {
        Enclosure::from(self.sigma()).square()
    }
}

impl IntegerNoise for DiscreteGaussian {
    const ID: &'static str = "gaussian";

    /// Exactly this law (Algorithm 3): discrete Laplace noise of scale t, about σ, is accepted with probability
    /// e^(−(|k| − σ²/t)²/(2σ²)). With σ = n/16 the exponent is (256·t·|k| − n²)²/(512·t²·n²).
    ///
    /// The numerator fits into 128 bits for |k| up to 2³⁷ and is cut off beyond, where the acceptance probability is
    /// below e^(−2³⁰) either way.
    fn sample(self, bits: &mut dyn RandomBits) -> i128 {
        let square = u128::from(self.sixteenths) * u128::from(self.sixteenths);
        let scale = self.sixteenths / 16 + 1;
        let (laplace, scale) = (DiscreteLaplace { scale: u64::from(scale) }, u128::from(scale));
        let denominator = 512 * scale * scale * square;
        loop {
            let noise = laplace.sample(bits);
            let distance = (256 * scale).saturating_mul(noise.unsigned_abs()).abs_diff(square);
            if exponential_chance(distance.saturating_mul(distance), denominator, bits) {
                return noise;
            }
        }
    }

    /// Just below σ².
    ///
    /// # Guarantee
    /// Z = Σe^(−k²/(2σ²)) = √(2π)·σ·Σ_m e^(−2π²σ²m²) by Poisson summation, and E k² = σ³·d(ln Z)/dσ. So the variance is
    /// σ² − 8π²σ⁴·Σ_{m ≥ 1} m²e^(−2π²σ²m²)/(1 + 2Σ_{m ≥ 1} e^(−2π²σ²m²)), and the sum above is at most
    /// Σm²q^m = q(1 + q)/(1 − q)³ with q = e^(−2π²σ²).
    fn variance(self) -> Enclosure {
        let square = self.square();
        let pi = Enclosure::between(std::f64::consts::PI, std::f64::consts::PI.next_up());
        let ln_q = -(Enclosure::from(2.0) * pi.square() * square);
        let (q, rest) = (ln_q.exp(), -ln_q.exp_m1());
        let sum = q * (Enclosure::ONE + q) / rest.powi(3);
        let missing = Enclosure::from(8.0) * (pi * square).square() * sum;
        (square - missing).hull(square).positive_part()
    }

    /// x²σ²/2, an upper bound on ln E e^(xk): E e^(xk) = e^(x²σ²/2)·Σe^(−(k − xσ²)²/(2σ²))/Σe^(−k²/(2σ²)), and by
    /// Poisson summation no shift gives a larger sum than 0.
    fn log_moment(self, x: Enclosure) -> Enclosure {
        x.square() * self.square() / Enclosure::from(2.0)
    }
}
