//! How often a step is repeated, and the resulting sums.

use crate::Enclosure;

/// A number of consecutive equal steps.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::chain::Count;
///
/// let half = Enclosure::from(0.5);
/// // 1 + 1/2 + 1/4, and what it tends to.
/// assert!(Count::Times(3).geometric_sum(half).contains(1.75));
/// assert!(Count::Any.geometric_sum(half).contains(2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// This many.
    Times(u64),
    /// Any number: a statement must hold for each.
    Any,
}

impl Count {
    /// The number; ∞ for any.
    pub fn number(self) -> Enclosure {
        match self {
            Self::Times(times) => Enclosure::from(times),
            Self::Any => Enclosure::INFINITE,
        }
    }

    /// n·x; for any n, the limit ∞ or −∞, and 0·∞ is 0.
    pub fn times(self, x: Enclosure) -> Enclosure {
        if x == Enclosure::ZERO || self == Self::Times(0) { Enclosure::ZERO } else { self.number() * x }
    }

    /// q^n for 0 ≤ q; for any n, the limit.
    pub fn power(self, q: Enclosure) -> Enclosure {
        if self == Self::Times(0) {
            return Enclosure::ONE;
        }
        q.positive_part().map_monotone(|q| match q {
            0.0 => Enclosure::ZERO,
            1.0 => Enclosure::ONE,
            q => self.times(Enclosure::from(q).ln()).exp(),
        })
    }

    /// 1 + q + … + q^(n−1) for 0 ≤ q; for any n, the limit.
    pub fn geometric_sum(self, q: Enclosure) -> Enclosure {
        q.positive_part().map_monotone(|q| self.geometric_sum_of_log(Enclosure::from(q).ln()))
    }

    /// The same, from ln q.
    ///
    /// (q^n − 1)/(q − 1) with both differences computed by `exp_m1`, so nothing cancels. It increases in q.
    pub fn geometric_sum_of_log(self, ln_q: Enclosure) -> Enclosure {
        ln_q.map_monotone(|ln_q| match (self, ln_q) {
            (Self::Times(0), _) => Enclosure::ZERO,
            (_, f64::NEG_INFINITY) => Enclosure::ONE,
            (Self::Times(n), 0.0) => Enclosure::from(n),
            (Self::Any, 0.0..) => Enclosure::INFINITE,
            (Self::Any, _) => Enclosure::ONE / -Enclosure::from(ln_q).exp_m1(),
            (Self::Times(n), _) => {
                let ln_q = Enclosure::from(ln_q);
                let sum = (Enclosure::from(n) * ln_q).exp_m1() / ln_q.exp_m1();
                // The sum has n terms, the first of which is 1; for q below 1 each is at most 1.
                let most = if ln_q.upper() < 0.0 { Enclosure::from(n).upper() } else { f64::INFINITY };
                sum.max(Enclosure::ONE).min(Enclosure::from(most))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_few_terms_are_their_terms() {
        for q in [0.0, 1e-300, 0.3, 1.0 - 1e-15, 1.0, 1.0 + 1e-12, 7.0] {
            for n in 0..6_u64 {
                let direct: Enclosure = (0..n).map(|j| Enclosure::from(q).powi(j as i64)).sum();
                let sum = Count::Times(n).geometric_sum(Enclosure::from(q));
                assert!(sum.intersect(direct).is_some(), "{q}, {n}: {sum} against {direct}");
                assert!(sum.relative_width() < 1e-13 || n == 0, "{q}, {n}: {sum}");
            }
        }
    }

    #[test]
    fn any_number_of_terms_has_the_limit() {
        assert!(Count::Any.geometric_sum(Enclosure::from(0.75)).contains(4.0));
        assert_eq!(Count::Any.geometric_sum(Enclosure::ONE), Enclosure::INFINITE);
        assert_eq!(Count::Any.power(Enclosure::from(0.5)), Enclosure::ZERO);
        assert_eq!(Count::Any.power(Enclosure::ONE), Enclosure::ONE);
        assert_eq!(Count::Times(0).power(Enclosure::ZERO), Enclosure::ONE);
        assert_eq!(Count::Times(3).power(Enclosure::ZERO), Enclosure::ZERO);
    }
}
