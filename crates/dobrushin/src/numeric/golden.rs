//! The minimum of a function of one variable.

/// (√5 − 1)/2.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A golden-section search: an interval around a valley of a function, with two places inside it. The result is not
/// rigorous: it is for choices each of which is valid.
///
/// ```
/// use dobrushin::numeric::GoldenSection;
///
/// // The valley of (x − 1)² is at 1.
/// let search = GoldenSection::new((0.0, 3.0), |x| (x - 1.0).powi(2)).narrowed(30);
/// let (place, height) = search.lowest();
/// assert!((place - 1.0).abs() < 1e-5 && height < 1e-10);
/// ```
pub struct GoldenSection<F> {
    height: F,
    ends: (f64, f64),
    left: (f64, f64),
    right: (f64, f64),
}

impl<F: Fn(f64) -> f64> GoldenSection<F> {
    /// A search between two ends, the smaller first.
    pub fn new(ends: (f64, f64), height: F) -> Self {
        let (left, right) = inner(ends);
        let [left, right] = [left, right].map(|place| (place, height(place)));
        Self { height, ends, left, right }
    }

    /// Cuts off the part beyond the higher of the two places, and evaluates one more.
    pub fn narrow(&mut self) {
        if self.left.1 <= self.right.1 {
            (self.ends.1, self.right) = (self.right.0, self.left);
            let place = inner(self.ends).0;
            self.left = (place, (self.height)(place));
        } else {
            (self.ends.0, self.left) = (self.left.0, self.right);
            let place = inner(self.ends).1;
            self.right = (place, (self.height)(place));
        }
    }

    /// The search after this many cuts.
    pub fn narrowed(mut self, times: u32) -> Self {
        for _ in 0..times {
            self.narrow();
        }
        self
    }

    /// The lower of the two places, and the height there.
    pub fn lowest(&self) -> (f64, f64) {
        if self.left.1 <= self.right.1 { self.left } else { self.right }
    }

    /// The middle of the interval.
    pub fn middle(&self) -> f64 {
        self.ends.0.midpoint(self.ends.1)
    }
}

fn inner((low, high): (f64, f64)) -> (f64, f64) {
    (high - GOLDEN * (high - low), low + GOLDEN * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valley_is_found_wherever_it_is_with_one_look_for_each_cut() {
        for bottom in [-3.0, 0.1, 2.5, 4.0] {
            let looks = std::cell::Cell::new(0);
            let search = GoldenSection::new((-3.0, 4.0), |x: f64| {
                looks.set(looks.get() + 1);
                (x - bottom).abs()
            });
            let search = search.narrowed(40);
            assert!((search.lowest().0 - bottom).abs() < 1e-7 && (search.middle() - bottom).abs() < 1e-7);
            assert_eq!(search.lowest().1, (search.lowest().0 - bottom).abs());
            assert_eq!(looks.get(), 42);
        }
    }
}
