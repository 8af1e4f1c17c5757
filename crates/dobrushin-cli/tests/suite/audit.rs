//! `dobrushin audit`: attacks by scores and on somebody's program, held against a claim.

use crate::support::{bounds, dobrushin, file, json, own_folder};
use dobrushin::numeric::Random;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A standard normal number (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let (radius, angle) =
        (random.between(f64::MIN_POSITIVE, 1.0), random.between(0.0, std::f64::consts::TAU));
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

/// Files of scores that are normal with these means.
fn scores(name: &str, runs: usize, mu: f64) -> [String; 2] {
    let mut random = Random::new(runs as u64);
    [("with", mu), ("without", 0.0)].map(|(kind, mean)| {
        let lines: String = (0..runs).map(|_| format!("{}\n", mean + normal(&mut random))).collect();
        text(&file(&format!("{name}-{kind}.csv"), format!("score\n{lines}")))
    })
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// The exit code, the JSON, and what is said on standard error.
fn asked(arguments: &[&str]) -> (Option<i32>, Value, String) {
    let output = dobrushin(arguments).arg("--json").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), said)
}

fn refused(arguments: &[&str], words: &[&str]) {
    let output = dobrushin(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty());
    assert!(words.iter().all(|word| said.contains(word)), "{arguments:?}: {said}");
}

#[test]
fn the_json_has_the_fields_of_the_contract() {
    let [with, without] = scores("contract", 2000, 1.0);
    let report = json(&["audit", "--scores", &with, &without, "--epsilon", "4.4", "--delta", "1e-5"]);
    assert_eq!((&report["floor"], &report["violation"]), (&Value::Null, &Value::Bool(false)));
    let attack = &report["attacks"][0];
    assert_eq!((attack["id"].as_str(), attack["runs"].as_u64()), (Some("scores"), Some(4000)));
    assert_eq!(attack["confidence"].as_f64(), Some(0.95));
    let number = |value: &Value| value.as_f64().expect("a number");
    let (proved, most) = (number(&attack["epsilon"]["lower"]), number(&attack["provable_at_most"]));
    assert!(1.0 < proved && proved < 4.377 && proved < most, "{proved} {most}");
    let gaussian = number(&attack["gaussian"]["epsilon"]["lower"]);
    assert!(proved < gaussian && gaussian < 4.377, "{gaussian}");
    assert_eq!(bounds(&report["guarantee"]["epsilon"]), (4.4, 4.4));
    assert_eq!(report["guarantee"]["delta"].as_f64(), Some(1e-5));
    assert_eq!((&report["composition"], &attack["contradiction"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_false_claim_exits_with_1_and_says_what_to_suspect() {
    let [with, without] = scores("false", 2000, 1.0);
    let arguments = ["audit", "--scores", &with, &without, "--epsilon", "0.5", "--delta", "1e-5"];
    let output = dobrushin(&arguments).output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.starts_with("The claim ε ≤ 0.5 at δ = 1e-5 is false, with 95% confidence. At ε = "),
        "{said}"
    );
    for word in ["noise", "clipped", "batch", "twice", "neighbours"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let (code, report, _) = asked(&arguments);
    assert_eq!((code, &report["violation"]), (Some(1), &Value::Bool(true)));
    let found = &report["attacks"][0]["contradiction"];
    assert!(found["proved_delta"].as_f64() > found["claimed_delta"].as_f64());
}

#[test]
fn a_run_file_claims_its_whole_profile() {
    // One step with noise multiplier 1 on neighbours that differ by adding: exactly the two normal laws of the scores.
    let run = "[run]\nalgorithm = \"gradient-descent\"\nrecords = 100\nsteps = 1\nneighbours = \"add-or-remove-one\"\n\
               [update]\nlearning-rate = 1.0\nclip-norm = 1.0\nnoise-multiplier = MULTIPLIER\n[target]\ndelta = 1e-5\n";
    let [with, without] = scores("profile", 4000, 1.0);
    for (multiplier, code) in [("1.0", 0), ("1.3", 1)] {
        let run = text(&file(&format!("run-{multiplier}.toml"), run.replace("MULTIPLIER", multiplier)));
        let (exit, report, said) = asked(&["audit", "--scores", &with, &without, &run]);
        assert_eq!(exit, Some(code), "{said}");
        // At δ = 1e-5 itself, these runs prove less than is claimed in both cases.
        let proved = report["attacks"][0]["epsilon"]["lower"].as_f64().expect("a number");
        let (_, claimed) = bounds(&report["guarantee"]["epsilon"]);
        assert!(proved < claimed && claimed < bounds(&report["composition"]["epsilon"]).1 + 1e-3);
        assert!(report["guarantee"]["analysis"].is_string() && report["run"].is_object());
    }
    // A value that is set changes the claim.
    let run = text(&own_folder().join("run-1.0.toml"));
    let set = ["audit", "--scores", &with, &without, &run, "--set", "noise-multiplier=1.3"];
    assert_eq!(asked(&set).0, Some(1));
}

#[test]
fn more_confidence_proves_less() {
    let [with, without] = scores("confidence", 1000, 1.0);
    let at = |confidence: &str| {
        let report = json(&[
            "audit",
            "--scores",
            &with,
            &without,
            "--epsilon",
            "5",
            "--delta",
            "1e-5",
            "--confidence",
            confidence,
        ]);
        report["attacks"][0]["epsilon"]["lower"].as_f64().expect("a number")
    };
    assert!(at("0.5") > at("0.95") && at("0.95") > at("0.999999"));
}

#[test]
fn whole_models_are_scored_by_a_direction() {
    let mut random = Random::new(4);
    let paths = [("with", 3.0), ("without", 0.0)].map(|(kind, shift)| {
        let mut line = || {
            let common = 20.0 * normal(&mut random);
            format!("{},{}\n", common + shift + normal(&mut random), common + normal(&mut random))
        };
        let lines: String = (0..1000).map(|_| line()).collect();
        text(&file(&format!("models-{kind}.csv"), format!("a,b\n{lines}")))
    });
    let claim = |epsilon: &str| {
        asked(&["audit", "--scores", &paths[0], &paths[1], "--epsilon", epsilon, "--delta", "1e-5"])
    };
    let (code, report, _) = claim("1");
    assert_eq!((code, report["attacks"][0]["id"].as_str()), (Some(1), Some("direction")));
    // The direction that tells has distance 3/√2.
    let mu = report["attacks"][0]["gaussian"]["mu"]["lower"].as_f64().expect("a number");
    assert!((1.6..2.13).contains(&mu), "{mu}");
    assert_eq!(claim("12").0, Some(0));
}

#[test]
fn infinite_and_equal_scores_are_scores() {
    let paths = [("inf", "with"), ("-inf", "without")]
        .map(|(score, kind)| text(&file(&format!("infinite-{kind}.csv"), format!("{score}\n").repeat(40))));
    let (code, report, said) =
        asked(&["audit", "--scores", &paths[0], &paths[1], "--epsilon", "1", "--delta", "1e-5"]);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(report["attacks"][0]["epsilon"]["lower"], report["attacks"][0]["provable_at_most"]);
    // A program with a fixed seed would look like this.
    assert!(report["warnings"][0].as_str().is_some_and(|words| words.contains("seed")), "{report}");
    let same = ["audit", "--scores", &paths[0], &paths[0], "--epsilon", "0", "--delta", "0"];
    let report = json(&same);
    assert_eq!(report["attacks"][0]["epsilon"]["lower"].as_f64(), Some(0.0));
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(0));
}

#[test]
fn bad_scores_are_refused_with_their_place() {
    let good = text(&file("good.csv", "0.5\n".repeat(20)));
    let claim = ["--epsilon", "1", "--delta", "1e-5"];
    let bad = |name: &str, content: &str, words: &[&str]| {
        let path = text(&file(name, content));
        refused(&[&["audit", "--scores", &good, &path][..], &claim].concat(), words);
    };
    bad("nan.csv", "1\n2\nnan\n4\n5\n", &["score 3 without the record", "not a number"]);
    bad("word.csv", "score\n1\nhigh\n", &["line 3, column 1", "\"high\""]);
    bad("empty.csv", "", &["there are no numbers"]);
    bad("few.csv", "1\n2\n3\n", &["3 runs without the record", "at least 4"]);
    bad("ragged.csv", "1,2\n3\n", &["line 2 has 1 cells"]);
    bad("wide.csv", "1,2\n3,4\n", &["1 numbers on a line", "has 2"]);
    bad("binary.csv", "\u{0}\u{1}\n2\n\u{2}\n", &["line 3, column 1"]);
    let missing = text(&own_folder().join("missing.csv"));
    refused(&[&["audit", "--scores", &good, &missing][..], &claim].concat(), &["cannot read", "missing.csv"]);
    refused(
        &["audit", "--scores", &good, "--epsilon", "1", "--delta", "1e-5"],
        &["--scores", "2 values required"],
    );
    refused(&["audit", "--scores", &good, &good], &["RUN"]);
    refused(&["audit", "--scores", &good, &good, "--epsilon", "1"], &["--delta"]);
    refused(&["audit", "--epsilon", "1", "--delta", "1e-5"], &["--scores", "--command"]);
    let both = [&["audit", "--scores", &good, &good, "examples/noisy-gd.toml"][..], &claim].concat();
    refused(&both, &["--epsilon", "cannot be used with"]);
    let twice =
        ["audit", "--scores", &good, &good, "examples/noisy-gd.toml", "--run", "examples/noisy-gd.toml"];
    refused(&twice, &["--run", "cannot be used with"]);
    for (confidence, words) in [("1", "below 1"), ("0", "above 0"), ("nan", "NaN"), ("high", "not a number")]
    {
        let more = ["--confidence", confidence];
        refused(&[&["audit", "--scores", &good, &good][..], &claim, &more].concat(), &[words]);
    }
    refused(&["audit", "--scores", &good, &good, "--epsilon", "1", "--delta", "1"], &["δ is 1"]);
    let state = ["--state", &good];
    refused(&[&["audit", "--scores", &good, &good][..], &claim, &state].concat(), &["--command"]);
}

#[test]
fn the_trade_off_is_drawn_and_no_input_is_replaced() {
    let [with, without] = scores("drawn", 400, 1.0);
    let base = ["audit", "--scores", &with, &without, "examples/noisy-gd.toml", "--plot"];
    for name in ["audit.svg", "audit.html"] {
        let path = own_folder().join(name);
        let _ = std::fs::remove_file(&path);
        dobrushin(&[&base[..], &[&text(&path)]].concat()).output().expect("it runs");
        let drawn = std::fs::read_to_string(&path).expect("it was drawn");
        for word in [
            "guarantee",
            "composition",
            "guessing",
            "true-positive rate",
            "from counted to proved",
            "scores",
            "floor",
        ] {
            assert!(drawn.contains(word), "{word}");
        }
    }
    refused(&[&base[..], &["audit.gif"]].concat(), &[".svg"]);
    let svg = text(&file("input.svg", "1\n".repeat(9)));
    refused(
        &["audit", "--scores", &svg, &without, "--epsilon", "1", "--delta", "0", "--plot", &svg],
        &["the scores"],
    );
}

/// A trainer in awk, which releases the number of records plus noise: with these data sets, N(3, 1) or N(2, 1), over the
/// noise. It logs its calls.
const TRAINER: &str = r#"echo "$4" >> "$0.log"
awk -v n="$3" -v seed="$4" -v noise="${NOISE:-1}" 'END {
    srand(seed * 7919 + 17)
    for (i = 0; i < 20; i++) rand()
    for (i = 0; i < n; i++) print NR + noise * sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand())
}' "$1" > "$2"
"#;

/// A folder's name, and the words of an audit of the trainer there, with more words.
struct Trainer {
    folder: PathBuf,
    words: Vec<String>,
}

fn trainer(name: &str, command: &str, more: &[&str]) -> Trainer {
    let folder = own_folder().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder of the tests is writable");
    let write = |name: &str, content: &str| {
        std::fs::write(folder.join(name), content).expect("the folder is ours");
        text(&folder.join(name))
    };
    let (data, neighbour) = (write("it's with.csv", "a\nb\nc\n"), write("without.csv", "a\nb\n"));
    let script = write("train.sh", TRAINER);
    let command = command.replace("TRAIN", &format!("sh '{}'", script.replace('\'', r"'\''")));
    let words =
        ["audit", "--command", &command, "--data", &data, "--neighbour", &neighbour, "--delta", "1e-5"];
    let words = words.iter().chain(more).map(|word| (*word).to_owned()).collect();
    Trainer { folder, words }
}

impl Trainer {
    fn asked(&self, more: &[&str]) -> (Option<i32>, Value, String) {
        let words: Vec<&str> = self.words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        asked(&words)
    }

    fn refused(&self, more: &[&str], expected: &[&str]) {
        let words: Vec<&str> = self.words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        refused(&words, expected);
    }

    /// The numbers of the calls that were made.
    fn calls(&self) -> Vec<u64> {
        let log = std::fs::read_to_string(self.folder.join("train.sh.log")).unwrap_or_default();
        let mut calls: Vec<u64> = log.lines().map(|line| line.parse().expect("a number")).collect();
        calls.sort_unstable();
        calls
    }
}

#[test]
fn a_program_that_keeps_its_promise_is_not_contradicted_and_one_with_half_the_noise_is() {
    let command = "TRAIN {data} {out} {runs} {seed}";
    let honest = trainer("honest", command, &["--epsilon", "4.38", "--runs", "1500", "--jobs", "2"]);
    let (code, report, said) = honest.asked(&[]);
    assert_eq!(code, Some(0), "{said}");
    let attack = &report["attacks"][0];
    assert_eq!((attack["id"].as_str(), attack["runs"].as_u64()), (Some("scores"), Some(3000)));
    // It proves a sizeable part of its 4.377.
    assert!(attack["gaussian"]["epsilon"]["lower"].as_f64().expect("a number") > 3.0, "{attack}");
    // Calls are cut, so that progress is seen, and each has its own seed.
    let calls = honest.calls();
    assert!(calls.len() >= 8 && calls.windows(2).all(|pair| pair[0] < pair[1]), "{calls:?}");
    let careless = trainer("careless", &format!("NOISE=0.5 {command}"), &["--runs", "1500", "--jobs", "2"]);
    // The claim is the profile of one Gaussian step.
    let run = text(&file(
        "claimed.toml",
        "[run]\nalgorithm = \"gradient-descent\"\nrecords = 3\nsteps = 1\nneighbours = \"add-or-remove-one\"\n\
         [update]\nlearning-rate = 1.0\nclip-norm = 1.0\nnoise-multiplier = 1.0\n",
    ));
    assert_eq!(careless.asked(&[&run]).0, Some(1));
    assert_eq!(honest.asked(&[]).0, Some(0));
}

#[test]
fn without_a_place_for_runs_every_call_trains_one_model() {
    let single =
        trainer("single", "TRAIN {data} {out} 1 {seed}", &["--epsilon", "9", "--runs", "6", "--jobs", "2"]);
    let (code, report, said) = single.asked(&[]);
    assert_eq!((code, report["attacks"][0]["runs"].as_u64()), (Some(0), Some(12)), "{said}");
    assert_eq!(single.calls(), (0..12).collect::<Vec<u64>>());
}

#[test]
fn a_program_that_fails_is_named_with_what_it_said() {
    let claim = ["--epsilon", "1", "--runs", "8", "--jobs", "1"];
    let try_it =
        |name: &str, command: &str, words: &[&str]| trainer(name, command, &claim).refused(&[], words);
    try_it(
        "fails",
        "echo 'no such column' >&2; exit 3; : {data} {out}",
        &["exit status: 3", "no such column", "exit 3"],
    );
    try_it("silent", "exit 1; : {data} {out}", &["exit status: 1", "said nothing"]);
    try_it("missing", "no-such-program {data} {out}", &["no-such-program"]);
    try_it("no-answer", "true {data} {out}", &["wrote no {out}"]);
    try_it("empty", ": {data} > {out}", &["there are no numbers"]);
    try_it("word", "echo loss=3 {data} > {out}; echo x >> {out}", &["line 2, column 1"]);
    try_it("two-lines", "seq 2 > {out}; : {data}", &["wrote 2 lines", "not 1", "{runs}"]);
    try_it("short", "seq 1 > {out}; : {data} {runs} {runs}", &["wrote"]);
    try_it(
        "ragged",
        "if [ {seed} = 1 ]; then echo 1,2; else echo 1; fi > {out}; : {data}",
        &["numbers and another one"],
    );
    try_it("no-place", "train.py {data}", &["{out}"]);
    try_it("in-quotes", "train.py '{data}' {out}", &["without quotes"]);
    let same = trainer("same", "TRAIN {data} {out} {runs} {seed}", &claim);
    let data = text(&same.folder.join("copy.csv"));
    std::fs::write(&data, "a\nb\nc\n").expect("the folder is ours");
    let with = text(&same.folder.join("it's with.csv"));
    let same_data =
        ["audit", "--command", "x {data} {out}", "--data", &with, "--neighbour", &data, "--delta", "1e-5"];
    refused(&[&same_data[..], &claim].concat(), &["the same records"]);
    refused(
        &["audit", "--command", "x {data} {out}", "--epsilon", "1", "--delta", "0"],
        &["--data", "--neighbour"],
    );
}

#[test]
fn a_fixed_seed_is_noticed() {
    let fixed =
        trainer("fixed", "TRAIN {data} {out} {runs} 5", &["--epsilon", "1", "--runs", "40", "--jobs", "1"]);
    fixed.refused(&[], &["the same numbers", "{seed}"]);
}

#[test]
fn finished_calls_are_not_made_again() {
    let command = "TRAIN {data} {out} {runs} {seed}";
    let resumed = trainer("resumed", command, &["--epsilon", "9", "--jobs", "2"]);
    let state = text(&resumed.folder.join("audit.state"));
    let (code, first, said) = resumed.asked(&["--runs", "40", "--state", &state]);
    assert_eq!(code, Some(0), "{said}");
    let calls = resumed.calls();
    // The same again: nothing is called, and the answer is the same.
    let (_, again, _) = resumed.asked(&["--runs", "40", "--state", &state]);
    assert_eq!((resumed.calls(), &again), (calls.clone(), &first));
    // More runs: only what is missing, with seeds that no call had.
    let (_, more, _) = resumed.asked(&["--runs", "60", "--state", &state]);
    assert_eq!(more["attacks"][0]["runs"].as_u64(), Some(120));
    let all = resumed.calls();
    assert!(all.len() > calls.len() && all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    // Another program, or other data, is not continued.
    let state_of = |words: &[&str]| trainer("resumed-other", &format!("{command} "), words);
    state_of(&["--epsilon", "9", "--runs", "40", "--state", &state])
        .refused(&[], &["the state of another audit", "give another --state"]);
    let notes = text(&file("notes.txt", "my notes\n"));
    resumed.refused(&["--runs", "40", "--state", &notes], &["is not the state of an audit"]);
    assert_eq!(std::fs::read_to_string(&notes).expect("it is there"), "my notes\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&state).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o077, 0, "scores tell about records");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_loses_nothing_that_was_finished() {
    let command = "sleep 0.1; TRAIN {data} {out} 1 {seed}";
    let slow = trainer("interrupted", command, &["--epsilon", "9", "--runs", "40", "--jobs", "2"]);
    let state = slow.folder.join("audit.state");
    let temporary = slow.folder.join("tmp");
    std::fs::create_dir(&temporary).expect("the folder is ours");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_dobrushin"))
        .args(&slow.words)
        .args(["--state", &text(&state)])
        .env("TMPDIR", &temporary)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let finished = || std::fs::read_to_string(&state).unwrap_or_default().lines().count().saturating_sub(1);
    let start = Instant::now();
    while finished() < 4 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("there is kill").success());
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    let (kept, left) = (finished(), std::fs::read_dir(&temporary).expect("the folder is ours").count());
    assert!((4..80).contains(&kept), "{kept}");
    assert_eq!(left, 0, "temporary files are removed");
    // A terminal interrupts the calls that are under way, too; `kill` does not, and they come to their end.
    std::thread::sleep(Duration::from_millis(600));
    let before = slow.calls().len();
    let (code, report, said) = slow.asked(&["--state", &text(&state)]);
    assert_eq!((code, report["attacks"][0]["runs"].as_u64()), (Some(0), Some(80)), "{said}");
    // Only calls that were under way are made again.
    assert_eq!(slow.calls().len() - before, 80 - kept);
}
