//! Plots, as files.

use crate::support::{dobrushin, file, root};
use resvg::usvg::{Group, Node, Options, Rect, Tree, fontdb};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The picture that a command draws, as SVG.
#[track_caller]
fn picture(name: &str, words: &[&str]) -> String {
    let path = file(name, "");
    dobrushin(words).arg("--plot").arg(&path).assert().success();
    std::fs::read_to_string(&path).expect("it was written")
}

/// Every piece of text in a picture, with the rectangle that its ink fills.
fn texts(svg: &str) -> (Rect, Vec<(String, Rect)>) {
    let mut fonts = fontdb::Database::new();
    let font = root().join("crates/dobrushin-cli/assets/DejaVuSans-subset.ttf");
    fonts.load_font_data(std::fs::read(font).expect("the font is there"));
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).expect("it is SVG");
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    let size = tree.size();
    (Rect::from_xywh(0.0, 0.0, size.width(), size.height()).expect("it has a size"), found)
}

fn collect(group: &Group, found: &mut Vec<(String, Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => collect(group, found),
            Node::Text(text) => {
                let words = text.chunks().iter().map(|chunk| chunk.text().to_owned()).collect();
                found.push((words, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

/// Fails if a text meets another one, or is cut by the edge of the picture.
#[track_caller]
fn assert_readable(name: &str, svg: &str) {
    let (whole, texts) = texts(svg);
    assert!(texts.len() > 4, "{name}: {texts:?}");
    for (index, (text, here)) in texts.iter().enumerate() {
        let is_inside =
            here.left() >= 0.0 && here.right() <= whole.right() && here.bottom() <= whole.bottom();
        assert!(is_inside, "{name}: {text:?} is cut");
        for (other, there) in &texts[..index] {
            let apart = here.left() >= there.right()
                || there.left() >= here.right()
                || here.top() >= there.bottom()
                || there.top() >= here.bottom();
            assert!(apart, "{name}: {text:?} {here:?} is written over {other:?} {there:?}");
        }
    }
}

#[test]
fn no_text_meets_another_in_the_picture_of_any_example() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("examples"))
        .expect("there are examples")
        .filter_map(|entry| entry.expect("it can be read").file_name().into_string().ok())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let run = format!("examples/{name}");
        // No formula is for mechanisms of several kinds.
        let analyses = if name == "mechanisms.toml" { "composition" } else { "closed-form" };
        let svg = picture("example.svg", &["account", &run, "--analyses", analyses]);
        assert_readable(&name, &svg);
        let svg = picture(
            "delta.svg",
            &["curve", &run, "--over", "target.delta=1e-9,1e-7,1e-5", "--analyses", analyses],
        );
        assert_readable(&name, &svg);
    }
}

#[test]
fn no_text_meets_another_whatever_is_varied() {
    for over in [
        &["order=poisson,without-replacement"][..],
        &["neighbours=replace-one,zero-out"],
        &["steps=1..1000"],
        &["noise-multiplier=0.5,1,2,4,8,16"],
        &["noise-multiplier=1..2", "steps=10,100,1000"],
        &["noise-multiplier=1..2", "steps=10..1000"],
        &["neighbours=replace-one,zero-out", "steps=10..1000"],
        &["learning-rate=0.1"],
    ] {
        let flags = over.iter().flat_map(|over| ["--over", over]);
        let words = ["curve", "examples/dp-sgd.toml", "--analyses", "closed-form", "--points", "30"];
        let svg = picture("varied.svg", &words.into_iter().chain(flags).collect::<Vec<_>>());
        assert_readable(&over.join(" "), &svg);
    }
}

#[test]
fn the_title_is_the_answer_and_the_guarantee_is_in_front() {
    let svg = picture("answer.svg", &["account", "examples/noisy-gd.toml"]);
    assert!(svg.contains(">ε at most 2.558 at δ = 1e-5<"), "{svg}");
    let name = svg.find(">guarantee: shift<").expect("it has a name");
    let broad = svg.rfind("stroke-width=\"4\"").expect("it is broad");
    let last = svg.rfind("class=\"series\"").expect("there are curves");
    let marks =
        svg[last..].find("paint-order").map(|_| svg[..last].rfind("class=\"series\"").expect("a curve"));
    // Only the mark of the answer itself is drawn later, or the guarantee is the last of all.
    assert!(broad > last || marks.is_some_and(|before| broad > before) && name > broad, "{svg}");
    assert!(svg.contains("approximate: no") && svg.contains("stroke-dasharray=\"6 4\""), "{svg}");
}

#[test]
fn what_says_nothing_is_left_out_and_named_unless_it_was_asked_for() {
    let base = ["curve", "examples/projected-dp-sgd.toml", "--over", "steps=100,1000"];
    let svg = picture("left-out.svg", &base);
    assert!(!svg.contains(">nonconvex-published<") && svg.contains("nonconvex-published"), "{svg}");
    assert!(svg.contains("Left out, because nowhere within 8 times the guarantee"), "{svg}");
    assert!(svg.contains(">composition<") && svg.contains(">guarantee: recursion<"), "{svg}");
    let svg = picture("asked.svg", &[&base[..], &["--analyses", "nonconvex-published,composition"]].concat());
    assert!(svg.contains(">nonconvex-published<"), "{svg}");
}

#[test]
fn words_are_at_the_ticks_and_points_are_not_joined() {
    let words = [
        "curve",
        "examples/dp-sgd.toml",
        "--over",
        "neighbours=replace-one,zero-out",
        "--analyses",
        "composition",
    ];
    let svg = picture("words.svg", &words);
    assert!(svg.contains(">replace-one<") && svg.contains(">zero-out<"), "{svg}");
    let line = svg.lines().skip_while(|line| !line.contains("class=\"series\"")).nth(1).expect("a curve");
    assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 2), "{line}");
}

#[test]
fn two_parameters_are_a_map_with_the_winners_below() {
    let words = [
        "curve",
        "examples/noisy-gd.toml",
        "--over",
        "steps=1..1000",
        "--over",
        "noise-multiplier=1..30",
        "--log",
    ];
    let svg =
        picture("map.svg", &[&words[..], &["--points", "18", "--analyses", "composition,shift"]].concat());
    assert!(svg.contains("contour-labels") && svg.contains("class=\"borders\""), "{svg}");
    assert!(svg.contains("Which analysis gives the guarantee") && svg.contains(">shift<"), "{svg}");
    assert_readable("a map", &svg);
}

#[test]
fn a_page_needs_nothing_and_runs_only_its_own_script() {
    // A category whose name wants to be a script.
    let name = "</script><script>alert(1)</script>\"'";
    let answers = file("answers.csv", format!("answer\n\"{}\"\nno\nno\n", name.replace('"', "\"\"")));
    let [reports, page] = ["reports.csv", "page.html"].map(|name| file(name, ""));
    let categories = file("categories.txt", format!("{name}\nno\n"));
    let utf8 = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let words = [
        "local",
        "privatize",
        &utf8(&answers),
        "--column",
        "answer",
        "--mechanism",
        "k-rr",
        "--categories-file",
        &utf8(&categories),
        "--epsilon",
        "3",
        "--seed",
        "1",
        "--not-private",
        "--output",
        &utf8(&reports),
    ];
    dobrushin(&words).assert().success();
    dobrushin(&["local", "estimate", &utf8(&reports), "--plot", &utf8(&page)]).assert().success();
    let page = std::fs::read_to_string(&page).expect("it was written");
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2), "{page}");
    assert!(page.contains("default-src 'none'") && page.contains("script-src 'sha256-"));
    for word in ["src=\"", "href=", "@import", "fetch(", " style=\""] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn a_pdf_renders() {
    let path = file("curve.pdf", "");
    let words = [
        "curve",
        "examples/noisy-gd.toml",
        "--over",
        "steps=1,10,100",
        "--analyses",
        "composition,shift",
        "--plot",
    ];
    dobrushin(&words).arg(&path).assert().success();
    assert!(std::fs::read(&path).expect("it was written").starts_with(b"%PDF-"));
    // If this machine has a viewer, it can open the file and finds ink in it.
    let drawn = Command::new("pdftoppm").args(["-r", "72", "-gray"]).arg(&path).output();
    if let Ok(drawn) = drawn {
        assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
        assert!(drawn.stderr.is_empty(), "{}", String::from_utf8_lossy(&drawn.stderr));
        let dark = drawn.stdout.iter().filter(|&&pixel| pixel < 100).count();
        assert!(dark > 1000 && dark < drawn.stdout.len() / 2, "{dark} dark pixels");
    }
}

#[test]
fn a_gaussian_curve_is_drawn_the_same_every_time() {
    let path = file("gaussian.svg", "");
    let arguments =
        ["divergence", "gaussian", "--distance", "1", "--sigma", "1", "--epsilon", "1,2", "--plot"];
    dobrushin(&arguments).arg(&path).assert().success();
    let svg = std::fs::read_to_string(&path).expect("it was written");
    insta::assert_snapshot!(svg);
}

#[test]
fn a_channel_is_drawn_as_png() {
    let path = file("channel.png", "");
    dobrushin(&["kernel", "examples/channel.csv", "--plot"]).arg(&path).assert().success();
    let png = std::fs::read(&path).expect("it was written");
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 10_000, "{} bytes", png.len());
}

#[test]
fn curves_without_a_shape_are_drawn_too() {
    let equal = file("equal.csv", "0.5,0.5\n0.5,0.5\n");
    let disjoint = file("disjoint.csv", "1,0\n0,1\n");
    for (index, path) in [equal, disjoint].iter().enumerate() {
        let picture = file(&format!("shape{index}.svg"), "");
        for command in [&["divergence", "discrete"][..], &["kernel"]] {
            dobrushin(command).arg(path).arg("--plot").arg(&picture).assert().success();
            let svg = std::fs::read_to_string(&picture).expect("it was written");
            assert!(svg.contains("</svg>") && !svg.contains("NaN"), "{svg}");
        }
    }
}
