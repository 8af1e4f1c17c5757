//! `algorithm = "chain"`: what the steps mean, by formulas worked out here, and what is refused.

use crate::support::{bounds, dobrushin, file, json};

/// A chain that is asked for δ at ε = 0.5.
fn chain(name: &str, release: &str, rest: &str) -> String {
    let text =
        format!("[run]\nalgorithm = \"chain\"\nrelease = \"{release}\"\n{rest}\n[target]\nepsilon = 0.5\n");
    file(name, text).to_str().expect("UTF-8").to_owned()
}

/// θ_0.5(r): δ of two Gaussians r standard deviations apart.
fn theta(ratio: f64) -> f64 {
    let arguments = ["divergence", "gaussian", "--sigma", "1", "--epsilon", "0.5", "--distance"];
    let answer = json(&[&arguments[..], &[&ratio.to_string()]].concat());
    bounds(&answer["points"][0]["delta"]).1
}

/// What one analysis says of a file, with changes.
fn delta(path: &str, analysis: &str, more: &[&str]) -> f64 {
    let answer = json(&[&["account", path, "--analyses", analysis], more].concat());
    bounds(&answer["analyses"][0]["delta"]).1
}

fn assert_close(ours: f64, truth: f64) {
    assert!((ours / truth - 1.0).abs() < 1e-9, "{ours} is not {truth}");
}

/// One use, then eight steps that halve distances, at most 3 in a domain of diameter 6.
const USED_ONCE: &str = "[[step]]\niterate-noise = 2.0\ndisplacement = 1.5\n\
                         [[step]]\ncount = 8\niterate-noise = 2.0\nmodulus = [[0.5, 0.0], [1.0, 1.0]]\n\
                         [domain]\ndiameter = 6.0\n";

#[test]
fn a_record_used_once_has_the_product_of_contractions() {
    let path = chain("once.toml", "last", USED_ONCE);
    // d/s = 0.75 and ω(D)/s = min(3, 7)/2.
    assert_close(delta(&path, "contraction-published", &[]), theta(0.75) * theta(1.5).powi(8));
    let more = ["--set", "step.2.count=3"];
    assert_close(delta(&path, "contraction-published", &more), theta(0.75) * theta(1.5).powi(3));
    let more = ["--set", "step.2.modulus=[[2.0, 0.0]]", "--set", "step.1.displacement=1"];
    assert_close(delta(&path, "contraction-published", &more), theta(0.5) * theta(6.0).powi(8));
}

#[test]
fn runs_that_start_apart_shift_the_distance_into_the_noise_of_all_steps() {
    let steps = "start-distance = 3.0\n[[step]]\ncount = 9\niterate-noise = 2.0\nmodulus = [[1.0, 0.0]]\n";
    let path = chain("apart.toml", "last", steps);
    // PAI Theorem 1 with the square that it lacks (E4): z₀²/(n·s²) = 9/(9·4).
    assert_close(delta(&path, "shift", &[]), theta(0.5));
    assert_close(delta(&path, "shift", &["--set", "step.1.count=1"]), theta(1.5));
    // What the first update leaves of the distance is seen in the first iterate, and nothing afterwards.
    let halved = ["--set", "step.1.modulus=[[0.5, 0.0]]"];
    let composed = delta(&path, "composition", &halved);
    assert!((composed / theta(0.75) - 1.0).abs() < 1e-4, "{composed}");
    // A start at distance 0 is the same start: the record is not used at all.
    let assert = dobrushin(&["account", &path, "--set", "start-distance=0"]).assert().success();
    let said = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert!(said.contains("δ) = (0.5, 0)"), "{said}");
}

#[test]
fn runs_that_start_from_different_laws_keep_a_share_of_their_divergence() {
    let steps = "start-divergence = 0.25\n[[step]]\ncount = 3\niterate-noise = 2.0\nmodulus = [[0.5, 0.0]]\n\
                 [domain]\ndiameter = 6.0\n";
    let path = chain("laws.toml", "last", steps);
    // CED Theorem 1: E_γ ≤ E_γ(μ₀‖ν₀)·∏η, with ω(D)/s = 3/2.
    assert_close(delta(&path, "contraction-published", &[]), 0.25 * theta(1.5).powi(3));
    let random = ["--set", "release=random-stop"];
    let average = (1..4).map(|steps| theta(1.5).powi(steps)).sum::<f64>() * 0.25 / 3.0;
    assert_close(delta(&path, "random-stop-published", &random), average);
    // A whole curve of E_γ: what is known at ε = 0.4 holds at 0.5, and what is known at 0.6 does not.
    let pairs = ["--set", "start-divergence=[[0.0, 0.25], [0.4, 0.1], [0.6, 0.01]]"];
    assert_close(delta(&path, "contraction-published", &pairs), 0.1 * theta(1.5).powi(3));
    // The tight curve says less, and both say nothing more than the start without any step that hides.
    assert!(delta(&path, "contraction", &[]) < 0.25 * theta(1.5).powi(3));
    // Used again after the start: at least what the use alone costs, and more than nothing of the start.
    let used = ["--set", "step.1.displacement=1"];
    assert!(delta(&path, "contraction", &used) > delta(&path, "contraction", &[]));
}

#[test]
fn sets_that_change_are_those_before_each_step() {
    let steps = "[[step]]\niterate-noise = 2.0\ndisplacement = 1.5\ndiameter = 3.0\n\
                 [[step]]\niterate-noise = 2.0\nmodulus = [[1.0, 0.0]]\ndiameter = 5.0\n\
                 [[step]]\niterate-noise = 2.0\nmodulus = [[1.0, 0.0]]\n[domain]\ndiameter = 6.0\n";
    let path = chain("sets.toml", "last", steps);
    // NCV Lemma 1: the first later step acts on a set of diameter 3, the second on one of diameter 5.
    assert_close(delta(&path, "contraction-published", &[]), theta(0.75) * theta(1.5) * theta(2.5));
}

#[test]
fn a_random_stop_has_the_average_of_the_products() {
    let path = chain("stop.toml", "random-stop", USED_ONCE);
    let average = (0..9).map(|steps| theta(1.5).powi(steps)).sum::<f64>() * theta(0.75) / 9.0;
    assert_close(delta(&path, "random-stop-published", &[]), average);
}

#[test]
fn laplace_noise_can_be_said_once_or_for_each_step() {
    let steps = "[[step]]\niterate-noise = 2.0\ndisplacement = 1.5\nnoise = \"laplace\"\n\
                 [[step]]\niterate-noise = 2.0\nmodulus = [[1.0, 0.0]]\nnoise = \"laplace\"\n\
                 [domain]\ndiameter = 6.0\ndimension = 1\n";
    let each = chain("laplace-each.toml", "last", steps);
    let all = steps.replace("noise = \"laplace\"\n", "") + "[update]\nnoise = \"laplace\"\n";
    let all = chain("laplace-all.toml", "last", &all);
    let eta = |ratio: f64| 1.0 - ((0.5 - ratio) / 2.0).exp();
    for path in [each, all] {
        assert_close(delta(&path, "contraction-published", &[]), eta(0.75) * eta(3.0));
    }
}

#[test]
fn participation_at_random_for_any_number_of_steps_has_a_limit() {
    let steps = "[[step]]\ncount = \"any\"\niterate-noise = 1.0\ndisplacement = 0.5\nparticipation = 0.01\n\
                 modulus = [[0.5, 1.0]]\n[domain]\ndiameter = 2.0\n";
    let path = chain("any.toml", "last", steps);
    // ω(D) = 2 and ω′(D) = 2.5: h = 0.99·θ(2)·h + 0.01·θ(2.5).
    let limit = 0.01 * theta(2.5) / (1.0 - 0.99 * theta(2.0));
    assert_close(delta(&path, "nonconvex-published", &[]), limit);
    let crossed = ["--set", "step.1.crossed=[[0.1, 2.1], [0.0, 2.4]]"];
    let limit = 0.01 * theta(2.3) / (1.0 - 0.99 * theta(2.0));
    assert_close(delta(&path, "nonconvex-published", &crossed), limit);
    let once = ["--set", "step.1.count=1", "--set", "step.1.participation=1"];
    assert_close(delta(&path, "nonconvex-published", &once), theta(2.5));
}

#[test]
fn everything_published_is_the_composition_of_the_uses() {
    let steps = "[[step]]\ncount = 9\niterate-noise = 2.0\ndisplacement = 0.5\n\
                 [[step]]\ncount = 100\niterate-noise = 2.0\n";
    let path = chain("all.toml", "all", steps);
    // Nine uses, each 0.25 standard deviations apart.
    assert_close(delta(&path, "composition", &[]), theta(0.75));
    let answer = json(&["account", &path]);
    assert_eq!(answer["guarantee"]["analysis"], "composition");
    let hidden = chain("hidden.toml", "last", steps);
    assert!(json(&["account", &hidden])["guarantee"]["assumptions"].is_array());
}

#[test]
fn a_chain_agrees_with_the_run_it_describes() {
    // One record a step: d = 2ηL, s = ησ, and steps of a convex loss keep iterates together.
    let answer = json(&["account", "examples/public-tail.toml", "--epsilon", "0.5"]);
    let steps = "[[step]]\niterate-noise = 0.4\ndisplacement = 0.2\nmodulus = [[1.0, 0.0], [1.0, 0.2]]\n\
                 [[step]]\ncount = 20\niterate-noise = 0.4\nmodulus = [[1.0, 0.0], [1.0, 0.2]]\n\
                 [domain]\ndiameter = 2.0\n";
    let path = chain("tail.toml", "last", steps);
    for id in ["contraction-published", "shift-renyi", "nonconvex-published"] {
        let theirs = answer["analyses"].as_array().expect("a list").iter().find(|a| a["id"] == id);
        let theirs = bounds(&theirs.expect("it is listed")["delta"]).1;
        assert_close(delta(&path, id, &[]), theirs);
    }
}

#[test]
fn chains_that_make_no_sense_are_refused() {
    let step = "[[step]]\niterate-noise = 1.0\ndisplacement = 1.0\n";
    let cases: &[(&str, &[&str])] = &[
        ("", &["there is no [[step]]", "displacement"]),
        ("[[step]]\niterate-noise = 1.0\n", &["no [[step]] uses the record"]),
        ("[[step]]\ndisplacement = 1.0\n", &["step 1.iterate-noise is missing", "iterate-noise = 0.1"]),
        ("[[step]]\niterate-noise = -1.0\n", &["step 1.iterate-noise is -1.0", "above 0"]),
        ("[[step]]\niterate-noise = nan\n", &["step 1.iterate-noise is nan", "finite"]),
        ("[[step]]\niterate-noise = \"1\"\n", &["step 1.iterate-noise is \"1\""]),
        ("STEPcount = 0\n", &["step 1.count is 0", "\"any\""]),
        ("STEPcount = \"all\"\n", &["step 1.count is \"all\"", "\"any\""]),
        ("STEPcount = \"any\"\nSTEP", &["step 1.count is \"any\"", "only the last [[step]]"]),
        ("STEPmodulus = []\n", &["step 1.modulus is a list", "at least one", "modulus = [[1.0, 0.0]]"]),
        ("STEPmodulus = [1.0, 0.0]\n", &["line 1 of step 1.modulus is 1.0", "[slope, offset]"]),
        ("STEPmodulus = [[1.0]]\n", &["line 1 of step 1.modulus is a list", "[slope, offset]"]),
        ("STEPmodulus = [[1.0, 0.0], [-0.5, 0.0]]\n", &["line 2 of step 1.modulus", "slope is -0.5"]),
        ("STEPmodulus = [[nan, 0.0]]\n", &["line 1 of step 1.modulus", "slope is NaN"]),
        ("STEPmodulus = [[1.0, inf]]\n", &["line 1 of step 1.modulus", "offset is inf"]),
        ("STEPcrossed = 3\n", &["step 1.crossed is 3"]),
        ("STEPgrowth = [1.0, -1.0]\n", &["step 1.growth", "offset is -1"]),
        ("STEPparticipation = 1.5\n", &["step 1.participation is 1.5", "between 0 and 1", "\"always\""]),
        ("STEPparticipation = nan\n", &["step 1.participation is nan"]),
        ("STEPparticipation = \"often\"\n", &["step 1.participation is \"often\"", "\"never\""]),
        ("STEPparticipation = \"never\"\n", &["step 1.displacement is given", "takes no part"]),
        ("[[step]]\niterate-noise = 1.0\nparticipation = 0.5\n", &["step 1.displacement is missing"]),
        ("STEP[[step]]\niterate-noise = 1.0\ncrossed = [[1.0, 0.0]]\n", &["step 2.crossed is given"]),
        (
            "[[step]]\niterate-noise = 1.0\ndisplacement = -1.0\n",
            &["step 1.displacement is -1.0", "0 or more"],
        ),
        ("[[step]]\niterate-noise = 1.0\ndisplacement = inf\n", &["step 1.displacement is inf"]),
        (
            "STEPnoise = \"laplace\"\n[domain]\ndimension = 3\n",
            &["step 1.noise is \"laplace\"", "dimension is 3"],
        ),
        ("STEPnoise = \"cauchy\"\n", &["step 1.noise is \"cauchy\"", "\"gaussian\""]),
        ("STEPspeed = 1\n", &["no key step.speed"]),
        ("STEPcuont = 1\n", &["no key step.cuont", "did you mean count?"]),
        ("[step]\niterate-noise = 1.0\n", &["step is not a section", "[[step]]"]),
        ("STEP[update]\nlearning-rate = 1.0\n", &["update.learning-rate is not for algorithm = \"chain\""]),
        ("STEP[loss]\nconvex = true\n", &["[loss] is not for algorithm = \"chain\""]),
        ("STEP[domain]\ndiameter = -1.0\n", &["domain.diameter is -1.0"]),
        ("start-distance = -1.0\nSTEP", &["run.start-distance is -1.0"]),
        ("start-distance = nan\nSTEP", &["run.start-distance is nan"]),
        ("start-divergence = 1.5\nSTEP", &["run.start-divergence is 1.5", "probability"]),
        ("start-divergence = [[0.1]]\nSTEP", &["run.start-divergence is", "pairs"]),
        ("start-divergence = []\nSTEP", &["run.start-divergence is"]),
        ("start-distance = 1.0\n", &["there is no [[step]]"]),
        ("STEPdiameter = 3.0\n[domain]\ndiameter = 2.0\n", &["step 1.diameter is 3", "domain.diameter is 2"]),
        ("STEPdiameter = 3.0\n[[step]]\niterate-noise = 1.0\n", &["some [[step]] tables have a diameter"]),
    ];
    for (rest, words) in cases {
        let path = chain("refused.toml", "last", &rest.replace("STEP", step));
        let assert = dobrushin(&["account", &path]).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        for word in words.iter().chain(&["help:"]) {
            assert!(message.contains(word), "{rest}: no {word:?} in\n{message}");
        }
        assert_eq!(message.matches("error:").count(), 1, "{message}");
    }
    let path = chain("set.toml", "last", step);
    for (set, words) in [
        ("neighbours=zero-out", "run.neighbours is not for algorithm = \"chain\""),
        ("records=10", "run.records is not for"),
        ("release=random-skip", "run.release is \"random-skip\""),
        ("step.2.count=1", "there is no step 2 in the file"),
        ("step.count=1", "say which one, as in step.1.count"),
        ("step.1.cuont=1", "did you mean count?"),
        ("algorithm=pnsgd", "[[step]] is for algorithm = \"chain\" only"),
        ("start=1", "start"),
    ] {
        let assert = dobrushin(&["account", &path, "--set", set]).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(message.contains(words), "{set}: {message}");
    }
}

#[test]
fn the_steps_of_a_chain_can_be_swept() {
    let path = chain("sweep.toml", "last", USED_ONCE);
    let arguments = ["curve", &path, "--over", "step.2.count=1..4", "--points", "4"];
    let answer = json(&[&arguments[..], &["--analyses", "contraction-published"]].concat());
    assert_eq!(answer["over"][0]["values"], serde_json::json!([1, 2, 3, 4]));
    for (index, steps) in (1..5).enumerate() {
        assert_close(bounds(&answer["guarantee"][index]).1, theta(0.75) * theta(1.5).powi(steps));
    }
}
