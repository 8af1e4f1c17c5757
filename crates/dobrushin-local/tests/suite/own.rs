//! Questions about laws of one's own: every bound holds for every channel of that privacy, and equality where it holds.

use super::risk::{channel, count, finite, law, missed, pair, power, privacy, pushed};
use dobrushin::divergence::{DiscretePair, FiniteLaw, Pair};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::Random;
use dobrushin::statement;
use dobrushin::{Enclosure, Epsilon, Gamma, NonNegative, Probability};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::frequency::{FrequencyOracle, Response, Subset};
use dobrushin_local::mean::{self, Bounds};
use dobrushin_local::risk::own::{self, Answer, Findings, Prior, Setting, Side};
use dobrushin_local::risk::{Hypercube, Indistinguishable, Loss, Reports, TwoPoints};

/// The promise that a channel keeps at some ε.
fn promise(random: &mut Random, kernel: &FiniteKernel) -> LocalPrivacy {
    let epsilon = random.between(0.0, 2.0);
    let delta = kernel.contraction_with_pair(Gamma::from_epsilon(epsilon).unwrap()).value.upper().min(1.0);
    privacy(epsilon, delta)
}

/// The laws of n reports, each through one of several channels that is chosen by the sum of the reports before it.
fn interactive(law: &[f64], channels: &[Vec<Vec<f64>>], n: u32) -> Vec<f64> {
    let outs: Vec<Vec<f64>> = channels.iter().map(|rows| pushed(law, rows)).collect();
    let mut laws = vec![(0, 1.0)];
    for _ in 0..n {
        let next = |(sum, p): (usize, f64)| {
            let out = outs[sum % outs.len()].clone();
            out.into_iter().enumerate().map(move |(z, q)| (sum + z, p * q)).collect::<Vec<_>>()
        };
        laws = laws.into_iter().flat_map(next).collect();
    }
    laws.into_iter().map(|(_, p)| p).collect()
}

fn bayes_risk(prior: &[f64], outs: &[Vec<f64>], losses: &[Vec<f64>]) -> f64 {
    let given = |z: usize, a: usize| -> f64 {
        prior.iter().zip(outs).zip(losses).map(|((w, out), row)| w * out[z] * row[a]).sum()
    };
    let best = |z: usize| (0..losses[0].len()).map(|a| given(z, a)).fold(f64::MAX, f64::min);
    (0..outs[0].len()).map(best).sum()
}

fn wrong_or_right(count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|v| (0..count).map(|a| f64::from(u8::from(a != v))).collect()).collect()
}

/// Every bound of an answer is on the right side of the truth, and has a statement.
fn holds(answer: &Answer, truth: f64) {
    for one in &answer.bounds {
        let values = [Some(one.bound.value), one.published].into_iter().flatten();
        for value in values {
            let right = match answer.side {
                Side::AtLeast => value.lower() <= truth + 1e-12,
                Side::AtMost => value.upper() >= truth - 1e-12,
            };
            assert!(right, "{}: {} {value} {truth}", answer.id, one.bound.id);
        }
        assert!(statement::find(one.bound.id).is_some(), "{}", one.bound.id);
    }
}

fn contains(value: Option<Enclosure>, truth: f64) {
    let value = value.expect("few enough counts");
    assert!(value.lower() <= truth + 1e-12 && truth - 1e-12 <= value.upper(), "{value} {truth}");
    assert!(value.width() < 1e-10, "{value}");
}

/// The rows of a channel.
type Rows = Vec<Vec<f64>>;

/// Settings of channels with the same promise, each with the channels that the reports go through: the first through its
/// own matrix, through the promise, and both channels by turns through the promise.
fn settings(random: &mut Random, inputs: usize, n: u32) -> [(Setting, Vec<Rows>); 3] {
    let outputs = 2 + random.below(2);
    let rows = channel(random, inputs, outputs);
    let kernel = FiniteKernel::proportional_to(rows.clone()).unwrap();
    let promise = promise(random, &kernel);
    // Another channel that keeps the promise: the same with inputs and outputs in another order.
    let mut other: Vec<Vec<f64>> = rows.iter().rev().cloned().collect();
    other.iter_mut().for_each(|row| row.reverse());
    let of_one = Setting::through(&kernel, Some(promise), count(n));
    let of_all = Setting::promised(promise, count(n));
    let choices = vec![rows.clone(), other];
    [(of_one, vec![rows.clone()]), (of_all.clone(), vec![rows]), (of_all, choices)]
}

#[test]
fn no_bound_on_two_laws_exceeds_the_best_test_even_if_channels_are_chosen_by_earlier_reports() {
    let mut random = Random::new(21);
    let mut nearest: f64 = 0.0;
    for round in 0..36 {
        let inputs = 2 + random.below(2);
        let n = 1 + round % 3;
        let settings = settings(&mut random, inputs, n);
        let (p, q) = (law(&mut random, inputs), law(&mut random, inputs));
        for (setting, channels) in settings {
            let (a, b) = (interactive(&p, &channels, n), interactive(&q, &channels, n));
            let apart = NonNegative::new(3.0).unwrap();
            let found = own::two_laws(&pair(&p, &q), Some((apart, Loss::SQUARED_NORM)), &setting).unwrap();
            let error: f64 = a.iter().zip(&b).map(|(a, b)| 0.5 * a.min(*b)).sum();
            holds(&found.answers[0], error);
            nearest = nearest.max(found.answers[0].bounds[0].bound.value.lower() / error.max(1e-9));
            let risk: f64 =
                a.iter().zip(&b).map(|(a, b)| if a + b > 0.0 { 4.5 * a * b / (a + b) } else { 0.0 }).sum();
            holds(&found.answers[1], risk);
            let (a, b) = (power(&p, n), power(&q, n));
            contains(found.answers[0].clear, a.iter().zip(&b).map(|(a, b)| 0.5 * a.min(*b)).sum());
            if found.answers[0].through.is_some() {
                contains(found.answers[0].through, error);
            }
            let alpha = random.between(0.01, 0.5);
            let level = Probability::new(alpha).unwrap();
            let (a, b) = (interactive(&p, &channels, n), interactive(&q, &channels, n));
            let beta = missed(&a, &b, alpha);
            let wanted = Probability::new(beta).ok().filter(|b| b.get() > 1e-9 && b.get() + alpha < 0.999);
            let found = own::testing(&pair(&p, &q), level, wanted, &setting).unwrap();
            holds(&found.answers[0], beta);
            contains(found.answers[0].clear, missed(&power(&p, n), &power(&q, n), alpha));
            if found.answers[0].through.is_some() {
                contains(found.answers[0].through, beta);
                holds(&found.answers[1], found.answers[1].through.unwrap().lower());
            }
            if wanted.is_some() {
                holds(&found.answers[2], f64::from(n) * (1.0 + 1e-9));
            }
        }
    }
    assert!(nearest > 0.999, "{nearest}");
}

#[test]
fn no_bound_on_several_laws_exceeds_the_best_guess() {
    let mut random = Random::new(22);
    for round in 0..40 {
        let inputs = 2 + random.below(2);
        let n = 1 + round % 3;
        let settings = settings(&mut random, inputs, n);
        let laws: Vec<Vec<f64>> = (0..4).map(|_| law(&mut random, inputs)).collect();
        let finite_laws: Vec<FiniteLaw> = laws.iter().map(|law| finite(law)).collect();
        let (prior, other) = (law(&mut random, 4), law(&mut random, 4));
        let losses: Vec<Vec<f64>> =
            (0..4).map(|_| (0..3).map(|_| random.between(0.0, 2.0)).collect()).collect();
        for (setting, channels) in settings {
            let outs: Vec<Vec<f64>> = laws.iter().map(|law| interactive(law, &channels, n)).collect();
            let clear: Vec<Vec<f64>> = laws.iter().map(|law| power(law, n)).collect();
            let quarter = vec![0.25; 4];
            let apart = NonNegative::new(2.0).unwrap();
            let found = own::family(&finite_laws, Some((apart, Loss::METRIC)), &setting).unwrap();
            holds(&found.answers[0], bayes_risk(&quarter, &outs, &wrong_or_right(4)));
            // Four parameters at distance 2 from each other: a guess costs 2 if it is wrong. No prior is worse than the
            // best against all, so every pair's risk is a bound on the largest risk of every estimator, and of this one.
            let guess = |z: usize| (0..4).max_by(|&v, &w| outs[v][z].total_cmp(&outs[w][z])).unwrap();
            let wrong =
                |v: usize| -> f64 { (0..outs[v].len()).filter(|&z| guess(z) != v).map(|z| outs[v][z]).sum() };
            holds(&found.answers[1], 2.0 * (0..4).map(wrong).fold(0.0, f64::max));
            contains(found.answers[0].clear, bayes_risk(&quarter, &clear, &wrong_or_right(4)));
            // Signs: the first one is + for the laws 2 and 3, the second for 1 and 3.
            let cube = Hypercube::new(&finite_laws).unwrap();
            let found = own::hypercube(&cube, &finite_laws, None, &setting).unwrap();
            let wrong = |outs: &[Vec<f64>]| -> f64 {
                let sign = |v: usize, j: usize| v >> (1 - j) & 1;
                let one = |j: usize| -> f64 {
                    let side = |z: usize, s: usize| -> f64 {
                        (0..4).filter(|&v| sign(v, j) == s).map(|v| 0.25 * outs[v][z]).sum()
                    };
                    (0..outs[0].len()).map(|z| side(z, 0).min(side(z, 1))).sum()
                };
                one(0) + one(1)
            };
            holds(&found.answers[0], wrong(&outs));
            contains(found.answers[0].clear, wrong(&clear));
            let table = Prior { weights: &finite(&prior), laws: &finite_laws, losses: &losses };
            let found = own::bayes(table, &[Gamma::ONE], &setting).unwrap();
            holds(&found.answers[0], bayes_risk(&prior, &outs, &losses));
            contains(found.answers[0].clear, bayes_risk(&prior, &clear, &losses));
            let found = own::information(&finite(&other), &finite_laws, &setting).unwrap();
            for answer in &found.answers {
                if let Some(exact) = answer.through {
                    holds(answer, exact.lower());
                }
            }
            holds(&found.answers[1], information(&other, &outs) / 2f64.ln());
            contains(found.answers[1].clear, information(&other, &clear) / 2f64.ln());
        }
    }
}

/// I(V; Z) in nats.
fn information(prior: &[f64], outs: &[Vec<f64>]) -> f64 {
    let mixed = |z: usize| -> f64 { prior.iter().zip(outs).map(|(w, out)| w * out[z]).sum() };
    let term = |w: f64, p: f64, z: usize| if w * p > 0.0 { w * p * (p / mixed(z)).ln() } else { 0.0 };
    prior
        .iter()
        .zip(outs)
        .map(|(&w, out)| out.iter().enumerate().map(|(z, &p)| term(w, p, z)).sum::<f64>())
        .sum()
}

#[test]
fn randomised_response_attains_the_bounds_between_mirrored_laws() {
    let mirrored = pair(&[0.65, 0.35], &[0.35, 0.65]);
    for (epsilon, n) in [(0.3f64, 1), (1.0, 2), (1.0, 7), (2.5, 30)] {
        let truth = 1.0 / (1.0 + (-epsilon).exp());
        let rows = vec![vec![truth, 1.0 - truth], vec![1.0 - truth, truth]];
        let kernel = FiniteKernel::new(rows).unwrap();
        let exact = Setting::through(&kernel, None, count(n));
        let promised = Setting::promised(privacy(epsilon, 0.0), count(n));
        let of = |setting: &Setting, alpha: f64| -> [Findings; 2] {
            let level = Probability::new(alpha).unwrap();
            [
                own::two_laws(&mirrored, None, setting).unwrap(),
                own::testing(&mirrored, level, None, setting).unwrap(),
            ]
        };
        for alpha in [0.03, 0.2, 0.5] {
            for (reached, bounded) in of(&exact, alpha).iter().zip(&of(&promised, alpha)) {
                let best = bounded.answers[0].bounds[0].bound;
                // One report contracts as TV says, too.
                assert!(n == 1 || best.id.ends_with("composed"), "{best:?}");
                let reached = reached.answers[0].through.unwrap();
                assert!((best.value.lower() / reached.upper() - 1.0).abs() < 1e-9, "{best:?} {reached}");
            }
            let [_, reached] = of(&exact, alpha);
            let [_, bounded] = of(&promised, alpha);
            let (reached, best) = (reached.answers[1].through.unwrap(), bounded.answers[1].bounds[0].bound);
            assert!((best.value.upper() / reached.lower() - 1.0).abs() < 1e-9, "{best:?} {reached}");
        }
    }
}

#[test]
fn the_reports_of_two_laws_are_as_alike_as_they_are_said_to_be() {
    let mut random = Random::new(23);
    let mut nearest: f64 = 0.0;
    for _ in 0..400 {
        let inputs = 2 + random.below(3);
        let rows = channel(&mut random, inputs, 3);
        let kernel = FiniteKernel::proportional_to(rows.clone()).unwrap();
        // A channel without zeros is private with δ = 0.
        let (p, q) = (law(&mut random, inputs), law(&mut random, inputs));
        let reports = Reports::promised(promise(&mut random, &kernel));
        let error = Indistinguishable::between(&pair(&p, &q), &reports).error(count(1)).unwrap();
        let (a, b) = (pushed(&p, &rows), pushed(&q, &rows));
        let exact: f64 = a.iter().zip(&b).map(|(a, b)| 0.5 * a.min(*b)).sum();
        assert!(error.value.lower() <= exact + 1e-12, "{error:?} {exact}");
        if let Some(epsilon) = Indistinguishable::between(&pair(&p, &q), &Reports::through(&kernel)).pure() {
            let ratio = a.iter().zip(&b).filter(|(a, b)| **a + **b > 0.0).map(|(a, b)| (a / b).ln().abs());
            let ratio = ratio.fold(0.0, f64::max);
            assert!(ratio <= epsilon.get() + 1e-12, "{ratio} {epsilon:?}");
            nearest = nearest.max(ratio / epsilon.get().max(1e-9));
        }
    }
    assert!(nearest > 0.99, "{nearest}");
}

#[test]
fn no_pure_channel_tells_more_than_the_capacity_and_subsets_nearly_do() {
    let mut random = Random::new(24);
    for _ in 0..300 {
        let inputs = 2 + random.below(4);
        let rows: Vec<Vec<f64>> =
            (0..inputs).map(|_| (0..3).map(|_| random.between(0.2, 1.0)).collect()).collect();
        let kernel = FiniteKernel::proportional_to(rows.clone()).unwrap();
        let rows: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|p| p / row.iter().sum::<f64>()).collect()).collect();
        let exact = information(&law(&mut random, inputs), &rows);
        let most = Reports::through(&kernel).capacity().unwrap();
        assert!(exact <= most.upper() + 1e-13, "{exact} {most}");
    }
    for epsilon in [0.5, 1.0, 3.0] {
        let level = Epsilon::new(epsilon).unwrap();
        let oracle = Subset::new(16, level, dobrushin::Delta::new(0.0).unwrap()).unwrap();
        let kernel = oracle.channel().unwrap();
        let uniform = FiniteLaw::proportional_to("X", vec![1.0; 16]).unwrap();
        let setting = Setting::of(&oracle.privacy(), Some(&kernel), privacy(epsilon, 0.0), count(1));
        let found = own::information(&finite(&[1.0]), &[uniform], &setting).unwrap();
        let (best, exact) = (found.answers[0].bounds[0].bound, found.answers[0].through.unwrap());
        assert_eq!(best.id, "local-capacity");
        assert!(
            exact.upper() <= best.value.upper() && exact.lower() > 0.8 * best.value.upper(),
            "{epsilon} {exact} {best:?}"
        );
        // The entropy times η_KL is far larger.
        assert!(found.answers[0].bounds[1].bound.value.lower() > 1.3 * best.value.upper());
    }
    // m − 1 − ln m at ε = 1, to 15 digits.
    let one = Reports::promised(privacy(1.0, 0.0)).capacity().unwrap();
    let m = 1.0 / (1.0 - (-1f64).exp());
    assert!((one.midpoint() - (m - 1.0 - m.ln())).abs() < 1e-15 && one.width() < 1e-14);
    assert_eq!(Reports::promised(privacy(0.0, 0.0)).capacity().unwrap(), Enclosure::ZERO);
    assert!(Reports::promised(privacy(1.0, 0.1)).capacity().is_none());
}

#[test]
fn the_coin_has_the_numbers_of_remark_2_as_corrected() {
    let found = own::coin(&Setting::promised(privacy(1.0, 0.0), count(1))).unwrap();
    let close = |value: Enclosure, expected: f64| {
        assert!((value.midpoint() - expected).abs() < 1e-9, "{value} {expected}");
    };
    close(found.quantities[0].value, 2f64.ln() - 0.5);
    let clear = |id: &str| {
        found.answers[0].bounds.iter().find(|one| one.bound.id == id).and_then(|one| one.clear).unwrap()
    };
    close(clear("bayes-information"), 0.045_659_431_843_318_2);
    close(clear("bayes-hockey-stick"), 2.0 / 27.0);
    // The true risk without privacy is (2 − √2)/3.
    assert!(found.answers[0].bounds.iter().all(|one| one.clear.unwrap().upper() < (2.0 - 2f64.sqrt()) / 3.0));
    // A coin with finely graded biases is nearly this one, at γ = 4/3.
    let grades = 400;
    let bias = |i: usize| (i as f64 + 0.5) / grades as f64;
    let laws: Vec<FiniteLaw> = (0..grades).map(|i| finite(&[1.0 - bias(i), bias(i)])).collect();
    let losses: Vec<Vec<f64>> =
        (0..grades).map(|i| (0..grades).map(|a| (bias(i) - bias(a)).abs()).collect()).collect();
    let prior = finite(&vec![1.0; grades]);
    let table = Prior { weights: &prior, laws: &laws, losses: &losses };
    let third = Gamma::new(4.0 / 3.0).unwrap();
    let open = Setting::promised(privacy(0.0, 1.0), count(1));
    let found = own::bayes(table, &[third], &open).unwrap();
    assert!((found.quantities[0].value.midpoint() - (2f64.ln() - 0.5)).abs() < 1e-4);
    // I_γ = (γ − 2)²/4.
    assert!((found.quantities[2].value.midpoint() - 1.0 / 9.0).abs() < 1e-4);
    assert!((found.quantities[4].value.midpoint() - 2.0 / 27.0).abs() < 1e-3);
}

#[test]
fn no_privacy_is_the_clear_and_full_privacy_tells_nothing() {
    let laws = [
        finite(&[0.7, 0.2, 0.1]),
        finite(&[0.1, 0.3, 0.6]),
        finite(&[0.3, 0.4, 0.3]),
        finite(&[0.0, 1.0, 0.0]),
    ];
    let two = DiscretePair::new(laws[0].clone(), laws[1].clone()).unwrap();
    let level = Probability::new(0.1).unwrap();
    let nothing = Setting::promised(privacy(0.0, 0.0), count(50));
    let best = |found: &Findings, i: usize| found.answers[i].bounds[0].bound.value;
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} {expected}");
    near(best(&own::two_laws(&two, None, &nothing).unwrap(), 0).lower(), 0.5);
    near(best(&own::testing(&two, level, None, &nothing).unwrap(), 0).lower(), 0.9);
    near(best(&own::testing(&two, level, None, &nothing).unwrap(), 1).upper(), 0.0);
    near(best(&own::family(&laws, None, &nothing).unwrap(), 0).lower(), 0.75);
    let cube = Hypercube::new(&laws).unwrap();
    near(best(&own::hypercube(&cube, &laws, None, &nothing).unwrap(), 0).lower(), 1.0);
    near(best(&own::information(&finite(&[1.0; 4]), &laws, &nothing).unwrap(), 1).upper(), 0.0);
    // A law that another excludes has an infinite divergence, but reports that say nothing have none.
    let excluded = DiscretePair::new(laws[0].clone(), laws[3].clone()).unwrap();
    assert_eq!(excluded.kl().upper(), f64::INFINITY);
    near(best(&own::testing(&excluded, level, None, &nothing).unwrap(), 1).upper(), 0.0);
    near(best(&own::two_laws(&excluded, None, &nothing).unwrap(), 0).lower(), 0.5);
    for open in [privacy(0.0, 1.0), privacy(800.0, 0.0)] {
        let open = Setting::promised(open, count(5));
        for found in
            [own::two_laws(&two, None, &open).unwrap(), own::testing(&two, level, None, &open).unwrap()]
        {
            let clear = found.answers[0].clear.unwrap();
            assert_eq!(found.answers[0].bounds[0].bound.id, "local-data-processing");
            assert_eq!(found.answers[0].bounds[0].bound.value, clear);
        }
    }
}

#[test]
fn the_bound_lies_between_the_papers_and_the_truth_and_needs_no_enumeration() {
    let two = pair(&[0.5, 0.3, 0.2], &[0.4, 0.3, 0.3]);
    let (p, q) = (two.p().clone(), two.q().clone());
    for n in [1, 10, 100, 1000, 1_000_000, 2_000_000] {
        for promise in [privacy(0.5, 0.0), privacy(0.5, 1e-3), privacy(3.0, 0.0)] {
            let setting = Setting::promised(promise, count(n));
            let found =
                own::two_laws(&two, Some((NonNegative::new(1.0).unwrap(), Loss::METRIC)), &setting).unwrap();
            for answer in &found.answers {
                for one in &answer.bounds {
                    let value = one.bound.value;
                    assert!(value.lower() >= 0.0 && value.upper() <= 0.5 + 1e-12, "{value}");
                    assert!(one.published.is_none_or(|published| published.lower() <= value.upper()));
                    assert!(one.clear.is_none_or(|clear| clear.lower() <= value.upper()));
                }
                assert!(answer.clear.is_none() || n <= 100 || answer.id == "testing-error");
            }
            let problems = [
                own::family(&[p.clone(), q.clone()], None, &setting).unwrap(),
                own::information(&finite(&[0.5, 0.5]), &[p.clone(), q.clone()], &setting).unwrap(),
            ];
            assert!(problems.iter().all(|found| !found.answers[0].bounds.is_empty()));
        }
    }
}

#[test]
fn a_mechanism_without_a_matrix_has_the_coefficients_of_its_profile() {
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let level = Epsilon::new(1.0).unwrap();
    let laplace = mean::by_id("laplace", bounds, level, dobrushin::Delta::new(0.0).unwrap()).unwrap();
    let promise = privacy(1.0, 0.0);
    let of_mechanism = Setting::of(&laplace.privacy(), None, promise, count(100));
    let of_promise = Setting::promised(promise, count(100));
    // Laplace noise is less informative than the best that its promise allows.
    assert!(of_mechanism.reports().information().upper() < of_promise.reports().information().lower());
    let two = pair(&[0.6, 0.4], &[0.4, 0.6]);
    let error =
        |setting: &Setting| own::two_laws(&two, None, setting).unwrap().answers[0].bounds[0].bound.value;
    assert!(error(&of_mechanism).lower() >= error(&of_promise).lower());
    // Randomised response as a mechanism, as a channel, and as the best of its promise are the same.
    let oracle = Response::new(2, level, dobrushin::Delta::new(0.0).unwrap()).unwrap();
    let matrix = oracle.channel().unwrap();
    let response: [Setting; 3] = [
        Setting::of(&oracle.privacy(), Some(&matrix), promise, count(100)),
        Setting::through(&matrix, Some(promise), count(100)),
        of_promise,
    ];
    let errors = response.each_ref().map(|setting| error(setting).lower());
    assert!(errors.iter().all(|one| (one / errors[0] - 1.0).abs() < 1e-9), "{errors:?}");
}

#[test]
fn one_sign_is_two_laws_and_what_makes_no_sense_is_refused() {
    let laws = [finite(&[0.6, 0.4]), finite(&[0.4, 0.6])];
    let setting = Setting::promised(privacy(1.0, 0.0), count(10));
    let apart = NonNegative::new(0.2).unwrap();
    let cube = Hypercube::new(&laws).unwrap();
    let two = DiscretePair::new(laws[0].clone(), laws[1].clone()).unwrap();
    let signs = own::hypercube(&cube, &laws, Some((&[apart], Loss::METRIC)), &setting).unwrap();
    let points = own::two_laws(&two, Some((apart, Loss::METRIC)), &setting).unwrap();
    for (sign, point) in signs.answers.iter().zip(&points.answers) {
        assert_eq!(sign.bounds[0].bound.value.lower(), point.bounds[0].bound.value.lower());
    }
    assert!(own::hypercube(&cube, &laws, Some((&[apart, apart], Loss::METRIC)), &setting).is_err());
    assert!(Hypercube::new(&laws[..1]).is_err());
    assert!(Hypercube::new(&[finite(&[0.6, 0.4]), finite(&[0.4, 0.5, 0.1])]).is_err());
    let kernel = FiniteKernel::new(vec![vec![0.5, 0.5], vec![0.4, 0.6], vec![0.3, 0.7]]).unwrap();
    let mismatched = Setting::through(&kernel, None, count(10));
    let message = own::two_laws(&two, None, &mismatched).unwrap_err().to_string();
    assert!(message.contains("2") && message.contains("3"), "{message}");
    assert!(own::coin(&mismatched).is_err());
    let level = Probability::new(0.6).unwrap();
    assert!(own::testing(&two, level, Some(level), &setting).is_err());
    // The fourth power of a distance of 2 costs 1, not 4 (E18).
    let reports = Reports::promised(privacy(0.0, 0.0));
    let fourth = TwoPoints::of(&two).risk(
        &reports,
        count(1),
        NonNegative::new(2.0).unwrap(),
        Loss::power(4.0).unwrap(),
    );
    assert!((fourth[0].value.midpoint() - 1.0).abs() < 1e-12);
}
