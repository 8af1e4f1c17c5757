//! Times the composition accountant; the Rust half of `cargo xtask bench accountants`.
//!
//! `accountant_times epsilon SIGMA Q STEPS DELTA` finds ε of that many steps of DP-SGD (the
//! Poisson-subsampled Gaussian, add-or-remove-one neighbours), `accountant_times noise EPSILON
//! Q STEPS DELTA` the noise multiplier for an ε; for `epsilon` a relative tolerance may follow. Printed is one
//! line of JSON: the ends of the enclosure, the seconds of the first call and of the median one,
//! the peak memory in MB (null where the system does not tell).

use dobrushin::account::{Target, calibrate};
use dobrushin::loss::{Composition, Part};
use dobrushin::mechanism::{Mechanism, Neighbours, Sampling, dominating_pair};
use dobrushin::profile::PrivacyProfile;
use dobrushin::run::{Order, Parameter};
use dobrushin::{Delta, Enclosure, Epsilon, Positive, Probability};
use std::time::Instant;

/// Calls are repeated until they took this long together.
const SECONDS: f64 = 3.0;

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
    let find: fn(Run, f64) -> Result<Enclosure, Box<dyn std::error::Error>> = match task.as_str() {
        "epsilon" => epsilon,
        "noise" => noise_multiplier,
        _ => return Err(usage.into()),
    };

    let mut seconds = Vec::new();
    let mut value = Enclosure::ZERO;
    let mut together = 0.0;
    while together < SECONDS {
        let start = Instant::now();
        value = find(run, given)?;
        let elapsed = start.elapsed().as_secs_f64();
        seconds.push(elapsed);
        together += elapsed;
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

fn epsilon(run: Run, noise_multiplier: f64) -> Result<Enclosure, Box<dyn std::error::Error>> {
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

/// A noise multiplier with which ε meets the target; one 1e-5 smaller does not.
fn noise_multiplier(run: Run, target: f64) -> Result<Enclosure, Box<dyn std::error::Error>> {
    let described = dobrushin::run::Run::dp_sgd(1_000_000)
        .order(Order::Poisson)
        .sampling_probability(run.rate)
        .steps(run.steps)
        .neighbours(Neighbours::AddOrRemoveOne)
        .noise_multiplier(1.0)
        .build()?;
    let target = Target::Privacy { epsilon: Epsilon::new(target)?, delta: Delta::new(run.delta)? };
    let found = calibrate(&described, Parameter::NoiseMultiplier, target)?;
    Ok(found.value.into())
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
