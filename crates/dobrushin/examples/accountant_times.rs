//! Times the composition accountant; the Rust half of `cargo xtask bench accountants`.
//!
//! `accountant_times epsilon SIGMA Q STEPS DELTA` finds ε of that many steps of DP-SGD (the
//! Poisson-subsampled Gaussian, add-or-remove-one neighbours), `accountant_times noise EPSILON
//! Q STEPS DELTA` the noise multiplier for an ε; a relative tolerance may follow. Printed is one
//! line of JSON: the ends of the enclosure, the seconds of the first call and of the median one,
//! the peak memory in MB (null where the system does not tell).

use dobrushin::loss::{Composition, Part};
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, Error, Positive, Probability};
use std::time::Instant;

/// Calls are repeated until they took this long together.
const SECONDS: f64 = 3.0;

/// Of the noise multiplier, relatively.
const NOISE_TOLERANCE: f64 = 1e-6;

/// How DP-SGD is run, but for the noise.
#[derive(Clone, Copy)]
struct Run {
    rate: f64,
    steps: u64,
    delta: f64,
    tolerance: Option<f64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: accountant_times (epsilon SIGMA | noise EPSILON) Q STEPS DELTA [TOLERANCE]";
    let [task, numbers @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    let numbers = numbers.iter().map(|text| text.parse()).collect::<Result<Vec<f64>, _>>()?;
    let (given, rate, steps, delta, tolerance) = match numbers[..] {
        [given, rate, steps, delta] => (given, rate, steps, delta, None),
        [given, rate, steps, delta, tolerance] => (given, rate, steps, delta, Some(tolerance)),
        _ => return Err(usage.into()),
    };
    let run = Run { rate, steps: steps as u64, delta, tolerance };
    let find: fn(Run, f64) -> Result<Enclosure, Error> = match task.as_str() {
        "epsilon" => epsilon,
        "noise" => noise_multiplier,
        _ => return Err(usage.into()),
    };

    let mut seconds = Vec::new();
    let mut value = Enclosure::ZERO;
    while seconds.iter().sum::<f64>() < SECONDS {
        let start = Instant::now();
        value = find(run, given)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let first = seconds[0];
    seconds.sort_by(f64::total_cmp);
    println!(
        r#"{{"task": "{task}", "lower": {}, "upper": {}, "first": {first:e}, "seconds": {:e}, "peak_mb": {}}}"#,
        json(value.lower()),
        json(value.upper()),
        seconds[seconds.len() / 2],
        peak_memory().map_or("null".into(), |mb| mb.to_string()),
    );
    Ok(())
}

fn epsilon(run: Run, noise_multiplier: f64) -> Result<Enclosure, Error> {
    let mechanism = Mechanism::Gaussian { noise_multiplier: Positive::new(noise_multiplier)? };
    let sampling = Sampling::Poisson(Probability::new(run.rate)?);
    let pair = dominating_pair(&mechanism, sampling, Neighbours::AddOrRemoveOne)?;
    let steps = Composition::new(vec![Part { pair, count: run.steps }]);
    let steps = match run.tolerance {
        Some(tolerance) => steps.with_tolerance(tolerance),
        None => steps,
    };
    Ok(steps.epsilon(Delta::new(run.delta)?))
}

/// An interval that holds the smallest noise multiplier at which the upper end of ε meets the
/// target; at the interval's upper end it does.
fn noise_multiplier(run: Run, target: f64) -> Result<Enclosure, Error> {
    let excess = |sigma: f64| Ok((epsilon(run, sigma)?.upper() / target).ln());
    let (mut low, mut high) = (1.0, 1.0);
    let mut above = excess(low)?;
    let mut below = above;
    while above <= 0.0 {
        (high, below) = (low, above);
        low /= 2.0;
        above = excess(low)?;
    }
    while below > 0.0 {
        (low, above) = (high, below);
        high *= 2.0;
        below = excess(high)?;
    }
    // ln ε is nearly linear in ln σ: chords, each a little beyond the root as the last one saw it, so that
    // both ends move.
    let mut beyond = 0.0;
    while high - low > NOISE_TOLERANCE * high {
        let share = above / (above - below);
        let probe = if share.is_finite() { low * (high / low).powf(share) } else { low.midpoint(high) };
        let step = 0.4 * NOISE_TOLERANCE * high;
        let sigma = (probe + beyond).clamp(low + step, high - step);
        let value = excess(sigma)?;
        if value > 0.0 {
            (low, above, beyond) = (sigma, value, step);
        } else {
            (high, below, beyond) = (sigma, value, -step);
        }
    }
    Ok(Enclosure::from(low).hull(high.into()))
}

/// The most memory this process has held, in MB.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// JSON as Python reads it.
fn json(value: f64) -> String {
    if value.is_infinite() { "Infinity".into() } else { format!("{value:e}") }
}
