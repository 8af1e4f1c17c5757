//! `dobrushin init`: what it writes is accepted as it is.

use crate::support::{bounds, dobrushin, file, json, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// An empty folder of its own in which the program runs.
fn folder(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("init").join(format!("{name}-{number}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder of the tests is writable");
    folder
}

/// What `dobrushin init` prints and says in a folder, and its exit code; standard input is no terminal.
fn init(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut program = dobrushin(&[&["init"], arguments].concat());
    let output = program.current_dir(folder).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// The file that it prints, accounted for.
fn accounted(arguments: &[&str]) -> (String, Value) {
    let here = folder("printed");
    let (text, said, code) = init(&here, &[arguments, &["--output", "-"]].concat());
    assert_eq!(code, Some(0), "{arguments:?}: {said}");
    let output = dobrushin(&["account", "-", "--json"]).write_stdin(text.clone()).output().expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}\n{complaint}"));
    (text, report)
}

/// It is refused with all these words, and nothing is written.
#[track_caller]
fn refused(arguments: &[&str], words: &[&str]) {
    let here = folder("refused");
    std::fs::write(here.join("data.csv"), "age,home,repaid\n").expect("the folder is ours");
    let (printed, said, code) = init(&here, arguments);
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{arguments:?}: {said}");
    assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
    let files = std::fs::read_dir(&here).expect("it exists").count();
    assert_eq!(files, 1, "{arguments:?} wrote something");
}

const OPACUS: [&str; 12] = [
    "--from",
    "opacus",
    "--param",
    "noise_multiplier=1.1",
    "--param",
    "max_grad_norm=1.0",
    "--param",
    "dataset_size=60000",
    "--param",
    "batch_size=256",
    "--param",
    "epochs=10",
];

#[test]
fn without_a_terminal_nothing_is_asked_and_the_usual_values_are_named() {
    let here = folder("defaults");
    let (printed, said, code) = init(&here, &[]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
    assert!(printed.contains("run.toml is written") && printed.contains("Nobody was asked"), "{printed}");
    for key in ["run.records", "run.batch-size", "update.noise-multiplier", "target.delta"] {
        assert!(printed.contains(key), "{key}: {printed}");
    }
    let text = std::fs::read_to_string(here.join("run.toml")).expect("it is written");
    assert!(text.contains("records = 60000") && text.contains("# usual: "), "{text}");
    // Nothing is claimed that nobody said: every iterate counts as published.
    assert!(text.contains("release = \"all\"") && text.contains("# convex = true"), "{text}");
    let report = json(&["account", here.join("run.toml").to_str().expect("UTF-8")]);
    assert_eq!(report["guarantee"]["analysis"], "composition");
}

#[test]
fn every_flag_of_a_run_stands_in_the_file_and_the_usual_values_fit_it() {
    for set in [
        &["records=100"][..],
        &["records=1"],
        &["records=3", "order=shuffled"],
        &["order=full"],
        &["order=once"],
        &["order=cyclic", "steps=7"],
        &["order=without-replacement", "epochs=0.5"],
        &["algorithm=gradient-descent"],
        &["algorithm=pnsgd"],
        &["algorithm=online", "records=50"],
        &["sampling-probability=0.01"],
        &["gradient-noise=2", "lipschitz=1"],
        &["iterate-noise=0.1", "learning-rate=0.5"],
        &["learning-rate={ inverse-sqrt = 0.1 }", "release=last", "convex=true", "smoothness=0.25"],
        &[
            "release=last",
            "learning-rate=0.5",
            "convex=true",
            "generalised-linear=true",
            "smoothness=0.25",
            "diameter=2",
        ],
        &["release=last", "learning-rate=50", "convex=true", "generalised-linear=true", "smoothness=0.25"],
        &["neighbours=add-or-remove-one"],
        &["target.epsilon=1"],
        &["target.epsilon=1", "noise=laplace", "dimension=1"],
    ] {
        let flags: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
        let (text, report) = accounted(&[&["account"], &flags[..]].concat());
        assert!(report["guarantee"].is_object(), "{set:?}: {report:#}\n{text}");
        for assignment in set {
            let (key, value) = assignment.split_once('=').expect("it is KEY=VALUE");
            let key = key.rsplit('.').next().expect("it has a name");
            let line = text.lines().find(|line| line.starts_with(&format!("{key} = ")));
            let line = line.unwrap_or_else(|| panic!("{assignment}\n{text}"));
            assert!(line.contains(value.trim_matches('"')) || line.contains(&format!("{value}.0")), "{line}");
        }
    }
}

#[test]
fn an_answer_is_refused_in_the_words_of_run_files() {
    refused(&["--set", "records=0"], &["run.records is 0", "1 or more"]);
    refused(&["--set", "records=NaN"], &["run.records is"]);
    refused(&["--set", "record=5", "--set", "order=poisson"], &["run.record is an index"]);
    refused(&["--set", "noise-multiplier=-1"], &["update.noise-multiplier is -1", "above 0"]);
    refused(&["--set", "noise-multiplier=inf"], &["update.noise-multiplier is inf"]);
    refused(&["--set", "nois-multiplier=1"], &["nois-multiplier", "did you mean noise-multiplier?"]);
    refused(&["--set", "order=random"], &["run.order", "poisson"]);
    refused(&["--set", "delta=2"], &["target.delta", "2"]);
    refused(&["--set", "records=10", "--set", "batch-size=11"], &["run.batch-size is 11", "only 10 records"]);
    refused(&["--set", "algorithm=chain"], &["step"]);
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let here = folder("force");
    std::fs::write(here.join("run.toml"), "mine\n").expect("the folder is ours");
    let (_, said, code) = init(&here, &[]);
    assert!(
        code == Some(2) && said.contains("run.toml already exists") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(here.join("run.toml")).expect("it is there"), "mine\n");
    assert_eq!(init(&here, &["--output", "other.toml"]).2, Some(0));
    assert_eq!(init(&here, &["--force"]).2, Some(0));
    assert!(std::fs::read_to_string(here.join("run.toml")).expect("it is there").contains("[run]"));
    // Both files are looked at before one is written.
    std::fs::write(here.join("data.csv"), "a,b\n").expect("the folder is ours");
    std::fs::remove_file(here.join("run.toml")).expect("it is there");
    std::fs::write(here.join("schema.toml"), "mine\n").expect("the folder is ours");
    let (_, said, code) = init(&here, &["train", "data.csv", "--label", "b"]);
    assert!(code == Some(2) && said.contains("schema.toml already exists"), "{said}");
    assert!(!here.join("run.toml").exists());
}

#[test]
fn an_input_is_never_replaced() {
    let here = folder("input");
    std::fs::write(here.join("run.toml"), "noise_multiplier=1\nsample_rate=0.1\nsteps=3\n").expect("ours");
    let (_, said, code) = init(&here, &["--from", "opacus", "--params", "run.toml", "--force"]);
    assert!(code == Some(2) && said.contains("is the file with the parameters"), "{said}");
    std::fs::write(here.join("schema.toml"), "a,b\n").expect("ours");
    let (_, said, code) =
        init(&here, &["train", "schema.toml", "--label", "b", "--output", "x.toml", "--force"]);
    assert!(code == Some(2) && said.contains("is the file with the data"), "{said}");
}

#[test]
fn opacus_says_what_its_accountant_says_and_a_run_file_says_the_same() {
    let (text, report) = accounted(&OPACUS);
    // 235 batches: the rate is 1/235, and there are 2350 steps.
    assert!(
        text.contains("sampling-probability = 0.00425531914893617") && text.contains("steps = 2350"),
        "{text}"
    );
    assert!(text.contains("neighbours = \"add-or-remove-one\""), "{text}");
    let (_, upper) = bounds(&report["guarantee"]["epsilon"]);
    let said = text.split("ε is about ").nth(1).and_then(|rest| rest.split(' ').next());
    let said: f64 = said.and_then(|number| number.parse().ok()).unwrap_or_else(|| {
        let flat = text.replace("\n# ", " ");
        let rest = flat.split("ε is about ").nth(1).expect("their ε is in the file").to_owned();
        rest.split(' ').next().expect("a number").parse().expect("a number")
    });
    // The file counts what they count, and their number is written with four digits.
    assert!((said / upper - 1.0).abs() < 1e-3, "{said} {upper}");
    assert_eq!(report["guarantee"]["analysis"], "composition");
}

#[test]
fn every_combination_of_every_library_is_accepted_as_it_is() {
    let combinations: &[(&str, &[&[&str]])] = &[
        (
            "opacus",
            &[
                &["noise_multiplier=1.1", "sample_rate=0.01", "epochs=3"],
                &["noise_multiplier=1.1", "sample_rate=1/235", "steps=100", "target_delta=1e-5"],
                &[
                    "noise_multiplier=1",
                    "batch_size=64",
                    "sample_size=1000",
                    "epochs=2",
                    "poisson_sampling=False",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=64",
                    "dataset_size=1000",
                    "epochs=2",
                    "poisson_sampling=False",
                    "drop_last=True",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=64",
                    "dataset_size=1000",
                    "epochs=2",
                    "lr=0.1",
                    "weight_decay=0.01",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=64",
                    "dataset_size=1000",
                    "epochs=2",
                    "lr=0.1",
                    "momentum=0.9",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=64",
                    "dataset_size=1000",
                    "epochs=2",
                    "lr=0.1",
                    "loss_reduction=sum",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=64",
                    "dataset_size=1000",
                    "epochs=2",
                    "max_grad_norm=[0.5, 1.0]",
                    "clipping=per_layer",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=1000",
                    "dataset_size=1000",
                    "epochs=2",
                    "accountant=rdp",
                    "secure_mode=True",
                ],
                &[
                    "noise_multiplier=1",
                    "batch_size=10",
                    "dataset_size=1000",
                    "epochs=2",
                    "accountant=gdp",
                    "target_epsilon=3",
                ],
            ],
        ),
        (
            "tensorflow-privacy",
            &[
                &["N=60000", "batch_size=256", "noise_multiplier=1.1", "epochs=60", "delta=1e-5"],
                &[
                    "number_of_examples=60000",
                    "batch_size=250",
                    "noise_multiplier=1.3",
                    "num_epochs=15",
                    "used_microbatching=True",
                ],
                &[
                    "n=1000",
                    "batch_size=10",
                    "noise_multiplier=1",
                    "steps=5",
                    "num_microbatches=5",
                    "l2_norm_clip=1.5",
                ],
                &[
                    "n=1000",
                    "batch_size=10",
                    "noise_multiplier=1",
                    "epochs=5",
                    "num_microbatches=10",
                    "learning_rate=0.15",
                ],
                &[
                    "n=1000",
                    "batch_size=10",
                    "noise_multiplier=1",
                    "epochs=5",
                    "accountant_type=AccountantType.PLD",
                ],
            ],
        ),
        (
            "jax-privacy",
            &[
                &["noise_multiplier=1.1", "sampling_probability=0.01", "count=100"],
                &[
                    "noise_multipliers=1.1",
                    "num_samples=50000",
                    "batch_size=500",
                    "num_updates=875",
                    "delta=1e-5",
                ],
                &[
                    "noise_multiplier=1.1",
                    "num_samples=500",
                    "batch_size=50",
                    "epochs=2",
                    "sampling_method=FIXED_BATCH_SIZE",
                ],
                &[
                    "noise_multiplier=1.1",
                    "train_size=500",
                    "batch_size=50",
                    "train_steps=2",
                    "poisson_sampling_in_fit=False",
                ],
                &[
                    "noise_multiplier=1.1",
                    "sampling_probability=0.5",
                    "count=9",
                    "neighboring_relation=NeighboringRelation.REPLACE_ONE",
                ],
                &[
                    "noise_multiplier=1.1",
                    "sampling_probability=0.5",
                    "count=9",
                    "neighboring_relation=REPLACE_SPECIAL",
                ],
                &[
                    "noise_multiplier=1.1",
                    "num_samples=500",
                    "batch_size=50",
                    "steps=9",
                    "clipping_norm=2",
                    "rescale_to_unit_norm=True",
                ],
                &[
                    "noise_multiplier=1.1",
                    "num_samples=500",
                    "batch_size=50",
                    "steps=9",
                    "learning_rate=1",
                    "cycle_length=1",
                ],
            ],
        ),
    ];
    for (library, cases) in combinations {
        for parameters in *cases {
            let flags: Vec<&str> = parameters.iter().flat_map(|parameter| ["--param", *parameter]).collect();
            let (text, report) = accounted(&[&["--from", library], &flags[..]].concat());
            assert!(report["guarantee"].is_object(), "{parameters:?}\n{text}");
            assert!(text.contains("own accountant") && text.contains("neighbours"), "{text}");
            // The same from a file: as keywords, and as flags of a command line.
            let keywords = parameters.join(",\n");
            let path = file("keywords.txt", format!("# as in Python\n{keywords},\n"));
            let path = path.to_str().expect("UTF-8");
            assert_eq!(accounted(&["--from", library, "--params", path]).0, text);
            let path =
                file("flags.txt", parameters.iter().map(|p| format!("--{p} \\\n")).collect::<String>());
            let path = path.to_str().expect("UTF-8");
            assert_eq!(accounted(&["--from", library, "--params", path]).0, text);
        }
    }
}

#[test]
fn parameters_come_from_json_and_from_standard_input() {
    let text = accounted(&OPACUS).0;
    let object = r#"{"noise_multiplier": 1.1, "max_grad_norm": 1.0, "dataset_size": 60000, "batch_size": 256, "epochs": 10, "lr": null}"#;
    let output = dobrushin(&["init", "--from", "opacus", "--params", "-", "--output", "-", "--quiet"])
        .current_dir(folder("stdin"))
        .write_stdin(object)
        .output()
        .expect("it runs");
    // JSON sorts its names, so only the list of them differs.
    let keys = |text: &str| {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keys(&String::from_utf8_lossy(&output.stdout)), keys(&text));
    assert!(output.stderr.is_empty());
}

#[test]
fn parameters_that_are_unknown_missing_or_impossible_are_named_with_a_remedy() {
    let opacus = |parameters: &[&str], words: &[&str]| {
        let flags: Vec<&str> = parameters.iter().flat_map(|parameter| ["--param", *parameter]).collect();
        refused(&[&["--from", "opacus"], &flags[..]].concat(), words);
    };
    opacus(&["noise_multipler=1"], &["noise_multipler", "did you mean noise_multiplier?"]);
    opacus(&["l2_norm_clip=1"], &["is not a parameter of Opacus"]);
    opacus(&["noise_multiplier=1", "noise_multiplier=2"], &["noise_multiplier is given twice"]);
    opacus(&["delta=1e-5", "target_delta=1e-5"], &["delta and target_delta are both given"]);
    opacus(&["epochs=3", "batch_size=10"], &["noise_multiplier is missing"]);
    opacus(&["target_epsilon=3"], &["noise_multiplier is missing", "optimizer.noise_multiplier"]);
    opacus(&["noise_multiplier=1", "epochs=3"], &["batch_size or sample_rate is missing"]);
    opacus(&["noise_multiplier=1", "epochs=3", "batch_size=9"], &["dataset_size or sample_size is missing"]);
    opacus(&["noise_multiplier=1", "sample_rate=0.1"], &["epochs or steps is missing"]);
    opacus(
        &["noise_multiplier=1", "epochs=3", "batch_size=9", "dataset_size=8"],
        &["the batch size is 9", "8 records"],
    );
    opacus(&["noise_multiplier=0", "sample_rate=0.1", "epochs=1"], &["noise_multiplier is 0", "above 0"]);
    for bad in ["NaN", "inf", "-1", "1e999", "one", "[1]", "True", "1/0"] {
        let given = format!("noise_multiplier={bad}");
        opacus(&[&given, "sample_rate=0.1", "epochs=1"], &["noise_multiplier is ", "above 0"]);
        let given = format!("sample_rate={bad}");
        opacus(&["noise_multiplier=1", &given, "epochs=1"], &["sample_rate is ", "above 0 and at most 1"]);
    }
    opacus(&["noise_multiplier=1", "sample_rate=1.5", "epochs=1"], &["sample_rate is 1.5"]);
    opacus(&["noise_multiplier=1", "sample_rate=1e-300", "epochs=1"], &["epochs"]);
    opacus(
        &["noise_multiplier=1", "sample_rate=0.1", "epochs=1", "clipping=adaptive"],
        &["clipping is \"adaptive\""],
    );
    opacus(
        &["noise_multiplier=1", "sample_rate=0.1", "epochs=1", "poisson_sampling=maybe"],
        &["True or False"],
    );
    opacus(
        &["noise_multiplier=1", "sample_rate=0.1", "epochs=1", "max_grad_norm=[1, 0]"],
        &["max_grad_norm is [1"],
    );
    opacus(&["noise_multiplier=1", "sample_rate=0.1", "epochs=1", "delta=0"], &["delta is 0"]);
    opacus(
        &["noise_multiplier=1", "sample_rate=0.1", "epochs=1", "accountant=mine"],
        &["accountant is \"mine\"", "prv, pld, rdp or gdp"],
    );
    opacus(&["noise_multiplier"], &["has no value"]);
    opacus(&[""], &["has no value"]);
    let jax =
        ["--from", "jax-privacy", "--param", "noise_multiplier=1", "--param", "sampling_probability=0.1"];
    let jax = |more: &'static str| [&jax[..], &["--param", "steps=3", "--param", more]].concat();
    refused(&jax("examples_per_user=5"), &["examples_per_user is 5", "1, or left out"]);
    refused(&jax("truncated_batch_size=5"), &["truncated_batch_size is 5"]);
    refused(&jax("neighboring_relation=ALL"), &["neighboring_relation is \"ALL\"", "REPLACE_ONE"]);
    refused(&["--from", "opacuss"], &["did you mean opacus?"]);
    refused(&["--param", "noise_multiplier=1"], &["--from"]);
    refused(&["--from", "opacus", "--params", "none.json"], &["cannot read none.json"]);
    refused(&["--from", "opacus", "--params", "data.csv"], &["has no value"]);
}

#[test]
fn files_of_parameters_that_are_no_text_or_no_json_are_refused() {
    let name = |name: &str, content: &[u8]| file(name, content).to_str().expect("UTF-8").to_owned();
    refused(&["--from", "opacus", "--params", &name("bytes", b"\xff\xfe")], &["is not UTF-8"]);
    refused(&["--from", "opacus", "--params", &name("half.json", b"{\"epochs\": ")], &["not JSON"]);
    refused(&["--from", "opacus", "--params", &name("empty", b"")], &["noise_multiplier is missing"]);
}

#[test]
fn flags_that_have_no_meaning_for_a_kind_are_refused() {
    refused(
        &["account", "--label", "x"],
        &["--label has no meaning for dobrushin init account", "dobrushin init train"],
    );
    refused(&["account", "data.csv"], &["the file with data", "dobrushin init train, dobrushin init local"]);
    refused(&["train", "data.csv", "--from", "opacus"], &["--from has no meaning for dobrushin init train"]);
    refused(&["local", "--set", "records=5"], &["--set has no meaning for dobrushin init local"]);
    refused(&["account", "--epsilon", "1"], &["--epsilon has no meaning"]);
    refused(&["nothing"], &["account", "train", "local"]);
}

const HEADER: &str = "age,home,repaid,id\n";

#[test]
fn a_table_whose_columns_are_all_declared_is_checked_accounted_and_trained_at_once() {
    for (task, label, value) in [
        ("yes-no", "--categories repaid=no,yes", "yes"),
        ("class", "--categories repaid=no,yes,late", "late"),
        ("number", "--bounds repaid=0,100", "50"),
    ] {
        let here = folder(&format!("train-{task}"));
        let rows: String = (0..60)
            .map(|row| format!("{},{},{value},{row}\n", row % 90, ["owns", "rents"][row % 2]))
            .collect();
        std::fs::write(here.join("data.csv"), format!("{HEADER}{rows}")).expect("the folder is ours");
        let mut flags = vec!["train", "data.csv", "--label", "repaid", "--task", task, "--without", "id"];
        flags.extend([
            "--bounds",
            "age=0,120",
            "--categories",
            "home=owns,rents",
            "--set",
            "records=60",
            "--set",
            "epochs=2",
        ]);
        flags.extend(label.split(' '));
        let (printed, said, code) = init(&here, &flags);
        assert_eq!(code, Some(0), "{said}");
        assert!(
            !printed.contains("TODO") && printed.contains("schema.toml and run.toml are written"),
            "{printed}"
        );
        let run = |words: &[&str]| {
            let output = dobrushin(words).current_dir(&here).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{words:?}: {said}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let checked = run(&["schema", "check", "schema.toml", "data.csv"]);
        assert!(checked.contains("repaid") && !checked.contains("id "), "{checked}");
        run(&["account", "run.toml"]);
        run(&["train", "data.csv", "--run", "run.toml", "--epsilon", "1", "--out", "model"]);
    }
}

#[test]
fn what_nobody_says_about_columns_is_left_to_fill_in() {
    let here = folder("open");
    std::fs::write(here.join("data.csv"), HEADER).expect("the folder is ours");
    let (printed, said, code) = init(&here, &["train", "data.csv", "--label", "repaid"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        printed.contains("TODO are left to fill in") && printed.contains("never from private values"),
        "{printed}"
    );
    let schema = std::fs::read_to_string(here.join("schema.toml")).expect("it is written");
    let check =
        || dobrushin(&["schema", "check", "schema.toml"]).current_dir(&here).output().expect("it runs");
    let refused = check();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("still to be filled in"));
    // Filled in, it is accepted, and so is the run.
    let filled = schema
        .replace("lower = # TODO: the smallest possible, e.g. 0", "lower = 0")
        .replace("upper = # TODO: the largest, e.g. 100", "upper = 100")
        .replace(
            "categories = # TODO: all that are possible, e.g. [\"a\", \"b\"]",
            "categories = [\"no\", \"yes\"]",
        );
    std::fs::write(here.join("schema.toml"), filled).expect("the folder is ours");
    assert_eq!(check().status.code(), Some(0), "{}", String::from_utf8_lossy(&check().stderr));
    let account = dobrushin(&["account", "run.toml", "--set", "records=3000"])
        .current_dir(&here)
        .output()
        .expect("it runs");
    assert_eq!(account.status.code(), Some(0), "{}", String::from_utf8_lossy(&account.stderr));
}

#[test]
fn only_the_names_of_columns_are_read() {
    let here = folder("private");
    std::fs::write(here.join("data.csv"), format!("{HEADER}77,SECRET,yes,1\n")).expect("the folder is ours");
    let (one, ..) = init(&here, &["train", "data.csv", "--label", "repaid", "--output", "-"]);
    std::fs::write(here.join("data.csv"), format!("{HEADER}\"torn\n\u{0}")).expect("the folder is ours");
    let (other, ..) = init(&here, &["train", "data.csv", "--label", "repaid", "--output", "-"]);
    assert!(one == other && one.contains("[columns.home]") && !one.contains("SECRET"), "{one}");
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let train = ["train", "data.csv", "--label", "repaid"];
    let with = |more: &[&'static str]| [&train[..], more].concat();
    refused(&["train", "data.csv"], &["--label is missing"]);
    refused(&["train", "--label", "x"], &["needs the file with the records"]);
    refused(&["train", "none.csv", "--label", "x"], &["cannot read none.csv"]);
    refused(&["train", "data.csv", "--label", "Repaid"], &["Repaid", "it is called \"repaid\""]);
    refused(&with(&["--bounds", "weight=0,1"]), &["weight"]);
    refused(&with(&["--bounds", "age=1,0"]), &["--bounds"]);
    refused(&with(&["--bounds", "age=NaN,1"]), &["--bounds"]);
    refused(&with(&["--categories", "home=a"]), &["two or more different words"]);
    refused(&with(&["--categories", "repaid=a,b,c"]), &["two classes"]);
    refused(&with(&["--task", "number", "--categories", "repaid=a,b"]), &["must have bounds"]);
    refused(&with(&["--task", "class", "--bounds", "repaid=0,1"]), &["must have classes"]);
    refused(&with(&["--without", "repaid"]), &["is the label"]);
    refused(&with(&["--without", "weight"]), &["weight"]);
    refused(&with(&["--set", "noise-multiplier=0"]), &["update.noise-multiplier is 0"]);
    refused(&with(&["--set", "records=10", "--set", "batch-size=11"]), &["run.batch-size is 11"]);
}

#[test]
fn a_survey_is_accepted_by_local_privatize() {
    let here = folder("local");
    let answers = root().join("examples/survey/people.csv");
    let answers = answers.to_str().expect("UTF-8");
    let flags = ["--categories", "transport=bus,car,bicycle,on foot", "--bounds", "minutes=0,60"];
    let (printed, said, code) = init(&here, &[&["local", answers, "--epsilon", "3"], &flags[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(printed.contains("survey.toml is written") && printed.contains("local privatize"), "{printed}");
    let words = ["local", "privatize", answers, "--survey", "survey.toml", "--output", "reports.csv"];
    let privatized = dobrushin(&words).current_dir(&here).output().expect("it runs");
    assert_eq!(privatized.status.code(), Some(0), "{}", String::from_utf8_lossy(&privatized.stderr));
    // Without anything said, there is an example, and it says that it is one.
    let (text, ..) = init(&here, &["local", "--output", "-"]);
    assert!(text.contains("epsilon = 2.0") && text.contains("TODO: your question"), "{text}");
    let path = file("example.toml", text);
    let data = file("example.csv", "transport\nbus\ncar\n");
    let words =
        ["local", "privatize", data.to_str().expect("UTF-8"), "--survey", path.to_str().expect("UTF-8")];
    assert_eq!(dobrushin(&words).output().expect("it runs").status.code(), Some(0));
    refused(&["local", "--epsilon", "-1"], &["--epsilon"]);
    refused(&["local", "data.csv", "--bounds", "none=0,1"], &["none"]);
}

#[test]
fn json_has_the_files_and_the_usual_values() {
    let here = folder("json");
    let (printed, ..) = init(&here, &["--set", "records=500", "--json"]);
    let report: Value = serde_json::from_str(&printed).expect("valid JSON");
    assert_eq!(report["files"][0]["path"], "run.toml");
    let text = report["files"][0]["text"].as_str().expect("a text");
    assert_eq!(std::fs::read_to_string(here.join("run.toml")).expect("it is written"), text);
    let usual = report["usual"].as_array().expect("a list");
    assert!(usual.contains(&"run.batch-size".into()) && !usual.contains(&"run.records".into()), "{report}");
    let (printed, ..) = init(&here, &["--json", "--output", "-"]);
    let report: Value = serde_json::from_str(&printed).expect("valid JSON");
    assert_eq!(report["files"][0]["path"], Value::Null);
}

#[test]
fn hostile_names_and_values_do_not_leave_their_line() {
    let here = folder("hostile");
    std::fs::write(here.join("data.csv"), "\"a\u{1b}[2J\",\"b = 1\",c\n").expect("the folder is ours");
    let (text, said, code) = init(&here, &["train", "data.csv", "--label", "c", "--output", "-"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!text.contains('\u{1b}') && !said.contains('\u{1b}'), "{text}");
    let parameter = "grad_sample_mode=x\n[run]\nrecords = 1\u{1b}[2J";
    let flags = [
        "--from",
        "opacus",
        "--param",
        "noise_multiplier=1",
        "--param",
        "sample_rate=0.1",
        "--param",
        "epochs=1",
    ];
    let (text, report) = accounted(&[&flags[..], &["--param", parameter]].concat());
    assert!(!text.contains('\u{1b}') && text.matches("[run]\n").count() == 1, "{text}");
    assert_eq!(report["run"]["run"]["records"], 60000);
}

/// `script` gives the program a terminal. Where it does not exist, the tests of the questions themselves remain.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_questions_are_asked_and_their_answers_stand_in_the_file() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let here = folder("terminal");
    let program = format!("{} init", env!("CARGO_BIN_EXE_dobrushin"));
    let started = Command::new("script")
        .args(["-qec", &program, "/dev/null"])
        .current_dir(&here)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut script) = started else { return };
    // Account; 0 records are refused, 5000 are not; the usual order; batches of 50; 4 passes; the usual norm; noise 2; the
    // usual neighbours; only the last iterate; rate 0.5; no decay; convex, generalised linear, smooth; the usual δ.
    let answers = "account\n0\n5000\n\n50\n4\n\n2\n\nlast\n0.5\n\ntrue\ntrue\n0.25\n\n";
    script.stdin.take().expect("it is piped").write_all(answers.as_bytes()).expect("it reads");
    let shown = script.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let text = std::fs::read_to_string(here.join("run.toml")).unwrap_or_else(|_| panic!("{shown}"));
    assert!(shown.contains("run.records is 0") && shown.contains("How many records"), "{shown}");
    for line in [
        "records = 5000",
        "batch-size = 50",
        "epochs = 4",
        "noise-multiplier = 2",
        "release = \"last\"",
        "smoothness = 0.25",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let report = json(&["account", here.join("run.toml").to_str().expect("UTF-8")]);
    assert!(report["guarantee"]["epsilon"]["upper"].is_number());
}
