//! The fuzz targets, each for a short while.

use super::{Outcome, cargo, root, run};
use std::path::PathBuf;

/// The targets, the folder with files that each begins from, and the longest file that it tries, in bytes.
const TARGETS: [(&str, &str, u32); 5] = [
    ("run_file", "examples", 4096),
    ("schema", "examples", 4096),
    // Each line is also read alone.
    ("csv", "examples", 256),
    ("certificate", "fuzz/seeds/certificate", 16_384),
    ("model", "fuzz/seeds/model", 4096),
];

/// Seconds for each target.
const SECONDS: u32 = 20;

/// Runs all targets; what was found is kept in `target`, and later runs go on from there. A file that makes one fail is
/// named at the end of what it says.
pub fn all() -> Outcome {
    let present = cargo().args(["fuzz", "--version"]).output().is_ok_and(|o| o.status.success());
    if !present {
        run(cargo().args(["install", "--locked", "cargo-fuzz"]))?;
    }
    let folder = |name: &str| -> Result<PathBuf, String> {
        let folder = root().join("target/fuzz").join(name);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    };
    // A slash at the end makes it a folder.
    let artifacts = folder("artifacts")?.join("");
    for (target, seeds, longest) in TARGETS {
        let mut fuzz = cargo();
        // A stable compiler instruments too if it is told that it may use unstable options. Only a nightly one has the
        // sanitizers, which find errors of memory: the workspace has no unsafe code.
        fuzz.env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--sanitizer", "none", "--target-dir", "target/fuzz", target])
            .args([folder(&format!("corpus/{target}"))?, root().join(seeds)])
            .args(["--", &format!("-max_total_time={SECONDS}"), &format!("-max_len={longest}")])
            // What commands print is not of interest.
            .args(["-close_fd_mask=1", "-timeout=120", "-verbosity=0"])
            .arg(format!("-artifact_prefix={}", artifacts.display()));
        run(&mut fuzz)?;
    }
    Ok(())
}
