//! Composition that forgets, against independent numbers.

use dobrushin::analysis::{HiddenParticipation, HiddenStates};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise};
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, NonNegative, Positive, Probability};
use std::sync::Arc;

/// Equal steps with unit noise: the record is drawn with probability q, and displaces by `apart` between neighbours and
/// by `missing` against a step without it.
fn step(q: f64, c: f64, [apart, missing]: [f64; 2], vanishes: bool) -> Step {
    let step = Step::new(StepNoise::gaussian(1.0).expect("valid"))
        .with_modulus(vec![Piece::new(c, 0.0).expect("valid")]);
    let participation = Participation::Sometimes(Probability::new(q).expect("valid"));
    let mut used = step.used_by(participation, NonNegative::new(apart).expect("valid"));
    used.absence = Enclosure::from(missing);
    used.vanishes = vanishes;
    used
}

fn profile(step: Step, count: Count, diameter: Option<f64>) -> Arc<dyn PrivacyProfile> {
    let diameter = diameter.map(|d| Positive::new(d).expect("valid"));
    let chain = Chain::new(vec![(step, count)], Domain { diameter, dimension: None }).expect("valid");
    HiddenParticipation.apply(&Mixture::last(chain)).expect("it applies").into_profile()
}

fn epsilon(profile: &dyn PrivacyProfile, delta: f64) -> f64 {
    profile.epsilon(Delta::new(delta).expect("valid")).upper()
}

#[test]
fn the_closed_form_has_the_values_of_an_independent_computation() {
    // Computed in double precision by a discretised law of M that keeps means, for long runs.
    for (q, r, c, delta, known) in [
        (0.01, 1.0, 0.9, 1e-5, 0.557),
        (0.01, 1.0, 0.99, 1e-5, 1.425),
        (0.01, 0.25, 0.999, 1e-5, 0.648),
        (512.0 / 30162.0, 0.25, 0.98, 1e-6, 0.271),
    ] {
        let profile = profile(step(q, c, [r, r], true), Count::Any, None);
        let found = epsilon(profile.as_ref(), delta);
        assert!(found > known * (1.0 - 2e-3) && found < known * 1.01, "{q} {r} {c}: {found} against {known}");
    }
}

#[test]
fn the_recursion_has_the_values_of_an_independent_computation() {
    let q = 512.0 / 30162.0;
    // Replace-one with Poisson sampling, and zero-out without replacement.
    for (distances, known) in [([0.5, 0.25], 0.500), ([0.25, 0.5], 0.384)] {
        let profile = profile(step(q, 0.98, distances, false), Count::Any, None);
        let found = epsilon(profile.as_ref(), 1e-6);
        assert!(
            found > known * (1.0 - 5e-3) && found < known * 1.01,
            "{distances:?}: {found} against {known}"
        );
    }
}
