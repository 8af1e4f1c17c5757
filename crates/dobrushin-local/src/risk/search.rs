//! Searches for nearly optimal free parameters of a bound: every choice gives a bound, so nothing here needs to be
//! rigorous.

use dobrushin::numeric::GoldenSection;

/// Approximately where a function that rises and then falls is largest.
pub(super) fn peak(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    GoldenSection::new((from, to), |place| -f(place)).narrowed(30).middle()
}

/// Approximately where any function is largest, among evenly spaced places and then around the best of them; the ends
/// are among the places.
pub(super) fn summit((from, to): (f64, f64), places: u32, f: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(places);
    let on_grid = (0..=places).map(|i| from + step * f64::from(i)).map(|place| (place, f(place)));
    let (rough, height) =
        on_grid.fold((from, f64::NEG_INFINITY), |best, at| if at.1 > best.1 { at } else { best });
    let refined = peak((rough - step).max(from), (rough + step).min(to), &f);
    if f(refined) > height { refined } else { rough }
}

/// The same for two variables, each between its ends.
pub(super) fn summit_of_two(
    ((left, right), (bottom, top)): ((f64, f64), (f64, f64)),
    places: u32,
    f: impl Fn(f64, f64) -> f64,
) -> (f64, f64) {
    let mut steps = ((right - left) / f64::from(places), (top - bottom) / f64::from(places));
    let mut best = (left, bottom, f64::NEG_INFINITY);
    let see = |x: f64, y: f64, best: &mut (f64, f64, f64)| {
        let height = f(x, y);
        if height > best.2 {
            *best = (x, y, height);
        }
    };
    for i in 0..=places {
        for j in 0..=places {
            see(left + steps.0 * f64::from(i), bottom + steps.1 * f64::from(j), &mut best);
        }
    }
    for _ in 0..HALVINGS {
        let (x, y, height) = best;
        for (dx, dy) in [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, -1.0), (-1.0, 1.0)] {
            let (x, y) = (x + dx * steps.0, y + dy * steps.1);
            see(x.clamp(left, right), y.clamp(bottom, top), &mut best);
        }
        if best.2 <= height {
            steps = (0.5 * steps.0, 0.5 * steps.1);
        }
    }
    (best.0, best.1)
}

/// The number of times a search over two variables moves or halves its stride.
const HALVINGS: u32 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_found() {
        assert!((peak(0.0, 3.0, |x| -(x - 1.25).powi(2)) - 1.25).abs() < 1e-5);
        let two_hills = |x: f64| (-(x - 1.0).powi(2)).exp() + 2.0 * (-(x + 3.0).powi(2) * 9.0).exp();
        assert!((summit((-5.0, 5.0), 50, two_hills) + 3.0).abs() < 1e-3);
        assert_eq!(summit((0.0, 1.0), 10, |x| x), 1.0);
        let (x, y) =
            summit_of_two(((-4.0, 0.0), (-4.0, 0.0)), 16, |x, y| -(x + 1.1).powi(2) - (y + x).powi(2));
        assert!((x + 0.55).abs() < 1e-4 && y == 0.0, "{x} {y}");
    }
}
