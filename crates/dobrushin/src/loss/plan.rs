//! How a composition is computed: which tilt, which grids, how many losses at a time.
//!
//! Every choice made here gives valid bounds; good ones give tight bounds fast.

use super::convolve::{Copies, LONGEST, Summed, TooLong, Workshop, sum};
use super::distribution::LossDistribution;
use super::grid::{Grid, LARGEST_FACTOR, Placement, discretise, masses_between};
use super::sketch::{Cumulants, Sketch, crossing};
use super::window::Allowance;
use super::{GaussianLoss, LossLaw, Split};
use crate::Enclosure;
use crate::numeric::elementary::powi;
use crate::numeric::{Boundary, UNIT_ROUNDOFF};

/// The question.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Delta(f64),
    Epsilon(f64),
}

/// A law of the composition.
pub(super) enum Law<'a> {
    Given(&'a dyn LossLaw),
    Gaussian(GaussianBetween),
}

impl Law<'_> {
    fn get(&self) -> &dyn LossLaw {
        match self {
            Self::Given(law) => *law,
            Self::Gaussian(law) => law,
        }
    }
}

/// Two Gaussian laws whose distance is known to about a unit in the last place.
pub(super) struct GaussianBetween(pub GaussianLoss, pub GaussianLoss);

impl LossLaw for GaussianBetween {
    fn split(&self, loss: Enclosure) -> Split {
        self.0.split(loss).hull(self.1.split(loss))
    }
}

/// The tilt, and approximate results.
pub(super) struct Plan {
    sketches: Vec<Sketch>,
    /// λ of the tilt e^(λL).
    lambda: f64,
    /// The approximate ε.
    epsilon: f64,
    /// The approximate ln δ.
    log_delta: f64,
    /// The most that a tilted mass of 1 contributes, in units of δ.
    weight: f64,
    /// The mean of the summed loss, after the tilt.
    mean: f64,
    /// Its standard deviation.
    deviation: f64,
}

impl Plan {
    pub fn new(laws: &[(Law, u64)], target: Target) -> Self {
        match target {
            Target::Delta(delta) => Self::with_floor(laws, target, delta),
            // Only then is it known which tails are negligible.
            Target::Epsilon(_) => {
                let first = Self::with_floor(laws, target, 1e-60);
                Self::with_floor(laws, target, libm::exp(first.log_delta))
            }
        }
    }

    /// The plan without tails that are negligible for a δ.
    fn with_floor(laws: &[(Law, u64)], target: Target, delta: f64) -> Self {
        let floor = |count: u64| (1e-7 * delta / count as f64).max(1e-290);
        let sketches: Vec<Sketch> =
            laws.iter().map(|(law, count)| Sketch::new(law.get(), floor(*count))).collect();
        let total = |lambda: f64| {
            let each = sketches.iter().zip(laws).map(|(sketch, (_, count))| {
                let Cumulants { log_moment, mean, variance } = sketch.cumulants(lambda);
                let count = *count as f64;
                (count * log_moment, count * mean, count * variance)
            });
            each.fold((0.0, 0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1, sum.2 + each.2))
        };
        // The saddle-point estimate at ε = K′(λ): δ ≈ e^(K − λK′)/(λ(λ+1)√(2πK″)).
        let log_delta = |lambda: f64| {
            let (log_moment, mean, variance) = total(lambda);
            let density = 0.5 * libm::log(std::f64::consts::TAU * variance);
            log_moment - lambda * mean - libm::log(lambda * (lambda + 1.0)) - density.max(-libm::log(lambda))
        };
        let (_, _, variance) = total(0.0);
        let unit = 1.0 / variance.sqrt().max(1e-12);
        let too_small = |log_lambda: f64| {
            let lambda = libm::exp(log_lambda);
            match target {
                Target::Delta(delta) => log_delta(lambda) > libm::log(delta),
                Target::Epsilon(epsilon) => total(lambda).1 < epsilon,
            }
        };
        let ends = Boundary { holds: libm::log(1e-3 * unit), fails: libm::log(1e5 * unit) };
        // A tilt that changes by more than e^10 within the tolerance is useless.
        let lambda = libm::exp(ends.halved(18, too_small).middle());
        let lambda = lambda.min(10.0 / (1e-4 * total(lambda).1.abs()).max(1e-300));
        let (log_moment, mean, variance) = total(lambda);
        let (epsilon, log_delta) = match target {
            Target::Delta(delta) => (mean.max(0.0), libm::log(delta)),
            Target::Epsilon(epsilon) => (epsilon, log_delta(lambda).min(0.0)),
        };
        // e^(κ − λε)/(λ + 1), see `LossDistribution`.
        let weight = libm::exp((log_moment - lambda * epsilon - log_delta).min(100.0)) / (lambda + 1.0);
        Self { sketches, lambda, epsilon, log_delta, weight, mean, deviation: variance.sqrt() }
    }

    /// The composed law for a tolerance in ε, or for a larger one if that would cost too much.
    pub fn distribution(&self, laws: &[(Law, u64)], tolerance: f64) -> LossDistribution {
        let coarser = (0..40).map(|i| tolerance * powi(4f64, i));
        let summed = coarser.into_iter().find_map(|tolerance| self.summed(laws, tolerance).ok());
        summed.map_or_else(LossDistribution::unknown, LossDistribution::new)
    }

    fn summed(&self, laws: &[(Law, u64)], tolerance: f64) -> Result<Summed, TooLong> {
        if laws.iter().any(|(_, count)| *count > MOST_USES) {
            return Err(TooLong);
        }
        let width = tolerance * self.scale(self.epsilon);
        // The relative error of δ that is allowed for reasons other than the grid.
        let slack = 0.02 * (self.steepness() * width).min(1.0);
        let shares: Vec<f64> = self.shares(laws);
        let unit = self.step(laws[0].1, LEVEL_0 * width * shares[0]);
        let lattice = if let [(law, _)] = laws { law.get().lattice() } else { None };
        // Halving or doubling the spacing of a lattice keeps its atoms on points.
        let unit = lattice.map_or(unit, |lattice| lattice * libm::exp2(libm::log2(unit / lattice).floor()));
        let last = unit
            * libm::exp2(libm::log2(self.step(laws.len() as u64, 0.2 * width * GATHERED) / unit).floor());
        let mut workshop = Workshop::default();
        let mut sums = Vec::with_capacity(laws.len());
        for (((law, count), sketch), share) in laws.iter().zip(&self.sketches).zip(&shares) {
            let budget = Budget { width: width * share, slack: slack * share };
            let step = self.step(*count, LEVEL_0 * budget.width);
            let step = (unit * libm::exp2(libm::log2(step / unit).floor())).min(last.max(unit));
            let grid = Grid { step, tilt: self.lambda * step };
            let own = Uses { law: law.get(), count: *count, sketch, aligned: lattice.is_some() };
            sums.push(self.self_composed(own, grid, budget, &mut workshop)?);
        }
        // All steps differ by powers of two; sums can only be added on one grid.
        let coarsest = sums.iter().map(|summed| summed.grid.step).fold(0.0, f64::max);
        let sums: Vec<Summed> = sums.into_iter().map(|summed| on_grid(summed, coarsest)).collect();
        let factors: Vec<Copies> = sums.iter().map(|summed| Copies { summed, count: 1 }).collect();
        sum(&mut workshop, &factors, self.allowance(slack, 1))
    }

    /// The reference for a tolerance in ε: ε itself, or, where ε is far smaller than the losses or their spread, a
    /// share of those.
    pub fn scale(&self, epsilon: f64) -> f64 {
        epsilon.max(0.05 * self.deviation).max(0.1 * (self.mean - epsilon))
    }

    /// How fast ln δ falls with ε, approximately.
    pub fn steepness(&self) -> f64 {
        self.lambda.max(1.0 / self.deviation)
    }

    /// The share of the error that each law may cause: half equally, half by its variance.
    fn shares(&self, laws: &[(Law, u64)]) -> Vec<f64> {
        let variances = laws.iter().zip(&self.sketches);
        let variances: Vec<f64> = variances
            .map(|((_, count), sketch)| *count as f64 * sketch.cumulants(self.lambda).variance)
            .collect();
        let total: f64 = variances.iter().sum();
        let equal = 0.5 / laws.len() as f64;
        variances.iter().map(|v| if total > 0.0 { equal + 0.5 * v / total } else { 2.0 * equal }).collect()
    }

    /// The step at which `count` roundings to a grid move ε by `width`: each moves ln δ by
    /// about λ(λ+1)h² times a constant, which the caller has divided by.
    fn step(&self, count: u64, width: f64) -> f64 {
        (width / (count as f64 * (self.lambda + 1.0))).sqrt()
    }

    fn allowance(&self, slack: f64, uses: u64) -> Allowance {
        let weight = self.weight.max(1.0 + 2.6 * self.lambda * self.deviation);
        let each = slack / uses as f64;
        Allowance {
            tilted: (each / weight).clamp(1e-60, 1e-3),
            log_infinite: self.log_delta + libm::log(each),
        }
    }

    /// The sum of `count` losses of one law: a few at a time, and the grid is coarsened in between, since the sum of k
    /// losses is √k times as wide.
    fn self_composed(
        &self,
        uses: Uses,
        grid: Grid,
        budget: Budget,
        workshop: &mut Workshop,
    ) -> Result<Summed, TooLong> {
        let mut current = self.discretised(&uses, grid, budget)?;
        let mut remaining = uses.count;
        let levels = (libm::log(remaining as f64) / libm::log(16f64)).floor().max(1.0);
        let mut rest: Option<Summed> = None;
        loop {
            let take = if remaining <= MOST_AT_ONCE { remaining } else { divisor(remaining) };
            let over = if remaining <= MOST_AT_ONCE { 0 } else { remaining % take };
            let left = (remaining / take).max(1);
            let allowance = self.allowance(budget.slack / (levels + 1.0), left);
            let next = sum(workshop, &[Copies { summed: &current, count: take }], allowance);
            if over > 0 {
                let mut factors = vec![Copies { summed: &current, count: over }];
                factors.extend(rest.as_ref().map(|summed| Copies { summed, count: 1 }));
                rest = Some(sum(workshop, &factors, self.allowance(budget.slack / (levels + 1.0), 1))?);
            }
            current = next?;
            remaining = left;
            if remaining > 1 || rest.is_some() {
                let wanted = self.step(remaining, (1.0 - LEVEL_0_SHARE) * budget.width / levels * GATHERED);
                let factor = libm::exp2(libm::log2(wanted / current.grid.step).floor());
                let factor = if factor >= 2.0 { (factor as usize).min(LARGEST_FACTOR) } else { 1 };
                current = current.coarsen(factor);
                rest = rest.map(|rest| rest.coarsen(factor));
            }
            if remaining == 1 {
                let mut factors = vec![Copies { summed: &current, count: 1 }];
                factors.extend(rest.as_ref().map(|summed| Copies { summed, count: 1 }));
                return sum(workshop, &factors, self.allowance(budget.slack, 1));
            }
        }
    }

    /// One loss on the grid.
    fn discretised(&self, uses: &Uses, grid: Grid, budget: Budget) -> Result<Summed, TooLong> {
        let (law, count) = (uses.law, uses.count as f64);
        let cumulants = uses.sketch.cumulants(self.lambda);
        // The mass left above must be small compared with δ; the mass left below, compared with the tilted mass.
        let most = ((libm::exp(self.log_delta) * budget.slack) / count).max(1e-300);
        let infinite = uses.sketch.infinite;
        let above = |loss: f64| law.split(loss.into()).above.p.upper() - infinite > most;
        let high = outwards(|loss| !above(loss), |low, high| crossing(low, high, above));
        let least = self.allowance(budget.slack, uses.count).tilted;
        let tilted = |loss: f64| libm::exp(self.lambda * loss - cumulants.log_moment);
        let below = |loss: f64| law.split((-loss).into()).below.p.upper() * tilted(-loss) > least;
        let low = -outwards(|loss| !below(loss), |low, high| crossing(low, high, below));
        // If a law is narrower than the grid, its middle should be a point: the loss of the part within a step of the
        // median.
        let origin = if uses.aligned { 0.0 } else { uses.sketch.centre(law, grid.step) };
        let index = |loss: f64| (loss - origin) / grid.step;
        let length = index(high) - index(low);
        let far = index(low).abs().max(index(high).abs()) > 1e15;
        if length.is_nan() || length > LONGEST as f64 || far {
            return Err(TooLong);
        }
        let range = (index(low).floor() as i64 - 1, index(high).ceil() as i64 + 1);
        // Thresholds must not lie on atoms, or where a law nearly has one.
        let tiny = (origin.abs().max(grid.step) * powi(2f64, -40)).max(LEAST_OFFSET);
        let ends = [origin - tiny, origin + tiny].map(|end| law.split(end.into()));
        let atom = masses_between(&ends[0], &ends[1]).0.upper() > 1e-6;
        let offset = match (uses.aligned, atom) {
            (true, _) => (high.max(-low).max(grid.step) * powi(2f64, -44)).max(LEAST_OFFSET),
            (_, true) => tiny,
            _ => 0.0,
        };
        // The tilt is given per index.
        let log_scale = cumulants.log_moment - self.lambda * origin;
        let placement = Placement { range, origin, offset, log_scale };
        let beneath = law.beneath();
        let surely_infinite = beneath.as_deref().unwrap_or(law).split(1e300.into()).above.p.lower().max(0.0);
        Ok(Summed::one(grid, placement, discretise(law, grid, placement), surely_infinite))
    }
}

/// The sum on a grid that is coarser by a power of two.
fn on_grid(mut summed: Summed, step: f64) -> Summed {
    while summed.grid.step < step {
        let factor = (step / summed.grid.step).round() as usize;
        summed = summed.coarsen(factor.clamp(2, LARGEST_FACTOR));
    }
    summed
}

/// A law and the number of times it is used.
struct Uses<'a> {
    law: &'a dyn LossLaw,
    count: u64,
    sketch: &'a Sketch,
    /// Whether the law's atoms are on the grid.
    aligned: bool,
}

/// The error that one law's composition may cause.
#[derive(Clone, Copy)]
struct Budget {
    /// In ε, from the grid.
    width: f64,
    /// In ln δ, from everything else.
    slack: f64,
}

/// Differences of probabilities are rounded by about this; an offset must be clearly larger.
const LEAST_OFFSET: f64 = 64.0 * UNIT_ROUNDOFF;

/// Spreading costs h²/12, and gathering a cell known by its masses costs h²/4, each times (λ + 1) in ε; the first grid
/// gets this share of the width.
const LEVEL_0_SHARE: f64 = 0.5;
const LEVEL_0: f64 = 3.0 * LEVEL_0_SHARE;

/// On later grids gathering costs h²/8.
const GATHERED: f64 = 4.8;

/// The most uses of one law.
const MOST_USES: u64 = 1 << 40;

/// The most losses that are added at once.
const MOST_AT_ONCE: u64 = 40;

/// The number of losses to add at once, preferably such that none remain.
fn divisor(count: u64) -> u64 {
    let candidates = [16, 20, 18, 15, 24, 25, 12, 14, 21, 22, 28, 27, 30, 32, 11, 13, 17, 19, 23, 29, 31, 10];
    candidates.into_iter().find(|k| count.is_multiple_of(*k)).unwrap_or(16)
}

/// The distance from 0 at which a predicate begins to hold: doubled until it holds, then refined.
fn outwards(holds: impl Fn(f64) -> bool, refine: impl Fn(f64, f64) -> f64) -> f64 {
    if holds(0.0) {
        return 0.0;
    }
    let mut end = 1e-14;
    while end < 1e12 && !holds(end) {
        end *= 4.0;
    }
    refine(end / 4.0, end)
}
