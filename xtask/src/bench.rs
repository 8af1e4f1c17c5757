//! Speed and accuracy beside a named reference, in one run.

use super::{Outcome, cargo, root, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One bench by its name, or all of them but the contest, which is not about speed.
pub fn named(name: Option<&str>) -> Outcome {
    let benches: &[fn(&Path) -> Outcome] = match name {
        None => &[theta, kernels, accountants, local, train, package],
        Some("theta") => &[theta],
        Some("kernels") => &[kernels],
        Some("accountants") => &[accountants],
        Some("local") => &[local],
        Some("train") => &[train],
        Some("python") => &[package],
        Some("contest") => &[contest],
        Some(other) => {
            return Err(format!(
                "no bench is called {other:?}: theta, kernels, accountants, local, train, python or contest"
            ));
        }
    };
    run(cargo().args(["build", "--release", "--workspace", "--examples"]))?;
    let examples = root().join("target/release/examples");
    benches.iter().try_for_each(|bench| bench(&examples))
}

/// θ against SciPy.
fn theta(examples: &Path) -> Outcome {
    let python = python(&Packages { probe: "import scipy", wanted: &["numpy", "scipy"], bare: &[] })?;
    run(Command::new(python)
        .arg(root().join("benches/theta_against_scipy.py"))
        .arg(examples.join("theta_speed")))
}

/// Large kernels against the clock.
fn kernels(examples: &Path) -> Outcome {
    run(&mut Command::new(examples.join("kernel_speed")))
}

/// Compositions of DP-SGD against dp_accounting, prv_accountant, Opacus and OpenDP.
fn accountants(examples: &Path) -> Outcome {
    let python = python(&Packages {
        probe: "import dp_accounting, opendp, prv_accountant, importlib.util as u; assert u.find_spec('opacus')",
        wanted: &["numpy", "scipy", "dp-accounting", "prv-accountant", "opendp"],
        // Its accountants need none of its dependencies, which are large.
        bare: &["opacus"],
    })?;
    run(Command::new(python)
        .arg(root().join("benches/accountants.py"))
        .arg(examples.join("accountant_times"))
        .arg(examples.join("renyi_settings")))
}

/// Frequency oracles against multi-freq-ldpy, pure-ldp and NumPy.
fn local(examples: &Path) -> Outcome {
    let python = python(&Packages {
        probe: "import multi_freq_ldpy; from pure_ldp.frequency_oracles.unary_encoding import UEClient",
        // pure-ldp needs these, but does not declare them.
        wanted: &[
            "numpy",
            "multi-freq-ldpy",
            "pure-ldp",
            "scikit-learn",
            "statsmodels",
            "bitarray",
            "xxhash",
        ],
        bare: &[],
    })?;
    run(Command::new(python).arg(root().join("benches/local.py")).arg(examples.join("local_times")))
}

/// Private training against Opacus, jax_privacy, NumPy and torch.
fn train(examples: &Path) -> Outcome {
    // The peers are installed one at a time: one that cannot be installed is left out, and the bench says so.
    let mut python = python(&Packages { probe: "import numpy", wanted: &["numpy"], bare: &[] })?;
    for (probe, wanted) in
        [("import torch, opacus", &["torch", "opacus"]), ("import jax_privacy", &["jax", "jax-privacy"])]
    {
        match self::python(&Packages { probe, wanted, bare: &[] }) {
            Ok(ready) => python = ready,
            Err(message) => eprintln!("xtask: {message}"),
        }
    }
    run(Command::new(python).arg(root().join("benches/train.py")).arg(examples.join("train_times")))
}

/// The Python package against SciPy, dp_accounting and PLD_accounting. It is installed as its users install it.
fn package(_examples: &Path) -> Outcome {
    let python = python(&Packages {
        probe: "import scipy, dp_accounting, PLD_accounting, numba",
        wanted: &["numpy", "scipy", "dp-accounting", "PLD-accounting[performance]"],
        bare: &[],
    })?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--no-deps"]).arg(root()))?;
    for script in ["benches/python/theta.py", "benches/python/accounting.py", "benches/python/allocation.py"]
    {
        run(Command::new(&python).arg(root().join(script)))?;
    }
    Ok(())
}

/// The accuracy of planned private training against diffprivlib, Opacus and scikit-learn. It writes docs/contest.md.
fn contest(_examples: &Path) -> Outcome {
    let python = python(&Packages {
        probe: "import diffprivlib, opacus, sklearn, torch",
        // diffprivlib does not work with later versions of scikit-learn.
        wanted: &["numpy", "torch", "opacus", "diffprivlib", "scikit-learn<1.7"],
        bare: &[],
    })?;
    run(cargo().args(["build", "--release", "-p", "dobrushin-cli"]))?;
    run(Command::new(python)
        .arg(root().join("benches/contest"))
        .arg(root().join("target/release/dobrushin"))
        .arg(root().join("target/contest"))
        .arg(root().join("docs/contest.md"))
        // One thread for each product of matrices: more only wait for each other.
        .env("OMP_NUM_THREADS", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// What a bench needs from Python.
struct Packages {
    /// This succeeds if all packages are installed.
    probe: &'static str,
    wanted: &'static [&'static str],
    /// Packages that are installed without their dependencies.
    bare: &'static [&'static str],
}

/// A Python with the packages, which are installed in `target` the first time.
fn python(packages: &Packages) -> Result<PathBuf, String> {
    let folder = root().join("target/bench-python");
    let python = folder.join("bin/python");
    let ready = Command::new(&python).args(["-c", packages.probe]).output().is_ok_and(|o| o.status.success());
    if !ready {
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let install = || {
            let mut pip = Command::new(&python);
            pip.args(["-m", "pip", "install", "--quiet"]);
            pip
        };
        run(install().args(packages.wanted))?;
        if !packages.bare.is_empty() {
            run(install().arg("--no-deps").args(packages.bare))?;
        }
    }
    Ok(python)
}
