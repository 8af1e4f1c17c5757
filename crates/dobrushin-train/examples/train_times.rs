//! Times whole runs of private training, or what the machine could do at best.
//!
//! 60,000 records, Poisson batches of 512, clipped gradients, Gaussian noise: examples a second, everything included.
//!
//! usage: train_times logistic|softmax|network|peaks

use dobrushin::Positive;
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Order, Release, Run, Training};
use dobrushin_train::loss::Logistic;
use dobrushin_train::{Bounds, Description, Generators, Model, Plan, Seed, Table, Target};
use ndarray::Array2;
use ndarray::linalg::general_mat_mul;
use rayon::prelude::*;
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const RECORDS: usize = 60_000;
const BATCH: u64 = 512;

fn main() -> Result<(), Box<dyn Error>> {
    let setting = std::env::args().nth(1).unwrap_or_default();
    let (model, dimension, classes, steps) = match setting.as_str() {
        "logistic" => (Model::Linear { loss: Logistic.into(), features: 100 }, 100, 2, 10_000),
        "softmax" => (Model::Softmax { classes: 10, features: 784 }, 784, 10, 3_000),
        "network" => (Model::Network { hidden: vec![256], classes: 10, features: 784 }, 784, 10, 300),
        "peaks" => {
            peaks();
            return Ok(());
        }
        other => {
            return Err(format!("no setting is called {other:?}: logistic, softmax, network or peaks").into());
        }
    };
    let bounds = Bounds { dimension, norm: Positive::new(1.0)?, target: Target::Classes(classes) };
    let plan = Plan::new(Description {
        training: training(steps)?,
        model,
        bounds,
        projection: None,
        loss_bound: Positive::new(1.0)?,
    })?;
    let mut table = table(bounds, classes);
    let generators = Generators::new(Seed::OperatingSystem)?;
    let start = Instant::now();
    black_box(plan.train(&mut table, None, &generators, &mut || ())?.parameters);
    println!("{:.0}", (steps * BATCH) as f64 / start.elapsed().as_secs_f64());
    Ok(())
}

fn training(steps: u64) -> Result<Training, Box<dyn Error>> {
    Ok(Run::dp_sgd(RECORDS as u64)
        .order(Order::Poisson)
        .batch_size(BATCH)
        .steps(steps)
        .release(Release::Last)
        .neighbours(Neighbours::AddOrRemoveOne)
        .learning_rate(0.1)
        .clip_norm(1.0)
        .noise_multiplier(1.0)
        .training()?)
}

/// Records with features of norm 1 at most and classes at random.
fn table(bounds: Bounds, classes: usize) -> Table {
    let mut table = Table::new(bounds, 1);
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f32 / (1_u64 << 31) as f32
    };
    for _ in 0..RECORDS {
        let row: Vec<f32> = (0..bounds.dimension).map(|_| uniform() - 0.5).collect();
        table.push(&row, &[(uniform() * classes as f32).floor()]);
    }
    table
}

/// How fast memory is read, and large matrices are multiplied, by all threads together.
fn peaks() {
    let numbers = vec![1_u64; 50_000_000];
    let seconds = best(|| numbers.par_chunks(1 << 20).map(|part| part.iter().fold(0, |a, &b| a ^ b)).max());
    println!("{:.1} GB/s read", 8.0 * numbers.len() as f64 / seconds / 1e9);
    let (size, threads) = (1024, rayon::current_num_threads());
    let factor = Array2::<f32>::ones((size, size));
    let seconds = best(|| {
        (0..threads).into_par_iter().for_each(|_| {
            let mut product = Array2::<f32>::zeros((size, size));
            general_mat_mul(1.0, &factor, &factor, 0.0, &mut product);
            black_box(product);
        });
    });
    println!("{:.1} GF/s of matrix products", (2 * size * size * size * threads) as f64 / seconds / 1e9);
}

fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
