//! docs/floors.md has the floor, the guarantee and the composition of every example.
//!
//! The page is not written by hand: `UPDATE_PAGES=1 cargo test -p dobrushin-cli --test suite floors::` writes it.

use crate::support::{dobrushin, root};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const HOW: &str = "UPDATE_PAGES=1 cargo test -p dobrushin-cli --test suite floors::";

/// What is said about one example.
struct Row {
    file: String,
    symbol: &'static str,
    floor: Option<f64>,
    guarantee: f64,
    analysis: String,
    composition: Option<f64>,
}

impl Row {
    /// The share of the guarantee that is real; 0 if no floor is known.
    fn share(&self) -> f64 {
        self.floor.map_or(0.0, |floor| floor / self.guarantee)
    }
}

/// Every run file among the examples that says enough by itself.
fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["examples", "examples/papers", "examples/loans"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).expect("it is there"))
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter(|path| path.file_name().is_some_and(|name| name != "schema.toml"))
        .collect();
    files.sort();
    files
}

fn bound(value: &Value, end: &str) -> Option<f64> {
    value["epsilon"][end].as_f64().or_else(|| value["delta"][end].as_f64())
}

fn row(path: &Path) -> Row {
    let file = path.strip_prefix(root()).expect("it is below the root").to_str().expect("UTF-8").to_owned();
    let output = dobrushin(&["account", &file, "--json"]).output().expect("it runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{file}: {}", String::from_utf8_lossy(&output.stderr)));
    let composition =
        report["analyses"].as_array().expect("a list").iter().find(|one| one["id"] == "composition");
    let guarantee = &report["guarantee"];
    Row {
        symbol: if guarantee["epsilon"].is_object() { "ε" } else { "δ" },
        floor: bound(&report["floor"], "lower"),
        guarantee: bound(guarantee, "upper").unwrap_or_else(|| panic!("{file} has no guarantee")),
        analysis: guarantee["analysis"].as_str().expect("a name").to_owned(),
        composition: composition.and_then(|one| bound(one, "upper")),
        file,
    }
}

fn median(rows: &[Row]) -> f64 {
    let mut shares: Vec<f64> = rows.iter().map(Row::share).collect();
    shares.sort_by(f64::total_cmp);
    let middle = shares.len() / 2;
    if shares.len() % 2 == 1 { shares[middle] } else { shares[middle - 1].midpoint(shares[middle]) }
}

fn page(rows: &[Row]) -> String {
    let mut page = String::from(
        "# The floors of the examples\n\n\
         No analysis of the facts in the file can prove less than the floor ([Audit](audit.md) says why). What is asked, ε or δ, is what\n\
         the file's `[target]` asks. The last column is the share of the guarantee that is known to be real.\n\n\
         | example | | floor | guarantee | by | composition | real |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let down = |value: f64| decimal::lower(Enclosure::from(value), 4);
        let up = |value: f64| decimal::upper(Enclosure::from(value), 4);
        let name = row.file.trim_start_matches("examples/").trim_end_matches(".toml");
        let floor = row.floor.map_or_else(|| "none known".to_owned(), down);
        let share = row.floor.map_or_else(String::new, |_| format!("{:.3}", row.share()));
        let composition = row.composition.map_or_else(|| "–".to_owned(), up);
        writeln!(
            page,
            "| [{name}](../{}) | {} | {floor} | {} | {} | {composition} | {share} |",
            row.file,
            row.symbol,
            up(row.guarantee),
            row.analysis
        )
        .expect("text can be written to");
    }
    let exact = rows.iter().filter(|row| row.share() > 0.999).count();
    let tight = rows.iter().filter(|row| row.share() >= 0.67).count();
    write!(
        page,
        "\nOf {} guarantees, {exact} are exact and {tight} are at least 67 % real; the median share is {:.3} (a file without a\n\
         floor counts as 0).\n\n\
         Where the share is small, it is usually the guarantee that is loose. Three reasons recur:\n\n\
         - **The last record.** Where records take turns and all of them must be protected, the guarantee is that of the record in the\n\
         \x20 last step, which only the noise of that step hides (owners, multi-epoch, survey-stream, prescribed-pass, there-and-back). In every\n\
         \x20 instance that we know, the noise of the steps before hides it as well, but no theorem says so.\n\
         - **A hidden stop or place.** The bounds for a random stop and for a shuffled order average over what is hidden. Hiding it\n\
         \x20 seems to protect better than that: no instance that we know tells anything at ε = 1 (stop-pnsgd, shuffled-pnsgd, random-stop).\n\
         - **A projection, again and again.** Contraction multiplies one-step coefficients, each for the worst pair of points, and the\n\
         \x20 runs on an interval that we tried forget faster (public-tail, chain, laplace-pnsgd, one-pass).\n\n\
         `{HOW}` writes this page.\n",
        rows.len(),
        median(rows)
    )
    .expect("text can be written to");
    page
}

#[test]
fn the_page_is_that_of_the_examples() {
    let rows: Vec<Row> = files().iter().map(|path| row(path)).collect();
    for row in &rows {
        assert!(row.floor.is_none_or(|floor| floor <= row.guarantee), "{}", row.file);
    }
    let share = |name: &str| rows.iter().find(|row| row.file.ends_with(name)).expect("it is there").share();
    // Full batches with weight decay or strong convexity attain their guarantee.
    assert!(share("examples/noisy-gd.toml") > 0.99999 && share("examples/fine-tuned-head.toml") > 0.99999);
    let path = root().join("docs/floors.md");
    let right = page(&rows);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &right).expect("the folder is writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(right.lines()).find(|(written, right)| written != right);
    assert!(written == right, "docs/floors.md is not up to date: {HOW}\nfirst: {differs:?}");
}
