//! Convex problems with a known minimum, and runs on them, played out.

use dobrushin::numeric::Random;
use dobrushin::run::{Batch, LearningRate, Noise, NoiseKind, Order, Release, Training};

/// A convex problem on a ball around 0; every record is a point.
pub struct Problem {
    pub name: &'static str,
    /// A new record.
    pub draw: fn(&mut Random, usize) -> Vec<f64>,
    /// The gradient of a record's loss at a point.
    pub gradient: fn(&[f64], &[f64]) -> Vec<f64>,
    /// The expected loss of a new record on a ball of the given radius, less its minimum.
    pub excess: fn(&[f64], f64) -> f64,
    /// The direction of the worst start.
    pub start: f64,
    /// The norm of gradients in the unit ball.
    pub lipschitz: f64,
}

fn norm(w: &[f64]) -> f64 {
    w.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn scaled(w: &[f64], by: f64) -> Vec<f64> {
    w.iter().map(|x| x * by).collect()
}

fn along_first(value: f64, dimension: usize) -> Vec<f64> {
    (0..dimension).map(|i| if i == 0 { value } else { 0.0 }).collect()
}

/// ⟨w, x⟩ with x = e₁.
pub const SLOPE: Problem = Problem {
    name: "slope",
    draw: |_, d| along_first(1.0, d),
    gradient: |_, x| x.to_vec(),
    excess: |w, radius| w[0] + radius,
    start: 1.0,
    lipschitz: 1.0,
};

/// ⟨w, x⟩ with x on the sphere: ±e₁ for the most part, of mean 0.2·e₁.
pub const LINEAR: Problem = Problem {
    name: "linear",
    draw: |random, d| along_first(if random.between(0.0, 1.0) < 0.6 { 1.0 } else { -1.0 }, d),
    gradient: |_, x| x.to_vec(),
    excess: |w, radius| 0.2 * (w[0] + radius),
    start: 1.0,
    lipschitz: 1.0,
};

/// ‖w‖, whatever the record.
pub const CONE: Problem = Problem {
    name: "cone",
    draw: |_, d| vec![0.0; d],
    gradient: |w, _| scaled(w, 1.0 / norm(w).max(1e-300)),
    excess: |w, _| norm(w),
    start: 1.0,
    lipschitz: 1.0,
};

/// |w − x| with x uniform between −½ and ½, in one dimension.
pub const DEVIATION: Problem = Problem {
    name: "deviation",
    draw: |random, _| vec![random.between(-0.5, 0.5)],
    gradient: |w, x| vec![(w[0] - x[0]).signum()],
    excess: |w, _| if w[0].abs() <= 0.5 { w[0] * w[0] } else { w[0].abs() - 0.25 },
    start: 1.0,
    lipschitz: 1.0,
};

/// (w − x)²/2 with x = ±1, of mean 0.2, in one dimension.
pub const SQUARES: Problem = Problem {
    name: "squares",
    draw: |random, _| vec![if random.between(0.0, 1.0) < 0.6 { 1.0 } else { -1.0 }],
    gradient: |w, x| vec![w[0] - x[0]],
    excess: |w, _| (w[0] - 0.2) * (w[0] - 0.2) / 2.0,
    start: -1.0,
    lipschitz: 2.0,
};

/// ln(1 + e^(−⟨w, x⟩)) with x = e_i, or −e_i in two of five cases: within the unit ball √d·w = (ln 1.5, …) is best.
pub const LOGISTIC: Problem = Problem {
    name: "logistic",
    draw: |random, d| {
        let (place, sign) = (random.below(d), if random.between(0.0, 1.0) < 0.6 { 1.0 } else { -1.0 });
        (0..d).map(|i| if i == place { sign } else { 0.0 }).collect()
    },
    gradient: |w, x| {
        let margin: f64 = w.iter().zip(x).map(|(a, b)| a * b).sum();
        scaled(x, -1.0 / (1.0 + margin.exp()))
    },
    excess: |w, _| {
        let loss = |z: f64| 0.6 * (-z).exp().ln_1p() + 0.4 * z.exp().ln_1p();
        w.iter().map(|&z| loss(z) - loss(1.5_f64.ln())).sum::<f64>() / w.len() as f64
    },
    start: -1.0,
    lipschitz: 1.0,
};

/// A standard normal number.
pub fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * random.between(f64::MIN_POSITIVE, 1.0).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.between(0.0, 1.0)).cos()
}

/// Noise of one coordinate.
fn noise(random: &mut Random, kind: NoiseKind) -> f64 {
    match kind {
        NoiseKind::Gaussian => normal(random),
        NoiseKind::Laplace => {
            let size = -random.between(f64::MIN_POSITIVE, 1.0).ln();
            if random.below(2) == 0 { size } else { -size }
        }
    }
}

/// η of a step, from 1.
pub fn rate(training: &Training, time: usize) -> f64 {
    match training.learning_rate.as_ref().expect("given") {
        LearningRate::Constant(rate) => rate.get(),
        LearningRate::InverseSqrt(first) => first.get() / (time as f64).sqrt(),
        LearningRate::List(list) => list[time - 1].get(),
    }
}

/// The noise of the iterate in a step, from 1.
fn iterate_noise(training: &Training, time: usize) -> f64 {
    let eta = rate(training, time);
    let batch = match training.batch {
        Batch::Size(size) => size as f64,
        Batch::Probability(p) => p.get() * training.records as f64,
    };
    match &training.noise {
        Noise::Multiplier(m) => eta * m.get() * training.contribution.expect("given").norm().get() / batch,
        Noise::Gradient(sigma) => eta * sigma.get(),
        Noise::GradientList(list) => eta * list[time - 1].get(),
        Noise::Iterate(noise) => noise.get(),
    }
}

/// One noisy projected step along a gradient.
pub fn step(training: &Training, time: usize, w: &mut [f64], gradient: &[f64], random: &mut Random) {
    let (eta, size) = (rate(training, time), iterate_noise(training, time));
    for (x, g) in w.iter_mut().zip(gradient) {
        *x += -eta * g + size * noise(random, training.noise_kind);
    }
    let radius = training.domain.diameter.expect("given").get() / 2.0;
    let length = norm(w);
    if length > radius {
        w.iter_mut().for_each(|x| *x *= radius / length);
    }
}

/// The mean gradient of the records that a step uses.
fn batch_gradient(
    training: &Training,
    problem: &Problem,
    records: &[Vec<f64>],
    time: usize,
    w: &[f64],
    random: &mut Random,
) -> Vec<f64> {
    let n = records.len();
    let size = match training.batch {
        Batch::Size(size) => size as usize,
        Batch::Probability(_) => 0,
    };
    let (used, divisor): (Vec<usize>, f64) = match training.order {
        Order::Full => ((0..n).collect(), n as f64),
        Order::WithoutReplacement => {
            let mut all: Vec<usize> = (0..n).collect();
            for i in 0..size {
                let other = i + random.below(n - i);
                all.swap(i, other);
            }
            all.truncate(size);
            (all, size as f64)
        }
        Order::Poisson => {
            let p = match training.batch {
                Batch::Size(size) => size as f64 / n as f64,
                Batch::Probability(p) => p.get(),
            };
            ((0..n).filter(|_| random.between(0.0, 1.0) < p).collect(), p * n as f64)
        }
        _ => (((time - 1) * size..time * size).map(|i| i % n).collect(), size as f64),
    };
    let mut sum = vec![0.0; w.len()];
    for record in used {
        for (total, g) in sum.iter_mut().zip((problem.gradient)(w, &records[record])) {
            *total += g / divisor;
        }
    }
    sum
}

/// The excess of what a run releases, at a random time the mean over all times; the empirical one if that is given.
pub fn play(
    training: &Training,
    problem: &Problem,
    random: &mut Random,
    records: Option<&[Vec<f64>]>,
    excess: &dyn Fn(&[f64]) -> f64,
) -> f64 {
    let dimension = training.domain.dimension.expect("given") as usize;
    let radius = training.domain.diameter.expect("given").get() / 2.0;
    let (private, public) = (training.steps().expect("given") as usize, training.public_steps as usize);
    let drawn: Vec<Vec<f64>>;
    let records = match records {
        Some(records) => records,
        None => {
            let size = training.records as usize + public;
            drawn = (0..size).map(|_| (problem.draw)(random, dimension)).collect();
            &drawn
        }
    };
    let skipped = match training.release {
        Release::RandomSkip => random.below(private / 2 + 1),
        _ => 0,
    };
    let mut w = along_first(problem.start * radius, dimension);
    let mut total = 0.0;
    for time in skipped + 1..=private + public {
        let gradient = batch_gradient(training, problem, records, time, &w, random);
        step(training, time, &mut w, &gradient, random);
        if training.release == Release::RandomStop {
            total += excess(&w) / (private + public) as f64;
        }
    }
    if training.release == Release::RandomStop { total } else { excess(&w) }
}

/// The mean of a number over independent runs, and its standard error.
pub fn mean(runs: usize, mut one: impl FnMut() -> f64) -> (f64, f64) {
    let values: Vec<f64> = (0..runs).map(|_| one()).collect();
    let mean = values.iter().sum::<f64>() / runs as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (runs - 1) as f64;
    (mean, (variance / runs as f64).sqrt())
}
