//! The examples give what they are known to give.

mod support;

use support::{bounds, json};

/// Equal to six digits.
fn assert_six_digits(name: &str, ours: f64, known: f64) {
    assert!((ours / known - 1.0).abs() < 1e-6, "{name}: {ours} is not {known}");
}

#[test]
fn every_example_has_its_guarantee() {
    for (name, analysis, asked, known) in [
        ("dp-sgd", "composition", "epsilon", 2.345_098_9),
        ("mechanisms", "composition", "epsilon", 4.871_691_7),
        ("pnsgd", "composition", "epsilon", 1.993_091_4),
        ("projected-dp-sgd", "recursion", "epsilon", 2.280_355_82e-4),
        ("regularised-dp-sgd", "recursion", "epsilon", 8.848_450_04e-4),
        ("noisy-gd", "shift", "epsilon", 2.557_621_79),
        ("stop-pnsgd", "contraction", "delta", 7.262_404_97e-7),
        ("public-tail", "contraction", "epsilon", 0.232_413_385),
        ("online", "composition", "epsilon", 1.554_981_69),
        ("chain", "hybrid", "epsilon", 1.232_293_36),
    ] {
        let answer = json(&["account", &format!("examples/{name}.toml")]);
        assert_eq!(answer["guarantee"]["analysis"], analysis, "{name}");
        assert_six_digits(name, bounds(&answer["guarantee"][asked]).1, known);
    }
}

/// No example is left out of the list above.
#[test]
fn every_run_file_is_tested() {
    let folder = std::fs::read_dir(support::root().join("examples")).expect("there are examples");
    let runs = folder.filter(|entry| {
        let path = entry.as_ref().expect("it can be read").path();
        path.extension().is_some_and(|extension| extension == "toml")
    });
    assert_eq!(runs.count(), 10);
}

/// ε of one Gaussian step with neighbours this many standard deviations apart, exactly or by its Rényi divergences.
fn one_gaussian(ratio: f64, analysis: &str) -> f64 {
    let noise = format!("noise-multiplier={}", 2.0 / ratio);
    let arguments = ["account", "examples/noisy-gd.toml", "--set", "steps=1", "--set", &noise];
    let answer = json(&[&arguments[..], &["--analyses", analysis]].concat());
    bounds(&answer["guarantee"]["epsilon"]).1
}

#[test]
fn hidden_steps_amount_to_one_gaussian_step_worked_out_by_hand() {
    // Steps 0.1 apart that contract by c = 0.95 forget: μ² = 0.01·(1 + c)/(1 − c)·(1 − c^T)/(1 + c^T).
    let (c, power) = (0.95_f64, 0.95_f64.powi(1000));
    let contracting = 0.1 * ((1.0 + c) / (1.0 - c) * (1.0 - power) / (1.0 + power)).sqrt();
    // One use 0.5 apart, spread over its own noise and that of twenty public steps.
    let spread = 0.5 / 21_f64.sqrt();
    for (name, mu) in [("noisy-gd", contracting), ("public-tail", spread)] {
        for (hidden, published) in [("shift", "composition"), ("shift-renyi", "composition-renyi")] {
            let answer = json(&["account", &format!("examples/{name}.toml"), "--analyses", hidden]);
            let epsilon = bounds(&answer["guarantee"]["epsilon"]).1;
            assert_six_digits(name, epsilon, one_gaussian(mu, published));
        }
    }
}

#[test]
fn any_number_of_projected_steps_has_the_limit_of_the_paper() {
    let theta = json(&["divergence", "gaussian", "--distance", "3.04", "--sigma", "1", "--epsilon", "1"]);
    let theta = bounds(&theta["points"][0]["delta"]).1;
    let limit = 0.001 * theta / (1.0 - 0.999 * theta);
    let arguments = ["account", "examples/projected-dp-sgd.toml", "--epsilon", "1", "--analyses"];
    let answer = json(&[&arguments[..], &["nonconvex-published"]].concat());
    assert_six_digits("projected-dp-sgd", bounds(&answer["guarantee"]["delta"]).1, limit);
}
