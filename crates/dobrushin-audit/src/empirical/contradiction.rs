//! Whether runs contradict a claim.

use super::{Evidence, Rates};
use dobrushin::numeric::GoldenSection;
use dobrushin::{Enclosure, Epsilon, PrivacyProfile};

/// Where a claimed profile is contradicted by runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contradiction {
    /// The ε at which the claim is false.
    pub epsilon: f64,
    /// The δ that the claim allows at this ε.
    pub claimed_delta: f64,
    /// The δ that the runs prove at this ε: more than what is claimed.
    pub proved_delta: f64,
    /// The rates that prove it.
    pub rates: Rates,
}

impl Evidence {
    /// Where the runs contradict a claimed profile δ(ε), if they do.
    ///
    /// # Guarantee
    /// A program with this profile, in both directions, is contradicted with probability at most `risk`: by definition,
    /// P(A) ≤ e^ε·Q(A) + δ(ε) and Q(Aᶜ) ≤ e^ε·P(Aᶜ) + δ(ε) for all events and all ε at once. The bounds on P(A) and Q(A)
    /// are those of the evidence, so it does not matter that the ε is searched for. No law is assumed.
    ///
    /// A whole profile is held against the runs, which says much more than one ε at a tiny δ.
    ///
    /// ```
    /// use dobrushin::profile::GaussianProfile;
    /// use dobrushin::{Delta, NonNegative, PrivacyProfile};
    /// use dobrushin_audit::{Risk, Scores, evidence};
    ///
    /// let scores = Scores { with: vec![1.0; 200], without: vec![0.0; 200] };
    /// let delta = Delta::new(1e-5)?;
    /// let found = evidence(&scores, delta, Risk::new(0.05)?)?;
    /// // At δ = 1e-5 these runs prove far less than the claimed ε. Yet no test is as good as this one between two
    /// // normal laws at distance 2.
    /// let claim = GaussianProfile::new(NonNegative::new(2.0)?);
    /// assert!(found.epsilon < claim.epsilon(delta).lower() / 2.0);
    /// let contradiction = found.contradicts(&claim).ok_or("contradicted")?;
    /// assert!(contradiction.proved_delta > contradiction.claimed_delta);
    /// assert!(found.contradicts(&GaussianProfile::new(NonNegative::new(5.0)?)).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contradicts(&self, claim: &dyn PrivacyProfile) -> Option<Contradiction> {
        let found = self.points.iter().filter_map(|point| contradiction(point.rates, claim));
        found.reduce(|most, next| if next.excess() > most.excess() { next } else { most })
    }
}

impl Contradiction {
    /// By how much the δ that is proved exceeds the claimed one.
    pub fn excess(&self) -> f64 {
        self.proved_delta - self.claimed_delta
    }
}

/// Where rates that are known to hold contradict a profile, if they do.
fn contradiction(rates: Rates, claim: &dyn PrivacyProfile) -> Option<Contradiction> {
    let found = rates.both_directions().into_iter().filter_map(|(p, q)| {
        let claimed =
            |epsilon: f64| Epsilon::new(epsilon).map_or(1.0, |epsilon| claim.delta(epsilon).upper());
        let proved = |epsilon: f64| (p - Enclosure::from(epsilon).exp() * q).lower();
        // Beyond this ε nothing is proved.
        let end = (p / q).ln().lower();
        if end.is_nan() || end <= 0.0 {
            return None;
        }
        let end = end.min(LARGEST);
        // δ(ε) + e^ε·q is convex in e^ε, so it has one valley.
        let search =
            GoldenSection::new((0.0, end), |epsilon| claimed(epsilon) - proved(epsilon)).narrowed(60);
        let at = |epsilon: f64| Contradiction {
            epsilon,
            claimed_delta: claimed(epsilon),
            proved_delta: proved(epsilon),
            rates,
        };
        let best = [at(0.0), at(search.lowest().0)].into_iter();
        best.max_by(|a, b| a.excess().total_cmp(&b.excess())).filter(|best| best.excess() > 0.0)
    });
    found.reduce(|most, next| if next.excess() > most.excess() { next } else { most })
}

/// No number of runs proves a larger ε.
const LARGEST: f64 = 700.0;
