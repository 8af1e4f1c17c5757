//! Where a finite kernel is private with δ = 0.

use super::finite::FiniteKernel;
use crate::Enclosure;

impl FiniteKernel {
    /// The smallest ε at which the kernel is ε-locally private with δ = 0: the
    /// largest ln(K(z|x)/K(z|y)).
    pub fn largest_log_ratio(&self) -> Enclosure {
        let ratio = self.largest_ratio();
        if ratio == Enclosure::INFINITE || ratio.upper() < f64::INFINITY {
            return ratio.ln();
        }
        // The ratio overflows, but its logarithm does not.
        let error = 3.0 * self.relative_error();
        let logs = self
            .column_extremes()
            .map(|(least, most)| Enclosure::from(most).ln() - Enclosure::from(least).ln());
        logs.fold(Enclosure::ZERO, Enclosure::max) + Enclosure::between(-error, error)
    }

    /// The largest K(z|x)/K(z|y): from this γ on, η_γ is 0. It is found in O(mk) as the largest over the smallest entry
    /// of a column.
    pub fn largest_ratio(&self) -> Enclosure {
        if (1..self.inputs()).all(|x| self.same_law(0, x)) {
            return Enclosure::ONE;
        }
        let ratios = self.column_extremes().map(|(least, most)| {
            if least == 0.0 {
                return Enclosure::INFINITE;
            }
            Enclosure::from(most) / Enclosure::from(least)
        });
        let stored = ratios.fold(Enclosure::ONE, Enclosure::max);
        if self.relative_error() == 0.0 || stored == Enclosure::INFINITE {
            return stored;
        }
        let error = 3.0 * self.relative_error();
        (stored * Enclosure::between(1.0 - error, 1.0 + error)).max(Enclosure::ONE)
    }

    /// The largest c with K(z|x) ≥ c·(K(z|y) + K(z|w))/2 for all z, all x and any two inputs y ≠ w.
    pub fn common_share(&self) -> Enclosure {
        let column = |z: usize| {
            let (mut least, mut most, mut second) = (f64::INFINITY, 0.0_f64, 0.0_f64);
            for p in (0..self.inputs()).map(|x| self.row(x)[z]) {
                least = least.min(p);
                second = second.max(most.min(p));
                most = most.max(p);
            }
            if most == 0.0 {
                return Enclosure::ONE;
            }
            Enclosure::from(2.0) * Enclosure::from(least) / (Enclosure::from(most) + Enclosure::from(second))
        };
        let error = 3.0 * self.relative_error();
        let stored = (0..self.outputs()).map(column).fold(Enclosure::ONE, Enclosure::min);
        (stored * Enclosure::between(1.0 - error, 1.0 + error)).min(Enclosure::ONE)
    }

    /// The smallest and the largest entry of each column that has a positive entry.
    fn column_extremes(&self) -> impl Iterator<Item = (f64, f64)> {
        let columns = self.outputs();
        let mut extremes = vec![(f64::INFINITY, 0.0_f64); columns];
        for x in 0..self.inputs() {
            for ((least, most), &p) in extremes.iter_mut().zip(self.row(x)) {
                *least = least.min(p);
                *most = most.max(p);
            }
        }
        extremes.into_iter().filter(|(_, most)| *most > 0.0)
    }
}
