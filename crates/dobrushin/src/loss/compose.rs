//! The composition of mechanisms: how private are all outputs together?

use super::convolve::{Allowance, Copies, Summed, TooLong, sum};
use super::distribution::LossDistribution;
use super::grid::{Grid, LARGEST_FACTOR, Placement, discretise};
use super::sketch::{Cumulants, Sketch, bisect};
use super::{DominatingPair, GaussianLoss, LossLaw};
use crate::numeric::theta;
use crate::profile::{Direction, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NonNegative, Positive};

/// A mechanism, by its dominating pair, and how often it is used.
#[derive(Clone)]
pub struct Part {
    /// The pair that dominates one use.
    pub pair: DominatingPair,
    /// How often it is used.
    pub count: u64,
}

/// The profile of several mechanisms used on the same data, all outputs released.
///
/// # Guarantee
/// If each pair dominates its mechanism for every input and every earlier output, the upper
/// ends bound the composition, adaptive or not: E_γ of a product of dominating pairs
/// dominates (Zhu, Dong, Wang 2022, Theorem 10). The lower ends are below E_γ of the product
/// pair. They differ by about `tolerance`, relatively in ε.
#[derive(Clone)]
pub struct Composition {
    parts: Vec<Part>,
    tolerance: f64,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
enum Target {
    Delta(f64),
    Epsilon(f64),
}

/// Relative, in ε.
const DEFAULT_TOLERANCE: f64 = 1e-4;

/// The tolerance of a first look.
const ROUGHLY: f64 = 1e-2;

/// How often a grid that turned out too coarse is refined.
const ATTEMPTS: usize = 4;

impl Composition {
    /// All the parts, in any order. Nothing at all has the profile 0.
    pub fn new(parts: Vec<Part>) -> Self {
        Self {
            parts: parts.into_iter().filter(|part| part.count > 0).collect(),
            tolerance: DEFAULT_TOLERANCE,
        }
    }

    /// Asks for enclosures of ε about `relative` times ε wide, from 1e-8 to 0.1.
    pub fn with_tolerance(self, relative: f64) -> Self {
        Self { tolerance: relative.clamp(1e-8, 0.1), ..self }
    }

    /// The law of the loss in one direction, made for δ.
    pub fn distribution(&self, direction: Direction, delta: Delta) -> LossDistribution {
        let laws = self.laws(direction);
        Plan::new(&laws, Target::Delta(delta.get())).distribution(&laws, self.tolerance)
    }

    /// The laws of one direction; all Gaussian ones are one with μ = √Σr².
    fn laws(&self, direction: Direction) -> Vec<(Law<'_>, u64)> {
        let mut square = Enclosure::ZERO;
        let mut laws = Vec::new();
        for part in &self.parts {
            let law = part.pair.law(direction);
            match law.gaussian_ratio() {
                Some(r) => square = square + Enclosure::from(r).square() * Enclosure::from(part.count as f64),
                None => laws.push((Law::Given(law), part.count)),
            }
        }
        if let Ok(r) = Positive::new(square.sqrt().upper()) {
            laws.push((Law::Gaussian(GaussianLoss::new(r)), 1));
        }
        laws
    }

    /// μ if every part is Gaussian.
    fn gaussian(&self) -> Option<Enclosure> {
        let squares = self.parts.iter().map(|part| {
            let r = part.pair.law(Direction::Forward).gaussian_ratio()?;
            Some(Enclosure::from(r).square() * Enclosure::from(part.count as f64))
        });
        Some(squares.sum::<Option<Enclosure>>()?.sqrt())
    }

    /// ε(δ) of one direction, with so many attempts to meet the tolerance.
    fn enclosed_epsilon(&self, direction: Direction, delta: Delta, attempts: usize) -> Enclosure {
        if self.parts.is_empty() || delta.get() >= 1.0 {
            return Enclosure::ZERO;
        }
        if let Some(mu) = self.gaussian() {
            return gaussian_epsilon(mu, delta);
        }
        let largest = self.largest_loss(direction);
        if delta.get() == 0.0 {
            return largest;
        }
        let laws = self.laws(direction);
        let plan = Plan::new(&laws, Target::Delta(delta.get()));
        let mut best = Enclosure::between(0.0, largest.upper());
        let mut tolerance = self.tolerance;
        for _ in 0..attempts {
            let epsilon = plan.distribution(&laws, tolerance).epsilon(delta);
            let before = best.width();
            best = best.intersect(epsilon).unwrap_or(epsilon);
            let wanted = self.tolerance * best.upper().max(1e-3 * plan.deviation);
            // A finer grid that gains little meets the limits of rounding.
            if best.width() <= wanted || best.lower() == f64::INFINITY || best.width() > 0.7 * before {
                break;
            }
            tolerance = (tolerance * 0.6 * (wanted / best.width()).clamp(0.01, 1.0)).max(1e-9);
        }
        best
    }

    /// The sum of the largest losses, if they are bounded: ε at δ = 0.
    fn largest_loss(&self, direction: Direction) -> Enclosure {
        let largest = self
            .parts
            .iter()
            .map(|part| largest_loss(part.pair.law(direction)) * Enclosure::from(part.count as f64));
        largest.sum()
    }
}

impl PrivacyProfile for Composition {
    fn delta_of(&self, direction: Direction, epsilon: Epsilon) -> Enclosure {
        if self.parts.is_empty() {
            return Enclosure::ZERO;
        }
        if let Some(mu) = self.gaussian() {
            return theta::theta_range(epsilon.into(), mu);
        }
        let laws = self.laws(direction);
        let plan = Plan::new(&laws, Target::Epsilon(epsilon.get()));
        let mut best = Enclosure::UNIT;
        let mut width = f64::INFINITY;
        let mut tolerance = self.tolerance;
        for _ in 0..ATTEMPTS {
            let delta = plan.distribution(&laws, tolerance).delta(epsilon);
            best = best.intersect(delta).unwrap_or(delta);
            // ε is off by ln(upper/lower)/λ.
            let before = width;
            width = (best.upper() / best.lower()).ln() / plan.lambda;
            let wanted = self.tolerance * plan.epsilon.max(1e-3 * plan.deviation);
            if width <= wanted || best.upper() < 1e-290 || width.is_nan() || width > 0.7 * before {
                break;
            }
            tolerance = (tolerance * 0.6 * (wanted / width).clamp(0.01, 1.0)).max(1e-9);
        }
        best
    }

    fn epsilon(&self, delta: Delta) -> Enclosure {
        if self.is_symmetric() {
            return self.epsilon_of(Direction::Forward, delta);
        }
        // A rough look tells which direction is the larger, and mostly also that the other
        // need not be looked at closely.
        let rough = self.clone().with_tolerance(ROUGHLY.max(self.tolerance));
        let [forward, reverse] =
            Direction::BOTH.map(|direction| (direction, rough.enclosed_epsilon(direction, delta, 1)));
        let (larger, smaller) =
            if forward.1.upper() >= reverse.1.upper() { (forward, reverse) } else { (reverse, forward) };
        let epsilon = self.epsilon_of(larger.0, delta);
        if smaller.1.upper() <= epsilon.lower() {
            return epsilon;
        }
        epsilon.max(self.epsilon_of(smaller.0, delta))
    }

    fn is_symmetric(&self) -> bool {
        self.parts.iter().all(|part| part.pair.is_symmetric())
    }

    fn epsilon_of(&self, direction: Direction, delta: Delta) -> Enclosure {
        self.enclosed_epsilon(direction, delta, ATTEMPTS)
    }
}

/// ε of a Gaussian pair known by an enclosure of μ.
fn gaussian_epsilon(mu: Enclosure, delta: Delta) -> Enclosure {
    let at =
        |mu: f64| NonNegative::new(mu).map_or(Enclosure::INFINITE, |mu| theta::smallest_epsilon(mu, delta));
    at(mu.lower().max(0.0)).hull(at(mu.upper()))
}

/// The largest finite loss, if nothing lies beyond it and nothing at ∞.
fn largest_loss(law: &dyn LossLaw) -> Enclosure {
    let none_above = |loss: f64| law.split(loss.into()).above.p.upper() <= 0.0;
    let mut end = 1e-12;
    while !none_above(end) {
        end *= 2.0;
        if end > 1e12 {
            return Enclosure::between(0.0, f64::INFINITY);
        }
    }
    let (mut low, mut high) = (0.0, end);
    while high - low > 1e-14 * high {
        let middle = 0.5 * (low + high);
        if none_above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let seen = |loss: f64| law.split(loss.into()).above.p.lower() > 0.0;
    Enclosure::between(if seen(low) { low } else { 0.0 }, high)
}

/// A law of the composition.
enum Law<'a> {
    Given(&'a dyn LossLaw),
    Gaussian(GaussianLoss),
}

impl Law<'_> {
    fn get(&self) -> &dyn LossLaw {
        match self {
            Self::Given(law) => *law,
            Self::Gaussian(law) => law,
        }
    }
}

/// The tilt, and rough values of what will come out.
struct Plan {
    sketches: Vec<Sketch>,
    /// λ of the tilt e^(λL).
    lambda: f64,
    /// ε, roughly.
    epsilon: f64,
    /// ln δ, roughly.
    log_delta: f64,
    /// The standard deviation of the summed loss, after the tilt.
    deviation: f64,
}

impl Plan {
    fn new(laws: &[(Law, u64)], target: Target) -> Self {
        let sketches: Vec<Sketch> = laws.iter().map(|(law, _)| Sketch::new(law.get())).collect();
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
            let density = 0.5 * (std::f64::consts::TAU * variance).ln();
            log_moment - lambda * mean - (lambda * (lambda + 1.0)).ln() - density.max(-lambda.ln())
        };
        let (_, _, variance) = total(0.0);
        let unit = 1.0 / variance.sqrt().max(1e-12);
        let too_small = |log_lambda: f64| {
            let lambda = log_lambda.exp();
            match target {
                Target::Delta(delta) => log_delta(lambda) > delta.ln(),
                Target::Epsilon(epsilon) => total(lambda).1 < epsilon,
            }
        };
        let (mut low, mut high) = ((1e-3 * unit).ln(), (1e5 * unit).ln());
        for _ in 0..18 {
            let middle = 0.5 * (low + high);
            if too_small(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        // A tilt that changes by more than e^10 within the tolerance is of no use.
        let lambda = (0.5 * (low + high)).exp();
        let lambda = lambda.min(10.0 / (1e-4 * total(lambda).1.abs()).max(1e-300));
        let (_, mean, variance) = total(lambda);
        let (epsilon, log_delta) = match target {
            Target::Delta(delta) => (mean.max(0.0), delta.ln()),
            Target::Epsilon(epsilon) => (epsilon, log_delta(lambda).min(0.0)),
        };
        Self { sketches, lambda, epsilon, log_delta, deviation: variance.sqrt() }
    }

    /// The composed law for a tolerance in ε, or for a larger one if that takes too much.
    fn distribution(&self, laws: &[(Law, u64)], tolerance: f64) -> LossDistribution {
        let mut tolerance = tolerance;
        loop {
            match self.summed(laws, tolerance) {
                Ok(summed) => return LossDistribution::new(summed),
                Err(TooLong) => tolerance *= 4.0,
            }
        }
    }

    fn summed(&self, laws: &[(Law, u64)], tolerance: f64) -> Result<Summed, TooLong> {
        let width = tolerance * self.epsilon.max(1e-3 * self.deviation);
        // By how much δ may be off, relatively, for other reasons than the grid.
        let slack = 0.02 * (self.lambda * width).min(1.0);
        let shares: Vec<f64> = self.shares(laws);
        let unit = self.step(laws[0].1, LEVEL_0 * width * shares[0]);
        let lattice = if let [(law, _)] = laws { law.get().lattice() } else { None };
        // Halves or doubles of a lattice keep its atoms on points.
        let unit = lattice.map_or(unit, |lattice| lattice * (unit / lattice).log2().floor().exp2());
        let last = unit * (self.step(laws.len() as u64, 0.2 * width * GATHERED) / unit).log2().floor().exp2();
        let mut sums = Vec::with_capacity(laws.len());
        for (((law, count), sketch), share) in laws.iter().zip(&self.sketches).zip(&shares) {
            let budget = Budget { width: width * share, slack: slack * share, log_delta: self.log_delta };
            let step = self.step(*count, LEVEL_0 * budget.width);
            let step = (unit * (step / unit).log2().floor().exp2()).min(last.max(unit));
            let grid = Grid { step, tilt: self.lambda * step };
            let own = Uses { law: law.get(), count: *count, sketch, aligned: lattice.is_some() };
            let mut summed = self.self_composed(own, grid, budget)?;
            while laws.len() > 1 && summed.grid.step < 0.75 * last {
                let factor = (last / summed.grid.step).round() as usize;
                summed = summed.coarsen(factor.min(LARGEST_FACTOR));
            }
            sums.push(summed);
        }
        let factors: Vec<Copies> = sums.iter().map(|summed| Copies { summed, count: 1 }).collect();
        sum(&factors, self.allowance(slack, 1))
    }

    /// How much of the error each law may make: half equally, half by its variance.
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

    /// Tilted mass 1 counts about λ·deviation·√(2π) times as much as δ.
    fn allowance(&self, slack: f64, uses: u64) -> Allowance {
        let weight = 1.0 + 2.6 * self.lambda * self.deviation;
        let each = slack / uses as f64;
        Allowance { tilted: (each / weight).clamp(1e-60, 1e-3), log_infinite: self.log_delta + each.ln() }
    }

    /// The sum of `count` losses of one law: a few at a time, the grid coarsened in between,
    /// since the sum of k losses is √k times as wide.
    fn self_composed(&self, uses: Uses, grid: Grid, budget: Budget) -> Result<Summed, TooLong> {
        let mut current = self.discretised(&uses, grid, budget);
        let mut remaining = uses.count;
        let levels = ((remaining as f64).ln() / 16f64.ln()).floor().max(1.0);
        let mut rest: Option<Summed> = None;
        loop {
            let take = if remaining <= MOST_AT_ONCE { remaining } else { divisor(remaining) };
            let over = if remaining <= MOST_AT_ONCE { 0 } else { remaining % take };
            let left = (remaining / take).max(1);
            let allowance = self.allowance(budget.slack / (levels + 1.0), left);
            let next = sum(&[Copies { summed: &current, count: take }], allowance);
            if over > 0 {
                let mut factors = vec![Copies { summed: &current, count: over }];
                factors.extend(rest.as_ref().map(|summed| Copies { summed, count: 1 }));
                rest = Some(sum(&factors, self.allowance(budget.slack / (levels + 1.0), 1))?);
            }
            current = next?;
            remaining = left;
            if remaining > 1 || rest.is_some() {
                let wanted = self.step(remaining, (1.0 - LEVEL_0_SHARE) * budget.width / levels * GATHERED);
                let factor = (wanted / current.grid.step).log2().floor().exp2();
                let factor = if factor >= 2.0 { (factor as usize).min(LARGEST_FACTOR) } else { 1 };
                current = current.coarsen(factor);
                rest = rest.map(|rest| rest.coarsen(factor));
            }
            if remaining == 1 {
                let mut factors = vec![Copies { summed: &current, count: 1 }];
                factors.extend(rest.as_ref().map(|summed| Copies { summed, count: 1 }));
                return sum(&factors, self.allowance(budget.slack, 1));
            }
        }
    }

    /// One loss on the grid.
    fn discretised(&self, uses: &Uses, grid: Grid, budget: Budget) -> Summed {
        let (law, count) = (uses.law, uses.count as f64);
        let cumulants = uses.sketch.cumulants(self.lambda);
        // Above, what is left must be small against δ; below, against the tilted mass.
        let most = ((budget.log_delta.exp() * budget.slack) / count).max(1e-300);
        let infinite = uses.sketch.infinite;
        let above = |loss: f64| law.split(loss.into()).above.p.upper() - infinite > most;
        let high = outwards(|loss| !above(loss), |low, high| bisect(low, high, above));
        let least = self.allowance(budget.slack, uses.count).tilted;
        let tilted = |loss: f64| (self.lambda * loss - cumulants.log_moment).exp();
        let below = |loss: f64| law.split((-loss).into()).below.p.upper() * tilted(-loss) > least;
        let low = -outwards(|loss| !below(loss), |low, high| bisect(low, high, below));
        // Where a law is narrower than the grid, its middle had better be a point: the loss
        // of what lies within a step of the median.
        let origin = if uses.aligned { 0.0 } else { uses.sketch.centre(law, grid.step) };
        let index = |loss: f64| (loss - origin) / grid.step;
        let range = (index(low).floor() as i64 - 1, index(high).ceil() as i64 + 1);
        let narrow = uses.sketch.spread < 1e-3 * grid.step;
        let offset = match uses.aligned {
            true => high.max(-low).max(grid.step) * 2f64.powi(-44),
            false if narrow => origin.abs() * 2f64.powi(-42),
            false => 0.0,
        };
        // The tilt is by the index.
        let log_scale = cumulants.log_moment - self.lambda * origin;
        let placement = Placement { range, origin, offset, log_scale };
        let surely_infinite = law.split(1e300.into()).above.p.lower().max(0.0);
        Summed::one(grid, placement, discretise(law, grid, placement), surely_infinite)
    }
}

/// A law and how often it is used.
struct Uses<'a> {
    law: &'a dyn LossLaw,
    count: u64,
    sketch: &'a Sketch,
    /// Whether the law's atoms are on the grid.
    aligned: bool,
}

/// What one law's composition may cost.
#[derive(Clone, Copy)]
struct Budget {
    /// In ε, by the grid.
    width: f64,
    /// In ln δ, by everything else.
    slack: f64,
    log_delta: f64,
}

/// Spreading costs h²/12 and gathering a cell that is known by its masses h²/4, each times
/// (λ + 1) in ε; the first grid gets this share of the width.
const LEVEL_0_SHARE: f64 = 0.5;
const LEVEL_0: f64 = 3.0 * LEVEL_0_SHARE;

/// On later grids gathering costs h²/8.
const GATHERED: f64 = 4.8;

/// Up to this many losses are added at once.
const MOST_AT_ONCE: u64 = 40;

/// How many losses to add at once, preferably so that none are left over.
fn divisor(count: u64) -> u64 {
    let candidates = [16, 20, 18, 15, 24, 25, 12, 14, 21, 22, 28, 27, 30, 32, 11, 13, 17, 19, 23, 29, 31, 10];
    candidates.into_iter().find(|k| count % k == 0).unwrap_or(16)
}

/// The distance from 0 up to which a predicate is needed: doubled until it holds, then
/// refined.
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
