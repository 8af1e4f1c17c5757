//! Whether a mechanism keeps its promise.

use crate::local_data::{Mechanism, Specification};
use crate::problem::Problem;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// What is known about a promise of (ε, δ).
pub struct Promise {
    /// The exact δ of the realised mechanism at ε.
    pub delta: Enclosure,
    /// The smallest ε that it has with δ.
    pub epsilon: Enclosure,
    /// Whether δ is certainly no larger than promised.
    pub holds: bool,
}

impl Promise {
    /// Compares the profile of the mechanism as it is realised with what is promised.
    pub fn of(specification: &Specification, mechanism: &Mechanism) -> Self {
        let privacy = mechanism.privacy();
        let delta = privacy.delta(specification.epsilon);
        let holds = delta.upper() <= specification.delta.get();
        Self { delta, epsilon: privacy.epsilon(specification.delta), holds }
    }

    /// In words.
    pub fn sentence(&self, specification: &Specification) -> String {
        let (name, claim) = (specification.id.name(), claim(specification));
        match (self.holds, self.delta.lower() > specification.delta.get()) {
            (true, _) => format!("{name} is {claim}-locally private."),
            (_, true) => format!(
                "{name} is NOT {claim}-locally private: its delta is at least {} there.",
                number::lower(self.delta)
            ),
            _ => format!("{name} may be {claim}-locally private, but that could not be proved."),
        }
    }

    /// Refuses a mechanism that does not keep its promise.
    pub fn require(&self, specification: &Specification) -> Result<(), Problem> {
        if self.holds {
            return Ok(());
        }
        let help = format!(
            "with delta = {} it is private at epsilon = {}; see dobrushin local verify",
            number::plain(specification.delta.get()),
            number::upper(self.epsilon)
        );
        Err(Problem::answer_is_no(self.sentence(specification)).help(help))
    }
}

/// (ε, δ).
pub fn claim(specification: &Specification) -> String {
    let [epsilon, delta] = [specification.epsilon.get(), specification.delta.get()].map(number::plain);
    format!("({epsilon}, {delta})")
}
