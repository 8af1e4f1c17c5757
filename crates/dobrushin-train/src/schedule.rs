//! Which records each step uses.
