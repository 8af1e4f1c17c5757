//! How good a model is on records that may be looked at.
