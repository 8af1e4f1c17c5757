//! From what is known of two laws to (ε, δ).

mod renyi;

pub use renyi::RenyiBound;
