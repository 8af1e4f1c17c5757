//! `dobrushin local profile`, `verify` and `plan` as the interface promises them.

use crate::support::{bounds, dobrushin, file, json};

const FOR_CATEGORIES: [&str; 6] = ["k-rr", "oue", "sue", "subset", "hadamard", "olh"];
const FOR_NUMBERS: [&str; 4] = ["one-bit", "piecewise", "hybrid", "laplace"];

#[test]
fn the_profile_has_the_fields_of_the_contract_and_the_numbers_of_the_channel() {
    let answer = json(&["local", "profile", "--mechanism", "k-rr", "--epsilon", "1", "--categories", "10"]);
    assert_eq!(answer["mechanism"], "k-rr");
    assert_eq!((&answer["inputs"], &answer["outputs"]), (&10.into(), &10.into()));
    // k-ary randomised response as a table, by an independent command.
    let (e, k) = (1f64.exp(), 10);
    let cell = |x: usize, y: usize| if x == y { e / (e + 9.0) } else { 1.0 / (e + 9.0) };
    let row = |x: usize| (0..k).map(|y| cell(x, y).to_string()).collect::<Vec<_>>().join(",");
    let table: Vec<String> = (0..k).map(row).collect();
    let path = file("ten.csv", table.join("\n"));
    let kernel = json(&["kernel", path.to_str().expect("UTF-8"), "--normalise", "--epsilon", "0,0.5,1,2,5"]);
    let near = |a: &serde_json::Value, b: &serde_json::Value| {
        let ((a, _), (b, _)) = (bounds(a), bounds(b));
        assert!((a - b).abs() < 1e-14, "{a} and {b}");
    };
    for key in ["tv", "chi2", "kl"] {
        near(&answer[key], &kernel[key]);
    }
    for index in 0..5 {
        assert_eq!(answer["eta"][index]["epsilon"], kernel["eta"][index]["epsilon"]);
        near(&answer["eta"][index]["value"], &kernel["eta"][index]["value"]);
    }
    near(&answer["epsilon_at_delta"][0]["epsilon"], &kernel["epsilon_at_delta"][0]["epsilon"]);
    // What the table only nearly is, the realised mechanism is: exactly 1-private.
    assert_eq!(bounds(&answer["eta"][2]["value"]), (0.0, 0.0));
    assert!(bounds(&answer["epsilon_at_delta"][0]["epsilon"]).1 <= 1.0);
}

#[test]
fn every_mechanism_keeps_its_promise_and_not_a_stronger_one() {
    let promise = |name: &str, answers: &[&str], epsilon: &str| {
        let words = ["local", "verify", "--mechanism", name, "--epsilon", epsilon];
        let answer = json(&[&words[..], answers].concat());
        assert_eq!(answer["holds"], true, "{name}");
        let exact = bounds(&answer["exact_epsilon"]);
        let wanted: f64 = epsilon.parse().expect("a number");
        // Nothing is given away, and next to nothing is wasted.
        assert!(exact.1 <= wanted && exact.0 > 0.99 * wanted, "{name}: {exact:?}");
    };
    for epsilon in ["0.1", "1", "4"] {
        for name in FOR_CATEGORIES {
            promise(name, &["--categories", "7"], epsilon);
        }
        for name in FOR_NUMBERS {
            promise(name, &["--bounds", "-1,3"], epsilon);
        }
    }
}

#[test]
fn a_gaussian_needs_a_delta_and_keeps_it() {
    let words = ["local", "verify", "--mechanism", "gaussian", "--epsilon", "1", "--bounds", "0,1"];
    dobrushin(&words).assert().code(2);
    let answer = json(&[&words[..], &["--delta", "1e-5"]].concat());
    let (lower, upper) = bounds(&answer["exact_delta"]);
    assert!(answer["holds"] == true && upper <= 1e-5 && lower > 0.9e-5, "{answer}");
}

#[test]
fn a_channel_that_is_not_private_is_refused_with_its_exact_delta() {
    let words = |epsilon: &'static str| {
        ["local", "verify", "--channel", "examples/channel.csv", "--epsilon", epsilon, "--json"]
    };
    // The largest ratio of the table is 7.
    dobrushin(&words("1.9459101491")).assert().success();
    let refused = dobrushin(&words("1.9459101490")).assert().code(1);
    let answer: serde_json::Value = serde_json::from_slice(&refused.get_output().stdout).expect("JSON");
    assert!(answer["holds"] == false && bounds(&answer["exact_delta"]).0 > 0.0);
    let refused = dobrushin(&words("1")).assert().code(1);
    let answer: serde_json::Value = serde_json::from_slice(&refused.get_output().stdout).expect("JSON");
    // 0.7 − e·0.1.
    let delta = bounds(&answer["exact_delta"]);
    assert!((delta.0 - (0.7 - 0.1 * 1f64.exp())).abs() < 1e-14, "{delta:?}");
}

#[test]
fn a_large_mechanism_has_a_profile_without_a_matrix() {
    let answer = json(&["local", "profile", "--mechanism", "oue", "--epsilon", "2", "--categories", "1000"]);
    assert!(answer.get("inputs").is_none());
    let (least, most) = bounds(&answer["kl"]);
    // Two answers differ in two bits. One of them is 1 and the other 0 with probability a under the first and b under the
    // second, or the other way round; otherwise they are equally likely.
    let other = 1.0 / (2f64.exp() + 1.0);
    let (a, b) = (0.5 * (1.0 - other), 0.5 * other);
    let truth = (a - b).powi(2) / (a + b);
    assert!(least <= truth * (1.0 + 1e-12) && truth <= most * (1.0 + 1e-12), "{least} {truth} {most}");
    assert!(most - least < 1e-6 * most, "{least} {most}");
}

#[test]
fn the_plan_names_the_best_and_how_many_people_it_takes() {
    let answer = json(&["local", "plan", "--epsilon", "1", "--records", "1000000", "--categories", "100"]);
    let plans = answer["plans"].as_array().expect("a list");
    assert_eq!(plans.len(), FOR_CATEGORIES.len());
    assert_eq!(answer["best"], plans[0]["mechanism"]);
    let error = |name: &str| {
        let plan = plans.iter().find(|plan| plan["mechanism"] == name);
        plan.and_then(|plan| plan["standard_error"].as_f64()).expect("a number")
    };
    // s(1 − s)/(p − q)²/n with s = q + (p − q)/k, by hand.
    let by_hand = |p: f64, q: f64| {
        let s = q + (p - q) / 100.0;
        (s * (1.0 - s)).sqrt() / (p - q) / 1000.0
    };
    let e = 1f64.exp();
    for (name, p, q) in [("k-rr", e / (e + 99.0), 1.0 / (e + 99.0)), ("oue", 0.5, 1.0 / (e + 1.0))] {
        assert!(
            (error(name) / by_hand(p, q) - 1.0).abs() < 1e-9,
            "{name}: {} and {}",
            error(name),
            by_hand(p, q)
        );
    }
    // As many people as are needed for an error have that error, and one fewer has not.
    let wanted = json(&["local", "plan", "--epsilon", "1", "--error", "0.01", "--bounds", "-1,1"]);
    let plan = &wanted["plans"][0];
    let records = plan["records"].as_u64().expect("a count");
    let with = |records: u64| {
        let words = ["local", "plan", "--epsilon", "1", "--bounds", "-1,1", "--records"];
        let answer = json(&[&words[..], &[&records.to_string()]].concat());
        let plans = answer["plans"].as_array().expect("a list").clone();
        let same = plans.iter().find(|other| other["mechanism"] == plan["mechanism"]).cloned();
        same.and_then(|same| same["standard_error"].as_f64()).expect("a number")
    };
    assert!(with(records) <= 0.01 * (1.0 + 1e-12) && with(records - 1) > 0.01);
}

#[test]
fn the_bounds_have_the_fields_of_the_contract_and_known_values() {
    for (epsilon, delta, effective) in
        [("1", "0", 0.214), ("0.5", "0.01", 0.069), ("2", "0.1", 0.622), ("1", "0.2", 0.371)]
    {
        let words = ["local", "bounds", "--epsilon", epsilon, "--delta", delta, "--records", "1000"];
        let answer = json(&words);
        let share = bounds(&answer["effective_records"]).1 / 1000.0;
        assert!((share - effective).abs() < 5e-4, "({epsilon}, {delta}): {share}");
        let [epsilon, delta]: [f64; 2] = [epsilon, delta].map(|text| text.parse().expect("a number"));
        let phi = bounds(&answer["contraction"]["published"]);
        assert!((phi.0 - (1.0 - (1.0 - delta) * (-epsilon).exp())).abs() < 1e-14);
        let tv = bounds(&answer["contraction"]["tv"]);
        assert!((tv.0 - (delta + (1.0 - delta) * (epsilon / 2.0).tanh())).abs() < 1e-14);
        assert_eq!(answer["bounds"][0]["id"], "mean-moments");
    }
    let all = json(&[
        "local",
        "bounds",
        "--epsilon",
        "1",
        "--records",
        "1000",
        "--moments",
        "2",
        "--radius",
        "1",
        "--dimension",
        "10",
        "--categories",
        "10",
    ]);
    let ids: Vec<&str> = all["bounds"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|bound| bound["id"].as_str().expect("a name"))
        .collect();
    for id in ["mean-moments", "ball-assouad", "frequency-assouad"] {
        assert!(ids.contains(&id), "{ids:?}");
        dobrushin(&["explain", id]).assert().success();
    }
    dobrushin(&["local", "bounds", "--epsilon", "1", "--records", "0"]).assert().code(2);
    dobrushin(&["local", "bounds", "--epsilon", "1", "--records", "10", "--radius", "1"]).assert().code(2);
}

#[test]
fn no_mechanism_is_better_than_the_bounds_allow() {
    for epsilon in ["0.5", "1", "2"] {
        let setting = ["--epsilon", epsilon, "--records", "100000", "--categories", "20"];
        let least = json(&[&["local", "bounds"][..], &setting].concat());
        let least = bounds(&least["bounds"][0]["value"]).0;
        let plan = json(&[&["local", "plan"][..], &setting].concat());
        let error = plan["plans"][0]["standard_error"].as_f64().expect("a number");
        // The sum over all categories of the mean squares.
        let reached = 20.0 * error * error;
        assert!(
            least > 0.0 && least <= reached && reached < 100.0 * least,
            "{epsilon}: {least} and {reached}"
        );
    }
}

#[test]
fn the_profile_is_drawn() {
    let path = file("profile.svg", "");
    let words = ["local", "profile", "--mechanism", "k-rr", "--epsilon", "1", "--categories", "4", "--plot"];
    dobrushin(&[&words[..], &[path.to_str().expect("UTF-8")]].concat()).assert().success();
    let picture = std::fs::read_to_string(path).expect("it was drawn");
    assert!(picture.contains("k-rr calibrated to epsilon = 1"));
}

/// Randomised response three times, by hand: the losses of one answer are ±ε and 0 with two other categories.
#[test]
fn several_answers_and_shuffled_reports_have_their_own_guarantees() {
    let arguments = ["local", "profile", "--mechanism", "k-rr", "--epsilon", "1", "--categories", "4"];
    let answer = json(
        &[&arguments[..], &["--questions", "3", "--shuffled", "10000", "--together-delta", "0.1"]].concat(),
    );
    let (e, k) = (1f64.exp(), 4.0);
    let (p, q) = (e / (e + k - 1.0), 1.0 / (e + k - 1.0));
    // One answer: the loss is 1 with probability p, −1 with probability q, else 0.
    let steps = [(1, p), (-1, q), (0, (k - 2.0) * q)];
    let mut losses = vec![(0, 1.0)];
    for _ in 0..3 {
        losses = losses.iter().flat_map(|&(l, w)| steps.map(|(s, v)| (l + s, w * v))).collect();
    }
    let delta = |epsilon: f64| -> f64 {
        losses.iter().map(|&(l, w)| w * (1.0 - (epsilon - f64::from(l)).exp()).max(0.0)).sum()
    };
    let (lower, upper) = bounds(&answer["questions"]["epsilon"]);
    assert!(delta(upper) <= 0.1 && delta(lower - 1e-3) > 0.1, "{lower} {upper} {}", delta(upper));
    assert_eq!(answer["questions"]["count"], 3);
    let (_, central) = bounds(&answer["shuffled"]["epsilon"]);
    assert!(central < 0.05, "{central}");
    // Gaussian noise has no finite ε with δ = 0.
    let gaussian = [
        "local",
        "profile",
        "--mechanism",
        "gaussian",
        "--bounds",
        "0,1",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
    ];
    let refused = dobrushin(&gaussian).args(["--shuffled", "100"]).assert().code(2);
    assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("--shuffled"));
}

#[test]
fn what_reports_tell_is_never_more_than_total_variation() {
    let profile = |name: &str, more: &[&str]| {
        let words = ["local", "profile", "--mechanism", name, "--epsilon", "1", "--bounds", "0,1"];
        json(&[&words[..], more].concat())
    };
    for name in FOR_NUMBERS {
        let answer = profile(name, &[]);
        assert!(bounds(&answer["kl"]).1 <= bounds(&answer["tv"]).1, "{name}: {answer}");
    }
    let gaussian = profile("gaussian", &["--delta", "1e-5"]);
    let (lower, upper) = bounds(&gaussian["kl"]);
    assert!(lower > 0.01764 && upper < 0.01765, "{gaussian}");
    assert_eq!(gaussian["kl"], gaussian["chi2"]);
}
