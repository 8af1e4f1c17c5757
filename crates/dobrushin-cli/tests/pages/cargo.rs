//! Commands that build and test: too long to be run, but what they name must exist.

use std::path::Path;

/// Flags that name nothing.
const FLAGS: [&str; 8] =
    ["--release", "--open", "--no-deps", "--workspace", "--doc", "--all-targets", "--quiet", "--lib"];

/// Why a command cannot work.
pub fn problem(root: &Path, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().take_while(|word| *word != "--").collect();
    let chores = read(root, "xtask/src/main.rs");
    let benches = read(root, "xtask/src/bench.rs");
    let missing = |what: &str| Some(format!("{command}: there is no {what}"));
    match words[..] {
        ["cargo", "install", "--path", path] if root.join(path).join("Cargo.toml").exists() => None,
        ["cargo", "xtask", chore] if chores.contains(&format!("Some({chore:?}")) => None,
        ["cargo", "xtask", "bench", name] if benches.contains(&format!("Some({name:?}")) => None,
        ["cargo", "install" | "xtask", ref rest @ ..] => missing(&rest.join(" ")),
        ["cargo", "test" | "run" | "doc" | "bench", ref rest @ ..] => {
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
                    "--example" => has(root, package, "examples", name()),
                    "--bench" => has(root, package, "benches", name()),
                    "--bin" => has(root, package, "src/bin", name()),
                    flag => FLAGS.contains(&flag),
                };
                if !exists {
                    return missing(&format!("such {word} in {package}"));
                }
            }
            None
        }
        _ => Some(format!("{command}: no test knows such a command")),
    }
}

fn folder(package: &str) -> String {
    if package == "xtask" { package.to_owned() } else { format!("crates/{package}") }
}

fn has(root: &Path, package: &str, kind: &str, name: &str) -> bool {
    !name.is_empty() && root.join(folder(package)).join(kind).join(format!("{name}.rs")).exists()
}

fn read(root: &Path, name: &str) -> String {
    std::fs::read_to_string(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
