//! The numbers of docs/results.md from other sources: the golden file, the counterexamples of docs/errata.md, closed forms in
//! arbitrary precision or in plain arithmetic, and a few that were computed by other programs, to all digits that are given.

use crate::support::root;
use dobrushin_reference::{chi_square_sf, golden as golden_file, ln_gamma};
use std::collections::BTreeMap;

/// Every number, by the paper and the number in it.
pub fn all() -> BTreeMap<(&'static str, &'static str), f64> {
    let golden_values: BTreeMap<String, f64> = golden_file()
        .iter()
        .map(|entry| {
            let text = |key: &str| entry[key].as_str().expect("text").to_owned();
            (text("id"), text("value").parse().expect("a number"))
        })
        .collect();
    let golden = |id: &str| *golden_values.get(id).unwrap_or_else(|| panic!("no golden value {id}"));
    let errata =
        std::fs::read_to_string(root().join("docs/errata.md")).expect("it is part of the repository");
    // A number that an erratum has.
    let erratum = |number: &str| -> f64 {
        assert!(errata.contains(number), "no erratum has {number}");
        number.parse().expect("a number")
    };
    let (e, half) = (1f64.exp(), 0.5f64.tanh());
    // η_KL of the promise (1, δ).
    let eta = |delta: f64| delta + (1.0 - delta) * half * half;
    // Two Gaussians at distance r, at δ = 1e-5.
    let gaussian = |r: f64| epsilon_at(1e-5, |epsilon| theta(epsilon, r));
    let binary = ((0.9f64 * 0.6).sqrt() - (0.4f64 * 0.1).sqrt()).powi(2);
    let channel = 0.7 - 0.1 * e;
    let simple = |power: f64| 0.25 * (2.0 * 20.0 * eta(0.0)).powf(-power);
    let affinity = |contracted: &dyn Fn(f64, f64) -> f64| {
        largest(|w| largest(|h| w * h * h * (1.0 - contracted(w, h)).powi(40)))
    };
    let hellinger = |h: f64| 1.0 - (1.0 - h * h).sqrt();
    let pure = |w: f64, h: f64| {
        (eta(0.0) * w * hellinger(h)).min(0.5 * ((1.0 + (e - 1.0) * w * h).sqrt() - 1.0).powi(2))
    };
    let rate = |t: u32| 0.5 / f64::from(t).sqrt();
    // The learning rates are 0.5/√t, and the noise of a step is five times its rate.
    let online_product = |from: u32, to: u32, diameter: f64, epsilon: f64| -> f64 {
        (from..=to).map(|t| theta(epsilon, diameter / (5.0 * rate(t)))).product()
    };
    // The sum over the stopping times, for one record after another from the last to the first.
    let online_sums = (2..=200).rev().scan(1.0, |sum, t| {
        *sum = 1.0 + online_product(t, t, 1.0, 1.0) * *sum;
        Some(*sum)
    });
    let online_stop = theta(1.0, 0.4) * online_sums.fold(1.0, f64::max) / 200.0;
    let online_record =
        |i: u32| 2.0 * rate(i) / (5.0 * (i..=200).map(|t| rate(t).powi(2)).sum::<f64>().sqrt());
    let stopped = |width: f64| {
        let later = theta(1.0, width);
        theta(1.0, 2.0 / 3.0) / 100.0 * (0..100).map(|j| later.powi(j)).sum::<f64>()
    };
    let projected = |epsilon: f64| {
        let theta = theta(epsilon, 3.04);
        1e-3 * theta / (1.0 - 0.999 * theta)
    };
    // Rényi curves α·k, converted exactly at the best order, by a search over orders and coins in another program.
    let renyi_half = 0.214_911_1;
    let renyi_stop = 0.001_522_706;
    let chain = epsilon_at(1e-5, |epsilon| theta(epsilon, 3.5) * theta(epsilon, 3.0).powi(10));
    // 10,000 records, 10 dimensions, L = R = 1, at (1, 1e-5).
    let sigma = where_it_ends(1.0, 20.0, |sigma| theta(1.0, 2.0 / sigma) > 1e-5);
    let square = 1.0 + 10.0 * sigma * sigma;
    let classical = 1.25e5f64.ln();
    let printed_risk = (1.0 + 80.0 * classical).sqrt();
    let roots = (1..=10_000).map(|t| f64::from(t).sqrt().recip()).sum::<f64>();
    // The regret of the rates 0.059884293/√t, which the program chooses.
    let regret =
        (4.0 / (2.0 * 0.000_598_842_93) + 0.5 * 0.059_884_293 * (square * (roots - 0.01) + 0.01)) / 1e4;
    let length_in_ten = 2f64.sqrt() * (ln_gamma(5.5).to_f64() - ln_gamma(5.0).to_f64()).exp();
    // The laws of CED, Example 2, and five records of each.
    let divergence = kullback_leibler(0.9, 0.6);
    let pinsker = |contraction: f64| 0.5 * (1.0 - (5.0 * contraction * divergence / 2.0).sqrt());
    let affinity_of_five = (0.54f64.sqrt() + 0.04f64.sqrt()).powi(5);
    let side_by_side = 0.5 * (1.0 - (1.0 - (-5f64).exp()) * (1.0 - affinity_of_five.powi(2)).sqrt());
    let phi = golden("ldp/phi/eps=1/delta=0");
    let bits = 2f64.ln().recip();
    let told = 20.0 * eta(0.0) * town_information();
    let right = where_it_ends(1.0 / 3.0, 1.0, |p| kullback_leibler(p, 1.0 / 3.0) < told);
    let values = [
        (("CED", "Eq. 4"), binary),
        (("CED", "Eq. 5"), 0.5),
        (("CED", "Eq. 6, 7, 8"), 0.125),
        (("CED", "Theorem 2"), channel),
        (("CED", "Eq. 12"), 0.4),
        (("CED", "Lemma 1"), 0.4),
        (("CED", "Eq. 13"), binary),
        (("CED", "Lemma 3"), golden("theta/eps=1/r=1")),
        (("CED", "Definition 1"), erratum("4.4154e-24")),
        (("CED", "Remark 1"), golden("theta/eps=1/r=2")),
        (("CED", "Definition 2"), 7f64.ln()),
        (("CED", "Theorem 3"), 7f64.ln()),
        (("CED", "Eq. 18"), 0.25 * (4.0 / (20.0 * (e - 1.0).powi(2))).sqrt()),
        (("CED", "Example 3"), (e - 1.0) / (e + 3.0)),
        (("CED", "Eq. 19"), golden("ldp/phi/eps=1/delta=0")),
        (("CED", "Example 4"), simple(2.0 / 3.0)),
        (("CED", "Corollary 2"), simple(1.0)),
        (("CED", "Example 5"), golden("000_fig1/thm4/n=20/eps=2.5") / golden("000_fig1/cor3/n=20/eps=3")),
        (("CED", "Figure 1"), golden("000_fig1/thm4/n=20/eps=2") / golden("000_fig1/cor3/n=20/eps=3")),
        (("CED", "Definition 3"), gaussian(0.4)),
        (("CED", "Definition 4"), gaussian(online_record(100))),
        (("CED", "Remark 3"), theta(0.0, 0.4)),
        (("CED", "Eq. 30"), chain),
        (("CED", "Figure 2"), chain),
        (("CED", "Eq. 31"), golden("001_fig2/thm4_delta/i=39/eps=1")),
        (("CED", "Theorem 5"), theta(0.0, 0.4) * online_product(2, 200, 0.5, 0.0)),
        (("CED", "Algorithm 1"), online_stop),
        (("CED", "Theorem 6"), online_stop),
        (("CED", "Eq. 34"), golden("000_fig3/eq36_finite/eta=0.1/sigma=3/eps=1")),
        (("CED", "Algorithm 2"), stopped(1.0 / 0.3)),
        (("CED", "Corollary 5"), stopped(1.2 / 0.3)),
        (("CED", "Eq. 36"), golden("000_fig3/eq36_finite/eta=0.1/sigma=3/eps=1")),
        (("CED", "Lemma 6"), golden("rdp_to_dp/optimal/alpha=2/zeta=0.5/eps=1")),
        (("CED", "Eq. 37"), renyi_stop),
        (("CED", "Eq. 38"), erratum("0.9304")),
        (("CED", "Eq. 39"), golden("rdp_to_dp/optimal/alpha=2/zeta=0.5/eps=1")),
        (("CED", "Eq. 40"), gaussian(0.4)),
        (("CED", "Eq. 47"), 0.5 * (1.0 - (0.5 * (2f64.ln() - 1.0)).exp())),
        (("PAC", "Eq. 2"), erratum("0.382925")),
        (("PAC", "Example 1"), 1.0 - (-0.25f64).exp()),
        (("PAC", "Example 2"), golden("theta/eps=1/r=1")),
        (("PAC", "Eq. 4"), 0.5),
        (("PAC", "Theorem 1"), gaussian(1.0)),
        (("PAC", "Figure 1"), golden("001_fig2/thm4_delta/i=39/eps=1")),
        (("PAC", "Lemma 1"), golden("laplace_hs/eps=1/r=2")),
        (("PAC", "Lemma 2"), golden("theta/eps=1/r=1")),
        (("PAC", "Definition 1"), golden("theta/eps=1/r=2")),
        (("PAC", "Lemma 3"), golden("001_fig2/thm4_delta/i=39/eps=1")),
        (("PAC", "Algorithm 1"), golden("001_fig2/thm4_delta/i=40/eps=1")),
        (("PAC", "Eq. 13"), golden("001_fig2/thm4_delta/i=20/eps=1")),
        (("PAC", "Eq. 14"), theta(0.5, 2.0) * theta(0.5, 0.86 / 0.7)),
        (("PAC", "Theorem 3"), golden("001_thm3/i=39/eps=1")),
        (("PAC", "Theorem 4"), golden("001_fig2/thm4_delta/i=39/eps=1")),
        (("PAC", "Proposition 1"), renyi_half),
        (("PAC", "Theorem 5"), golden("001_fig2/thm5_delta_finite/eps=1")),
        (("LDC", "Eq. 1"), 0.125),
        (("LDC", "Eq. 2, 3"), binary),
        (("LDC", "Definition 1"), 7f64.ln()),
        (("LDC", "Theorem 1"), 7f64.ln()),
        (("LDC", "Example 1"), half),
        (("LDC", "Lemma 1"), golden("ldp/phi/eps=1/delta=0")),
        (("LDC", "Example 2"), simple(2.0 / 3.0)),
        (("LDC", "Corollary 1"), simple(1.0)),
        (("LDC", "Example 3"), largest(|h| h * h * (1.0 - eta(1e-4) * hellinger(h)).powi(40))),
        (("LDC", "Corollary 2"), 0.25 / (2.0 * 20.0 * eta(1e-4))),
        (("LDC", "Example 4"), golden("000_fig1/thm4/n=20/eps=2.5") / golden("000_fig1/cor3/n=20/eps=3")),
        (("LDC", "Figure 1"), golden("000_fig1/thm4/n=20/eps=2") / golden("000_fig1/cor3/n=20/eps=3")),
        (("LDC", "Theorem 3"), channel),
        (("LDC", "Eq. 28"), 0.125),
        (("LDC", "Eq. 29, 30"), 0.4),
        (("LDC", "Eq. 40"), affinity(&pure)),
        (("PAI", "Definition 2"), gaussian(0.5)),
        (("PAI", "Definition 3"), theta(1.0, 0.5 / 2f64.sqrt())),
        (("PAI", "Definition 4"), 1.44f64.ln()),
        (("PAI", "Definition 10"), 1.0),
        (("PAI", "Definition 11"), gaussian(0.5)),
        (("PAI", "Definition 12"), gaussian(0.5 / 11f64.sqrt())),
        (("PAI", "Lemma 14"), golden("rdp_to_dp/optimal/alpha=2/zeta=0.5/eps=1")),
        (("PAI", "Definition 16"), gaussian(0.1 * 39f64.sqrt())),
        (("PAI", "Proposition 17"), theta(1.0, 0.5 / 2f64.sqrt())),
        (("PAI", "Proposition 18"), theta(1.0, 0.5 / 2f64.sqrt())),
        (("PAI", "Definition 19"), gaussian(0.5 * 1.019f64.sqrt())),
        (("PAI", "Algorithm 1"), gaussian(0.5)),
        (("PAI", "Algorithm 2"), gaussian(0.5 * 1.019f64.sqrt())),
        (("NCV", "Eq. 1, 2"), golden("004_fig1/eps/T=inf/delta=1e-5")),
        (("NCV", "Eq. 3"), golden("004_fig1/eps/T=inf/delta=1e-5")),
        (("NCV", "Eq. 5"), projected(3.0)),
        (("NCV", "Figure 1"), golden("004_fig1/eps/T=10/delta=1e-3")),
        (("NCV", "Definition 1"), 0.125),
        (("NCV", "Definition 2"), gaussian(1.0)),
        (("NCV", "Eq. 6"), channel),
        (("NCV", "Eq. 7, 8"), chain),
        (("NCV", "Lemma 1"), chain),
        (("NCV", "Lemma 2"), theta(3.0, 3.04)),
        (("NCV", "Proposition 2"), golden("004_fig1/eps/T=1/delta=1e-5")),
        (("NCV", "Theorem 1"), golden("004_fig1/eps/T=10/delta=1e-3")),
        (("NCV", "Proposition 3"), golden("004_fig1/eps/T=1/delta=1e-5")),
        (("NCV", "Theorem 2"), golden("004_fig1/eps/T=10/delta=1e-3")),
        (("NCV", "Eq. 16, 17"), 0.5 * theta(1.0, 2.0)),
        (("NCV", "Figure 2"), regularised(5)),
        (("NCV", "Proposition 5"), 0.5 * theta(1.0, 2.0)),
        (("NCV", "Theorem 3"), regularised(20)),
        (("NCV", "Eq. 22"), golden("004_fig1/eps/T=inf/delta=1e-3")),
        (("CED", "Theorem 1"), erratum("0.148291")),
        (("CED", "Eq. 29"), regret),
        (("CED", "Proposition 2"), 0.03 + 0.0005 * sigma * sigma * 2.0 * roots),
        (("PAI", "Theorem 28"), 0.02 * ((9999.0 * square + 1.0) / 1e4).sqrt()),
        (("PAI", "Theorem 29"), 0.04 * printed_risk),
        (("PAI", "Theorem 30"), 0.04 * 2f64.sqrt() * printed_risk),
        (("PAI", "Corollary 31"), 0.04 * 2f64.sqrt() * (1.0 + 0.8 * classical).sqrt()),
        (("PAI", "Theorem 32"), 8.0 * 2f64.sqrt() * 1e5f64.ln()),
        (("PAI", "Theorem 33"), 0.000_598_842_820_5 * length_in_ten),
        (("PAI", "Corollary 34"), 0.04 * 2f64.sqrt() * (printed_risk + 10f64.sqrt() / (2.0 * classical))),
        (("PAI", "Lemma 27"), sigma),
        (("CED", "Eq. 20"), side_by_side),
        (("CED", "Eq. 21, 22"), pinsker(1.0)),
        (("CED", "Lemma 4"), pinsker(phi)),
        (("CED", "Lemma 5"), side_by_side),
        (("CED", "Eq. 25"), golden("000_rem2/eq25")),
        (("CED", "Corollary 3"), golden("000_fig1/cor3/n=20/eps=3")),
        (("CED", "Theorem 4"), golden("000_fig1/thm4_free_gamma/n=20/eps=2")),
        (("CED", "Remark 2"), 2.0 / 27.0),
        (("CED", "Corollary 4"), phi * divergence),
        (("LDC", "Lemma 2"), side_by_side),
        (("LDC", "Eq. 6, 7"), pinsker(1.0)),
        (("LDC", "Lemma 3"), pinsker(phi)),
        (("LDC", "Eq. 9"), 1.0 - right),
        (("LDC", "Lemma 4"), bits * 20.0 * phi * town_information()),
        (("LDC", "Eq. 15"), golden("000_rem2/eq25")),
        (("LDC", "Corollary 3"), golden("000_fig1/cor3/n=20/eps=3")),
        (("LDC", "Theorem 2"), golden("000_fig1/thm4_free_gamma/n=20/eps=2")),
        (("LDC", "Remark 1"), golden("000_rem2/eq27")),
        (("LDC", "Corollary 4"), phi * divergence),
        (("LDC", "Eq. 20"), bits * eta(0.0) * entropy(&[0.9, 0.1])),
        (("LDC", "Corollary 5"), bits * phi * entropy(&[0.9, 0.1])),
        (("CED", "Eq. 9"), erratum("0.175225887222398")),
        (("CED", "Eq. 14"), kullback_leibler(0.85, 0.7)),
        (("CED", "Lemma 2"), 1.0 - 0.3f64.powi(3)),
        (("CED", "Proposition 1"), golden("theta/eps=1/r=2")),
        (("CED", "Eq. 16"), golden("000_ex2/eq16")),
        (("CED", "Eq. 17"), 0.375),
        (("CED", "Corollary 1"), erratum("0.175225887222398")),
        (("CED", "Example 1"), golden("000_ex1/cor1")),
        (("CED", "Example 2"), erratum("0.175225887222398")),
        (("NCV", "Proposition 1"), theta(3.0, 3.04)),
        (("LDC", "Eq. 42"), binary),
        (("PAC", "Theorem 2"), golden("laplace_hs/eps=1/r=2")),
        (("PAI", "Theorem 1"), 2.0 * 9.0 / (2.0 * 4.0)),
        (("PAC", "Eq. 3"), 2.0 * 9.0 / (2.0 * 4.0)),
        (("PAI", "Proposition 5"), 10.0),
        (("PAI", "Definition 13"), 0.25 * 1.019),
        (("PAI", "Lemma 15"), 20.0 * 0.25),
        (("PAI", "Theorem 22"), 8.0 * 0.39 / 2.0),
        (("PAI", "Theorem 23"), golden("003_thm23/n=10/t=5/alpha=2")),
        (("PAI", "Theorem 24"), golden("003_thm23/n=10/t=10/alpha=2")),
        (("PAI", "Lemma 25"), golden("003_thm26/mixture/n=10/alpha=2")),
        (("PAI", "Theorem 26"), golden("003_thm26/mixture/n=10/alpha=2")),
        (("CED", "Theorem 7"), golden("003_thm26/mixture/n=10/alpha=2")),
        (("PAI", "Theorem 35"), golden("003_thm35/n=10/i=10/alpha=2")),
    ];
    let values_by_name = BTreeMap::from(values);
    assert_eq!(values_by_name.len(), values.len(), "a result is twice in the list");
    values_by_name
}

/// θ_ε(r) in arbitrary precision.
fn theta(epsilon: f64, r: f64) -> f64 {
    dobrushin_reference::theta(epsilon, r).to_f64()
}

/// The ε at which a δ that falls with ε is the given one.
fn epsilon_at(delta: f64, of: impl Fn(f64) -> f64) -> f64 {
    where_it_ends(0.0, 64.0, |epsilon| of(epsilon) > delta)
}

/// Where a condition that holds from the first number on holds no longer.
fn where_it_ends(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..50 {
        let middle = 0.5 * (from + to);
        *(if holds(middle) { &mut from } else { &mut to }) = middle;
    }
    to
}

/// The largest value of a function on a fine grid of (0, 1].
fn largest(of: impl Fn(f64) -> f64) -> f64 {
    (1..=1000).map(|k| of(f64::from(k) / 1000.0)).fold(0.0, f64::max)
}

/// Theorem 3 of NCV, corrected, in one dimension with the numbers of its Figure 2 (λ = 0.65): the least over a grid of κ.
fn regularised(steps: u32) -> f64 {
    let at = |kappa: f64| {
        let (mut height, mut radius) = (0.0, 0.0);
        for _ in 0..steps {
            let before = 0.35 * radius + 0.1;
            height = theta(5.0, 2.0 * before / 5.0) * (0.999 * height + 1e-3);
            radius = before + 5.0 * kappa;
        }
        let long = chi_square_sf(1, kappa * kappa).to_f64();
        (1.0 + 5f64.exp()) * -(f64::from(steps) * (-long).ln_1p()).exp_m1() + height
    };
    (0..=60).map(|k| at(5.0 + 0.05 * f64::from(k))).fold(f64::INFINITY, f64::min)
}

/// The divergence of one coin from another.
fn kullback_leibler(p: f64, q: f64) -> f64 {
    p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln()
}

/// The entropy of a law, in nats.
fn entropy(law: &[f64]) -> f64 {
    law.iter().map(|p| -p * p.ln()).sum()
}

/// How much one record tells about the town, with the laws of examples/problems/family.csv, in nats.
fn town_information() -> f64 {
    let towns = [[0.4, 0.3, 0.2, 0.1], [0.3, 0.4, 0.2, 0.1], [0.3, 0.3, 0.3, 0.1]];
    let mean = [0, 1, 2, 3].map(|x| towns.iter().map(|town| town[x]).sum::<f64>() / 3.0);
    entropy(&mean) - towns.iter().map(|town| entropy(town)).sum::<f64>() / 3.0
}
