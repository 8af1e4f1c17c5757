//! Commands that build and test: too long to be run, but what they name must exist.

use std::path::Path;

/// Flags that name nothing.
const FLAGS: [&str; 8] =
    ["--release", "--open", "--no-deps", "--workspace", "--doc", "--all-targets", "--quiet", "--lib"];

/// Targets that are built for.
const TARGETS: [&str; 1] = ["wasm32-unknown-unknown"];

/// Why a command cannot work.
pub fn problem(root: &Path, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().take_while(|word| *word != "--").collect();
    let chores = read(root, "xtask/src/main.rs");
    let benches = read(root, "xtask/src/bench.rs");
    let missing = |what: &str| Some(format!("{command}: there is no {what}"));
    match words[..] {
        ["cargo", "install", "--path", path] if root.join(path).join("Cargo.toml").exists() => None,
        ["cargo", "xtask", chore] if chores.contains(&format!("Some({chore:?}")) => None,
        ["cargo", "xtask", "test", part @ ("python" | "page" | "--deep")]
            if chores.contains(&format!("Some({part:?})")) =>
        {
            None
        }
        ["pip", "install", "."] if root.join("pyproject.toml").exists() => None,
        // The extras of the package, such as dobrushin[sklearn].
        ["pip", "install", extra] if has_extra(root, extra) => None,
        ["maturin", "build", "--release"] if root.join("pyproject.toml").exists() => None,
        ["python", "-m", "dobrushin", ..] => None,
        ["cargo", "xtask", "bench", name] if benches.contains(&format!("Some({name:?}")) => None,
        ["cargo", "install" | "xtask", ref rest @ ..] => missing(&rest.join(" ")),
        ["cargo", "build" | "test" | "run" | "doc" | "bench", ref rest @ ..] => {
            let mut package = "dobrushin-cli";
            let mut words = rest.iter();
            while let Some(word) = words.next() {
                let mut name = || words.next().copied().unwrap_or_default();
                let exists = match *word {
                    "-p" => {
                        package = name();
                        root.join(folder(package)).join("Cargo.toml").exists()
                    }
                    "--test" => has(root, package, "tests", name()),
                    subject if subject.ends_with("::") => has_subject(root, package, subject),
                    "--target" => TARGETS.contains(&name()),
                    "--example" => has(root, package, "examples", name()),
                    "--bench" => has(root, package, "benches", name()),
                    "--bin" => has(root, package, "src/bin", name()),
                    flag => FLAGS.contains(&flag),
                };
                if !exists {
                    return missing(&format!("such {word} in {package}"));
                }
            }
            let mut filters = command.split_whitespace().skip_while(|word| *word != "--");
            filters
                .find(|word| word.ends_with("::") && !has_subject(root, package, word))
                .and_then(|word| missing(&format!("subject {word} in the tests of {package}")))
        }
        _ => Some(format!("{command}: no test knows such a command")),
    }
}

/// Whether this is `.[NAME]`, with a name that the Python package has for packages it can work with.
fn has_extra(root: &Path, written: &str) -> bool {
    let name = written.strip_prefix(".[").and_then(|rest| rest.strip_suffix(']'));
    name.is_some_and(|names| {
        names.split(',').all(|name| read(root, "pyproject.toml").contains(&format!("\n{name} = [")))
    })
}

fn folder(package: &str) -> String {
    if package == "xtask" { package.to_owned() } else { format!("crates/{package}") }
}

fn has(root: &Path, package: &str, kind: &str, name: &str) -> bool {
    let files = root.join(folder(package)).join(kind);
    !name.is_empty()
        && (files.join(name).join("main.rs").exists() || files.join(format!("{name}.rs")).exists())
}

/// Whether the tests of a package have a module of this name, with its colons.
fn has_subject(root: &Path, package: &str, subject: &str) -> bool {
    has(root, package, "tests/suite", subject.trim_end_matches("::"))
}

fn read(root: &Path, name: &str) -> String {
    std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
