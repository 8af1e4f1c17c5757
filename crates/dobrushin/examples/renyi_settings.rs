//! Times the Rényi accountant of DP-SGD: ε of T steps of the Poisson-subsampled Gaussian.
//!
//! Without an argument: 1,000 settings with σ log-uniform in [0.5, 10], q in [1e-4, 0.5], T in
//! [1, 1e6] and δ = 1e-5; printed are the best total of several rounds and the sum of all ε. With a
//! file of lines "sigma q steps delta", the upper end of ε, the lower end and the best order of
//! each are printed first.

#![allow(clippy::disallowed_methods)] // What is measured or expected may differ in its last digit.

use dobrushin::profile::{AtOrder, ComposedCurve, Direction, RenyiProfile, SubsampledGaussian};
use dobrushin::{Delta, Error, Positive, Probability};
use std::time::Instant;

#[derive(Clone, Copy)]
struct Setting {
    sigma: f64,
    rate: f64,
    steps: u64,
    delta: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = match std::env::args().nth(1) {
        Some(file) => {
            let settings =
                std::fs::read_to_string(file)?.lines().map(parse).collect::<Result<Vec<_>, _>>()?;
            for &setting in &settings {
                let AtOrder { value, order } = epsilon(setting)?;
                println!("{:e} {:e} {order:e}", value.upper(), value.lower());
            }
            settings
        }
        None => ladder(),
    };
    let mut best = f64::INFINITY;
    let mut checksum = 0.0;
    for _ in 0..5 {
        let start = Instant::now();
        checksum = 0.0;
        for &setting in &settings {
            checksum += epsilon(setting)?.value.upper();
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{} settings in {best:.4} s, sum of all epsilon {checksum:.9e}", settings.len());
    Ok(())
}

fn epsilon(setting: Setting) -> Result<AtOrder, Error> {
    let step = SubsampledGaussian::new(Probability::new(setting.rate)?, Positive::new(setting.sigma)?)?;
    let profile = RenyiProfile::new(ComposedCurve::repeated(setting.steps, step));
    // The larger of the two directions.
    Ok(profile.epsilon_at_best_order(Direction::Forward, Delta::new(setting.delta)?))
}

fn parse(line: &str) -> Result<Setting, Box<dyn std::error::Error>> {
    let numbers = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    match numbers[..] {
        [sigma, rate, steps, delta] => Ok(Setting { sigma, rate, steps: steps as u64, delta }),
        _ => Err(format!("expected \"sigma q steps delta\", found \"{line}\"").into()),
    }
}

/// Points that fill the cube of (ln σ, ln q, ln T) evenly: multiples of square roots.
fn ladder() -> Vec<Setting> {
    let point =
        |i: i32, root: f64, from: f64, to: f64| from * (to / from).powf((f64::from(i) * root).fract());
    let setting = |i: i32| Setting {
        sigma: point(i, 2f64.sqrt(), 0.5, 10.0),
        rate: point(i, 3f64.sqrt(), 1e-4, 0.5),
        steps: point(i, 5f64.sqrt(), 1.0, 1e6) as u64,
        delta: 1e-5,
    };
    (1..=1000).map(setting).collect()
}
