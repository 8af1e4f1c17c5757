//! Losses with finitely many values.

use crate::divergence::DiscretePair;
use crate::loss::{LossLaw, Masses, Split};
use crate::{Delta, Enclosure, Epsilon};

/// The loss of two laws on finitely many outcomes; some outcomes may be possible under only one of them.
///
/// ```
/// use dobrushin::loss::{FiniteLoss, LossLaw};
/// use dobrushin::{Enclosure, Epsilon};
/// // Randomised response with ε = ln 3 tells the truth 3 times in 4.
/// let law = FiniteLoss::randomised_response(Epsilon::new(3f64.ln())?);
/// let above = law.split(Enclosure::from(0.0)).above;
/// assert!((above.p.upper() - 0.75).abs() < 1e-15 && (above.q.upper() - 0.25).abs() < 1e-15);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FiniteLoss {
    /// The upper and lower bounds on each atom's loss, both in increasing order.
    most: Vec<f64>,
    least: Vec<f64>,
    /// The masses on the two sides of a threshold below the first atom, between the first and
    /// the second, …, above the last.
    gaps: Vec<Split>,
    lattice: Option<f64>,
}

/// One value of the loss and its probabilities.
struct Atom {
    loss: Enclosure,
    masses: Masses,
}

impl FiniteLoss {
    /// The loss of P against Q.
    pub fn from_pair(pair: &DiscretePair) -> Self {
        let outcomes = pair.p().enclosures().zip(pair.q().enclosures());
        let possible = outcomes.filter(|(p, q)| *p != Enclosure::ZERO || *q != Enclosure::ZERO);
        let mut atoms: Vec<Atom> = Vec::with_capacity(pair.p().len());
        for (p, q) in possible {
            let (loss, masses) = (loss_of(p, q), Masses { p, q });
            if loss.width() > 1e-3 && loss.lower() < 30.0 && loss.upper() > -30.0 {
                // One of the probabilities is below the normal numbers, so it has few digits, and the other is below
                // e^30 times it: they may count on both sides.
                let masses = masses.hull(Masses::NONE);
                atoms.extend([Enclosure::INFINITE, -Enclosure::INFINITE].map(|loss| Atom { loss, masses }));
            } else {
                atoms.push(Atom { loss, masses });
            }
        }
        Self::from_atoms(atoms, None)
    }

    /// Two equal laws.
    pub fn identical() -> Self {
        Self::from_atoms(vec![Atom { loss: Enclosure::ZERO, masses: Masses::ALL }], None)
    }

    /// Randomised response: the truth with probability e^ε/(1 + e^ε). It dominates every ε-DP mechanism (Kairouz, Oh,
    /// Viswanath 2015).
    pub fn randomised_response(epsilon: Epsilon) -> Self {
        Self::response(epsilon, 0)
    }

    /// Randomised response among k + 2 answers: the truth has e^ε times the probability of each other answer. For two
    /// truths, the losses are ±ε on their own answers, and 0 on the k others.
    pub fn response(epsilon: Epsilon, others: u32) -> Self {
        Self::symmetric(epsilon, others, Enclosure::ZERO)
    }

    /// The pair that dominates every (ε, δ)-DP mechanism: with probability δ the outcome reveals the law, otherwise it
    /// is a randomised response (Kairouz, Oh, Viswanath 2015).
    pub fn approximate(epsilon: Epsilon, delta: Delta) -> Self {
        Self::symmetric(epsilon, 0, Enclosure::from(delta))
    }

    /// With probability `told` the outcome reveals the law, otherwise it is a response among `others` + 2 answers.
    fn symmetric(epsilon: Epsilon, others: u32, told: Enclosure) -> Self {
        let loss = Enclosure::from(epsilon);
        // 1 : e^(−ε) : e^(−ε) for its own answer, the other law's and each of the rest.
        let (one, decay, rest) = (Enclosure::ONE, (-loss).exp(), Enclosure::from(f64::from(others)));
        let total = one + decay * (one + rest);
        let share = one - told;
        let (high, low) = (share / total, share * decay / total);
        let mut atoms = vec![
            Atom { loss: -Enclosure::INFINITE, masses: Masses { p: Enclosure::ZERO, q: told } },
            Atom { loss: -loss, masses: Masses { p: low, q: high } },
            Atom { loss: Enclosure::ZERO, masses: Masses { p: low * rest, q: low * rest } },
            Atom { loss, masses: Masses { p: high, q: low } },
            Atom { loss: Enclosure::INFINITE, masses: Masses { p: told, q: Enclosure::ZERO } },
        ];
        atoms.retain(|atom| atom.masses != Masses::NONE);
        let lattice = (0.0 < epsilon.get() && epsilon.get() < f64::INFINITY).then_some(epsilon.get());
        Self::from_atoms(atoms, lattice)
    }

    fn from_atoms(atoms: Vec<Atom>, lattice: Option<f64>) -> Self {
        Self::from_measures(atoms, lattice, 1.0)
    }

    /// Measures that weigh at most this much.
    fn from_measures(mut atoms: Vec<Atom>, lattice: Option<f64>, most: f64) -> Self {
        let most = Enclosure::from(most);
        atoms.sort_by(|a, b| a.loss.midpoint().total_cmp(&b.loss.midpoint()));
        let add = |sum: Masses, atom: &Atom| Masses { p: sum.p + atom.masses.p, q: sum.q + atom.masses.q };
        let unit = |sum: &Masses| Masses { p: sum.p.min(most), q: sum.q.min(most) };
        let sums = |atoms: &mut dyn Iterator<Item = &Atom>| {
            let mut sums = vec![Masses::NONE];
            sums.extend(atoms.scan(Masses::NONE, |sum, atom| {
                *sum = add(*sum, atom);
                Some(*sum)
            }));
            sums
        };
        let (below, above) = (sums(&mut atoms.iter()), sums(&mut atoms.iter().rev()));
        let gaps = below.iter().zip(above.iter().rev());
        let gaps = gaps.map(|(below, above)| Split { below: unit(below), above: unit(above) }).collect();
        Self::from_gaps(atoms.iter().map(|atom| atom.loss).collect(), gaps, lattice)
    }

    /// Outcomes with these losses and masses, which need not sum to 1, and `beyond` what only one of the laws can produce.
    pub(super) fn of_atoms(atoms: Vec<(Enclosure, Masses)>, beyond: Masses) -> Self {
        let Masses { p, q } = beyond;
        let told = [
            Atom { loss: -Enclosure::INFINITE, masses: Masses { p: Enclosure::ZERO, q } },
            Atom { loss: Enclosure::INFINITE, masses: Masses { p, q: Enclosure::ZERO } },
        ];
        let told = told.into_iter().filter(|atom| atom.masses != Masses::NONE);
        let atoms = atoms.into_iter().map(|(loss, masses)| Atom { loss, masses });
        Self::from_measures(atoms.chain(told).collect(), None, f64::INFINITY)
    }

    /// Atoms in increasing order, and the splits between them.
    pub(super) fn from_gaps(losses: Vec<Enclosure>, gaps: Vec<Split>, lattice: Option<f64>) -> Self {
        // Computed losses may overlap; sorting makes them no tighter than they are known.
        let mut most: Vec<f64> = losses.iter().map(|loss| loss.upper()).collect();
        let mut least: Vec<f64> = losses.iter().map(|loss| loss.lower()).collect();
        for i in 1..losses.len() {
            most[i] = most[i].max(most[i - 1]);
        }
        for i in (1..losses.len()).rev() {
            least[i - 1] = least[i - 1].min(least[i]);
        }
        Self { most, least, gaps, lattice }
    }
}

impl LossLaw for FiniteLoss {
    fn split(&self, loss: Enclosure) -> Split {
        // Atoms before the first index are certainly at most ℓ, and those from the last on are certainly above.
        let first = self.most.partition_point(|&most| most <= loss.lower());
        let last = self.least.partition_point(|&least| least <= loss.upper());
        if first == last { self.gaps[first] } else { self.gaps[first].hull(self.gaps[last]) }
    }

    fn lattice(&self) -> Option<f64> {
        self.lattice
    }
}

/// ln(p/q); ±∞ if only one of the laws can produce the outcome.
fn loss_of(p: Enclosure, q: Enclosure) -> Enclosure {
    if q == Enclosure::ZERO {
        return Enclosure::INFINITE;
    }
    if p == Enclosure::ZERO {
        return -Enclosure::INFINITE;
    }
    let ratio = p / q;
    if ratio.lower() > f64::MIN_POSITIVE && ratio.upper() < f64::MAX { ratio.ln() } else { p.ln() - q.ln() }
}
