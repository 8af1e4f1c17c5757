//! The loss of a pass in which a record is used once, in a step drawn at random.

mod bracket;

use super::{FiniteLoss, LossLaw, Split};
use crate::loss::Masses;
use crate::loss::grid::masses_between;
use crate::loss::sketch::crossing;
use crate::{Enclosure, Error};
use bracket::{Atoms, Bracket, Grid, logits};
use std::sync::Arc;

/// Random allocation: in each pass of m steps a record is used in one of them, chosen uniformly and independently of all
/// other records, and every step's output is seen.
///
/// # Guarantee
/// If (P_t, Q_t) dominates step t with the record against the same step without it, for every input and every earlier
/// output, then a pass with the record against one without it is dominated by
///
/// ```text
/// P = (1/m)·Σ_j Q_1 ⊗ … ⊗ P_j ⊗ … ⊗ Q_m    and    Q = Q_1 ⊗ … ⊗ Q_m,
/// ```
///
/// in both orders. For (Blackwell) some channel, which may depend on the earlier outputs and on the other
/// records' places, maps P_t and Q_t to the step's output with the record and without it. Whoever holds a
/// sample of P, or of Q, can therefore apply these channels one after the other, and obtains what the pass with the
/// record, or without it, publishes. (Chua et al. 2024 and Feldman, Shenfeld 2025 prove the same.)
///
/// Under Q the likelihood ratio is L = (1/m)·ΣY_j with independent Y_j = dP_j/dQ_j, E Y_j = 1. If only k of the m steps
/// are made, the record is not used with probability 1 − k/m, and L = 1 + (1/m)·Σ_{j≤k}(Y_j − 1). Both E_γ(P‖Q) = E(L − γ)₊
/// and E_γ(Q‖P) = E(1 − γL)₊ are expectations of convex functions ≥ 0 of a sum of independent variables, whose law
/// is enclosed in the convex order (`bracket.rs`). This law is the spread one: it dominates the pair.
/// [`LossLaw::beneath`] is the gathered one, which the pair dominates. Steps in which some Y is so large that this has a
/// probability below 1e-60 count as infinite losses.
///
/// ```
/// use dobrushin::loss::{AllocatedLoss, Composition, GaussianLoss, LossLaw, Part};
/// use dobrushin::{Delta, Positive, PrivacyProfile};
/// use std::sync::Arc;
///
/// // One pass of 100 steps with noise multiplier 1: with Poisson samples of the same rate ε would be 0.718.
/// let step: Arc<dyn LossLaw> = Arc::new(GaussianLoss::new(Positive::new(1.0)?));
/// let pass = AllocatedLoss::new(&[(step, 100)], 100)?;
/// let epsilon = Composition::new(vec![Part { pair: pass.pair(), count: 1 }]).epsilon(Delta::new(1e-5)?);
/// assert!(epsilon.upper() < 0.6211 && epsilon.lower() > 0.6205);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone)]
pub struct AllocatedLoss {
    spread: Arc<Measures>,
    gathered: Arc<Measures>,
}

/// Two measures that need not weigh the same.
struct Measures(FiniteLoss);

/// Beyond this loss ratios overflow.
const LARGEST_LOSS: f64 = 650.0;
/// The most steps of a pass.
const MOST_STEPS: u64 = 1 << 24;
/// Cells in the middle are this wide on the scale of ln(F/(1 − F)).
const FINENESS: f64 = 0.03;
/// Larger ratios of one step than this probability leaves count as infinite losses.
const NEGLIGIBLE: f64 = 1e-60;

impl AllocatedLoss {
    /// A pass of `batches` steps of which the given ones are made: each law of a step's loss, P being with the record,
    /// with the number of such steps.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there are no steps, more than `batches`, or more than 16,777,216, or if losses are above 650
    /// with a probability above 1e-60.
    pub fn new(steps: &[(Arc<dyn LossLaw>, u64)], batches: u64) -> Result<Self, Error> {
        let made = steps.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
        if made == 0 || made > batches || batches > MOST_STEPS {
            let accepted = "at least 1, at most the number of batches, and at most 16777216";
            return Err(Error::OutOfRange {
                name: "the number of steps of a pass",
                value: made as f64,
                accepted,
            });
        }
        // Sums of ratios near 1 are computed without their mean; far from 1 there is none to speak of.
        let origin = if steps.iter().all(|(law, _)| is_near_1(law.as_ref())) { 1.0 } else { 0.0 };
        let mut sum: Option<Bracket> = None;
        let (mut p_beyond, mut q_beyond) = (Enclosure::ZERO, Enclosure::ZERO);
        for (law, count) in steps.iter().filter(|(_, count)| *count > 0) {
            let (ratio, beyond) = ratio(law.as_ref(), origin)?;
            let count_of = Enclosure::from(*count);
            // The record's own step, or any other.
            p_beyond = p_beyond + count_of * (beyond.p / Enclosure::from(batches) + beyond.q);
            q_beyond = q_beyond + count_of * beyond.q;
            let part = ratio.times(*count, FINENESS);
            sum = Some(sum.map_or_else(|| part.clone(), |sum| sum.plus(&part, FINENESS)));
        }
        let Some(sum) = sum else {
            return Err(Error::OutOfRange {
                name: "the number of steps of a pass",
                value: 0.0,
                accepted: "at least 1",
            });
        };
        // L = (Σ(Y_j − origin) + base)/m.
        let base = Enclosure::from(batches) - Enclosure::from(made) * Enclosure::from(1.0 - origin);
        let law = |atoms: &Atoms, errors: Option<&[f64]>, beyond: Masses| {
            let each = atoms.points.iter().zip(&atoms.masses).enumerate();
            let atoms = each.filter(|(_, (_, mass))| **mass > 0.0).map(|(i, (point, mass))| {
                let error = errors.map_or(0.0, |errors| errors[i]);
                let sum = Enclosure::from(*point) + Enclosure::between(-error, error);
                let batches = Enclosure::from(batches);
                // ln L without cancellation if the sums are centred.
                let (ratio, loss) = if base == batches {
                    (Enclosure::ONE + sum / batches, (sum / batches).max(-Enclosure::ONE).ln_1p())
                } else {
                    ((sum + base) / batches, ((sum + base) / batches).positive_part().ln())
                };
                let q = Enclosure::from(*mass);
                (loss, Masses { p: q * ratio.positive_part(), q })
            });
            // A gathered atom that is not known to better than this is left out.
            let known = |loss: Enclosure| errors.is_none() || loss.width() < 1e-3;
            let atoms = atoms.filter(|(loss, _)| known(*loss)).collect();
            Arc::new(Measures(FiniteLoss::of_atoms(atoms, beyond)))
        };
        // Products of masses below the normal numbers are lost; ratios are at most e^700.
        let lost = Enclosure::from(1e-250);
        let beyond = Masses { p: p_beyond + lost, q: q_beyond + lost };
        let nothing = Masses { p: Enclosure::ZERO, q: Enclosure::ZERO };
        Ok(Self {
            spread: law(&sum.spread, None, beyond),
            gathered: law(&sum.gathered, Some(&sum.errors), nothing),
        })
    }

    /// Both orders of the pair.
    pub fn pair(self) -> crate::loss::DominatingPair {
        let reverse = crate::loss::Exchanged(self.clone());
        crate::loss::DominatingPair::new(Arc::new(self), Arc::new(reverse))
    }
}

impl LossLaw for AllocatedLoss {
    fn split(&self, loss: Enclosure) -> Split {
        self.spread.split(loss)
    }

    fn advantage(&self, loss: Enclosure) -> Enclosure {
        self.spread.advantage(loss)
    }

    fn beneath(&self) -> Option<Arc<dyn LossLaw>> {
        Some(self.gathered.clone())
    }
}

impl LossLaw for Measures {
    fn split(&self, loss: Enclosure) -> Split {
        self.0.split(loss)
    }

    fn advantage(&self, loss: Enclosure) -> Enclosure {
        let above = self.split(loss).above;
        above.p - above.q
    }
}

/// Whether the typical ratio of a step is near 1.
fn is_near_1(law: &dyn LossLaw) -> bool {
    law.split(Enclosure::from(-1.5)).below.q.upper() < 0.5
}

/// Y − origin of one step under Q, and the masses beyond.
fn ratio(law: &dyn LossLaw, origin: f64) -> Result<(Bracket, Masses), Error> {
    let below = |loss: f64| law.split(loss.into()).below;
    let above = |loss: f64| law.split(loss.into()).above;
    let high = outwards(|loss| above(loss).p.upper() <= NEGLIGIBLE);
    let low = -outwards(|loss| below(-loss).q.upper() <= NEGLIGIBLE);
    if high.max(-low) > LARGEST_LOSS {
        let accepted = "at most 650, except with probability 1e-60: give more noise";
        return Err(Error::OutOfRange { name: "the loss of one step", value: high.max(-low), accepted });
    }
    let quantiles: Vec<(f64, f64)> = logits(0.25, 140.0)
        .into_iter()
        .map(|t| {
            let wanted = 1.0 / (1.0 + libm::exp(-t.abs())) * libm::exp(-t.abs());
            let loss = crossing(low, high, |loss| match t <= 0.0 {
                true => below(loss).q.midpoint() < wanted,
                false => above(loss).q.midpoint() > wanted,
            });
            (t, loss)
        })
        .collect();
    let mut distinct: Vec<(f64, f64)> = Vec::new();
    let apart = 1e-9 * (high - low);
    for (t, loss) in quantiles {
        if loss > low + apart
            && loss < high - apart
            && distinct.last().is_none_or(|last| loss > last.1 + apart)
        {
            distinct.push((t, loss));
        }
    }
    let losses = Grid::new(distinct, FINENESS, (low, high)).into_points();
    let shift = |loss: f64| if origin == 1.0 { libm::expm1(loss) } else { libm::exp(loss) };
    let mut points: Vec<f64> = losses.into_iter().map(shift).filter(|point| *point > -origin).collect();
    points.dedup();
    let thresholds: Vec<Enclosure> = points
        .iter()
        .map(|point| {
            let point = Enclosure::from(*point);
            if origin == 1.0 { point.ln_1p() } else { point.ln() }
        })
        .collect();
    let splits: Vec<Split> = thresholds.iter().map(|loss| law.split(*loss)).collect();
    let tiny = points.windows(2).any(|pair| pair[1] - pair[0] < 1e-5 * (pair[0] + origin));
    let advantages: Option<Vec<Enclosure>> =
        tiny.then(|| thresholds.iter().map(|loss| law.advantage(*loss)).collect());
    let mut spread = Atoms { points: vec![-origin], masses: vec![0.0] };
    let mut gathered = Atoms { points: Vec::new(), masses: Vec::new() };
    let mut errors = Vec::new();
    // The cell from the ratio 0 to the first point, and those between points.
    for i in 0..points.len() {
        let (start, end) = (if i == 0 { -origin } else { points[i - 1] }, points[i]);
        let (p, q) = match i {
            0 => (splits[0].below.p, splits[0].below.q),
            _ => masses_between(&splits[i - 1], &splits[i]),
        };
        // p − q·(the ratio at the start of the cell).
        let rise = match &advantages {
            Some(all) if i > 0 => {
                all[i - 1] - all[i] - q * (Enclosure::from(start) + Enclosure::from(origin - 1.0))
            }
            _ => p - q * (Enclosure::from(start) + Enclosure::from(origin)),
        };
        let width = Enclosure::from(end) - Enclosure::from(start);
        let up = (rise / width).positive_part().min(Enclosure::from(q.upper()));
        let down = (q - up).positive_part();
        let last = spread.masses.len() - 1;
        spread.masses[last] = (spread.masses[last] + down.upper()).next_up();
        spread.points.push(end);
        spread.masses.push(up.upper());
        if q.lower() > 0.0 {
            let within = (rise / q).positive_part().min(width);
            let mean = Enclosure::from(start) + within;
            let point = mean.midpoint();
            gathered.points.push(point);
            gathered.masses.push(q.lower());
            errors.push(mean.width());
        }
    }
    let beyond = splits.last().map_or(Masses { p: Enclosure::ONE, q: Enclosure::ONE }, |split| split.above);
    Ok((Bracket { spread, gathered, errors }, beyond))
}

/// The distance from 0 at which a predicate begins to hold.
fn outwards(holds: impl Fn(f64) -> bool) -> f64 {
    let mut end = 1e-12;
    while end < 1e6 && !holds(end) {
        end *= 2.0;
    }
    crossing(end, end / 2.0, &holds).max(end / 2.0) * (1.0 + 1e-9)
}
