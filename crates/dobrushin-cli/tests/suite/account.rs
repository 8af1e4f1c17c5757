//! `dobrushin account` as the interface promises it.

use crate::support::{bounds, dobrushin, file, json};
use dobrushin::analysis::{ALL, Cost};
use dobrushin_reference::depth;

/// A plain Gaussian mechanism, 100 times: m = 10 and replace-one, so μ = 2.
const FULL: &str = "[run]\nalgorithm = \"gradient-descent\"\nrecords = 50\nsteps = 100\nrelease = \"last\"\n\
                    neighbours = \"replace-one\"\n[update]\nnoise-multiplier = 10.0\n[target]\ndelta = 1e-5\n";

#[test]
fn account_json_has_the_fields_of_the_contract() {
    let path = file("full.toml", FULL);
    let answer = json(&["account", path.to_str().expect("UTF-8")]);
    assert_eq!(answer["schema"], 1);
    assert_eq!(answer["run"]["run"]["steps"], 100);
    assert_eq!(answer["target"], serde_json::json!({ "delta": 1e-5 }));
    let guarantee = &answer["guarantee"];
    let (lower, upper) = bounds(&guarantee["epsilon"]);
    // θ_ε(2) falls from above to below 1e-5 within the enclosure.
    let theta = |epsilon: f64| {
        let points = json(&[
            "divergence",
            "gaussian",
            "--distance",
            "2",
            "--sigma",
            "1",
            "--epsilon",
            &epsilon.to_string(),
        ]);
        bounds(&points["points"][0]["delta"])
    };
    assert!(theta(lower).1 >= 1e-5 && theta(upper).0 <= 1e-5 && upper - lower < 1e-10, "{lower} {upper}");
    assert_eq!(guarantee["delta"], 1e-5);
    assert_eq!(guarantee["analysis"], "composition");
    let assumptions = guarantee["assumptions"].as_array().expect("a list");
    assert!(assumptions.iter().any(|words| words.as_str().expect("words").contains("replace-one")));
    let ids: Vec<&str> = answer["analyses"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|a| a["id"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        ids[..5],
        [
            "composition",
            "composition-renyi",
            "composition-gdp",
            "contraction-published",
            "random-stop-published"
        ]
    );
    assert_eq!(answer["analyses"][2]["approximate"], true);
    for analysis in answer["analyses"].as_array().expect("a list") {
        match &analysis["not_applicable"] {
            serde_json::Value::Null => assert!(bounds(&analysis["epsilon"]).1 >= lower),
            reason => assert!(reason.as_str().expect("words").len() > 10 && analysis["epsilon"].is_null()),
        }
    }
    assert!(answer["explanation"].is_array() && answer["warnings"].is_array());
}

#[test]
fn with_epsilon_the_answer_is_delta_and_its_logarithm() {
    let path = file("full-delta.toml", FULL);
    let path = path.to_str().expect("UTF-8");
    let answer = json(&["account", path, "--epsilon", "1"]);
    let truth = json(&["divergence", "gaussian", "--distance", "2", "--sigma", "1", "--epsilon", "1"]);
    let (lower, upper) = bounds(&answer["guarantee"]["delta"]);
    let (least, most) = bounds(&truth["points"][0]["delta"]);
    assert!(lower <= most && least <= upper && upper < most * (1.0 + 1e-12));
    assert_eq!(answer["guarantee"]["epsilon"], 1.0);
    assert_eq!(answer["target"], serde_json::json!({ "epsilon": 1.0 }));
    bounds(&answer["guarantee"]["log_delta"]);
    // Far out δ underflows, and its logarithm does not.
    let answer = json(&["account", path, "--epsilon", "200"]);
    let (lower, upper) = bounds(&answer["guarantee"]["log_delta"]);
    assert!(lower < -4000.0 && upper < -4000.0 && bounds(&answer["guarantee"]["delta"]).1 > 0.0);
}

#[test]
fn without_a_file_the_built_in_example_is_shown_and_named() {
    let assert = dobrushin(&["account"]).assert().success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    for words in [
        "built-in example",
        "(ε, δ) = (2.346",
        "composition-renyi",
        "Assumptions",
        "add-or-remove-one",
        "approximate: no guarantee",
        "That the other iterates are hidden does not help here",
        "analyses of a bounded domain are vacuous",
    ] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    let quiet = dobrushin(&["account", "--quiet"]).assert().success();
    let quiet = String::from_utf8_lossy(&quiet.get_output().stdout).into_owned();
    assert!(quiet.starts_with("(ε, δ) = (2.346") && !quiet.contains("Assumptions"), "{quiet}");
    assert_eq!(json(&["account"])["example"], true);
}

#[test]
fn the_guarantee_of_dp_sgd_is_the_certified_one_and_not_the_approximation() {
    let answer = json(&["account", "examples/dp-sgd.toml"]);
    let value = |index: usize| bounds(&answer["analyses"][index]["epsilon"]);
    let (composition, renyi, gdp) = (value(0), value(1), value(2));
    assert_eq!(bounds(&answer["guarantee"]["epsilon"]), composition);
    assert!(composition.1 - composition.0 < 1e-4 * composition.1 && composition.1 < renyi.1);
    // The central limit theorem under-reports here.
    assert!(gdp.1 < composition.0);
}

#[test]
fn set_overrides_the_file_and_what_it_excludes() {
    let answer = json(&[
        "account",
        "examples/dp-sgd.toml",
        "--set",
        "update.gradient-noise=0.00390625",
        "--set",
        "epochs=1",
        "--set",
        "order=full",
        "--set",
        "batch-size=60000",
        "--set",
        "target.epsilon=3",
    ]);
    let update = &answer["run"]["update"];
    assert!(update["noise-multiplier"].is_null() && update["gradient-noise"] == 0.00390625);
    assert!(answer["run"]["run"]["steps"].is_null() && answer["run"]["run"]["order"] == "full");
    // σ·n/C = 234.375.
    let truth = json(&["divergence", "gaussian", "--distance", "1", "--sigma", "234.375", "--epsilon", "3"]);
    let (ours, theirs) =
        (bounds(&answer["guarantee"]["log_delta"]), bounds(&truth["points"][0]["log_delta"]));
    assert!(ours.0 <= theirs.1 && theirs.0 <= ours.1, "{ours:?} {theirs:?}");
}

#[test]
fn a_list_of_mechanisms_is_composed() {
    let answer = json(&["account", "examples/mechanisms.toml"]);
    let (lower, upper) = bounds(&answer["guarantee"]["epsilon"]);
    assert!(lower > 1.0 && upper < 10.0 && upper - lower < 1e-3);
    for index in [1, 2] {
        assert!(answer["analyses"][index]["not_applicable"].is_string());
    }
    // Randomised response five times at δ = 0 is the sum of its ε.
    let path = file(
        "responses.toml",
        "[run]\nalgorithm = \"composition\"\n[[mechanism]]\nkind = \"randomised-response\"\nepsilon = 0.5\ncount = 4\n",
    );
    let path = path.to_str().expect("UTF-8");
    let answer = json(&["account", path, "--delta", "0", "--set", "mechanism.1.count=5"]);
    let (lower, upper) = bounds(&answer["guarantee"]["epsilon"]);
    assert!(lower <= 2.5 && (2.5..2.5 + 1e-6).contains(&upper), "{lower} {upper}");
}

#[test]
fn without_hidden_iterates_there_is_no_guarantee_for_every_number_of_steps_and_exit_code_one_says_so() {
    let arguments = ["account", "--set", "steps=any", "--set", "release=all", "--json"];
    let assert = dobrushin(&arguments).assert().code(1);
    let answer: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).expect("valid JSON");
    assert!(answer["guarantee"].is_null());
    assert!(answer["analyses"][0]["not_applicable"].as_str().expect("words").contains("for ever"));
    assert!(answer["analyses"][3]["not_applicable"].as_str().expect("words").contains("nothing is hidden"));
}

/// The order of the report: the answer, why, what each analysis says, which do not apply, what must hold.
#[test]
fn the_answer_comes_first_and_then_why() {
    let assert = dobrushin(&["account", "examples/noisy-gd.toml"]).assert().success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let places: Vec<usize> = [
        "(ε, δ) = (2.558, 1e-5), by shift\n",
        "If every iterate were published, ε would be 17.86",
        "Because all but one of 1000 iterates are hidden",
        "analysis ",
        "9 analyses do not apply to this run: --verbose shows why.",
        "Assumptions",
        "only the last iterate is published",
        "dobrushin explain shift",
    ]
    .iter()
    .map(|words| text.find(words).unwrap_or_else(|| panic!("no {words:?} in\n{text}")))
    .collect();
    assert!(places[0] == 0 && places.is_sorted(), "{places:?} in\n{text}");
}

#[test]
fn analyses_can_be_chosen() {
    let ids = |more: &[&str]| -> Vec<String> {
        let answer = json(&[&["account", "examples/noisy-gd.toml"], more].concat());
        let list = answer["analyses"].as_array().expect("a list");
        list.iter().map(|analysis| analysis["id"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(ids(&["--analyses", "shift-renyi,composition"]), ["composition", "shift-renyi"]);
    let (all, closed) = (ids(&[]), ids(&["--analyses", "closed-form"]));
    let cost = |id: &str| ALL.iter().find(|theorem| theorem.id() == id).expect("it is listed").cost();
    let formulas: Vec<String> = all.into_iter().filter(|id| cost(id) == Cost::ClosedForm).collect();
    assert!(closed == formulas && closed.contains(&"shift-renyi".to_owned()), "{closed:?}");
    for laborious in ["composition", "contraction", "hybrid", "shift-subsampled", "recursion"] {
        assert!(!closed.contains(&laborious.to_owned()), "{laborious}");
    }
    for (word, help) in [
        ("shift-reny", "did you mean shift-renyi?"),
        ("closed", "closed-form"),
        ("everything", "one of: composition"),
        ("", "there is no analysis"),
    ] {
        let assert = dobrushin(&["account", "--analyses", word]).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(help) && message.contains("--analyses"), "{message}");
    }
    // An approximation alone is no guarantee.
    let assert = dobrushin(&["account", "--analyses", "composition-gdp"]).assert().code(1);
    assert!(String::from_utf8_lossy(&assert.get_output().stdout).starts_with("No run file"));
}

#[test]
fn the_profiles_are_drawn() {
    let path = file("profile.svg", "");
    dobrushin(&["account", "--plot"]).arg(&path).assert().success();
    let svg = std::fs::read_to_string(&path).expect("it was written");
    for words in ["composition-renyi", "composition-gdp,", "approximate: no", "δ", "</svg>", ">ε at most "]
    {
        assert!(svg.contains(words), "no {words}");
    }
    assert!(!svg.contains("NaN"));
    // Curves that stay near 1 are named, and not drawn.
    assert!(svg.contains("Left out") && !svg.contains(">shift-renyi<"));
    dobrushin(&["account", "examples/public-tail.toml", "--plot"]).arg(&path).assert().success();
    let svg = std::fs::read_to_string(&path).expect("it was written");
    for id in ["composition", "contraction-published", "shift-renyi", "strongly-convex-renyi"] {
        assert!(svg.contains(&format!(">{id}<")), "no {id} beside a curve");
    }
}

#[test]
fn extreme_but_valid_runs_are_answered() {
    for sets in [
        &["noise-multiplier=1e-300"][..],
        &["noise-multiplier=1e-3"],
        &["noise-multiplier=1e300"],
        &["steps=1e15", "noise-multiplier=1e6"],
        &["sampling-probability=1e-12"],
        &["sampling-probability=1"],
        &["records=1", "batch-size=1"],
        &["target.delta=0"],
        &["target.delta=1"],
        &["target.delta=1e-300"],
        &["target.epsilon=0"],
        &["target.epsilon=1e300"],
    ] {
        let flags = sets.iter().flat_map(|set| ["--set", set]);
        // With such noise, sums step by step take seconds.
        let quick = sets[0].contains("e300") || sets[0].contains("e-300");
        let only = if quick { depth(&["--analyses", "closed-form,composition"][..], &[]) } else { &[] };
        let output = dobrushin(&["account"]).args(flags).args(only).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)) && !text.contains("NaN"), "{sets:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{sets:?}: {output:?}");
    }
}

#[test]
fn the_enclosure_is_as_narrow_as_the_tolerance_asks() {
    let width = |tolerance: &str| {
        let json = json(&["account", "examples/dp-sgd.toml", "--tolerance", tolerance]);
        let end = |name: &str| json["guarantee"]["epsilon"][name].as_f64().expect("a number");
        (end("upper") - end("lower")) / end("upper")
    };
    let (rough, fine) = (width("0.01"), width("1e-5"));
    assert!(fine <= 1.5e-5 && 1e-4 < rough && rough <= 0.02, "{fine:e}, {rough:e}");
    for refused in ["0", "-1", "1", "NaN", "inf", "much"] {
        let output = dobrushin(&["account", "--tolerance", refused]).output().expect("it runs");
        let message = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert!(output.status.code() == Some(2) && message.contains("tolerance"), "{refused}: {message}");
    }
}

/// Every change was tried out: what it is said to lead to is what the changed run has.
#[test]
fn advice_is_what_the_changed_run_says() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/noisy-gd.toml");
    let answer = json(&["account", example, "--advice"]);
    let now = bounds(&answer["guarantee"]["epsilon"]).1;
    let advice = answer["advice"].as_array().expect("a list");
    let twice = advice.iter().find(|one| one["change"] == "twice the noise").expect("it helps");
    let changed = json(&["account", example, "--set", "noise-multiplier=40"]);
    assert_eq!(twice["epsilon"], changed["guarantee"]["epsilon"]);
    let uppers: Vec<f64> = advice.iter().map(|one| bounds(&one["epsilon"]).1).collect();
    assert!(uppers.iter().all(|upper| *upper < 0.95 * now) && uppers.is_sorted(), "{uppers:?} against {now}");
}

/// Where it takes many steps together, single ones may be the better.
#[test]
fn contraction_is_never_above_the_products_that_it_sharpens() {
    let cases: [(&str, &str, &[&str]); 3] = [
        ("online", "contraction-published", &["--set", "record=1", "--set", "diameter=0.5"]),
        ("stop-pnsgd", "random-stop-published", &["--set", "diameter=0.4"]),
        (
            "projected-dp-sgd",
            "nonconvex-published",
            &["--set", "noise=laplace", "--set", "steps=1000000", "--set", "dimension=1"],
        ),
    ];
    for (example, published, changes) in cases {
        let file = format!("examples/{example}.toml");
        let only = format!("contraction,{published}");
        let answer = json(&[&["account", &file, "--epsilon", "0", "--analyses", &only], changes].concat());
        let of = |id: &str| {
            let entries = answer["analyses"].as_array().expect("a list");
            bounds(&entries.iter().find(|entry| entry["id"] == id).expect("it was asked")["delta"]).1
        };
        assert!(of("contraction") <= of(published), "{example}: {answer}");
    }
}

/// 15 passes of 60000 records in batches of 256 are 3515 steps and a fraction: both numbers next to it are looked at.
#[test]
fn passes_that_are_no_whole_number_of_steps_are_analysed_all_the_same() {
    let arguments =
        ["account", "examples/dp-sgd.toml", "--set", "epochs=15", "--set", "domain.diameter=0.01"];
    let answer = crate::support::json(&arguments);
    let analyses = answer["analyses"].as_array().expect("a list");
    let applies = |id: &str| analyses.iter().any(|one| one["id"] == id && one["not_applicable"].is_null());
    assert!(["shift", "recursion", "ceiling", "shift-subsampled"].into_iter().all(applies), "{analyses:?}");
    let text = dobrushin(&["account", "examples/dp-sgd.toml", "--set", "epochs=15"])
        .output()
        .expect("it runs")
        .stdout;
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains("does not help here"), "{text}");
    let upper = |length: &str| {
        let answer = crate::support::json(&[&arguments[..3], &[length], &arguments[4..]].concat());
        crate::support::bounds(&answer["guarantee"]["epsilon"]).1
    };
    assert_eq!(upper("epochs=15"), upper("steps=3515").max(upper("steps=3516")));
}

#[test]
fn a_billion_passes_in_a_fixed_order_have_their_closed_form() {
    // d/s = 2/4, 1000 steps a pass, and nothing follows the last record: μ² = (d/s)²·((E − 1)/1000 + 1).
    for epochs in [500_000.0_f64, 1e9] {
        let answer = json(&["account", "examples/multi-epoch.toml", "--set", &format!("epochs={epochs}")]);
        let shift = answer["analyses"].as_array().expect("a list").iter().find(|one| one["id"] == "shift");
        let (_, upper) = bounds(&shift.expect("it is asked")["epsilon"]);
        let mu = 0.5 * ((epochs - 1.0) / 1000.0 + 1.0).sqrt();
        let theta = json(&[
            "divergence",
            "gaussian",
            "--sigma",
            "1",
            "--distance",
            &mu.to_string(),
            "--delta",
            "1e-5",
        ]);
        let (expected, _) = bounds(&theta["epsilon_at_delta"][0]["epsilon"]);
        assert!((upper / expected - 1.0).abs() < 1e-9, "{epochs}: {upper} against {expected}");
    }
}

#[test]
fn the_built_in_example_is_the_one_that_it_is_called() {
    let file = |name: &str| std::fs::read_to_string(crate::support::root().join(name)).expect("it exists");
    assert_eq!(file("crates/dobrushin-document/src/run_file/built_in.toml"), file("examples/dp-sgd.toml"));
}

#[test]
fn what_says_nothing_is_shown_when_it_is_asked_for_and_digits_are_as_many_as_wanted() {
    let text = |more: &[&str]| {
        let words = [&["account", "examples/logistic-regression.toml"], more].concat();
        let assert = dobrushin(&words).assert().success();
        String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
    };
    let brief = text(&[]);
    // Their ε are in the hundreds and above.
    for vacuous in ["ceiling", "nonconvex-published", "Not applicable", "hybrid"] {
        assert!(!brief.contains(vacuous), "{vacuous} in\n{brief}");
        assert!(text(&["--verbose"]).contains(vacuous), "no {vacuous}");
    }
    assert!(brief.contains("shift-subsampled          0.5813     0.5814"), "{brief}");
    assert!(text(&["--digits", "10"]).starts_with("(ε, δ) = (0.5813054459, 1e-6)"));
    assert!(text(&["--digits", "1"]).starts_with("(ε, δ) = (0.6, 1e-6)"), "rounded up");
    // Whoever names an analysis is told about it.
    assert!(text(&["--analyses", "shift,hybrid"]).contains("hybrid: no equal steps follow"));
    for wrong in [["--digits", "0"], ["--digits", "18"], ["--verbose", "--quiet"]] {
        dobrushin(&[&["account", "examples/noisy-gd.toml"], &wrong[..]].concat()).assert().code(2);
    }
}

#[test]
fn where_nothing_applies_it_is_always_said_why() {
    let run = file(
        "any.toml",
        "[run]\nalgorithm = \"dp-sgd\"\nrecords = 100\nbatch-size = 10\norder = \"poisson\"\nsteps = \"any\"\n\
                               [update]\nnoise-multiplier = 1.0\n[target]\ndelta = 1e-5\n",
    );
    let assert = dobrushin(&["account", run.to_str().expect("UTF-8")]).assert().code(1);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(text.starts_with("No guarantee") && text.contains("Not applicable"), "{text}");
}
