//! A record that is used repeatedly.

use super::super::walk::{Leg, legs, ln_weight_of_a_stop};
use super::noisy::Noisy;
use crate::chain::{Branch, Count, Start, Stop};
use crate::numeric::ln_sum;
use crate::{Enclosure, Epsilon, NotApplicable};

/// A record that is used repeatedly.
pub(super) struct Again {
    ln_weight: Enclosure,
    legs: Vec<AgainLeg>,
    stops: bool,
    /// How far apart the two runs start, unless they start together.
    start: Option<Start>,
}

struct AgainLeg {
    /// η at distance ω(D), at ω′(D), and at the distance of any two of the updates with the record, another, or
    /// neither.
    same: Noisy,
    crossed: Noisy,
    any: Noisy,
    probability: Enclosure,
    count: Count,
    stops: bool,
}

/// Beyond this many equal steps, the bound for any number of them is used.
const MOST_STEPS: u64 = 256;
/// The number of times this bound is improved.
const SWEEPS: u32 = 64;

impl Again {
    pub(super) fn new(branch: &Branch) -> Result<Self, NotApplicable> {
        let leg = |leg: Leg<'_>| AgainLeg {
            same: Noisy::new(leg.step.noise, leg.step.modulus.at(leg.before)),
            crossed: Noisy::new(leg.step.noise, leg.step.crossed_at(leg.before)),
            any: Noisy::new(leg.step.noise, leg.step.any_at(leg.before)),
            probability: leg.step.participation.probability(),
            count: leg.count,
            stops: leg.stops,
        };
        let start = branch.chain.start().cloned();
        // A start is not a step.
        let steps = legs(branch)?.into_iter().skip(usize::from(start.is_some()));
        let legs: Vec<AgainLeg> = steps.map(leg).collect();
        if legs.len() > MOST_LEGS {
            return Err(NotApplicable::beyond(format!(
                "the steps change {} times: at most {MOST_LEGS} are looked at",
                legs.len()
            )));
        }
        Ok(Self { ln_weight: ln_weight_of_a_stop(branch), legs, stops: branch.stop != Stop::End, start })
    }

    pub(super) fn ln_delta(&self, epsilon: Epsilon) -> Enclosure {
        let together = Enclosure::from(f64::NEG_INFINITY);
        let mut ln_h = self.start.as_ref().map_or(together, |start| start.ln_divergence(epsilon));
        let mut stopped = Vec::new();
        for leg in &self.legs {
            let eta = leg.crossed.ln_eta(epsilon);
            let steps = match leg.count {
                Count::Times(times) if times <= MOST_STEPS => times,
                _ => 0,
            };
            for _ in 0..steps {
                ln_h = leg.after(epsilon, ln_h, eta);
                if leg.stops {
                    stopped.push(ln_h);
                }
            }
            if steps == 0 {
                // A bound that holds now and after every number of steps, lowered as far as possible.
                let mut always = leg.settled(epsilon, ln_h, eta);
                if leg.probability == Enclosure::ZERO {
                    always = ln_h;
                }
                if leg.stops {
                    stopped.push(always + leg.count.number().ln());
                }
                ln_h = always;
            }
        }
        self.ln_weight + if self.stops { ln_sum(&stopped) } else { ln_h }
    }
}

/// The most stretches of a chain in which the record is used again.
const MOST_LEGS: usize = 4096;

impl AgainLeg {
    /// ln h⁺.
    fn after(&self, epsilon: Epsilon, ln_h: Enclosure, ln_eta_crossed: Enclosure) -> Enclosure {
        let ln_rest = (Enclosure::ONE - self.probability).ln();
        let apart =
            ln_sum(&[ln_rest + self.same.ln_tight(epsilon, ln_h), self.probability.ln() + ln_eta_crossed]);
        let mixed = ln_sum(&[self.probability.ln(), ln_rest + ln_h]).min(Enclosure::ZERO);
        let together = self.any.ln_tight(epsilon, mixed);
        let least = if together.upper() < apart.upper() { together } else { apart };
        least.min(Enclosure::ZERO)
    }

    /// A bound that any number of steps preserves, from a bound at the start.
    fn settled(&self, epsilon: Epsilon, ln_start: Enclosure, ln_eta_crossed: Enclosure) -> Enclosure {
        let mut ln_h = Enclosure::ZERO;
        for _ in 0..SWEEPS {
            let next = self.after(epsilon, ln_h, ln_eta_crossed).max(ln_start);
            if next.upper() > ln_h.upper() - 1e-9 * ln_h.upper().abs() {
                return if next.upper() < ln_h.upper() { next } else { ln_h };
            }
            ln_h = next;
        }
        ln_h
    }
}
