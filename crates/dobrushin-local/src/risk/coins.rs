//! A coin of unknown bias: Θ uniform on [0, 1], n tosses with P(heads) = Θ, each reported through a private channel.
//!
//! The Bayes risk is the least E|Θ − estimate| of any estimator (CED Example 5, Remark 2). For the absolute error and a
//! uniform Θ the small-ball probability is L(z) = min(2z, 1).

use super::search::peak;
use crate::LocalPrivacy;
use dobrushin::numeric::{Boundary, beta, boundary, gamma};
use dobrushin::{Enclosure, Gamma, Positive, Probability};
use std::num::NonZeroU32;
use std::sync::OnceLock;

/// n tosses of a coin whose bias Θ is uniform.
///
/// Every bound on the Bayes risk is a lower bound: its *lower* end is proved.
///
/// ```
/// use dobrushin_local::Coins;
///
/// // I(Θ; X) of one toss is ln 2 − 1/2.
/// let information = Coins::new(1.try_into()?).information();
/// assert!((information.upper() - (2_f64.ln() - 0.5)).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coins {
    tosses: NonZeroU32,
    /// I_γ at a few γ.
    curve: OnceLock<Vec<(Gamma, Enclosure)>>,
}

impl Coins {
    /// This many tosses.
    pub fn new(tosses: NonZeroU32) -> Self {
        Self { tosses, curve: OnceLock::new() }
    }

    /// I(Θ; X^n) in nats, ln(n + 1) − n/2 + Σ_s ln C(n, s)/(n + 1).
    ///
    /// The number of heads is uniform on 0 … n, and E[S·ln Θ] = n∫θ ln θ dθ = −n/4, as is E[(n − S)·ln(1 − Θ)].
    pub fn information(&self) -> Enclosure {
        let n = self.tosses.get();
        let mean: Enclosure = (0..=n).map(|heads| self.ln_choose(heads)).sum();
        self.outcomes().ln() - number(n) / Enclosure::from(2.0) + mean / self.outcomes()
    }

    /// I_γ(Θ; X^n) = E_γ of their joint law against the product of the marginals: the mean over s of
    /// E_γ(Beta(s + 1, n − s + 1)‖uniform).
    pub fn hockey_stick_information(&self, gamma: Gamma) -> Enclosure {
        let n = self.tosses.get();
        // Heads and tails are symmetric.
        let half = (0..=n / 2).map(|heads| {
            let both = if 2 * heads == n { Enclosure::ONE } else { Enclosure::from(2.0) };
            both * self.excess(heads, gamma)
        });
        let sum: Enclosure = half.sum();
        (sum / self.outcomes() - (Enclosure::ONE - gamma.value()).positive_part()).positive_part()
    }

    /// CED Theorem 4 and, with coefficient 1, equation 27, at one γ > 0: sup over z of z·[1 − c·I_γ − γ·L(z) − (1 −
    /// γ)₊] = A²/(8γ), where A consists of all terms but the one in z.
    ///
    /// # Guarantee
    /// No estimator from reports that contract E_γ by c has a smaller Bayes risk than the lower end. η_γ ≤ η_TV
    /// for every γ > 0, so γ need not be e^ε (E21).
    pub fn risk_by_hockey_stick(&self, coefficient: Enclosure, gamma: Gamma) -> Enclosure {
        risk(coefficient * self.hockey_stick_information(gamma), gamma)
    }

    /// The same at the best γ.
    pub fn risk_by_best_hockey_stick(&self, coefficient: Enclosure) -> Enclosure {
        let curve = self.curve.get_or_init(|| {
            let gammas = (0..=PLACES).filter_map(|i| Gamma::from_epsilon(FROM + STEP * f64::from(i)).ok());
            gammas.map(|gamma| (gamma, self.hockey_stick_information(gamma))).collect()
        });
        let risks = curve.iter().map(|&(gamma, information)| (gamma, risk(coefficient * information, gamma)));
        let best = risks.max_by(|(_, a), (_, b)| a.lower().total_cmp(&b.lower()));
        let (rough, risk) = best.unwrap_or((Gamma::ONE, Enclosure::ZERO));
        let at = |ln_gamma: f64| {
            Gamma::from_epsilon(ln_gamma)
                .map_or(Enclosure::ZERO, |gamma| self.risk_by_hockey_stick(coefficient, gamma))
        };
        let middle = rough.epsilon().midpoint();
        at(peak(middle - STEP, middle + STEP, |place| at(place).lower())).max(risk)
    }

    /// CED Corollary 3 and, with all of I(Θ; X^n), equation 25: sup over z of z·[1 − (I + ln 2)/ln(1/(2z))].
    ///
    /// # Guarantee
    /// No estimator from reports that have at most this information about Θ has a smaller Bayes risk than the
    /// lower end (Xu and Raginsky 2015). Every z gives a bound; the best is z = e^(−u)/2 with u² = B(u + 1),
    /// B = I + ln 2.
    pub fn risk_by_information(&self, information: Enclosure) -> Enclosure {
        let two = Enclosure::from(2.0);
        let b = information + two.ln();
        let u = (b + (b.square() + Enclosure::from(4.0) * b).sqrt()) / two;
        ((-u).exp() / two * (Enclosure::ONE - b / u)).positive_part()
    }

    /// I(Θ; Z^n) ≤ min{φ_n·I(Θ; X^n), n·η_KL·I(Θ; X)} for reports Z that are locally private.
    ///
    /// # Guarantee
    /// The first holds by contraction of n channels in parallel, the second because the reports are independent given
    /// Θ, so the sum of their informations is at least that of all.
    pub fn reported_information(&self, privacy: LocalPrivacy) -> Enclosure {
        let one = Self::new(NonZeroU32::MIN).information();
        let each = number(self.tosses.get()) * privacy.information() * one;
        (privacy.published(self.tosses.get()) * self.information()).min(each)
    }

    /// The best of all these bounds, with the least coefficients, for reports that are locally private.
    pub fn risk(&self, privacy: LocalPrivacy) -> Enclosure {
        let by_hockey_stick = self.risk_by_best_hockey_stick(privacy.total_variation_of(self.tosses.get()));
        by_hockey_stick.max(self.risk_by_information(self.reported_information(privacy)))
    }

    /// n + 1.
    fn outcomes(&self) -> Enclosure {
        number(self.tosses.get()) + Enclosure::ONE
    }

    /// ln C(n, heads).
    fn ln_choose(&self, heads: u32) -> Enclosure {
        let tails = self.tosses.get() - heads;
        ln_factorial(self.tosses.get()) - ln_factorial(heads) - ln_factorial(tails)
    }

    /// θ ↦ ln of the density (n + 1)·C(n, s)·θ^s·(1 − θ)^(n − s) of Θ after s heads.
    fn ln_density(&self, heads: u32) -> impl Fn(f64) -> Enclosure {
        let power = |times: u32, ln: Enclosure| if times == 0 { Enclosure::ZERO } else { number(times) * ln };
        let (factor, tails) = (self.outcomes().ln() + self.ln_choose(heads), self.tosses.get() - heads);
        move |theta| {
            let theta = Enclosure::from(theta);
            factor + power(heads, theta.ln()) + power(tails, (-theta).ln_1p())
        }
    }

    /// ∫(f − γ)₊ for the density f of Θ after this many heads.
    ///
    /// f rises up to θ = s/n and falls after it. Between places a < b at which f ≥ γ is certain, the integral is F(b) −
    /// F(a) − γ(b − a); outside places at which f ≤ γ is certain, it is 0; and f ≤ n + 1 in between.
    fn excess(&self, heads: u32, gamma: Gamma) -> Enclosure {
        let n = self.tosses.get();
        let top = f64::from(heads) / f64::from(n);
        let ln_density = self.ln_density(heads);
        let above = |theta: f64| ln_density(theta).lower() >= gamma.epsilon().upper();
        let below = |theta: f64| ln_density(theta).upper() <= gamma.epsilon().lower();
        if !above(top) {
            // There is no certain place: the density is at most about γ everywhere.
            let most = ln_density(top).exp().upper() * (1.0 + 1e-14);
            let most = (Enclosure::from(most) - gamma.value()).positive_part();
            return Enclosure::ZERO.hull(most);
        }
        let edge = |end: f64| {
            if above(end) {
                return (end, end);
            }
            let ends = Boundary { holds: top, fails: end };
            let above_nearly = |theta: f64| ln_density(theta).midpoint() >= gamma.epsilon().midpoint();
            let inside = boundary(ends, ends.halved(HALVINGS, above_nearly).holds, above).holds;
            (inside, boundary(Boundary { holds: end, fails: inside }, inside, below).holds)
        };
        let ((a, before), (b, after)) = (edge(0.0), edge(1.0));
        let law = |theta: f64| {
            let parameters =
                (Positive::new(f64::from(heads) + 1.0), Positive::new(f64::from(n - heads) + 1.0));
            match (parameters, Probability::new(theta)) {
                ((Ok(first), Ok(second)), Ok(theta)) => beta::regularised(first, second, theta),
                _ => Enclosure::UNIT,
            }
        };
        let [from, to] = [a, b].map(Enclosure::from);
        let certain = law(b) - law(a) - gamma.value() * (to - from);
        let margins = Enclosure::from(a) - Enclosure::from(before) + Enclosure::from(after) - to;
        let missed = Enclosure::ZERO.hull(margins.positive_part() * self.outcomes());
        (certain + missed).positive_part()
    }
}

/// The γ that are tried before the best is refined: the bound is at most 1/(8γ), and γ/8 for γ < 1.
const FROM: f64 = -2.0;
const STEP: f64 = 0.125;
const PLACES: u32 = 56;
/// The number of times an interval is halved to guess where a density crosses a level.
const HALVINGS: u32 = 44;

/// A²/(8γ), A = 1 − c·I_γ − (1 − γ)₊.
fn risk(contracted: Enclosure, gamma: Gamma) -> Enclosure {
    let left = Enclosure::ONE - contracted - (Enclosure::ONE - gamma.value()).positive_part();
    left.positive_part().square() / (Enclosure::from(8.0) * gamma.value())
}

fn number(n: u32) -> Enclosure {
    Enclosure::from(f64::from(n))
}

fn ln_factorial(n: u32) -> Enclosure {
    Positive::new(f64::from(n) + 1.0).map_or(Enclosure::ENTIRE, gamma::ln_gamma)
}
