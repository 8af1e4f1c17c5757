//! A sheet as a page for a browser, which needs no other file, prints well, and can check itself.

use super::Sheet;
use crate::certificate::Certificate;
use crate::plain_text::shown_safely;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// What recomputes the certificate in the browser, and compares the page with it.
const SCRIPT: &str = include_str!("verifier.js");

/// What stands around the certificate in a page, so that a program finds it.
const OPENING: &str = "<script type=\"application/json\" id=\"certificate\">";
const CLOSING: &str = "</script>";

const STYLE: &str = "\
:root { color-scheme: light }
body { margin: 2.5rem auto; max-width: 46rem; padding: 0 1.2rem; color: #222; background: #fff;
  font: 16px/1.5 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif }
h1 { font-size: 1rem; font-weight: 600; color: #555; text-transform: uppercase; letter-spacing: .08em; margin: 0 }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; break-after: avoid }
.answer { font-size: 1.6rem; line-height: 1.3; margin: .3rem 0 1.2rem }
#verdict { border-left: .3rem solid #888; padding: .4rem .8rem; background: #f3f3f3; margin: 0 0 1.6rem; white-space: pre-line }
#verdict.holds { border-color: #1b7f3b; background: #e8f5ec }
#verdict.fails { border-color: #b00020; background: #fdecee }
.alarm { border-left: .3rem solid #b00020; padding: .4rem .8rem; background: #fdecee; font-weight: 600 }
ul { margin: .4rem 0; padding-left: 1.2rem }
li { margin: .25rem 0; overflow-wrap: anywhere; break-inside: avoid }
figure { margin: 1.6rem 0; break-inside: avoid }
svg { width: 100%; height: auto }
@page { margin: 18mm }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 11pt } }
";

impl Sheet {
    /// The sheet as one file, with a drawing (SVG) after the first section, the certificate, and the program that
    /// recomputes it: `module` is the gzipped WebAssembly of `dobrushin-page`.
    ///
    /// The policy of the page allows this one script, by its hash, and no request.
    pub fn html(&self, drawing: &str, certificate: &Certificate, module: &[u8]) -> String {
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'sha256-{hash}' 'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n\
             <p id=\"verdict\" role=\"status\">{NOT_YET}</p>\n\
             <main>\n<h1>{title}</h1>\n<p class=\"answer\">{}</p>\n",
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
        // Inside a script, "<" could end it.
        let certificate = certificate.file().replace('<', "\\u003c");
        page += &format!("</main>\n{OPENING}\n{certificate}{CLOSING}\n");
        page += &format!("<script type=\"text/plain\" id=\"module\">{}{CLOSING}\n", STANDARD.encode(module));
        page + &format!("<script>{SCRIPT}</script>\n</html>\n")
    }

    /// What the page shows, in order, as a browser shows it: the title, the answer, the alarm, and each heading with its
    /// points. A page that shows anything else was changed.
    pub fn shown(&self) -> Vec<String> {
        let mut shown = vec![self.title.as_str(), &self.answer];
        shown.extend(self.alarm.as_deref());
        for section in &self.sections {
            shown.push(section.heading);
            shown.extend(section.points.iter().map(String::as_str));
        }
        shown.into_iter().map(shown_safely).map(|text| text.to_string()).collect()
    }
}

/// What stands where the verdict will be, for those who do not run scripts.
const NOT_YET: &str =
    "This page recomputes its own guarantee. Where scripts are not run, dobrushin verify FILE.html does it.";

/// The certificate in a page that [`Sheet::html`] wrote; `None` if the bytes are no such page.
pub fn certificate_in(page: &[u8]) -> Option<&str> {
    let page = std::str::from_utf8(page).ok()?;
    if !page.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase().starts_with("<!doctype html") {
        return None;
    }
    let (_, rest) = page.split_once(OPENING)?;
    Some(rest.split_once(CLOSING)?.0)
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
    use crate::RunFile;
    use crate::ask::{self, AccountWishes};
    use dobrushin::Progress;

    fn certificate() -> Certificate {
        let file = RunFile::built_in().expect("it is a run file");
        let contained = file.alone().expect("it names no file");
        let wishes = AccountWishes { floor: false, ..AccountWishes::default() };
        let found =
            ask::account(&file, &contained, &wishes, &mut |_| Progress::default()).expect("it has an answer");
        Certificate::of(&contained, &found.account, None, &found.options).expect("it is a guarantee")
    }

    #[test]
    fn no_text_becomes_markup_and_nothing_is_loaded() {
        let hostile = "</script><script src='http://example.org/x.js'></script> & \"\u{1b}[2J".to_owned();
        let sheet = Sheet {
            title: "<title>".to_owned(),
            answer: "ε < 1".to_owned(),
            alarm: Some("<b>".to_owned()),
            sections: vec![Section { heading: "What it means", points: vec![hostile.clone()] }],
        };
        let mut certificate = certificate();
        certificate.explanation.push(hostile);
        let page = sheet.html("<svg></svg>\n", &certificate, b"module");
        let shown = "<li>&lt;/script&gt;&lt;script src=&#39;http://example.org/x.js&#39;&gt;&lt;/script&gt; &amp; &quot;\\u001b[2J</li>";
        assert!(page.contains(shown), "{page}");
        assert!(page.contains("ε &lt; 1") && page.contains("<figure>\n<svg></svg>\n</figure>"));
        // The certificate, the module and the verifier, and nothing that a text began or ended.
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (3, 3));
        for loads in ["<link", "url(", "<script src", "<b>"] {
            assert!(!page.contains(loads), "{loads}");
        }
    }

    #[test]
    fn a_page_gives_its_certificate_back_and_nothing_else_does() {
        let mut certificate = certificate();
        certificate.explanation.push("</script>".to_owned());
        let page = super::super::of_certificate(&certificate).html("<svg></svg>\n", &certificate, b"module");
        let found = certificate_in(page.as_bytes()).expect("it is a page");
        assert_eq!(crate::json::parse(found.as_bytes()).expect("JSON"), crate::json::of(&certificate));
        for other in [&b"{}"[..], b"<!doctype html>\n<p>", b"\xff<!doctype html>", b""] {
            assert!(certificate_in(other).is_none());
        }
    }
}
