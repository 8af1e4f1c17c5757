//! Enclosure arithmetic against arbitrary precision: the true value is always
//! inside, exact results stay exact, and the ends are a unit or two apart.

use crate::support::{Generator, assert_inside};
use dobrushin::Enclosure;
use dobrushin::numeric::{Boundary, boundary};
use dobrushin_reference::{Real, depth};

/// How many inputs each operation is tried on.
fn inputs() -> usize {
    depth(20_000, 100_000)
}

/// Enough bits for the exact sum of any two, or any million, `f64`s.
const EXACT: usize = 2240;

/// Enough bits to tell a quotient, a root or a transcendental value from every
/// `f64` that it is not.
const CLOSE: usize = 256;

/// Products and quotients below this are moved outwards without a look at
/// their rounding error.
const TINY: f64 = 1e-288;

/// An interval between two finite numbers, half the time a single one, with a
/// number inside it.
fn interval(g: &mut Generator) -> (Enclosure, f64) {
    let (x, y) = (g.finite(), g.finite());
    match g.below(6) {
        0 => (Enclosure::new(x.min(y), x.max(y)).unwrap(), if g.below(2) == 0 { x } else { y }),
        1 => {
            let end = (x * g.between(0.5, 2.0)).clamp(f64::MIN, f64::MAX);
            let inside = g.between(x.min(end), x.max(end)).clamp(x.min(end), x.max(end));
            (Enclosure::new(x.min(end), x.max(end)).unwrap(), inside)
        }
        _ => (Enclosure::from(x), x),
    }
}

fn real(x: f64, bits: usize) -> Real {
    Real::from_f64(x, bits)
}

/// The ends are at most `units` apart, or the operand was an interval.
fn assert_narrow(operands: &[Enclosure], result: Enclosure, units: usize) {
    if operands.iter().all(|x| x.lower() == x.upper()) {
        let reach = (0..units).fold(result.lower(), |x, _| x.next_up());
        assert!(result.upper() <= reach, "{result} from {operands:?}");
    }
}

/// A result that is an `f64` is enclosed by itself alone.
fn assert_exact(operands: &[Enclosure], result: Enclosure, truth: &Real) {
    let nearest = truth.to_f64();
    if nearest.is_finite()
        && real(nearest, CLOSE) == *truth
        && operands.iter().all(|x| x.lower() == x.upper())
    {
        assert_eq!(result, Enclosure::from(nearest), "from {operands:?}");
    }
}

/// Checks an operation with two operands at [`inputs()`] points.
fn check_pairs(
    seed: u64,
    bits: usize,
    enclose: impl Fn(Enclosure, Enclosure) -> Enclosure,
    truth: impl Fn(Real, Real) -> Real,
    is_defined: impl Fn(f64, f64) -> bool,
) {
    let mut g = Generator::new(seed);
    let mut tried = 0;
    while tried < inputs() {
        let ((x, p), (mut y, mut q)) = (interval(&mut g), interval(&mut g));
        if g.below(4) == 0 {
            // Catastrophic cancellation, or a quotient next to one.
            let opposite = if g.below(2) == 0 { p } else { -p };
            q = g.nudged(opposite).clamp(f64::MIN, f64::MAX);
            y = Enclosure::from(q);
        }
        if !is_defined(p, q) {
            continue;
        }
        tried += 1;
        let result = enclose(x, y);
        let truth = truth(real(p, bits), real(q, bits));
        assert_inside(result, &truth, (x, y, p, q));
        let is_tiny = truth.to_f64().abs() < TINY || p.abs() < TINY;
        assert_narrow(&[x, y], result, if is_tiny { 2 } else { 1 });
        if !is_tiny || bits == EXACT {
            assert_exact(&[x, y], result, &truth);
        }
    }
}

#[test]
fn sums_and_differences_are_enclosed_by_neighbours() {
    check_pairs(1, EXACT, |x, y| x + y, |p, q| p + q, |_, _| true);
    check_pairs(2, EXACT, |x, y| x - y, |p, q| p - q, |_, _| true);
}

#[test]
fn products_and_quotients_are_enclosed_by_neighbours() {
    check_pairs(3, CLOSE, |x, y| x * y, |p, q| p * q, |_, _| true);
    check_pairs(4, CLOSE, |x, y| x / y, |p, q| p / q, |_, q| q != 0.0);
}

/// Checks a function of one operand at [`inputs()`] points of its domain, which
/// `shape` makes of any number.
fn check_function(
    seed: u64,
    units: usize,
    shape: impl Fn(&mut Generator, f64) -> f64,
    enclose: impl Fn(Enclosure) -> Enclosure,
    truth: impl Fn(Real) -> Real,
) {
    let mut g = Generator::new(seed);
    for _ in 0..inputs() {
        let (x, p) = interval(&mut g);
        let (x, p) = if x.lower() == x.upper() || g.below(2) == 0 {
            let point = shape(&mut g, p);
            (Enclosure::from(point), point)
        } else {
            (x, p)
        };
        let truth = truth(real(p, CLOSE));
        if truth.to_f64().is_nan() {
            // Outside the domain: the interval reaches into it or not.
            assert!(enclose(x).lower() <= enclose(x).upper());
            continue;
        }
        let result = enclose(x);
        assert_inside(result, &truth, (x, p));
        assert_narrow(&[x], result, units);
    }
}

#[test]
fn exponentials_are_enclosed() {
    let shape = |g: &mut Generator, x: f64| match g.below(4) {
        0 => g.between(-746.0, 710.0),
        1 => g.nudged(if x > 0.0 { 709.782712893384 } else { -745.1332191019411 }),
        2 => x.clamp(-1e9, 1e9),
        _ => x,
    };
    check_function(5, 2, shape, Enclosure::exp, |p| p.exp());
    check_function(6, 2, shape, Enclosure::exp_m1, |p| p.exp_m1());
}

#[test]
fn logarithms_are_enclosed() {
    let positive = |g: &mut Generator, x: f64| if g.below(4) == 0 { g.between(0.9, 1.1) } else { x.abs() };
    check_function(7, 2, positive, Enclosure::ln, |p| p.ln());
    let above_minus_one = |g: &mut Generator, x: f64| match g.below(4) {
        0 => -(1.0 - g.log_between(1e-16, 0.5)),
        1 => x.max(-1.0),
        _ => x.abs(),
    };
    check_function(8, 2, above_minus_one, Enclosure::ln_1p, |p| p.ln_1p());
}

#[test]
fn roots_and_squares_are_enclosed() {
    let positive = |g: &mut Generator, x: f64| match g.below(4) {
        0 => {
            let root = (g.below(1 << 26)) as f64;
            g.nudged(root * root).max(0.0)
        }
        _ => x.abs(),
    };
    check_function(9, 2, positive, Enclosure::sqrt, |p| p.sqrt());
    check_function(10, 2, |_, x| x, Enclosure::square, |p| &p * &p);
}

#[test]
fn integer_powers_are_enclosed() {
    let mut g = Generator::new(11);
    for _ in 0..inputs() {
        let (x, p) = interval(&mut g);
        let n = if g.below(2) == 0 { g.below(9) as i64 - 4 } else { g.below(2001) as i64 - 1000 };
        if p == 0.0 && n <= 0 {
            assert!(n < 0 || x.powi(n) == Enclosure::ONE);
            continue;
        }
        let result = x.powi(n);
        assert_inside(result, &real(p, CLOSE).powi(n as i32), (x, p, n));
        let is_inner = (1e-280..1e280).contains(&result.lower().abs());
        if x.lower() == x.upper() && is_inner {
            // A unit at each end for each of the n factors and for a quotient.
            let units = 2.0 + 2.0 * n.abs() as f64;
            assert!(result.relative_width() <= units * f64::EPSILON, "{p} to the {n}: {result}");
        }
    }
}

#[test]
fn orders_and_magnitudes_are_exact() {
    let mut g = Generator::new(12);
    for _ in 0..inputs() {
        let ((x, p), (y, q)) = (interval(&mut g), interval(&mut g));
        assert!(x.min(y).contains(p.min(q)) && x.max(y).contains(p.max(q)));
        assert!(x.abs().contains(p.abs()) && x.positive_part().contains(p.max(0.0)) && (-x).contains(-p));
        assert!(x.hull(y).contains(p) && x.hull(y).contains(q) && x.intersect(x.hull(y)) == Some(x));
        assert!(x.contains(x.midpoint()) && x.width() >= x.upper() - x.lower());
        assert_narrow(&[x, y], x.min(y), 0);
        assert_narrow(&[x, y], x.max(y), 0);
        assert_narrow(&[x], x.abs(), 0);
    }
}

#[test]
fn monotone_compositions_are_enclosed() {
    let mut g = Generator::new(13);
    for _ in 0..inputs() {
        let (x, p) = interval(&mut g);
        let (x, p) = (x.max(Enclosure::from(-600.0)), p.max(-600.0));
        let truth = real(p, CLOSE);
        let rising = x.map_monotone(|x| Enclosure::from(x).exp().ln_1p());
        assert_inside(rising, &truth.exp().ln_1p(), (x, p));
        let falling = x.map_monotone(|x| (-Enclosure::from(x)).exp_m1());
        assert_inside(falling, &(-truth).exp_m1(), (x, p));
    }
}

#[test]
fn real_powers_are_enclosed() {
    let mut g = Generator::new(14);
    for _ in 0..inputs() / 4 {
        let (x, p) = interval(&mut g);
        let (x, p) = (x.abs(), p.abs());
        let (y, q) = interval(&mut g);
        if p == 0.0 || (q * p.ln()).abs() > 1e8 {
            continue;
        }
        let truth = (real(p, CLOSE).ln() * real(q, CLOSE)).exp();
        assert_inside(x.powf(y), &truth, (x, y, p, q));
    }
}

#[test]
fn short_sums_of_anything_are_enclosed() {
    let mut g = Generator::new(15);
    for _ in 0..inputs() {
        let count = 2 + g.below(6);
        let mut terms: Vec<(Enclosure, f64)> = (0..count).map(|_| interval(&mut g)).collect();
        // Opposites cancel, exactly or up to a few units.
        let last = g.nudged(-terms[0].1).clamp(f64::MIN, f64::MAX);
        terms.push((Enclosure::from(last), last));
        let truth = terms.iter().fold(real(0.0, EXACT), |sum, &(_, p)| sum + real(p, 64));
        assert_inside(terms.iter().map(|&(x, _)| x).sum(), &truth, &terms);
    }
}

#[test]
fn the_sum_of_a_million_terms_is_enclosed() {
    let mut g = Generator::new(16);
    for (count, cancelling) in [(1_000_000, false), (100_000, true), (10_000, true), (10_000, false)] {
        let terms: Vec<f64> = (0..count)
            .map(|n| match cancelling && n % 2 == 1 {
                true => -g.log_between(1e-12, 1e12),
                false => g.log_between(1e-12, 1e12),
            })
            .collect();
        let truth = terms.iter().fold(real(0.0, 192), |sum, &p| sum + real(p, 64));
        let sum: Enclosure = terms.iter().map(|&p| Enclosure::from(p)).sum();
        assert_inside(sum, &truth, count);
        assert!(sum.relative_width() <= 2.0 * f64::EPSILON, "{count} terms, {sum}");
    }
}

#[test]
fn sums_that_cancel_exactly_are_exact() {
    let mut g = Generator::new(17);
    let mut terms: Vec<f64> = (0..50_000).map(|_| g.below(1 << 40) as f64 - (1u64 << 39) as f64).collect();
    terms.extend(terms.clone().iter().rev().map(|x| -x));
    let sum: Enclosure = terms.iter().map(|&x| Enclosure::from(x)).sum();
    assert_eq!(sum, Enclosure::ZERO);
    let huge = [1e300, 1.0, -1e300, 1e-300].map(Enclosure::from);
    assert_inside(huge.into_iter().sum(), &(real(1.0, EXACT) + real(1e-300, EXACT)), "1 + 1e-300");
}

#[test]
fn exact_results_stay_exact() {
    let [half, quarter, four] = [0.5, 0.25, 4.0].map(Enclosure::from);
    assert_eq!(Enclosure::ONE + Enclosure::ONE, Enclosure::from(2.0));
    assert_eq!(half * quarter, Enclosure::from(0.125));
    assert_eq!(quarter / half, half);
    assert_eq!(four.sqrt(), Enclosure::from(2.0));
    assert_eq!(Enclosure::from(-3.0).powi(3), Enclosure::from(-27.0));
    assert_eq!(half.powi(-3), Enclosure::from(8.0));
    assert_eq!(Enclosure::ZERO.exp(), Enclosure::ONE);
    assert_eq!(Enclosure::ONE.ln(), Enclosure::ZERO);
    assert_eq!(Enclosure::ZERO.exp_m1(), Enclosure::ZERO);
    assert_eq!(Enclosure::ZERO.ln_1p(), Enclosure::ZERO);
}

/// Every interval between two of the numbers at which something may go wrong.
fn extreme_intervals() -> Vec<Enclosure> {
    let ends = [
        f64::NEG_INFINITY,
        f64::MIN,
        -1e200,
        -2.0,
        -1.0,
        -0.5,
        -1e-200,
        -5e-324,
        -0.0,
        0.0,
        5e-324,
        f64::MIN_POSITIVE,
        0.5,
        1.0,
        3.0,
        1e200,
        f64::MAX,
        f64::INFINITY,
    ];
    let pairs = ends.iter().flat_map(|&x| ends.iter().map(move |&y| (x, y)));
    pairs.filter_map(|(x, y)| Enclosure::new(x, y)).collect()
}

#[test]
fn infinities_never_make_ends_that_are_not_numbers() {
    let all = extreme_intervals();
    let sound = |e: Enclosure| e.lower() <= e.upper();
    for &x in &all {
        let unary =
            [x.exp(), x.ln(), x.exp_m1(), x.ln_1p(), x.sqrt(), x.square(), x.abs(), x.positive_part()];
        assert!(unary.into_iter().all(sound), "{x}: {unary:?}");
        for n in [i64::MIN, -1001, -2, -1, 0, 1, 2, 3, 64, 1001, i64::MAX] {
            assert!(sound(x.powi(n)), "{x} to the {n}");
        }
        assert!(x.width() >= 0.0 && x.relative_width() >= 0.0 && x.contains(x.midpoint()), "{x}");
        for &y in &all {
            let binary = [
                x + y,
                x - y,
                x * y,
                x / y,
                x.min(y),
                x.max(y),
                x.hull(y),
                x.powf(y),
                [x, y].into_iter().sum(),
            ];
            assert!(binary.into_iter().all(sound), "{x} and {y}: {binary:?}");
        }
    }
    assert_eq!(Enclosure::from(f64::NAN), Enclosure::ENTIRE);
    assert_eq!(Enclosure::new(1.0, f64::NAN), None);
    assert_eq!(Enclosure::new(1.0, 0.5), None);
}

#[test]
fn infinite_values_are_inside_where_the_operation_is_defined() {
    for &x in &extreme_intervals() {
        for &y in &extreme_intervals() {
            for (p, q) in [(x.lower(), y.lower()), (x.lower(), y.upper()), (x.upper(), y.lower())] {
                // With an infinite operand the machine's answer is exact, or NaN.
                if p.is_finite() && q.is_finite() {
                    continue;
                }
                let divided = if q == 0.0 { f64::NAN } else { p / q };
                for (result, value) in [(x + y, p + q), (x - y, p - q), (x * y, p * q), (x / y, divided)] {
                    assert!(value.is_nan() || result.contains(value), "{x}, {y} at {p}, {q}: {result}");
                }
            }
        }
    }
}

#[test]
fn a_boundary_is_the_last_float_from_any_ends_and_hint() {
    let mut g = Generator::new(18);
    for _ in 0..inputs() / 10 {
        let (x, y, z) = (g.finite(), g.finite(), g.finite());
        let (low, high) = (x.min(y), x.max(y));
        if low < z && z < high {
            let hint = if g.below(2) == 0 { g.nudged(z) } else { g.finite() };
            let found = boundary(Boundary { holds: low, fails: high }, hint, |t| t <= z);
            assert_eq!(found, Boundary { holds: z, fails: z.next_up() });
        }
    }
}
