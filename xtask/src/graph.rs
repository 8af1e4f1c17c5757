//! Which top-level modules of a crate import from which, and whether they form a cycle.

use super::{Outcome, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// For each module, the modules that it imports from.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Prints the graph of every crate: each module, and the modules that it imports from.
pub fn print() -> Outcome {
    for folder in sorted_entries(&root().join("crates"))? {
        let graph = of_crate(&folder.join("src"))?;
        println!("{}", folder.file_name().unwrap_or_default().display());
        let knot = knot_of(&graph);
        for (module, imported) in &graph {
            let imported: Vec<&str> = imported.iter().map(String::as_str).collect();
            println!("  {module} ◀ {}", imported.join(", "));
        }
        match knot.as_slice() {
            [] => println!("  There is no cycle.\n"),
            knot => println!("  There is a cycle among {}.\n", knot.join(", ")),
        }
    }
    Ok(())
}

/// The graph of a crate, given its source folder. Test modules count like all others; comments do not.
fn of_crate(src: &Path) -> Result<Graph, String> {
    let mut sources = BTreeMap::new();
    for path in sorted_entries(src)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "rs") {
            sources.insert(name, text_of(&path)?);
        }
    }
    for program in ["main", "bin"] {
        sources.remove(program);
    }
    // A name that the root re-exports stands for the module that it comes from.
    let exported = sources.remove("lib").unwrap_or_default();
    let modules: BTreeSet<String> = sources.keys().cloned().collect();
    let mut homes: BTreeMap<String, String> = modules.iter().map(|m| (m.clone(), m.clone())).collect();
    for module in &modules {
        for name in names_after(&exported, &format!("pub use {module}::")) {
            homes.entry(name).or_insert_with(|| module.clone());
        }
    }
    let graph = sources.into_iter().map(|(module, text)| {
        let imported = names_after(&text, "crate::").into_iter().filter_map(|name| homes.get(&name).cloned());
        let imported = imported.filter(|other| *other != module).collect();
        (module, imported)
    });
    Ok(graph.collect())
}

/// The modules that are in a cycle, or between two cycles; empty if there is no cycle.
fn knot_of(graph: &Graph) -> Vec<String> {
    let mut knot: BTreeSet<&String> = graph.keys().collect();
    loop {
        let before = knot.len();
        let rest = knot.clone();
        knot.retain(|module| graph[*module].iter().any(|imported| rest.contains(imported)));
        let rest = knot.clone();
        knot.retain(|module| rest.iter().any(|other| graph[*other].contains(*module)));
        if knot.len() == before {
            return knot.into_iter().cloned().collect();
        }
    }
}

/// The first names of all paths that begin with a prefix: one after `crate::`, several after `crate::{`.
fn names_after(text: &str, prefix: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = Vec::new();
    for rest in text.split(prefix).skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            names.push(name(rest));
            continue;
        };
        let mut depth = 0_usize;
        let mut first = true;
        for (at, letter) in group.char_indices() {
            if depth == 0 && first && !letter.is_whitespace() {
                names.push(name(&group[at..]));
                first = false;
            }
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => first = true,
                _ => (),
            }
        }
    }
    names
}

/// The code of a file, or of all files of a folder, without comments on lines of their own.
fn text_of(path: &Path) -> Result<String, String> {
    if path.is_dir() {
        return sorted_entries(path)?.iter().map(|path| text_of(path)).collect();
    }
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect())
}

fn sorted_entries(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_seen_without_what_hangs_on_it() {
        let graph = |edges: &[(&str, &[&str])]| -> Graph {
            let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            edges.iter().map(|(module, imported)| ((*module).to_owned(), of(imported))).collect()
        };
        assert!(knot_of(&graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
        let hung = graph(&[("a", &["b", "d"]), ("b", &["a"]), ("c", &["a"]), ("d", &[])]);
        assert_eq!(knot_of(&hung), ["a", "b"]);
    }

    #[test]
    fn imports_are_read_in_every_form() {
        let text = "use crate::{Error, run::{Run, Order}, numeric};\nlet x = crate::chain::Chain;";
        assert_eq!(names_after(text, "crate::"), ["Error", "run", "numeric", "chain"]);
        assert_eq!(names_after("pub use run::{Run,\n Order};", "pub use run::"), ["Run", "Order"]);
    }

    #[test]
    fn no_crate_has_a_cycle_of_modules_and_nothing_imports_a_command() {
        for folder in sorted_entries(&root().join("crates")).unwrap() {
            let graph = of_crate(&folder.join("src")).unwrap();
            assert_eq!(knot_of(&graph), [""; 0], "{}", folder.display());
            let importers = graph.iter().filter(|(_, imported)| imported.contains("command"));
            assert_eq!(importers.count(), 0, "{}", folder.display());
        }
        let library = of_crate(&root().join("crates/dobrushin/src")).unwrap();
        assert!(library["account"].contains("analysis"), "{library:?}");
    }
}
