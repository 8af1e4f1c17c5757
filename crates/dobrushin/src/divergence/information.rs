//! How much one coordinate of a finite joint law reveals about the other.

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
/// The errors of [`FiniteLaw::new`], and [`Error::LengthMismatch`] for ragged rows.
pub fn gamma_information(joint: &[Vec<f64>], gamma: Gamma) -> Result<Enclosure, Error> {
    Ok(gamma_information_of(&checked(joint)?, gamma))
}

/// The mutual information I(A; B) = KL(P_AB‖P_A×P_B) of a finite joint law, in nats, given as for
/// [`gamma_information`].
///
/// # Errors
/// The errors of [`gamma_information`].
///
/// ```
/// use dobrushin::divergence::mutual_information;
///
/// // A fair bit, known exactly, is ln 2 nats; two independent bits tell nothing of each other.
/// assert!((mutual_information(&[vec![0.5, 0.0], vec![0.0, 0.5]])?.upper() - 2_f64.ln()).abs() < 1e-12);
/// assert!(mutual_information(&[vec![0.25, 0.25], vec![0.25, 0.25]])?.contains(0.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn mutual_information(joint: &[Vec<f64>]) -> Result<Enclosure, Error> {
    Ok(mutual_information_of(&checked(joint)?))
}

/// [`gamma_information`] of probabilities that are known to sum to 1.
///
/// ```
/// use dobrushin::divergence::{gamma_information, gamma_information_of};
/// use dobrushin::{Enclosure, Gamma};
///
/// let (zero, half) = (Enclosure::ZERO, Enclosure::from(0.5));
/// let enclosed = gamma_information_of(&[vec![half, zero], vec![zero, half]], Gamma::ONE);
/// assert!(enclosed.intersect(gamma_information(&[vec![0.5, 0.0], vec![0.0, 0.5]], Gamma::ONE)?).is_some());
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn gamma_information_of(joint: &[Vec<Enclosure>], gamma: Gamma) -> Enclosure {
    // Σ(ab − γ·a·b)₊, and for γ < 1 the same minus 1 − γ, written as
    // γ·Σ(a·b − ab/γ)₊.
    let below = gamma.is_below_one();
    let terms = with_products(joint).map(|(joint, product)| {
        if joint == Enclosure::ZERO && !below {
            return Enclosure::ZERO;
        }
        let gap = if below { gamma.value() * product - joint } else { joint - gamma.value() * product };
        gap.positive_part()
    });
    terms.sum::<Enclosure>().min(Enclosure::ONE)
}

/// [`mutual_information`] of probabilities that are known to sum to 1.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::divergence::mutual_information_of;
///
/// let (zero, half) = (Enclosure::ZERO, Enclosure::from(0.5));
/// let bit = mutual_information_of(&[vec![half, zero], vec![zero, half]]);
/// assert!((bit.upper() - 2_f64.ln()).abs() < 1e-12);
/// ```
pub fn mutual_information_of(joint: &[Vec<Enclosure>]) -> Enclosure {
    let possible = with_products(joint).filter(|(joint, _)| *joint != Enclosure::ZERO);
    possible.map(|(joint, product)| joint * (joint / product).ln()).sum::<Enclosure>().positive_part()
}

/// Every joint probability with the product of its marginals.
fn with_products(joint: &[Vec<Enclosure>]) -> impl Iterator<Item = (Enclosure, Enclosure)> {
    let width = joint.first().map_or(0, Vec::len);
    let rows: Vec<Enclosure> = joint.iter().map(|row| row.iter().copied().sum()).collect();
    let columns: Vec<Enclosure> = (0..width).map(|c| joint.iter().map(|row| row[c]).sum()).collect();
    let cells = joint.iter().flatten().copied().enumerate();
    cells.map(move |(place, joint)| (joint, rows[place / width] * columns[place % width]))
}

/// The joint law, if the matrix is one.
fn checked(joint: &[Vec<f64>]) -> Result<Vec<Vec<Enclosure>>, Error> {
    let columns = joint.first().map_or(0, Vec::len);
    for (index, row) in joint.iter().enumerate() {
        if row.len() != columns {
            let (what, like) = (format!("row {}", index + 1), "row 1".to_owned());
            return Err(Error::LengthMismatch { what, found: row.len(), expected: columns, like });
        }
    }
    let law = FiniteLaw::new("the joint law", joint.concat())?;
    let cells: Vec<Enclosure> = law.enclosures().collect();
    Ok(cells.chunks(columns).map(<[Enclosure]>::to_vec).collect())
}
