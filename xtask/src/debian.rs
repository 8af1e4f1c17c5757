//! Programs that the tests start, from Debian's packages where CI may install them.

use super::{Outcome, run};
use std::env;
use std::fs;
use std::process::Command;

/// Whether the chore runs where it may install whatever it needs, and where nothing may be left out.
pub fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}

/// A program that is there, or that Debian can install.
pub fn needs(program: &str, package: &str) -> Outcome {
    let there =
        || Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if there() {
        return Ok(());
    }
    if is_ci() {
        install(package)?;
    }
    if there() { Ok(()) } else { Err(format!("there is no {program}")) }
}

/// The server that tests of shared ledgers start. Without it they are left out, unless CI is "true".
pub fn needs_postgresql() -> Outcome {
    if !has_postgresql() {
        if is_ci() {
            return install("postgresql");
        }
        eprintln!("xtask: ledgers in PostgreSQL are NOT tested: it is not installed, and CI is not \"true\"");
    }
    Ok(())
}

/// Whether the tests can start a server of PostgreSQL. Debian does not put its programs on the path.
fn has_postgresql() -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let of_debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders = of_debian.map(|version| version.path().join("bin")).chain(env::split_paths(&path));
    folders.any(|folder| folder.join("initdb").exists())
}

fn install(package: &str) -> Outcome {
    run(Command::new("apt-get").args(["update", "-q"]))?;
    run(Command::new("apt-get").args(["install", "-y", "-q", package]))
}
