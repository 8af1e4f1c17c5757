//! Claims about documents as files: those that earlier programs wrote, and those that nobody should believe.

mod documents;
