//! Speed and accuracy side by side with a named reference, in one run.

use super::{Outcome, cargo, root, run};
use std::path::Path;
use std::process::Command;

/// θ against SciPy, and large kernels against the clock.
pub fn all() -> Outcome {
    let target = root().join("target");
    run(cargo().args(["build", "--release", "-p", "dobrushin", "--examples"]))?;
    let python = python_with_scipy(&target.join("bench-python"))?;
    let examples = target.join("release/examples");
    run(Command::new(python)
        .arg(root().join("benches/theta_against_scipy.py"))
        .arg(examples.join("theta_speed")))?;
    println!();
    run(&mut Command::new(examples.join("kernel_speed")))
}

/// A Python with NumPy and SciPy, installed in the folder the first time.
fn python_with_scipy(folder: &Path) -> Result<String, String> {
    let python = folder.join("bin/python");
    let ready = Command::new(&python).args(["-c", "import scipy"]).output().is_ok_and(|o| o.status.success());
    if !ready {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "numpy", "scipy"]))?;
    }
    Ok(python.display().to_string())
}
