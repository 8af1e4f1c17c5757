//! `dobrushin figures`: files, captions, and the pictures of the documentation.

use crate::pages::Page;
use crate::support::{dobrushin, file, json, root};
use dobrushin_reference::depth;
use serde_json::Value;
use std::path::PathBuf;

/// A new empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }
    folder
}

/// The pictures that the documentation shows.
const SHOWN: &str = "steps-convex,records,tightness,regimes";

#[test]
fn the_pictures_of_the_documentation_are_what_is_drawn() {
    let new = folder("shown");
    let out = new.to_str().expect("UTF-8");
    // The map of regimes takes as long as all others together, several times.
    let drawn = depth(SHOWN.trim_end_matches(",regimes"), SHOWN);
    dobrushin(&["figures", "--out", out, "--only", drawn]).assert().success();
    for id in drawn.split(',') {
        let name = format!("{id}.svg");
        let drawn = std::fs::read_to_string(new.join(&name)).expect("it was drawn");
        let old = std::fs::read_to_string(root().join("docs/figures").join(&name)).unwrap_or_default();
        assert!(
            drawn == old,
            "docs/figures/{name} is old: dobrushin figures --out docs/figures --only {SHOWN}"
        );
    }
}

/// The commands of a page that draw what it shows: `--plot NAME` draws docs/figures/NAME.
fn drawn_on(page: &str) -> Vec<(String, Vec<String>)> {
    let blocks = Page::read(&root(), page).blocks.into_iter().filter(|block| block.info == "console");
    let commands = blocks.flat_map(|block| {
        let text = block.lines.join("\n").replace("\\\n", " ");
        text.lines().map(str::to_owned).collect::<Vec<String>>()
    });
    let drawn = commands.filter_map(|command| {
        let words: Vec<String> = command.split_whitespace().skip(2).map(str::to_owned).collect();
        let name = words.iter().skip_while(|word| *word != "--plot").nth(1)?.clone();
        root().join("docs/figures").join(&name).exists().then_some((name, words))
    });
    drawn.collect()
}

#[test]
fn the_pictures_of_the_guide_are_what_its_commands_draw() {
    let drawn = drawn_on("docs/guide/pictures.md");
    assert_eq!(drawn.len(), 4, "{drawn:?}");
    for (name, words) in drawn {
        let path = file(&name, "");
        let words = words
            .iter()
            .map(|word| if *word == name { path.to_str().expect("UTF-8") } else { word.as_str() });
        dobrushin(&words.collect::<Vec<_>>()).assert().success();
        let old = root().join("docs/figures").join(&name);
        let [new, old] = [path, old].map(|path| std::fs::read_to_string(path).expect("it was drawn"));
        assert!(new == old, "docs/figures/{name} is old: the command in docs/guide/pictures.md draws it");
    }
}

#[test]
fn a_figure_is_three_files_and_a_page_shows_all() {
    let new = folder("files/deep");
    let answer = json(&["figures", "--out", new.to_str().expect("UTF-8"), "--only", "pac-2-39,ncv-2-a"]);
    let figures = answer["figures"].as_array().expect("a list");
    assert_eq!(figures.len(), 2);
    let page = std::fs::read_to_string(new.join("index.html")).expect("there is a page");
    for figure in figures {
        let starts: [&[u8]; 3] = [b"<svg", b"\x89PNG", b"curve,"];
        for (name, start) in figure["files"].as_array().expect("a list").iter().zip(starts) {
            let name = name.as_str().expect("a name");
            let bytes = std::fs::read(new.join(name)).expect("it was written");
            assert!(bytes.starts_with(start), "{name}");
            assert!(page.contains(name), "{name} is not on the page");
        }
        assert!(figure["caption"][0].as_str().is_some_and(|caption| caption.contains("η = ")), "{figure}");
    }
    assert_eq!(std::fs::read_dir(&new).expect("the folder").count(), 7);
    // The numbers that the papers print, with the erratum where they are wrong.
    let claims = answer["claims"].as_array().expect("a list");
    let wrong = claims.iter().filter(|claim| claim["erratum"] != Value::Null).count();
    assert_eq!((claims.len(), wrong), (10, 8));
    for claim in claims {
        let (lower, upper) = crate::support::bounds(&claim["value"]);
        let Some(printed) = claim["printed"].as_str().and_then(|text| text.parse::<f64>().ok()) else {
            continue;
        };
        // Two digits are printed.
        let right = lower >= printed - 0.005 && upper <= printed + 0.005;
        let rounded_down = claim["what"]
            .as_str()
            .is_some_and(|what| what.contains("rounded down") || what.contains("Example 2"));
        assert!(right != claim["erratum"].is_string() || rounded_down, "{claim}");
    }
}

#[test]
fn a_curve_of_csv_has_a_line_for_every_point() {
    let new = folder("points");
    dobrushin(&["figures", "--out", new.to_str().expect("UTF-8"), "--only", "ced-3-a"]).assert().success();
    let text = std::fs::read_to_string(new.join("ced-3-a.csv")).expect("it was written");
    assert_eq!(text.lines().next(), Some("curve,ε,δ"));
    let here = text.lines().filter(|line| line.starts_with("here,")).count();
    assert_eq!(text.lines().count(), 1 + 6 * here);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

/// The second column of a curve and the third, as text.
fn curve(text: &str, label: &str) -> Vec<(f64, String)> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.records().map(|row| row.expect("valid CSV"));
    let of_the_curve = rows.filter(|row| &row[0] == label);
    of_the_curve.map(|row| (row[1].parse().expect("a number"), row[2].to_owned())).collect()
}

#[test]
fn composition_is_finite_in_every_figure_and_what_account_says() {
    let new = folder("composition");
    dobrushin(&["figures", "--out", new.to_str().expect("UTF-8"), "--only", "ncv-1-epsilon"])
        .assert()
        .success();
    let text = std::fs::read_to_string(new.join("ncv-1-epsilon.csv")).expect("it was written");
    assert!(!text.contains("inf"), "{text}");
    let composition = curve(&text, "composition");
    // What `account` says for 1e5 and 1e6 steps, within the tolerance of curves.
    for (steps, epsilon) in [(1e5, 0.013_358_06), (1e6, 0.064_610_93)] {
        let (_, drawn) = composition.iter().find(|(x, _)| (x / steps - 1.0).abs() < 1e-9).expect("a point");
        let drawn: f64 = drawn.parse().expect("a number");
        assert!(drawn >= epsilon && drawn <= epsilon * 1.003, "{drawn} at {steps} steps");
    }
}

#[test]
fn what_is_too_small_to_be_drawn_is_written_out() {
    let new = folder("small");
    dobrushin(&["figures", "--out", new.to_str().expect("UTF-8"), "--only", "pac-2-1"]).assert().success();
    let text = std::fs::read_to_string(new.join("pac-2-1.csv")).expect("it was written");
    let small =
        curve(&text, "here").into_iter().filter(|(_, delta)| !delta.parse().is_ok_and(|d: f64| d >= 1e-40));
    let small: Vec<(f64, String)> = small.collect();
    assert!(small.len() > 10, "{text}");
    assert!(small.iter().all(|(_, delta)| delta != "0"), "{small:?}");
    // The picture ends at 1e-40.
    let drawn = std::fs::read_to_string(new.join("pac-2-1.svg")).expect("it was written");
    assert!(drawn.contains("below 1e-40"), "{drawn}");
}

#[test]
fn what_cannot_be_drawn_or_stored_is_said() {
    let unknown = dobrushin(&["figures", "--out", "x", "--only", "ced-2"]).assert().code(2);
    let message = String::from_utf8_lossy(&unknown.get_output().stderr).into_owned();
    assert!(message.contains("ced-2") && message.contains("ced-1"), "{message}");
    let occupied = file("occupied", "no folder");
    let refused = dobrushin(&["figures", "--only", "ced-1", "--out"]).arg(&occupied).assert().code(2);
    let message = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(message.contains("occupied") && message.contains("--out"), "{message}");
    assert_eq!(std::fs::read_to_string(&occupied).expect("it is still there"), "no folder");
    dobrushin(&["figures"]).assert().code(2);
}
