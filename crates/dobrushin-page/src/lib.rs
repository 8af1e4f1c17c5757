//! The core of dobrushin for browsers: questions and answers as JSON.
//!
//! The page and self-verifying certificates run this library as WebAssembly in a worker. [`answer`] is all that they
//! use: a question is an object with the name of the question in `ask`, and the answer is `{"ok": …}`, or `{"error": …}`
//! in the words of the command line. The same function runs in native programs, and a test compares their answers to
//! the last digit.
//!
//! ```
//! let answer = dobrushin_page::answer(r#"{"ask": "account", "run": "[run]\nrecords = 10\n"}"#);
//! assert!(answer.starts_with(r#"{"error":"#), "{answer}");
//! ```

mod about;
mod channel;
mod question;
mod run;
mod sheet;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use question::answer;
