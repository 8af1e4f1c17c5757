//! Chores of the workspace: `cargo xtask help` lists them.

mod bench;
mod debian;
mod fuzz;
mod graph;
mod page;
mod python;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask test      everything a contributor must pass: formatting, lints, documentation, every test, and the Python
                      package in a fresh environment; meant to take two cores less than 30 minutes in a new clone. If
                      there is no Python, it says so, and fails if CI=true. With CI=true, it also installs the packages
                      that fetch gigabytes (opacus, jax-privacy, flwr) and tests what needs them
cargo xtask test python
                      the Python package alone
cargo xtask test --deep
                      the same with every case of the tests that usually try a part of theirs, and then each fuzz target of
                      fuzz/ for 20 seconds: much longer, for before a release
cargo xtask test page  the page alone: its answers against those of the program, and the page in a real browser
cargo xtask page      build the page and its WebAssembly into crates/dobrushin-cli/assets/page; needs Node.js
cargo xtask graph     which modules of each crate import from which, and whether there is a cycle
cargo xtask tables    regenerate the tables of numbers that the crates include, in arbitrary precision
cargo xtask bench     speed, all of it or one: theta (against SciPy), kernels, accountants (against dp_accounting,
                      prv_accountant, Opacus and OpenDP, minutes), local (frequency oracles against multi-freq-ldpy,
                      pure-ldp and NumPy), train (private training against Opacus, jax_privacy, NumPy and torch,
                      minutes), python (the Python package against SciPy and dp_accounting); installs the others in
                      target/
cargo xtask bench contest
                      the accuracy of planned private training against diffprivlib, Opacus and scikit-learn, written to
                      docs/contest.md; about an hour, and it continues if it was interrupted. Adult is downloaded, or
                      read from the folder named by ADULT
";

/// A chore's failure, as one line.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let chore = env::args().nth(1);
    let outcome = match chore.as_deref() {
        Some("test") => match env::args().nth(2).as_deref() {
            None => test(false),
            Some("python") => python::test(),
            Some("page") => page::test(),
            Some("--deep") => test(true).and_then(|()| fuzz::all()),
            Some(other) => Err(format!("test takes no {other:?}\n{HELP}")),
        },
        Some("page") => page::build(),
        Some("graph") => graph::print(),
        Some("tables") => tables(),
        Some("bench") => bench::named(env::args().nth(2).as_deref()),
        Some("help") | None => {
            print!("{HELP}");
            Ok(())
        }
        Some(other) => Err(format!("no chore is called {other:?}\n{HELP}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that a contributor must pass. Tests with more cases than a contributor can wait for read `DOBRUSHIN_DEEP`
/// (`dobrushin_reference::depth`).
fn test(deep: bool) -> Outcome {
    for (component, probe) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        install_component(component, probe)?;
    }
    run(cargo().args(["fmt", "--all", "--check"]))?;
    run(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run(cargo()
        .args(["doc", "--workspace", "--no-deps", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    debian::needs_postgresql()?;
    let mut tests = cargo();
    if deep {
        tests.env("DOBRUSHIN_DEEP", "1");
    }
    // Examples have no tests, and the lints have checked them, so they are not linked.
    run(tests.args(["test", "--workspace", "--tests"]))?;
    run(cargo().args(["test", "--workspace", "--doc"]))?;
    page::test()?;
    python::test()
}

/// Writes the generated tables where the crates include them.
fn tables() -> Outcome {
    for (table, place) in [
        ("mills-table", "crates/dobrushin/src/numeric/mills_table.rs"),
        ("elementary-table", "crates/dobrushin/src/numeric/elementary/table.rs"),
        ("legendre-table", "crates/dobrushin-audit/src/legendre_table.rs"),
    ] {
        let mut generate = cargo();
        generate.args(["run", "--quiet", "--release", "-p", "dobrushin-reference", "--bin", table]);
        let output = generate.output().map_err(|e| format!("{generate:?}: {e}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let path = root().join(place);
        std::fs::write(&path, output.stdout).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Adds a component of the toolchain if it is missing.
fn install_component(component: &str, probe: &str) -> Outcome {
    let present = cargo().args([probe, "--version"]).output().is_ok_and(|o| o.status.success());
    if present {
        return Ok(());
    }
    run(Command::new("rustup").args(["component", "add", component]))
}

/// The cargo that runs this, in the root of the workspace.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

fn run(command: &mut Command) -> Outcome {
    eprintln!("xtask: {command:?}");
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}
