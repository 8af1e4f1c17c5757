//! The papers' curves as the figures draw them, at the parameters of the reference values.
//!
//! `cargo test -p dobrushin-cli -- golden --nocapture` prints the largest difference for each figure.

use super::curves::{analysis, run};
use super::published::OnePass;
use super::{nonconvex, one_pass, regularised, stopped};
use dobrushin::analysis::nonconvex_epsilon_closed_form;
use dobrushin::{Delta, Epsilon, Gamma, Probability};
use dobrushin_local::{Coins, LocalPrivacy};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

struct Entry(Value);

impl Entry {
    fn parts(&self) -> Vec<&str> {
        self.0["id"].as_str().expect("an id").split('/').collect()
    }

    fn number(&self, name: &str) -> f64 {
        match &self.0["params"][name] {
            Value::String(text) => text.parse().expect("a number"),
            number => number.as_f64().unwrap_or_else(|| panic!("{:?} has no {name}", self.parts())),
        }
    }

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(self.number("eps")).expect("valid")
    }

    fn delta(&self) -> Delta {
        Delta::new(self.number("delta")).expect("valid")
    }

    fn value(&self) -> f64 {
        self.0["value"].as_str().expect("a decimal").parse().expect("a number")
    }
}

fn entries() -> Vec<Entry> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/golden.json");
    let text = std::fs::read_to_string(path).expect("the reference values are there");
    let Value::Array(entries) = serde_json::from_str(&text).expect("JSON") else { panic!("no list") };
    entries.into_iter().map(Entry).collect()
}

/// The figure's value at the parameters of an entry; `None` if it does not draw this.
fn drawn(entry: &Entry) -> Option<f64> {
    let parts = entry.parts();
    match parts[0] {
        "000_fig1" => bayes(entry, parts[1]),
        "000_fig3" => random_stop(entry, parts[1], parts.get(2) == Some(&"H_n")),
        "001_fig2" => index(entry, parts[1], &one_pass::CONVEX),
        "001_fig3" => index(entry, parts[1], &one_pass::STRONGLY_CONVEX),
        "004_fig1" => projected(entry, parts[1]),
        "004_fig2" if parts[2] == "printed" => {
            let dimension = NonZeroU32::new(entry.number("d") as u32).expect("positive");
            let setting = regularised::setting(entry.number("lam"), dimension);
            Some(setting.delta_at(entry.number("kappa"), entry.number("T") as u32, entry.epsilon()))
        }
        "004_fig3" => {
            let rate = Probability::new(nonconvex::PROBABILITY).expect("valid");
            let ratio = nonconvex::ratio().expect("valid");
            Some(nonconvex_epsilon_closed_form(ratio, rate, entry.delta()).midpoint())
        }
        _ => None,
    }
}

fn bayes(entry: &Entry, kind: &str) -> Option<f64> {
    let tosses = entry.number("n") as u32;
    let coins = Coins::new(NonZeroU32::new(tosses).expect("positive"));
    let privacy = LocalPrivacy { epsilon: entry.epsilon(), delta: entry.delta() };
    let contraction = privacy.published(tosses);
    let risk = match kind {
        "thm4" => {
            coins.risk_by_hockey_stick(contraction, Gamma::from_epsilon(entry.number("eps")).expect("valid"))
        }
        "cor3" => coins.risk_by_information(contraction * coins.information()),
        "thm4_free_gamma" => coins.risk_by_best_hockey_stick(contraction),
        _ => return None,
    };
    Some(risk.midpoint())
}

fn random_stop(entry: &Entry, kind: &str, corrected: bool) -> Option<f64> {
    let sigma = entry.number("sigma");
    if corrected {
        return None;
    }
    match kind {
        "rho" => Some(stopped::setting(0.1, sigma).rho()),
        "alpha_star" => Some(stopped::setting(0.1, sigma).largest_order()),
        "delta_hat" => Some(stopped::setting(0.1, sigma).stopped_by_mironov(entry.epsilon())),
        "delta_check" => Some(stopped::setting(0.1, sigma).stopped_by_asoodeh(entry.epsilon())),
        "eq35" | "eq36" => {
            Some(stopped::setting(entry.number("eta"), sigma).stopped(kind == "eq36", entry.epsilon()))
        }
        "eq36_finite" => {
            let run =
                run(&stopped::as_run_file(&stopped::setting(entry.number("eta"), sigma))).expect("a run");
            Some(
                analysis(&run, "random-stop-published")
                    .expect("it applies")
                    .delta(entry.epsilon())
                    .midpoint(),
            )
        }
        _ => None,
    }
}

fn index(entry: &Entry, kind: &str, setting: &OnePass) -> Option<f64> {
    let index = || entry.number("i") as u64;
    match kind {
        "M" => Some(setting.factor()),
        "prop1_kappa" => Some(setting.kappa(index())),
        "prop1_delta" => Some(setting.ln_renyi(index(), entry.epsilon()).exp()),
        "thm4_delta" => Some(setting.ln_contraction(index(), entry.epsilon()).exp().midpoint()),
        // For strongly convex losses, a sharper factor is drawn.
        "gdp_delta" if setting.strong_convexity == 0.0 => {
            let run = run(&one_pass::as_run_file(setting, index())).expect("a run");
            Some(analysis(&run, "shift").expect("it applies").delta(entry.epsilon()).midpoint())
        }
        _ => None,
    }
}

fn projected(entry: &Entry, kind: &str) -> Option<f64> {
    let run = match entry.0["params"]["T"].as_str() {
        Some("inf") => nonconvex::for_ever(),
        _ => nonconvex::at(entry.number("T") as u64),
    };
    let profile = analysis(&run.expect("a run"), "nonconvex-published").expect("it applies");
    let value = if kind == "delta" { profile.delta(entry.epsilon()) } else { profile.epsilon(entry.delta()) };
    Some(value.midpoint())
}

/// Each figure is compared with this many values.
const COUNTS: [(&str, usize); 7] = [
    ("000_fig1", 34),
    ("000_fig3", 79),
    ("001_fig2", 73),
    ("001_fig3", 39),
    ("004_fig1", 31),
    ("004_fig2", 31),
    ("004_fig3", 3),
];

#[test]
fn the_figures_agree_with_the_reference_values() {
    let mut largest: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for entry in entries() {
        let Some(ours) = drawn(&entry) else { continue };
        let value = entry.value();
        let difference = if value == 0.0 { ours.abs() } else { (ours / value - 1.0).abs() };
        assert!(difference <= 1e-10, "{:?}: {ours:e} is not {value:e}", entry.parts());
        let (count, most) = largest.entry(entry.parts()[0].to_owned()).or_default();
        (*count, *most) = (*count + 1, most.max(difference));
    }
    for (figure, (count, difference)) in &largest {
        println!("{figure}: {count} values, largest relative difference {difference:.1e}");
    }
    let counts: Vec<(&str, usize)> =
        largest.iter().map(|(figure, (count, _))| (figure.as_str(), *count)).collect();
    assert_eq!(counts, COUNTS);
}

/// What E1 says about the printed curve and the corrected one.
#[test]
fn the_published_curve_of_regularised_runs_is_too_low() {
    let setting = regularised::setting(0.65, NonZeroU32::MIN);
    let epsilon = Epsilon::new(5.0).expect("valid");
    for (steps, printed, corrected) in [(5, 4.08e-4, 3.27e-3), (20, 5.71e-4, 1.27e-2), (50, 6.50e-4, 2.00e-2)]
    {
        let run = regularised::at(&setting, u64::from(steps)).expect("a run");
        let ours = analysis(&run, "regularized-published").expect("it applies").delta(epsilon).upper();
        assert!((setting.delta(steps, epsilon) / printed - 1.0).abs() < 5e-3, "{steps}");
        assert!((ours / corrected - 1.0).abs() < 5e-3, "{steps}: {ours}");
    }
}

/// The drawn points themselves, as they are written to files.
#[test]
fn the_points_of_a_figure_are_those_values() {
    let plot = one_pass::figure_2(39).expect("it is drawn");
    let text = plot.points().text();
    let mut found = 0;
    for entry in entries() {
        if entry.0["id"].as_str().is_some_and(|id| id.starts_with("001_fig2/thm4_delta/i=39/")) {
            let start = format!("\"Theorem 4, published\",{},", entry.number("eps"));
            let line = text.lines().find_map(|line| line.strip_prefix(&start));
            let value: f64 =
                line.unwrap_or_else(|| panic!("no {start} in {text}")).parse().expect("a number");
            assert!((value / entry.value() - 1.0).abs() < 1e-10);
            found += 1;
        }
    }
    assert!(found >= 5, "{found}");
}
