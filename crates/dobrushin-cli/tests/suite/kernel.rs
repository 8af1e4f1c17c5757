//! `dobrushin kernel` as the interface promises it.

use crate::support::{bounds, dobrushin, file, json, root};

#[test]
fn kernel_json_has_the_fields_of_the_contract() {
    let path = file("response.csv", "yes,no\n0.75,0.25\n0.25,0.75\n");
    let path = path.to_str().expect("UTF-8");
    let answer =
        json(&["kernel", path, "--epsilon", "0,1", "--gamma", "3", "--delta", "0.25", "--tight", "0.5"]);
    assert_eq!((&answer["inputs"], &answer["outputs"]), (&2.into(), &2.into()));
    assert_eq!(bounds(&answer["eta"][0]["value"]).0, 0.5);
    assert_eq!(answer["eta"][0]["pair"], serde_json::json!([1, 2]));
    assert_eq!(bounds(&answer["eta"][2]["value"]), (0.0, 0.0));
    assert_eq!(answer["eta"][2]["gamma"], 3.0);
    let (lower, upper) = bounds(&answer["tv"]);
    assert!(lower == 0.5 && upper < 0.5 + 1e-14);
    let (lower, upper) = bounds(&answer["chi2"]);
    assert!(lower <= 0.25 && (0.25..0.25 + 1e-13).contains(&upper));
    assert_eq!(answer["chi2"], answer["kl"]);
    let at_zero = bounds(&answer["epsilon_at_delta"][0]["epsilon"]);
    assert_eq!(answer["epsilon_at_delta"][0]["delta"], 0.0);
    assert!(at_zero.0 <= 3f64.ln() && 3f64.ln() <= at_zero.1 && at_zero.1 < 3f64.ln() + 1e-14);
    // (3/4 − δ)/(1/4) = 2 at δ = 1/4.
    let at_quarter = bounds(&answer["epsilon_at_delta"][1]["epsilon"]);
    assert!(at_quarter.0 <= 2f64.ln() && 2f64.ln() <= at_quarter.1 && at_quarter.1 < 2f64.ln() + 1e-13);
    // F_1(1/2) = η_TV/2, at ε = 0.
    let tight = bounds(&answer["eta"][0]["tight"][0]["after"]);
    assert!(tight.0 == 0.25 && tight.1 < 0.25 + 1e-14);
}

#[test]
fn the_curve_lists_its_bends_with_their_inputs() {
    let path = file("asymmetric.csv", "0.5,0.5\n0.25,0.75\n");
    let answer = json(&["kernel", path.to_str().expect("UTF-8"), "--curve"]);
    let bends: Vec<f64> = answer["curve"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|b| b["gamma"].as_f64().expect("a number"))
        .collect();
    // 0.5 − γ/4 from inputs (1, 2) and 0.75 − γ/2 from (2, 1) meet at 1.
    assert_eq!(bends, [1.0, 2.0]);
    assert_eq!(answer["curve"][1]["pair"], serde_json::json!([1, 2]));
}

#[test]
fn the_example_channel_is_seven_to_one_private() {
    let answer = json(&["kernel", "examples/channel.csv"]);
    let (lower, upper) = bounds(&answer["epsilon_at_delta"][0]["epsilon"]);
    assert!(lower <= 7f64.ln() && 7f64.ln() <= upper);
    assert!(root().join("examples/channel.csv").is_file());
}

#[test]
fn identical_rows_hide_everything() {
    let path = file("constant.csv", "0.1,0.2,0.7\n0.1,0.2,0.7\n");
    let answer = json(&["kernel", path.to_str().expect("UTF-8"), "--epsilon", "0,1"]);
    for value in [
        &answer["tv"],
        &answer["chi2"],
        &answer["epsilon_at_delta"][0]["epsilon"],
        &answer["eta"][1]["value"],
    ] {
        assert_eq!(bounds(value), (0.0, 0.0));
    }
}

#[test]
fn rows_are_divided_by_their_sums_only_when_asked() {
    let path = file("counts.csv", "3,1\n1,3\n");
    let path = path.to_str().expect("UTF-8");
    dobrushin(&["kernel", path]).assert().code(2);
    let answer = json(&["kernel", path, "--normalise", "--epsilon", "0"]);
    assert!(bounds(&answer["tv"]).0 <= 0.5 && bounds(&answer["tv"]).1 >= 0.5);
}

#[test]
fn a_channel_is_read_from_standard_input() {
    let output = dobrushin(&["kernel", "-", "--json"]).write_stdin("1,0\n0,1\n").assert().success();
    let answer: serde_json::Value = serde_json::from_slice(&output.get_output().stdout).expect("valid JSON");
    assert_eq!(bounds(&answer["tv"]), (1.0, 1.0));
    assert_eq!(bounds(&answer["epsilon_at_delta"][0]["epsilon"]).0, f64::INFINITY);
}

/// The arguments, with the paths of files.
fn refused(arguments: &[&str], words: &[&str]) {
    let output = dobrushin(arguments).assert().code(2);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    for word in words {
        assert!(message.contains(word), "{arguments:?}: no {word:?} in {message}");
    }
}

fn path(name: &str, content: &str) -> String {
    file(name, content).to_str().expect("UTF-8").to_owned()
}

fn is_near(found: &serde_json::Value, truth: f64, relative: f64) {
    let (lower, upper) = bounds(found);
    let slack = relative * truth;
    assert!(
        lower <= truth + slack && upper >= truth - 1e-12 * truth && upper <= truth + slack,
        "{found} is not {truth}"
    );
}

const EXAMPLE_2: [&str; 6] = [
    "kernel",
    "examples/kernel/asymmetric.csv",
    "--mu",
    "examples/kernel/mu.csv",
    "--nu",
    "examples/kernel/nu.csv",
];

#[test]
fn the_second_example_of_the_contraction_paper_is_one_command() {
    let answer = json(&[&EXAMPLE_2[..], &["--f", "chi2,kl"]].concat());
    let chi2 = &answer["divergences"][0];
    assert_eq!((&chi2["f"], &answer["divergences"][1]["f"]), (&"chi2".into(), &"kl".into()));
    is_near(&chi2["before"], 0.375, 1e-12);
    is_near(&chi2["after"], 0.0225 / 0.7 + 0.0225 / 0.3, 1e-12);
    is_near(&chi2["bounds"]["eta_tv"], 0.1875, 1e-12);
    is_near(&chi2["bounds"]["corollary_1"], 0.175225887222398, 1e-6);
    let after = bounds(&chi2["after"]).0;
    let tight = bounds(&chi2["bounds"]["tight"]).1;
    assert!(after < tight && tight < 0.17, "{tight}");
    // η_f·D_f, η_f = η_χ².
    let (chi2_coefficient, own) = (bounds(&answer["chi2"]).1, bounds(&chi2["bounds"]["eta_f"]).1);
    assert!((own - 0.375 * chi2_coefficient).abs() < 1e-12 && own >= after);
    // KL by hand.
    let kl: f64 = 0.85 * (0.85_f64 / 0.7).ln() + 0.15 * (0.15_f64 / 0.3).ln();
    is_near(&answer["divergences"][1]["after"], kl, 1e-12);
    for divergence in answer["divergences"].as_array().expect("a list") {
        let smallest = divergence["smallest"].as_str().expect("a name");
        let of = |key: &str| bounds(&divergence["bounds"][key]).1;
        assert!(["tight", "corollary_1", "eta_f", "eta_tv"].iter().all(|key| of(smallest) <= of(key)));
    }
}

#[test]
fn the_first_example_of_the_contraction_paper_is_one_command() {
    let words = "kernel gaussian --length 1 --sigma 1 --input-distance 2 --input-sigma 1 --f chi2";
    let answer = json(&words.split(' ').collect::<Vec<_>>());
    let chi2 = &answer["divergences"][0];
    is_near(&chi2["before"], 4f64.exp_m1(), 1e-12);
    is_near(&chi2["bounds"]["eta_tv"], 20.5240674501592, 1e-12);
    is_near(&chi2["bounds"]["corollary_1"], 0.887410148167786, 1e-5);
    // What is bounded is 0.308649.
    let tight = bounds(&chi2["bounds"]["tight"]).1;
    assert!(tight > 0.308649 && tight < 0.6, "{tight}");
    assert!(chi2.get("after").is_none());
}

#[test]
fn noise_on_an_interval_has_the_coefficients_of_its_ends() {
    // Gaussian noise that makes numbers in [0, 1] (1, 1e-5)-private.
    let answer = json(&["kernel", "gaussian", "--length", "1", "--sigma", "3.731", "--delta", "1e-5"]);
    let (_, epsilon) = bounds(&answer["epsilon_at_delta"][1]["epsilon"]);
    assert!((epsilon - 1.0).abs() < 1e-3, "{epsilon}");
    is_near(&answer["chi2"], 0.017645997426874897, 1e-6);
    is_near(&answer["tv"], 0.1066, 1e-3);
    assert_eq!((&answer["chi2"], &answer["noise"]), (&answer["kl"], &"gaussian".into()));
    assert_eq!(bounds(&answer["epsilon_at_delta"][0]["epsilon"]).1, f64::INFINITY);
    let answer =
        json(&["kernel", "laplace", "--length", "1", "--scale", "2", "--epsilon", "0,0.5", "--tight", "0.5"]);
    is_near(&answer["tv"], -(-0.25_f64).exp_m1(), 1e-12);
    assert_eq!(bounds(&answer["eta"][1]["value"]), (0.0, 0.0));
    assert_eq!(bounds(&answer["epsilon_at_delta"][0]["epsilon"]), (0.5, 0.5));
    assert!(bounds(&answer["chi2"]).1 < 0.25_f64.tanh().powi(2));
    let point = json(&["kernel", "gaussian", "--length", "0", "--sigma", "1"]);
    assert_eq!((bounds(&point["tv"]), bounds(&point["chi2"])), ((0.0, 0.0), (0.0, 0.0)));
}

#[test]
fn channels_in_sequence_are_their_product_of_matrices() {
    let (a, b) = (
        path("a.csv", "0.5,0.25,0.25\n0.125,0.75,0.125\n"),
        path("b.csv", "0.75,0.25\n0.5,0.5\n0.25,0.75\n"),
    );
    let answer = json(&["kernel", &a, "--then", &b, "--epsilon", "0,0.1"]);
    // Rows (9/16, 7/16) and (1/2, 1/2).
    let multiplied = path("ab.csv", "0.5625,0.4375\n0.5,0.5\n");
    let direct = json(&["kernel", &multiplied, "--epsilon", "0,0.1"]);
    for key in ["tv", "chi2"] {
        let ((lower, upper), truth) = (bounds(&answer[key]), bounds(&direct[key]).1);
        assert!(lower <= truth && truth <= upper + 1e-15 && upper - lower < 1e-12, "{key}");
    }
    assert_eq!((&answer["inputs"], &answer["outputs"]), (&2.into(), &2.into()));
    // 1/16 against 1/2·1/2 by the coefficients alone.
    is_near(&answer["composition"]["tv"], 0.25, 1e-12);
    assert!(bounds(&answer["tv"]).1 < bounds(&answer["composition"]["chi2"]).1);
    let eta = &answer["composition"]["eta"][1];
    assert!(bounds(&eta["tight"]).1 < bounds(&eta["published"]).1);
    assert!(bounds(&answer["eta"][1]["value"]).1 <= bounds(&eta["tight"]).1);
}

#[test]
fn channels_side_by_side_are_exact_if_small_and_bounded_if_large() {
    let bit = path("bit.csv", "0.75,0.25\n0.25,0.75\n");
    let two = json(&["kernel", &bit, "--power", "2", "--gamma", "3"]);
    let beside = json(&["kernel", &bit, "--times", &bit, "--gamma", "3"]);
    assert_eq!(two, beside);
    assert_eq!((&two["inputs"], &two["outputs"]), (&4.into(), &4.into()));
    // TV of (9, 3, 3, 1)/16 and (1, 3, 3, 9)/16.
    is_near(&two["tv"], 0.5, 1e-12);
    is_near(&two["product"]["tv"], 0.75, 1e-12);
    is_near(&two["product"]["tv_published"], 0.75, 1e-12);
    is_near(&two["product"]["chi2"], 1.0 - 0.75_f64.powi(2), 1e-12);
    assert_eq!(two["product"]["formed"], true);
    // CED Lemma 2 at γ = 3, where η is 0: 1 − (1/3)².
    let last = two["product"]["eta"].as_array().and_then(|list| list.last()).expect("γ = 3");
    is_near(&last["tv_published"], 8.0 / 9.0, 1e-12);
    is_near(&two["epsilon_at_delta"][0]["epsilon"], 9_f64.ln(), 1e-12);

    let many = json(&["kernel", &bit, "--power", "40", "--delta", "0.01", "--epsilon", "0,5"]);
    assert_eq!((&many["inputs"], &many["product"]["formed"]), (&(1_u64 << 40).into(), &false.into()));
    // Forty bits that all differ are the worst, and the number of ones decides: E_γ of two binomial laws.
    let mut law = vec![1.0_f64];
    for _ in 0..40 {
        let ones = |k: usize| k.checked_sub(1).and_then(|k| law.get(k)).unwrap_or(&0.0);
        law = (0..=law.len()).map(|k| 0.25 * law.get(k).unwrap_or(&0.0) + 0.75 * ones(k)).collect();
    }
    for (index, epsilon) in [0.0_f64, 5.0].into_iter().enumerate() {
        let pairs = law.iter().zip(law.iter().rev());
        let truth: f64 = pairs.map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum();
        let (lower, upper) = bounds(&many["eta"][index]["value"]);
        assert!(lower <= 0.5 && upper >= truth - 1e-12 && upper < truth + 1e-5, "{upper} {truth}");
        let by_parts = bounds(&many["product"]["eta"][index]["value"]).1;
        assert!(upper < by_parts, "{upper} {by_parts}");
    }
    is_near(&many["epsilon_at_delta"][0]["epsilon"], 40.0 * 3_f64.ln(), 1e-12);
    assert!(bounds(&many["epsilon_at_delta"][1]["epsilon"]).1 <= 40.0 * 3_f64.ln() * (1.0 + 1e-12));
    assert!(json(&["kernel", &bit, "--power", "1000"]).get("inputs").is_none());
    for flag in [
        &["--curve"][..],
        &["--tight", "0.5"],
        &["--mu", "examples/kernel/mu.csv", "--nu", "examples/kernel/nu.csv"],
    ] {
        refused(&[&["kernel", &bit, "--power", "40"], flag].concat(), &[flag[0], "too large", "2^28"]);
    }
}

#[test]
fn bounds_from_the_parts_hold_for_the_channel_of_all() {
    let parts = ["0.5,0.25,0.25\n0.125,0.75,0.125\n", "0.9,0.1\n0.4,0.6\n0.2,0.8\n", "0.3,0.7\n0.6,0.4\n"];
    let names: Vec<String> = (0..3).map(|i| path(&format!("part{i}.csv"), parts[i])).collect();
    let words = ["kernel", &names[0], "--times", &names[1], "--times", &names[2], "--epsilon", "0,0.3,1,2"];
    let answer = json(&words);
    assert_eq!((&answer["inputs"], &answer["outputs"]), (&12.into(), &12.into()));
    for key in ["tv", "chi2"] {
        assert!(bounds(&answer[key]).0 <= bounds(&answer["product"][key]).1, "{key}");
    }
    for (eta, bound) in answer["eta"]
        .as_array()
        .into_iter()
        .flatten()
        .zip(answer["product"]["eta"].as_array().into_iter().flatten())
    {
        assert!(bounds(&eta["value"]).0 <= bounds(&bound["value"]).1);
        assert!(bounds(&answer["tv"]).0 <= bounds(&bound["tv_published"]).1);
    }
    assert!(bounds(&answer["product"]["tv"]).1 < bounds(&answer["product"]["tv_published"]).1);
}

#[test]
fn a_joint_table_tells_its_information() {
    let bit = path("joint.csv", "0.5,0\n0,0.5\n");
    let answer = json(&["kernel", "joint", &bit, "--epsilon", "0", "--gamma", "1.5,3"]);
    is_near(&answer["mutual_information"]["nats"], 2_f64.ln(), 1e-12);
    is_near(&answer["mutual_information"]["bits"], 1.0, 1e-12);
    // Σ(½ − γ/4)₊ over two cells.
    is_near(&answer["information"][0]["value"], 0.5, 1e-12);
    is_near(&answer["information"][1]["value"], 0.25, 1e-12);
    assert_eq!(bounds(&answer["information"][2]["value"]), (0.0, 0.0));
    assert_eq!((&answer["rows"], &answer["columns"]), (&2.into(), &2.into()));
    // Counts, by hand.
    let answer = json(&["kernel", "joint", "examples/kernel/counts.csv", "--normalise"]);
    let (p, rows, columns) = ([[0.88, 0.02], [0.015, 0.085]], [0.9, 0.1], [0.895, 0.105]);
    let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let nats: f64 = cells
        .iter()
        .map(|&(x, y)| {
            let p: f64 = p[x][y];
            p * (p / (rows[x] * columns[y])).ln()
        })
        .sum();
    is_near(&answer["mutual_information"]["nats"], nats, 1e-12);
    let tv: f64 = cells.iter().map(|&(x, y)| (p[x][y] - rows[x] * columns[y]).max(0.0)).sum();
    is_near(&answer["information"][0]["value"], tv, 1e-12);
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let (wide, bit) =
        (path("wide.csv", "0.5,0.25,0.25\n0.25,0.25,0.5\n"), path("narrow.csv", "0.75,0.25\n0.25,0.75\n"));
    let three = path("three.csv", "0.2\n0.3\n0.5\n");
    let half = path("half.csv", "0.5,0.4\n");
    let mu = "examples/kernel/mu.csv";
    refused(&["kernel", &wide, "--then", &bit], &["--then", "has 2 inputs, but", "has 3 outputs"]);
    refused(&["kernel", &bit, "--mu", &three, "--nu", mu], &["--mu", "3 probabilities", "2 inputs"]);
    refused(
        &["kernel", &bit, "--power", "2", "--mu", mu, "--nu", mu],
        &["2 probabilities", "4 inputs", "lexicographic"],
    );
    refused(&["kernel", &bit, "--mu", mu], &["--nu"]);
    refused(&["kernel", &bit, "--mu", mu, "--nu", &bit], &["2 lines of 2 numbers", "one line or one column"]);
    refused(&["kernel", &bit, "--mu", mu, "--nu", &half], &["--nu", "sums to 0.9", "--normalise"]);
    refused(
        &["kernel", &bit, "--mu", mu, "--nu", mu, "--f", "wasserstein"],
        &["--f", "no divergence", "hellinger2"],
    );
    refused(&["kernel", &bit, "--mu", mu, "--nu", mu, "--f", "alpha:1"], &["Kullback–Leibler"]);
    refused(&["kernel", &bit, "--f", "kl"], &["--f kl", "of no laws", "--mu and --nu"]);
    refused(
        &["kernel", "laplace", "--length", "1", "--scale", "1", "--f", "kl"],
        &["--f kl", "--input-distance"],
    );
    let law = path("law.csv", "0.5,0.5\n");
    refused(&["kernel", &bit, "--mu", &law, "--nu", mu, "--output", &law], &["is the file with the law"]);
    refused(&["kernel", &bit, "--times", &wide, "--output", &wide], &["is the file with the channel"]);
    refused(&["kernel", "joint", &law, "--output", &law], &["is the file with the joint table"]);
    refused(&["kernel", "-", "--then", "-"], &["cannot both come from standard input"]);
    refused(&["kernel", &bit, "--power", "0"], &["--power", "1..=1000"]);
    refused(&["kernel"], &["<CHANNEL>"]);
    refused(&["kernel", "gaussian", "--length", "-1", "--sigma", "1"], &["--length", "-1"]);
    refused(&["kernel", "gaussian", "--length", "inf", "--sigma", "1"], &["--length", "finite"]);
    refused(&["kernel", "laplace", "--length", "1", "--scale", "0"], &["scale is 0"]);
    refused(
        &["kernel", "gaussian", "--length", "1", "--sigma", "1", "--input-sigma", "1"],
        &["--input-distance"],
    );
    refused(&["kernel", "joint", &bit], &["is not a joint law", "sums to 2", "--normalise"]);
    refused(&["kernel", "joint", "no.csv"], &["cannot read no.csv"]);
    refused(&[&EXAMPLE_2[..], &["--plot", "examples/kernel/mu.csv"]].concat(), &[".svg"]);
}

#[test]
fn one_channel_says_what_it_always_said() {
    let text = |arguments: &[&str]| {
        let output = dobrushin(arguments).assert().success();
        String::from_utf8_lossy(&output.get_output().stdout).into_owned()
    };
    insta::assert_snapshot!(text(&[
        "kernel",
        "examples/channel.csv",
        "--tight",
        "0.1,0.01",
        "--curve",
        "--gamma",
        "2,.5"
    ]));
    insta::assert_snapshot!(text(&EXAMPLE_2));
    insta::assert_snapshot!(text(&[
        "kernel",
        "examples/kernel/asymmetric.csv",
        "--then",
        "examples/kernel/asymmetric.csv",
        "--power",
        "2",
        "--quiet"
    ]));
}
