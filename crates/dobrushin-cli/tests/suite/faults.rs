//! Faults while files are written: a full disk, a write that fails, signals at any time, two at once.
//!
//! Afterwards each file is the old one or the complete new one. Unless the program was killed (SIGKILL), no temporary file is
//! left; and then a later run works all the same. A sample is tried; many times more in the deep tests.
#![cfg(unix)]

use crate::file_support::{Running, TRAIN, contents, is_ignored, program, workshop};
use dobrushin_reference::{depth, is_deep};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant, SystemTime};

/// What is written by each command that writes.
const CASES: &[(&str, &[&str])] = &[
    ("account run.toml --analyses closed-form --json --output out.json", &["out.json"]),
    (
        "account run.toml --analyses closed-form --certificate out.json --plot out.svg --output out.txt",
        &["out.json", "out.svg", "out.txt"],
    ),
    (
        "account once.toml --analyses closed-form --per-record-csv out.csv --per-record-plot out.svg --set records=300",
        &["out.csv", "out.svg"],
    ),
    ("calibrate once.toml --parameter noise-multiplier --epsilon 1 --output out.txt", &["out.txt"]),
    (
        "curve run.toml --over steps=1..100 --points 3 --analyses closed-form --output out.txt --plot out.pdf --csv out.csv",
        &["out.txt", "out.pdf", "out.csv"],
    ),
    ("divergence gaussian --distance 1 --sigma 1 --plot out.svg --output out.txt", &["out.svg", "out.txt"]),
    ("kernel channel.csv --plot out.svg --json --output out.json", &["out.svg", "out.json"]),
    ("local profile --channel channel.csv --plot out.html --output out.txt", &["out.html", "out.txt"]),
    (
        "local privatize answers.csv --column answer --mechanism k-rr --values yes,no --epsilon 1 --seed 1 --not-private \
         --output out.csv",
        &["out.csv"],
    ),
    ("local estimate reports.csv --plot out.svg --output out.txt", &["out.svg", "out.txt"]),
    ("schema init data.csv --label repaid --output out.toml", &["out.toml"]),
    ("schema check schema.toml --output out.txt", &["out.txt"]),
    (TRAIN_AGAIN, &["new/certificate.txt", "new/certificate.json", "new/model.json"]),
    ("predict model.json data.csv --output out.csv", &["out.csv"]),
    ("certificate show certificate.json --output out.txt", &["out.txt"]),
];

/// Training that replaces a model.
const TRAIN_AGAIN: &str =
    "train data.csv --run logistic.toml --out new --set steps=5 --seed 2 --not-private --quiet --force";

/// Figures take more than a second, and are tried less often.
const FIGURES: (&str, &[&str]) = (
    "figures --out new --only pac-2-39",
    &["new/pac-2-39.svg", "new/pac-2-39.png", "new/pac-2-39.csv", "new/index.html"],
);

/// How often each fault is tried: this often, or many times more.
fn times(usually: usize) -> usize {
    depth(usually, usually * 20)
}

/// Random numbers, by xorshift: where a fault strikes need not be unpredictable.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970");
        Self(now.as_nanos() as u64 | 1)
    }

    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A command in a folder with all that it reads and old versions of all that it writes.
struct Bench {
    folder: PathBuf,
    words: &'static str,
    old: BTreeMap<PathBuf, Vec<u8>>,
    /// As after a run without faults.
    new: BTreeMap<PathBuf, Vec<u8>>,
    outputs: Vec<PathBuf>,
    /// How long that takes.
    time: Duration,
}

impl Bench {
    fn new(name: &str, (words, outputs): (&'static str, &[&str])) -> Self {
        let folder = workshop(name);
        let inputs = contents(&folder);
        let outputs: Vec<PathBuf> = outputs.iter().map(|name| folder.join(name)).collect();
        let start = Instant::now();
        crate::file_support::succeeds(&folder, words);
        let (time, new) = (start.elapsed(), contents(&folder));
        assert_eq!(new.len(), inputs.len() + outputs.len(), "{words}: these files are written");
        let mut old = inputs;
        match words {
            TRAIN_AGAIN => {
                crate::file_support::succeeds(&folder, &format!("{TRAIN} --force"));
                old = contents(&folder);
            }
            _ => old.extend(outputs.iter().map(|path| (path.clone(), b"old".to_vec()))),
        }
        Self { folder, words, old, new, outputs, time }
    }

    /// Puts the old files in place, and nothing else.
    fn reset(&self) {
        for path in contents(&self.folder).keys().filter(|path| !self.old.contains_key(*path)) {
            fs::remove_file(path).expect("it is ours");
        }
        for (path, bytes) in &self.old {
            let _ = fs::remove_file(path);
            fs::write(path, bytes).expect("the folder is writable");
        }
    }

    /// The program, started by a shell after some preparation.
    fn after(&self, preparation: &str) -> Command {
        let mut shell = Command::new("sh");
        let script = format!("{preparation} exec \"$0\" \"$@\"");
        shell.current_dir(&self.folder).args(["-c", &script]).arg(assert_cmd::cargo::cargo_bin("dobrushin"));
        shell.args(self.words.split(' '));
        shell
    }

    /// What must hold afterwards.
    fn check(&self, status: ExitStatus, what: &str) {
        let what = format!("{what}: {status}");
        let killed = status.signal() == Some(9);
        assert!(killed || status.code().is_some(), "{}: {what}: no other signal ends it", self.words);
        self.check_files(!status.success(), killed, &what);
    }

    /// That files are new, or, if they may be, old, that a model is beside its certificate, and that nothing else is left.
    fn check_files(&self, may_be_old: bool, killed: bool, what: &str) {
        let (found, words) = (contents(&self.folder), self.words);
        for path in self.old.keys() {
            let is = |files: &BTreeMap<PathBuf, Vec<u8>>| found.get(path) == files.get(path);
            let is_right =
                is(&self.new) || (may_be_old && is(&self.old)) || self.is_lost_model(path, &found, killed);
            assert!(is_right, "{words}: {what}: {} is neither the old one nor the new one", path.display());
        }
        if words == TRAIN_AGAIN && found.contains_key(&self.outputs[2]) {
            let all = |files: &BTreeMap<PathBuf, Vec<u8>>| {
                self.outputs.iter().all(|path| found.get(path) == files.get(path))
            };
            assert!(
                all(&self.old) || all(&self.new),
                "{words}: {what}: the model is not beside its certificate"
            );
        }
        let left: Vec<&PathBuf> = found.keys().filter(|path| !self.old.contains_key(*path)).collect();
        let is_fine = if killed { left.iter().all(|path| is_temporary(path)) } else { left.is_empty() };
        assert!(is_fine, "{words}: {what}: {left:?} is left");
    }

    /// A kill between two names leaves no model, rather than one beside another's certificate.
    fn is_lost_model(&self, path: &Path, found: &BTreeMap<PathBuf, Vec<u8>>, killed: bool) -> bool {
        killed && self.words == TRAIN_AGAIN && path == self.outputs[2] && !found.contains_key(path)
    }
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".dobrushin-"))
}

fn benches(name: &str) -> impl Iterator<Item = Bench> {
    let name = name.to_owned();
    let slow = is_deep().then_some(&FIGURES);
    CASES
        .iter()
        .chain(slow)
        .enumerate()
        .map(move |(number, case)| Bench::new(&format!("{name}-{number}"), *case))
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_touches_nothing_else() {
    for bench in benches("full") {
        for full in &bench.outputs {
            bench.reset();
            fs::remove_file(full).expect("it is ours");
            symlink("/dev/full", full).expect("the folder is writable");
            let output = program(&bench.folder, bench.words).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{}: {said}", bench.words);
            assert!(said.contains("cannot write"), "{}: {said}", bench.words);
            assert!(fs::symlink_metadata(full).expect("it exists").is_symlink(), "{}", bench.words);
            fs::remove_file(full).expect("it is ours");
            fs::write(full, &bench.old[full]).expect("the folder is writable");
            bench.check(output.status, &format!("{} is full", full.display()));
        }
    }
}

#[test]
fn whichever_write_fails_files_are_old_or_new() {
    let mut chance = Chance::new();
    let mut failed = 0;
    for bench in benches("limit") {
        let sizes = bench.outputs.iter().map(|path| bench.new[path].len());
        // Limits are in units of 512 bytes (some shells: 1024).
        let blocks = sizes.max().unwrap_or(0) as f64 / 512.0;
        for round in 0..times(3) {
            bench.reset();
            // A byte is too much; then some write of the largest file; then perhaps all of it fits.
            let limit = if round == 0 { 0 } else { (blocks * chance.share() * 1.1) as u64 };
            let status = Running::start(&mut bench.after(&format!("ulimit -f {limit};"))).ended();
            bench.check(status, &format!("no file has more than {limit} blocks"));
            assert!(
                matches!(status.code(), Some(0 | 2)) && (limit > 0 || !status.success()),
                "{}: {status}",
                bench.words
            );
            failed += usize::from(!status.success());
        }
    }
    assert!(failed >= CASES.len());
}

#[test]
fn a_folder_that_cannot_be_written_to_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new("read-only", CASES[0]);
    bench.reset();
    let mode =
        |mode| fs::set_permissions(&bench.folder, fs::Permissions::from_mode(mode)).expect("it is ours");
    mode(0o555);
    // An administrator may write all the same.
    let is_allowed = fs::write(bench.folder.join("probe"), "").is_ok();
    let status = Running::start(&mut bench.after("")).ended();
    mode(0o755);
    let _ = fs::remove_file(bench.folder.join("probe"));
    bench.check(status, "the folder cannot be written to");
    assert_eq!(status.code(), Some(if is_allowed { 0 } else { 2 }));
}

/// Sends a signal at a random time, and checks.
fn interrupt(bench: &Bench, (name, number): (&str, i32), chance: &mut Chance) {
    bench.reset();
    let mut running = Running::start(&mut bench.after(""));
    let start = Instant::now();
    let [share, short] = [chance.share(), chance.share()];
    if share < 0.5 {
        std::thread::sleep(bench.time.mul_f64(share * 2.2));
    } else {
        // The most delicate time is when there is something to lose.
        let in_sight = |path: &PathBuf| {
            fs::read_dir(path).expect("it exists").flatten().any(|entry| is_temporary(&entry.path()))
        };
        let mut folders: Vec<PathBuf> = bench.outputs.iter().map(|path| path.with_file_name("")).collect();
        folders.dedup();
        while !folders.iter().any(in_sight) && running.0.try_wait().expect("it can be waited for").is_none() {
        }
        std::thread::sleep(Duration::from_millis(3).mul_f64(short));
    }
    let wait = start.elapsed();
    match number {
        9 => running.0.kill().expect("it has not been waited for"),
        _ => running.signal(name),
    }
    let status = running.ended();
    let what = format!("SIG{name} after {wait:?}");
    // By then it may have ended. The first millisecond, before any file is made, is the system's.
    let by_signal = status.code() == Some(128 + number) || status.signal() == Some(number);
    assert!(status.success() || by_signal, "{}: {what}: {status}", bench.words);
    if status.signal() == Some(number) && number != 9 {
        assert!(contents(&bench.folder) == bench.old, "{}: {what}: before the program began", bench.words);
        return;
    }
    bench.check(status, &what);
    if number == 9 {
        crate::file_support::succeeds(&bench.folder, bench.words);
        let found = contents(&bench.folder);
        assert!(
            bench.new.iter().all(|(path, bytes)| found.get(path) == Some(bytes)),
            "{}: later",
            bench.words
        );
    }
}

#[test]
fn whenever_a_signal_comes_files_are_old_or_new() {
    let mut chance = Chance::new();
    let signals = [("TERM", 15), ("KILL", 9), ("INT", 2), ("HUP", 1)];
    let heard: Vec<(&str, i32)> =
        signals.into_iter().filter(|(_, number)| !is_ignored(*number as u32)).collect();
    for bench in benches("signal") {
        for round in 0..times(1) {
            for signal in heard.iter().skip(if round % 2 == 0 { 0 } else { 1 }) {
                interrupt(&bench, *signal, &mut chance);
            }
        }
    }
    let figures = Bench::new("signal-figures", FIGURES);
    interrupt(&figures, heard[0], &mut chance);
}

#[test]
fn two_at_once_leave_one_complete_file() {
    for bench in benches("two") {
        for _ in 0..times(1) {
            bench.reset();
            // Of training, one makes the old files again, so that a mixture would be seen.
            let other =
                if bench.words == TRAIN_AGAIN { format!("{TRAIN} --force") } else { bench.words.to_owned() };
            let mut running =
                [bench.words, &other].map(|words| Running::start(&mut program(&bench.folder, words)));
            let ends = running.each_mut().map(Running::ended);
            // Training is for one at a time; everything else may be done by both, and the last one stays.
            let successes = ends.iter().filter(|end| end.success()).count();
            assert!(
                successes == 2 || (bench.words == TRAIN_AGAIN && successes == 1),
                "{}: {ends:?}",
                bench.words
            );
            bench.check_files(bench.words == TRAIN_AGAIN, false, "two at once");
        }
    }
}
