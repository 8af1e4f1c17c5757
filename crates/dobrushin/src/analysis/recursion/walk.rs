//! A chain split into parts of equal rounds, and the bound on its last iterate.

use super::super::logs::ln_theta;
use super::block::{Place, Round, contracted};
use super::motion::Motion;
use super::nodes::Nodes;
use super::part::Part;
use super::table::Table;
use super::tail;
use crate::analysis::lines::squared_shift_on_domain;
use crate::chain::{Chain, Count, Section, Step, StepNoise, Stretch};
use crate::numeric::elementary::powi;
use crate::run::{in_the_way, missing};
use crate::{Enclosure, NotApplicable};
use std::sync::Arc;

/// The parts, in order.
enum Leg {
    Used(Part),
    Clean(Motion, u64, Place),
}

/// The most different parts of a chain.
const MOST_LEGS: usize = 64;
/// The number of times ε are inserted between others, …
const LEVELS: usize = 5;
/// … and the number if there are few steps.
const FEW_LEVELS: usize = 3;
/// The relative change of ln δ at which a bound counts as settled: at the end, and before.
const SETTLED: f64 = 3e-4;
const ROUGHLY: f64 = 1e-2;

/// The bound on the last iterate, with ε so dense that ln δ falls by at most `fineness` between two of them where δ is
/// near 1.
pub(super) fn bound(chain: &Chain, fineness: f64) -> Result<Table, NotApplicable> {
    let mut legs = legs(chain)?;
    let shift_of = |chain: &Chain| squared_shift_on_domain(chain).ok().map(|square| square.sqrt().upper());
    let shift = shift_of(chain);
    if let Some(Leg::Used(part)) = legs.first_mut() {
        let before = chain.stretches().take_while(|stretch| stretch.step.participation.is_never());
        let before = before.map(|stretch| stretch.count).try_fold(0_u64, add);
        let end = before.and_then(|before| add(before, part.steps()));
        let first = end.map_or(shift, |end| shift_of(&chain.cut_at(end)));
        part.cap(first.unwrap_or(f64::INFINITY));
    }
    let is_short = legs.iter().all(|leg| !matches!(leg, Leg::Used(part) if !part.is_short()));
    let levels = if is_short { FEW_LEVELS } else { LEVELS };
    let mut found: Vec<Option<Table>> = legs.iter().map(|_| None).collect();
    let mut bound = Table::nothing(first_epsilons(&legs, shift));
    for level in 1..=levels {
        let tolerance = if level == levels { SETTLED } else { ROUGHLY };
        let epsilons = if level == 1 { Arc::clone(bound.epsilons()) } else { between(&bound, fineness) };
        let mut h = Table::nothing(Arc::clone(&epsilons));
        for (leg, found) in legs.iter().zip(&mut found) {
            h = match leg {
                Leg::Used(part) => part.advance(&h, found, tolerance)?,
                Leg::Clean(motion, count, place) => contracted(&h, motion, *count, *place),
            };
        }
        if let Some(shift) = shift {
            let shifted: Vec<f64> = epsilons.iter().map(|&epsilon| ln_theta(epsilon, shift)).collect();
            h = h.least(&shifted);
        }
        if level > 1 {
            h = h.least(bound.moved_to(epsilons).lns());
        }
        bound = h.hull();
    }
    Ok(bound)
}

/// This many more steps; `None` for any number.
fn add(steps: u64, count: Count) -> Option<u64> {
    match count {
        Count::Times(times) => Some(steps.saturating_add(times)),
        Count::Any => None,
    }
}

/// The smallest and the largest ε of interest, and the factors between them.
fn first_epsilons(legs: &[Leg], shift: Option<f64>) -> Arc<Nodes> {
    let ranges = legs.iter().filter_map(|leg| match leg {
        Leg::Used(part) => Some(part.range()),
        Leg::Clean(..) => None,
    });
    let (start, end) = ranges.fold((f64::INFINITY, 0.0_f64), |(a, b), (c, d)| (a.min(c), b.max(d)));
    let end = shift.map_or(end, |mu| end.min(mu * (mu / 2.0 + 46.0))).max(1e-12);
    let start = start.min(end / 4.0);
    let number = 48;
    let factor = libm::pow(end / start, 1.0 / f64::from(number));
    let rest = (0..=number).map(|i| start * powi(factor, i));
    Arc::new([0.0].into_iter().chain(rest).collect())
}

/// The largest fall of ln δ between two ε where δ is near 1, …
pub(super) const FINENESS: f64 = 0.07;
/// … and anywhere.
const MOST_DROP: f64 = 3.0;
/// Values of ln δ below this are not refined.
const DEEP: f64 = -900.0;

/// Places more ε where the bound falls fast, and fewer where it does not.
fn between(h: &Table, fineness: f64) -> Arc<Nodes> {
    let (epsilons, lns) = (h.epsilons(), h.lns());
    let mut chosen = vec![0.0];
    let mut kept = lns[0];
    for i in 1..h.len() {
        let (before, here) = (lns[i - 1], lns[i]);
        let allowed = (fineness * (1.0 + powi(before / 15.0, 2))).min(MOST_DROP);
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
    Arc::new(chosen.into_iter().collect())
}

fn gaussian(step: &Step) -> Result<Enclosure, NotApplicable> {
    match step.noise {
        StepNoise::Gaussian(noise) => Ok(noise),
        StepNoise::Laplace(_) => Err(in_the_way!("the noise must be Gaussian: {}", NoiseKind)),
    }
}

/// The chain from the first use of the record.
fn legs(chain: &Chain) -> Result<Vec<Leg>, NotApplicable> {
    let mut legs = Vec::new();
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for section in chain.sections_since_the_record() {
        match section {
            Section::Stretch(stretch) => stretches.push(stretch),
            Section::Laps(lap, times) => {
                add_legs(&mut legs, chain, &stretches)?;
                stretches.clear();
                let place = bounded(chain).ok_or_else(differing)?;
                let ([used, clean], true) = (&lap[..], is_round(&lap)) else {
                    return Err(too_many());
                };
                legs.push(Leg::Used(rounds(used, clean, times, place)?));
            }
        }
    }
    add_legs(&mut legs, chain, &stretches)?;
    if legs.len() > MOST_LEGS { Err(too_many()) } else { Ok(legs) }
}

fn too_many() -> NotApplicable {
    NotApplicable::beyond("there are too many different steps: it is for equal steps or periods")
}

fn differing() -> NotApplicable {
    missing!("the domain is unbounded and steps differ: {:#} is missing", Diameter)
}

/// The region of the iterates, if the domain is bounded.
fn bounded(chain: &Chain) -> Option<Place> {
    chain.domain().diameter.map(|d| Place { width: d.into(), ln_tail: f64::NEG_INFINITY })
}

/// Some stretches of a chain.
fn add_legs(legs: &mut Vec<Leg>, chain: &Chain, stretches: &[Stretch<'_>]) -> Result<(), NotApplicable> {
    let domain = chain.domain();
    let mut rest = stretches;
    while let Some((first, later)) = rest.split_first() {
        let noise = gaussian(first.step)?;
        let bounded = bounded(chain);
        if first.step.participation.is_never() {
            if let (Count::Times(times), Some(place)) = (first.count, bounded) {
                legs.push(Leg::Clean(motion(first.step, noise), times, place));
            }
            rest = later;
        } else if let (Some((second, times)), Some(place)) = (period(rest), bounded) {
            legs.push(Leg::Used(rounds(first, &second, times, place)?));
            rest = &rest[2 * times as usize..];
        } else {
            let places = match bounded {
                Some(place) => vec![place],
                // The region of the iterates is known if all steps are alike.
                None if chain.stretches().take(2).count() == 1 => {
                    tail::places(first.step, noise, domain.dimension)?
                }
                None => return Err(differing()),
            };
            let round = Round { used: first.step, noise, clean: None };
            legs.push(Leg::Used(Part::new(&round, first.count, &places)));
            rest = later;
        }
        if legs.len() > MOST_LEGS {
            return Err(too_many());
        }
    }
    Ok(())
}

/// One use followed by some steps without it, repeated.
fn rounds(used: &Stretch<'_>, clean: &Stretch<'_>, times: u64, place: Place) -> Result<Part, NotApplicable> {
    let Count::Times(steps) = clean.count else {
        return Err(too_many());
    };
    let clean = Some((clean.step, gaussian(clean.step)?, steps));
    let round = Round { used: used.step, noise: gaussian(used.step)?, clean };
    Ok(Part::new(&round, Count::Times(times), &[place]))
}

fn motion(step: &Step, noise: Enclosure) -> Motion {
    Motion::new(step.modulus.pieces().to_vec(), noise)
}

/// If the stretches start with one use followed by some steps without it, repeated: these steps, and the number of
/// repetitions.
fn period<'a>(stretches: &[Stretch<'a>]) -> Option<(Stretch<'a>, u64)> {
    let round = stretches.get(..2).filter(|round| is_round(round))?;
    let rounds = stretches.chunks_exact(2).take_while(|next| *next == round).count();
    (rounds > 1).then_some((round[1], rounds as u64))
}

/// Whether it is one use followed by some steps without it.
fn is_round(stretches: &[Stretch<'_>]) -> bool {
    matches!(stretches, [used, clean] if used.count == Count::Times(1)
        && !used.step.participation.is_never()
        && clean.count != Count::Any
        && clean.step.participation.is_never())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Domain, Participation, Piece};
    use crate::numeric::Boundary;
    use crate::{NonNegative, Positive, Probability};

    #[test]
    fn closer_epsilons_hardly_change_the_bound() {
        let uses = [Participation::Always, Participation::Sometimes(Probability::new(0.01).expect("valid"))];
        for (participation, moved) in uses.into_iter().zip([0.05, 0.167]) {
            let step = Step::new(StepNoise::gaussian(1.0).expect("valid"))
                .with_modulus(vec![Piece::new(1.0, 0.0).expect("valid")])
                .used_by(participation, NonNegative::new(moved).expect("valid"));
            let domain = Domain { diameter: Positive::new(3.33).ok(), dimension: None };
            let chain = Chain::new(vec![(step, Count::Any)], domain).expect("valid");
            let epsilon = |fineness: f64| {
                let table = bound(&chain, fineness).expect("applies");
                let ends = Boundary { holds: 0.0, fails: 10.0 };
                ends.halved(40, |epsilon| table.at(epsilon) > 1e-5_f64.ln()).fails
            };
            let (usual, close) = (epsilon(FINENESS), epsilon(FINENESS / 2.0));
            assert!((usual - close).abs() < 1e-3 * close, "{usual} against {close}");
        }
    }
}
