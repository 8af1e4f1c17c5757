//! The search for the least private value of a parameter that still meets a limit, with few evaluations.
//!
//! On a logarithmic scale the measured quantity is nearly a straight line, so secants converge quickly. The search also
//! keeps a bracket, and halves it where they do not.
//!
//! The quantity is the least of what several analyses say, and nearly always the same one says least near the answer.
//! So everyone is asked at the start and when the answer is near, and only the best of them in between. Whatever one
//! analysis shows is met. That a place misses the limit is believed in the end only if everyone was asked about it.

use crate::Enclosure;

/// A scale whose places are logarithms of the parameter; a larger place is more private.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Whether the parameter is noise; otherwise a larger value is less private.
    pub noise: bool,
    /// Whether only whole numbers are allowed.
    pub whole: bool,
}

impl Scale {
    /// The place of a value.
    pub fn place(self, value: f64) -> f64 {
        if self.noise { libm::log(value) } else { -libm::log(value) }
    }

    /// The value at a place: a whole number, or one with eight digits.
    pub fn value(self, place: f64) -> f64 {
        let value = if self.noise { libm::exp(place) } else { libm::exp(-place) };
        if self.whole { value.round() } else { format!("{value:.7e}").parse().unwrap_or(value) }
    }

    /// Whether no value between two places needs to be tried.
    fn close(self, missed: f64, met: f64) -> bool {
        if self.whole { (self.value(missed) - self.value(met)).abs() <= 1.0 } else { met - missed <= WIDTH }
    }

    /// A place next to another.
    fn beside(self, place: f64, more_private: bool) -> f64 {
        if self.whole {
            let towards = if more_private == self.noise { 1.0 } else { -1.0 };
            self.place((self.value(place) + towards).max(1.0))
        } else {
            place + if more_private { MARGIN } else { -MARGIN }
        }
    }
}

/// The largest final width of a bracket: the answer is this close to the best one, relatively.
const WIDTH: f64 = 1e-5;

/// The distance from an estimate at which the search looks next, to bracket the boundary.
const MARGIN: f64 = 4e-6;

/// Who is asked about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    /// Every analysis.
    Everyone,
    /// The one that was best when everyone was asked last.
    Leader,
}

/// A place and what was measured there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tried {
    /// The place on the scale.
    pub place: f64,
    /// What was measured there.
    pub measured: Enclosure,
}

/// How a search ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// The least private place that meets the limit, next to one that does not.
    Boundary(Tried),
    /// The limit is met even at the least private end.
    Everywhere(Tried),
    /// The limit is not met even at the most private end.
    Nowhere(Tried),
}

/// A search problem.
pub(super) struct Search<Measure, Share> {
    /// The scale.
    pub scale: Scale,
    /// Its ends, the least private first.
    pub ends: (f64, f64),
    /// The limited quantity at a place, measured as precisely as a tolerance asks, by everyone or the leader.
    pub measure: Measure,
    /// The limit.
    pub limit: f64,
    /// Maps a measured value to a number that is 1 at the limit, and roughly proportional to the reciprocal of the
    /// noise.
    pub share: Share,
    /// The tolerance at which an answer is final.
    pub fine: f64,
}

/// The tolerance of a measurement, by the distance from 0 of the logarithm of the share at the last place. If it is
/// nearer than all of these, the measurement is as precise as an answer needs.
const TOLERANCES: [(f64, f64); 2] = [(0.05, 1e-2), (1e-3, 1e-3)];

/// The most evaluations; by then secants have converged or the bracket has been halved away.
const MOST: usize = 80;

/// After this many evaluations the bracket is halved.
const MOST_SECANTS: usize = 12;

impl<Measure, Share, Failure> Search<Measure, Share>
where
    Measure: FnMut(f64, f64, Whom) -> Result<Enclosure, Failure>,
    Share: Fn(f64) -> f64,
{
    /// Starts at a guess.
    pub fn run(mut self, guess: f64) -> Result<Found, Failure> {
        let (start, end) = self.ends;
        let mut known = Known::default();
        let mut next = guess.clamp(start, end);
        let mut tolerance = TOLERANCES[0].1;
        let mut whom = Whom::Everyone;
        for _ in 0..MOST {
            let place = self.scale.place(self.scale.value(next)).clamp(start, end);
            let tried = Tried { place, measured: (self.measure)(place, tolerance, whom)? };
            let height = self.height(tried, tolerance);
            known.add(tried, height, self.limit, tolerance <= self.fine);
            if whom == Whom::Everyone && tolerance <= self.fine {
                known.asked_everyone_at = Some(place);
            }
            if let Some(found) = self.found(&known) {
                let missed = match found {
                    Found::Boundary(_) => known.missed,
                    Found::Nowhere(missed) => Some(missed),
                    Found::Everywhere(_) => None,
                };
                let Some(missed) = missed.filter(|tried| known.asked_everyone_at != Some(tried.place)) else {
                    return Ok(found);
                };
                let measured = (self.measure)(missed.place, self.fine, Whom::Everyone)?;
                if measured.upper() > self.limit {
                    return Ok(found);
                }
                // Another analysis is better here than the leader: the search goes on with it.
                let met = Tried { measured, ..missed };
                known = Known::default();
                known.add(met, self.height(met, self.fine), self.limit, true);
                if let Some(found) = self.found(&known) {
                    return Ok(found);
                }
                (whom, tolerance) = (Whom::Leader, self.fine);
                next = self.proposal(&known);
                continue;
            }
            // Where a rough measurement could not decide, a finer one may.
            let undecided = tried.measured.contains(self.limit);
            let rough = |&(distance, rough): &(f64, f64)| {
                height.abs() > distance && !(undecided && tolerance <= rough)
            };
            let next_tolerance = TOLERANCES.into_iter().find(rough).map_or(self.fine, |(_, rough)| rough);
            // Near the answer another analysis may be best than far from it.
            let arrived = tolerance == TOLERANCES[0].1 && next_tolerance < tolerance;
            whom = if arrived { Whom::Everyone } else { Whom::Leader };
            tolerance = tolerance.min(next_tolerance);
            next = self.proposal(&known);
        }
        let nothing = Tried { place: end, measured: Enclosure::INFINITE };
        Ok(known.met.map_or(Found::Nowhere(known.missed.unwrap_or(nothing)), Found::Boundary))
    }

    /// The logarithm of the share. At the end the upper end decides; before that, the search aims at the value itself.
    fn height(&self, tried: Tried, tolerance: f64) -> f64 {
        let finely = tolerance <= self.fine;
        let measured = if finely { tried.measured.upper() } else { likely(tried.measured) };
        libm::log((self.share)(measured).clamp(1e-30, 1e30))
    }

    /// Whether the search is over.
    fn found(&self, known: &Known) -> Option<Found> {
        let (start, end) = self.ends;
        match (known.met, known.missed) {
            (Some(met), None) if met.place <= start => Some(Found::Everywhere(met)),
            (None, Some(missed)) if missed.place >= end => Some(Found::Nowhere(missed)),
            (Some(met), Some(missed)) if self.scale.close(missed.place, met.place) => {
                Some(Found::Boundary(met))
            }
            _ => None,
        }
    }

    /// The next place to measure.
    fn proposal(&self, known: &Known) -> f64 {
        let estimate = known.secant();
        let (Some(met), Some(missed)) = (known.met, known.missed) else {
            return self.outside(known, estimate);
        };
        let middle = 0.5 * (missed.place + met.place);
        if known.tried.len() > MOST_SECANTS {
            return self.inside(missed.place, met.place, middle);
        }
        let inside = estimate.clamp(missed.place, met.place);
        // Moves the end of the bracket that is further from the estimate.
        let from_met = met.place - inside > inside - missed.place;
        let wanted = if self.scale.whole { inside } else { self.scale.beside(inside, from_met) };
        self.inside(missed.place, met.place, wanted)
    }

    /// If only one side is known, the search goes on a little further than the secant says.
    fn outside(&self, known: &Known, estimate: f64) -> f64 {
        let (start, end) = self.ends;
        if known.met.is_none() && known.missed.is_none() {
            return estimate.clamp(start, end);
        }
        let from = known.tried.last().map_or(start, |last| last.0);
        let ahead = estimate + 0.01 * (estimate - from);
        let at_least = self.scale.beside(from, known.met.is_none());
        let away = if known.met.is_none() { ahead.max(at_least) } else { ahead.min(at_least) };
        away.clamp(from - 6.0, from + 6.0).clamp(start, end)
    }

    /// The wanted place, or one next to the end of the bracket if it falls on that end.
    fn inside(&self, missed: f64, met: f64, wanted: f64) -> f64 {
        let place = self.scale.place(self.scale.value(wanted));
        if missed < place && place < met {
            return place;
        }
        let beside =
            if place >= met { self.scale.beside(met, false) } else { self.scale.beside(missed, true) };
        if missed < beside && beside < met { beside } else { 0.5 * (missed + met) }
    }
}

/// Where in an enclosure the value is likely to lie: upper ends are closer to it.
fn likely(measured: Enclosure) -> f64 {
    let (lower, upper) = (measured.lower(), measured.upper());
    if upper < f64::INFINITY { upper - 0.3 * (upper - lower) } else { upper }
}

/// What the search knows so far.
#[derive(Default)]
struct Known {
    met: Option<Tried>,
    missed: Option<Tried>,
    /// The last place about which everyone was asked.
    asked_everyone_at: Option<f64>,
    /// Every measured place with the logarithm of the share there.
    tried: Vec<(f64, f64)>,
}

impl Known {
    /// A measurement too rough to decide its side is used only for secants.
    fn add(&mut self, tried: Tried, height: f64, limit: f64, finely: bool) {
        if tried.measured.upper() <= limit {
            self.met = Some(tried);
            // The leader of then missed what another one meets.
            self.missed = self.missed.filter(|missed| missed.place < tried.place);
        } else if finely || tried.measured.lower() > limit {
            self.missed = Some(tried);
        }
        self.tried.push((tried.place, height));
    }

    /// Where the line through the last place and another that is not too close crosses 0. The slope is −1 if there is
    /// no such place, or if the line does not fall.
    fn secant(&self) -> f64 {
        let Some(&(b, at_b)) = self.tried.last() else {
            return 0.0;
        };
        let earlier = self.tried.iter().rev().find(|(a, _)| (a - b).abs() > 1e-3);
        let slope = earlier.map_or(-1.0, |(a, at_a)| (at_b - at_a) / (b - a));
        b - at_b / if slope < -1e-3 { slope } else { -1.0 }
    }
}
