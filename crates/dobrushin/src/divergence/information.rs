//! How much one coordinate of a finite joint law tells about the other.

use super::FiniteLaw;
use crate::{Enclosure, Error, Gamma};

/// The E_γ-information I_γ(A; B) = E_γ(P_AB‖P_A×P_B) of a finite joint law, given
/// as a matrix of probabilities (rows A, columns B) that sum to 1 (CED §III).
///
/// ```
/// use dobrushin::{Gamma, divergence::gamma_information};
/// // A fair bit, known exactly: half of the joint mass is where the product has none.
/// let joint = [vec![0.5, 0.0], vec![0.0, 0.5]];
/// assert_eq!(gamma_information(&joint, Gamma::ONE)?.upper(), 0.5);
/// # Ok::<(), dobrushin::Error>(())
/// ```
///
/// # Errors
/// As [`FiniteLaw::new`], and [`Error::LengthMismatch`] for ragged rows.
pub fn gamma_information(joint: &[Vec<f64>], gamma: Gamma) -> Result<Enclosure, Error> {
    let columns = joint.first().map_or(0, Vec::len);
    for (index, row) in joint.iter().enumerate() {
        if row.len() != columns {
            let (what, like) = (format!("row {}", index + 1), "row 1".to_owned());
            return Err(Error::LengthMismatch { what, found: row.len(), expected: columns, like });
        }
    }
    let law = FiniteLaw::new("the joint law", joint.concat())?;
    let cells: Vec<Enclosure> = law.enclosures().collect();
    let rows: Vec<Enclosure> = cells.chunks(columns).map(|row| row.iter().copied().sum()).collect();
    let column = |c: usize| cells.iter().skip(c).step_by(columns).copied().sum::<Enclosure>();
    let columns: Vec<Enclosure> = (0..columns).map(column).collect();
    // Σ(ab − γ·a·b)₊, and for γ < 1 the same minus 1 − γ, written as
    // γ·Σ(a·b − ab/γ)₊.
    let below = gamma.is_below_one();
    let terms = cells.chunks(columns.len()).zip(&rows).flat_map(|(row, &a)| {
        row.iter().zip(&columns).map(move |(&joint, &b)| {
            if joint == Enclosure::ZERO && !below {
                return Enclosure::ZERO;
            }
            let gap = if below { gamma.value() * a * b - joint } else { joint - gamma.value() * a * b };
            gap.positive_part()
        })
    });
    Ok(terms.sum::<Enclosure>().min(Enclosure::ONE))
}
