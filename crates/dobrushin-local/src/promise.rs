//! The consequences of (ε, δ)-local privacy alone for contraction.

use dobrushin::numeric::rounding::{div_down, mul_down};
use dobrushin::{Delta, Enclosure, Epsilon, Error};
use std::num::NonZeroU32;

/// The promise that a channel is (ε, δ)-locally private: E_{e^ε} ≤ δ between the answers to any two inputs.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::LocalPrivacy;
///
/// // tanh(ε/2) is 1/2 for ε = ln 3, and information contracts by its square.
/// let promise = LocalPrivacy { epsilon: Epsilon::new(3_f64.ln())?, delta: Delta::new(0.0)? };
/// assert!((promise.total_variation().upper() - 0.5).abs() < 1e-12);
/// assert!((promise.information().upper() - 0.25).abs() < 1e-12);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalPrivacy {
    /// ε.
    pub epsilon: Epsilon,
    /// δ.
    pub delta: Delta,
}

impl LocalPrivacy {
    /// The part of the promise that one of several questions may use up, by its share of the sum of all shares.
    ///
    /// # Guarantee
    /// ε·share/total and δ·share/total are rounded down: if the shares add up to at most the total, the parts add up to at
    /// most ε and δ. Answers to all questions, each with its own part, then keep the promise together, whichever
    /// mechanisms make them (sequential composition).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the share is above the total.
    ///
    /// ```
    /// use dobrushin::{Delta, Epsilon};
    /// use dobrushin_local::LocalPrivacy;
    ///
    /// let promise = LocalPrivacy { epsilon: Epsilon::new(3.0)?, delta: Delta::new(0.0)? };
    /// assert_eq!(promise.part(1, 3.try_into()?)?.epsilon.get(), 1.0);
    /// assert!(promise.part(4, 3.try_into()?).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn part(self, share: u32, total: NonZeroU32) -> Result<Self, Error> {
        let (share, total) = (f64::from(share), f64::from(total.get()));
        if share > total {
            let (name, value) = ("the share of a question", share);
            return Err(Error::OutOfRange { name, value, accepted: "at most the sum of all shares" });
        }
        let of = |whole: f64| if share == total { whole } else { div_down(mul_down(whole, share), total) };
        Ok(Self { epsilon: Epsilon::new(of(self.epsilon.get()))?, delta: Delta::new(of(self.delta.get()))? })
    }

    /// φ_n = 1 − e^(−nε)(1 − δ)^n, the factor by which n channels in parallel contract every f-divergence (CED Lemma
    /// 2).
    pub fn published(self, channels: u32) -> Enclosure {
        let kept = (-Enclosure::from(self.delta)).ln_1p() - Enclosure::from(self.epsilon);
        -(Enclosure::from(f64::from(channels)) * kept).exp_m1()
    }

    /// The least bound on η_TV of one channel, δ + (1 − δ)·tanh(ε/2).
    ///
    /// # Guarantee
    /// Every (ε, δ)-locally private channel has at most this η_TV, and one attains it: add P(A) ≤ e^ε·Q(A) + δ and
    /// Q(Aᶜ) ≤ e^ε·P(Aᶜ) + δ.
    pub fn total_variation(self) -> Enclosure {
        self.revealing_or(self.half_level_tanh())
    }

    /// The same for n channels in parallel, 1 − (1 − η_TV)^n.
    pub fn total_variation_of(self, channels: u32) -> Enclosure {
        let kept = (-self.total_variation()).ln_1p();
        -(Enclosure::from(f64::from(channels)) * kept).exp_m1()
    }

    /// The least bound on η_KL = η_χ² of one channel, δ + (1 − δ)·tanh²(ε/2).
    ///
    /// # Guarantee
    /// Every (ε, δ)-locally private channel has at most this η_KL, and one attains it: two inputs suffice, and any two
    /// answers that are (ε, δ)-indistinguishable are a post-processing of "reveal with probability δ, else randomised
    /// response".
    pub fn information(self) -> Enclosure {
        self.revealing_or(self.half_level_tanh().square())
    }

    /// tanh(ε/2) = (1 − e^(−ε))/(1 + e^(−ε)).
    fn half_level_tanh(self) -> Enclosure {
        let level = -Enclosure::from(self.epsilon);
        -level.exp_m1() / (Enclosure::ONE + level.exp())
    }

    /// δ + (1 − δ)·η.
    fn revealing_or(self, eta: Enclosure) -> Enclosure {
        let delta = Enclosure::from(self.delta);
        (delta + (Enclosure::ONE - delta) * eta).min(Enclosure::ONE)
    }
}
