//! The bounds at chosen cuts, as points of one profile.

use super::distance::{Atom, Contraction, gathered};
use super::scout::{Cut, Divided, Scout};
use super::setting::{Line, Setting};
use crate::chain::Count;
use crate::loss::{Composition, DominatingPair, GaussianLoss, Part};
use crate::numeric::rounding::{add_down, add_up, div_up, mul_up, sqrt_down};
use crate::numeric::{Boundary, theta};
use crate::profile::{Direction, Knot, PiecewiseProfile, PrivacyProfile};
use crate::{Delta, Enclosure, Epsilon, NonNegative, Positive};
use rayon::prelude::*;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A δ for which a cut is chosen and losses are composed, and the range in which the result is evaluated.
#[derive(Clone, Copy)]
struct Rung {
    delta: f64,
    range: (f64, f64),
}

const RUNGS: &[Rung] = &[
    Rung { delta: 0.1, range: (0.9, 1e-3) },
    Rung { delta: 1e-3, range: (1e-1, 1e-5) },
    Rung { delta: 1e-5, range: (1e-3, 1e-8) },
    Rung { delta: 1e-8, range: (1e-5, 1e-12) },
    Rung { delta: 1e-12, range: (1e-8, 1e-18) },
    Rung { delta: 1e-18, range: (1e-12, 1e-26) },
    Rung { delta: 1e-26, range: (1e-18, 1e-34) },
];
/// The same for few steps, where there is little to choose.
const FEW_RUNGS: &[Rung] = &[Rung { delta: 1e-4, range: (0.9, 1e-13) }];
/// At most this many steps count as few.
const FEW_STEPS: u64 = 16;
/// The number of ε that are evaluated for each.
const NODES: usize = 100;
/// The relative width of enclosures of ε.
const TOLERANCE: f64 = 1e-3;
/// The number of shares of ε that are tried for the shift.
const SHARES: usize = 64;

/// The largest ratio of several distances that count as one in estimates, and the number of halvings in a search.
const ROUGHLY: f64 = 1.15;
const ROUGH_STEPS: u32 = 16;

/// The best of all cuts.
pub(super) struct Ladder {
    setting: Arc<Setting>,
    scout: Scout,
    laws: Laws,
    pairs: Pairs,
    profile: OnceLock<PiecewiseProfile>,
}

impl Ladder {
    pub fn new(setting: Setting) -> Self {
        let setting = Arc::new(setting);
        Self {
            scout: Scout::new(&setting),
            laws: Laws::new(&setting),
            pairs: Pairs { setting: Arc::clone(&setting), known: Mutex::default() },
            profile: OnceLock::new(),
            setting,
        }
    }

    /// The hull of the points of all rungs.
    pub fn profile(&self) -> &PiecewiseProfile {
        if let Some(known) = self.profile.get() {
            return known;
        }
        // Nothing is initialised meanwhile: a thread that waits for others may be given a task that needs it.
        let points: Vec<Knot> = if self.setting.displacement == 0.0 {
            knot(0.0, 0.0).into_iter().collect()
        } else {
            let few = matches!(self.setting.steps, Count::Times(times) if times <= FEW_STEPS);
            let rungs = if few { FEW_RUNGS } else { RUNGS };
            let points: Vec<Vec<Knot>> = rungs.par_iter().map(|&rung| self.points(rung)).collect();
            self.variation().into_iter().chain(points.into_iter().flatten()).collect()
        };
        self.profile.get_or_init(|| PiecewiseProfile::symmetric(&points))
    }

    /// The points of the best cuts for a rung.
    fn points(&self, rung: Rung) -> Vec<Knot> {
        let Self { scout, laws, pairs, .. } = self;
        let divided = scout.divided(rung.delta).and_then(|divided| split(pairs, scout, divided, rung));
        let shifted = |cut| laws.rough_epsilon(cut, rung.delta / 2.0);
        let joined = scout.joined(rung.delta, shifted).and_then(|cut| joined(pairs, laws, cut, rung));
        [divided, joined].into_iter().flatten().flatten().collect()
    }

    /// Total variation: that of the steps and that of the shift add up.
    fn variation(&self) -> Option<Knot> {
        let Self { setting, scout, laws, .. } = self;
        let zero = Epsilon::new(0.0).ok()?;
        let once = setting.one_step(1.0).ok()?.delta_of(Direction::Forward, zero).upper();
        let added = |k: u64| (Enclosure::from(k) * Enclosure::from(once)).upper();
        let cut = |cut: Cut| {
            let (atoms, unit) = laws.roughly_shifted(cut);
            add_up(added(cut.k), expected(&gathered(atoms, ROUGHLY), unit, 0.0))
        };
        let whole = scout.composition().map(|all| added(all.cut.k));
        knot(0.0, scout.cuts().map(cut).chain(whole).fold(1.0, f64::min))
    }
}

/// (ε, δ) at ε = 0 and over the range, from a profile and its inverse.
fn points_of(delta: impl Fn(Epsilon) -> f64, epsilon: impl Fn(Delta) -> f64, rung: Rung) -> Vec<Knot> {
    let end = |level: f64| Delta::new(level).map_or(f64::INFINITY, &epsilon);
    let (start, last) = (end(rung.range.0), end(rung.range.1));
    // Where an outcome reveals the record with certainty, δ does not fall that far.
    let end = if last.is_finite() { last } else { 2.0 * end(rung.delta) };
    let inside = (0..=NODES).map(|i| start + (end - start) * libm::pow(i as f64 / NODES as f64, 1.5));
    let at = |epsilon: f64| knot(epsilon, delta(Epsilon::new(epsilon).ok()?));
    [0.0].into_iter().chain(inside.filter(|epsilon| *epsilon > 0.0)).filter_map(at).collect()
}

/// A point, unless it is vacuous.
fn knot(epsilon: f64, delta: f64) -> Option<Knot> {
    let finite = epsilon < f64::INFINITY && delta < 1.0;
    Some(Knot::new(Epsilon::new(epsilon).ok().filter(|_| finite)?, Delta::new(delta).ok()?))
}

/// The pairs that dominate one step with a share of the noise.
struct Pairs {
    setting: Arc<Setting>,
    known: Mutex<Vec<(f64, DominatingPair)>>,
}

impl Pairs {
    fn pair(&self, share: f64) -> Option<DominatingPair> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pair)) = known().iter().find(|(known, _)| *known == share) {
            return Some(pair.clone());
        }
        let pair = self.setting.one_step(share).ok()?.pair().ok()?;
        known().push((share, pair.clone()));
        Some(pair)
    }
}

/// k steps with a share of the noise, and the shift with the rest.
fn split(pairs: &Pairs, scout: &Scout, divided: Divided, rung: Rung) -> Option<Vec<Knot>> {
    let Divided { cut, share } = divided;
    if share == 1.0 {
        return own(pairs, cut.k, rung);
    }
    let mut parts = vec![Part { pair: pairs.pair(share)?, count: cut.k }];
    let mu = div_up(scout.shift(cut), sqrt_down(add_down(1.0, -share)));
    if mu > 0.0 {
        let law = GaussianLoss::new(Positive::new(mu).ok()?);
        parts.push(Part { pair: DominatingPair::symmetric(Arc::new(law)), count: 1 });
    }
    composed(parts, rung)
}

/// k steps with all the noise.
fn own(pairs: &Pairs, k: u64, rung: Rung) -> Option<Vec<Knot>> {
    if k == 1 {
        let step = pairs.setting.one_step(1.0).ok()?;
        let delta = |epsilon| step.delta_of(Direction::Forward, epsilon).upper();
        return Some(points_of(delta, |delta| step.epsilon_of(Direction::Forward, delta).upper(), rung));
    }
    composed(vec![Part { pair: pairs.pair(1.0)?, count: k }], rung)
}

/// The losses of all parts, composed.
fn composed(parts: Vec<Part>, rung: Rung) -> Option<Vec<Knot>> {
    let composition = Composition::new(parts).with_tolerance(TOLERANCE);
    let losses = composition.distribution(Direction::Forward, Delta::new(rung.delta).ok()?);
    Some(points_of(|epsilon| losses.delta(epsilon).upper(), |delta| losses.epsilon(delta).upper(), rung))
}

/// g(ε₁) of k steps and h(ε₂) of the shift, combined: g + e^ε₁·h and h + e^ε₂·g at ε₁ + ε₂.
fn joined(pairs: &Pairs, laws: &Laws, cut: Cut, rung: Rung) -> Option<Vec<Knot>> {
    let own = own(pairs, cut.k, rung)?;
    let (atoms, unit) = laws.shifted(cut);
    let end = Some(laws.rough_epsilon(cut, rung.delta * 1e-4)).filter(|end| end.is_finite())?;
    let growth = |x: f64| Enclosure::from(x).exp().upper();
    let own: Vec<(Knot, f64)> = own.into_iter().map(|own| (own, growth(own.epsilon()))).collect();
    let mut points = Vec::new();
    for i in 0..=SHARES {
        let shifted = end * libm::pow(i as f64 / SHARES as f64, 1.5);
        let height = expected(&atoms, unit, shifted);
        let grown = growth(shifted);
        for (own, growth) in &own {
            let (epsilon, delta) = (add_up(own.epsilon(), shifted), own.delta());
            let first = add_up(delta, mul_up(*growth, height));
            let second = add_up(height, mul_up(grown, delta));
            points.extend(knot(epsilon, first.min(second)));
        }
    }
    Some(thinned(points))
}

/// Of points with about the same δ, the one with the least ε.
fn thinned(points: Vec<Knot>) -> Vec<Knot> {
    let mut best: Vec<Option<Knot>> = Vec::new();
    for point in points {
        let place = (-libm::log10(point.delta()) * 48.0).clamp(0.0, 48.0 * 40.0) as usize;
        if best.len() <= place {
            best.resize(place + 1, None);
        }
        match &mut best[place] {
            Some(known) if known.epsilon() <= point.epsilon() => (),
            slot => *slot = Some(point),
        }
    }
    best.into_iter().flatten().collect()
}

/// The law of the distance of neighbours after this many steps, or fewer.
fn law(setting: &Setting, line: Line, steps: Count) -> Vec<Atom> {
    let (displacement, rate) = (setting.displacement, setting.rate);
    Contraction { slope: line.slope, displacement, rate, most: setting.furthest(steps) }.law(steps)
}

/// E θ_ε(unit·z) over the law of z.
fn expected(atoms: &[Atom], unit: f64, epsilon: f64) -> f64 {
    let at = |atom: &Atom| {
        let distance = NonNegative::new(mul_up(unit, atom.distance));
        let height = match (Epsilon::new(epsilon), distance) {
            (Ok(epsilon), Ok(distance)) => theta::theta(epsilon, distance).upper(),
            _ => 1.0,
        };
        mul_up(atom.mass, height)
    };
    atoms.iter().map(at).fold(0.0, add_up).min(1.0)
}

/// The laws of the distance of neighbours, for each line without an offset.
struct Laws {
    setting: Arc<Setting>,
    laws: Vec<(Line, Vec<Atom>)>,
}

impl Laws {
    fn new(setting: &Arc<Setting>) -> Self {
        let lines = setting.same.iter().filter(|line| line.offset == 0.0);
        let laws = lines.map(|&line| (line, law(setting, line, setting.steps))).collect();
        Self { setting: Arc::clone(setting), laws }
    }

    /// A law of the distance before a cut, and the factor of a distance after it.
    ///
    /// The law after all steps is above that after fewer.
    fn roughly_shifted(&self, cut: Cut) -> (Vec<Atom>, f64) {
        let most = self.setting.furthest(self.setting.before(cut.k));
        match self.laws.iter().find(|(line, _)| *line == cut.line) {
            Some((_, atoms)) => {
                let capped = |atom: &Atom| Atom { distance: atom.distance.min(most), ..*atom };
                (atoms.iter().map(capped).collect(), Setting::shift(cut.line, cut.k, 1.0))
            }
            None => (vec![Atom { distance: Setting::shift(cut.line, cut.k, most), mass: 1.0 }], 1.0),
        }
    }

    /// The same, for the steps before the cut only.
    fn shifted(&self, cut: Cut) -> (Vec<Atom>, f64) {
        if cut.line.offset > 0.0 || self.setting.steps == Count::Any {
            return self.roughly_shifted(cut);
        }
        let atoms = law(&self.setting, cut.line, self.setting.before(cut.k));
        (atoms, Setting::shift(cut.line, cut.k, 1.0))
    }

    /// The approximate ε at which the shift has this δ.
    fn rough_epsilon(&self, cut: Cut, delta: f64) -> f64 {
        let (atoms, unit) = self.roughly_shifted(cut);
        let atoms = gathered(atoms, ROUGHLY);
        let most = unit * atoms.last().map_or(0.0, |atom| atom.distance);
        let end = most * (most / 2.0 + (-2.0 * libm::log(delta)).sqrt());
        if !end.is_finite() {
            return f64::INFINITY;
        }
        let missed = |epsilon: f64| expected(&atoms, unit, epsilon) > delta;
        Boundary { holds: 0.0, fails: end }.halved(ROUGH_STEPS, missed).fails
    }
}
