//! Times the contraction of large kernels; part of `cargo xtask bench`.

use dobrushin::Gamma;
use dobrushin::kernel::FiniteKernel;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gamma = Gamma::from_epsilon(0.5)?;
    let large = FiniteKernel::proportional_to(weights(1000, 1000))?;
    let (seconds, eta) = timed(|| large.contraction_with_pair(gamma));
    println!("1000×1000, η at one γ:   {seconds:.3} s   η ≤ {}", eta.value.upper());
    let (seconds, eta) = timed(|| large.chi_squared_contraction());
    println!("1000×1000, η_χ² = η_KL:  {seconds:.3} s   η ≤ {}", eta.value.upper());
    let small = FiniteKernel::proportional_to(weights(200, 200))?;
    let (seconds, curve) = timed(|| small.curve());
    println!("200×200, whole curve:    {seconds:.3} s   {} bends", curve.bends().count());
    if let Some(peak) = peak_memory() {
        println!("peak memory:             {peak}");
    }
    Ok(())
}

/// The best of five runs.
fn timed<T>(f: impl Fn() -> T) -> (f64, T) {
    let run = || {
        let start = Instant::now();
        let value = f();
        (start.elapsed().as_secs_f64(), value)
    };
    (0..4).fold(run(), |best, _| {
        let next = run();
        if next.0 < best.0 { next } else { best }
    })
}

/// Positive weights without structure, the same every time.
fn weights(rows: u32, columns: u32) -> Vec<Vec<f64>> {
    let weight = |i: u32, j: u32| {
        let mixed = (u64::from(i) << 32 | u64::from(j)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        0.01 + (mixed >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..rows).map(|i| (0..columns).map(|j| weight(i, j)).collect()).collect()
}

/// The high-water mark of this process, where the system tells it.
fn peak_memory() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
