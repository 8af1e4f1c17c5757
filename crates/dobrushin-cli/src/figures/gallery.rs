//! A page that shows all figures of a folder.

use super::{Claim, Recipe};
use crate::plot::Drawing;
use std::fmt::Write;

/// The page, for pictures in the same folder.
pub fn gallery(figures: &[(&Recipe, Drawing)], claims: &[Claim]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Figures</title>\n<style>\n\
         body { margin: 2rem auto; max-width: 50rem; padding: 0 1rem; font-family: sans-serif; line-height: 1.45 }\n\
         figure { margin: 3rem 0 } img { width: 100%; height: auto }\n\
         table { border-collapse: collapse } td, th { padding: 0.2rem 1rem 0.2rem 0; text-align: left }\n</style>\n\
         <h1>The papers' figures, recomputed</h1>\n\
         <p>Dashed: as published. Solid: corrected, and what this program says. Captions are in the pictures.</p>\n<ul>\n",
    );
    // Writing to a string cannot fail.
    for (Recipe { id, about, .. }, _) in figures {
        let _ = writeln!(page, "<li><a href=\"#{id}\">{id}</a>: {about}</li>");
    }
    page.push_str("<li><a href=\"#claims\">numbers that the papers print</a></li>\n</ul>\n");
    for (Recipe { id, .. }, plot) in figures {
        let _ = writeln!(
            page,
            "<figure id=\"{id}\">\n<img src=\"{id}.svg\" alt=\"{}\">\n<figcaption><a href=\"{id}.svg\">SVG</a>, \
             <a href=\"{id}.png\">PNG</a>, <a href=\"{id}.csv\">CSV</a></figcaption>\n</figure>",
            plot.title().replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
        );
    }
    page.push_str("<h2 id=\"claims\">Numbers that the papers print</h2>\n<table>\n");
    page.push_str("<tr><th>where</th><th>printed</th><th>is</th><th>erratum</th></tr>\n");
    for claim in claims {
        let value = claim.shown();
        let erratum = claim.erratum.unwrap_or("");
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{value}</td><td>{erratum}</td></tr>",
            claim.what, claim.printed
        );
    }
    page.push_str("</table>\n</html>\n");
    page
}
