//! A chain as parts of equal rounds, and the bound on its last iterate.

use super::block::{Place, Round, contracted};
use super::logs::ln_theta;
use super::motion::Motion;
use super::part::Part;
use super::table::Table;
use super::tail;
use crate::analysis::allocation::squared_shift;
use crate::chain::{Chain, Count, Step, StepNoise, Stretch};
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// What happens, in its order.
enum Leg {
    Used(Part),
    Clean(Motion, u64, Place),
}

/// The most different parts of a chain.
const MOST_LEGS: usize = 64;
/// How often ε are put between others.
const LEVELS: usize = 4;

/// The bound on the last iterate.
pub(super) fn bound(chain: &Chain) -> Result<Table, NotApplicable> {
    let mut legs = legs(chain)?;
    let shift = squared_shift(chain).ok().map(|square| square.sqrt().upper());
    if let ([Leg::Used(part)], Some(shift)) = (&mut legs[..], shift) {
        part.cap(shift);
    }
    let mut epsilons = first_epsilons(&legs, shift);
    let mut warm = None;
    let mut best: Option<Table> = None;
    for level in 0..LEVELS {
        let mut h = Table::nothing(Arc::clone(&epsilons));
        for leg in &legs {
            h = match leg {
                Leg::Used(part) => part.advance(&h, &mut warm)?,
                Leg::Clean(motion, count, place) => contracted(&h, motion, *count, *place),
            };
        }
        if let Some(shift) = shift {
            let shifted: Vec<f64> = epsilons.iter().map(|&epsilon| ln_theta(epsilon, shift)).collect();
            h = h.least(&shifted);
        }
        if let Some(best) = &best {
            h = h.least(best.moved_to(Arc::clone(&epsilons)).lns());
        }
        if level + 1 < LEVELS {
            epsilons = between(&h);
        }
        best = Some(h);
    }
    best.ok_or_else(|| NotApplicable::new("there are no steps"))
}

/// The smallest and the largest ε of interest, and factors between them.
fn first_epsilons(legs: &[Leg], shift: Option<f64>) -> Arc<[f64]> {
    let ranges = legs.iter().filter_map(|leg| match leg {
        Leg::Used(part) => Some(part.range()),
        Leg::Clean(..) => None,
    });
    let (start, end) = ranges.fold((f64::INFINITY, 0.0_f64), |(a, b), (c, d)| (a.min(c), b.max(d)));
    let end = shift.map_or(end, |mu| end.min(mu * (mu / 2.0 + 46.0))).max(1e-12);
    let start = start.min(end / 4.0);
    let number = 48;
    let factor = (end / start).powf(1.0 / f64::from(number));
    let rest = (0..=number).map(|i| start * factor.powi(i));
    [0.0].into_iter().chain(rest).collect()
}

/// How much ln δ may fall between two ε where δ is near 1.
const DROP: f64 = 0.2;
/// Below this ln δ is not looked at more closely.
const DEEP: f64 = -900.0;

/// More ε where the bound falls fast, fewer where it does not.
fn between(h: &Table) -> Arc<[f64]> {
    let (epsilons, lns) = (h.epsilons(), h.lns());
    let mut chosen = vec![0.0];
    let mut kept = lns[0];
    for i in 1..h.len() {
        let (before, here) = (lns[i - 1], lns[i]);
        let allowed = DROP * (1.0 + before.abs() / 20.0);
        let next = lns.get(i + 1).copied().unwrap_or(f64::NEG_INFINITY);
        if kept - next < 0.6 * allowed {
            continue;
        }
        if before > DEEP {
            let last = chosen[chosen.len() - 1];
            let drop = if here > 2.0 * DEEP { kept - here } else { f64::INFINITY };
            let pieces = (drop / allowed).ceil().clamp(1.0, 4.0);
            for piece in 1..pieces as u32 {
                chosen.push(last + (epsilons[i] - last) * f64::from(piece) / pieces);
            }
        }
        chosen.push(epsilons[i]);
        kept = here;
        if here <= DEEP {
            break;
        }
    }
    chosen.into()
}

fn gaussian(step: &Step) -> Result<Enclosure, NotApplicable> {
    match step.noise {
        StepNoise::Gaussian(noise) => Ok(noise),
        StepNoise::Laplace(_) => Err(NotApplicable::new("the noise must be Gaussian: update.noise")),
    }
}

/// The chain since the first use of the record.
fn legs(chain: &Chain) -> Result<Vec<Leg>, NotApplicable> {
    let stretches: Vec<Stretch<'_>> = chain.since_the_record().collect();
    let domain = chain.domain();
    let mut legs = Vec::new();
    let mut rest = &stretches[..];
    while let Some((first, later)) = rest.split_first() {
        let noise = gaussian(first.step)?;
        let bounded = domain.diameter.map(|d| Place { width: d.into(), ln_tail: f64::NEG_INFINITY });
        if first.step.participation.is_never() {
            if let (Count::Times(times), Some(place)) = (first.count, bounded) {
                legs.push(Leg::Clean(motion(first.step, noise), times, place));
            }
            rest = later;
        } else if let (Some((second, rounds)), Some(place)) = (period(rest), bounded) {
            let Count::Times(times) = second.count else { break };
            let clean = Some((second.step, gaussian(second.step)?, times));
            let round = Round { used: first.step, noise, clean };
            legs.push(Leg::Used(Part::new(&round, Count::Times(rounds), &[place])));
            rest = &rest[2 * rounds as usize..];
        } else {
            let places = match bounded {
                Some(place) => vec![place],
                // Where iterates are is known if all steps are alike.
                None if stretches.len() == 1 => tail::places(first.step, noise, domain.dimension)?,
                None => return Err(NotApplicable::new("the domain is unbounded and steps differ: [domain] diameter is missing")),
            };
            let round = Round { used: first.step, noise, clean: None };
            legs.push(Leg::Used(Part::new(&round, first.count, &places)));
            rest = later;
        }
        if legs.len() > MOST_LEGS {
            return Err(NotApplicable::new("there are too many different steps: it is for equal steps or periods"));
        }
    }
    Ok(legs)
}

fn motion(step: &Step, noise: Enclosure) -> Motion {
    Motion::new(step.modulus.pieces().to_vec(), noise)
}

/// If the stretches start with one use and some steps without it, several times over: the latter, and how often.
fn period<'a>(stretches: &[Stretch<'a>]) -> Option<(Stretch<'a>, u64)> {
    let (first, second) = (*stretches.first()?, *stretches.get(1)?);
    let once = first.count == Count::Times(1) && second.step.participation.is_never();
    let rounds = stretches.chunks_exact(2).take_while(|pair| pair[0] == first && pair[1] == second).count();
    (once && rounds > 1).then_some((second, rounds as u64))
}
