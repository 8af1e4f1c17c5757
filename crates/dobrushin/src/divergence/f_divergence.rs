//! Any f-divergence from the hockey-stick curve.
//!
//! With f̃(t) = t·f(1/t),
//!
//! ```text
//! D_f(P‖Q) = ∫₁^∞ [ f″(γ)·E_γ(P‖Q) + f̃″(γ)·E_γ(Q‖P) ] dγ             (CED eq. 17)
//! ```
//!
//! since f̃″(γ) = γ⁻³f″(1/γ). The integrands are f″ times a convex decreasing
//! curve G. A piecewise linear curve is integrated exactly by parts, without f″:
//! with f̄(t) = f(t) − f′(1)(t − 1) and slopes −s_i,
//!
//! ```text
//! ∫₁^Γ f″G = Σ s_i·[f̄(γ_{i+1}) − f̄(γ_i)] + f̄′(Γ)·G(Γ).
//! ```
//!
//! So chords through enclosures of G at a grid give an upper bound, and the lines through neighbouring chords, which a
//! convex curve never crosses, give a lower one. The grid is refined until they agree.

use super::{Conjugate, Generator, Pair};
use crate::numeric::Boundary;
use crate::{Enclosure, Gamma};

/// The grid is refined until the relative width is below this …
const TOLERANCE: f64 = 1e-9;
/// … or it has this many points.
const MOST_POINTS: usize = 1 << 16;
/// The grid ends where the moment of the rest is below this.
const NEGLIGIBLE: f64 = 1e-12;
/// The grid ends at this ε at the latest.
const LARGEST: f64 = 600.0;
/// So far beyond the last knot of a curve, rounding does not hide that it is constant.
const MARGIN: f64 = 1e-6;

/// D_f(P‖Q) of any pair by the integral representation, to about 1e-7 relative
/// where it is of the order of 1, and to about 1e-10 where it is small.
///
/// ```
/// use dobrushin::divergence::{ChiSquared, GaussianPair, Pair, f_divergence};
/// let pair = GaussianPair::new(1.0, 1.0)?;
/// let by_integral = f_divergence(&pair, &ChiSquared);
/// assert!(by_integral.contains(pair.chi_squared().midpoint()));
/// assert!(by_integral.relative_width() < 1e-7);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn f_divergence(pair: &(impl Pair + ?Sized), f: &(impl Generator + ?Sized)) -> Enclosure {
    integral(pair, f, None)
}

/// What a kernel leaves of E_γ.
pub(crate) struct Left<'a> {
    /// From γ ≥ 1 and E_γ before the kernel, a bound on E_γ after it. Along E_γ of any pair it is convex and decreasing
    /// in γ, and at most E_γ.
    pub of: &'a dyn Fn(Gamma, Enclosure) -> Enclosure,
    /// An ε beyond which a constant E_γ leaves a constant, if any.
    pub last_epsilon: Option<f64>,
}

/// ∫₁^∞ [ f″(γ)·G_γ(P‖Q) + f̃″(γ)·G_γ(Q‖P) ] dγ, where G_γ is what is left of E_γ; without a kernel, G = E.
pub(crate) fn integral(
    pair: &(impl Pair + ?Sized),
    f: &(impl Generator + ?Sized),
    left: Option<&Left>,
) -> Enclosure {
    let after = |gamma: Gamma, e: Enclosure| left.map_or(e, |left| (left.of)(gamma, e));
    let forward = |gamma: Gamma| after(gamma, pair.hockey_stick(gamma));
    let backward = |gamma: Gamma| after(gamma, pair.hockey_stick_reversed(gamma));
    let constant_from = match (pair.last_epsilon(), left) {
        (Some(last), Some(left)) => left.last_epsilon.map(|also| last.max(also)),
        (last, _) => last,
    };
    half_integral(pair, f, &forward, constant_from)
        + half_integral(pair, &Conjugate(f), &backward, constant_from)
}

/// ∫₁^∞ f″·G for a convex decreasing curve G that is at most E_γ of the pair, and constant beyond the given ε, if any.
fn half_integral(
    pair: &(impl Pair + ?Sized),
    f: &(impl Generator + ?Sized),
    curve: &dyn Fn(Gamma) -> Enclosure,
    constant_from: Option<f64>,
) -> Enclosure {
    let at = |g: f64| Gamma::new(g).map_or(Enclosure::UNIT, |g| curve(g).positive_part().min(Enclosure::ONE));
    let mut end = last_epsilon(pair, f);
    // What only one law can produce counts beyond the last knot of E_γ, until what is left of it is constant too.
    if let Some(last) = constant_from.filter(|last| *last > end && at(libm::exp(end)).upper() > 0.0) {
        end = (last + MARGIN).min(LARGEST);
    }
    let mut points = 1 << 10;
    loop {
        let gammas = grid(end, points, &pair.knots());
        let values: Vec<Enclosure> = gammas.iter().map(|&g| at(g)).collect();
        let upper = by_parts(f, &chords(&gammas, &values)) + most_of_rest(pair, f, &gammas, &values);
        let lower =
            by_parts(f, &supports(&gammas, &values)) + least_of_rest(f, &gammas, &values, constant_from);
        let (lower, upper) = (lower.lower().max(0.0), upper.upper());
        let found = Enclosure::between(lower.min(upper), upper);
        if found.relative_width() <= TOLERANCE || points >= MOST_POINTS || found.upper() == f64::INFINITY {
            return found;
        }
        points *= 2;
    }
}

/// Where the grid may end.
fn last_epsilon(pair: &(impl Pair + ?Sized), f: &(impl Generator + ?Sized)) -> f64 {
    if let Some(last) = pair.last_epsilon() {
        return (last * (1.0 + 1e-12) + 1e-15).min(LARGEST);
    }
    let growth = f.growth();
    let moment = |epsilon: f64| growth.coefficient * pair.tail_moment(epsilon, growth.power);
    let matters = |epsilon: f64| moment(epsilon) > NEGLIGIBLE * moment(0.0).min(1.0);
    Boundary { holds: 0.0, fails: LARGEST }.halved(40, matters).fails
}

/// γ from 1 to e^end, evenly in ε, with the knots inside.
fn grid(end: f64, points: usize, knots: &[f64]) -> Vec<f64> {
    let even = (0..=points).map(|i| libm::exp(end * i as f64 / points as f64));
    let last = libm::exp(end);
    let mut gammas: Vec<f64> = even.chain(knots.iter().copied().filter(|&g| g < last)).collect();
    gammas.sort_by(f64::total_cmp);
    gammas.dedup();
    gammas
}

/// The curve through the upper ends: by convexity above G.
fn chords(gammas: &[f64], values: &[Enclosure]) -> Vec<(f64, f64)> {
    gammas.iter().zip(values).map(|(&g, v)| (g, v.upper())).collect()
}

/// A piecewise linear curve below G: on each segment the lines through the
/// chords of its neighbours, joined where they meet. G is decreasing, so the last
/// segment has the constant line through its end; the first has only its right
/// neighbour.
fn supports(gammas: &[f64], values: &[Enclosure]) -> Vec<(f64, f64)> {
    let slope = |from: usize, to: usize| {
        (values[to] - values[from]) / (Enclosure::from(gammas[to]) - Enclosure::from(gammas[from]))
    };
    let last = gammas.len() - 1;
    let mut points = Vec::with_capacity(2 * gammas.len());
    for i in 0..last {
        let width = gammas[i + 1] - gammas[i];
        let (left, right) = (values[i].lower(), values[i + 1].lower());
        let after = if i + 2 <= last { slope(i + 1, i + 2).upper().min(0.0) } else { 0.0 };
        let from_right = |at: f64| {
            let back = Enclosure::from(gammas[i + 1]) - Enclosure::from(at);
            Enclosure::from(right) - Enclosure::from(after) * back
        };
        if i > 0 {
            let before = slope(i - 1, i).lower();
            let from_left = |at: f64| {
                let on = Enclosure::from(at) - Enclosure::from(gammas[i]);
                Enclosure::from(left) + Enclosure::from(before) * on
            };
            // left + before·x = right − after·(width − x), or, if rounding hides the bend, as close to it as the
            // segment allows.
            let meet = gammas[i] + (right - after * width - left) / (before - after);
            let at = meet.max(gammas[i].next_up()).min(gammas[i + 1].next_down());
            if at > gammas[i] && at < gammas[i + 1] {
                points.push((gammas[i], left));
                points.push((at, from_left(at).min(from_right(at)).lower()));
                continue;
            }
        }
        // The line of the right neighbour alone. If it starts below where the last
        // segment ended, by_parts leaves out what the step down adds.
        points.push((gammas[i], left));
        points.push((gammas[i], from_right(gammas[i]).lower().min(left)));
    }
    points.push((gammas[last], values[last].lower()));
    points
}

/// Σ s_i·[f̄(γ_{i+1}) − f̄(γ_i)] for the piecewise linear curve through the points;
/// between two points with the same γ the curve steps down.
fn by_parts(f: &(impl Generator + ?Sized), points: &[(f64, f64)]) -> Enclosure {
    let excess = |t: f64| excess(f, Enclosure::from(t));
    let values: Vec<Enclosure> = points.iter().map(|&(t, _)| excess(t)).collect();
    let terms = points.windows(2).zip(values.windows(2)).filter(|(p, _)| p[0].0 < p[1].0).map(|(p, v)| {
        let fall = Enclosure::from(p[0].1) - Enclosure::from(p[1].1);
        let width = Enclosure::from(p[1].0) - Enclosure::from(p[0].0);
        fall / width * (v[1] - v[0]).positive_part()
    });
    terms.sum()
}

/// f̄(t) = f(t) − f′(1)(t − 1) ≥ 0.
fn excess(f: &(impl Generator + ?Sized), t: Enclosure) -> Enclosure {
    (f.value(t) - f.derivative_at_one() * (t - Enclosure::ONE)).positive_part()
}

/// A lower bound on f̄′(Γ)·G(Γ) + ∫_Γ^∞ f″G, for Γ the end of the grid: G(Γ)·f̄′(∞) where G is constant beyond Γ, and
/// otherwise G(Γ) times the slope of f̄ before Γ.
fn least_of_rest(
    f: &(impl Generator + ?Sized),
    gammas: &[f64],
    values: &[Enclosure],
    constant_from: Option<f64>,
) -> Enclosure {
    let ([.., before, end], [.., value]) = (gammas, values) else {
        return Enclosure::ZERO;
    };
    let (before, end, least) = (Enclosure::from(*before), Enclosure::from(*end), value.lower());
    if least == 0.0 {
        return Enclosure::ZERO;
    }
    let steepness = if constant_from.is_some_and(|last| end.ln().lower() >= last) {
        f.slope_at_infinity() - f.derivative_at_one()
    } else {
        (excess(f, end) - excess(f, before)) / (end - before)
    };
    Enclosure::from(least) * steepness.positive_part()
}

/// An upper bound on the same.
///
/// As G decreases, it is at most G(Γ)·f̄′(∞), which is exact where E_γ is constant beyond Γ; and it is at most
/// E_Q[f̄(L); L > Γ], plus f̄′(Γ) ≤ f̄(2Γ)/Γ times the excess width of the enclosure at Γ.
fn most_of_rest(
    pair: &(impl Pair + ?Sized),
    f: &(impl Generator + ?Sized),
    gammas: &[f64],
    values: &[Enclosure],
) -> Enclosure {
    let (Some(&end), Some(&value)) = (gammas.last(), values.last()) else {
        return Enclosure::INFINITE;
    };
    if value.upper() == 0.0 {
        return Enclosure::ZERO;
    }
    let flat = Enclosure::from(value.upper()) * (f.slope_at_infinity() - f.derivative_at_one());
    let growth = f.growth();
    let (coefficient, power) = (Enclosure::from(growth.coefficient), Enclosure::from(growth.power));
    let from = Enclosure::from(end).ln().lower();
    let moment = coefficient * Enclosure::from(pair.tail_moment(from, growth.power));
    let steepest = coefficient * Enclosure::from(2.0 * end).powf(power) / Enclosure::from(end);
    let too_wide =
        if value.width() == 0.0 { Enclosure::ZERO } else { steepest * Enclosure::from(value.width()) };
    flat.min(moment + too_wide)
}
