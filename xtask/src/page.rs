//! The page: its WebAssembly, its front end, and what tests both.
//!
//! What [`build`] makes is kept in the repository, because the program holds it, and whoever installs the program needs no
//! Node.js. The module is not compared byte by byte, because compilers differ: it must answer as the program does.

use super::debian::needs;
use super::{Outcome, cargo, root, run};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// How many random runs the module and the program must answer alike, to the last digit.
const RUNS: [&str; 2] = ["150", "10000"];

/// Files of the front end.
const BUILT: [&str; 4] = ["index.html", "assets/index.js", "assets/index.css", "assets/worker.js"];

/// Builds the module and the front end, and replaces the assets of the program.
pub fn build() -> Outcome {
    needs("node", "nodejs")?;
    // It does nothing if the target is there.
    run(Command::new("rustup").args(["target", "add", TARGET]))?;
    run(cargo().args(["build", "--profile", "page", "--target", TARGET, "-p", "dobrushin-page"]))?;
    let module = root().join("target").join(TARGET).join("page/dobrushin_page.wasm");
    install()?;
    let packed = assets().join("dobrushin.wasm.gz");
    run(Command::new("node").current_dir(web()).arg("scripts/pack.mjs").arg(module).arg(packed))?;
    run(npm().args(["run", "check"]))?;
    front_end(&assets())
}

/// The module against the program, and the page in a browser.
pub fn test() -> Outcome {
    // The tests read the same variable.
    let chromium = env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    for (program, package) in [("node", "nodejs"), (chromium.as_str(), "chromium")] {
        if let Err(why) = needs(program, package) {
            if super::debian::is_ci() {
                return Err(why);
            }
            eprintln!("xtask: the page was NOT tested: {why}");
            return Ok(());
        }
    }
    let page = root().join("target/page");
    install()?;
    run(npm().args(["run", "check"]))?;
    front_end(&page)?;
    for file in BUILT {
        let read = |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
        if read(page.join(file))? != read(assets().join(file))? {
            return Err(format!(
                "{file} of the page is not what its sources become: cargo xtask page builds it"
            ));
        }
    }
    run(Command::new("node")
        .args([
            "-e",
            "const fs = require('fs'); const [from, to] = process.argv.slice(1); \
                      fs.writeFileSync(to, require('zlib').gunzipSync(fs.readFileSync(from)))",
        ])
        .arg(assets().join("dobrushin.wasm.gz"))
        .arg(page.join("dobrushin.wasm")))?;
    run(cargo().args(["build", "-p", "dobrushin-cli", "-p", "dobrushin-page", "--bins", "--examples"]))?;
    same_answers(&page)?;
    let program = root().join("target/debug").join(format!("dobrushin{}", env::consts::EXE_SUFFIX));
    run(npm().args(["test"]).env("PAGE", &page).env("DOBRUSHIN", program))
}

/// Random runs, answered by both.
fn same_answers(page: &Path) -> Outcome {
    let deep = env::var_os("DOBRUSHIN_DEEP").is_some();
    let questions = root().join("target/debug/examples/random_questions");
    let answers = page.join("answers.jsonl");
    let file = fs::File::create(&answers).map_err(|error| format!("{}: {error}", answers.display()))?;
    run(Command::new(questions).args([RUNS[usize::from(deep)], "7"]).stdout(file))?;
    let file = fs::File::open(&answers).map_err(|error| format!("{}: {error}", answers.display()))?;
    run(Command::new("node")
        .arg(root().join("crates/dobrushin-page/tests/same_answers.mjs"))
        .arg(page.join("dobrushin.wasm"))
        .stdin(file))
}

/// What is in the repository of what was built.
fn assets() -> PathBuf {
    root().join("crates/dobrushin-cli/assets/page")
}

fn npm() -> Command {
    let mut command = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" });
    command.current_dir(web());
    command
}

/// The sources of the front end.
fn web() -> PathBuf {
    root().join("crates/dobrushin-page/web")
}

/// The packages of the front end, those that the lock file names.
fn install() -> Outcome {
    run(npm().args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]))
}

fn front_end(out: &Path) -> Outcome {
    run(npm().args(["run", "build"]).env("PAGE_OUT", out))
}
