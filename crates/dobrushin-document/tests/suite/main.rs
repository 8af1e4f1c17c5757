//! Claims about documents as files: those that earlier programs wrote, and those that nobody should believe.

#![allow(clippy::disallowed_methods)] // What is measured or expected may differ in its last digit.

mod documents;
