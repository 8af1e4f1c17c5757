//! Models that see a record only through its scores ⟨w_k, x⟩, so its gradient is c ⊗ x with one c_k for each score.

use super::clip::Clip;
use super::{Batch, WORTH_THREADS, kernel};
use crate::Model;
use crate::loss::cross_entropy;
use pulp::Arch;
use rayon::prelude::*;

/// This many records are summed in f32; their sums are summed in f64.
const BLOCK: usize = 64;
/// This many blocks are processed before their sums are added, in order.
const BLOCKS: usize = 16;

/// ‖c ⊗ x‖ = ‖c‖·‖x‖.
pub struct Scored {
    arch: Arch,
    weights: Vec<f32>,
    /// A sum for each block, and the scores of its records.
    blocks: Vec<f32>,
}

impl Scored {
    pub fn new(model: &Model) -> Self {
        let (parameters, scores) = (model.parameters(), BLOCK * score_count(model));
        Self {
            arch: Arch::new(),
            weights: vec![0.0; parameters],
            blocks: vec![0.0; BLOCKS * (parameters + scores)],
        }
    }

    pub fn add_up(&mut self, model: &Model, parameters: &[f64], batch: Batch, clip: Clip, sum: &mut [f64]) {
        for (weight, &parameter) in self.weights.iter_mut().zip(parameters) {
            *weight = parameter as f32;
        }
        let Self { arch, weights, blocks } = self;
        let stride = blocks.len() / BLOCKS;
        let work = |(space, block): (&mut [f32], Batch)| {
            let (sum, scores) = space.split_at_mut(weights.len());
            add_up_block(*arch, model, weights, block, clip, scores, sum);
        };
        sum.fill(0.0);
        for batch in batch.chunks(BLOCK * BLOCKS) {
            let count = batch.records.len().div_ceil(BLOCK);
            let spaces = &mut blocks[..count * stride];
            if batch.records.len() * weights.len() < WORTH_THREADS {
                spaces.chunks_mut(stride).zip(batch.chunks(BLOCK)).for_each(work);
            } else {
                let parts: Vec<Batch> = batch.chunks(BLOCK).collect();
                spaces.par_chunks_mut(stride).zip(parts).for_each(work);
            }
            for space in spaces.chunks(stride) {
                for (sum, &part) in sum.iter_mut().zip(space) {
                    *sum += f64::from(part);
                }
            }
        }
    }
}

fn score_count(model: &Model) -> usize {
    match model {
        Model::Softmax { classes, .. } => *classes,
        _ => 1,
    }
}

/// The sum of one block.
fn add_up_block(
    arch: Arch,
    model: &Model,
    weights: &[f32],
    block: Batch,
    clip: Clip,
    scores: &mut [f32],
    sum: &mut [f32],
) {
    let (mut rows, mut targets, mut count) = ([&[][..]; BLOCK], [0.0; BLOCK], 0);
    for (row, target) in block.features().zip(block.targets()) {
        if !target.is_nan() {
            (rows[count], targets[count]) = (row, target);
            count += 1;
        }
    }
    let rows = &rows[..count];
    kernel::bring(rows);
    let width = score_count(model);
    let scores = &mut scores[..count * width];
    kernel::scores(arch, rows, weights, scores);
    for ((row, target), scores) in rows.iter().zip(targets).zip(scores.chunks_mut(width)) {
        let norm = kernel::square_norm(arch, row).sqrt();
        clipped_derivatives(model, norm, target, clip, scores);
    }
    kernel::combine(arch, rows, scores, sum);
}

/// Replaces the scores of a record by their derivatives, scaled like its gradient.
fn clipped_derivatives(model: &Model, norm: f64, target: f32, clip: Clip, scores: &mut [f32]) {
    if let Model::Linear { loss, .. } = model {
        let score = f64::from(scores[0]);
        // NaN is checked first, because some losses have a derivative even there.
        let derivative = if score.is_nan() { score } else { loss.derivative(score, f64::from(target), norm) };
        scores[0] = clip.clipped(derivative, norm);
        return;
    }
    cross_entropy::derivatives(scores, target);
    let derivatives = scores.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>().sqrt();
    let factor = clip.factor(derivatives * norm);
    for score in scores {
        *score = if factor == 0.0 { 0.0 } else { *score * factor };
    }
}
