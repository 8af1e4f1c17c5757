//! The laws of privacy losses against arbitrary precision, direct sums and closed forms.

use crate::laws::{BITS, Random, exact, hockey_stick, int, real};
use dobrushin::divergence::{DiscretePair, FiniteLaw, GaussianPair, LaplacePair, Pair};
use dobrushin::loss::{
    DiscreteGaussianLoss, DiscreteLaplaceLoss, Exchanged, ExponentialLoss, FiniteLoss, GaussianLoss,
    LaplaceLoss, LossLaw, Masses, PoissonLoss, Split, WithoutReplacementLoss,
};
use dobrushin::profile::{Direction, PrivacyProfile, RenyiBound};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, NonNegative, Positive, Probability, RenyiOrder};
use dobrushin_reference::{Real, is_inside, tail};
use std::num::NonZeroU32;
use std::sync::Arc;

fn positive(x: f64) -> Positive {
    Positive::new(x).unwrap()
}

fn probability(x: f64) -> Probability {
    Probability::new(x).unwrap()
}

fn epsilon(x: f64) -> Epsilon {
    Epsilon::new(x).unwrap()
}

fn shift(s: u32) -> NonZeroU32 {
    NonZeroU32::new(s).unwrap()
}

fn gaussian(r: f64) -> GaussianLoss {
    GaussianLoss::new(positive(r))
}

/// The four masses as they are in truth.
struct Truth {
    below: [Real; 2],
    above: [Real; 2],
}

impl Truth {
    fn assert_in(&self, split: Split, input: impl std::fmt::Debug) {
        let sides = [(split.below, &self.below), (split.above, &self.above)];
        for (Masses { p, q }, [true_p, true_q]) in sides {
            for (name, found, truth) in [("P", p, true_p), ("Q", q, true_q)] {
                // The truth is known to 2⁻¹⁹⁰, relatively.
                let doubt = truth.abs() * int(2).powi(-190);
                let inside = is_inside(f64::NEG_INFINITY, found.upper(), &(truth - &doubt))
                    && is_inside(found.lower(), f64::INFINITY, &(truth + &doubt));
                assert!(inside, "{name}: {:e} is not in {found} at {input:?}", truth.to_f64());
            }
        }
    }
}

/// P(L ≤ ℓ), … of N(r, 1) and N(0, 1) at g, the threshold on L.
fn gaussian_truth(r: f64, loss: &Real) -> Truth {
    let r = Real::from_f64(r, BITS);
    let (scaled, half) = (loss / &r, &r / 2);
    let (a, b) = (&scaled - &half, &scaled + &half);
    Truth { below: [tail(&-&a), tail(&-&b)], above: [tail(&a), tail(&b)] }
}

/// The largest relative width of the masses above a size.
fn width(split: Split, least: f64) -> f64 {
    let all = [split.below.p, split.below.q, split.above.p, split.above.q];
    all.iter().filter(|mass| mass.upper() > least).map(|mass| mass.relative_width()).fold(0.0, f64::max)
}

#[test]
fn the_masses_of_a_gaussian_loss_contain_the_truth_and_are_relatively_accurate() {
    let mut random = Random::new(1);
    for case in 0..1_500 {
        let r = [1e-8, 0.03, 1.0, 30.0, random.log_between(1e-8, 60.0)][random.below(5)];
        let z = random.between(-37.0, 37.0);
        let loss = [r * z + r * r / 2.0, r * z - r * r / 2.0, 0.0, 5000.0, -5000.0][random.below(5)];
        let split = gaussian(r).split(Enclosure::from(loss));
        gaussian_truth(r, &Real::from_f64(loss, BITS)).assert_in(split, (case, r, loss));
        assert!(width(split, 1e-290) < 1e-12, "{} at r = {r}, ℓ = {loss}", width(split, 1e-290));
    }
}

#[test]
fn a_split_at_a_range_contains_the_splits_at_its_points() {
    let mut random = Random::new(2);
    for case in 0..1_000 {
        let r = random.log_between(1e-3, 30.0);
        let q = [1.0, random.log_between(1e-9, 1.0)][random.below(2)];
        let law = PoissonLoss::new(gaussian(r), probability(q)).unwrap();
        let loss = random.between(-1.0, 3.0) * r.min(3.0);
        let width = random.log_between(1e-16, 10.0);
        let range = Enclosure::new(loss, loss + width).unwrap();
        let split = law.split(range);
        for share in [0.0, 0.3, 1.0] {
            let point = (loss + width * share).min(range.upper());
            poisson_truth(r, q, point).assert_in(split, (case, r, q, point, range));
        }
    }
}

/// The masses of (1 − q)·N(0, 1) + q·N(r, 1) against N(0, 1).
fn poisson_truth(r: f64, q: f64, loss: f64) -> Truth {
    // e^ℓ − 1 + q may cancel by more than an f64 holds.
    let (q, one) = (Real::from_f64(q, BITS), Real::from_i64(1, BITS));
    let loss = Real::from_f64(loss, BITS);
    if q == one {
        return gaussian_truth(r, &loss);
    }
    let ratio = (loss.exp() - &one + &q) / &q;
    if ratio <= int(0) {
        return Truth { below: [int(0), int(0)], above: [int(1), int(1)] };
    }
    let base = gaussian_truth(r, &ratio.ln());
    let mixed = |[p, other]: [Real; 2]| [&q * p + (&one - &q) * &other, other];
    Truth { below: mixed(base.below), above: mixed(base.above) }
}

#[test]
fn the_masses_under_poisson_sampling_contain_the_truth() {
    let mut random = Random::new(3);
    let mut widest: f64 = 0.0;
    for case in 0..1_500 {
        let r = [0.03, 1.0, 30.0, random.log_between(1e-4, 60.0)][random.below(4)];
        let q = [1e-9, 0.01, 0.5, 0.999, 1.0, random.log_between(1e-12, 1.0)][random.below(6)];
        let law = PoissonLoss::new(gaussian(r), probability(q)).unwrap();
        let least = if q < 1.0 { (-q).ln_1p() } else { -1e3 };
        let base = r * random.between(-12.0, 30.0) + r * r / 2.0;
        let loss = [
            (q * base.exp_m1()).ln_1p().min(2e3),
            least,
            least.next_up(),
            least * (1.0 - 1e-9),
            0.0,
            5000.0,
            -5000.0,
            random.between(0.9, 1.1),
        ][random.below(8)];
        let split = law.split(Enclosure::from(loss));
        poisson_truth(r, q, loss).assert_in(split, (case, r, q, loss));
        if loss >= 0.0 {
            widest = widest.max(width(split, 1e-280));
        }
    }
    assert!(widest < 1e-10, "{widest}");
}

/// One of each kind, with ordinary and extreme parameters, and a range of losses to look at.
fn all_laws() -> Vec<(String, Arc<dyn LossLaw>, f64)> {
    let mut laws: Vec<(String, Arc<dyn LossLaw>, f64)> = Vec::new();
    let mut add = |name: String, law: Arc<dyn LossLaw>, range: f64| {
        for q in [1e-9, 0.01, 0.6, 1.0] {
            let poisson = Arc::new(PoissonLoss::new(law.clone(), probability(q)).unwrap());
            let without = Arc::new(WithoutReplacementLoss::new(law.clone(), probability(q)).unwrap());
            laws.push((format!("Poisson({q}) of {name}"), poisson.clone(), range));
            laws.push((format!("Poisson({q}) of {name}, exchanged"), Arc::new(Exchanged(poisson)), range));
            laws.push((format!("{q} without replacement of {name}"), without, range));
        }
        laws.push((name, law, range));
    };
    for r in [1e-8, 0.3, 2.0, 40.0] {
        add(format!("Gaussian {r}"), Arc::new(gaussian(r)), 8.0 * r + r * r);
        add(format!("Laplace {r}"), Arc::new(LaplaceLoss::new(positive(r))), 1.2 * r);
        add(format!("exponential {r}"), Arc::new(ExponentialLoss::new(positive(r))), 1.2 * r);
        add(format!("response {r}"), Arc::new(FiniteLoss::response(epsilon(r), 3)), 1.2 * r);
    }
    for (sigma, s) in [(0.03, 1), (0.7, 2), (5.0, 3), (300.0, 40)] {
        let law = DiscreteGaussianLoss::new(positive(sigma), shift(s)).unwrap();
        let r = f64::from(s) / sigma;
        add(format!("discrete Gaussian {sigma} {s}"), Arc::new(law), 8.0 * r + r * r);
        let law = DiscreteLaplaceLoss::new(positive(sigma), shift(s));
        add(format!("discrete Laplace {sigma} {s}"), Arc::new(law), 1.2 * r);
    }
    for (e, d) in [(0.0, 0.1), (1.0, 1e-9), (3.0, 0.0), (f64::INFINITY, 0.0)] {
        let law = FiniteLoss::approximate(epsilon(e), Delta::new(d).unwrap());
        add(format!("({e}, {d})-DP"), Arc::new(law), 4.0);
    }
    add("identical".to_owned(), Arc::new(FiniteLoss::identical()), 1.0);
    // Neither convex nor monotone, and 1 at first.
    let wavy = |_, e: f64| Enclosure::from(((2.0 - 3.0 * e).exp() * (1.2 + (9.0 * e).sin())).min(1.0));
    add("the least above a wavy bound".to_owned(), Arc::new(FiniteLoss::dominating(&Given(wavy))), 4.0);
    laws
}

#[test]
fn masses_are_probabilities_that_sum_to_one_and_p_is_e_to_the_loss_times_q() {
    let mut random = Random::new(4);
    for (name, law, range) in all_laws() {
        let mut losses: Vec<f64> = (0..60).map(|_| random.between(-range, range)).collect();
        losses.extend([-5000.0, 5000.0, 0.0, 1e-300, -1e-300]);
        losses.sort_by(f64::total_cmp);
        let splits: Vec<Split> = losses.iter().map(|&loss| law.split(Enclosure::from(loss))).collect();
        for (&loss, split) in losses.iter().zip(&splits) {
            let Split { below, above } = *split;
            for (a, b) in [(below.p, above.p), (below.q, above.q)] {
                assert!(a.lower() >= 0.0 && a.upper() <= 1.0, "{name} at {loss}: {a}");
                assert!((a + b).contains(1.0), "{name} at {loss}: {a} + {b}");
            }
            let gamma = Enclosure::from(loss).exp();
            if gamma.upper() < f64::INFINITY {
                assert!(above.p.upper() >= (gamma * above.q).lower(), "{name} at {loss}");
                assert!(below.p.lower() <= (gamma * below.q).upper(), "{name} at {loss}");
            }
        }
        for (ends, cell) in losses.windows(2).zip(splits.windows(2)) {
            let mass = |of: fn(Masses) -> Enclosure| {
                let from_above = of(cell[0].above) - of(cell[1].above);
                let from_below = of(cell[1].below) - of(cell[0].below);
                let mass = from_above.intersect(from_below).unwrap();
                assert!(mass.upper() >= 0.0, "{name} in {ends:?}: {mass}");
                mass.positive_part()
            };
            let (p, q) = (mass(|m| m.p), mass(|m| m.q));
            let (low, high) = (Enclosure::from(ends[0]).exp(), Enclosure::from(ends[1]).exp());
            if high.upper() < f64::INFINITY {
                assert!(p.upper() >= (low * q).lower(), "{name} in {ends:?}: {p} {q}");
                assert!(p.lower() <= (high * q).upper(), "{name} in {ends:?}: {p} {q}");
            }
        }
    }
}

/// E_{e^ε} of a loss law, for ε of either sign.
fn from_split(law: &dyn LossLaw, epsilon: f64) -> Enclosure {
    let (Split { below, above }, gamma) =
        (law.split(Enclosure::from(epsilon)), Enclosure::from(epsilon).exp());
    if epsilon < 0.0 { gamma * below.q - below.p } else { above.p - gamma * above.q }
}

fn assert_overlap(found: Enclosure, expected: Enclosure, input: impl std::fmt::Debug) {
    assert!(found.intersect(expected).is_some(), "{found} and {expected} at {input:?}");
    assert!(found.width() < 1e-12, "{found} at {input:?}");
}

#[test]
fn the_divergences_of_gaussian_and_laplace_losses_are_those_of_the_pairs() {
    let mut random = Random::new(5);
    for _ in 0..2_000 {
        let (r, e) = (random.log_between(1e-6, 20.0), random.between(-5.0, 5.0));
        let gamma = Gamma::from_epsilon(e).unwrap();
        let pair = GaussianPair::new(r, 1.0).unwrap();
        assert_overlap(from_split(&gaussian(r), e), pair.hockey_stick(gamma), (r, e));
        assert_overlap(from_split(&Exchanged(gaussian(r)), e), pair.hockey_stick_reversed(gamma), (r, e));
        let (law, pair) = (LaplaceLoss::new(positive(r)), LaplacePair::new(r, 1.0).unwrap());
        assert_overlap(from_split(&law, e), pair.hockey_stick(gamma), (r, e));
        assert_overlap(from_split(&Exchanged(law), e), pair.hockey_stick_reversed(gamma), (r, e));
        assert_eq!(law.lattice(), Some(r));
    }
}

#[test]
fn the_masses_of_a_laplace_loss_contain_the_truth() {
    let mut random = Random::new(6);
    for _ in 0..1_000 {
        let t = random.log_between(1e-6, 100.0);
        let loss = t * random.between(-1.0, 1.0);
        let half = |x: Real| x.exp() / 2;
        let (loss_real, t_real) = (Real::from_f64(loss, BITS), Real::from_f64(t, BITS));
        let p_below = half((&loss_real - &t_real) / 2);
        let q_above = half(-(&loss_real + &t_real) / 2);
        let truth = Truth { above: [int(1) - &p_below, q_above.clone()], below: [p_below, int(1) - q_above] };
        truth.assert_in(LaplaceLoss::new(positive(t)).split(Enclosure::from(loss)), (t, loss));
    }
}

/// The masses of {p > e^ℓ·q} and its complement, summed exactly.
fn summed(p: &[Real], q: &[Real], loss: f64) -> Truth {
    let gamma = Real::from_f64(loss, BITS).exp();
    let mut truth = Truth { below: [int(0), int(0)], above: [int(0), int(0)] };
    for (p, q) in p.iter().zip(q) {
        let side = if *p > &gamma * q { &mut truth.above } else { &mut truth.below };
        *side = [&side[0] + p, &side[1] + q];
    }
    truth
}

#[test]
fn a_finite_loss_has_the_masses_and_divergences_of_its_pair() {
    let mut random = Random::new(7);
    for case in 0..2_000 {
        let (p, q) = random.pair();
        let pair = DiscretePair::new(p.clone(), q.clone()).unwrap();
        let law = FiniteLoss::from_pair(&pair);
        let loss = random.between(-3.0, 3.0);
        let split = law.split(Enclosure::from(loss));
        summed(&exact(&p), &exact(&q), loss).assert_in(split, (case, &p, &q, loss));
        let gamma = Gamma::from_epsilon(loss).unwrap();
        assert_overlap(from_split(&law, loss), pair.hockey_stick(gamma), (case, loss));
        assert_overlap(from_split(&Exchanged(law), loss), pair.hockey_stick_reversed(gamma), (case, loss));
    }
}

#[test]
fn an_atom_that_may_lie_on_either_side_of_a_threshold_is_counted_on_both_or_neither() {
    let law = |p: Vec<f64>| FiniteLaw::new("law", p).unwrap();
    let pair = DiscretePair::new(law(vec![0.7, 0.3]), law(vec![0.3, 0.7])).unwrap();
    // ln(7/3) is no f64, so whether it is above its rounded value is not known here.
    let Split { below, above } = FiniteLoss::from_pair(&pair).split(Enclosure::from((0.7_f64 / 0.3).ln()));
    assert!(above.p.lower() == 0.0 && above.p.upper() > 0.699 && above.q.upper() > 0.299);
    assert!(below.p.lower() < 0.301 && below.p.upper() == 1.0);
    // The atoms of a response are at exactly ±ε.
    let exactly = FiniteLoss::randomised_response(epsilon(0.7)).split(Enclosure::from(0.7));
    assert!(exactly.above.p == Enclosure::ZERO || exactly.above.p.lower() > 0.6);
    let around = FiniteLoss::randomised_response(epsilon(0.7)).split(Enclosure::new(0.6, 0.8).unwrap());
    assert!(around.above.p.lower() == 0.0 && around.above.p.upper() > 0.6);
}

#[test]
fn poisson_sampling_of_a_finite_pair_is_the_mixture() {
    let mut random = Random::new(8);
    for case in 0..2_000 {
        let (p, q) = random.pair();
        let law = FiniteLoss::from_pair(&DiscretePair::new(p.clone(), q.clone()).unwrap());
        let share = [1.0, random.log_between(1e-9, 1.0)][random.below(2)];
        let (p, q) = (exact(&p), exact(&q));
        let mixed: Vec<Real> =
            p.iter().zip(&q).map(|(p, q)| real(share) * p + (int(1) - real(share)) * q).collect();
        let loss = [random.between(-3.0, 3.0), random.between(-2.0, 2.0) * share][random.below(2)];
        let sampled = PoissonLoss::new(law, probability(share)).unwrap();
        let split = sampled.split(Enclosure::from(loss));
        summed(&mixed, &q, loss).assert_in(split, (case, share, loss));
        summed(&q, &mixed, loss)
            .assert_in(Exchanged(sampled).split(Enclosure::from(loss)), (case, share, loss));
    }
}

/// A law P and its mirror image, so that the pair is symmetric.
fn symmetric_pair(random: &mut Random) -> (FiniteLaw, FiniteLaw) {
    let count = 2 + random.below(5);
    let p: Vec<f64> = random.parts(count, 1 << 20).iter().map(|&w| w as f64 / (1 << 20) as f64).collect();
    let q = p.iter().rev().copied().collect();
    (FiniteLaw::new("P", p).unwrap(), FiniteLaw::new("Q", q).unwrap())
}

#[test]
fn sampling_without_replacement_has_the_profile_of_the_theorem_in_both_directions() {
    let mut random = Random::new(9);
    for case in 0..2_000 {
        let (p, q) = symmetric_pair(&mut random);
        let base = FiniteLoss::from_pair(&DiscretePair::new(p.clone(), q.clone()).unwrap());
        let share = [1.0, 1e-9, random.log_between(1e-6, 1.0)][random.below(3)];
        let law = Arc::new(WithoutReplacementLoss::new(base, probability(share)).unwrap());
        let e = random.between(0.0, 3.0) * [1.0, share][random.below(2)];
        let gamma = Real::from_f64(e, BITS).exp();
        let inner = int(1) + (&gamma - int(1)) / real(share);
        let truth = real(share) * hockey_stick(&exact(&p), &exact(&q), &inner);
        for found in [from_split(&law, e), from_split(&Exchanged(law.clone()), e)] {
            crate::laws::assert_inside(found, &truth, (case, share, e));
            assert!(found.width() < 1e-14 * e.exp());
        }
        // E_γ(P‖Q) = γ·E_{1/γ}(Q‖P).
        crate::laws::assert_inside(from_split(&law, -e), &(truth / &gamma), (case, share, e));
    }
}

#[test]
fn the_exponential_mechanism_is_the_worst_of_all_pairs_with_losses_in_a_range() {
    let mut random = Random::new(10);
    for _ in 0..300 {
        let range = random.log_between(1e-3, 30.0);
        let law = ExponentialLoss::new(positive(range));
        let e = range * random.between(0.0, 1.0);
        // All mass at the two ends t and t − range.
        let two_point = |t: f64| {
            let q = -(t - range).exp_m1() / (t.exp() - (t - range).exp());
            q * (t.exp() - e.exp())
        };
        let steps = 4_000;
        let worst = (0..=steps).map(|i| two_point(e + (range - e) * f64::from(i) / f64::from(steps)));
        let worst = worst.fold(0.0, f64::max);
        let found = from_split(&law, e);
        assert!(found.upper() >= worst * (1.0 - 1e-9) - 1e-14, "{found} < {worst} at {range}, {e}");
        assert!(found.lower() <= worst * (1.0 + 1e-4) + 1e-13, "{found} > {worst} at {range}, {e}");
        let closed = (1.0 - ((e - range) / 2.0).exp()).powi(2) / -(-range).exp_m1();
        assert!((found.midpoint() - closed).abs() < 1e-13, "{found} {closed}");
        assert_overlap(from_split(&Exchanged(law), e), found, (range, e));
    }
}

#[test]
fn an_actual_exponential_mechanism_is_dominated() {
    let mut random = Random::new(11);
    let mut closest: f64 = 0.0;
    for _ in 0..2_000 {
        let range = random.log_between(0.05, 5.0);
        let outcomes = 2 + random.below(4);
        // Utilities that change by at most 1, and the weights e^(εu/2).
        let weights = |u: &[f64]| u.iter().map(|u| (range * u / 2.0).exp()).collect();
        let u: Vec<f64> = (0..outcomes).map(|_| random.between(-2.0, 2.0)).collect();
        let v: Vec<f64> = u.iter().map(|u| u + [-1.0, 1.0][random.below(2)]).collect();
        let p = FiniteLaw::proportional_to("P", weights(&u)).unwrap();
        let q = FiniteLaw::proportional_to("Q", weights(&v)).unwrap();
        let pair = DiscretePair::new(p, q).unwrap();
        let e = range * random.between(-1.0, 1.0);
        let gamma = Gamma::from_epsilon(e).unwrap();
        let bound = from_split(&ExponentialLoss::new(positive(range)), e).upper();
        for delta in [pair.hockey_stick(gamma), pair.hockey_stick_reversed(gamma)] {
            assert!(delta.lower() <= bound, "{delta} > {bound}");
            closest = closest.max(delta.lower() / bound);
        }
    }
    assert!(closest > 0.99, "{closest}");
}

/// P(x ≥ k), and P(x < k), of weights on the integers from −reach to reach.
fn integer_tails(weight: impl Fn(i64) -> Real, reach: i64) -> impl Fn(i64) -> [Real; 2] {
    let weights: Vec<Real> = (-reach..=reach).map(weight).collect();
    let total = weights.iter().fold(int(0), |sum, w| sum + w);
    move |k| {
        let split = (k + reach).clamp(0, 2 * reach + 1) as usize;
        let sum = |part: &[Real]| part.iter().fold(int(0), |sum, w| sum + w) / &total;
        [sum(&weights[split..]), sum(&weights[..split])]
    }
}

#[test]
fn discrete_noise_has_the_tails_of_direct_sums() {
    let mut random = Random::new(12);
    for (sigma, s, reach) in [(0.03, 1, 8), (0.5, 1, 30), (0.9, 2, 45), (3.3, 3, 160), (12.0, 70, 500)] {
        let width = Real::from_f64(sigma, BITS);
        let gaussian = integer_tails(|k| (-(int(k * k) / (&width * &width * 2))).exp(), reach);
        let laplace = integer_tails(|k| (-(int(k.abs()) / &width)).exp(), 15 * reach);
        let gaussian_law = DiscreteGaussianLoss::new(positive(sigma), shift(s)).unwrap();
        let laplace_law = DiscreteLaplaceLoss::new(positive(sigma), shift(s));
        let s = i64::from(s);
        for _ in 0..12 {
            // A threshold strictly between the losses of m − 1 and m.
            let m = s / 2 + random.below(3 * s as usize + 6) as i64 - s - 3;
            let place = m as f64 - random.between(0.1, 0.9);
            let truth = |tails: &dyn Fn(i64) -> [Real; 2]| {
                let ([q_above, q_below], [p_above, p_below]) = (tails(m), tails(m - s));
                Truth { below: [p_below, q_below], above: [p_above, q_above] }
            };
            let loss = (place - s as f64 / 2.0) * s as f64 / (sigma * sigma);
            let split = gaussian_law.split(Enclosure::from(loss));
            truth(&gaussian).assert_in(split, (sigma, s, m, loss));
            assert!(self::width(split, 1e-270) < 1e-14, "{split:?}");
            if (1..=s).contains(&m) {
                let loss = (place - s as f64 / 2.0) * 2.0 / sigma;
                truth(&laplace).assert_in(laplace_law.split(Enclosure::from(loss)), (sigma, s, m, loss));
            }
        }
    }
}

#[test]
fn discrete_gaussian_noise_with_large_sigma_is_nearly_gaussian() {
    let (sigma, s) = (1e5, 100_000);
    let law = DiscreteGaussianLoss::new(positive(sigma), shift(s)).unwrap();
    for loss in [-20.0, -1.0, 0.3, 5.0, 20.0] {
        let (found, near) = (law.split(Enclosure::from(loss)), gaussian(1.0).split(Enclosure::from(loss)));
        for (a, b) in [(found.below.p, near.below.p), (found.above.q, near.above.q)] {
            // Half an integer is 5e-6 standard deviations.
            assert!((a.midpoint() / b.midpoint() - 1.0).abs() < 2e-4, "{a} {b}");
        }
    }
    assert!(
        DiscreteGaussianLoss::new(positive(1.1e5), shift(1))
            .is_err_and(|e| e.to_string().contains("Gaussian"))
    );
}

#[test]
fn atoms_lie_on_the_lattice() {
    let laws: Vec<Arc<dyn LossLaw>> = vec![
        Arc::new(LaplaceLoss::new(positive(0.7))),
        Arc::new(FiniteLoss::response(epsilon(0.4), 5)),
        Arc::new(FiniteLoss::approximate(epsilon(0.4), Delta::new(0.1).unwrap())),
        Arc::new(DiscreteGaussianLoss::new(positive(2.0), shift(3)).unwrap()),
        Arc::new(DiscreteGaussianLoss::new(positive(2.0), shift(2)).unwrap()),
        Arc::new(DiscreteLaplaceLoss::new(positive(2.0), shift(3))),
        Arc::new(DiscreteLaplaceLoss::new(positive(2.0), shift(4))),
    ];
    for law in laws {
        let spacing = law.lattice().unwrap();
        let mut jumps = 0;
        for i in -6..=6 {
            let around = |place: f64| {
                let [low, high] =
                    [place - 1e-9, place + 1e-9].map(|x| law.split(Enclosure::from(x * spacing)));
                high.below.p.midpoint() - low.below.p.midpoint()
            };
            // Smooth between the multiples.
            assert!(around(f64::from(i) + 0.5) < 1e-8);
            jumps += i32::from(around(f64::from(i)) > 1e-7);
        }
        assert!(jumps >= 1);
    }
}

/// A profile given by a formula.
struct Given<F>(F);

impl<F: Fn(Direction, f64) -> Enclosure + Send + Sync> PrivacyProfile for Given<F> {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        self.0(direction, epsilon.get())
    }
    fn is_symmetric(&self) -> bool {
        false
    }
}

fn theta(e: f64, r: f64) -> Enclosure {
    dobrushin::numeric::theta::theta(epsilon(e), NonNegative::new(r).unwrap())
}

/// Fails unless the pair has at least the profile in both directions, and at most by 2e-6·δ^0.9
/// more.
fn assert_dominates(profile: &dyn PrivacyProfile, scale: f64, seed: u64) {
    let mut random = Random::new(seed);
    let law = Arc::new(FiniteLoss::dominating(profile));
    for _ in 0..2_000 {
        let e = [random.between(0.0, scale), scale * random.log_between(1e-6, 1.0), 0.0][random.below(3)];
        for direction in Direction::BOTH {
            let delta = profile.delta_of(direction, epsilon(e));
            let found = match direction {
                Direction::Forward => from_split(&law, e),
                Direction::Reverse => from_split(&Exchanged(law.clone()), e),
            };
            assert!(found.upper() >= delta.lower(), "{found} < {delta} at {e}, {direction:?}");
            let more = delta.upper() + 2e-6 * delta.upper().powf(0.9) + 1e-13 * e.exp();
            assert!(found.lower() <= more, "{found} > {delta} at {e}, {direction:?}");
        }
    }
}

#[test]
fn a_pair_made_from_a_profile_dominates_it_and_is_close_to_it() {
    for r in [1e-3, 0.5, 3.0, 12.0] {
        assert_dominates(&Given(move |_, e: f64| theta(e, r)), 3.0 * r + r * r, 20);
    }
    // Two directions, of a subsampled Gaussian.
    for (r, q) in [(1.0, 0.01), (0.5, 0.3)] {
        let law = PoissonLoss::new(gaussian(r), probability(q)).unwrap();
        let profile = Given(move |direction, e: f64| match direction {
            Direction::Forward => from_split(&law, e).positive_part(),
            Direction::Reverse => from_split(&Exchanged(law), e).positive_part(),
        });
        assert_dominates(&profile, 3.0 * q, 21);
    }
    // Bounded losses, and a δ that never vanishes.
    let laplace = LaplacePair::new(1.3, 1.0).unwrap();
    let at = move |e: f64| laplace.hockey_stick(Gamma::from_epsilon(e).unwrap());
    assert_dominates(&Given(move |_, e: f64| at(e.min(9.0))), 1.3, 22);
    assert_dominates(&Given(move |_, e: f64| at(e.min(9.0)).max(Enclosure::from(0.01))), 1.3, 23);
}

#[test]
fn a_bound_that_is_no_profile_itself_still_gives_a_pair_above_what_it_bounds() {
    // What one Rényi divergence implies is 1 at ε = 0, too much to be convex with the other
    // direction; the Gaussian that it bounds is below all the same.
    let r = 0.8_f64;
    let renyi = |alpha: f64| {
        let divergence = NonNegative::new(alpha * r * r / 2.0 * (1.0 + 1e-12)).unwrap();
        RenyiBound::new(RenyiOrder::new(alpha).unwrap(), divergence).unwrap()
    };
    let (few, many) = (renyi(2.0), renyi(12.0));
    let smooth = move |e: f64| few.delta_mironov(epsilon(e)).min(many.delta_mironov(epsilon(e)));
    // Neither convex nor monotone.
    let wavy =
        move |_, e: f64| (smooth(e) * Enclosure::from(1.2 + 0.2 * (40.0 * e).sin())).min(Enclosure::ONE);
    let law = FiniteLoss::dominating(&Given(wavy));
    let mut random = Random::new(24);
    for _ in 0..2_000 {
        let e = random.between(-8.0, 8.0);
        let truth = GaussianPair::new(r, 1.0).unwrap().hockey_stick(Gamma::from_epsilon(e).unwrap());
        let found = from_split(&law, e);
        assert!(found.upper() >= truth.lower(), "{found} < {truth} at {e}");
        if e > 0.0 {
            // The waves are lost, not more.
            assert!(found.lower() <= 1.6 * smooth(e).upper() + 1e-12, "{found} at {e}");
        }
    }
    // Nothing known: everything is dominated.
    let nothing = FiniteLoss::dominating(&Given(|_, _| Enclosure::UNIT));
    assert_eq!(from_split(&nothing, 3.0).upper(), 1.0);
    // Total variation has no direction: the smaller bound on it holds for both.
    let unequal = Given(|direction, e: f64| {
        Enclosure::from((-e).exp() * if direction == Direction::Forward { 0.3 } else { 0.2 })
    });
    let law = Arc::new(FiniteLoss::dominating(&unequal));
    for found in [from_split(&law, 0.0), from_split(&Exchanged(law.clone()), 0.0)] {
        assert!((found.midpoint() - 0.2).abs() < 1e-6, "{found}");
    }
    // Contradictory bounds must not give a contradictory pair.
    let steep = Given(|direction, e: f64| match direction {
        Direction::Forward => Enclosure::from(0.5),
        Direction::Reverse => Enclosure::from(0.5 * (-9.0 * e).exp()),
    });
    assert_eq!(from_split(&FiniteLoss::dominating(&steep), 1.0).upper(), 1.0);
}

#[test]
fn only_a_gaussian_pair_says_that_it_is_one() {
    assert_eq!(gaussian(0.3).gaussian_ratio(), Some(0.3));
    assert_eq!(Exchanged(gaussian(0.3)).gaussian_ratio(), Some(0.3));
    let sampled = |q| PoissonLoss::new(gaussian(0.3), probability(q)).unwrap().gaussian_ratio();
    assert_eq!((sampled(1.0), sampled(0.5)), (Some(0.3), None));
    assert_eq!(LaplaceLoss::new(positive(0.3)).gaussian_ratio(), None);
}
