//! `dobrushin local bounds` for a problem of one's own.

use crate::support::{bounds, dobrushin, file, json};
use serde_json::Value;

/// `dobrushin local bounds PROBLEM FILE …`.
#[track_caller]
fn found(problem: &str, content: &str, more: &[&str]) -> Value {
    // Tests of this module run at once.
    let name = format!("{problem}-{:?}.csv", std::thread::current().id());
    let path = file(&name, content);
    json(&[&["local", "bounds", problem, path.to_str().expect("UTF-8")], more].concat())
}

/// The best bound of an answer, by its name.
fn best(answer: &Value) -> (f64, f64) {
    bounds(&answer["bounds"][0]["value"])
}

const TWO: &str = "p,q\n0.6,0.4\n0.4,0.6\n";

#[test]
fn two_laws_have_every_bound_beside_the_papers_and_the_clear() {
    let promised = ["--epsilon", "1", "--records", "20"];
    let answer = found("two-laws", TWO, &[&promised[..], &["--separation", "0.2"]].concat());
    assert_eq!((&answer["problem"], &answer["records"]), (&"two-laws".into(), &20.into()));
    let error = &answer["answers"][0];
    assert_eq!((&error["id"], &error["bounded_from"]), (&"testing-error".into(), &"below".into()));
    let ids: Vec<&str> =
        error["bounds"].as_array().expect("a list").iter().filter_map(|bound| bound["id"].as_str()).collect();
    let known = [
        "two-point-composed",
        "two-point-affinity",
        "two-point-pinsker",
        "two-point-bretagnolle-huber",
        "two-point-side-by-side",
        "local-data-processing",
    ];
    assert!(known.iter().all(|id| ids.contains(id)), "{ids:?}");
    for bound in error["bounds"].as_array().expect("a list") {
        assert_eq!(bound["interactive"], true);
        dobrushin(&["explain", bound["id"].as_str().expect("a name")]).assert().success();
        if bound["published"] != Value::Null {
            assert!(bounds(&bound["published"]).0 <= bounds(&bound["value"]).0, "{bound}");
        }
    }
    // Randomised response attains the best one; the error of n coins, by hand.
    let heads = |p: f64| -> Vec<f64> {
        let mut law = vec![1.0];
        for _ in 0..20 {
            let mut next = vec![0.0; law.len() + 1];
            for (k, q) in law.iter().enumerate() {
                next[k] += q * (1.0 - p);
                next[k + 1] += q * p;
            }
            law = next;
        }
        law
    };
    let error_of = |p: f64| -> f64 { heads(p).iter().zip(heads(1.0 - p)).map(|(a, b)| 0.5 * a.min(b)).sum() };
    let truth = 1.0 / (1.0 + (-1f64).exp());
    let reported = 0.6 * truth + 0.4 * (1.0 - truth);
    assert!((best(error).0 - error_of(reported)).abs() < 1e-12);
    assert!((bounds(&error["without_privacy"]).0 - error_of(0.6)).abs() < 1e-12);
    // A metric at distance 0.2 costs 0.2 for every error.
    assert!((best(&answer["answers"][1]).0 - 0.2 * error_of(reported)).abs() < 1e-12);
    // The same mechanism by name, and as a matrix.
    let named = found("two-laws", TWO, &[&promised[..], &["--mechanism", "k-rr"]].concat());
    let matrix = file("response.csv", format!("{truth},{}\n{},{truth}\n", 1.0 - truth, 1.0 - truth));
    let matrix = ["--channel", matrix.to_str().expect("UTF-8"), "--records", "20"];
    let matrix = found("two-laws", TWO, &matrix);
    for (answer, kind) in [(named, "mechanism"), (matrix, "channel")] {
        assert_eq!(answer["privacy"]["kind"], kind);
        let error = &answer["answers"][0];
        assert!((bounds(&error["through_channel"]).0 - error_of(reported)).abs() < 1e-11);
        assert!((best(error).0 - error_of(reported)).abs() < 1e-11);
        assert!((bounds(&answer["contraction"]["published"]).0 - (1.0 - (-1f64).exp())).abs() < 1e-12);
    }
}

#[test]
fn losses_have_the_constants_of_e18() {
    // Reports that say nothing: every guess is wrong half of the time.
    let nothing = ["--epsilon", "0", "--records", "7", "--separation", "2"];
    let risk = |more: &[&str]| best(&found("two-laws", TWO, &[&nothing[..], more].concat())["answers"][1]).0;
    assert!((risk(&[]) - 1.0).abs() < 1e-12);
    assert!((risk(&["--loss", "squared-norm"]) - 1.0).abs() < 1e-12);
    assert!((risk(&["--power", "4"]) - 1.0).abs() < 1e-12);
    let family = "0.6,0.4\n0.4,0.6\n0.5,0.5\n";
    let risk = |more: &[&str]| best(&found("family", family, &[&nothing[..], more].concat())["answers"][1]).0;
    // Any two of the three laws cost 1 for a metric; all three cost 2/3 of Δ²/2 for a squared norm.
    assert!((risk(&[]) - 1.0).abs() < 1e-9);
    assert!((risk(&["--loss", "squared-norm"]) - 4.0 / 3.0).abs() < 1e-9);
    let signs = "0.6,0.4\n0.4,0.6\n0.5,0.5\n0.1,0.9\n";
    let cube = |more: &[&str]| found("hypercube", signs, &[&nothing[..4], more].concat());
    assert!((best(&cube(&["--separation", "2,1"])["answers"][1]).0 - 1.5).abs() < 1e-9);
    assert!((best(&cube(&["--separation", "2"])["answers"][1]).0 - 2.0).abs() < 1e-9);
}

#[test]
fn a_test_has_its_errors_its_exponent_and_the_records_that_it_needs() {
    let words = ["--epsilon", "1", "--records", "200", "--alpha", "0.05", "--beta", "0.05"];
    let answer = found("testing", TWO, &words);
    let ids: Vec<&str> = answer["answers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|answer| answer["id"].as_str())
        .collect();
    assert_eq!(ids, ["missed", "exponent", "records-needed"]);
    // KL between the reports of randomised response, which attains it.
    let truth = 1.0 / (1.0 + (-1f64).exp());
    let p = 0.6 * truth + 0.4 * (1.0 - truth);
    let kl = p * (p / (1.0 - p)).ln() + (1.0 - p) * ((1.0 - p) / p).ln();
    assert!((best(&answer["answers"][1]).1 - kl).abs() < 1e-12);
    let needed = best(&answer["answers"][2]).0;
    // One record less is not enough, by the bound itself; and this many are about enough by the normal law.
    let at = |n: f64| {
        let n = n.to_string();
        best(&found("testing", TWO, &["--epsilon", "1", "--records", &n, "--alpha", "0.05"])["answers"][0]).0
    };
    assert!(at(needed - 1.0) > 0.05 && at(needed) <= 0.05, "{needed}");
    let normal = (2.0 * 1.6449 / (2.0 * p - 1.0)).powi(2) * p * (1.0 - p) * 4.0 / 4.0;
    assert!((needed / normal - 1.0).abs() < 0.05, "{needed} {normal}");
    // The papers' coefficient asks for fewer, and records in the clear for fewer still.
    let bound = &answer["answers"][2]["bounds"];
    let first =
        bound.as_array().expect("a list").iter().find(|bound| bound["id"] == "testing-kl").expect("one");
    assert!(bounds(&first["published"]).0 < bounds(&first["value"]).0);
    assert!(bounds(&first["without_privacy"]).0 < bounds(&first["published"]).0);
}

#[test]
fn tables_of_prior_model_and_loss_have_a_bayes_risk() {
    let model = "0.9,0.1\n0.5,0.5\n0.2,0.8\n";
    let prior = file("prior.csv", "0.5\n0.25\n0.25\n");
    let losses = file("losses.csv", "0,1,4,1\n1,0,1,1\n4,1,0,1\n");
    let more = ["--prior", prior.to_str().expect("UTF-8"), "--losses", losses.to_str().expect("UTF-8")];
    let answer = found(
        "bayes",
        model,
        &[&["--epsilon", "0.5", "--records", "3", "--gamma", "1,1.5"], &more[..]].concat(),
    );
    let risk = &answer["answers"][0];
    let ids: Vec<&str> = answer["quantities"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    assert_eq!(ids.iter().filter(|id| **id == "gamma_information").count(), 2);
    // Three records in the clear, by hand.
    let (laws, weights) = ([0.1, 0.5, 0.8], [0.5, 0.25, 0.25]);
    let losses = [[0.0, 1.0, 4.0, 1.0], [1.0, 0.0, 1.0, 1.0], [4.0, 1.0, 0.0, 1.0]];
    let choose = [1.0, 3.0, 3.0, 1.0];
    let exact: f64 = (0..4)
        .map(|k| {
            let of = |a: usize| -> f64 {
                (0..3)
                    .map(|t| {
                        let p: f64 = laws[t];
                        weights[t]
                            * choose[k]
                            * p.powi(k as i32)
                            * (1.0 - p).powi(3 - k as i32)
                            * losses[t][a]
                    })
                    .sum()
            };
            (0..4).map(of).fold(f64::MAX, f64::min)
        })
        .sum();
    assert!((bounds(&risk["without_privacy"]).0 - exact).abs() < 1e-12);
    assert!(best(risk).0 >= exact);
}

#[test]
fn information_is_in_bits_and_the_coin_has_its_numbers() {
    // A fair bit that is told: 1 bit without privacy, tanh²(1/2) of it with ε = 1, 1 − 1/e as published.
    let answer = found("information", "1,0\n0,1\n", &["--epsilon", "1", "--records", "1"]);
    for index in 0..2 {
        let one = &answer["answers"][index];
        assert_eq!(one["bounded_from"], "above");
        let contracted = one["bounds"].as_array().expect("a list");
        let contracted = contracted.iter().find(|bound| bound["id"] == "local-information").expect("one");
        assert!((bounds(&contracted["value"]).1 - 0.5f64.tanh().powi(2)).abs() < 1e-12);
        assert!((bounds(&contracted["published"]).1 - (1.0 - (-1f64).exp())).abs() < 1e-12);
        assert!((bounds(&one["without_privacy"]).1 - 1.0).abs() < 1e-12);
    }
    // Through randomised response, one bit less the entropy of its lies.
    let answer =
        found("information", "1,0\n0,1\n", &["--epsilon", "1", "--records", "1", "--mechanism", "k-rr"]);
    let lie = 1.0 / (1.0 + 1f64.exp());
    let exact = 1.0 + lie * lie.log2() + (1.0 - lie) * (1.0 - lie).log2();
    assert!((bounds(&answer["answers"][0]["through_channel"]).0 - exact).abs() < 1e-12);
    let coin = json(&["local", "bounds", "coin", "--epsilon", "1", "--records", "1"]);
    assert!((bounds(&coin["quantities"][0]["value"]).0 - (2f64.ln() - 0.5)).abs() < 1e-12);
    let clear = |id: &str| {
        let list = coin["answers"][0]["bounds"].as_array().expect("a list");
        bounds(&list.iter().find(|bound| bound["id"] == id).expect("one")["without_privacy"]).0
    };
    assert!((clear("bayes-information") - 0.045_659_431_843_318_2).abs() < 1e-9);
    assert!((clear("bayes-hockey-stick") - 2.0 / 27.0).abs() < 1e-9);
}

/// The program refuses, and says each of the words.
#[track_caller]
fn refused(words: &[&str], expected: &[&str]) {
    let assert = dobrushin(&[&["local", "bounds"], words].concat()).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    for word in expected {
        assert!(message.contains(word), "{words:?}: no {word:?} in\n{message}");
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let path = |name: &str, content: &[u8]| file(name, content).to_str().expect("UTF-8").to_owned();
    let two = path("two.csv", TWO.as_bytes());
    let three = path("three.csv", b"0.2,0.3,0.5\n0.3,0.3,0.4\n0.5,0.3,0.2\n");
    let here = ["--epsilon", "1", "--records", "5"];
    let ask = |problem: &str, file: &str, more: &[&str], expected: &[&str]| {
        refused(&[&[problem, file], more].concat(), expected);
    };
    ask("two-laws", &three, &here, &["3 lines of 3 numbers", "two lines or two columns"]);
    ask("two-laws", &two, &["--records", "5"], &["--epsilon"]);
    ask("two-laws", &two, &["--epsilon", "1"], &["--records"]);
    ask("two-laws", &two, &["--epsilon", "-1", "--records", "5"], &["-1"]);
    ask("two-laws", &two, &["--epsilon", "nan", "--records", "5"], &["epsilon"]);
    ask("two-laws", &two, &["--epsilon", "1", "--records", "0"], &["--records"]);
    ask("two-laws", &two, &["--channel", &three, "--records", "5"], &["3 rows", "2 values"]);
    ask(
        "two-laws",
        &two,
        &["--channel", &two, "--epsilon", "1", "--records", "5"],
        &["--channel", "--epsilon"],
    );
    ask("two-laws", &two, &[&here[..], &["--loss", "squared-norm"]].concat(), &["--separation"]);
    ask("two-laws", &two, &[&here[..], &["--separation", "1,2"]].concat(), &["2 distances", "one is needed"]);
    ask("two-laws", &two, &[&here[..], &["--separation", "inf"]].concat(), &["separation"]);
    ask(
        "two-laws",
        &two,
        &[&here[..], &["--separation", "1", "--power", "0.5"]].concat(),
        &["0.5", "at least 1"],
    );
    ask("two-laws", &two, &[&here[..], &["--mechanism", "laplace"]].concat(), &["laplace", "--bounds"]);
    ask(
        "two-laws",
        &two,
        &[&here[..], &["--mechanism", "k-rr", "--bounds", "0,1"]].concat(),
        &["--bounds", "k-rr"],
    );
    ask("two-laws", &two, &[&here[..], &["--mechanism", "channel"]].concat(), &["--channel FILE"]);
    ask("hypercube", &three, &here, &["the number of laws is 3", "a power of 2"]);
    ask("family", &path("one.csv", b"0.5,0.5\n"), &here, &["second law"]);
    ask("family", &path("sum.csv", b"0.5,0.5\n0.5,0.6\n"), &here, &["law 2", "--normalise"]);
    ask("family", &path("bytes.csv", b"0.5,\xff\n"), &here, &["not UTF-8"]);
    ask("family", &path("empty.csv", b""), &here, &["no numbers"]);
    ask("bayes", &three, &[&here[..], &["--prior", &two]].concat(), &["one line or one column"]);
    ask("bayes", &three, &[&here[..], &["--losses", &two]].concat(), &["the table of losses"]);
    ask("bayes", &three, &[&here[..], &["--gamma", "0"]].concat(), &["gamma"]);
    ask(
        "testing",
        &two,
        &[&here[..], &["--alpha", "0.6", "--beta", "0.6"]].concat(),
        &["alpha + beta is 1.2"],
    );
    ask("information", "no-such-file.csv", &here, &["cannot read no-such-file.csv"]);
    // The fixed tasks keep their own flags.
    refused(&["--epsilon", "1", "coin", "--epsilon", "1", "--records", "5"], &["--epsilon"]);
    refused(&["--epsilon", "1"], &["--records"]);
}
