//! No record within the bounds has a larger gradient, or one that changes faster, than the constants of its loss say;
//! and for each constant there is a record that nearly does.

use crate::losses::{accepts, every_loss};
use crate::vectors::{FEATURES, between, clipped, difference, length, product, vector};
use dobrushin::Positive;
use dobrushin::numeric::Random;
use dobrushin_train::loss::{Hinge, Logistic, Poisson, Squared};
use dobrushin_train::{Bounds, Constants, Loss, Model, Target};

fn positive(value: f64) -> Positive {
    Positive::new(value).expect("above 0")
}

/// A loss of one score, the bounds of its records, where its parameters are, and how its gradients are clipped.
#[derive(Clone, Copy, Debug)]
struct Case {
    loss: Loss,
    norm: f64,
    targets: (f64, f64),
    reach: Option<f64>,
    clip: Option<f64>,
}

impl Case {
    fn has_classes(&self) -> bool {
        accepts(self.loss, Target::Classes(2))
    }

    fn constants(&self) -> Constants {
        let (lower, upper) = self.targets;
        let target = if self.has_classes() { Target::Classes(2) } else { Target::Range { lower, upper } };
        let bounds = Bounds { dimension: FEATURES, norm: positive(self.norm), target };
        let model = Model::Linear { loss: self.loss, features: FEATURES };
        assert_eq!(model.check(&bounds), Ok(()));
        model.constants(&bounds, self.reach, self.clip.map(positive))
    }

    /// The targets at which derivatives are extreme, and one between.
    fn ends(&self) -> Vec<f64> {
        let (lower, upper) = self.targets;
        if self.has_classes() { vec![0.0, 1.0] } else { vec![lower, (lower + upper) / 2.0, upper] }
    }

    /// The largest score of a record with features of that norm.
    fn largest_score(&self, norm: f64) -> f64 {
        self.reach.map_or(40.0, |reach| norm * reach)
    }

    /// The gradient as a multiple of x/‖x‖, clipped.
    fn slope(&self, score: f64, target: f64, norm: f64) -> f64 {
        let length = norm * self.loss.derivative(score, target, norm);
        self.clip.map_or(length, |clip| length.clamp(-clip, clip))
    }

    /// The gradient as a vector, clipped as a vector.
    fn gradient(&self, parameters: &[f64], features: &[f64], target: f64) -> Vec<f64> {
        let derivative = self.loss.derivative(product(parameters, features), target, length(features));
        clipped(features.iter().map(|x| derivative * x).collect(), self.clip)
    }

    fn parameters(&self, random: &mut Random) -> Vec<f64> {
        let most = self.reach.unwrap_or_else(|| [0.5, 5.0, 30.0][random.below(3)] / self.norm);
        vector(random, most)
    }
}

/// Every loss, wide and narrow.
fn cases() -> Vec<Case> {
    let mut losses: Vec<Loss> = Vec::new();
    for (size, level) in [(0.4, 0.5), (0.7, 0.9), (2.0, 0.05)] {
        losses.extend(every_loss(size, level).iter().map(|(_, loss)| *loss));
    }
    let mut all = Vec::new();
    for (index, &loss) in losses.iter().enumerate() {
        if losses[..index].contains(&loss) {
            continue;
        }
        let takes = |lower, upper| accepts(loss, Target::Range { lower, upper });
        let counts = takes(0.0, 1.0) && !takes(-1.0, 1.0);
        let targets = match (takes(0.0, 1.0), counts) {
            (_, true) => &[(0.0, 0.0), (0.0, 5.0), (3.0, 4.0), (0.0, 20.0)][..],
            (true, false) => &[(-1.0, 2.0), (0.5, 1.5), (-4.0, -0.5)],
            (false, false) => &[(0.0, 1.0)],
        };
        for (norm, reach) in [0.6, 1.0, 7.5].into_iter().flat_map(|norm| [(norm, None), (norm, Some(2.5))]) {
            // The mean of counts is the exponential of a score.
            let reach = reach.map(|reach| if counts { reach / norm } else { reach });
            for clip in [None, Some(0.05), Some(0.4), Some(1.0), Some(50.0)] {
                all.extend(targets.iter().map(|&targets| Case { loss, norm, targets, reach, clip }));
            }
        }
    }
    all
}

/// The largest gradient, and the fastest change of a clipped one, over scores, targets and norms of features.
fn extremes(case: &Case) -> (f64, f64) {
    let (mut steepest, mut fastest) = (0.0_f64, 0.0_f64);
    for share in [1.0, 0.99, 0.8, 0.5, 0.3, 0.1, 0.01] {
        let norm = share * case.norm;
        let most = case.largest_score(norm);
        for target in case.ends() {
            for score in [-most, most] {
                steepest = steepest.max(norm * case.loss.derivative(score, target, norm).abs());
            }
            // Coarsely everywhere, and finely where it is fastest.
            let (coarse, score) = fastest_change(case, target, norm, (-most, most), 4000);
            let cell = most / 1000.0;
            let around = ((score - cell).max(-most), (score + cell).min(most));
            let (fine, _) = fastest_change(case, target, norm, around, 400);
            fastest = fastest.max(coarse).max(fine);
        }
    }
    (steepest, fastest)
}

/// The fastest change between neighbouring scores of a grid, and where it is.
fn fastest_change(case: &Case, target: f64, norm: f64, (from, to): (f64, f64), steps: u32) -> (f64, f64) {
    let width = (to - from) / f64::from(steps);
    let (mut fastest, mut at) = (0.0, from);
    let mut before = case.slope(from, target, norm);
    for step in 1..=steps {
        let score = from + width * f64::from(step);
        let slope = case.slope(score, target, norm);
        // The parameters differ by width/‖x‖ along x.
        let change = (slope - before) * norm / width;
        if change > fastest {
            (fastest, at) = (change, score);
        }
        before = slope;
    }
    (fastest, at)
}

#[test]
fn no_gradient_is_larger_or_changes_faster_than_the_constants_say_and_some_nearly_do() {
    for case in cases() {
        let constants = case.constants();
        assert!(constants.convex && constants.generalised_linear);
        let (steepest, fastest) = extremes(&case);
        if let Some(lipschitz) = constants.lipschitz {
            assert!(steepest <= lipschitz * (1.0 + 1e-12), "{case:?}: {steepest} > {lipschitz}");
            // That of the pinball loss takes no account of reach.
            if !matches!(case.loss, Loss::Quantile(_)) || case.reach.is_none() {
                assert!(steepest >= 0.99 * lipschitz, "{case:?}: {steepest} < {lipschitz}");
            }
        }
        if let Some(smoothness) = constants.smoothness {
            assert!(fastest <= smoothness * (1.0 + 1e-9), "{case:?}: {fastest} > {smoothness}");
            // That of most losses takes no account of reach: without it every slope occurs at some score.
            let mild = case.loss == Poisson.into() && case.clip.is_none_or(|clip| clip == 50.0);
            if case.reach.is_none() || mild {
                assert!(fastest >= 0.99 * smoothness, "{case:?}: {fastest} < {smoothness}");
            }
        }
    }
}

#[test]
fn constants_are_known_whenever_they_are_finite() {
    for case in cases() {
        let constants = case.constants();
        let unbounded = matches!(case.loss, Loss::Squared(_) | Loss::Poisson(_)) && case.reach.is_none();
        assert_eq!(constants.lipschitz.is_none(), unbounded, "{case:?}");
        let wild = case.loss == Poisson.into() && case.reach.is_none() && case.clip.is_none();
        assert_eq!(constants.smoothness.is_none(), wild, "{case:?}");
    }
}

#[test]
fn a_step_of_rate_two_over_the_smoothness_brings_no_two_parameters_further_apart() {
    let mut random = Random::new(3);
    for case in cases() {
        let Some(smoothness) = case.constants().smoothness else { continue };
        let rate = 2.0 / smoothness;
        for turn in 0..300 {
            let features = vector(&mut random, case.norm);
            let (one, far) = (case.parameters(&mut random), case.parameters(&mut random));
            // Close together, slopes are not averaged out.
            let two = between(&one, &far, [1.0, 0.05][turn % 2]);
            let target = case.ends()[random.below(case.ends().len())];
            let gradient = |parameters: &[f64]| case.gradient(parameters, &features, target);
            let (apart, change) = (difference(&one, &two), difference(&gradient(&one), &gradient(&two)));
            assert!(product(&apart, &change) >= -1e-12, "{case:?}");
            assert!(length(&change) <= smoothness * length(&apart) * (1.0 + 1e-9) + 1e-12, "{case:?}");
            let after: Vec<f64> = apart.iter().zip(&change).map(|(w, g)| w - rate * g).collect();
            assert!(length(&after) <= length(&apart) * (1.0 + 1e-9) + 1e-12, "{case:?}");
        }
    }
}

#[test]
fn clipping_may_lower_the_smoothness_and_never_raises_it() {
    for case in cases() {
        let without = Case { clip: None, ..case }.constants().smoothness.unwrap_or(f64::INFINITY);
        let with = case.constants().smoothness.unwrap_or(f64::INFINITY);
        assert!(with <= without, "{case:?}");
    }
    // As with hundreds of standardised features.
    let case = Case { loss: Logistic.into(), norm: 30.0, targets: (0.0, 1.0), reach: None, clip: Some(1.0) };
    assert_eq!(case.constants().smoothness, Some(29.0));
    assert_eq!(Case { clip: None, ..case }.constants().smoothness, Some(225.0));
}

#[test]
fn a_model_that_does_not_fit_the_bounds_or_is_a_network_has_no_constants() {
    let bounds = |target| Bounds { dimension: FEATURES, norm: positive(1.0), target };
    let nothing = Constants { lipschitz: None, smoothness: None, convex: false, generalised_linear: false };
    let squared = Model::Linear { loss: Squared.into(), features: FEATURES };
    assert_eq!(squared.constants(&bounds(Target::Classes(9)), Some(1.0), None), nothing);
    let network = Model::Network { hidden: vec![4], classes: 2, features: FEATURES };
    assert_eq!(network.constants(&bounds(Target::Classes(2)), Some(1.0), Some(positive(1.0))), nothing);
}

#[test]
fn a_reach_that_is_no_length_or_overflows_bounds_nothing() {
    let of = |loss, target, reach| {
        let bounds = Bounds { dimension: FEATURES, norm: positive(3.0), target };
        Model::Linear { loss, features: FEATURES }.constants(&bounds, Some(reach), None).lipschitz
    };
    for reach in [f64::NAN, -1.0, f64::INFINITY, 1e308] {
        for loss in [Loss::from(Squared), Poisson.into()] {
            let target = Target::Range { lower: 0.0, upper: 1.0 };
            assert_eq!(of(loss, target, reach), None, "{loss:?} {reach}");
        }
        for loss in [Loss::from(Logistic), Hinge { smoothing: positive(1.0) }.into()] {
            assert_eq!(of(loss, Target::Classes(2), reach), Some(3.0), "{loss:?} {reach}");
        }
    }
}
