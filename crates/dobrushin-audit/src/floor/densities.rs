//! The two laws of an instance, so that they can be drawn.

use dobrushin::numeric::elementary::powi;
use std::f64::consts::TAU;

/// The laws of one released number with D and with D′.
///
/// These are for pictures and words, to about ten digits; what is proved is in the profile.
pub trait Densities: Send + Sync {
    /// An interval that holds all but a negligible part of both.
    fn range(&self) -> (f64, f64);

    /// The densities with D and with D′.
    fn at(&self, x: f64) -> [f64; 2];

    /// Points that have a probability of their own: the point, and the probabilities with D and with D′.
    fn atoms(&self) -> Vec<(f64, [f64; 2])> {
        Vec::new()
    }
}

/// Two normal laws of variance 1, at a distance.
pub(super) struct Normal {
    pub distance: f64,
}

impl Densities for Normal {
    fn range(&self) -> (f64, f64) {
        (-8.0, self.distance + 8.0)
    }

    fn at(&self, x: f64) -> [f64; 2] {
        [bell(x - self.distance, 1.0), bell(x, 1.0)]
    }
}

/// The density of a centred normal law.
pub(super) fn bell(x: f64, width: f64) -> f64 {
    libm::exp(-powi(x / width, 2) / 2.0) / (width * TAU.sqrt())
}

/// A set of outcomes that tells the two data sets apart: where the density with one is more than e^ε times that with the
/// other.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Intervals of the released number.
    pub intervals: Vec<(f64, f64)>,
    /// Whether the record makes it likelier; otherwise it makes it less likely.
    pub with: bool,
    /// Its probability where it is likelier, and where it is less likely.
    pub probabilities: [f64; 2],
}

/// The cells of a picture.
const CELLS: usize = 4000;

impl dyn Densities + '_ {
    /// The event that tells most at an ε.
    pub fn event(&self, epsilon: f64) -> Event {
        let [with, without] = [true, false].map(|with| self.event_in(epsilon, with));
        let gain = |event: &Event| event.probabilities[0] - libm::exp(epsilon) * event.probabilities[1];
        // Where both tell the same, up to the cells of the picture, the one that speaks for the record is the plainer.
        if gain(&with) >= 0.999 * gain(&without) { with } else { without }
    }

    fn event_in(&self, epsilon: f64, with: bool) -> Event {
        let (from, to) = self.range();
        let (first, second) = if with { (0, 1) } else { (1, 0) };
        let tells = |p: &[f64; 2]| p[first] > libm::exp(epsilon) * p[second];
        let cell = (to - from) / CELLS as f64;
        let mut event = Event { intervals: Vec::new(), with, probabilities: [0.0; 2] };
        let mut open: Option<f64> = None;
        for index in 0..=CELLS {
            let left = from + cell * index as f64;
            let inside = index < CELLS && tells(&self.at(left + cell / 2.0));
            if inside {
                let p = self.at(left + cell / 2.0);
                event.probabilities[0] += p[first] * cell;
                event.probabilities[1] += p[second] * cell;
                open = open.or(Some(left));
            } else if let Some(start) = open.take() {
                event.intervals.push((start, left));
            }
        }
        for (x, p) in self.atoms() {
            if tells(&p) {
                event.probabilities[0] += p[first];
                event.probabilities[1] += p[second];
                if !event.intervals.iter().any(|(from, to)| (*from..=*to).contains(&x)) {
                    event.intervals.push((x, x));
                }
            }
        }
        event.intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
        event
    }
}
