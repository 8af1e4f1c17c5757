//! Where to cut a chain and how to split its noise: estimates, which affect only tightness.
//!
//! With κ(λ) = ln E e^(λL) of one step's loss L, k steps together with a normal pair at distance μ have δ ≤ e^(kκ(λ) +
//! λ(λ+1)μ²/2 − λε)·λ^λ/(λ+1)^(λ+1) for every λ > 0. By parts, E e^(λL) − 1 = λ(λ+1)·∫₀^∞ (e^(λε) + e^(−(λ+1)ε))·δ(ε)
//! dε for a symmetric loss.

use super::setting::{Line, OneStep, Setting};
use crate::Epsilon;
use crate::chain::Count;
use crate::numeric::elementary::powi;
use crate::numeric::partition_point;
use crate::profile::{Direction, PrivacyProfile};
use std::sync::Arc;

/// The shares of the variance that are tried for the steps' own losses.
const SHARES: [f64; 14] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.58, 0.66, 0.73, 0.79, 0.84, 0.88, 0.92, 0.95, 0.98];
/// The most steps after the cut.
const MOST_STEPS: u64 = 1 << 26;

/// A cut before the last k steps, and a line along which the remaining influence of earlier steps is shifted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cut {
    pub k: u64,
    pub line: Line,
}

/// The share of the noise's variance for the steps' own losses; the rest hides the shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Divided {
    pub cut: Cut,
    pub share: f64,
}

/// Estimates for one setting.
pub(super) struct Scout {
    setting: Arc<Setting>,
    /// The numbers of steps after a cut that are tried.
    steps: Vec<u64>,
    /// The orders λ with λ ln λ − (λ + 1) ln(λ + 1), and one step's κ at each for each share of the noise, …
    orders: Vec<(f64, f64)>,
    divided: Vec<(f64, Vec<f64>)>,
    /// … and for all of the noise.
    whole: Vec<f64>,
}

impl Scout {
    pub fn new(setting: &Arc<Setting>) -> Self {
        let orders: Vec<f64> = (0..40).map(|i| 0.02 * powi(1.5f64, i)).collect();
        let moments = |share: f64| match setting.one_step(share) {
            Ok(step) => log_moments(&step, &orders),
            Err(_) => vec![f64::INFINITY; orders.len()],
        };
        let divided = SHARES.iter().map(|&share| (share, moments(share))).collect();
        let whole = moments(1.0);
        let room = |order: f64| order * libm::log(order) - (order + 1.0) * libm::log1p(order);
        let orders = orders.iter().map(|&order| (order, room(order))).collect();
        let steps = steps_after(setting.steps);
        Self { setting: Arc::clone(setting), steps, divided, whole, orders }
    }

    /// The whole chain without a cut: composition. `None` for any number of steps.
    pub fn composition(&self) -> Option<Divided> {
        match self.setting.steps {
            Count::Times(k) => {
                Some(Divided { cut: Cut { k, line: *self.setting.same.first()? }, share: 1.0 })
            }
            Count::Any => None,
        }
    }

    /// Every cut that is tried.
    pub fn cuts(&self) -> impl Iterator<Item = Cut> {
        self.steps.iter().flat_map(|&k| self.setting.same.iter().map(move |&line| Cut { k, line }))
    }

    /// The distance that a cut leaves to be shifted into all the noise, in the worst case.
    pub fn shift(&self, cut: Cut) -> f64 {
        Setting::shift(cut.line, cut.k, self.setting.furthest(self.setting.before(cut.k)))
    }

    /// The best cut and split for δ.
    pub fn divided(&self, delta: f64) -> Option<Divided> {
        let composed = self.composition().map(|all| (self.epsilon(all.cut.k, &self.whole, 0.0, delta), all));
        let cuts = self.cuts().flat_map(|cut| {
            let shift = self.shift(cut);
            self.divided.iter().map(move |(share, moments)| {
                let mu = shift / (1.0 - share).sqrt();
                (self.epsilon(cut.k, moments, mu, delta), Divided { cut, share: *share })
            })
        });
        least(cuts.chain(composed))
    }

    /// The best cut for δ if the two parts are combined by the triangle inequality, each with half of δ; `shifted` is
    /// the ε of the shift, which falls with k while that of the steps grows.
    pub fn joined(&self, delta: f64, shifted: impl Fn(Cut) -> f64) -> Option<Cut> {
        let total = |cut: Cut| self.epsilon(cut.k, &self.whole, 0.0, delta / 2.0) + shifted(cut);
        let best = |&line: &Line| {
            let cut = |place: usize| Cut { k: self.steps[place], line };
            let lowest = partition_point(0..self.steps.len().checked_sub(1)?, |place| {
                let (here, next) = (total(cut(place)), total(cut(place + 1)));
                next < here || here.is_infinite()
            });
            Some((total(cut(lowest)), cut(lowest)))
        };
        least(self.setting.same.iter().filter_map(best))
    }

    /// ε of k steps and a normal law at δ, approximately.
    fn epsilon(&self, k: u64, moments: &[f64], mu: f64, delta: f64) -> f64 {
        let ln_delta = libm::log(delta);
        let at = |(&(order, room), &moment): (&(f64, f64), &f64)| {
            let normal = order * (order + 1.0) * mu * mu / 2.0;
            (k as f64 * moment + normal + room - ln_delta) / order
        };
        let least = self.orders.iter().zip(moments).map(at).fold(f64::INFINITY, f64::min);
        least.max(0.0)
    }
}

/// The candidate with the least estimate, ignoring NaN.
fn least<T>(tried: impl Iterator<Item = (f64, T)>) -> Option<T> {
    let finite = tried.filter(|(estimate, _)| estimate.is_finite());
    finite.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, best)| best)
}

/// The numbers of steps after a cut that are tried: each is about a fifth larger than the last.
fn steps_after(steps: Count) -> Vec<u64> {
    let end = match steps {
        Count::Times(times) => times.saturating_sub(1).min(MOST_STEPS),
        Count::Any => MOST_STEPS,
    };
    let mut tried = Vec::new();
    let mut k = 1;
    while k <= end {
        tried.push(k);
        k += k.div_ceil(5);
    }
    tried
}

/// κ at every order.
fn log_moments(step: &OneStep, orders: &[f64]) -> Vec<f64> {
    const NODES: usize = 100;
    let ratio = step.ratio();
    let (start, end) = (libm::log(1e-7 * ratio), libm::log(ratio * (ratio + 12.0)));
    let spacing = (end - start) / NODES as f64;
    let node = |i: usize| {
        let epsilon = libm::exp(start + spacing * i as f64);
        let delta = Epsilon::new(epsilon).map_or(0.0, |e| step.delta_of(Direction::Forward, e).midpoint());
        (epsilon, delta * epsilon * spacing)
    };
    let nodes: Vec<(f64, f64)> = (0..NODES).map(node).collect();
    let moment = |&order: &f64| {
        let terms =
            nodes.iter().map(|(e, weight)| weight * (libm::exp(order * e) + libm::exp(-(order + 1.0) * e)));
        libm::log1p(order * (order + 1.0) * terms.sum::<f64>())
    };
    orders.iter().map(moment).collect()
}
