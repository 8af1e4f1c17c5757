//! The Rényi divergences of a run, by every analysis that bounds them.

use super::analyses::{Analysed, Options, analyses};
use crate::profile::{Direction, RenyiCurve};
use crate::run::{Assumption, Run};
use crate::{Enclosure, Error, Probability, RenyiOrder};

/// What the analyses say about the Rényi divergence of one order.
///
/// ```
/// use dobrushin::{Options, RenyiOrder, Run};
///
/// // Four steps on all records, neighbours 2/5 of the noise apart: D_2 = 4·(2/2)·(2/5)².
/// let run = Run::gradient_descent(100).steps(4).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let found = run.renyi(&[RenyiOrder::new(2.0)?], &Options::default())?;
/// let best = found[0].guarantee().ok_or("every step is Gaussian")?;
/// assert!((best.value.upper() - 0.64).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenyiAccount {
    /// α.
    pub order: RenyiOrder,
    /// One entry for each analysis that bounds Rényi divergences, in a fixed order.
    pub entries: Vec<RenyiEntry>,
}

/// What one analysis says about a Rényi divergence.
///
/// ```
/// use dobrushin::{Options, RenyiOrder, Run};
///
/// let run = Run::gradient_descent(100).steps(4).clip_norm(1.0).noise_multiplier(5.0).build()?;
/// let found = run.renyi(&[RenyiOrder::new(8.0)?], &Options::default())?;
/// // The central limit theorem is an approximation, and never the guarantee.
/// assert!(found[0].entries.iter().all(|entry| entry.rigorous == (entry.id != "composition-gdp")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenyiEntry {
    /// The analysis.
    pub id: &'static str,
    /// Whether the upper end is a guarantee.
    pub rigorous: bool,
    /// D_α, the larger of the two directions.
    pub value: Enclosure,
    /// What must hold for it.
    pub assumptions: Vec<Assumption>,
}

impl RenyiAccount {
    /// The entry with the smallest upper end.
    ///
    /// # Guarantee
    /// Under its assumptions, D_α of what is released for two neighbours is at most the upper end, in both directions.
    pub fn guarantee(&self) -> Option<&RenyiEntry> {
        let rigorous = self.entries.iter().filter(|entry| entry.rigorous);
        rigorous.min_by(|a, b| a.value.upper().total_cmp(&b.value.upper()))
    }
}

impl Run {
    /// What every analysis that bounds Rényi divergences says of these orders. Only bounds that a theorem proves in
    /// terms of Rényi divergences, or of μ-Gaussian privacy, for which D_α ≤ αμ²/2, are asked.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an order that is not above 1; ∞ is allowed.
    pub fn renyi(&self, orders: &[RenyiOrder], options: &Options) -> Result<Vec<RenyiAccount>, Error> {
        if let Some(order) = orders.iter().find(|order| order.get() <= 1.0) {
            let (value, accepted) = (order.get(), "above 1");
            return Err(Error::OutOfRange { name: "order", value, accepted });
        }
        // What holds except with some probability bounds no Rényi divergence.
        let options = Options { exception: Probability::ZERO, ..options.clone() };
        let analysed = analyses(self, &options);
        let entry = |analysed: &Analysed, order: RenyiOrder| {
            Some(RenyiEntry {
                id: analysed.id,
                rigorous: analysed.rigorous,
                value: divergence(analysed.renyi.as_ref()?, order),
                assumptions: analysed.assumptions.clone(),
            })
        };
        let account = |&order: &RenyiOrder| RenyiAccount {
            order,
            entries: analysed.iter().filter_map(|analysed| entry(analysed, order)).collect(),
        };
        Ok(orders.iter().map(account).collect())
    }
}

/// D_α, the larger of the two directions.
fn divergence(curve: &dyn RenyiCurve, order: RenyiOrder) -> Enclosure {
    let of = |direction: Direction| match order.get() {
        f64::INFINITY => curve.largest_loss(direction),
        alpha => {
            let below = Enclosure::from(order) - Enclosure::ONE;
            curve.log_moment(direction, alpha).positive_part() / below
        }
    };
    let forward = of(Direction::Forward);
    if curve.forward_is_larger() { forward } else { forward.max(of(Direction::Reverse)) }
}
