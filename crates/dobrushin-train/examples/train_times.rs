//! Times sums of clipped gradients, and what the machine could do at best.
//!
//! usage: train_times logistic|softmax|network|peaks

use dobrushin::Positive;
use dobrushin_train::{Bounds, Loss, Model, Sum, Table, Target};
use ndarray::Array2;
use ndarray::linalg::general_mat_mul;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

const RECORDS: usize = 60_000;
const BATCH: usize = 512;
/// For how long each is timed.
const SECONDS: f64 = 1.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let setting = std::env::args().nth(1).unwrap_or_default();
    let (model, classes) = match setting.as_str() {
        "logistic" => (Model::Linear { loss: Loss::Logistic, features: 100 }, 2),
        "softmax" => (Model::Softmax { classes: 10, features: 784 }, 10),
        "network" => (Model::Network { hidden: vec![256], classes: 10, features: 784 }, 10),
        "peaks" => {
            peaks();
            return Ok(());
        }
        other => {
            return Err(format!("no setting is called {other:?}: logistic, softmax, network or peaks").into());
        }
    };
    let table = table(&model, classes)?;
    let mut words = words(2);
    let parameters: Vec<f64> = (0..model.parameters()).map(|_| 0.05 * (words() - 0.5)).collect();
    let mut sum = Sum::new(&model);
    let mut records = vec![0; BATCH];
    let mut steps = 0;
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < SECONDS {
        records.iter_mut().for_each(|record| *record = (words() * RECORDS as f64) as u32);
        black_box(sum.of(&model, &parameters, &table, 0, &records, Some(1.0)));
        steps += 1;
    }
    println!("{:.0}", (steps * BATCH) as f64 / start.elapsed().as_secs_f64());
    Ok(())
}

/// Records with features of norm 1 and classes at random.
fn table(model: &Model, classes: usize) -> Result<Table, Box<dyn std::error::Error>> {
    let dimension = match model {
        Model::Linear { features, .. }
        | Model::Softmax { features, .. }
        | Model::Network { features, .. } => *features,
    };
    let bounds = Bounds { dimension, norm: Positive::new(1.0)?, target: Target::Classes(classes) };
    let mut table = Table::new(bounds, 1);
    let mut words = words(1);
    for _ in 0..RECORDS {
        let row: Vec<f32> = (0..dimension).map(|_| words() as f32 - 0.5).collect();
        table.push(&row, &[(words() * classes as f64).floor() as f32]);
    }
    Ok(table)
}

/// Numbers in [0, 1) that look random.
fn words(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    }
}

/// How fast memory is read, and large matrices are multiplied, by all threads together.
fn peaks() {
    let numbers = vec![1_u64; 50_000_000];
    let seconds = best(|| numbers.par_chunks(1 << 20).map(|part| part.iter().fold(0, |a, &b| a ^ b)).max());
    println!("{:.1} GB/s", 8.0 * numbers.len() as f64 / seconds / 1e9);
    let size = 1024;
    let threads = rayon::current_num_threads();
    let factor = Array2::<f32>::ones((size, size));
    let seconds = best(|| {
        (0..threads).into_par_iter().for_each(|_| {
            let mut product = Array2::<f32>::zeros((size, size));
            general_mat_mul(1.0, &factor, &factor, 0.0, &mut product);
            black_box(product);
        });
    });
    println!("{:.1} GF/s", (2 * size * size * size * threads) as f64 / seconds / 1e9);
}

fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}
