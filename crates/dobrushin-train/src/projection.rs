//! Sets that iterates are projected onto.

use dobrushin::Enclosure;
use dobrushin::numeric::rounding::two_sum;

/// A closed convex set of parameters.
///
/// # Guarantee
/// [`Projection::project`] leaves finite numbers, whatever it was given. Any two such points are at most
/// [`Projection::diameter`] apart and each has norm at most [`Projection::reach`], as the numbers they are, including
/// roundings. Up to roundings, each is the nearest point of the set, so two points do not come out further apart than
/// they went in.
///
/// ```
/// use dobrushin_train::Projection;
///
/// let mut parameters = [3.0, 4.0];
/// Projection::Box { lower: -1.0, upper: 1.0 }.project(&mut parameters);
/// assert_eq!(parameters, [1.0, 1.0]);
/// // Two points of a ball are at most two radii apart.
/// assert!((Projection::Ball { radius: 1.5 }.diameter(2) - 3.0).abs() < 1e-9);
/// // A box needs its ends in order.
/// assert!(Projection::Box { lower: 1.0, upper: -1.0 }.check(2).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// All points with norm at most the radius.
    Ball {
        /// The radius.
        radius: f64,
    },
    /// All points with every parameter between the two.
    Box {
        /// The smallest.
        lower: f64,
        /// The largest.
        upper: f64,
    },
    /// All points without negative parameters, whose sum is the scale.
    Simplex {
        /// The sum.
        scale: f64,
    },
}

impl Projection {
    /// Whether such a set of this many parameters exists, with more than one point.
    ///
    /// # Errors
    /// What is wrong and what is accepted, in words.
    pub fn check(&self, dimension: usize) -> Result<(), String> {
        let size = |name, value: f64| match (LEAST..=MOST).contains(&value) {
            true => Ok(()),
            false => Err(format!(
                "the {name} of the projection is {value}, but it must be from {LEAST:e} to {MOST:e}: for example 10"
            )),
        };
        match *self {
            Self::Ball { radius } => size("radius", radius),
            Self::Box { lower, upper } if lower < upper && lower >= -MOST && upper <= MOST => Ok(()),
            Self::Box { lower, upper } => Err(format!(
                "the projection is to parameters between {lower} and {upper}, but the first must be below the second and \
                 both from -{MOST:e} to {MOST:e}: for example -1 and 1"
            )),
            Self::Simplex { scale } if dimension >= 2 => size("scale", scale),
            Self::Simplex { .. } => Err(format!(
                "the projection is to a simplex in dimension {dimension}, but a simplex needs 2 parameters or more: choose a ball \
                 or a box"
            )),
        }
    }

    /// Moves a point to the nearest one of the set. A coordinate that is NaN counts as 0, and an infinite one as the
    /// largest number.
    pub fn project(&self, w: &mut [f64]) {
        for value in &mut *w {
            *value = if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) };
        }
        match *self {
            Self::Ball { radius } => to_ball(w, radius),
            // This is not `clamp`, which panics if the two are the wrong way round.
            Self::Box { lower, upper } => w.iter_mut().for_each(|value| *value = value.max(lower).min(upper)),
            Self::Simplex { scale } => to_simplex(w, scale),
        }
    }

    /// The largest distance between two points of this many coordinates, rounded up.
    pub fn diameter(&self, dimension: usize) -> f64 {
        let number = Enclosure::from;
        let diameter = match *self {
            Self::Ball { radius } => number(2.0) * number(radius),
            Self::Box { lower, upper } => (number(upper) - number(lower)) * root(dimension),
            // ‖w − v‖² ≤ ‖w‖² + ‖v‖², because no coordinate is negative; the corners are that far apart.
            Self::Simplex { scale } => number(2.0).sqrt() * number(scale) * number(1.0 + MARGIN),
        };
        diameter.upper()
    }

    /// The largest norm of a point of this many coordinates, rounded up.
    pub fn reach(&self, dimension: usize) -> f64 {
        let number = Enclosure::from;
        let reach = match *self {
            Self::Ball { radius } => number(radius),
            Self::Box { lower, upper } => number(lower.abs().max(upper.abs())) * root(dimension),
            Self::Simplex { scale } => number(scale) * number(1.0 + MARGIN),
        };
        reach.upper()
    }
}

/// The smallest and the largest size of a set; between them, all roundings are relative.
const LEAST: f64 = 1e-100;
const MOST: f64 = 1e100;

/// 128 roundings. The [`sum`] of 2⁴⁰ terms errs by at most 52, and a norm by half of that.
const MARGIN: f64 = 128.0 * UNIT;
/// 32 roundings: a norm that is computed to be this much below the radius is below it.
const INSIDE: f64 = 1.0 - 32.0 * UNIT;
/// One rounding.
const UNIT: f64 = f64::EPSILON / 2.0;

fn root(dimension: usize) -> Enclosure {
    Enclosure::from(dimension as u64).sqrt()
}

/// Shortens a point that is longer than the radius, and by [`MARGIN`] more, so that the result is not longer and does
/// not change the next time.
fn to_ball(w: &mut [f64], radius: f64) {
    let largest = w.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    if largest == 0.0 {
        return;
    }
    // It is at least 1, and far from overflow.
    let norm = sum(w, |value| (value / largest) * (value / largest)).sqrt();
    if norm * largest > radius * INSIDE {
        let factor = radius * (1.0 - MARGIN) / norm;
        w.iter_mut().for_each(|value| *value = *value / largest * factor);
    }
}

/// Subtracts the same threshold τ from all coordinates, and clips at 0, such that the sum is the scale.
///
/// A constant that is added to all coordinates changes nothing; here it makes the largest 0. Then −scale ≤ τ < 0. Of
/// the coordinates in decreasing order, the first k stay positive, for the largest k such that the k-th is above (their
/// sum − scale)/k, which is τ (Held, Wolfe, Crowder 1974). Sums are kept in two parts.
fn to_simplex(w: &mut [f64], scale: f64) {
    let largest = w.iter().copied().fold(f64::MIN, f64::max);
    w.iter_mut().for_each(|value| *value -= largest);
    let mut candidates: Vec<f64> = w.iter().copied().filter(|&value| value > -scale).collect();
    candidates.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut total, mut rest, mut threshold) = (-scale, 0.0, -scale);
    for (count, &value) in (1u64..).zip(&candidates) {
        let (sum, error) = two_sum(total, value);
        (total, rest) = (sum, rest + error);
        let next = (total + rest) / count as f64;
        if value <= next {
            break;
        }
        threshold = next;
    }
    w.iter_mut().for_each(|value| *value = (*value - threshold).max(0.0));
    // What roundings leave is spread evenly.
    let factor = scale / sum(w, |value| value);
    w.iter_mut().for_each(|value| *value *= factor);
}

/// Σ term(value), each through at most 16 + log₂(n/32) additions.
fn sum(values: &[f64], term: impl Fn(f64) -> f64 + Copy) -> f64 {
    if values.len() > 64 {
        let (first, second) = values.split_at(values.len() / 2);
        return sum(first, term) + sum(second, term);
    }
    let mut lanes = [0.0; 8];
    for chunk in values.chunks(8) {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += term(value);
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dobrushin::numeric::Random;

    const SETS: [Projection; 9] = [
        Projection::Ball { radius: 1.0 },
        Projection::Ball { radius: 1e-100 },
        Projection::Ball { radius: 1e100 },
        Projection::Box { lower: -1.0, upper: 1.0 },
        Projection::Box { lower: 0.25, upper: 3.0 },
        Projection::Box { lower: -1e100, upper: -1e99 },
        Projection::Simplex { scale: 1.0 },
        Projection::Simplex { scale: 1e-100 },
        Projection::Simplex { scale: 1e100 },
    ];

    fn norm(w: &[f64]) -> f64 {
        let largest = w.iter().fold(f64::MIN_POSITIVE, |most: f64, value| most.max(value.abs()));
        w.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt() * largest
    }

    fn distance(x: &[f64], y: &[f64]) -> f64 {
        norm(&x.iter().zip(y).map(|(x, y)| x - y).collect::<Vec<_>>())
    }

    /// Σx, and Σx², with an error of one rounding of the result: they are kept in two parts.
    fn careful_sum(terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        let (mut total, mut rest) = (0.0, 0.0);
        for (high, low) in terms {
            let (sum, error) = two_sum(total, high);
            (total, rest) = (sum, rest + error + low);
        }
        total + rest
    }

    fn careful_norm(w: &[f64], unit: f64) -> f64 {
        let square = |value: &f64| dobrushin::numeric::rounding::two_product(value / unit, value / unit);
        careful_sum(w.iter().map(square)).sqrt() * unit
    }

    /// The size of a set.
    fn size(set: Projection) -> f64 {
        match set {
            Projection::Ball { radius } => radius,
            Projection::Box { lower, upper } => lower.abs().max(upper.abs()),
            Projection::Simplex { scale } => scale,
        }
    }

    /// Points inside, near, outside and far away.
    fn point(random: &mut Random, set: Projection, dimension: usize) -> Vec<f64> {
        let spread = size(set) * random.log_between(1e-3, 1e3);
        let shift = if random.below(2) == 0 { 0.0 } else { spread };
        (0..dimension).map(|_| shift + spread * random.between(-1.0, 1.0)).collect()
    }

    fn projected(set: Projection, x: &[f64]) -> Vec<f64> {
        let mut w = x.to_vec();
        set.project(&mut w);
        w
    }

    fn assert_inside(set: Projection, w: &[f64]) {
        assert!(w.iter().all(|value| value.is_finite()), "{set:?}");
        match set {
            Projection::Ball { radius } => assert!(careful_norm(w, radius) <= radius * (1.0 + 2.0 * UNIT)),
            Projection::Box { lower, upper } => {
                assert!(w.iter().all(|&value| lower <= value && value <= upper))
            }
            Projection::Simplex { scale } => {
                let sum = careful_sum(w.iter().map(|&value| (value, 0.0)));
                assert!(w.iter().all(|&value| value >= 0.0));
                assert!((sum / scale - 1.0).abs() <= 64.0 * UNIT && sum <= set.reach(w.len()), "{sum}");
            }
        }
    }

    /// sup ⟨g, z⟩ over the set.
    fn support(set: Projection, g: &[f64]) -> f64 {
        match set {
            Projection::Ball { radius } => radius * norm(g),
            Projection::Box { lower, upper } => g.iter().map(|g| (g * lower).max(g * upper)).sum(),
            Projection::Simplex { scale } => scale * g.iter().copied().fold(f64::MIN, f64::max),
        }
    }

    #[test]
    fn the_nearest_point_sees_the_whole_set_on_the_other_side_of_where_it_came_from() {
        // p is the nearest point to x if and only if ⟨x − p, z − p⟩ ≤ 0 for all z of the set.
        let mut random = Random::new(1);
        for set in SETS {
            for round in 0..400 {
                let dimension = if round % 10 == 0 { 5000 } else { 2 + random.below(80) };
                let x = point(&mut random, set, dimension);
                let p = projected(set, &x);
                assert_inside(set, &p);
                let unit = norm(&x).max(size(set));
                let g: Vec<f64> = x.iter().zip(&p).map(|(x, p)| (x - p) / unit).collect();
                let inner: f64 = g.iter().zip(&p).map(|(g, p)| g * p).sum();
                let gap = support(set, &g) - inner;
                let reach = set.reach(dimension);
                assert!(gap <= 1e-12 * reach, "{set:?}, dimension {dimension}: {}", gap / reach);
            }
        }
    }

    #[test]
    fn the_nearest_point_of_a_grid_is_no_nearer() {
        let mut random = Random::new(2);
        let steps = 200;
        for set in SETS {
            let unit = size(set);
            for _ in 0..20 {
                let x = point(&mut random, set, 2);
                let p = projected(set, &x);
                let nearest = distance(&x, &p);
                for i in 0..=steps {
                    let share = f64::from(i) / f64::from(steps);
                    let (sine, cosine) = (share * std::f64::consts::TAU).sin_cos();
                    let others = match set {
                        Projection::Ball { radius } => {
                            [[radius * cosine, radius * sine], [0.5 * radius * cosine, 0.0]]
                        }
                        Projection::Box { lower, upper } => {
                            let middle = lower + (upper - lower) * share;
                            [[middle, x[1].clamp(lower, upper)], [upper, middle]]
                        }
                        Projection::Simplex { scale } => {
                            [[scale * share, scale * (1.0 - share)], [0.0, scale]]
                        }
                    };
                    for other in others {
                        assert!(distance(&x, &other) >= nearest - 1e-13 * (unit + norm(&x)), "{set:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_point_of_the_set_stays_and_two_points_come_no_further_apart() {
        let mut random = Random::new(3);
        for set in SETS {
            for _ in 0..1000 {
                let dimension = 2 + random.below(100);
                let x = point(&mut random, set, dimension);
                let mut y = point(&mut random, set, dimension);
                if random.below(2) == 0 {
                    let close = random.log_between(1e-9, 1.0);
                    y = x.iter().zip(&y).map(|(x, y)| x + close * (y - x)).collect();
                }
                let (p, q) = (projected(set, &x), projected(set, &y));
                let rounding = 1e-13 * size(set) + 1e-15 * (norm(&x) + norm(&y));
                assert!(distance(&p, &q) <= distance(&x, &y) + rounding, "{set:?}");
                let again = projected(set, &p);
                match set {
                    Projection::Simplex { scale } => assert!(distance(&p, &again) <= 1e-14 * scale),
                    _ => assert_eq!(p, again),
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_becomes_a_point_of_the_set() {
        let odd =
            [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0, -0.0, 5e-324, 1e200, 1.0];
        let mut random = Random::new(4);
        for set in SETS {
            for _ in 0..1000 {
                let x: Vec<f64> = (0..2 + random.below(6)).map(|_| odd[random.below(odd.len())]).collect();
                assert_inside(set, &projected(set, &x));
            }
        }
        let ball = Projection::Ball { radius: 5.0 };
        let far = projected(ball, &[f64::INFINITY, f64::NAN, 0.0]);
        assert!((far[0] - 5.0).abs() < 1e-13 && far[1..] == [0.0, 0.0]);
        let even = projected(ball, &[3e300, -4e300]);
        assert!((even[0] - 3.0).abs() < 1e-13 && (even[1] + 4.0).abs() < 1e-13);
    }

    #[test]
    fn the_threshold_is_found_where_coordinates_are_large_or_many() {
        // 10⁶ coordinates stay just positive beside one that takes half.
        let (scale, many) = (1.0, 1_000_000);
        let mut w = vec![-0.5 + 0.5 / f64::from(many); many as usize];
        w.push(0.0);
        w.iter_mut().for_each(|value| *value += 1.0);
        let p = projected(Projection::Simplex { scale }, &w);
        assert_inside(Projection::Simplex { scale }, &p);
        assert!((p[many as usize] - 0.5).abs() < 1e-9, "{}", p[many as usize]);
        let p = projected(Projection::Simplex { scale: 3.0 }, &[1e16, 1e16 + 2.0, 1.0]);
        assert_eq!(p, [0.5, 2.5, 0.0]);
    }

    #[test]
    fn diameter_and_reach_are_attained_and_never_exceeded() {
        for set in SETS {
            for dimension in [2, 3, 64, 1000] {
                let corner = |up: &dyn Fn(usize) -> f64| {
                    projected(set, &(0..dimension).map(|i| 1e3 * size(set) * up(i)).collect::<Vec<_>>())
                };
                let first = |i: usize| if i == 0 { 1.0 } else { 0.0 };
                let (x, y) = match set {
                    Projection::Ball { .. } => (corner(&first), corner(&|i| -first(i))),
                    Projection::Box { .. } => (corner(&|_| 1.0), corner(&|_| -1.0)),
                    Projection::Simplex { .. } => (corner(&first), corner(&|i| first(i.abs_diff(1)))),
                };
                let unit = size(set);
                let apart: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
                let diameter = careful_norm(&apart, unit) / set.diameter(dimension);
                assert!(diameter <= 1.0 + 2.0 * UNIT && diameter > 1.0 - 1e-13, "{set:?}: {diameter}");
                let reach = careful_norm(&x, unit).max(careful_norm(&y, unit)) / set.reach(dimension);
                assert!(reach <= 1.0 + 2.0 * UNIT && reach > 1.0 - 1e-13, "{set:?}: {reach}");
            }
        }
    }

    #[test]
    fn sets_of_one_point_or_none_are_refused() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
            assert!(Projection::Ball { radius: value }.check(3).is_err(), "{value}");
            assert!(Projection::Simplex { scale: value }.check(3).is_err(), "{value}");
        }
        let inf = f64::INFINITY;
        for (lower, upper) in
            [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::NAN), (-inf, 0.0), (0.0, inf)]
        {
            assert!(Projection::Box { lower, upper }.check(3).is_err(), "{lower} {upper}");
        }
        assert!(Projection::Simplex { scale: 1.0 }.check(1).is_err());
        assert!(SETS.iter().all(|set| set.check(2).is_ok()));
    }
}
