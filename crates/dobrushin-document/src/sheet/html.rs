//! A sheet as a page for a browser, which needs no other file and prints well.

use super::Sheet;
use crate::plain_text::shown_safely;

const STYLE: &str = "\
:root { color-scheme: light }
body { margin: 2.5rem auto; max-width: 46rem; padding: 0 1.2rem; color: #222; background: #fff;
  font: 16px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif }
h1 { font-size: 1rem; font-weight: 600; color: #555; text-transform: uppercase; letter-spacing: .08em; margin: 0 }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; break-after: avoid }
.answer { font-size: 1.6rem; line-height: 1.3; margin: .3rem 0 1.2rem }
.alarm { border-left: .3rem solid #b00020; padding: .4rem .8rem; background: #fdecee; font-weight: 600 }
ul { margin: .4rem 0; padding-left: 1.2rem }
li { margin: .25rem 0; overflow-wrap: anywhere; break-inside: avoid }
figure { margin: 1.6rem 0; break-inside: avoid }
svg { width: 100%; height: auto }
@page { margin: 18mm }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 11pt } }
";

impl Sheet {
    /// The sheet as one file, with a drawing (SVG) after the first section.
    pub fn html(&self, drawing: &str) -> String {
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n<p class=\"answer\">{}</p>\n",
            escaped(&self.answer),
            title = escaped(&self.title),
        );
        if let Some(alarm) = &self.alarm {
            page += &format!("<p class=\"alarm\">{}</p>\n", escaped(alarm));
        }
        for (index, section) in self.sections.iter().enumerate() {
            page += &format!("<h2>{}</h2>\n<ul>\n", escaped(section.heading));
            for point in &section.points {
                page += &format!("<li>{}</li>\n", escaped(point));
            }
            page += "</ul>\n";
            if index == 0 {
                page += &format!("<figure>\n{drawing}</figure>\n");
            }
        }
        page + "</html>\n"
    }
}

/// Text that a browser shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in shown_safely(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::Section;
    use super::*;

    #[test]
    fn no_text_becomes_markup_and_nothing_is_loaded() {
        let point = "<script src='http://example.org/x.js'></script> & \"\u{1b}[2J".to_owned();
        let sheet = Sheet {
            title: "<title>".to_owned(),
            answer: "ε < 1".to_owned(),
            alarm: Some("<b>".to_owned()),
            sections: vec![Section { heading: "What it means", points: vec![point] }],
        };
        let page = sheet.html("<svg></svg>\n");
        assert!(page.contains("<li>&lt;script src=&#39;http://example.org/x.js&#39;&gt;&lt;/script&gt; &amp; &quot;\\u001b[2J</li>"));
        assert!(page.contains("ε &lt; 1") && page.contains("<figure>\n<svg></svg>\n</figure>"));
        for loads in ["<script", "<link", "url(", " src="] {
            assert!(!page.replace("&lt;script src", "").contains(loads), "{loads}");
        }
    }
}
