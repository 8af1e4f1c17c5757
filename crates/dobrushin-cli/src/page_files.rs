//! The page and its program, as they are part of this one.
//!
//! `cargo xtask page` builds them, and the test of the page compares what they answer with what this program answers.

/// The core as WebAssembly, gzipped.
pub const MODULE: &[u8] = include_bytes!("../assets/page/dobrushin.wasm.gz");

/// A file of the page.
pub struct PageFile {
    /// Where it lies, relative to the page.
    pub path: &'static str,
    /// What it is, for browsers.
    pub kind: &'static str,
    /// What it holds, gzipped if it is the module.
    pub bytes: &'static [u8],
}

const fn file(path: &'static str, kind: &'static str, bytes: &'static [u8]) -> PageFile {
    PageFile { path, kind, bytes }
}

/// All files of the page.
pub const FILES: [PageFile; 5] = [
    file("index.html", "text/html; charset=utf-8", include_bytes!("../assets/page/index.html")),
    file("assets/index.js", "text/javascript", include_bytes!("../assets/page/assets/index.js")),
    file("assets/index.css", "text/css", include_bytes!("../assets/page/assets/index.css")),
    file("assets/worker.js", "text/javascript", include_bytes!("../assets/page/assets/worker.js")),
    file("dobrushin.wasm", "application/wasm", MODULE),
];
