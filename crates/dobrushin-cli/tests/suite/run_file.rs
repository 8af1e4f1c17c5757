//! Whatever is wrong with a run file: exit code 2, nothing on standard output, the key, the value, what is accepted,
//! and what to do.

use crate::support::{dobrushin, file, root};

/// Runs `account` and checks that it refuses with a message that contains each of the words.
fn refused(arguments: &[&str], words: &[&str]) {
    let assert = dobrushin(&[&["account"], arguments].concat()).assert().code(2).stdout("");
    let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(!message.contains("panicked"), "{message}");
    assert!(message.contains("help:"), "no help in\n{message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: no {word:?} in\n{message}");
    }
}

fn file_refused(name: &str, content: impl AsRef<[u8]>, words: &[&str]) {
    let path = file(name, content);
    refused(&[path.to_str().expect("UTF-8")], words);
}

/// The example with a line changed.
fn changed(name: &str, from: &str, to: &str, words: &[&str]) {
    let text = std::fs::read_to_string(root().join("examples/dp-sgd.toml")).expect("there is an example");
    assert!(text.contains(from), "{from}");
    file_refused(name, text.replacen(from, to, 1), words);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    refused(&["no/such/run.toml"], &["cannot read no/such/run.toml", "because", "examples/dp-sgd.toml"]);
    refused(&["examples"], &["cannot read examples"]);
    file_refused("empty.toml", "", &["empty.toml is empty", "[run]"]);
    file_refused("comment.toml", "# nothing\n", &["is empty"]);
    file_refused("latin.toml", b"[run]\n# \xe9\n", &["latin.toml is not UTF-8"]);
    file_refused("broken.toml", "[run\n", &["broken.toml is not TOML", "because", "line 1"]);
    file_refused("twice.toml", "[run]\nrecords = 1\nrecords = 2\n", &["not TOML", "duplicate key"]);
}

#[test]
fn unknown_keys_get_a_suggestion() {
    changed(
        "typo.toml",
        "batch-size = 256",
        "batchsize = 256",
        &["no key run.batchsize", "did you mean batch-size?"],
    );
    changed("underscore.toml", "batch-size = 256", "batch_size = 256", &["did you mean batch-size?"]);
    changed(
        "place.toml",
        "records = 60000",
        "clip-norm = 1.0",
        &["no key run.clip-norm", "belongs to [update]"],
    );
    changed("section.toml", "[update]", "[updates]", &["no section [updates]", "did you mean [update]?"]);
    changed("far.toml", "records = 60000", "zebra = 1", &["no key run.zebra", "one of:", "records"]);
    file_refused("flat.toml", "run = 1\n", &["run is not a section", "[run]"]);
}

#[test]
fn missing_keys_get_an_example() {
    changed("records.toml", "records = 60000", "", &["run.records is missing", "records = 60000"]);
    changed(
        "algorithm.toml",
        "algorithm = \"dp-sgd\"",
        "",
        &["run.algorithm is missing", "algorithm = \"dp-sgd\""],
    );
    changed("order.toml", "order = \"poisson\"", "", &["run.order is missing", "order = \"poisson\""]);
    changed("steps.toml", "steps = 10000", "", &["run.steps is missing"]);
    changed("batch.toml", "batch-size = 256", "", &["run.batch-size is missing"]);
    changed(
        "noise.toml",
        "noise-multiplier = 1.0",
        "",
        &["the noise is missing", "iterate-noise", "noise-multiplier = 1.0"],
    );
    changed("target.toml", "delta = 1e-5", "", &["nothing is asked", "--delta 1e-5"]);
}

#[test]
fn contradictions_are_named() {
    let noise = "noise-multiplier = 1.0";
    let two = ["update.noise-multiplier and update.gradient-noise are both given", "keep one"];
    changed("noises.toml", noise, "noise-multiplier = 1.0\ngradient-noise = 1.0", &two);
    changed("lengths.toml", "steps = 10000", "steps = 10000\nepochs = 3", &["run.steps and run.epochs"]);
    changed(
        "batches.toml",
        "batch-size = 256",
        "batch-size = 256\nsampling-probability = 0.1",
        &["run.batch-size and run.sampling-probability"],
    );
    changed(
        "norms.toml",
        "clip-norm = 1.0",
        "clip-norm = 1.0\nlipschitz = 1.0",
        &["update.clip-norm and update.lipschitz"],
    );
    changed(
        "turn.toml",
        "order = \"poisson\"",
        "order = \"cyclic\"",
        &["run.neighbours is \"add-or-remove-one\"", "replace-one", "zero-out"],
    );
    refused(&["--set", "batch-size=70000"], &["run.batch-size is 70000", "60000 records"]);
    refused(&["--set", "loss.strong-convexity=1"], &["loss.strong-convexity is 1", "loss.smoothness"]);
    refused(&["--set", "noise=laplace"], &["update.noise is \"laplace\"", "dimension is 785"]);
    refused(&["--set", "record=5"], &["run.record", "once"]);
    refused(&["--set", "order=once", "--set", "neighbours=zero-out"], &["run.steps is 10000", "one pass"]);
}

#[test]
fn impossible_values_and_wrong_types_are_named_with_what_is_accepted() {
    for (set, words) in [
        ("records=0", "run.records is 0, but it must be a whole number, 1 or more"),
        ("records=1.5", "run.records is 1.5"),
        ("records=many", "run.records is \"many\", but it must be a whole number"),
        ("steps=-3", "run.steps is -3"),
        ("steps=all", "or \"any\""),
        ("order=random", "run.order is \"random\", but it must be one of \"once\""),
        ("order=poison", "did you mean \"poisson\"?"),
        ("release=true", "run.release is true"),
        ("neighbours=add", "\"add-or-remove-one\""),
        ("noise-multiplier=0", "update.noise-multiplier is 0, but it must be a number above 0"),
        ("noise-multiplier=nan", "update.noise-multiplier is nan, but it must be a finite number"),
        ("noise-multiplier=inf", "update.noise-multiplier is inf"),
        ("noise-multiplier=\"1\"", "update.noise-multiplier is \"1\""),
        ("clip-norm=-1", "update.clip-norm is -1"),
        ("weight-decay=2", "update.weight-decay is 2"),
        ("learning-rate=[0.1,-1]", "value 2 of update.learning-rate is -1"),
        ("learning-rate=[0.1,0.2]", "lists 2 values for 10000 steps"),
        ("learning-rate={ inverse-root = 1 }", "inverse-sqrt"),
        ("convex=yes", "loss.convex is \"yes\", but it must be true or false"),
        ("sampling-probability=1.5", "run.sampling-probability is 1.5"),
        ("target.delta=2", "target.delta"),
        ("algorithm=chains", "run.algorithm is \"chains\", but it must be one of"),
        ("algorithm=chain", "is not for algorithm = \"chain\""),
        ("public-steps=-1", "run.public-steps is -1, but it must be a whole number, 0 or more"),
        ("public-steps=0.5", "run.public-steps is 0.5"),
        ("tasks=0", "run.tasks is 0"),
        ("gradient-noise=[1.0,-2]", "value 2 of update.gradient-noise is -2"),
        ("gradient-noise=[1.0,nan]", "value 2 of update.gradient-noise is nan"),
        ("gradient-noise=[1.0,2.0]", "update.gradient-noise lists 2 values for 10000 steps"),
        ("gradient-noise=[]", "update.gradient-noise lists 0 values"),
        ("learning-rate=nan", "update.learning-rate is nan"),
        ("clip-norm=1e999", "update.clip-norm is \"1e999\""),
        ("records=1e30", "run.records is"),
        ("records=99999999999999999999", "run.records is"),
        ("epochs=1e300", "run.epochs is 1e300"),
        ("diameter=inf", "domain.diameter is inf"),
        ("steps=[1,2]", "run.steps is a list"),
        ("loss.smoothness=\"big\"", "loss.smoothness is \"big\""),
        ("strong-convexity=-0.1", "loss.strong-convexity is -0.1, but it must be a number, 0 or more"),
        ("dimension=0", "domain.dimension is 0"),
        ("diameter=0", "domain.diameter is 0"),
    ] {
        refused(&["--set", set], &[words]);
    }
}

#[test]
fn overrides_that_make_no_sense_are_refused() {
    refused(&["--set", "stepz=10"], &["no key stepz", "did you mean steps?"]);
    refused(&["--set", "run.stepz=10"], &["no key run.stepz", "did you mean steps?"]);
    refused(&["--set", "steps"], &["--set steps has no value", "run.steps=1000"]);
    refused(&["--set", "steps="], &["has no value"]);
    refused(&["examples/mechanisms.toml", "--set", "mechanism.20.count=2"], &["there is no mechanism 20"]);
    refused(&["examples/mechanisms.toml", "--set", "mechanism.count=2"], &["mechanism.1.count"]);
}

#[test]
fn mechanisms_are_checked_one_by_one() {
    let mechanisms = |name: &str, tables: &str, words: &[&str]| {
        let text = format!("[run]\nalgorithm = \"composition\"\n{tables}\n[target]\ndelta = 1e-5\n");
        file_refused(name, text, words);
    };
    mechanisms("none.toml", "", &["mechanism has no entry", "[[mechanism]]"]);
    mechanisms(
        "kind.toml",
        "[[mechanism]]\nkind = \"gausian\"",
        &["mechanism 1.kind", "did you mean \"gaussian\"?"],
    );
    mechanisms(
        "bare.toml",
        "[[mechanism]]\nkind = \"gaussian\"",
        &["mechanism 1.noise-multiplier is missing"],
    );
    mechanisms(
        "foreign.toml",
        "[[mechanism]]\nkind = \"gaussian\"\nnoise-multiplier = 1.0\nepsilon = 1.0",
        &["mechanism 1.epsilon is not a parameter of kind = \"gaussian\"", "noise-multiplier"],
    );
    mechanisms(
        "unsampled.toml",
        "[[mechanism]]\nkind = \"gaussian\"\nnoise-multiplier = 1.0\nsampling-probability = 0.1",
        &["nothing is sampled"],
    );
    mechanisms(
        "rate.toml",
        "[[mechanism]]\nkind = \"gaussian\"\nnoise-multiplier = 1.0\nsampling = \"poisson\"",
        &["mechanism 1.sampling-probability is missing"],
    );
    mechanisms(
        "points.toml",
        "[[mechanism]]\nkind = \"profile\"\npoints = [[0.0, 2.0]]",
        &["point 1", "delta is 2"],
    );
    mechanisms(
        "no-points.toml",
        "[[mechanism]]\nkind = \"profile\"\npoints = []",
        &["[epsilon, delta] pairs"],
    );
    mechanisms(
        "file.toml",
        "[[mechanism]]\nkind = \"channel\"\nchannel = \"no.csv\"",
        &["no.csv", "cannot read"],
    );
    mechanisms("single.toml", "[mechanism]\nkind = \"gaussian\"", &["[[mechanism]]"]);
    mechanisms(
        "update.toml",
        "[update]\nnoise-multiplier = 1.0",
        &["[update] is not for algorithm = \"composition\""],
    );
    mechanisms(
        "local.toml",
        "neighbours = \"zero-out\"\n[[mechanism]]\nkind = \"randomised-response\"\nepsilon = 1.0",
        &["mechanism 1", "not supported", "replace-one"],
    );
    changed(
        "extra.toml",
        "[target]",
        "[[mechanism]]\nkind = \"gaussian\"\n[target]",
        &["algorithm = \"composition\" only"],
    );
}

#[test]
fn every_word_of_the_examples_comments_is_accepted() {
    for order in ["once", "cyclic", "shuffled", "poisson", "without-replacement"] {
        for release in ["last", "random-stop", "random-skip", "all"] {
            let (order, release) = (format!("order={order}"), format!("release={release}"));
            let arguments = ["account", "--set", "epochs=1", "--set", "neighbours=replace-one", "--set"];
            dobrushin(&arguments).args([&order, "--set", &release, "--quiet"]).assert().success();
        }
    }
    for set in
        ["divide-by=actual", "lipschitz=2.0", "learning-rate={ inverse-sqrt = 0.1 }", "iterate-noise=0.001"]
    {
        dobrushin(&["account", "--set", set, "--quiet"]).assert().success();
    }
}

#[test]
fn records_are_counted_from_one() {
    for record in ["0", "10001", "-1", "1.5", "\"first\""] {
        let set = format!("record={record}");
        let shown =
            if record == "10001" { "between 1 and the number of records, 10000" } else { "run.record is" };
        refused(&["examples/pnsgd.toml", "--set", &set], &["run.record is", shown]);
    }
    for record in ["1", "10000"] {
        let set = format!("record={record}");
        dobrushin(&["account", "examples/pnsgd.toml", "--set", &set]).assert().success();
    }
}

/// Exactly one message, whatever is wrong.
#[test]
fn there_is_one_message_for_each_mistake() {
    for set in ["noise-multiplier=-1", "records=0", "zebra=1", "learning-rate=-9", "order=poison", "record=0"]
    {
        let assert = dobrushin(&["account", "--set", set]).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert_eq!(message.matches("error:").count(), 1, "{message}");
        assert_eq!(message.matches("help:").count(), 1, "{message}");
    }
}

#[test]
fn a_section_that_an_algorithm_does_not_read_is_refused() {
    for (run, algorithm) in [("examples/mechanisms.toml", "composition"), ("examples/chain.toml", "chain")] {
        // A release that is not counted must not look as if it were.
        for (key, section) in
            [("evaluation.noise-multiplier=1e-3", "evaluation"), ("model.kind=linear", "model")]
        {
            let words = format!("[{section}] is not for algorithm = \"{algorithm}\"");
            refused(&[run, "--set", key], &[&words]);
        }
    }
}
