//! A kernel with finitely many inputs and outputs: a row-stochastic matrix.

use super::Kernel;
use crate::divergence::{DiscretePair, FiniteLaw, enclose};
use crate::{Enclosure, Error, Gamma};

/// A channel: row x is the law of the output at input x.
///
/// Cost, with m inputs and k outputs: one contraction coefficient takes O(m²k)
/// operations, the whole curve O(m²k·log k), and both O(mk) memory; if 2^k is much
/// less than m, O(m·k·2^k) operations. All cores are used.
///
/// ```
/// use dobrushin::kernel::{FiniteKernel, Kernel};
/// use dobrushin::Gamma;
/// // Randomised response that tells the truth 3 times in 4 is ln 3-LDP.
/// let response = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
/// assert_eq!(response.total_variation().upper(), 0.5);
/// assert_eq!(response.contraction(Gamma::new(3.0)?).upper(), 0.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteKernel {
    outputs: usize,
    /// The entries, row by row; each row is a [`FiniteLaw`].
    entries: Vec<f64>,
    /// A bound on the relative error of every entry; 0 if the entries are exact.
    relative_error: f64,
    /// Whether rows with equal entries are equal laws, as those of
    /// [`FiniteLaw`]s are. Products of kernels may round to equal rows.
    equal_rows_are_equal_laws: bool,
}

/// Beyond this, errors are not bounded by their sum, and coefficients of the product are not informative.
const MOST_ERROR: f64 = 1e-7;

/// Products of probabilities below this may have lost relative accuracy.
const LEAST_PRODUCT: f64 = 1e-290;

impl FiniteKernel {
    /// A kernel from its rows.
    ///
    /// # Errors
    /// [`Error::Empty`] without rows or columns, [`Error::OneInput`] for a single
    /// row, [`Error::LengthMismatch`] for ragged rows, and
    /// [`Error::NotAProbability`] or [`Error::SumNotOne`] naming the row that fails
    /// (counted from 1) and by how much.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        Self::from_rows(rows, FiniteLaw::new)
    }

    /// A kernel whose rows are divided by their sums, whatever those are.
    ///
    /// # Errors
    /// The errors of [`FiniteKernel::new`], except that any sum is accepted.
    pub fn proportional_to(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        Self::from_rows(rows, FiniteLaw::proportional_to)
    }

    fn from_rows(
        rows: Vec<Vec<f64>>,
        law: impl Fn(&str, Vec<f64>) -> Result<FiniteLaw, Error>,
    ) -> Result<Self, Error> {
        let outputs = rows.first().map_or(0, Vec::len);
        if rows.is_empty() {
            return Err(Error::Empty { what: "the kernel".to_owned(), missing: "row" });
        }
        let mut entries = Vec::with_capacity(rows.len() * outputs);
        let mut relative_error: f64 = 0.0;
        for (index, row) in rows.into_iter().enumerate() {
            let what = format!("row {}", index + 1);
            if row.len() != outputs {
                let like = "row 1".to_owned();
                return Err(Error::LengthMismatch { what, found: row.len(), expected: outputs, like });
            }
            let law = law(&what, row)?;
            relative_error = relative_error.max(law.relative_error());
            entries.extend_from_slice(law.probabilities());
        }
        if entries.len() == outputs {
            return Err(Error::OneInput);
        }
        Ok(Self { outputs, entries, relative_error, equal_rows_are_equal_laws: true })
    }

    /// The kernel with the laws P and Q at its two inputs.
    pub(super) fn of_laws(pair: &DiscretePair) -> Self {
        let (p, q) = (pair.p(), pair.q());
        Self {
            outputs: p.len(),
            entries: [p.probabilities(), q.probabilities()].concat(),
            relative_error: p.relative_error().max(q.relative_error()),
            equal_rows_are_equal_laws: true,
        }
    }

    /// The number of inputs (rows).
    pub fn inputs(&self) -> usize {
        self.entries.len() / self.outputs
    }

    /// The number of outputs (columns).
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The law of the output at input `x`, as stored.
    pub(super) fn row(&self, x: usize) -> &[f64] {
        &self.entries[x * self.outputs..][..self.outputs]
    }

    /// K(y|x) for one row, the input `x` counted from 0.
    ///
    /// ```
    /// use dobrushin::kernel::FiniteKernel;
    ///
    /// let response = FiniteKernel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
    /// assert!(response.row_enclosures(1).next().is_some_and(|lie| lie.contains(0.25)));
    /// # Ok::<(), dobrushin::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such input.
    pub fn row_enclosures(&self, x: usize) -> impl Iterator<Item = Enclosure> + '_ {
        let error = self.relative_error;
        self.row(x).iter().map(move |&p| enclose(p, error))
    }

    /// A bound on the relative error of every entry.
    pub(super) fn relative_error(&self) -> f64 {
        self.relative_error
    }

    /// Whether the laws at two inputs are certainly equal.
    pub(super) fn same_law(&self, x: usize, y: usize) -> bool {
        self.equal_rows_are_equal_laws && self.row(x) == self.row(y)
    }

    /// The kernel that applies `self` and then `next`.
    ///
    /// # Errors
    /// [`Error::CannotCompose`] if the inputs of `next` are not the outputs of `self`; [`Error::OutOfRange`] if
    /// probabilities are so small that their products underflow, or if the product has so many factors that rounding
    /// exceeds 1e-7 of its entries.
    pub fn then(&self, next: &Self) -> Result<Self, Error> {
        if self.outputs != next.inputs() {
            return Err(Error::CannotCompose { outputs: self.outputs, inputs: next.inputs() });
        }
        let mut entries = vec![0.0; self.inputs() * next.outputs];
        for (x, law) in entries.chunks_mut(next.outputs).enumerate() {
            for (y, &weight) in self.row(x).iter().enumerate() {
                for (total, &p) in law.iter_mut().zip(next.row(y)) {
                    *total += product(weight, p)?;
                }
            }
        }
        // One unit for each product and addition of positive numbers.
        let rounding = (self.outputs as f64 + 2.0) * f64::EPSILON;
        self.combined(next, next.outputs, entries, rounding)
    }

    /// The kernel that applies `self` and `other` independently to a pair of
    /// inputs: inputs and outputs are pairs in lexicographic order.
    ///
    /// # Errors
    /// The errors of [`FiniteKernel::then`], except that any two kernels fit side by side.
    pub fn beside(&self, other: &Self) -> Result<Self, Error> {
        let rows = (0..self.inputs()).flat_map(|x| (0..other.inputs()).map(move |z| (x, z)));
        let cells = rows.flat_map(|(x, z)| {
            self.row(x).iter().flat_map(move |&p| other.row(z).iter().map(move |&q| (p, q)))
        });
        let entries = cells.map(|(p, q)| product(p, q)).collect::<Result<_, _>>()?;
        self.combined(other, self.outputs * other.outputs, entries, f64::EPSILON)
    }

    fn combined(
        &self,
        other: &Self,
        outputs: usize,
        entries: Vec<f64>,
        rounding: f64,
    ) -> Result<Self, Error> {
        // (1 + e₁)(1 + e₂)(1 + r) − 1, relative to either side: with each at most
        // MOST_ERROR the products are below 1e-6 of the sum.
        let relative_error = (self.relative_error + other.relative_error + rounding) * (1.0 + 1e-6);
        if relative_error > MOST_ERROR {
            let name = "the relative error of a product of kernels";
            return Err(Error::OutOfRange { name, value: relative_error, accepted: "at most 1e-7" });
        }
        Ok(Self { outputs, entries, relative_error, equal_rows_are_equal_laws: false })
    }
}

/// p·q, which must not underflow.
fn product(p: f64, q: f64) -> Result<f64, Error> {
    let value = p * q;
    if value < LEAST_PRODUCT && p > 0.0 && q > 0.0 {
        return Err(Error::OutOfRange {
            name: "a product of two probabilities",
            value,
            accepted: "0 or at least 1e-290",
        });
    }
    Ok(value)
}

impl Kernel for FiniteKernel {
    fn contraction(&self, gamma: Gamma) -> Enclosure {
        self.contraction_with_pair(gamma).value
    }
}
