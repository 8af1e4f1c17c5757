//! Sums of clipped gradients of many records, none of which is ever stored separately.
//!
//! The gradient of a record is a sum of outer products of two vectors that the model computes anyway. Its norm follows
//! from theirs, so the second of the two can be scaled down before all outer products are summed at once.

mod clip;
mod kernel;
mod network;
mod scored;

use crate::{Model, Table};
use clip::Clip;
use network::Network;
use scored::Scored;

/// Sums gradients; it keeps its buffers from one sum to the next.
///
/// # Guarantee
/// A record contributes c·∇ℓ(w) with c = min(1, clip/‖∇ℓ(w)‖), computed in f32, and its contribution has norm at most
/// the clip, without any allowance for rounding (if the clip is at least 2⁻¹⁰⁰ times the norm of its features and of
/// the outputs of its hidden units). An empty record contributes nothing, and neither does one whose gradient is NaN
/// or, without a clip, longer than 2⁹⁰. So the sum is always finite.
///
/// Records are summed in f32 in blocks, and the blocks in f64: one record changes the rounding of its own block only,
/// however many there are. The rounding of a block is at most u·Σ|contributions| in each coordinate, with u = 65·2⁻²⁴
/// and 64 records for linear and softmax models, and u = 81·2⁻²⁴ and 80 records for networks.
///
/// The result is the same, bit for bit, for any number of threads.
pub(crate) struct Sum {
    method: Method,
    sum: Vec<f64>,
}

enum Method {
    Scored(Scored),
    Network(Network),
}

impl Sum {
    /// Buffers for the gradients of a model.
    pub fn new(model: &Model) -> Self {
        let method = match model {
            Model::Linear { .. } | Model::Softmax { .. } => Method::Scored(Scored::new(model)),
            Model::Network { hidden, classes, features } => {
                Method::Network(Network::new(*features, hidden, *classes))
            }
        };
        Self { method, sum: vec![0.0; model.parameters()] }
    }

    /// The sum of the gradients of the records, each as often as it is named, clipped if there is a clip.
    pub fn of(
        &mut self,
        model: &Model,
        parameters: &[f64],
        table: &Table,
        task: usize,
        records: &[u32],
        clip: Option<f64>,
    ) -> &[f64] {
        let batch = Batch { table, task, records };
        match &mut self.method {
            Method::Scored(scored) => scored.add_up(model, parameters, batch, Clip::to(clip), &mut self.sum),
            Method::Network(network) => network.add_up(parameters, batch, Clip::to(clip), &mut self.sum),
        }
        &self.sum
    }
}

/// Clips a gradient that is stored, if there is a clip. It contributes nothing under the conditions of [`Sum`].
///
/// # Guarantee
/// What is left has norm at most the clip: the norm is taken to be longer than it is by more than all roundings.
pub(crate) fn clip(gradient: &mut [f64], clip: Option<f64>) {
    let norm = gradient.iter().map(|value| value * value).sum::<f64>().sqrt();
    match f64::from(Clip::to(clip).factor(norm * (1.0 + 1.0 / (1 << 20) as f64))) {
        factor if factor > 0.0 => gradient.iter_mut().for_each(|value| *value *= factor),
        _ => gradient.fill(0.0),
    }
}

/// Records, one after the other, and which of their targets counts.
#[derive(Clone, Copy)]
struct Batch<'a> {
    table: &'a Table,
    task: usize,
    records: &'a [u32],
}

impl<'a> Batch<'a> {
    fn features(self) -> impl Iterator<Item = &'a [f32]> {
        self.records.iter().map(move |&record| self.table.features(record as usize))
    }

    /// NaN where a record is empty.
    fn targets(self) -> impl Iterator<Item = f32> {
        self.records.iter().map(move |&record| self.table.target(record as usize, self.task))
    }

    /// Groups of this many records, and the rest.
    fn chunks(self, size: usize) -> impl Iterator<Item = Self> {
        self.records.chunks(size).map(move |records| Self { records, ..self })
    }
}

/// With fewer multiplications than this, the work is done before other threads wake up.
const WORTH_THREADS: usize = 1 << 19;

#[cfg(test)]
mod tests;
