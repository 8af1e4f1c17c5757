//! The examples give what they are known to give.

use crate::support::{bounds, dobrushin, json, root};
use serde_json::Value;
use std::fmt::Write;

/// Every run file of the folder, without its ending.
fn examples() -> Vec<String> {
    let folder = std::fs::read_dir(root().join("examples")).expect("there are examples");
    let names = folder.map(|entry| entry.expect("it can be read").file_name().into_string().expect("UTF-8"));
    let mut runs: Vec<String> = names.filter_map(|n| n.strip_suffix(".toml").map(str::to_owned)).collect();
    runs.sort();
    runs
}

/// What `account` says of an example, with further arguments.
fn account(name: &str, arguments: &[&str]) -> Value {
    json(&[&["account", &format!("examples/{name}.toml")], arguments].concat())
}

/// The guaranteed ε or δ.
fn guaranteed(answer: &Value) -> f64 {
    let bound = |key: &str| Some(&answer["guarantee"][key]).filter(|value| value.is_object());
    bounds(bound("epsilon").or(bound("delta")).expect("one of them is asked for")).1
}

/// Six digits: the others may differ from machine to machine.
fn six_digits(value: f64) -> String {
    if value == f64::INFINITY {
        return "∞".to_owned();
    }
    let rounded: f64 = format!("{value:.5e}").parse().expect("a number");
    if rounded != 0.0 && !(1e-3..1e6).contains(&rounded) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// The guarantee, its explanation, every analysis, every assumption and every warning.
fn summary(answer: &Value) -> String {
    let mut text = format!(
        "{} by {}, asked for {}\n",
        six_digits(guaranteed(answer)),
        answer["guarantee"]["analysis"].as_str().expect("it has a name"),
        answer["target"]
    );
    let lines = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
    for line in lines("explanation") {
        writeln!(text, "{}", line.as_str().expect("words")).expect("strings take all");
    }
    for analysis in lines("analyses") {
        let id = analysis["id"].as_str().expect("it has a name");
        let bound =
            ["epsilon", "delta"].map(|key| &analysis[key]).into_iter().find(|bound| bound.is_object());
        if let Some(bound) = bound {
            writeln!(text, "  {id}: {}", six_digits(bounds(bound).1)).expect("strings take all");
        }
    }
    for assumption in answer["guarantee"]["assumptions"].as_array().expect("there are some") {
        writeln!(text, "assumes: {}", assumption.as_str().expect("words")).expect("strings take all");
    }
    for warning in lines("warnings") {
        writeln!(text, "warning: {}", warning.as_str().expect("words")).expect("strings take all");
    }
    text
}

#[test]
fn every_example_has_its_guarantee() {
    let examples = examples();
    assert!(examples.len() >= 20, "some are gone: {examples:?}");
    for name in examples {
        insta::assert_snapshot!(name.as_str(), summary(&account(&name, &[])));
    }
}

/// The comment at the top of an example, and the commands in it.
fn introduction(name: &str) -> (String, Vec<String>) {
    let file = root().join(format!("examples/{name}.toml"));
    let text = std::fs::read_to_string(file).expect("it can be read");
    let comment: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    let commands = comment.iter().filter_map(|line| line.strip_prefix("#   dobrushin "));
    (comment.join("\n"), commands.map(str::to_owned).collect())
}

#[test]
fn every_example_begins_with_what_to_type_and_what_to_look_at() {
    for name in examples() {
        let (comment, commands) = introduction(&name);
        assert!(comment.to_lowercase().contains("look at "), "{name} does not say what to look at");
        let first = commands.first().unwrap_or_else(|| panic!("{name} does not say what to type"));
        assert!(first.starts_with(&format!("account examples/{name}.toml")), "{name}: {first}");
    }
}

#[test]
fn every_command_that_an_example_names_works() {
    for name in examples() {
        for command in introduction(&name).1.iter().skip(1) {
            let picture = format!("{}/{name}.svg", env!("CARGO_TARGET_TMPDIR"));
            let words = command.split_whitespace().map(|w| if w.ends_with(".svg") { &picture } else { w });
            dobrushin(&words.collect::<Vec<_>>()).assert().success();
        }
    }
}

/// Equal to six digits.
fn assert_six_digits(name: &str, ours: f64, known: f64) {
    assert!((ours / known - 1.0).abs() < 1e-6, "{name}: {ours} is not {known}");
}

/// What an analysis guarantees for an example.
fn guarantee_by(name: &str, analysis: &str, arguments: &[&str]) -> f64 {
    guaranteed(&account(name, &[arguments, &["--analyses", analysis]].concat()))
}

/// ε of one Gaussian step with neighbours this many standard deviations apart, exactly or by its Rényi divergences.
fn one_gaussian(ratio: f64, analysis: &str, delta: &str) -> f64 {
    let noise = format!("noise-multiplier={}", 2.0 / ratio);
    guarantee_by("noisy-gd", analysis, &["--set", "steps=1", "--set", &noise, "--delta", delta])
}

/// θ_ε(r) = E_{e^ε}(N(r, 1)‖N(0, 1)).
fn theta(epsilon: f64, ratio: f64) -> f64 {
    let (epsilon, distance) = (epsilon.to_string(), ratio.to_string());
    let arguments =
        ["divergence", "gaussian", "--sigma", "1", "--distance", &distance, "--epsilon", &epsilon];
    bounds(&json(&arguments)["points"][0]["delta"]).1
}

#[test]
fn hidden_steps_amount_to_one_gaussian_step_worked_out_by_hand() {
    // Uses r apart, in steps that contract by c, forget: μ² = r²·(1 + c)/(1 − c)·(1 − c^T)/(1 + c^T).
    let contracting =
        |r: f64, c: f64, power: f64| r * ((1.0 + c) / (1.0 - c) * (1.0 - power) / (1.0 + power)).sqrt();
    // One use r apart is spread over its own noise and that of m later steps: μ² = r²/Σc^(−2j).
    let spread = |r: f64, c: f64, m: i32| r / (0..=m).map(|j| c.powi(-2 * j)).sum::<f64>().sqrt();
    for (name, arguments, mu, delta) in [
        ("noisy-gd", &[][..], contracting(0.1, 0.95, 0.95_f64.powi(1000)), "1e-5"),
        // Any number of steps: c^T is 0. One record is 2·1.4143·2/50000 and the noise 2·50·1.4143/50000.
        ("fine-tuned-head", &[], contracting(2.0 / 50.0, 0.99, 0.0), "1e-6"),
        ("public-tail", &[], spread(0.5, 1.0, 20), "1e-5"),
        ("survey-stream", &["--set", "record=19000"], spread(0.5, 0.9995, 1000), "1e-6"),
        // Nineteen uses are spread over a pass of 1000 steps each, the last one has its own noise only.
        ("multi-epoch", &[], 0.5 * (1.0 + 19.0 / 1000.0_f64).sqrt(), "1e-5"),
    ] {
        for (hidden, published) in [("shift", "composition"), ("shift-renyi", "composition-renyi")] {
            let epsilon = guarantee_by(name, hidden, arguments);
            assert_six_digits(name, epsilon, one_gaussian(mu, published, delta));
        }
    }
}

#[test]
fn published_iterates_amount_to_one_gaussian_step_worked_out_by_hand() {
    for (name, mu, delta) in [
        ("pnsgd", 0.5, "1e-5"),
        ("skip-pnsgd", 0.5, "1e-5"),
        ("online", 0.4, "1e-5"),
        ("survey-stream", 0.5, "1e-6"),
        ("multi-epoch", 0.5 * 20_f64.sqrt(), "1e-5"),
        ("multi-task", 0.5 * 10_f64.sqrt(), "1e-6"),
        ("noisy-gd", 0.1 * 1000_f64.sqrt(), "1e-5"),
    ] {
        assert_six_digits(
            name,
            guarantee_by(name, "composition", &[]),
            one_gaussian(mu, "composition", delta),
        );
    }
}

/// ε of Poisson batches by the PLDAccountant of dp_accounting 0.6.0, on a grid of 1e-5: above the truth, by less than 2e-6
/// of it. Ours is within the tolerance of `account`.
#[test]
fn poisson_batches_cost_what_another_accountant_says() {
    for (name, theirs) in [
        ("dp-sgd", 2.345_084_089_684_646_3),
        ("image-network", 6.578_898_441_040_081),
        ("federated", 2.568_375_082_336_651),
    ] {
        let answer = account(name, &["--analyses", "composition"]);
        let (lower, upper) = bounds(&answer["guarantee"]["epsilon"]);
        assert!(
            lower < theirs && theirs * (1.0 - 2e-6) < upper,
            "{name}: [{lower}, {upper}] against {theirs}"
        );
        assert!(upper < theirs * (1.0 + 3e-5), "{name}: {upper} against {theirs}");
    }
}

#[test]
fn random_places_and_times_are_averages() {
    // One of n places: the k-th last is followed by k − 1 steps on a set 5 noise deviations across.
    let (used, kept) = (theta(1.0, 0.5), theta(1.0, 5.0));
    let average = used * (1.0 - kept.powi(10_000)) / (1.0 - kept) / 10_000.0;
    for name in ["stop-pnsgd", "shuffled-pnsgd"] {
        assert_six_digits(name, guarantee_by(name, "random-stop-published", &[]), average);
        // Convex steps keep what the use has put between two runs: the last noise hides as much at every time.
        assert_six_digits(name, guarantee_by(name, "ceiling", &[]), used);
    }
    for analysis in ["shift", "contraction"] {
        let [stop, shuffled] = ["stop-pnsgd", "shuffled-pnsgd"].map(|name| guarantee_by(name, analysis, &[]));
        assert_six_digits(analysis, shuffled, stop);
    }
    // One of 50 times, one task.
    let epsilon = guarantee_by("multi-task", "shift", &["--set", "tasks=1"]);
    let average = (1..=50).map(|steps| theta(epsilon, 0.5 / f64::from(steps).sqrt())).sum::<f64>() / 50.0;
    assert_six_digits("multi-task", average, 1e-6);
    // Record 2500 is used if at most 2499 of 0 to 5000 are skipped; 7500 steps follow.
    let delta = guarantee_by("skip-pnsgd", "shift", &["--set", "record=2500", "--epsilon", "0.01"]);
    assert_six_digits("skip-pnsgd", delta, 2500.0 / 5001.0 * theta(0.01, 0.5 / 7501_f64.sqrt()));
}

#[test]
fn laplace_steps_multiply_as_the_theorem_says() {
    // The record is one scale apart, the interval is five scales long.
    let left = |epsilon: f64, scales: f64| 1.0 - ((epsilon - scales) / 2.0).exp();
    let epsilon = guarantee_by("laplace-pnsgd", "contraction-published", &["--delta", "0.01"]);
    assert_six_digits("laplace-pnsgd", left(epsilon, 1.0) * left(epsilon, 5.0).powi(10), 0.01);
    let published = guarantee_by("laplace-pnsgd", "composition", &["--delta", "0"]);
    assert_six_digits("laplace-pnsgd", published, 1.0);
    assert!(guarantee_by("laplace-pnsgd", "contraction", &["--delta", "0"]) < 0.6);
}

#[test]
fn any_number_of_projected_steps_has_the_limit_of_the_paper() {
    let theta = theta(1.0, 3.04);
    let limit = 0.001 * theta / (1.0 - 0.999 * theta);
    let delta = guarantee_by("projected-dp-sgd", "nonconvex-published", &["--epsilon", "1"]);
    assert_six_digits("projected-dp-sgd", delta, limit);
}

/// What the comments of the realistic examples say.
#[test]
fn hiding_helps_where_an_example_says_so() {
    let gain = |name: &str, arguments: &[&str]| {
        guarantee_by(name, "composition", arguments) / guaranteed(&account(name, arguments))
    };
    assert!(gain("logistic-regression", &[]) > 9.0);
    assert!(gain("fine-tuned-head", &["--set", "steps=2000"]) > 3.5);
    for (name, arguments) in [
        ("logistic-regression", &["--set", "weight-decay=0"][..]),
        ("image-network", &[]),
        ("image-network", &["--set", "diameter=100"]),
        ("federated", &["--set", "release=last"]),
    ] {
        assert_eq!(account(name, arguments)["guarantee"]["analysis"], "composition", "{name}");
    }
    let dearer = guaranteed(&account("federated", &["--set", "order=without-replacement"]));
    assert!(dearer > 6.0 * guaranteed(&account("federated", &[])));
}
