//! The law of a sum of independent, non-negative amounts: by how much one record moves the released number.

use dobrushin::numeric::binomial;
use dobrushin::{Enclosure, numeric::UNIT_ROUNDOFF};

/// An amount that is added `count` times independently: that of one of the atoms, or else nothing.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub atoms: Vec<Atom>,
    pub count: u64,
}

/// An amount between two numbers, with its probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom {
    pub least: f64,
    pub most: f64,
    pub probability: f64,
}

impl Atom {
    pub fn new(amount: f64, probability: f64) -> Self {
        Self { least: amount, most: amount, probability }
    }
}

/// The law of a sum, rounded down and rounded up.
///
/// # Guarantee
/// There are a sum M, a variable L with the law `lower` and a variable U with the law `upper` such that L ≤ M ≤ U, up to
/// an event of probability `lost`; each probability is right to within a relative `error`.
#[derive(Clone, Debug)]
pub(super) struct SumLaw {
    /// (value, probability); what is missing to 1 may be anywhere above 0.
    pub lower: Vec<(f64, f64)>,
    pub upper: Vec<(f64, f64)>,
    pub lost: f64,
    pub error: f64,
}

/// Amounts and weights are computed in a few roundings; this covers them.
pub(super) const ROUNDING: f64 = 1e-12;
/// Probabilities below this are left out.
const NEGLIGIBLE: f64 = 1e-22;
/// A law has at most this many atoms.
const MOST_ATOMS: usize = 3000;
/// The largest amount is at least this many cells of the grid, unless the sum is too long for that.
const FINENESS: f64 = 64.0;
/// A grid has at most this many cells.
const MOST_CELLS: f64 = 6000.0;
/// The most products of cells and atoms that are computed.
const MOST_WORK: f64 = 4e7;

/// The law of the sum; `None` if that is too much work.
pub(super) fn sum_law(uses: &[Use]) -> Option<SumLaw> {
    let certain = |end: fn(&Atom) -> f64| -> f64 {
        uses.iter().filter(|of| of.is_certain()).map(|of| end(&of.atoms[0]) * of.count as f64).sum()
    };
    let (least, most) = (certain(|atom| atom.least), certain(|atom| atom.most));
    let random: Vec<&Use> = uses.iter().filter(|of| !of.is_certain() && !of.atoms.is_empty()).collect();
    let mut law = match random.first() {
        None => SumLaw { lower: vec![(0.0, 1.0)], upper: vec![(0.0, 1.0)], lost: 0.0, error: 0.0 },
        Some(first) => {
            let alike = random.len() == 1 && first.atoms.len() == 1;
            if alike { repeated(first.atoms[0], first.count)? } else { on_a_grid(&random)? }
        }
    };
    for (value, _) in &mut law.lower {
        *value = (*value + least) * (1.0 - ROUNDING);
    }
    for (value, _) in &mut law.upper {
        *value = (*value + most) * (1.0 + ROUNDING);
    }
    Some(law)
}

impl Use {
    fn is_certain(&self) -> bool {
        matches!(self.atoms[..], [atom] if atom.probability >= 1.0)
    }

    fn mean(&self) -> f64 {
        self.atoms.iter().map(|atom| atom.most * atom.probability).sum::<f64>() * self.count as f64
    }

    fn variance(&self) -> f64 {
        let squares = self.atoms.iter().map(|atom| atom.most * atom.most * atom.probability);
        squares.sum::<f64>() * self.count as f64
    }

    fn largest(&self) -> f64 {
        self.atoms.iter().map(|atom| atom.most).fold(0.0, f64::max)
    }
}

/// `count` coins, each worth an amount with its probability: the binomial law, from its largest mass on by the ratios of
/// neighbouring masses.
fn repeated(coin: Atom, count: u64) -> Option<SumLaw> {
    let probability = coin.probability;
    let p = Enclosure::from(probability);
    let other = Enclosure::ONE - p;
    let n = count as f64;
    let mode = (((n + 1.0) * probability).floor() as u64).min(count);
    let top = binomial::mass(count, mode, p, other);
    let odds = probability / other.midpoint();
    let enough = |mass: f64| mass > NEGLIGIBLE;
    let (mut below, mut above) = (Vec::new(), Vec::new());
    let mut mass = top.midpoint();
    let (mut k, mut limit) = (mode, 1 << 22);
    while k < count && enough(mass) && limit > 0 {
        mass *= (count - k) as f64 / (k + 1) as f64 * odds;
        k += 1;
        limit -= 1;
        above.push((k, mass));
    }
    (mass, k) = (top.midpoint(), mode);
    while k > 0 && enough(mass) && limit > 0 {
        mass *= k as f64 / ((count - k + 1) as f64 * odds);
        k -= 1;
        limit -= 1;
        below.push((k, mass));
    }
    if limit == 0 {
        return None;
    }
    let ratios = below.len().max(above.len()) as f64;
    let masses: Vec<(u64, f64)> =
        below.into_iter().rev().chain([(mode, top.midpoint())]).chain(above).collect();
    let error = top.relative_width() + 8.0 * UNIT_ROUNDOFF * (ratios + 4.0);
    let lost = lost_to(&masses, error, mode, count);
    // Several counts share an atom: the smallest of them for the law that is rounded down, the largest for the other.
    let group = masses.len().div_ceil(MOST_ATOMS);
    let grouped = |amount: f64, end: fn(&[(u64, f64)]) -> u64| {
        let of =
            |group: &[(u64, f64)]| (amount * end(group) as f64, group.iter().map(|(_, mass)| mass).sum());
        masses.chunks(group).map(of).collect()
    };
    let first = |group: &[(u64, f64)]| group.first().map_or(0, |(k, _)| *k);
    let last = |group: &[(u64, f64)]| group.last().map_or(0, |(k, _)| *k);
    Some(SumLaw { lower: grouped(coin.least, first), upper: grouped(coin.most, last), lost, error })
}

/// What the masses beyond the listed ones sum to: on each side they fall at least geometrically.
fn lost_to(masses: &[(u64, f64)], error: f64, mode: u64, count: u64) -> f64 {
    let side = |end: Option<&(u64, f64)>, next: Option<&(u64, f64)>| match (end, next) {
        (Some((k, last)), Some((_, before))) if *k != 0 && *k != count && *k != mode => {
            let ratio = last / before;
            if ratio < 1.0 { last * (1.0 + error) * ratio / (1.0 - ratio) } else { 1.0 }
        }
        _ => 0.0,
    };
    let n = masses.len();
    let up = side(masses.last(), n.checked_sub(2).and_then(|i| masses.get(i)));
    let down = side(masses.first(), masses.get(1));
    (up + down) * (1.0 + 1e-6)
}

/// A grid of equal cells, with the amounts of every use rounded down, and rounded up.
fn on_a_grid(uses: &[&Use]) -> Option<SumLaw> {
    let largest = uses.iter().map(|of| of.largest()).fold(0.0, f64::max);
    let most: f64 = uses.iter().map(|of| of.largest() * of.count as f64).sum();
    let (mean, variance) =
        uses.iter().fold((0.0, 0.0), |(mean, variance), of| (mean + of.mean(), variance + of.variance()));
    // Bernstein: beyond this, the sum lies with a probability of less than e^−50.
    let reach = (mean + 10.0 * variance.sqrt() + 34.0 * largest).min(most);
    if !(largest > 0.0 && reach.is_finite()) {
        return None;
    }
    let beyond = if reach < most { 2e-22 } else { 0.0 };
    let cell = (largest / FINENESS).max(reach / MOST_CELLS);
    let cells = (reach / cell).ceil() as usize + 2;
    let passes = |of: &Use| match of.count {
        1 => of.atoms.len() as f64,
        count => 2.0 * f64::from(count.ilog2() + 1) * cells as f64,
    };
    let operations: f64 = uses.iter().map(|of| passes(of)).sum();
    if operations * cells as f64 > MOST_WORK {
        return None;
    }
    let down = |atom: &Atom| ((atom.least / cell).floor() as usize, atom.probability);
    let up = |atom: &Atom| ((atom.most / cell).ceil() as usize, atom.probability);
    let [lower, upper] = [&down as &dyn Fn(&Atom) -> (usize, f64), &up].map(|rounded| {
        let mut law = vec![1.0];
        for of in uses {
            let jumps: Vec<(usize, f64)> = of.atoms.iter().map(rounded).collect();
            law = add(law, &jumps, of.count, cells);
        }
        law.iter().enumerate().map(|(k, mass)| (k as f64 * cell, *mass)).collect::<Vec<_>>()
    });
    let steps: f64 =
        uses.iter().map(|of| f64::from(of.count.ilog2()) * 2.0 + 3.0 + of.atoms.len() as f64).sum();
    let error = 8.0 * UNIT_ROUNDOFF * (steps + cells as f64);
    let visible = |law: Vec<(f64, f64)>| law.into_iter().filter(|(_, mass)| *mass > NEGLIGIBLE).collect();
    let lost = beyond + NEGLIGIBLE * cells as f64;
    Some(SumLaw { lower: visible(lower), upper: visible(upper), lost, error })
}

/// The law plus `count` independent jumps. What goes beyond the last cell stays in it.
fn add(law: Vec<f64>, jumps: &[(usize, f64)], count: u64, cells: usize) -> Vec<f64> {
    let stay = (1.0 - jumps.iter().map(|(_, p)| p).sum::<f64>()).max(0.0);
    if count == 1 {
        let far = jumps.iter().map(|(jump, _)| *jump).max().unwrap_or(0);
        let mut next = vec![0.0; (law.len() + far).min(cells)];
        let last = next.len() - 1;
        for (k, mass) in law.into_iter().enumerate() {
            next[k] += stay * mass;
            for (jump, p) in jumps {
                next[(k + jump).min(last)] += p * mass;
            }
        }
        return next;
    }
    let mut one = vec![0.0; jumps.iter().map(|(jump, _)| *jump).max().unwrap_or(0).min(cells - 1) + 1];
    one[0] = stay;
    for (jump, p) in jumps {
        let last = one.len() - 1;
        one[(*jump).min(last)] += p;
    }
    let (mut total, mut power, mut left) = (law, one, count);
    while left > 0 {
        if left % 2 == 1 {
            total = convolved(&total, &power, cells);
        }
        left /= 2;
        if left > 0 {
            power = convolved(&power, &power, cells);
        }
    }
    total
}

fn convolved(a: &[f64], b: &[f64], cells: usize) -> Vec<f64> {
    let mut sum = vec![0.0; (a.len() + b.len() - 1).min(cells)];
    let last = sum.len() - 1;
    for (i, x) in a.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        for (j, y) in b.iter().enumerate() {
            sum[(i + j).min(last)] += x * y;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(law: &[(f64, f64)], at: f64) -> f64 {
        law.iter().filter(|(value, _)| *value <= at).map(|(_, mass)| mass).sum()
    }

    #[test]
    fn a_sum_of_coins_is_binomial_on_a_grid_too() {
        let exact = repeated(Atom::new(1.0, 0.3), 40).expect("small");
        let all: f64 = exact.lower.iter().map(|(_, mass)| mass).sum();
        assert!((all - 1.0).abs() < 1e-13 && exact.error < 1e-11);
        // The same coins, as two uses of different worth: 0.7 and 0.3, so that 1 is not a whole number of cells.
        let coin = |amount: f64| Use { atoms: vec![Atom::new(amount, 0.3)], count: 10 };
        let law = on_a_grid(&[&coin(0.7), &coin(0.3)]).expect("small");
        // The law that is rounded down is below that which is rounded up, and both have the right mean to a cell a use.
        let mean = |law: &[(f64, f64)]| law.iter().map(|(value, mass)| value * mass).sum::<f64>();
        let truth = 10.0 * 0.3;
        assert!(mean(&law.lower) <= truth && truth <= mean(&law.upper));
        assert!(mean(&law.upper) - mean(&law.lower) <= 6.0 * 0.7 / FINENESS * 1.01);
        for k in 0..100 {
            let at = 0.2 * f64::from(k) + 1e-9;
            assert!(distribution(&law.lower, at) >= distribution(&law.upper, at) - 1e-12);
        }
    }

    #[test]
    fn a_long_sum_is_grouped_on_both_sides() {
        let law = repeated(Atom::new(0.5, 0.25), 40_000_000).expect("the window is narrow");
        assert!(law.lower.len() <= MOST_ATOMS && law.lost < 1e-15);
        let all: f64 = law.lower.iter().map(|(_, mass)| mass).sum();
        assert!((all - 1.0).abs() < law.error + 1e-12);
        let mean = |law: &[(f64, f64)]| law.iter().map(|(value, mass)| value * mass).sum::<f64>();
        assert!(mean(&law.lower) < 5e6 && 5e6 < mean(&law.upper));
    }

    #[test]
    fn certain_uses_are_added_exactly() {
        let law = sum_law(&[Use { atoms: vec![Atom::new(0.25, 1.0)], count: 8 }]).expect("certain");
        assert!((law.lower[0].0 - 2.0).abs() < 1e-11 && law.lower[0].1 == 1.0 && law.lost == 0.0);
    }
}
