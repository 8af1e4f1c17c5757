//! How private a mechanism is, at every ε.

use super::{Id, Mechanism, Specification};
use crate::DocumentError;
use crate::json::Bounds;
use crate::report::{ProfileReport, Together};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::decimal as number;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Epsilon};
use dobrushin_local::{LocalProfile, Shuffled};
use std::num::NonZeroU32;

/// A matrix with more entries is not searched for its worst pair of answers.
const MOST_ENTRIES: usize = 1 << 17;

/// What is wanted besides the mechanism's own levels.
#[derive(Clone, Debug)]
pub struct ProfileWishes {
    /// The levels ε at which δ is wanted.
    pub levels: Vec<Epsilon>,
    /// What a person gives away who answers this many such questions.
    pub questions: Option<NonZeroU32>,
    /// How private each of this many people is, if the reports are shuffled.
    pub shuffled: Option<NonZeroU32>,
    /// The δ of these two.
    pub together_delta: Delta,
}

/// The exact profile of a mechanism as it is realised.
pub fn profile(
    specification: &Specification,
    mechanism: &Mechanism,
    wishes: &ProfileWishes,
) -> Result<ProfileReport, DocumentError> {
    let name = specification.id.name();
    let title = match specification.id {
        Id::Channel => "Channel of your own".to_owned(),
        _ => format!("{name} calibrated to epsilon = {}", number::plain(specification.epsilon.get())),
    };
    let profile = mechanism.privacy();
    let small = |channel: &FiniteKernel| channel.inputs() * channel.outputs() <= MOST_ENTRIES;
    let channel = mechanism.channel().filter(small);
    let mut report =
        ProfileReport::new((name, title), &profile, channel.as_ref(), &wishes.levels, specification.delta)?;
    let delta = wishes.together_delta;
    report.questions = wishes.questions.map(|count| questions(&profile, count, delta));
    report.shuffled = wishes.shuffled.map(|count| shuffled(&profile, count, delta)).transpose()?;
    Ok(report)
}

/// Several questions to one person.
fn questions(profile: &LocalProfile, count: NonZeroU32, delta: Delta) -> Together {
    let epsilon = LocalProfile::compose(&[(profile.clone(), u64::from(count.get()))]).epsilon(delta);
    Together { count: count.get(), delta: delta.get(), epsilon: Bounds(epsilon) }
}

/// Many people's reports, shuffled.
fn shuffled(profile: &LocalProfile, count: NonZeroU32, delta: Delta) -> Result<Together, DocumentError> {
    let pure = profile.epsilon(Delta::new(0.0)?).upper();
    if !pure.is_finite() {
        return Err(DocumentError::new("--shuffled: the mechanism has no finite epsilon with delta = 0")
            .help("shuffling is credited for mechanisms with --delta 0 only"));
    }
    let epsilon = Shuffled::new(Epsilon::new(pure)?, count)?.epsilon(delta);
    Ok(Together { count: count.get(), delta: delta.get(), epsilon: Bounds(epsilon) })
}
