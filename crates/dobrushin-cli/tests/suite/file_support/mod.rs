//! A folder with an input for every command.

use crate::support::root;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A new folder that holds, by these names: a run (`run.toml`), one whose records are used in turn (`once.toml`), one of a
/// channel (`mechanisms.toml`, which names `channel.csv`), one that can be trained (`logistic.toml`, which names
/// `schema.toml`), records (`data.csv`, `test.csv`), a model with its certificate, answers, reports, categories and two laws.
pub fn workshop(name: &str) -> PathBuf {
    static MADE: OnceLock<BTreeMap<PathBuf, Vec<u8>>> = OnceLock::new();
    let folder = empty(name);
    let model = MADE.get_or_init(|| {
        let folder = empty(&format!("model-of-{name}"));
        furnish(&folder);
        let found = contents(&folder).into_iter();
        found
            .map(|(path, bytes)| (path.strip_prefix(&folder).expect("it is inside").to_owned(), bytes))
            .collect()
    });
    model
        .iter()
        .for_each(|(name, bytes)| fs::write(folder.join(name), bytes).expect("the folder is writable"));
    folder
}

/// A new folder without anything.
fn empty(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("files").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder of the tests is writable");
    folder
}

fn furnish(folder: &Path) {
    let example = |name: &str| fs::read_to_string(root().join("examples").join(name)).expect("it exists");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("the folder is writable");
    let first = |text: String, lines: usize| text.split_inclusive('\n').take(lines).collect::<String>();
    write("run.toml", &example("dp-sgd.toml"));
    write("once.toml", &example("pnsgd.toml"));
    write("logistic.toml", &example("loans/logistic.toml"));
    write("schema.toml", &example("loans/schema.toml"));
    write("other-schema.toml", &example("loans/schema.toml"));
    write("data.csv", &example("loans/loans.csv"));
    write("test.csv", &first(example("loans/test.csv"), 51));
    write("channel.csv", "0.75,0.25\n0.25,0.75\n");
    write(
        "mechanisms.toml",
        "[run]\nalgorithm = \"composition\"\n[[mechanism]]\nkind = \"channel\"\nchannel = \"channel.csv\"\n\
         [target]\ndelta = 1e-5\n",
    );
    write("laws.csv", "0.5,0.25\n0.5,0.75\n");
    write("categories.txt", "yes\nno\n");
    write("answers.csv", &format!("answer\n{}", "yes\nno\nyes\n".repeat(200)));
    succeeds(folder, TRAIN);
    fs::rename(folder.join("new/model.json"), folder.join("model.json")).expect("it was written");
    fs::rename(folder.join("new/certificate.json"), folder.join("certificate.json")).expect("it was written");
    fs::remove_dir_all(folder.join("new")).expect("it is ours");
    succeeds(folder, &format!("{PRIVATIZE} --output reports.csv"));
}

/// Trains into the folder `new`.
pub const TRAIN: &str =
    "train data.csv --run logistic.toml --out new --set steps=5 --seed 1 --not-private --quiet";
/// Makes reports.
pub const PRIVATIZE: &str = "local privatize answers.csv --column answer --mechanism k-rr --values yes,no --epsilon 1 --seed 1 --not-private";

/// The program with words separated by spaces, in the folder.
pub fn program(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("dobrushin"));
    command.current_dir(folder).args(words.split(' '));
    command
}

/// Runs what must succeed.
pub fn succeeds(folder: &Path, words: &str) {
    let output = program(folder, words).output().expect("it runs");
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every file of a folder, hidden ones too, with its content.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else if path.is_file() {
            found.insert(path.clone(), fs::read(&path).expect("it can be read"));
        }
    }
    found
}

/// A program that is running, and does not outlive its test.
pub struct Running(pub Child);

impl Running {
    /// Starts it, silently.
    pub fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"))
    }

    /// Sends a signal, by its name without SIG.
    pub fn signal(&self, name: &str) {
        let words = format!("kill -{name} {}", self.0.id());
        // It may have ended by itself.
        let _ = Command::new("sh").args(["-c", &words]).stderr(Stdio::null()).status();
    }

    /// Waits for the end, but not for ever.
    pub fn ended(&mut self) -> ExitStatus {
        let mut end = None;
        wait_until("it ends", || {
            end = self.0.try_wait().expect("it can be waited for");
            end.is_some()
        });
        end.expect("it has ended")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until something holds, but not for ever.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}, but not within a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether this process, and so what it starts, ignores a signal with this number, as in the background of a script or by
/// nohup. A program that does goes on doing so.
pub fn is_ignored(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}
