//! Running the program as a user does.

use assert_cmd::Command;
use serde_json::Value;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// The program, in the root of the repository.
pub fn dobrushin(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("dobrushin").expect("the binary of this package is built");
    command.current_dir(root()).args(arguments);
    command
}

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What it prints with `--json`.
pub fn json(arguments: &[&str]) -> Value {
    let output = dobrushin(arguments).arg("--json").assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("valid JSON")
}

/// The ends of a bound, which must be in order.
pub fn bounds(value: &Value) -> (f64, f64) {
    let end = |key: &str| match &value[key] {
        Value::String(infinity) => infinity.parse().expect("Infinity or -Infinity"),
        number => number.as_f64().unwrap_or_else(|| panic!("{key} of {value}")),
    };
    let (lower, upper) = (end("lower"), end("upper"));
    assert!(lower <= upper, "{value}");
    (lower, upper)
}

/// A folder of the module that calls this: the tests of all modules run at once, and each names its files as it likes.
#[track_caller]
pub fn own_folder() -> PathBuf {
    let module = Path::new(Location::caller().file()).file_stem().expect("a module is a file");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("of").join(module);
    std::fs::create_dir_all(&folder).expect("the folder of the tests is writable");
    folder
}

/// A new file with the given content, in the [folder](own_folder) of the caller.
#[track_caller]
pub fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = own_folder().join(name);
    std::fs::write(&path, content).expect("the folder of the tests is writable");
    path
}
