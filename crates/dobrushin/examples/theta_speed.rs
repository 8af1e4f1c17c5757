//! Times enclosures of θ over points from a file; the Rust half of `cargo xtask bench`.
//!
//! The file holds pairs (ε, r) of little-endian `f64`s. Printed are the nanoseconds a point of θ
//! and of ln θ, the best of several rounds, and, for each point of a second file if one is given,
//! the two ends of θ and the upper end of ln θ.

use dobrushin::numeric::theta::{ln_theta, theta};
use dobrushin::{Enclosure, Epsilon, NonNegative};
use std::hint::black_box;
use std::time::Instant;

type Points = Vec<(Epsilon, NonNegative)>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let points = read(&arguments.next().ok_or("usage: theta_speed POINTS [POINTS_TO_PRINT]")?)?;
    println!("theta {}", nanoseconds(&points, theta));
    println!("ln_theta {}", nanoseconds(&points, ln_theta));
    if let Some(file) = arguments.next() {
        for (epsilon, r) in read(&file)? {
            let (value, logarithm) = (theta(epsilon, r), ln_theta(epsilon, r));
            println!("value {:e} {:e} {:e}", value.lower(), value.upper(), logarithm.upper());
        }
    }
    Ok(())
}

fn read(path: &str) -> Result<Points, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    let numbers: Vec<f64> =
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect();
    let pair = |p: &[f64]| Ok((Epsilon::new(p[0])?, NonNegative::new(p[1])?));
    numbers.chunks_exact(2).map(pair).collect()
}

fn nanoseconds(points: &Points, f: fn(Epsilon, NonNegative) -> Enclosure) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..30 {
        let start = Instant::now();
        let mut total = 0.0;
        for &(epsilon, r) in points {
            total += f(epsilon, r).upper();
        }
        black_box(total);
        best = best.min(start.elapsed().as_secs_f64());
    }
    best / points.len() as f64 * 1e9
}
