//! How long the optimal shift takes on ten million different steps.

use dobrushin::analysis::{ShiftStep, squared_shift_anywhere, squared_shift_from};
use dobrushin::chain::Count;
use std::time::Instant;

fn main() {
    let steps: Vec<ShiftStep> = (1..=10_000_000_u32)
        .map(|t| {
            let wave = f64::from(t % 1009) / 1009.0;
            ShiftStep {
                slope: 1.0 - 1e-6 * wave,
                offset: if t % 100 == 0 { 0.1 + wave } else { 0.0 },
                noise: 1.0 + wave,
                count: Count::Times(1),
            }
        })
        .collect();
    for _ in 0..3 {
        let start = Instant::now();
        let from_the_start = squared_shift_from(0.0, &steps);
        let middle = Instant::now();
        let anywhere = squared_shift_anywhere(30.0, &steps);
        println!(
            "10,000,000 steps: μ² = {from_the_start} in {:.2?}; on a domain {anywhere} in {:.2?}",
            middle - start,
            middle.elapsed()
        );
    }
}
