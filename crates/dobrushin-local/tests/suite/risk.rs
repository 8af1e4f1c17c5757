//! Lower bounds under local privacy: golden values, and no bound above the exact risk of real channels.

use dobrushin::divergence::{DiscretePair, FiniteLaw, Pair};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::Random;
use dobrushin::statement;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma, NonNegative, Positive, Probability};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::risk::{
    Ball, BayesProblem, Coefficient, Family, Frequencies, FrequencyLoss, Loss, MomentClass, Reports,
    RiskBound, Task, Testing, TwoPoints,
};
use dobrushin_reference::golden;
use serde_json::Value;
use std::num::NonZeroU32;

pub(super) fn count(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

pub(super) fn privacy(epsilon: f64, delta: f64) -> LocalPrivacy {
    LocalPrivacy { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(delta).unwrap() }
}

fn promised(epsilon: f64, delta: f64) -> Reports {
    Reports::promised(privacy(epsilon, delta))
}

fn number(entry: &Value, name: &str) -> f64 {
    match &entry["params"][name] {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_f64().unwrap_or_else(|| panic!("{}: no {name}", entry["id"])),
    }
}

/// φ of an entry as the coefficient of a promise: 0.1 at (0, 0.1), 1 − 1/e at (1, 0).
fn published(entry: &Value) -> Reports {
    let phi = number(entry, "phi");
    Reports::published(if (phi - 0.1).abs() < 1e-12 { privacy(0.0, 0.1) } else { privacy(1.0, 0.0) })
}

#[test]
fn golden_values_are_matched() {
    let mut compared = 0;
    for entry in golden() {
        let parts: Vec<&str> = entry["id"].as_str().unwrap().split('/').collect();
        let records = || count(number(&entry, "n") as u32);
        let class = || MomentClass::new(number(&entry, "k")).unwrap();
        let ours = match parts[..2] {
            ["lecam", "simple"] => class().simple_risk(&published(&entry), records()).value,
            ["lecam", "pure"] => {
                class().pure_risk(&promised(number(&entry, "eps"), 0.0), records()).unwrap().value
            }
            ["lecam", "omega_form"] => class().risk_with_signs(&published(&entry), records()),
            ["lecam", "rademacher_form"] => {
                let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(1) };
                ball.assouad(&published(&entry), records()).value
            }
            ["ball", "two_point"] => {
                let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(7) };
                ball.two_points(&published(&entry), records()).value
            }
            _ => continue,
        };
        let value: f64 = entry["value"].as_str().unwrap().parse().unwrap();
        assert!((ours.midpoint() / value - 1.0).abs() < 1e-9, "{}: {ours} {value:e}", entry["id"]);
        assert!(parts[1] == "rademacher_form" || ours.contains(value), "{}: {ours} {value:e}", entry["id"]);
        compared += 1;
    }
    assert_eq!(compared, 77);
}

/// Rows with entries of very different sizes, or 0.
pub(super) fn channel(random: &mut Random, inputs: usize, outputs: usize) -> Vec<Vec<f64>> {
    (0..inputs).map(|_| law(random, outputs)).collect()
}

pub(super) fn law(random: &mut Random, outcomes: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..outcomes)
        .map(|_| if random.below(6) == 0 { 0.0 } else { random.log_between(0.02, 1.0) })
        .collect();
    let sum: f64 = weights.iter().sum();
    if sum == 0.0 { vec![1.0 / outcomes as f64; outcomes] } else { weights.iter().map(|w| w / sum).collect() }
}

pub(super) fn pushed(law: &[f64], channel: &[Vec<f64>]) -> Vec<f64> {
    (0..channel[0].len()).map(|z| law.iter().zip(channel).map(|(p, row)| p * row[z]).sum()).collect()
}

pub(super) fn finite(law: &[f64]) -> FiniteLaw {
    FiniteLaw::proportional_to("P", law.to_vec()).unwrap()
}

pub(super) fn pair(p: &[f64], q: &[f64]) -> DiscretePair {
    DiscretePair::new(finite(p), finite(q)).unwrap()
}

/// The law of n independent draws.
pub(super) fn power(law: &[f64], n: u32) -> Vec<f64> {
    (0..n).fold(vec![1.0], |laws, _| laws.iter().flat_map(|p| law.iter().map(move |q| p * q)).collect())
}

/// 1 − BC.
fn affinity_loss(p: &[f64], q: &[f64]) -> f64 {
    0.5 * p.iter().zip(q).map(|(p, q)| (p.sqrt() - q.sqrt()).powi(2)).sum::<f64>()
}

#[test]
fn affinity_and_hellinger_divergences_up_to_order_two_contract_as_chi_squared_does() {
    let mut random = Random::new(3);
    let mut nearest: f64 = 0.0;
    for _ in 0..3000 {
        let inputs = 2 + random.below(3);
        let outputs = 2 + random.below(3);
        let rows = channel(&mut random, inputs, outputs);
        let kernel = FiniteKernel::proportional_to(rows.clone()).unwrap();
        let eta = kernel.chi_squared_contraction().value.upper();
        let (p, mut q) = (law(&mut random, inputs), law(&mut random, inputs));
        if random.below(2) == 0 {
            // Near each other, where the coefficient of χ² is nearly attained.
            for (q, p) in q.iter_mut().zip(&p) {
                *q = 0.01 * *q + 0.99 * p;
            }
        }
        let (out_p, out_q) = (pushed(&p, &rows), pushed(&q, &rows));
        let (before, after) = (affinity_loss(&p, &q), affinity_loss(&out_p, &out_q));
        assert!(after <= eta * before + 1e-14, "{after} {eta} {before}");
        nearest = nearest.max(after / (eta * before).max(1e-12));
        for s in [1.01, 1.3, 1.7, 2.0] {
            // Σp^s·q^(1−s) − 1.
            let divergence = |p: &[f64], q: &[f64]| {
                let terms = p
                    .iter()
                    .zip(q)
                    .map(|(&p, &q)| if p > 0.0 { p * ((p / q).powf(s - 1.0) - 1.0) } else { 0.0 });
                terms.sum::<f64>()
            };
            let before = divergence(&p, &q);
            if before.is_finite() {
                assert!(divergence(&out_p, &out_q) <= eta * before * (1.0 + 1e-9) + 1e-12);
            }
        }
    }
    assert!(nearest > 0.99, "{nearest}");
}

#[test]
fn several_reports_contract_no_more_than_their_product_does() {
    let mut random = Random::new(4);
    for _ in 0..60 {
        let rows = channel(&mut random, 2, 3);
        let kernel = FiniteKernel::proportional_to(rows).unwrap();
        let reports = Reports::through(&kernel);
        let twice = kernel.beside(&kernel).unwrap();
        let together = Reports::through(&twice);
        assert!(together.information().lower() <= reports.information_of(count(2)).upper() + 1e-12);
        assert!(
            together.total_variation().lower()
                <= reports.hockey_stick_of(Gamma::ONE, count(2)).upper() + 1e-12
        );
    }
    // Randomised response attains what a promise allows, at every γ and for any number of reports.
    let truth = 1f64.exp() / (1.0 + 1f64.exp());
    let response = FiniteKernel::new(vec![vec![truth, 1.0 - truth], vec![1.0 - truth, truth]]).unwrap();
    let thrice = response.beside(&response).unwrap().beside(&response).unwrap();
    for gamma in [0.5, 1.0, 1.5, 3.0, 15.0, 30.0].map(|gamma| Gamma::new(gamma).unwrap()) {
        let promise = promised(1.0, 0.0).hockey_stick_of(gamma, count(3));
        let exact = Reports::through(&thrice).hockey_stick_of(gamma, count(1));
        assert!((promise.upper() - exact.upper()).abs() < 1e-12, "{promise} {exact}");
    }
    for delta in [0.0, 0.1] {
        for n in [1, 2, 10, 1000] {
            let reports = promised(0.3, delta);
            let phi_n = privacy(0.3, delta).published(n);
            assert!(reports.hockey_stick_of(Gamma::ONE, count(n)).upper() <= phi_n.upper());
            assert!(reports.information_of(count(n)).upper() <= phi_n.upper());
        }
    }
}

#[test]
fn records_count_for_a_part_of_themselves() {
    for (epsilon, delta, eta) in [(1.0, 0.0, 0.214), (0.5, 0.01, 0.069), (2.0, 0.1, 0.622), (1.0, 0.2, 0.371)]
    {
        let effective = promised(epsilon, delta).effective_records(count(1000));
        assert!((effective.midpoint() / 1000.0 - eta).abs() < 5e-4, "{epsilon} {delta}: {effective}");
    }
    // LDC Corollary 5: I(X; Z) ≤ η·H(X), for a fair bit and randomised response.
    let (reports, entropy) = (promised(1.0, 0.0), Enclosure::from(2.0).ln());
    let (bound, by) = reports.reported_information(count(1), entropy, entropy);
    let truth = 1f64.exp() / (1.0 + 1f64.exp());
    let joint = [vec![truth / 2.0, (1.0 - truth) / 2.0], vec![(1.0 - truth) / 2.0, truth / 2.0]];
    let exact = dobrushin::divergence::mutual_information(&joint).unwrap();
    assert!(exact.upper() <= bound.lower() && by == Coefficient::Information);
    assert!(exact.lower() > 0.7 * bound.upper());
    assert!(
        (exact.midpoint() - (2f64.ln() + truth * truth.ln() + (1.0 - truth) * (1.0 - truth).ln())).abs()
            < 1e-15
    );
}

/// Channels with the promise that they keep, their own coefficients, and what they do.
fn some_reports(random: &mut Random, inputs: usize) -> (Vec<Vec<f64>>, [Reports; 3]) {
    let outputs = 2 + random.below(2);
    let rows = channel(random, inputs, outputs);
    let kernel = FiniteKernel::proportional_to(rows.clone()).unwrap();
    let epsilon = random.between(0.0, 2.0);
    let delta = kernel.contraction_with_pair(Gamma::from_epsilon(epsilon).unwrap()).value.upper().min(1.0);
    let promise = privacy(epsilon, delta);
    (rows, [Reports::through(&kernel), Reports::promised(promise), Reports::published(promise)])
}

#[test]
fn no_two_point_bound_exceeds_the_error_of_the_best_test() {
    let mut random = Random::new(5);
    let mut nearest: f64 = 0.0;
    for _ in 0..300 {
        let inputs = 2 + random.below(2);
        let (rows, reports) = some_reports(&mut random, inputs);
        let (p, q) = (law(&mut random, inputs), law(&mut random, inputs));
        let points = TwoPoints::of(&pair(&p, &q));
        for n in [1, 2, 4] {
            let (a, b) = (power(&pushed(&p, &rows), n), power(&pushed(&q, &rows), n));
            let error: f64 = a.iter().zip(&b).map(|(a, b)| 0.5 * a.min(*b)).sum();
            // The Bayes risk for the parameters 0 and 3: squared, absolute and fourth-power error.
            let posterior = |risk: &dyn Fn(f64, f64) -> f64| -> f64 {
                a.iter().zip(&b).map(|(a, b)| risk(0.5 * a, 0.5 * b)).sum()
            };
            let squared = posterior(&|a, b| if a + b > 0.0 { 9.0 * a * b / (a + b) } else { 0.0 });
            let absolute = posterior(&|a, b| 3.0 * a.min(b));
            // The best estimate divides the distance as the cube roots of the weights do.
            let fourth = posterior(&|a: f64, b: f64| {
                let roots = a.cbrt() + b.cbrt();
                if roots > 0.0 { 81.0 * a * b / roots.powi(3) } else { 0.0 }
            });
            let distance = NonNegative::new(3.0).unwrap();
            for reports in &reports {
                for bound in points.error(reports, count(n)) {
                    assert!(bound.value.lower() <= error + 1e-12, "{bound:?} {error}");
                    nearest = nearest.max(bound.value.lower() / error.max(1e-9));
                }
                let risks = [
                    (squared, Loss::SQUARED_NORM),
                    (absolute, Loss::METRIC),
                    (fourth, Loss::power(4.0).unwrap()),
                ];
                for (risk, loss) in risks {
                    for bound in points.risk(reports, count(n), distance, loss) {
                        assert!(bound.value.lower() <= risk + 1e-12, "{bound:?} {risk}");
                    }
                }
            }
        }
    }
    assert!(nearest > 0.99, "{nearest}");
}

#[test]
fn the_promise_gives_less_than_the_channel_and_more_than_the_papers() {
    let mut random = Random::new(6);
    let find = |bounds: Vec<RiskBound>, id: &str| {
        bounds.into_iter().find(|bound| bound.id == id).unwrap().value.lower()
    };
    for _ in 0..100 {
        let (_, [own, promise, papers]) = some_reports(&mut random, 3);
        assert!(own.total_variation().lower() <= promise.total_variation().upper());
        assert!(own.information().lower() <= promise.information().upper());
        let points = TwoPoints::of(&pair(&law(&mut random, 3), &law(&mut random, 3)));
        for n in [1, 7, 50].map(count) {
            for id in ["two-point-pinsker", "two-point-bretagnolle-huber", "two-point-affinity"] {
                let values = [&own, &promise, &papers].map(|reports| find(points.error(reports, n), id));
                assert!(
                    values[0] >= values[1] * (1.0 - 1e-9) && values[1] >= values[2] * (1.0 - 1e-9),
                    "{values:?}"
                );
            }
            let together =
                [&promise, &papers].map(|reports| find(points.error(reports, n), "two-point-side-by-side"));
            assert!(together[0] >= together[1] * (1.0 - 1e-9), "{together:?}");
        }
        let class = MomentClass::new(2.0).unwrap();
        let [ours, theirs] = [&promise, &papers].map(|reports| class.risk(reports, count(7)).value.lower());
        assert!(ours >= theirs * (1.0 - 1e-6), "{ours} {theirs}");
    }
}

#[test]
fn the_best_two_points_are_at_least_every_closed_form() {
    for k in [1.2, 1.5, 2.0, 4.0, f64::INFINITY] {
        let class = MomentClass::new(k).unwrap();
        for n in [1, 10, 1000, 1_000_000].map(count) {
            for reports in [
                promised(0.1, 0.0),
                promised(1.0, 0.0),
                promised(1.0, 0.1),
                Reports::published(privacy(2.0, 1e-6)),
            ] {
                let best = class.risk(&reports, n).value.lower();
                let mut others =
                    vec![class.simple_risk(&reports, n).value, class.risk_with_signs(&reports, n)];
                others.extend(class.pure_risk(&reports, n).map(|bound| bound.value));
                for other in others {
                    assert!(best >= other.lower() * (1.0 - 1e-3), "{k} {n}: {best} {other}");
                }
                // The best possible without data is 1.
                assert!(best <= 1.0);
            }
        }
    }
    // Values of (LC) at φ = 1 − 1/e (E16).
    let papers = Reports::published(privacy(1.0, 0.0));
    for (n, k, value) in [
        (10, 1.5, 0.08503),
        (100, 1.5, 0.01850),
        (1000, 1.5, 0.003990),
        (10, 2.0, 0.05469),
        (1000, 4.0, 0.000582),
    ] {
        let ours = MomentClass::new(k).unwrap().risk(&papers, count(n)).value.lower();
        assert!((ours / value - 1.0).abs() < 2e-3, "{n} {k}: {ours} {value}");
    }
}

/// The largest risk of the unbiased estimate of a frequency from n randomised responses, over all frequencies.
fn risk_of_responses(n: u32, epsilon: f64) -> f64 {
    let flip = 1.0 / (1.0 + epsilon.exp());
    0.25 / (f64::from(n) * (1.0 - 2.0 * flip).powi(2))
}

#[test]
fn no_bound_exceeds_the_risk_of_a_mechanism_that_exists() {
    for n in [1, 3, 10, 100, 10_000] {
        for epsilon in [0.1, 0.5, 1.0, 2.0, 5.0] {
            let reports = promised(epsilon, 0.0);
            let records = count(n);
            // ±1 by randomised response, or the constant 0: the frequency of +1 is (1 + mean)/2.
            let mean = (4.0 * risk_of_responses(n, epsilon)).min(1.0);
            for k in [1.5, 2.0, f64::INFINITY] {
                // Numbers in [−1, 1] rounded to ±1 at random.
                let bound = MomentClass::new(k).unwrap().risk(&reports, records);
                if k == f64::INFINITY {
                    assert!(bound.value.lower() <= mean, "{n} {epsilon}: {bound:?} {mean}");
                }
            }
            let ball = Ball { radius: Positive::new(2.0).unwrap(), dimension: count(1) };
            for bound in ball.bounds(&reports, records) {
                assert!(bound.value.lower() <= 4.0 * mean, "{bound:?} {mean}");
            }
            let squared = Frequencies::new(2, FrequencyLoss::Squared).unwrap().assouad(&reports, records);
            let absolute = Frequencies::new(2, FrequencyLoss::Absolute).unwrap().assouad(&reports, records);
            assert!(squared.value.lower() <= (2.0 * risk_of_responses(n, epsilon)).min(0.5));
            assert!(absolute.value.lower() <= (2.0 * risk_of_responses(n, epsilon).sqrt()).min(1.0));
            // k-ary randomised response: Σ of the variances of unbiased estimates of all frequencies.
            for categories in [3_u32, 8] {
                let k = f64::from(categories);
                let (truth, lie) =
                    (epsilon.exp() / (epsilon.exp() + k - 1.0), 1.0 / (epsilon.exp() + k - 1.0));
                // Σ_i a_i(1 − a_i) with a_i = lie + (truth − lie)·p_i is largest for equal p.
                let variance = (1.0 - 1.0 / k) / (f64::from(n) * (truth - lie).powi(2));
                let bound =
                    Frequencies::new(categories, FrequencyLoss::Squared).unwrap().assouad(&reports, records);
                assert!(bound.value.lower() <= variance.min(1.0), "{bound:?} {variance}");
                let bound =
                    Frequencies::new(categories, FrequencyLoss::Absolute).unwrap().assouad(&reports, records);
                assert!(bound.value.lower() <= (k * variance).sqrt().min(2.0), "{bound:?} {variance}");
            }
        }
    }
    // Erasure, which refutes CED Corollary 2 (E16) and meets ours: E[1/N; N ≥ 1] + P(N = 0), N ~ Bin(n, ½).
    for n in [1_u32, 10, 100, 1000] {
        let risk = 4.0 / f64::from(n + 1) + 0.5f64.powi(n.cast_signed());
        let erasure = promised(0.0, 0.5);
        assert!(MomentClass::new(2.0).unwrap().risk(&erasure, count(n)).value.lower() <= risk);
    }
    // The estimate 0 refutes LDC Corollary 2 (E17) and meets ours, in any dimension.
    for dimension in [1, 16, 100, 5000] {
        let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(dimension) };
        for bound in ball.bounds(&promised(1e-3, 1e-9), count(1)) {
            assert!(bound.value.lower() <= 1.0, "{bound:?}");
        }
    }
}

#[test]
fn dimension_costs_under_pure_privacy() {
    let reports = promised(0.5, 0.0);
    let risk = |dimension: u32, n: u32| {
        let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(dimension) };
        ball.assouad(&reports, count(n)).value.lower()
    };
    // r²d/(n(e^ε − 1)²), for n(e^ε − 1)² ≥ 4d².
    for dimension in [1, 4, 20] {
        let rate = f64::from(dimension) / (1e6 * 0.5f64.exp_m1().powi(2));
        assert!(risk(dimension, 1_000_000) >= rate, "{dimension}: {} {rate}", risk(dimension, 1_000_000));
    }
    // More dimensions never make it easier.
    assert!(risk(1, 1000) <= risk(10, 1000) && risk(10, 1000) <= risk(1000, 1000));
    // Fano is no better here, and positive.
    let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(64) };
    let fano = ball.fano(&Reports::published(privacy(1.0, 0.0)), count(100)).value.lower();
    for entry in golden().iter().filter(|entry| entry["id"].as_str().unwrap().starts_with("fano/corrected")) {
        let (n, phi_n) = (number(entry, "n"), number(entry, "phi_n"));
        // The φ with this φ_n, rounded up.
        let phi = (1.0 - (1.0 - phi_n).powf(1.0 / n) + 1e-12).min(1.0);
        let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(number(entry, "k") as u32) };
        let ours = ball.fano(&Reports::published(privacy(0.0, phi)), count(n as u32)).value.lower();
        let value: f64 = entry["value"].as_str().unwrap().parse().unwrap();
        assert!(ours >= value, "{}: {ours} {value}", entry["id"]);
    }
    // The published packing, corrected: (r²w²/2k)·[1 − 16(1 + nwφ)·ln 2/k] at its best w.
    let corrected = (1..=100)
        .map(|i| f64::from(i) / 100.0)
        .map(|w| w * w / 128.0 * (1.0 - 16.0 * (1.0 + 100.0 * w) * std::f64::consts::LN_2 / 64.0));
    let corrected = corrected.fold(0.0, f64::max);
    assert!(fano >= corrected && fano > 0.0, "{fano} {corrected}");
}

/// The exact Bayes risk of the mean (rh/m)·v, r = 1, of a record that is ±1 times one of m axes, with the sign v_i with
/// probability (1 + h)/2, for uniform signs v, from n reports of randomised response on all 2d signed axes.
fn risk_of_signed_axes(rows: &[Vec<f64>], n: u32, m: usize, h: f64) -> f64 {
    let signs: Vec<Vec<f64>> = (0..1_usize << m)
        .map(|bits| (0..m).map(|i| if bits >> i & 1 == 1 { 1.0 } else { -1.0 }).collect())
        .collect();
    let outs: Vec<Vec<f64>> = signs
        .iter()
        .map(|v| {
            let mut law = vec![0.0; rows.len()];
            for (axis, sign) in v.iter().enumerate() {
                law[2 * axis] = (1.0 + h * sign) / (2.0 * m as f64);
                law[2 * axis + 1] = (1.0 - h * sign) / (2.0 * m as f64);
            }
            power(&pushed(&law, rows), n)
        })
        .collect();
    let known: f64 = (0..outs[0].len())
        .map(|z| {
            let total: f64 = outs.iter().map(|out| out[z]).sum();
            let of =
                |i: usize| outs.iter().zip(&signs).map(|(out, v)| v[i] * out[z]).sum::<f64>().powi(2) / total;
            (0..m).map(of).sum::<f64>() / signs.len() as f64
        })
        .sum();
    h * h / (m * m) as f64 * (m as f64 - known)
}

#[test]
fn no_bound_on_a_ball_exceeds_the_exact_risk_of_its_own_laws() {
    let dimension = 3;
    let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(dimension) };
    for epsilon in [0.3_f64, 1.0, 2.0, 4.0, 6.0] {
        let values = 2 * dimension as usize;
        let sum = epsilon.exp() + values as f64 - 1.0;
        let entry = |x: usize, z: usize| if x == z { epsilon.exp() / sum } else { 1.0 / sum };
        let rows: Vec<Vec<f64>> = (0..values).map(|x| (0..values).map(|z| entry(x, z)).collect()).collect();
        let kernel = FiniteKernel::new(rows.clone()).unwrap();
        for n in [1, 2, 4] {
            let risks = (1..=3).flat_map(|m| (1..=40).map(move |i| (m, f64::from(i) / 40.0)));
            let most = risks.map(|(m, h)| risk_of_signed_axes(&rows, n, m, h)).fold(0.0, f64::max);
            for reports in [promised(epsilon, 0.0), Reports::through(&kernel)] {
                for bound in ball.bounds(&reports, count(n)) {
                    assert!(bound.value.lower() <= 1.002 * most, "{epsilon} {n}: {bound:?} {most}");
                }
            }
        }
    }
}

#[test]
fn no_guess_among_several_laws_is_better_than_fano_allows() {
    let mut random = Random::new(7);
    for _ in 0..150 {
        let (rows, reports) = some_reports(&mut random, 3);
        let laws: Vec<Vec<f64>> = (0..2 + random.below(4)).map(|_| law(&mut random, 3)).collect();
        let family = Family::new(&laws.iter().map(|law| finite(law)).collect::<Vec<_>>()).unwrap();
        let most = laws.iter().flat_map(|p| laws.iter().map(|q| pair(p, q).kl().upper())).fold(0.0, f64::max);
        assert!(family.information().lower() <= most);
        for n in [1, 3] {
            let outs: Vec<Vec<f64>> = laws.iter().map(|law| power(&pushed(law, &rows), n)).collect();
            let right: f64 =
                (0..outs[0].len()).map(|z| outs.iter().map(|out| out[z]).fold(0.0, f64::max)).sum();
            let error = 1.0 - right / laws.len() as f64;
            for reports in &reports {
                let bound = family.error(reports, count(n));
                assert!(bound.value.lower() <= error + 1e-12, "{bound:?} {error}");
                let (information, _) = reports.reported_information(
                    count(n),
                    family.information(),
                    family.information() * Enclosure::from(f64::from(n)),
                );
                let usual = 1.0 - (information.upper() + 2f64.ln()) / (laws.len() as f64).ln();
                assert!(bound.value.lower() >= usual - 1e-9, "{bound:?} {usual}");
            }
        }
    }
}

#[test]
fn no_bayes_bound_exceeds_the_exact_bayes_risk() {
    let mut random = Random::new(8);
    let mut nearest: f64 = 0.0;
    for round in 0..50 {
        let (rows, reports) = some_reports(&mut random, 2);
        let parameters = 2 + random.below(3);
        let prior = law(&mut random, parameters);
        let laws: Vec<Vec<f64>> = (0..parameters).map(|_| law(&mut random, 2)).collect();
        let losses: Vec<Vec<f64>> = (0..parameters)
            .map(|theta| {
                (0..4)
                    .map(|a| {
                        if round % 3 == 0 {
                            f64::from(u8::from(theta != a))
                        } else {
                            (random.between(0.0, 3.0) * 8.0).round() / 8.0
                        }
                    })
                    .collect()
            })
            .collect();
        for n in [1, 2, 4] {
            let finite_laws: Vec<FiniteLaw> = laws.iter().map(|law| finite(law)).collect();
            let problem = BayesProblem::new(&finite(&prior), &finite_laws, &losses, count(n)).unwrap();
            let outs: Vec<Vec<f64>> = laws.iter().map(|law| power(&pushed(law, &rows), n)).collect();
            let given = |z: usize, a: usize| {
                (0..parameters).map(|t| prior[t] * outs[t][z] * losses[t][a]).sum::<f64>()
            };
            let risk: f64 =
                (0..outs[0].len()).map(|z| (0..4).map(|a| given(z, a)).fold(f64::MAX, f64::min)).sum();
            for reports in &reports {
                for bound in problem.risk(reports) {
                    assert!(bound.value.lower() <= risk + 1e-12, "{bound:?} {risk}");
                    nearest = nearest.max(bound.value.lower() / risk.max(1e-9));
                }
            }
            // Without privacy, equations 25 and 27.
            let outs: Vec<Vec<f64>> = laws.iter().map(|law| power(law, n)).collect();
            let given = |z: usize, a: usize| {
                (0..parameters).map(|t| prior[t] * outs[t][z] * losses[t][a]).sum::<f64>()
            };
            let risk: f64 =
                (0..outs[0].len()).map(|z| (0..4).map(|a| given(z, a)).fold(f64::MAX, f64::min)).sum();
            assert!(problem.risk_by_information(problem.information()).lower() <= risk + 1e-12);
            for gamma in [0.6, 1.0, 1.7, 4.0].map(|gamma| Gamma::new(gamma).unwrap()) {
                assert!(problem.risk_by_hockey_stick(Enclosure::ONE, gamma).lower() <= risk + 1e-12);
                // The information of the sequence is that of the counts.
                let cells: Vec<Vec<f64>> =
                    (0..parameters).map(|t| outs[t].iter().map(|p| prior[t] * p).collect()).collect();
                let of_sequence = dobrushin::divergence::gamma_information(&cells, gamma).unwrap();
                assert!(
                    (of_sequence.midpoint() - problem.hockey_stick_information(gamma).midpoint()).abs()
                        < 1e-12
                );
            }
        }
    }
    assert!(nearest > 0.9, "{nearest}");
}

/// The smallest error of the second kind at a level, by Neyman and Pearson.
pub(super) fn missed(p: &[f64], q: &[f64], level: f64) -> f64 {
    let possible = p.iter().copied().zip(q.iter().copied()).filter(|(p, q)| p + q > 0.0);
    let mut outcomes: Vec<(f64, f64)> = possible.collect();
    outcomes.sort_by(|(p, q), (r, s)| (s / r).total_cmp(&(q / p)));
    let (mut left, mut power) = (level, 0.0);
    for (p, q) in outcomes {
        let share = if p > 0.0 { (left / p).clamp(0.0, 1.0) } else { 1.0 };
        power += share * q;
        left -= share * p;
    }
    1.0 - power
}

#[test]
fn no_test_misses_less_than_the_bounds() {
    let mut random = Random::new(9);
    let mut wins = [false; 3];
    for _ in 0..150 {
        let inputs = 2 + random.below(2);
        let (rows, reports) = some_reports(&mut random, inputs);
        let (p, q) = (law(&mut random, inputs), law(&mut random, inputs));
        let testing = Testing::new(pair(&p, &q));
        for n in [1, 3, 5] {
            let (a, b) = (power(&pushed(&p, &rows), n), power(&pushed(&q, &rows), n));
            for level in [0.01, 0.1, 0.4] {
                let error = missed(&a, &b, level);
                let alpha = Probability::new(level).unwrap();
                for reports in &reports {
                    let bounds = testing.missed(reports, count(n), alpha);
                    for bound in &bounds {
                        assert!(bound.value.lower() <= error + 1e-12, "{bound:?} {error}");
                    }
                    for (won, id) in wins.iter_mut().zip(["testing-renyi", "testing-kl", "testing-affinity"])
                    {
                        *won |= bounds[0].id == id;
                    }
                    // With these errors, so many records are enough.
                    if error > 1e-9 && error + level < 0.999 {
                        let beta = Probability::new(error).unwrap();
                        let needed = testing.records_needed(reports, alpha, beta).unwrap();
                        assert!(needed.lower() <= f64::from(n) * (1.0 + 1e-9), "{needed} {n}");
                    }
                }
            }
        }
    }
    assert_eq!(wins, [true; 3]);
}

#[test]
fn orders_above_two_contract_as_total_variation_does() {
    let (p, q) = ([0.5, 0.5], [0.4, 0.6]);
    let testing = Testing::new(pair(&p, &q));
    let (tanh, level) = (0.5f64.tanh(), 0.5_f64);
    let ln_bound = |s: f64, n: f64| {
        let moment: f64 = p.iter().zip(&q).map(|(p, q): (&f64, &f64)| p.powf(s) * q.powf(1.0 - s)).sum();
        let eta = if s <= 2.0 { tanh * tanh } else { tanh };
        -n / (s - 1.0) * (eta * (moment - 1.0)).ln_1p() - s / (s - 1.0) * (1.0 / (1.0 - level)).ln()
    };
    let mut above_two = false;
    for n in [1, 3, 10, 100, 1000] {
        let bounds = testing.missed(&promised(1.0, 0.0), count(n), Probability::new(level).unwrap());
        let ours = bounds.iter().find(|bound| bound.id == "testing-renyi").unwrap();
        let orders = (1..4000).map(|i| 1.0 + 1e-4 * (f64::from(i) / 300.0).exp()).filter(|s| *s < 50.0);
        let best = orders.map(|s| ln_bound(s, f64::from(n))).fold(f64::NEG_INFINITY, f64::max);
        assert!((ours.value.lower().ln() - best).abs() < 1e-4, "{n}: {ours:?} {best}");
        above_two |= ours.coefficient == Coefficient::TotalVariation;
    }
    assert!(above_two);
    // The smaller coefficient would be wrong there: it is not that of order 8.
    let mut random = Random::new(12);
    let exceeded = (0..2000).any(|_| {
        let rows = channel(&mut random, 2, 2);
        let eta =
            FiniteKernel::proportional_to(rows.clone()).unwrap().chi_squared_contraction().value.upper();
        let (p, q) = (law(&mut random, 2), law(&mut random, 2));
        let moment =
            |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| p.powi(8) * q.powi(-7)).sum::<f64>() - 1.0;
        let before = moment(&p, &q);
        before.is_finite() && moment(&pushed(&p, &rows), &pushed(&q, &rows)) > 1.001 * eta * before + 1e-9
    });
    assert!(exceeded);
}

#[test]
fn the_exponent_is_the_limit_of_the_bounds() {
    let testing = Testing::new(pair(&[0.3, 0.7], &[0.6, 0.4]));
    let reports = promised(1.0, 0.0);
    let exponent = testing.exponent(&reports).midpoint();
    let level = Probability::new(0.1).unwrap();
    let best = |n: u32| testing.missed(&reports, count(n), level)[0].value.lower();
    // −ln β/n falls to η·KL.
    let rates = [100, 1000, 10_000].map(|n| -best(n).ln() / f64::from(n));
    assert!(rates[0] > rates[1] && rates[1] > rates[2] && rates[2] > exponent, "{rates:?} {exponent}");
    assert!(rates[2] < 1.1 * exponent);
    // Ten times the privacy-free number at η = 0.214 would be too many, twice is too few.
    let needed = testing.records_needed(&reports, level, level).unwrap();
    let free = testing.records_needed(&promised(40.0, 0.0), level, level).unwrap();
    assert!((needed.lower() / free.lower() - 1.0 / 0.2135).abs() < 0.1, "{needed} {free}");
    let refused = testing.records_needed(&reports, level, Probability::new(0.95).unwrap()).unwrap_err();
    assert_eq!(refused.to_string(), "alpha + beta is 1.05, but it must be below 1");
}

#[test]
fn a_summary_has_every_bound_the_best_first_and_each_has_a_statement() {
    let level = Probability::new(0.05).unwrap();
    let ball = Ball { radius: Positive::new(1.0).unwrap(), dimension: count(10) };
    let tasks = [
        (Task::Mean(MomentClass::new(2.0).unwrap()), 3),
        (Task::BallMean(ball), 3),
        (Task::Testing(Testing::new(pair(&[0.5, 0.5], &[0.2, 0.8])), level), 3),
        (Task::Frequencies(Frequencies::new(10, FrequencyLoss::Absolute).unwrap()), 1),
    ];
    for (task, bounds) in tasks {
        let summary = task.bounds(&promised(1.0, 0.0), count(1000));
        assert_eq!(summary.bounds.len(), bounds);
        assert!(summary.bounds.is_sorted_by(|a, b| a.value.lower() >= b.value.lower()));
        assert!(summary.bounds.iter().all(|bound| statement::find(bound.id).is_some()));
        assert!(summary.bounds[0].value.lower() > 0.0);
        assert!((summary.effective_records.midpoint() - 213.55).abs() < 0.01);
        assert!(summary.information.upper() < summary.total_variation.lower());
        assert!(summary.total_variation.upper() < summary.published.unwrap().lower());
    }
    for id in [
        "two-point-pinsker",
        "two-point-bretagnolle-huber",
        "two-point-affinity",
        "two-point-side-by-side",
        "fano",
        "bayes-information",
        "bayes-hockey-stick",
        "shuffle",
        "local-contraction",
        "local-information",
    ] {
        assert!(statement::find(id).is_some(), "{id}");
    }
    for (place, one) in statement::LOCAL.iter().enumerate() {
        assert_eq!(statement::find(one.id), Some(one));
        assert!(one.notes.is_none() && !one.assumptions.is_empty() && !one.source.is_empty());
        assert!(statement::LOCAL[..place].iter().all(|other| other.id != one.id));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |error: dobrushin::Error| error.to_string();
    assert_eq!(refused(MomentClass::new(1.0).unwrap_err()), "moments is 1, but it must be above 1");
    assert_eq!(
        refused(Frequencies::new(1, FrequencyLoss::Squared).unwrap_err()),
        "categories is 1, but it must be 2 or more"
    );
    assert!(refused(Loss::power(0.5).unwrap_err()).starts_with("the power of a metric is 0.5"));
    assert!(refused(Family::new(&[finite(&[0.5, 0.5])]).unwrap_err()).contains("second law"));
    let laws = [finite(&[0.5, 0.5]), finite(&[0.1, 0.9])];
    let problem =
        |losses: &[Vec<f64>], n: u32| BayesProblem::new(&finite(&[0.5, 0.5]), &laws, losses, count(n));
    assert!(problem(&[vec![0.0, 1.0], vec![1.0]], 1).is_err());
    assert!(problem(&[vec![0.0, f64::NAN], vec![1.0, 0.0]], 1).is_err());
    assert!(problem(&[vec![0.0, 1.0], vec![1.0, 0.0]], 1_000_000).is_err());
    assert!(problem(&[vec![], vec![]], 1).is_err());
}
