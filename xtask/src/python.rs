//! The Python package: its wheel in a fresh virtual environment, and everything that tests it there.

use super::debian::{is_ci, needs, needs_postgresql};
use super::{Outcome, root, run};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests need, besides the package.
const TOOLS: &[&str] = &[
    "maturin>=1.16,<2",
    "pytest>=8",
    "hypothesis>=6",
    "mypy>=1.15",
    "pyright>=1.1.400",
    "nbclient>=0.10",
    "ipykernel>=6",
    "numpy>=1.26",
    "scipy>=1.11",
    "pandas>=2",
    "pandas-stubs",
    "polars>=1",
    "pyarrow>=15",
    "duckdb>=1.1",
    "matplotlib>=3.8",
    "scikit-learn>=1.6",
    "dp-accounting>=0.6",
];

/// Packages that fetch gigabytes, by the name under which they are imported. They are tested if they are installed
/// where the chore runs, or if `CI` is "true".
const LARGE: &[(&str, &[&str])] = &[
    ("opacus", &["opacus>=1.6"]),
    ("jax_privacy", &["jax-privacy>=2"]),
    ("flwr", &["flwr[simulation]>=1.41"]),
    ("pyspark", &["pyspark[sql]>=4"]),
];

/// Builds the wheel, installs it with what its tests need, and runs them.
pub fn test() -> Outcome {
    let is_ci = is_ci();
    let Some(python) = interpreter() else {
        let what =
            "the Python package was NOT tested: there is no Python 3.11 or newer called python3 or python";
        if is_ci {
            return Err(what.to_owned());
        }
        eprintln!("xtask: {what}");
        return Ok(());
    };
    needs_postgresql()?;
    let home = root().join("target").join("python");
    // Whatever an earlier run installed must not help this one.
    if home.exists() {
        fs::remove_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    }
    run(Command::new(&python).args(["-m", "venv"]).arg(&home))?;
    let venv = Environment { home };
    let wanted: Vec<_> = LARGE.iter().filter(|(module, _)| is_ci || has(&python, module)).collect();
    if wanted.iter().any(|(module, _)| *module == "pyspark")
        && let Err(why) = needs("java", "openjdk-17-jre-headless")
    {
        if is_ci {
            return Err(why);
        }
        eprintln!("xtask: what needs pyspark was NOT tested: {why}");
    }
    let packages = TOOLS.iter().chain(wanted.iter().flat_map(|(_, packages)| packages.iter()));
    run(venv
        .python()
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(packages))?;
    let wheels = venv.home.join("wheels");
    // The profile of the other tests: what they compiled need not be compiled again.
    run(venv.tool("maturin").args(["build", "--quiet", "--profile", "dev", "--out"]).arg(&wheels))?;
    let wheel = only_wheel(&wheels)?;
    run(venv
        .python()
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .arg(&wheel))?;
    checks(&venv, &wheel)?;
    for (module, _) in LARGE.iter().filter(|large| !wanted.contains(large)) {
        eprintln!("xtask: what needs {module} was NOT tested: it is not installed, and CI is not \"true\"");
    }
    Ok(())
}

/// Everything is run outside the sources, so that the wheel is tested and not the folder.
fn checks(venv: &Environment, wheel: &Path) -> Outcome {
    const MOST: u64 = 20_000_000;
    let size = fs::metadata(wheel).map_err(|error| format!("{}: {error}", wheel.display()))?.len();
    if size >= MOST {
        return Err(format!("{} has {size} bytes, but {MOST} are too many", wheel.display()));
    }
    let package = venv.package()?;
    let (tests, examples) = (root().join("python").join("tests"), root().join("examples").join("python"));
    let configuration = root().join("pyproject.toml");
    let typed = |tool: &str| {
        let mut command = venv.tool(tool);
        command.current_dir(&venv.home);
        command
    };
    let mypy = || {
        let mut command = typed("mypy");
        command.args(["--strict", "--config-file"]).arg(&configuration);
        command.arg("--cache-dir").arg(venv.home.join("mypy"));
        command
    };
    run(mypy().args(["-p", "dobrushin"]))?;
    run(mypy().arg(&examples))?;
    // The stubs say what the compiled part has.
    run(typed("stubtest").args(["--concise", "dobrushin._core"]))?;
    run(typed("pyright").arg("--pythonpath").arg(venv.program("python")).arg(&examples))?;
    let pytest = || {
        let mut command = venv.python();
        command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c"]).arg(&configuration);
        command.current_dir(&venv.home).env("MPLBACKEND", "agg");
        command
    };
    run(pytest().arg("--durations=10").arg(&tests))?;
    run(pytest()
        .args(["--doctest-modules", "--doctest-ignore-import-errors", "--ignore-glob=*__main__.py"])
        .arg(&package))
}

/// A virtual environment.
struct Environment {
    home: PathBuf,
}

impl Environment {
    fn program(&self, name: &str) -> PathBuf {
        let folder = self.home.join(if cfg!(windows) { "Scripts" } else { "bin" });
        folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    fn python(&self) -> Command {
        self.tool("python")
    }

    /// A program of the environment, in the root of the workspace.
    fn tool(&self, name: &str) -> Command {
        let mut command = Command::new(self.program(name));
        let bin = self.program(name).parent().map(Path::to_path_buf).unwrap_or_default();
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(std::iter::once(bin).chain(env::split_paths(&others)));
        command.current_dir(root()).env("VIRTUAL_ENV", &self.home).env("PATH", path.unwrap_or(others));
        // The user's own folders must not be seen.
        command.env_remove("PYTHONPATH").env_remove("PYTHONHOME").env("PYTHONNOUSERSITE", "1");
        command
    }

    /// The folder of the installed package.
    fn package(&self) -> Result<PathBuf, String> {
        let mut command = self.python();
        command.current_dir(&self.home);
        command.args(["-c", "import dobrushin, pathlib; print(pathlib.Path(dobrushin.__file__).parent)"]);
        let found = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        if !found.status.success() {
            return Err(format!("the wheel cannot be imported: {}", String::from_utf8_lossy(&found.stderr)));
        }
        Ok(PathBuf::from(String::from_utf8_lossy(&found.stdout).trim()))
    }
}

/// A Python that is new enough.
fn interpreter() -> Option<OsString> {
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 11))";
    let works =
        |name: &&str| Command::new(name).args(["-c", new_enough]).output().is_ok_and(|o| o.status.success());
    ["python3", "python"].iter().find(|name| works(name)).map(OsString::from)
}

/// Whether a module is installed for a Python.
fn has(python: &OsString, module: &str) -> bool {
    let code = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec({module:?}) is None)");
    Command::new(python).args(["-c", &code]).output().is_ok_and(|output| output.status.success())
}

fn only_wheel(folder: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let wheels: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .collect();
    match &wheels[..] {
        [one] => Ok(one.clone()),
        _ => Err(format!("{} has {} wheels instead of one", folder.display(), wheels.len())),
    }
}
