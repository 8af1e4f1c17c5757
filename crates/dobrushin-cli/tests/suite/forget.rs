//! A person asks to be deleted: from training to certificate, and everything that can go wrong.

use crate::support::root;
use crate::train_support::{files_in, new_folder, read_json};
use dobrushin_reference::is_deep;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder with a table of people, some of whom have several rows.
struct Desk {
    folder: PathBuf,
}

const SCHEMA: &str = "label = \"y\"\n[columns.a]\nkind = \"number\"\nlower = -10\nupper = 10\n[columns.c]\nkind = \"category\"\n\
                      categories = [\"red\", \"green\"]\n[columns.y]\nkind = \"category\"\ncategories = [\"no\", \"yes\"]\n";
const RUN: &str = "[run]\nalgorithm = \"dp-sgd\"\nsteps = 60\nbatch-size = 10\norder = \"cyclic\"\n[update]\n\
                   learning-rate = 0.3\nnoise-multiplier = 4.0\nweight-decay = 0.1\n[model]\nkind = \"logistic\"\n\
                   schema = \"schema.toml\"\n[domain]\nball = 20\n[target]\ndelta = 1e-3\n";
const ROWS: usize = 57;
const SEEDED: &str = "--seed 1 --not-private";
const TRAIN: &str = "train data.csv --run run.toml --out model --keep-state state";
const FORGET: &str = "forget --state state --data data.csv --epsilon 0.05 --delta 1e-3";

/// Row i, from 0: a number, a person with up to three rows, and what is trained on. Rows 7 and 40 are alike but for the
/// columns that are not trained on.
fn row(i: usize) -> String {
    let number = if i == 40 { 7 } else { i };
    let (colour, answer) = (["red", "green"][number % 2], ["no", "yes"][number / 2 % 2]);
    format!("{i},p{},{},{colour},{answer}", i / 3, number as f64 / 3.0 - 9.0)
}

fn table(rows: impl IntoIterator<Item = usize>) -> String {
    let rows: Vec<String> = rows.into_iter().map(row).collect();
    format!("id,person,a,c,y\n{}\n", rows.join("\n")).replace("\n\n", "\n")
}

impl Desk {
    fn new() -> Self {
        let desk = Self { folder: new_folder() };
        fs::create_dir_all(&desk.folder).expect("the folder of the tests is writable");
        desk.write("schema.toml", SCHEMA);
        desk.write("run.toml", RUN);
        desk.write("data.csv", &table(0..ROWS));
        desk.write("rows.csv", &table([7]));
        desk
    }

    /// A desk with a model of a known seed and its state.
    fn trained() -> Self {
        let desk = Self::new();
        desk.does(&format!("{TRAIN} {SEEDED}"));
        desk
    }

    fn write(&self, name: &str, content: &str) {
        fs::write(self.folder.join(name), content).expect("the folder is ours");
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dobrushin"));
        command.current_dir(&self.folder).args(words.split(' ').filter(|word| !word.is_empty()));
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("the program starts")
    }

    /// What it prints with `--json`.
    fn does(&self, words: &str) -> Value {
        let output = self.run(&format!("{words} --json"));
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// What it says instead of doing it; nothing is changed by that.
    fn refuses(&self, words: &str, code: i32) -> String {
        let before = self.everything();
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(self.everything() == before, "{words} changed something");
        String::from_utf8(output.stderr).expect("UTF-8")
    }

    /// The content of all files, hidden ones too.
    fn everything(&self) -> Vec<(String, Vec<u8>)> {
        let folders = ["", "model", "new"].map(|folder| self.folder.join(folder));
        let names =
            folders.iter().flat_map(|folder| files_in(folder).into_iter().map(|name| folder.join(name)));
        let files = names.filter(|path| path.is_file());
        files.map(|path| (path.display().to_string(), fs::read(&path).unwrap_or_default())).collect()
    }

    fn parameters(&self, folder: &str) -> Value {
        read_json(&self.folder.join(folder).join("model.json"))["parameters"].clone()
    }
}

#[test]
fn from_training_to_a_certificate_over_two_requests() {
    let desk = Desk::new();
    let trained = desk.does(TRAIN);
    assert_eq!(trained["state"], "state");
    assert_eq!(read_json(&desk.folder.join("model/certificate.json"))["training"]["keeps_state"], true);
    assert!(desk.run("certificate verify model/certificate.json --model model/model.json").status.success());
    let before = desk.bytes("state");
    let first = desk.does(&format!("{FORGET} --remove rows.csv --out first"));
    assert_eq!((&first["records"], &first["requests"]), (&1.into(), &1.into()));
    assert!(first["guarantee"]["epsilon"]["upper"].as_f64().is_some_and(|epsilon| epsilon <= 0.05));
    assert!(first["everyone_else"]["epsilon"]["upper"].as_f64().is_some_and(|epsilon| epsilon > 0.0));
    assert_ne!(desk.bytes("state"), before);
    let second = desk.does(&format!("{FORGET} --remove-where person=p9 --out second"));
    assert_eq!(
        (&second["records"], &second["requests"], &second["deleted"]),
        (&3.into(), &2.into(), &4.into())
    );
    let certificate = read_json(&desk.folder.join("second/certificate.json"));
    let steps = [&first["steps"], &second["steps"]].map(|steps| steps.as_u64().expect("a number"));
    assert_eq!(certificate["run"]["forget"]["records"], serde_json::json!([1, 3]));
    assert_eq!(certificate["run"]["forget"]["steps"], serde_json::json!(steps));
    assert_eq!(certificate["run"]["run"]["neighbours"], "zero-out");
    let says = String::from_utf8(desk.bytes("second/certificate.txt")).expect("UTF-8");
    let says = says.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "as if the 4 records that were deleted had never been used",
        "does not depend on any model that was released",
        "the records that remain: this certificate is about the deleted ones alone",
        "the state that was kept",
    ] {
        assert!(says.contains(words), "{words}: {says}");
    }
    for folder in ["first", "second"] {
        let words = format!("certificate verify {folder}/certificate.json --model {folder}/model.json");
        assert!(desk.run(&words).status.success(), "{folder}");
        assert!(desk.run(&format!("predict {folder}/model.json data.csv")).status.success());
    }
    // One step fewer does not meet the target, in either request.
    let fewer = ["--set", &format!("forget.steps={}", steps[0] - 1)].join(" ");
    desk.write(
        "forget.toml",
        &format!("{RUN}[forget]\nsteps = {}\n", steps[0])
            .replace("60\n", "60\nrecords = 57\nneighbours = \"zero-out\"\n"),
    );
    let account = desk.does("account forget.toml --delta 1e-3");
    assert_eq!(account["guarantee"]["epsilon"], first["guarantee"]["epsilon"]);
    let account = desk.does(&format!("account forget.toml --delta 1e-3 {fewer}"));
    assert!(account["guarantee"]["epsilon"]["upper"].as_f64().is_some_and(|epsilon| epsilon > 0.05));
}

#[test]
fn it_makes_no_difference_whether_the_rows_are_still_in_the_data() {
    let of = |data: String, how: &str| {
        let desk = Desk::trained();
        desk.write("rows.csv", &table([20]));
        desk.write("data.csv", &data);
        desk.does(&format!("{FORGET} {how} --out new {SEEDED}"));
        desk.parameters("new")
    };
    let still_there = of(table(0..ROWS), "--remove rows.csv");
    assert_eq!(of(table((0..ROWS).filter(|&i| i != 20)), "--remove rows.csv"), still_there);
    assert_eq!(of(table(0..ROWS), "--remove-where id=20"), still_there);
    assert_ne!(of(table(0..ROWS), "--remove-where id=21"), still_there);
}

#[test]
fn what_a_deleted_row_holds_later_changes_nothing() {
    let of = |content: &str| {
        let desk = Desk::trained();
        desk.does(&format!("{FORGET} --remove-where id=7 --out new {SEEDED}"));
        let data = table(0..ROWS).replace(&format!("\n{}\n", row(7)), &format!("\n{content}\n"));
        desk.write("data.csv", &data);
        desk.does(&format!("{FORGET} --remove-where id=9 --out new --force --seed 2 --not-private"));
        desk.parameters("new")
    };
    let usual = of(&row(7));
    for content in ["", "7,p2,10,green,yes", "7,p2,nan,red,no", "\"", "7,p2,x"] {
        assert_eq!(of(content), usual, "{content}");
    }
}

#[test]
fn rows_that_are_alike_are_told_apart_by_another_column_or_by_what_is_missing() {
    let of = |data: String, how: &str| {
        let desk = Desk::trained();
        desk.write("data.csv", &data);
        desk.does(&format!("{FORGET} {how} --out new {SEEDED}"));
        desk.parameters("new")
    };
    let (first, second) =
        (of(table(0..ROWS), "--remove-where id=7"), of(table(0..ROWS), "--remove-where id=40"));
    assert_ne!(first, second);
    // Row 7 is in rows.csv; row 40 looks like it.
    assert_eq!(of(table(0..ROWS), "--remove rows.csv"), first);
    assert_eq!(of(table((0..ROWS).filter(|&i| i != 40)), "--remove rows.csv"), second);
}

#[test]
fn all_rows_of_a_person_are_deleted_together() {
    let of = |how: &str| {
        let desk = Desk::trained();
        desk.write("people.csv", "person\np2\np5\n");
        let report = desk.does(&format!("{FORGET} {how} --out new {SEEDED}"));
        (report["records"].clone(), desk.parameters("new"))
    };
    let people = of("--remove people.csv --group person");
    assert_eq!(people.0, 6);
    assert_eq!(of("--remove-where id=7 --remove-where id=15 --group person"), people);
    assert_eq!(of("--remove-where person=p2 --remove-where person=p5"), people);
    assert_eq!(of("--remove rows.csv").0, 1);
    assert_eq!(of("--remove rows.csv --group person").0, 3);
}

#[test]
fn requests_that_cannot_be_carried_out_change_nothing_and_say_why() {
    let desk = Desk::trained();
    desk.write("unknown.csv", "a,c,y\n1.234,red,no\n");
    desk.write("twice.csv", &table([20, 20]));
    desk.write("none.csv", "a,c,y\n");
    desk.write("columns.csv", "a,c\n1,red\n");
    desk.write("people.csv", "person\np2\nnobody\n");
    desk.write("fewer.csv", &table(0..ROWS - 1));
    desk.write("other.csv", &table(0..ROWS).replace("-9,red", "-8,red"));
    desk.write("moved.csv", &table([1, 0].into_iter().chain(2..ROWS)));
    for (how, code, says) in [
        ("--remove unknown.csv --out new", 2, "row 1 of the rows to remove is no row of the training data"),
        ("--remove twice.csv --out new", 2, "row 2 of the rows to remove is given more often"),
        ("--remove none.csv --out new", 2, "names no row"),
        ("--remove columns.csv --out new", 2, "there is no column \"y\""),
        ("--remove missing.csv --out new", 2, "missing.csv"),
        ("--remove-where id=99 --out new", 2, "names no row"),
        ("--remove-where nothing=9 --out new", 2, "there is no column \"nothing\""),
        ("--remove-where id --out new", 2, "does not name a column and a value"),
        ("--remove-where =3 --out new", 2, "does not name a column and a value"),
        (
            "--remove people.csv --group person --out new",
            2,
            "1 values of the group in people.csv are in no row",
        ),
        ("--remove-where id=7 --group nothing --out new", 2, "there is no column \"nothing\""),
        ("--remove rows.csv --data fewer.csv --out new", 2, "56 rows, but 57 were trained on"),
        ("--remove-where id=7 --data fewer.csv --out new", 2, "56 rows, but 57 were trained on"),
        (
            "--remove-where id=7 --data other.csv --out new",
            2,
            "row 1 of the data is not the row that was trained on",
        ),
        (
            "--remove-where id=7 --data moved.csv --out new",
            2,
            "row 1 of the data is not the row that was trained on",
        ),
        ("--remove-where y=yes --remove-where y=no --out new", 2, "deletes all rows that remain"),
        ("--remove rows.csv --remove-where id=7 --out new", 2, "cannot be used with"),
        ("--out new", 2, "--remove"),
        ("--remove rows.csv", 2, "--out"),
        ("--remove rows.csv --out model", 2, "already exists"),
        ("--remove rows.csv --out new --steps 0", 2, "steps"),
        ("--remove rows.csv --out new --steps 1", 1, "these clean steps give ε"),
        ("--remove rows.csv --out new --epsilon nan", 2, "--epsilon"),
        ("--remove rows.csv --out new --epsilon -1", 2, "--epsilon"),
        ("--remove rows.csv --out new --epsilon 0", 2, "--epsilon is 0"),
        ("--remove rows.csv --out new --delta 1", 2, "δ is 1"),
        ("--remove rows.csv --out new --delta 0", 2, "--delta is 0"),
        ("--remove rows.csv --out new --seed 3", 2, "--not-private"),
        ("--remove rows.csv --out new --report data.csv", 2, "data.csv"),
        ("--remove rows.csv --dry-run --out new", 2, "cannot be used with"),
    ] {
        // What is given twice replaces what is usual.
        let usual = ["--data data.csv", "--epsilon 0.05", "--delta 1e-3"];
        let mut words = "forget --state state".to_owned();
        for flag in usual.iter().filter(|flag| !how.contains(flag.split(' ').next().expect("a flag"))) {
            words += &format!(" {flag}");
        }
        let said = desk.refuses(&format!("{words} {how}"), code);
        assert!(said.contains(says), "{how}: {said}");
        assert!(!desk.folder.join("new/model.json").exists());
    }
}

#[test]
fn what_was_deleted_cannot_be_deleted_again() {
    let desk = Desk::trained();
    desk.does(&format!("{FORGET} --remove-where person=p2 --out new"));
    let already = desk.refuses(&format!("{FORGET} --remove-where id=7 --out other"), 2);
    assert!(already.contains("already deleted"), "{already}");
    // Row 40 looks like row 7, and is still there.
    assert_eq!(desk.does(&format!("{FORGET} --remove rows.csv --dry-run"))["records"], 1);
    desk.write("rows.csv", &table([6]));
    let already = desk.refuses(&format!("{FORGET} --remove rows.csv --out other"), 2);
    assert!(already.contains("or was already deleted"), "{already}");
    // Rows of the same person that are left are not refused because others are gone.
    assert_eq!(
        desk.does(&format!("{FORGET} --remove-where id=7 --remove-where id=9 --dry-run"))["records"],
        1
    );
}

#[test]
fn a_dry_run_says_how_many_steps_it_takes_and_does_nothing() {
    let desk = Desk::trained();
    let before = desk.everything();
    let dry = desk.does(&format!("{FORGET} --remove rows.csv --dry-run"));
    assert!(desk.everything() == before && dry.get("model").is_none() && dry.get("state").is_none());
    let done = desk.does(&format!("{FORGET} --remove rows.csv --out new"));
    assert_eq!((&done["steps"], &done["guarantee"]), (&dry["steps"], &dry["guarantee"]));
    assert_eq!(done["model"], "new/model.json");
    // More steps give less.
    let more = dry["steps"].as_u64().expect("a number") + 5;
    let desk = Desk::trained();
    let more = desk.does(&format!(
        "forget --state state --data data.csv --delta 1e-3 --remove rows.csv --steps {more} --dry-run"
    ));
    let upper = |report: &Value| report["guarantee"]["epsilon"]["upper"].as_f64().expect("a number");
    assert!(upper(&more) < upper(&dry));
}

#[test]
fn a_known_seed_anywhere_protects_nobody() {
    for (train, forget) in [("", ""), (SEEDED, ""), ("", SEEDED), (SEEDED, SEEDED)] {
        let desk = Desk::new();
        desk.does(&format!("{TRAIN} {train}"));
        let report = desk.does(&format!("{FORGET} --remove rows.csv --out new {forget}"));
        let private = train.is_empty() && forget.is_empty();
        assert_eq!(report["private"], private, "{train} {forget}");
        assert_eq!(read_json(&desk.folder.join("new/certificate.json"))["training"]["private"], private);
        let again = desk.does(&format!("{FORGET} --remove-where id=30 --dry-run"));
        assert_eq!(again["private"], private, "the state remembers it");
    }
}

#[test]
fn runs_that_could_never_forget_are_refused_before_they_are_trained() {
    let desk = Desk::new();
    for (more, says) in [
        ("--set neighbours=add-or-remove-one --set order=poisson --set records=60", "empty slot"),
        ("--set centre.noise-multiplier=20", "centre"),
        ("--set evaluation.noise-multiplier=20", "evaluation"),
        ("--set release=random-stop", "release"),
        ("--set order=poisson --set divide-by=actual", "divide-by"),
        ("--set order=once --set steps=5", "order"),
        (
            "--set update.learning-rate=[0.1,0.2,0.3] --set steps=3",
            "learning-rate lists 3 values for 4 steps",
        ),
        ("--test-share 0.2", "--test-share"),
        ("--stream", "--stream"),
        ("--data-is-public", "--data-is-public"),
        ("--public data.csv", "--public"),
    ] {
        let said = desk.refuses(&format!("{TRAIN} {more}"), 2);
        assert!(said.contains(says), "{more}: {said}");
    }
    desk.write("schema.toml", &SCHEMA.replace("label = \"y\"", "label = [\"y\", \"c\"]"));
    let said = desk.refuses(TRAIN, 2);
    assert!(said.contains("tasks"), "{said}");
}

#[test]
fn a_state_replaces_nothing_but_a_state_and_only_if_it_is_told_to() {
    let desk = Desk::new();
    let said = desk.refuses(&TRAIN.replace("state state", "state data.csv"), 2);
    assert!(said.contains("is the file with the data"), "{said}");
    desk.write("notes.txt", "mine");
    for force in ["", " --force"] {
        let said = desk.refuses(&format!("{}{force}", TRAIN.replace("state state", "state notes.txt")), 2);
        assert!(said.contains("is not a state"), "{said}");
    }
    let said = desk.refuses(&TRAIN.replace("state state", "state -"), 2);
    assert!(said.contains("standard output"), "{said}");
    let said = desk.refuses(&TRAIN.replace("state state", "state model/model.json"), 2);
    assert!(said.contains("the same file"), "{said}");
    desk.does(TRAIN);
    let said = desk.refuses(&TRAIN.replace("--out model", "--out new"), 2);
    assert!(said.contains("state of another model"), "{said}");
    let before = desk.bytes("state");
    desk.does(&format!("{TRAIN} --force"));
    assert_ne!(desk.bytes("state"), before);
}

#[test]
fn damaged_foreign_and_newer_states_are_refused() {
    let desk = Desk::trained();
    let whole = desk.bytes("state");
    let with = |bytes: &[u8], says: &str| {
        fs::write(desk.folder.join("state"), bytes).expect("the folder is ours");
        let said = desk.refuses(&format!("{FORGET} --remove rows.csv --out new"), 2);
        assert!(said.contains(says), "{said}");
    };
    with(&whole[..whole.len() / 2], "is damaged");
    with(&[&whole[..200], b"X", &whole[201..]].concat(), "is damaged");
    with(b"id,person\n", "is not a state");
    with(b"\xff\xfe\x00", "is not a state");
    with(b"", "is not a state");
    with(&[b"dobrushin-state 9", &whole[17..]].concat(), "version 9");
    fs::remove_file(desk.folder.join("state")).expect("it is there");
    let said = desk.refuses(&format!("{FORGET} --remove rows.csv --out new"), 2);
    assert!(said.contains("cannot read state"), "{said}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_ever_read_a_state_and_links_are_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = Desk::new();
    let path = desk.folder.join("state");
    let mode = || fs::metadata(&path).expect("it is there").permissions().mode() & 0o777;
    desk.does(TRAIN);
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let output = desk.run(&format!("{FORGET} --remove rows.csv --out new"));
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stderr).contains("others can read state")
    );
    assert_eq!(mode(), 0o600);
    desk.does(&format!("{TRAIN} --force"));
    assert_eq!(mode(), 0o600);
    symlink("state", desk.folder.join("link")).expect("the folder is ours");
    symlink("nowhere", desk.folder.join("dangling")).expect("the folder is ours");
    for name in ["link", "dangling"] {
        let said =
            desk.refuses(&format!("{} --force", TRAIN.replace("state state", &format!("state {name}"))), 2);
        assert!(said.contains("is a link"), "{said}");
    }
    let said = desk.refuses(
        &format!("{} --remove rows.csv --out other", FORGET.replace("--state state", "--state link")),
        2,
    );
    assert!(said.contains("links to states are not followed"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_interruption_leaves_everything_as_it_was_and_two_requests_at_once_are_refused() {
    use std::process::Stdio;
    use std::time::Duration;
    let desk = Desk::trained();
    let before = desk.everything();
    let long =
        "forget --state state --data data.csv --delta 1e-3 --remove rows.csv --steps 30000000 --out new";
    let mut running =
        desk.command(long).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // The folder is made after the state is locked.
    while !desk.folder.join("new").exists() {
        assert!(running.try_wait().expect("it runs").is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = String::from_utf8(desk.run(&format!("{FORGET} --remove rows.csv --out other")).stderr)
        .expect("UTF-8");
    assert!(said.contains("another dobrushin forget"), "{said}");
    std::thread::sleep(Duration::from_millis(300));
    let killed = Command::new("kill").args(["-INT", &running.id().to_string()]).status().expect("it starts");
    assert!(killed.success());
    assert_eq!(running.wait().expect("it ends").code(), Some(130));
    assert!(desk.everything() == before);
    desk.does(&format!("{FORGET} --remove rows.csv --out new"));
}

#[test]
fn a_hundred_requests_one_after_another_end_in_one_certificate() {
    let desk = Desk::new();
    let data: Vec<usize> = (0..200).collect();
    desk.write("data.csv", &table(data.iter().copied()));
    desk.does(TRAIN);
    let mut last = Value::Null;
    for request in 0..100 {
        // Every other time the rows that were deleted are removed from the data as well.
        if request % 2 == 1 {
            desk.write(
                "data.csv",
                &table(data.iter().copied().filter(|i| i % 2 == 0 || *i > 2 * request - 1)),
            );
        }
        // The search for the fewest steps takes most of the time, and never finds as many as this.
        let steps = if is_deep() || request % 33 == 0 { "" } else { "--steps 60" };
        let how = format!("--remove-where id={} --out new --force {steps}", 2 * request + 1);
        last = desk.does(&format!("{FORGET} {how}"));
        assert_eq!(last["requests"], request + 1);
    }
    let certificate = read_json(&desk.folder.join("new/certificate.json"));
    assert_eq!(certificate["run"]["forget"]["steps"].as_array().map(Vec::len), Some(100));
    assert_eq!(last["deleted"], 100);
    assert!(last["guarantee"]["epsilon"]["upper"].as_f64().is_some_and(|epsilon| epsilon <= 0.05));
    assert!(desk.run("certificate verify new/certificate.json --model new/model.json").status.success());
}

#[test]
fn everything_that_leaves_is_in_the_list_of_the_security_page() {
    let desk = Desk::trained();
    desk.write("test.csv", &table(0..9));
    let report = desk.does(&format!("{FORGET} --remove rows.csv --out new --test test.csv"));
    let page = fs::read_to_string(root().join("docs/security.md")).expect("the page");
    let listed = |place: &str, field: &str| {
        page.lines().filter_map(|line| line.strip_prefix(&format!("| `forget` | {place}: "))).any(|line| {
            let fields = line.split(" | ").next().expect("a cell");
            fields.split(", ").any(|listed| listed == field)
        })
    };
    let file = |name: &str| read_json(&desk.folder.join("new").join(name));
    for (place, json) in [
        ("`model.json`", file("model.json")),
        ("`certificate.json`", file("certificate.json")),
        ("report", report),
    ] {
        for field in json.as_object().expect("an object").keys() {
            assert!(listed(place, field), "docs/security.md says nothing of {field} in {place}");
        }
    }
}
