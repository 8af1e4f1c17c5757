//! Numbers beyond the papers: tight contraction in blocks, shifts from any start, the ceiling, and continued bounds.

use dobrushin::analysis::{
    Ceiling, Contraction, ContractionPublished, HiddenStates, Hybrid, NonconvexPublished, Shift, ShiftRenyi,
};
use dobrushin::chain::{Chain, Count, Domain, Mixture, Modulus, Participation, Piece, Step, StepNoise};
use dobrushin::{Delta, Epsilon, NonNegative, Positive, Probability};

fn piece(slope: f64, offset: f64) -> Piece {
    Piece::new(slope, offset).expect("valid")
}

fn clean(line: Piece) -> Step {
    Step::new(StepNoise::gaussian(1.0).expect("valid")).with_modulus(vec![line])
}

fn used(line: Piece, participation: Participation, displacement: f64) -> Step {
    clean(line).used_by(participation, NonNegative::new(displacement).expect("valid"))
}

fn on(diameter: Option<f64>, steps: Vec<(Step, Count)>) -> Mixture {
    let diameter = diameter.map(|d| Positive::new(d).expect("valid"));
    Mixture::last(Chain::new(steps, Domain { diameter, dimension: None }).expect("valid"))
}

/// Used once, then so many steps, with d = D = s = 1 and c = 1: the setting of PAC Figure 2.
fn one_pass(later: u64) -> Mixture {
    let line = piece(1.0, 0.0);
    on(
        Some(1.0),
        vec![(used(line, Participation::Always, 1.0), Count::Times(1)), (clean(line), Count::Times(later))],
    )
}

fn delta(analysis: &dyn HiddenStates, released: &Mixture, epsilon: f64) -> f64 {
    let profile = analysis.apply(released).expect("applicable").into_profile();
    profile.delta(Epsilon::new(epsilon).expect("valid")).upper()
}

fn epsilon(analysis: &dyn HiddenStates, released: &Mixture) -> f64 {
    let profile = analysis.apply(released).expect("applicable").into_profile();
    profile.epsilon(Delta::new(1e-5).expect("valid")).upper()
}

fn is_about(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value} is not about {expected}");
}

#[test]
fn hidden_steps_forget_faster_than_products_say() {
    for (at, published, tight) in [(0.1, 0.124, 0.1073), (0.5, 5.68e-2, 1.864e-2), (2.0, 4.378e-4, 2.786e-10)]
    {
        is_about(delta(&ContractionPublished, &one_pass(1), at), published, 2e-3);
        is_about(delta(&Contraction, &one_pass(1), at), tight, 1e-3);
    }
    let profile = Contraction.apply(&one_pass(20)).expect("applicable").into_profile();
    assert!(profile.log_delta(Epsilon::new(0.5).expect("valid")).upper() < -690.0);
    // Total variation after 1, 2 and 4 steps.
    for (later, most) in [(1, 0.14664), (2, 0.0562), (4, 0.0083)] {
        assert!(delta(&Contraction, &one_pass(later), 0.0) <= most, "{later}");
    }
}

#[test]
fn contraction_is_never_above_the_products() {
    for later in [0, 1, 2, 7, 40, 1000] {
        for at in [0.0, 0.1, 0.5, 1.0, 2.0, 4.0] {
            let released = one_pass(later);
            let (tight, product) =
                (delta(&Contraction, &released, at), delta(&ContractionPublished, &released, at));
            assert!(tight <= product * (1.0 + 1e-9) + 1e-300, "{later}, {at}: {tight} > {product}");
        }
    }
    let line = piece(1.0, 0.4);
    let rate = Participation::Sometimes(Probability::new(0.1).expect("valid"));
    for times in [1, 3, 50, 1000] {
        let step = Step { crossed: Modulus::new(vec![line]), ..used(line, rate, 0.4) };
        let released = on(Some(2.0), vec![(step, Count::Times(times))]);
        for at in [0.0, 0.1, 1.0] {
            let (tight, product) =
                (delta(&Contraction, &released, at), delta(&NonconvexPublished, &released, at));
            assert!(tight <= product * (1.0 + 1e-6), "{times}, {at}: {tight} > {product}");
        }
    }
}

/// Laplace noise: what is left is exactly nothing after finitely many steps.
#[test]
fn laplace_noise_forgets_everything() {
    let noise = StepNoise::laplace(1.0).expect("valid");
    let clean = Step::new(noise).with_modulus(vec![piece(1.0, 0.0)]);
    let used = clean.clone().used_by(Participation::Always, NonNegative::new(3.0).expect("valid"));
    let after =
        |later| on(Some(2.0), vec![(used.clone(), Count::Times(1)), (clean.clone(), Count::Times(later))]);
    assert!(delta(&Contraction, &after(0), 0.5) > 0.1);
    assert_eq!(delta(&Contraction, &after(12), 0.5), 0.0);
}

#[test]
fn shifts_may_begin_at_any_time_on_a_bounded_domain() {
    // Full batches, convex: AT22-type values of ε at δ = 1e-5 for any number of steps.
    for (diameter, displacement, expected) in [(3.33, 0.05, 3.47), (3.33, 0.5, 13.8), (10.0, 0.05, 6.57)] {
        let step = used(piece(1.0, 0.0), Participation::Always, displacement);
        let released = on(Some(diameter), vec![(step, Count::Any)]);
        is_about(epsilon(&Shift, &released), expected, 6e-3);
        assert!(ShiftRenyi.apply(&released).is_err());
    }
    // Noisy gradient descent with strong convexity: exact for quadratics.
    let (c, d, times): (f64, f64, u64) = (0.9, 0.3, 50);
    let step = used(piece(c, 0.0), Participation::Always, d);
    let released = on(None, vec![(step, Count::Times(times))]);
    let power = c.powi(50);
    let mu = d * ((1.0 - power) / (1.0 + power) * (1.0 + c) / (1.0 - c)).sqrt();
    let truth = dobrushin::numeric::theta::theta(
        Epsilon::new(1.0).expect("valid"),
        NonNegative::new(mu).expect("valid"),
    );
    is_about(delta(&Shift, &released, 1.0), truth.upper(), 1e-9);
}

/// Public steps at the end: what composition says is contracted by them.
#[test]
fn bounds_are_continued_by_contraction() {
    let rate = Participation::Sometimes(Probability::new(0.01).expect("valid"));
    let line = piece(1.0, 0.0);
    let released = |public| {
        let steps = vec![(used(line, rate, 0.5), Count::Times(2000)), (clean(line), Count::Times(public))];
        on(Some(2.0), steps)
    };
    let (few, many) = (epsilon(&Hybrid, &released(1)), epsilon(&Hybrid, &released(10)));
    assert!(many < 0.2 * few && few < 2.0, "{few} and then {many}");
}

#[test]
fn the_last_noise_hides_what_cannot_be_far_apart() {
    // Weight decay: iterates are at most 2ηC/λ apart.
    let line = piece(0.5, 0.2);
    let step = Step { crossed: Modulus::new(vec![line]), ..used(line, Participation::Always, 0.2) };
    let released = on(None, vec![(step, Count::Any)]);
    let apart = NonNegative::new(0.4).expect("valid");
    let truth = dobrushin::numeric::theta::theta(Epsilon::new(0.5).expect("valid"), apart);
    // ω(z) + d = 0.5·z + 0.4 is no better than the crossed line, whose limit is 0.4.
    is_about(delta(&Ceiling, &released, 0.5), truth.upper(), 1e-9);
}
