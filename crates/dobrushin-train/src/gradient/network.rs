//! Networks: the gradient of a record is δ ⊗ (a, 1) in each layer, where a enters the layer and δ comes back to it.

use super::clip::Clip;
use super::{Batch, WORTH_THREADS, kernel};
use crate::loss::cross_entropy;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use pulp::Arch;
use rayon::prelude::*;

/// The inputs and the returned values of all records that are processed together have at most this many numbers.
const NUMBERS: usize = 1 << 22;
/// At most this many records are processed together: a multiple of what a matrix product sums in registers.
const MOST_ROWS: usize = 1024;
/// They are divided into this many parts.
const PARTS: usize = 8;
/// The gradients of this many units' weights are summed together.
const UNITS: usize = 64;
/// This many records are summed in f32; their sums are summed in f64.
const BLOCK: usize = 80;

/// ‖gradient‖² = Σ over the layers of (‖a‖² + 1)·‖δ‖², so δ is scaled down before Σ δ ⊗ (a, 1) is formed, which is one
/// matrix product for each layer.
pub struct Network {
    arch: Arch,
    layers: Vec<Layer>,
    /// The number of records that are processed together.
    rows: usize,
    /// What enters each layer: a row for each record.
    entering: Vec<Vec<f32>>,
    /// What comes back to each layer; forward, the scores.
    returning: Vec<Vec<f32>>,
    /// Buffers for the sums of blocks.
    part: Vec<f32>,
}

struct Layer {
    inputs: usize,
    units: usize,
    /// The weights of each input, row by row: products with them are faster than with those of each unit.
    weights: Vec<f32>,
    offsets: Vec<f32>,
}

impl Layer {
    /// Takes the parameters of the layer, and leaves the rest.
    fn load<'a>(&mut self, parameters: &'a [f64]) -> &'a [f64] {
        let (weights, rest) = parameters.split_at(self.weights.len());
        let (offsets, rest) = rest.split_at(self.units);
        // Each chunk has as many units as f32 fill a cache line.
        for (block, units) in weights.chunks((16 * self.inputs).max(1)).enumerate() {
            for (input, weights) in self.weights.chunks_mut(self.units).enumerate() {
                let places = &mut weights[16 * block..];
                for (place, unit) in places.iter_mut().zip(units.chunks(self.inputs)) {
                    *place = unit[input] as f32;
                }
            }
        }
        for (place, &offset) in self.offsets.iter_mut().zip(offsets) {
            *place = offset as f32;
        }
        rest
    }
}

impl Network {
    pub fn new(features: usize, hidden: &[usize], classes: usize) -> Self {
        let mut inputs = features;
        let layers: Vec<Layer> = hidden
            .iter()
            .chain([&classes])
            .map(|&units| {
                let weights = vec![0.0; units * std::mem::replace(&mut inputs, units)];
                Layer { inputs: weights.len() / units.max(1), units, weights, offsets: vec![0.0; units] }
            })
            .collect();
        let width: usize = layers.iter().map(|layer| layer.inputs + layer.units).sum();
        let rows = (NUMBERS / width.max(1)).clamp(PARTS, MOST_ROWS);
        Self {
            arch: Arch::new(),
            entering: layers.iter().map(|layer| vec![0.0; rows * layer.inputs]).collect(),
            returning: layers.iter().map(|layer| vec![0.0; rows * layer.units]).collect(),
            part: vec![0.0; layers.iter().map(|layer| layer.weights.len() + layer.units).sum()],
            layers,
            rows,
        }
    }

    pub fn add_up(&mut self, parameters: &[f64], batch: Batch, clip: Clip, sum: &mut [f64]) {
        let mut rest = parameters;
        for layer in &mut self.layers {
            rest = layer.load(rest);
        }
        sum.fill(0.0);
        for batch in batch.chunks(self.rows) {
            let threads = batch.records.len() * sum.len() >= WORTH_THREADS;
            self.propagate(batch, clip, threads);
            let mut part = std::mem::take(&mut self.part);
            self.combine(batch.records.len(), threads, &mut part, sum);
            self.part = part;
        }
    }

    /// Fills in what enters and what comes back, scaled by what the clip leaves.
    fn propagate(&mut self, batch: Batch, clip: Clip, threads: bool) {
        let Self { arch, layers, entering, returning, .. } = self;
        let rows = batch.records.len().div_ceil(PARTS);
        let mut parts: Vec<Part> = batch
            .chunks(rows)
            .map(|batch| Part { arch: *arch, layers, batch, entering: Vec::new(), returning: Vec::new() })
            .collect();
        for ((layer, entering), returning) in layers.iter().zip(entering).zip(returning) {
            let chunks =
                entering.chunks_mut(rows * layer.inputs).zip(returning.chunks_mut(rows * layer.units));
            for (part, (entering, returning)) in parts.iter_mut().zip(chunks) {
                let count = part.batch.records.len();
                part.entering.push(&mut entering[..count * layer.inputs]);
                part.returning.push(&mut returning[..count * layer.units]);
            }
        }
        let work = |mut part: Part| {
            part.forward();
            part.backward();
            part.clip(clip);
        };
        if threads {
            parts.into_par_iter().for_each(work);
        } else {
            parts.into_iter().for_each(work);
        }
    }

    /// Adds Σ δ ⊗ (a, 1) over the records to the sum, with buffers for the sums of blocks.
    fn combine(&self, rows: usize, threads: bool, room: &mut [f32], sum: &mut [f64]) {
        let mut pieces = Vec::new();
        let (mut rest, mut room) = (sum, room);
        for (index, layer) in self.layers.iter().enumerate() {
            let (weights, others) = rest.split_at_mut(layer.weights.len());
            let (offsets, others) = others.split_at_mut(layer.units);
            let (space, more) = room.split_at_mut(layer.weights.len());
            let width = (UNITS * layer.inputs).max(1);
            for (piece, (weights, space)) in
                weights.chunks_mut(width).zip(space.chunks_mut(width)).enumerate()
            {
                pieces.push((index, piece * UNITS, weights, space));
            }
            for row in self.returning[index][..rows * layer.units].chunks(layer.units.max(1)) {
                offsets.iter_mut().zip(row).for_each(|(total, &delta)| *total += f64::from(delta));
            }
            (rest, room) = (others, more);
        }
        let work = |(index, first, sum, room): (usize, usize, &mut [f64], &mut [f32])| {
            let Layer { inputs, units, .. } = self.layers[index];
            let last = first + sum.len() / inputs;
            let entering = self.entering[index][..rows * inputs].chunks(BLOCK * inputs);
            let returning = self.returning[index][..rows * units].chunks(BLOCK * units);
            for (entering, returning) in entering.zip(returning) {
                let returning = matrix(returning, units);
                let returning = returning.slice_axis(Axis(1), (first..last).into());
                let mut block = matrix_mut(room, inputs);
                general_mat_mul(1.0, &returning.t(), &matrix(entering, inputs), 0.0, &mut block);
                sum.iter_mut().zip(&*room).for_each(|(sum, &block)| *sum += f64::from(block));
            }
        };
        if threads {
            pieces.into_par_iter().for_each(work);
        } else {
            pieces.into_iter().for_each(work);
        }
    }
}

/// Some of the records, with their part of each layer.
struct Part<'a> {
    arch: Arch,
    layers: &'a [Layer],
    batch: Batch<'a>,
    entering: Vec<&'a mut [f32]>,
    returning: Vec<&'a mut [f32]>,
}

impl Part<'_> {
    /// From the features to the scores.
    fn forward(&mut self) {
        let rows: Vec<&[f32]> = self.batch.features().collect();
        kernel::bring(&rows);
        for (place, row) in self.entering[0].chunks_mut(self.layers[0].inputs).zip(rows) {
            place.copy_from_slice(row);
        }
        for (index, layer) in self.layers.iter().enumerate() {
            let (before, after) = self.entering.split_at_mut(index + 1);
            let last = after.is_empty();
            let out = if last { &mut self.returning[index] } else { &mut after[0] };
            for row in out.chunks_mut(layer.units) {
                row.copy_from_slice(&layer.offsets);
            }
            let (entering, weights) =
                (matrix(before[index], layer.inputs), matrix(&layer.weights, layer.units));
            general_mat_mul(1.0, &entering, &weights, 1.0, &mut matrix_mut(out, layer.units));
            if !last {
                // This is not `max`, which would hide a NaN.
                out.iter_mut().for_each(|value| *value = if *value < 0.0 { 0.0 } else { *value });
            }
        }
    }

    /// From the scores back to the output of the first layer.
    fn backward(&mut self) {
        let [.., last] = self.layers else { return };
        if let Some(scores) = self.returning.last_mut() {
            for (scores, target) in scores.chunks_mut(last.units).zip(self.batch.targets()) {
                if target.is_nan() {
                    scores.fill(0.0);
                } else {
                    cross_entropy::derivatives(scores, target);
                }
            }
        }
        for (index, layer) in self.layers.iter().enumerate().skip(1).rev() {
            let (before, after) = self.returning.split_at_mut(index);
            let (returning, weights) = (matrix(after[0], layer.units), matrix(&layer.weights, layer.units));
            let out = &mut before[index - 1];
            general_mat_mul(1.0, &returning, &weights.t(), 0.0, &mut matrix_mut(out, layer.inputs));
            for (delta, &value) in out.iter_mut().zip(&*self.entering[index]) {
                *delta = if value > 0.0 { *delta } else { 0.0 };
            }
        }
    }

    /// Scales what comes back. Where the gradient is NaN or infinite, the inputs are also zeroed, because 0 times those
    /// is NaN.
    fn clip(&mut self, clip: Clip) {
        let row =
            |numbers: &[f32], width, r| kernel::square_norm(self.arch, &numbers[r * width..(r + 1) * width]);
        for r in 0..self.batch.records.len() {
            let mut square_norm = 0.0;
            for (index, layer) in self.layers.iter().enumerate() {
                let entering = row(self.entering[index], layer.inputs, r);
                square_norm += (entering + 1.0) * row(self.returning[index], layer.units, r);
            }
            let factor = clip.factor(square_norm.sqrt());
            if factor == 1.0 {
                continue;
            }
            for (index, layer) in self.layers.iter().enumerate() {
                let returning = &mut self.returning[index][r * layer.units..(r + 1) * layer.units];
                if factor == 0.0 {
                    self.entering[index][r * layer.inputs..(r + 1) * layer.inputs].fill(0.0);
                    returning.fill(0.0);
                } else {
                    returning.iter_mut().for_each(|delta| *delta *= factor);
                }
            }
        }
    }
}

fn matrix(numbers: &[f32], width: usize) -> ArrayView2<'_, f32> {
    let height = numbers.len() / width.max(1);
    ArrayView2::from_shape((height, width), numbers).expect("rows of one width")
}

fn matrix_mut(numbers: &mut [f32], width: usize) -> ArrayViewMut2<'_, f32> {
    let height = numbers.len() / width.max(1);
    ArrayViewMut2::from_shape((height, width), numbers).expect("rows of one width")
}
