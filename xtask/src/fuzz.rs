//! The fuzz targets, each for a short while.

use super::{Outcome, cargo, root, run};
use std::path::PathBuf;

/// The targets, and the folders with files that each begins from.
const TARGETS: [(&str, &[&str]); 5] = [
    ("run_file", &["examples"]),
    ("schema", &["examples"]),
    ("csv", &["examples"]),
    ("certificate", &["fuzz/seeds/certificate"]),
    ("model", &["fuzz/seeds/model"]),
];

/// Seconds for each target.
const SECONDS: u32 = 20;
/// The longest file in bytes: the certificates that fuzzing begins from fit.
const LONGEST: u32 = 1 << 14;

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
    for (target, seeds) in TARGETS {
        let mut fuzz = cargo();
        // The instrumentation is there in every compiler, for which an option that is not stable asks; sanitizers, which
        // find errors of memory, would need a nightly one, and the workspace has no unsafe code.
        fuzz.env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--sanitizer", "none", "--target-dir", "target/fuzz", target])
            .arg(folder("corpus")?.join(target))
            .args(seeds.iter().map(|seeds| root().join(seeds)))
            .args(["--", &format!("-max_total_time={SECONDS}"), &format!("-max_len={LONGEST}")])
            // What commands print is not of interest.
            .args(["-close_fd_mask=1", "-timeout=120", "-verbosity=0"])
            .arg(format!("-artifact_prefix={}", artifacts.display()));
        folder(&format!("corpus/{target}"))?;
        run(&mut fuzz)?;
    }
    Ok(())
}
