//! The Bayes risk of a coin's bias: golden values of CED Example 5, Remark 2 and Figure 1, and bounds that hold.

use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_local::{Coins, LocalPrivacy};
use dobrushin_reference::golden;
use serde_json::Value;
use std::num::NonZeroU32;

const TOLERANCE: f64 = 1e-10;

fn number(entry: &Value, name: &str) -> f64 {
    match &entry["params"][name] {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_f64().unwrap_or_else(|| panic!("{}: no {name}", entry["id"])),
    }
}

fn coins(n: u32) -> Coins {
    Coins::new(NonZeroU32::new(n).unwrap())
}

fn privacy(entry: &Value) -> LocalPrivacy {
    LocalPrivacy {
        epsilon: Epsilon::new(number(entry, "eps")).unwrap(),
        delta: Delta::new(number(entry, "delta")).unwrap(),
    }
}

fn level(entry: &Value) -> Gamma {
    Gamma::from_epsilon(number(entry, "eps")).unwrap()
}

fn ours(entry: &Value) -> Option<Enclosure> {
    let parts: Vec<&str> = entry["id"].as_str().unwrap().split('/').collect();
    let tosses = || coins(number(entry, "n") as u32);
    let published = || privacy(entry).published(number(entry, "n") as u32);
    Some(match parts[..2] {
        ["000_ex5", "I"] => tosses().information(),
        ["000_rem2", "I"] => coins(1).information(),
        ["000_ex5", "I_gamma"] => tosses().hockey_stick_information(level(entry)),
        ["000_rem2", "I_gamma"] => {
            coins(1).hockey_stick_information(Gamma::new(number(entry, "gamma")).unwrap())
        }
        ["000_rem2", "eq25"] => coins(1).risk_by_information(coins(1).information()),
        ["000_rem2", "eq27"] => coins(1).risk_by_best_hockey_stick(Enclosure::ONE),
        ["000_fig1", "thm4"] => tosses().risk_by_hockey_stick(published(), level(entry)),
        ["000_fig1", "thm4_n1_delta"] => {
            coins(1).risk_by_hockey_stick(Enclosure::from(number(entry, "delta")), level(entry))
        }
        ["000_fig1", "thm4_free_gamma"] => tosses().risk_by_best_hockey_stick(published()),
        ["000_fig1", "cor3"] => tosses().risk_by_information(published() * tosses().information()),
        ["ldp", "phi"] => privacy(entry).published(1),
        ["ldp", "phi_n"] => published(),
        ["ldp", "phi_sym"] => privacy(entry).total_variation(),
        ["ldp", "eta_kl_rr"] => {
            let epsilon = Epsilon::new(number(entry, "eps")).unwrap();
            LocalPrivacy { epsilon, delta: Delta::new(0.0).unwrap() }.information()
        }
        _ => return None,
    })
}

#[test]
fn golden_values_are_matched() {
    let mut compared = 0;
    for entry in golden() {
        let value: f64 = entry["value"].as_str().unwrap().parse().unwrap();
        let Some(ours) = ours(&entry) else { continue };
        // I_γ of 1e-30 is a difference of numbers near 1.
        let room = TOLERANCE * value.abs().max(1e-6);
        assert!(
            (ours.midpoint() - value).abs() <= room && ours.width() <= 2.0 * room,
            "{}: {ours} {value:e}",
            entry["id"]
        );
        let largest_at_one_gamma =
            entry["id"].as_str().unwrap().contains("free") || entry["id"] == "000_rem2/eq27";
        assert!(
            largest_at_one_gamma || (ours.lower() <= value && value <= ours.upper()),
            "{}: {ours}",
            entry["id"]
        );
        compared += 1;
    }
    assert_eq!(compared, 18 + 142 + 3 + 3 + 16 + 14 + 6 + 4 + 19 + 114 + 27 + 3);
}

/// E|Θ − median| after the reports of n people by randomised response, exactly: the number of reported heads is
/// binomial with rate f + Θ(1 − 2f), and the best estimate is the median of Θ given that number.
fn risk_of_randomised_response(n: u32, epsilon: f64) -> f64 {
    const STEPS: usize = 20_000;
    let flip = 1.0 / (1.0 + epsilon.exp());
    let places: Vec<f64> = (0..STEPS).map(|i| (i as f64 + 0.5) / STEPS as f64).collect();
    let mut choose = 1.0;
    let mut risk = 0.0;
    for heads in 0..=n {
        let weights: Vec<f64> = places
            .iter()
            .map(|theta| {
                let rate = flip + theta * (1.0 - 2.0 * flip);
                choose * rate.powi(heads as i32) * (1.0 - rate).powi((n - heads) as i32) / STEPS as f64
            })
            .collect();
        let half = weights.iter().sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let median = places.iter().zip(&weights).find(|(_, weight)| {
            sum += **weight;
            sum >= half
        });
        let median = median.unwrap().0;
        risk +=
            places.iter().zip(&weights).map(|(place, weight)| weight * (place - median).abs()).sum::<f64>();
        choose *= f64::from(n - heads) / f64::from(heads + 1);
    }
    risk
}

#[test]
fn no_bound_exceeds_the_risk_of_randomised_response() {
    let mut nearest: f64 = 0.0;
    for n in [1, 2, 5, 20] {
        for epsilon in [0.01, 0.1, 0.5, 1.0, 2.0, 4.0] {
            let privacy =
                LocalPrivacy { epsilon: Epsilon::new(epsilon).unwrap(), delta: Delta::new(0.0).unwrap() };
            let bound = coins(n).risk(privacy).lower();
            let risk = risk_of_randomised_response(n, epsilon);
            assert!(bound < risk, "{n} {epsilon}: {bound} against {risk}");
            nearest = nearest.max(bound / risk);
        }
    }
    // With no privacy loss nothing is learnt: the risk of a guess is 1/4, the bound 1/8.
    assert!((0.45..0.55).contains(&nearest), "{nearest}");
}

#[test]
fn the_best_coefficients_never_weaken_the_papers_bounds() {
    for n in [1, 3, 20] {
        for epsilon in [0.0, 0.1, 1.0, 3.0] {
            for delta in [0.0, 1e-4, 0.1] {
                let privacy = LocalPrivacy {
                    epsilon: Epsilon::new(epsilon).unwrap(),
                    delta: Delta::new(delta).unwrap(),
                };
                let published = privacy.published(n);
                let theorem = coins(n).risk_by_hockey_stick(published, Gamma::from_epsilon(epsilon).unwrap());
                let corollary = coins(n).risk_by_information(published * coins(n).information());
                let best = coins(n).risk(privacy);
                assert!(best.upper() >= theorem.lower() && best.upper() >= corollary.lower());
                assert!(privacy.total_variation().lower() <= privacy.published(1).upper());
                assert!(privacy.information().lower() <= privacy.total_variation().upper());
            }
        }
    }
}
