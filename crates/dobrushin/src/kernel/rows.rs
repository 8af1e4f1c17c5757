//! Which rows of a finite kernel matter.

use super::finite::FiniteKernel;
use crate::numeric::UNIT_ROUNDOFF;
use rayon::prelude::*;

impl FiniteKernel {
    /// The rows in order, keeping only the first of those that are certainly the same law; at least two.
    pub(super) fn different_rows(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.inputs()).collect();
        let order = |x: usize, y: usize| {
            let differing = self.row(x).iter().zip(self.row(y)).map(|(p, q)| p.total_cmp(q));
            differing.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        rows.par_sort_by(|&x, &y| order(x, y).then(x.cmp(&y)));
        rows.dedup_by(|next, kept| self.same_law(*kept, *next));
        rows.sort_unstable();
        if rows.len() == 1 { vec![0, 1] } else { rows }
    }

    /// Rows that include two that attain η_γ, for every γ ≥ 1.
    ///
    /// # Guarantee
    /// E_γ(K(x)‖K(y)) = max_A K(A|x) − γ·K(A|y) over the sets A of outputs, so only rows with the largest or the
    /// smallest K(A|·) for some A matter. These are kept, along with all rows that rounding cannot distinguish from
    /// them. With two outputs every other row is a mixture of two that are kept, so it does not matter for any
    /// f-divergence.
    ///
    /// The sets are used if there are far fewer of them than rows; otherwise all different rows are kept.
    pub(super) fn outer_rows(&self) -> Vec<usize> {
        let rows = self.different_rows();
        let sets = u32::try_from(self.outputs() - 1).ok().and_then(|others| 1_usize.checked_shl(others));
        let Some(sets) = sets.filter(|sets| (2..=rows.len() / 8).contains(sets)) else {
            return rows;
        };
        // A set and its complement represent each other, so the last output may be in the complement.
        let kept = (1..sets).into_par_iter().map(|set| self.extreme_rows(&rows, set));
        let none = || vec![false; rows.len()];
        let kept = kept.reduce(none, |a, b| a.iter().zip(b).map(|(a, b)| a | b).collect());
        rows.into_iter().zip(kept).filter_map(|(row, kept)| kept.then_some(row)).collect()
    }

    /// Whether a row may have the largest or the smallest probability of a set of outputs: neither its probability of
    /// the set nor that of the complement, both relatively accurate, excludes it.
    fn extreme_rows(&self, rows: &[usize], set: usize) -> Vec<bool> {
        let sum = |row: usize, inside: bool| {
            let outputs = self.row(row).iter().enumerate();
            let chosen = outputs.filter(|(output, _)| (set >> output & 1 == 1) == inside);
            chosen.map(|(_, p)| p).sum::<f64>()
        };
        // Sums have an error of one unit for each term, the entries their own error, and the comparison two units.
        let error = (self.outputs() as f64 + 4.0) * UNIT_ROUNDOFF + 1.1 * self.relative_error();
        let margin = 1.0 + 2.1 * error;
        let [within, without] = [true, false].map(|inside| {
            let sums: Vec<f64> = rows.iter().map(|&row| sum(row, inside)).collect();
            let most = sums.iter().copied().fold(0.0, f64::max);
            let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
            sums.into_iter().map(move |sum| (sum * margin >= most, sum <= least * margin))
        });
        let both = within.zip(without);
        both.map(|((most, least), (most_outside, least_outside))| most & least_outside | least & most_outside)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    #[test]
    fn few_of_thousands_of_rows_are_compared() {
        let mut random = Random::new(1);
        for outputs in 2..=4_usize {
            let rows = (0..20_000).map(|_| (0..outputs).map(|_| random.between(0.01, 1.0)).collect());
            let kernel = FiniteKernel::proportional_to(rows.collect()).expect("valid");
            // Two rows for each set of outputs and its complement.
            assert!(kernel.outer_rows().len() <= (1 << outputs) - 2, "{outputs} outputs");
        }
        let one_of_two = (0..20_000).map(|x| if x % 3 == 0 { vec![0.25, 0.75] } else { vec![0.5, 0.5] });
        let kernel = FiniteKernel::new(one_of_two.collect()).expect("valid");
        assert_eq!(kernel.outer_rows(), [0, 1]);
    }

    #[test]
    fn rows_that_rounding_cannot_tell_apart_are_kept() {
        let rows = [vec![0.3, 0.7], vec![0.1 + 0.2, 1.0 - (0.1 + 0.2)], vec![0.6, 0.4]];
        let many = rows.iter().cycle().take(30).cloned();
        let kernel = FiniteKernel::proportional_to(many.collect()).expect("valid");
        assert_eq!(kernel.outer_rows(), [0, 1, 2]);
        // Tiny probabilities are compared relatively.
        let row = |p: f64| vec![1.0, p];
        let tiny = (1..=100).map(|k| row(f64::from(k) * 1e-18));
        let kernel = FiniteKernel::proportional_to(tiny.collect()).expect("valid");
        assert_eq!(kernel.outer_rows(), [0, 99]);
    }
}
