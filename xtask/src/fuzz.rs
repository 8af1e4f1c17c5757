//! The fuzz targets, each for a short while.

use super::{Outcome, cargo, root, run};
use std::path::PathBuf;

/// The targets, the folder of files from which each starts, and the longest file that it tries, in bytes.
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

/// Runs all targets. What they find is kept in `target`, and later runs go on from there. The output of a target ends
/// with the name of a file that makes it fail.
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
        // A stable compiler also instruments if it is told that it may use unstable options. Only a nightly compiler
        // has the sanitizers, which find memory errors, but the workspace has no unsafe code.
        fuzz.env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--sanitizer", "none", "--target-dir", "target/fuzz", target])
            .args([folder(&format!("corpus/{target}"))?, root().join(seeds)])
            .args(["--", &format!("-max_total_time={SECONDS}"), &format!("-max_len={longest}")])
            // Nobody needs what the commands print.
            .args(["-close_fd_mask=1", "-timeout=120", "-verbosity=0"])
            .arg(format!("-artifact_prefix={}", artifacts.display()));
        run(&mut fuzz)?;
    }
    Ok(())
}
