//! `dobrushin plan`: every plan meets its target, is the same every time, and can be trained; bad input is refused.

use crate::support::{bounds, dobrushin, file, json, own_folder};
use crate::train_support::{LOANS, files_in, new_folder, read_json, refused};
use dobrushin::account::{Options, Question};
use dobrushin::{Delta, Run};
use dobrushin_document::SelfContained;
use serde_json::Value;
use std::time::Instant;

const SCHEMA: &str = "examples/loans/schema.toml";

/// A plan for few of the loans at a small ε, which has few steps.
fn planned(more: &[&str]) -> Value {
    let first = ["plan", "--schema", SCHEMA, "--records", "500", "--epsilon", "0.5", "--delta", "1e-5"];
    json(&[&first[..], more].concat())
}

fn plans<'a>(report: &'a Value, field: &str) -> &'a Vec<Value> {
    report[field].as_array().unwrap_or_else(|| panic!("{field} of {report}"))
}

/// The run of a plan, from its JSON alone.
fn run_of(plan: &Value) -> Run {
    SelfContained::from_json(&plan["run"]).and_then(|run| run.run()).expect("a plan is a run")
}

#[test]
fn every_plan_meets_the_target_accounted_for_again() {
    for neighbours in ["zero-out", "replace-one", "add-or-remove-one"] {
        let report = planned(&["--neighbours", neighbours]);
        assert!(plans(&report, "plans").len() >= 2, "{report}");
        for plan in plans(&report, "plans") {
            assert_eq!(plan["run"]["run"]["neighbours"], neighbours);
            let question = Question::EpsilonAt(Delta::new(1e-5).expect("a probability"));
            let account = run_of(plan).account_by(question, &Options::default());
            let epsilon = account.guarantee().expect("a guarantee").epsilon();
            assert!(epsilon <= 0.5, "{neighbours}: {epsilon}");
            assert_eq!(bounds(&plan["guarantee"]["epsilon"]).1, epsilon);
            // Without hiding, no less noise is enough.
            let noise = |value: &Value| value.as_f64().expect("a number");
            let own = noise(&plan["run"]["update"]["noise-multiplier"]);
            assert!(noise(&plan["composition_only"]["noise_multiplier"]) >= own);
        }
        let excesses: Vec<f64> =
            plans(&report, "plans").iter().filter_map(|plan| plan["excess"].as_f64()).collect();
        // All records come first, unless batches are clearly better.
        assert!(excesses[1..].is_sorted() && excesses.iter().all(|excess| *excess < 0.6), "{excesses:?}");
    }
}

#[test]
fn the_same_question_has_the_same_answer_within_a_minute() {
    let start = Instant::now();
    let first = planned(&[]);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_eq!(first, planned(&[]));
}

#[test]
fn a_written_plan_is_accepted_by_account_and_train() {
    let path = own_folder().join("planned.toml").display().to_string();
    let report = json(&[
        "plan",
        "--schema",
        SCHEMA,
        "--records",
        "3000",
        "--epsilon",
        "0.2",
        "--delta",
        "1e-5",
        "--write",
        &path,
    ]);
    assert_eq!(report["written"], path.as_str());
    let account = json(&["account", &path]);
    assert_eq!(account["guarantee"]["epsilon"], report["plans"][0]["guarantee"]["epsilon"]);
    let out = new_folder();
    let out = out.display().to_string();
    let trained = json(&["train", LOANS, "--run", &path, "--out", &out]);
    assert!(bounds(&trained["guarantee"]["epsilon"]).1 <= 0.2);
    dobrushin(&[
        "certificate",
        "verify",
        &format!("{out}/certificate.json"),
        "--model",
        &format!("{out}/model.json"),
    ])
    .assert()
    .success();
}

#[test]
fn training_without_a_run_file_plans_with_the_schema_beside_the_data() {
    let folder = new_folder();
    let out = folder.display().to_string();
    let test = "examples/loans/test.csv";
    let command = [
        "train",
        LOANS,
        "--label",
        "repaid",
        "--epsilon",
        "0.5",
        "--delta",
        "1e-5",
        "--out",
        &out,
        "--test",
        test,
    ];
    let trained = json(&[&command[..], &["--seed", "1", "--not-private"]].concat());
    assert!(bounds(&trained["guarantee"]["epsilon"]).1 <= 0.5);
    assert_eq!(trained["run"]["run"]["records"], 3000);
    assert_eq!(trained["run"]["run"]["release"], "last");
    // Two in three loans are repaid.
    assert!(trained["test"]["accuracy"].as_f64().expect("classes") > 0.7, "{}", trained["test"]);
    let certificate = read_json(&folder.join("certificate.json"));
    assert_eq!(certificate["run"], trained["run"]);
}

#[test]
fn whoever_asks_for_shuffled_learns_what_other_orders_give() {
    let report = planned(&["--order", "shuffled"]);
    let orders = |field| -> Vec<&str> {
        plans(&report, field).iter().filter_map(|plan| plan["run"]["run"]["order"].as_str()).collect()
    };
    assert!(orders("plans").iter().all(|order| *order == "shuffled") && !orders("plans").is_empty());
    let others = orders("others");
    assert!(others.contains(&"full") && others.contains(&"poisson"), "{others:?}");
    let mut text = dobrushin(&[
        "plan",
        "--dimension",
        "3",
        "--records",
        "200",
        "--epsilon",
        "1",
        "--delta",
        "1e-4",
        "--order",
        "cyclic",
    ]);
    let text = text.unwrap().stdout;
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains("Other orders than cyclic would give\norder"), "{text}");
}

#[test]
fn several_classes_numbers_and_counts_have_plans() {
    let column = "[columns.a]\nkind = \"number\"\nlower = 0\nupper = 10\ntypical = 2\n";
    for (name, label, kind) in [
        ("classes", "kind = \"category\"\ncategories = [\"a\", \"b\", \"c\"]", "softmax"),
        ("numbers", "kind = \"number\"\nlower = 0\nupper = 10", "linear"),
        ("counts", "kind = \"count\"\nupper = 20", "poisson"),
    ] {
        let schema = file(&format!("{name}.toml"), format!("label = \"y\"\n{column}[columns.y]\n{label}\n"));
        let schema = schema.display().to_string();
        let report =
            json(&["plan", "--schema", &schema, "--records", "300", "--epsilon", "1", "--delta", "1e-4"]);
        let best = &report["plans"][0];
        assert_eq!(best["run"]["model"]["kind"], kind);
        // What the schema declares is kept.
        assert_eq!(best["run"]["model"]["schema"]["columns"]["a"]["typical"], 2.0);
        assert!(best["excess"].as_f64().is_some_and(f64::is_finite), "{name}: {best}");
    }
}

#[test]
fn bad_input_is_refused_by_its_name() {
    let base = ["plan", "--schema", SCHEMA, "--records", "500", "--epsilon", "1", "--delta", "1e-5"];
    let with = |flag: &str, value: &str| -> (Option<i32>, String) {
        let mut words: Vec<String> = base.iter().map(|word| (*word).to_owned()).collect();
        match words.iter().position(|word| word == flag) {
            Some(place) => words[place + 1] = value.to_owned(),
            None => words.extend([flag.to_owned(), value.to_owned()]),
        }
        refused(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    for (flag, value, words) in [
        ("--records", "0", "--records"),
        ("--records", "-5", "--records"),
        ("--records", "1.5", "--records"),
        ("--records", "1e30", "--records"),
        ("--records", "nan", "--records"),
        ("--epsilon", "0", "--epsilon is 0"),
        ("--epsilon", "inf", "epsilon"),
        ("--epsilon", "nan", "epsilon"),
        ("--delta", "0", "--delta is 0"),
        ("--delta", "1", "δ is 1"),
        ("--delta", "2", "delta"),
        ("--label", "income", "the label of the schema is repaid"),
        ("--order", "once", "\"once\" is not one of"),
        ("--neighbours", "friends", "\"friends\" is not one of"),
        ("--model", "forest", "model.kind"),
        ("--model", "network", "hidden"),
        ("--model", "linear", "model.kind"),
        ("--schema", "nothing.toml", "nothing.toml"),
        ("--schema", LOANS, "loans.csv"),
        ("--write", SCHEMA, "is the file with the schema"),
    ] {
        let (code, said) = with(flag, value);
        assert_eq!(code, Some(2), "{flag} {value}: {said}");
        assert!(said.contains(words), "{flag} {value}: {said}");
    }
    let secret = ["--neighbours", "add-or-remove-one", "--order", "shuffled"];
    assert!(refused(&[&base[..], &secret].concat()).1.contains("--order"));
    for shape in [["--dimension", "0"], ["--dimension", "20000"]] {
        let rest = ["plan", "--records", "100", "--epsilon", "1", "--delta", "1e-5"];
        assert_eq!(refused(&[&rest[..], &shape].concat()).0, Some(2));
    }
}

#[test]
fn training_with_a_plan_refuses_what_has_no_meaning() {
    let out = new_folder();
    let out = out.display().to_string();
    let base = ["train", LOANS, "--out", &out];
    for (more, words) in [
        (&["--epsilon", "1"][..], "a plan needs --epsilon and --delta"),
        (&["--epsilon", "1", "--delta", "1e-5", "--set", "steps=3"], "--set changes a run file"),
        (&["--epsilon", "1", "--delta", "1e-5", "--label", "age"], "the label of the schema is repaid"),
        (&["--epsilon", "1", "--delta", "1e-5", "--neighbours", "add-or-remove-one"], "--records 50000"),
        (&["--run", "examples/loans/logistic.toml", "--order", "full"], "--order is for a plan"),
        (&["--run", "examples/loans/logistic.toml", "--plan"], "--plan"),
        (&["--epsilon", "1", "--delta", "1e-5", "--records", "17"], "there are 3000 records"),
    ] {
        let (code, said) = refused(&[&base[..], more].concat());
        assert_eq!(code, Some(2), "{more:?}: {said}");
        assert!(said.contains(words), "{more:?}: {said}");
    }
    let data = file("alone.csv", "a,y\n1,no\n");
    let (_, said) =
        refused(&["train", &data.display().to_string(), "--out", &out, "--epsilon", "1", "--delta", "1e-5"]);
    assert!(said.contains("no ") && said.contains("schema init"), "{said}");
    assert!(files_in(&new_folder()).is_empty());
}
