//! Plots, as files.

use crate::support::{dobrushin, file};

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
