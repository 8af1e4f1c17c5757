//! Hidden participation and hidden iterates at once: `shift-subsampled` against reference numbers, against the
//! exact law of linear chains, and against its formulas computed naively.

use dobrushin::analysis::{HiddenStates, ShiftSubsampled};
use dobrushin::chain::{Branch, Chain, Count, Domain, Mixture, Participation, Piece, Step, StepNoise, Stop};
use dobrushin::numeric::Random;
use dobrushin::numeric::theta::theta;
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative, Positive, Probability};
use std::sync::Arc;

/// Equal steps with noise 1.
#[derive(Clone, Copy)]
struct Case {
    rate: f64,
    displacement: f64,
    absence: f64,
    slope: f64,
    offset: f64,
    diameter: Option<f64>,
    steps: Count,
}

impl Case {
    fn new(rate: f64, displacement: f64, slope: f64) -> Self {
        let (absence, offset) = (displacement, 0.0);
        Self { rate, displacement, absence, slope, offset, diameter: None, steps: Count::Any }
    }

    fn within(self, diameter: f64) -> Self {
        Self { diameter: Some(diameter), ..self }
    }

    fn times(self, steps: u64) -> Self {
        Self { steps: Count::Times(steps), ..self }
    }

    /// The update without the record is halfway between those of two neighbours.
    fn halved(self) -> Self {
        Self { absence: self.displacement / 2.0, ..self }
    }

    fn step(self) -> Step {
        let rate = Participation::Sometimes(Probability::new(self.rate).expect("valid"));
        let step = Step::new(StepNoise::gaussian(1.0).expect("valid"))
            .with_modulus(vec![Piece::new(self.slope, self.offset).expect("valid")])
            .used_by(rate, NonNegative::new(self.displacement).expect("valid"));
        Step { absence: Enclosure::from(self.absence), ..step }
    }

    fn domain(self) -> Domain {
        Domain { diameter: self.diameter.map(|d| Positive::new(d).expect("valid")), dimension: None }
    }

    fn chain(self) -> Chain {
        Chain::new(vec![(self.step(), self.steps)], self.domain()).expect("valid")
    }

    fn profile(self) -> Arc<dyn PrivacyProfile> {
        bound(&Mixture::last(self.chain()))
    }

    fn epsilon(self, delta: f64) -> f64 {
        self.profile().epsilon(Delta::new(delta).expect("valid")).upper()
    }

    fn delta(self, epsilon: f64) -> f64 {
        at(self.profile().as_ref(), epsilon)
    }
}

fn bound(released: &Mixture) -> Arc<dyn PrivacyProfile> {
    ShiftSubsampled.apply(released).expect("it applies").into_profile()
}

fn at(profile: &dyn PrivacyProfile, epsilon: f64) -> f64 {
    profile.delta(Epsilon::new(epsilon).expect("valid")).upper()
}

fn height(epsilon: f64, r: f64) -> f64 {
    theta(Epsilon::new(epsilon).expect("valid"), NonNegative::new(r).expect("valid")).midpoint()
}

/// The reference numbers are those of plain FFT with the same formulas, on coarse grids of k and splits.
#[test]
fn strongly_convex_and_projected_runs_of_any_length_are_as_private_as_the_reference_says() {
    let cases = [
        (Case::new(0.01, 0.1, 0.99), 0.0557),
        (Case::new(0.01, 0.5, 0.99), 0.394),
        (Case::new(0.02, 0.1, 0.999), 0.38),
        (Case::new(0.01, 0.1667, 1.0).within(3.333), 0.558),
        (Case::new(0.01, 0.1, 1.0).within(100.0), 2.76),
        (Case::new(0.02, 0.5, 1.0).within(30.0), 5.91),
    ];
    for (case, reference) in cases {
        let epsilon = case.epsilon(1e-5);
        assert!(epsilon <= reference, "{epsilon} above {reference}");
        assert!(epsilon > 0.9 * reference, "{epsilon} is suspiciously far below {reference}");
    }
}

/// Neighbours w ↦ c·w ± d/2 on the line: two mixtures of normal laws with one variance.
struct Linear {
    /// Means of the first and weights; the second has the opposite means.
    terms: Vec<(f64, f64)>,
    deviation: f64,
}

impl Linear {
    fn new(case: Case, steps: u32) -> Self {
        let (c, p) = (case.slope, case.rate);
        let mut terms = Vec::new();
        for pattern in 0..1_u32 << steps {
            let used = |j: u32| pattern >> j & 1 == 1;
            let powers = (0..steps).map(|j| (j, c.powi(j as i32)));
            let mean: f64 = powers.filter(|(j, _)| used(*j)).map(|(_, power)| power).sum();
            let weight = (0..steps).map(|j| if used(j) { p } else { 1.0 - p }).product();
            terms.push((mean * case.displacement / 2.0, weight));
        }
        let variance: f64 = (0..steps).map(|j| c.powi(2 * j as i32)).sum();
        Self { terms, deviation: variance.sqrt() }
    }

    /// E_γ by the trapezoidal rule, which is exact to 1e-9 here.
    fn delta(&self, epsilon: f64) -> f64 {
        let density = |x: f64, sign: f64| -> f64 {
            let at = |&(mean, weight): &(f64, f64)| {
                let z = (x - sign * mean) / self.deviation;
                weight * (-z * z / 2.0).exp()
            };
            self.terms.iter().map(at).sum::<f64>() / (self.deviation * std::f64::consts::TAU.sqrt())
        };
        let end = 9.0 * self.deviation + self.terms.last().map_or(0.0, |term| term.0.abs());
        let spacing = end / 1500.0;
        let points = (-1500..=1500).map(|i| f64::from(i) * spacing);
        points.map(|x| (density(x, 1.0) - epsilon.exp() * density(x, -1.0)).max(0.0)).sum::<f64>() * spacing
    }
}

#[test]
fn no_bound_is_below_the_exact_divergence_of_linear_chains() {
    let settings = [(0.2, 1.0, 0.8), (0.5, 0.5, 0.5), (0.9, 1.5, 0.9), (0.05, 2.0, 0.3), (0.3, 0.8, 1.0)];
    for (rate, displacement, slope) in settings {
        let case = Case::new(rate, displacement, slope).halved();
        let any = (slope < 1.0).then(|| case.profile());
        for steps in [1, 2, 4, 7] {
            let exact = Linear::new(case, steps);
            let profile = case.times(u64::from(steps)).profile();
            for epsilon in [0.0, 0.1, 0.3, 0.7, 1.5] {
                let truth = exact.delta(epsilon);
                let bound = at(profile.as_ref(), epsilon);
                assert!(
                    bound >= truth - 1e-8,
                    "{rate} {displacement} {slope}, {steps} steps, {epsilon}: {bound} < {truth}"
                );
                let for_any = any.as_ref().map_or(1.0, |profile| at(profile.as_ref(), epsilon));
                assert!(
                    for_any >= truth - 1e-8,
                    "{rate} {displacement} {slope}, any, {epsilon}: {for_any} < {truth}"
                );
            }
        }
    }
}

/// The oracle of the reference: 0.231, 0.160, 0.081, 0.018 exactly; 0.307, 0.243, 0.173, 0.092 as a bound.
#[test]
fn a_strongly_contracting_chain_is_between_the_oracle_and_the_reference_bound() {
    let profile = Case::new(0.2, 1.0, 0.8).profile();
    let known = [(0.0, 0.231, 0.307), (0.2, 0.160, 0.243), (0.5, 0.081, 0.173), (1.0, 0.018, 0.092)];
    for (epsilon, exact, reference) in known {
        let bound = at(profile.as_ref(), epsilon);
        assert!(
            bound > exact && bound < 1.03 * reference,
            "ε = {epsilon}: {bound} against {exact}, {reference}"
        );
    }
}

/// g₁.
fn one_step(case: Case, epsilon: f64) -> f64 {
    let (p, gamma) = (case.rate, epsilon.exp());
    let g = 1.0 + (gamma - 1.0) / p;
    let b = gamma / g;
    p * ((1.0 - b) * height(g.ln(), case.absence) + b * height(g.ln(), case.displacement))
}

#[test]
fn one_step_is_the_subsampled_pair() {
    for case in
        [Case::new(0.1, 1.0, 0.9), Case::new(0.1, 1.0, 0.9).halved(), Case::new(0.6, 0.3, 1.0).within(5.0)]
    {
        let profile = case.times(1).profile();
        for epsilon in [0.0, 0.05, 0.2, 0.6, 1.2] {
            let (bound, exact) = (at(profile.as_ref(), epsilon), one_step(case, epsilon));
            assert!(bound >= exact * (1.0 - 1e-12), "{bound} < {exact}");
            assert!(bound <= exact * 1.03, "{bound} far above {exact} at {epsilon}");
        }
    }
}

/// Two steps, cut in the middle: z is 0 or d, and R₁ = c.
#[test]
fn two_steps_are_at_least_as_private_as_the_triangle_inequality_says() {
    for case in [Case::new(0.05, 1.5, 0.3), Case::new(0.2, 0.7, 0.1), Case::new(0.02, 1.0, 0.6)] {
        let profile = case.times(2).profile();
        for epsilon in [0.02, 0.1, 0.4] {
            let shifted = |epsilon: f64| case.rate * height(epsilon, case.slope * case.displacement);
            let naive = (0..=400).map(|i| epsilon * f64::from(i) / 400.0).map(|first: f64| {
                let second = epsilon - first;
                let own_first = one_step(case, first) + first.exp() * shifted(second);
                own_first.min(shifted(first) + first.exp() * one_step(case, second))
            });
            let naive = naive.fold(1.0, f64::min);
            let bound = at(profile.as_ref(), epsilon);
            assert!(bound <= 1.03 * naive, "{bound} above the naive {naive} at {epsilon}");
        }
    }
}

/// δ ≤ g₁ + θ(hard shift): a distance that is certain costs more than one that is not.
#[test]
fn a_random_distance_costs_less_than_the_largest() {
    // The reference for certain distances is 0.611 and 0.617.
    assert!(Case::new(0.01, 0.5, 0.99).epsilon(1e-5) < 0.65 * 0.611);
    assert!(Case::new(0.02, 0.1, 0.999).epsilon(1e-5) < 0.65 * 0.617);
    // A record that is almost surely used leaves nothing to chance.
    let (sure, rare) = (Case::new(0.95, 0.1, 0.9), Case::new(0.05, 0.1, 0.9));
    assert!(sure.epsilon(1e-5) > 5.0 * rare.epsilon(1e-5));
}

#[test]
fn more_steps_are_never_said_to_be_more_private_and_any_number_least() {
    for case in [Case::new(0.05, 0.4, 0.95), Case::new(0.1, 0.3, 1.0).within(4.0)] {
        let lengths = [1, 3, 10, 30, 100, 1000, 100_000];
        let mut before = 0.0;
        let any = case.epsilon(1e-5);
        for steps in lengths {
            let epsilon = case.times(steps).epsilon(1e-5);
            assert!(epsilon >= before * 0.99, "{steps} steps: {epsilon} after {before}");
            assert!(epsilon <= any * 1.01, "{steps} steps: {epsilon} above {any} for any number");
            before = epsilon;
        }
        assert!(before > 0.97 * any, "{before} for many steps is far from {any} for any number");
    }
}

#[test]
fn the_profile_falls_and_its_inverse_is_its_inverse() {
    let profile = Case::new(0.02, 0.3, 0.98).profile();
    let mut before = 1.0;
    for i in 0..200 {
        let delta = at(profile.as_ref(), 0.005 * f64::from(i));
        assert!(delta <= before, "{delta} after {before}");
        before = delta;
    }
    for exponent in [2, 4, 5, 8, 12, 20] {
        let delta = 10f64.powi(-exponent);
        let epsilon = profile.epsilon(Delta::new(delta).expect("valid")).upper();
        assert!(at(profile.as_ref(), epsilon) <= delta);
        assert!(at(profile.as_ref(), epsilon * (1.0 - 1e-6)) > delta * (1.0 - 1e-9));
    }
    for direction in Direction::BOTH {
        let epsilon = Epsilon::new(0.1).expect("valid");
        assert_eq!(profile.delta_of(direction, epsilon), profile.delta(epsilon));
    }
}

#[test]
fn closer_updates_without_the_record_are_more_private() {
    let case = Case::new(0.02, 0.5, 1.0).within(30.0);
    let (far, near) = (case.epsilon(1e-5), case.halved().epsilon(1e-5));
    assert!(near < 0.98 * far, "{near} against {far}");
    let farther = Case { absence: 1.0, ..case }.epsilon(1e-5);
    assert!(farther > far);
    // However far away they are, two neighbours are close.
    let unknown = Case { absence: f64::INFINITY, ..case }.times(3);
    let (bound, simple) = (unknown.delta(0.05), 3.0 * case.rate * height(0.0, case.displacement));
    assert!(bound <= simple, "{bound} above {simple}");
}

/// Bounded gradients alone, on a domain or with weight decay: iterates may drift apart.
#[test]
fn drifting_updates_have_bounds_too() {
    let drifting = Case { offset: 0.02, ..Case::new(0.01, 0.02, 1.0) };
    let any = drifting.within(1.0).epsilon(1e-5);
    // min_k (D + ok)/√k, all of the noise for the shift: the limit of p → 1 has ε(μ = 0.283) ≈ 1.1.
    assert!(any > 0.0 && any < 1.6, "{any}");
    let decaying = Case { slope: 0.9, ..drifting };
    assert!(decaying.epsilon(1e-5) < 0.6);
    // As if nothing were hidden, for few steps.
    assert!(drifting.within(1.0).times(50).epsilon(1e-5) < any);
}

fn stopping(stretches: Vec<(Step, Count)>, domain: Domain, times: u64) -> Mixture {
    let chain = Chain::new(stretches, domain).expect("valid");
    Mixture::new(vec![Branch { weight: Enclosure::ONE, chain, stop: Stop::Uniform(times) }])
}

#[test]
fn a_random_stop_costs_at_least_the_average_over_the_times_and_at_most_the_last() {
    let case = Case::new(0.2, 0.5, 0.9);
    for (before, uses, after, times) in
        [(0, 10, 0, 10), (0, 10, 5, 12), (2, 10, 5, 17), (0, 3, 9, 4), (1, 2, 0, 3)]
    {
        let never = case.step().without_the_record();
        let stretches = vec![
            (never.clone(), Count::Times(before)),
            (case.step(), Count::Times(uses)),
            (never, Count::Times(after)),
        ];
        let bound = bound(&stopping(stretches, case.domain(), times));
        let total = before + uses + after;
        for epsilon in [0.0, 0.2, 0.6] {
            let average = (total - times + 1..=total)
                .map(|end| end.saturating_sub(before).min(uses))
                .map(|uses| if uses == 0 { 0.0 } else { case.times(uses).delta(epsilon) })
                .sum::<f64>()
                / times as f64;
            let (found, last) = (at(bound.as_ref(), epsilon), case.times(uses).delta(epsilon));
            assert!(found >= 0.999 * average && found <= 1.001 * last, "{average} ≤ {found} ≤ {last}");
        }
    }
}

#[test]
fn steps_around_those_that_use_the_record_cost_nothing() {
    let case = Case::new(0.1, 0.4, 0.9).times(20);
    let never = case.step().without_the_record();
    let stretches =
        vec![(never.clone(), Count::Times(7)), (case.step(), Count::Times(20)), (never, Count::Times(3))];
    let around = bound(&Mixture::last(Chain::new(stretches, case.domain()).expect("valid")));
    assert_eq!(at(around.as_ref(), 0.1), case.delta(0.1));
    assert_eq!(at(bound(&Mixture::new(Vec::new())).as_ref(), 0.0), 0.0);
    assert_eq!(Case::new(0.1, 0.0, 0.9).delta(0.0), 0.0);
}

#[test]
fn what_is_missing_is_named() {
    let reason = |released: &Mixture| match ShiftSubsampled.apply(released) {
        Ok(_) => String::new(),
        Err(reason) => reason.to_string(),
    };
    let of = |case: Case| reason(&Mixture::last(case.chain()));
    let case = Case::new(0.1, 0.3, 1.0);
    assert!(of(case).contains("[domain] diameter"));
    assert!(of(case.times(100)).is_empty() && of(case.within(3.0)).is_empty());
    assert!(of(Case { displacement: 1e4, ..case.within(3.0) }).contains("update.noise"));
    let with = |step: Step| {
        reason(&Mixture::last(Chain::new(vec![(step, Count::Times(9))], case.domain()).expect("valid")))
    };
    let step = case.step();
    assert!(with(Step { participation: Participation::Always, ..step.clone() }).contains("run.order"));
    assert!(
        with(Step { noise: StepNoise::laplace(1.0).expect("valid"), ..step.clone() })
            .contains("update.noise")
    );
    assert!(with(step.clone().with_modulus(Vec::new())).contains("update.clip-norm"));
    let differing = vec![(step, Count::Times(3)), (Case { slope: 0.5, ..case }.step(), Count::Times(3))];
    let differing = Chain::new(differing, case.domain()).expect("valid");
    assert!(reason(&Mixture::last(differing)).contains("equal steps"));
    let endless = Case::new(0.1, 0.3, 0.9);
    assert!(reason(&stopping(vec![(endless.step(), Count::Any)], endless.domain(), 5)).contains("run.steps"));
}

#[test]
fn extreme_numbers_have_bounds_that_are_probabilities() {
    let mut random = Random::new(77);
    let mut pick = |from: &[f64]| from[random.below(from.len())];
    for _ in 0..40 {
        let case = Case::new(
            pick(&[1e-12, 1e-4, 0.5, 1.0]),
            pick(&[1e-9, 1e-3, 1.0, 30.0]),
            pick(&[0.0, 1e-3, 0.5, 1.0 - 1e-12, 1.0, 1.5]),
        );
        let case = Case { absence: pick(&[0.1, 1.0, 3.0]) * case.displacement, ..case };
        let case =
            Case { offset: if case.slope <= 1.0 { pick(&[0.0, 0.0, 1e-3, 5.0]) } else { 0.0 }, ..case };
        let case = case.within(pick(&[1e-6, 1.0, 1e6]));
        let steps = pick(&[0.0, 1.0, 5.0, 1e4, 1e12]);
        let case = if steps == 0.0 { case } else { case.times(steps as u64) };
        let (profile, mut before) = (case.profile(), 1.0);
        for epsilon in [0.0, 1e-9, 1e-3, 1.0, 30.0, 1e4, 1e300] {
            let delta = at(profile.as_ref(), epsilon);
            assert!((0.0..=before).contains(&delta), "{delta} at {epsilon} after {before}");
            before = delta;
        }
        let once = case.rate * height(0.0, case.displacement);
        let found = at(profile.as_ref(), 0.0);
        assert!(
            steps != 1.0 || case.displacement > 1.0 || found <= 1.02 * once + 1e-9,
            "one step: {found} for {once}"
        );
    }
}
