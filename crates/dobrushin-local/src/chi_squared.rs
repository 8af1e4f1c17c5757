//! How informative reports are: η_χ² = η_KL of a local mechanism, from its profile.

use super::{LocalPrivacy, LocalProfile};
use dobrushin::{Delta, Enclosure, Epsilon};

impl LocalProfile {
    /// η_χ² = η_KL of the mechanism: exactly ∫₁^∞ 8/(1 + γ)³·δ(ln γ) dγ if two inputs are the worst at every ε, and
    /// otherwise at most that.
    ///
    /// # Guarantee
    /// Two inputs suffice for η_χ² = η_KL (Ordentlich, Polyanskiy 2021): it is the largest h(λ) = λ(1−λ)·∫(p −
    /// q)²/(λp + (1−λ)q) = 1 − ∫pq/(λp + (1−λ)q) over the reports p, q on any two of them and over 0 < λ < 1. This is
    /// the f-divergence with f″(t) = 2λ(1−λ)/(λt + 1 − λ)³, which is ∫₁^∞ [f″(γ)·E_γ(p‖q) + γ⁻³f″(1/γ)·E_γ(q‖p)] dγ
    /// (CED equation 17). It grows with E_γ in both directions, neither of which exceeds δ(ln γ). So let p and q be a
    /// pair whose E_γ is δ(ln γ) in both directions (one exists for every convex decreasing δ): their h is concave in
    /// λ, since ∫pq/(λp + (1−λ)q) is convex, and the same at 1 − λ; it is largest at λ = 1/2, where the weight is
    /// f″(γ) + γ⁻³f″(1/γ) = 8/(1 + γ)³.
    ///
    /// For noise on an interval the two ends are the worst inputs at every ε, because E_γ of log-concave noise grows
    /// with the shift. The weight has mass 1, so η_χ² is an average of δ, and never above η_TV = δ(0). From below, η_χ²
    /// ≥ η_TV² for every mechanism, by the Cauchy–Schwarz inequality at λ = 1/2.
    pub fn chi_squared_contraction(&self) -> Enclosure {
        let total_variation = self.at(0.0);
        let pure = Delta::new(0.0).map_or(f64::INFINITY, |zero| self.epsilon(zero).upper());
        let promised = match (Epsilon::new(pure), Delta::new(0.0)) {
            (Ok(epsilon), Ok(delta)) if pure < f64::INFINITY => LocalPrivacy { epsilon, delta }.information(),
            _ => Enclosure::ONE,
        };
        let average = self.average();
        let upper = average.upper().min(total_variation.upper()).min(promised.upper());
        let square = (total_variation * total_variation).lower();
        let lower = if self.is_of_two_inputs() { average.lower().max(square) } else { square };
        Enclosure::between(lower.clamp(0.0, upper), upper)
    }

    fn at(&self, epsilon: f64) -> Enclosure {
        Epsilon::new(epsilon).map_or(Enclosure::UNIT, |epsilon| self.delta(epsilon))
    }

    /// ∫₁^∞ 8/(1 + γ)³·δ(ln γ) dγ, in parts that are halved until the enclosure is narrow.
    fn average(&self) -> Enclosure {
        let ends =
            [0.0].into_iter().chain(self.bends().iter().copied().filter(|bend| (0.0..LAST).contains(bend)));
        let mut nodes: Vec<Node> = ends.chain([LAST]).map(|epsilon| Node::of(self, epsilon)).collect();
        nodes.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
        nodes.dedup_by(|a, b| a.epsilon == b.epsilon);
        let mut parts: Vec<Part> =
            nodes.windows(2).map(|ends| Part::between(self, ends[0], ends[1])).collect();
        // Beyond the last part δ falls, and the weight has mass 4/(1 + γ)².
        let rest = nodes.last().map_or(Enclosure::ONE, |last| {
            let beyond = Enclosure::from(4.0) / last.x.square() * last.delta;
            Enclosure::between(0.0, beyond.upper())
        });
        loop {
            let sum = parts.iter().map(|part| part.share).sum::<Enclosure>() + rest;
            let wanted = TOLERANCE * sum.upper() / parts.len() as f64;
            if sum.width() <= TOLERANCE * sum.upper() || parts.len() > MOST_PARTS {
                return sum;
            }
            let halves = parts.iter().flat_map(|part| {
                if part.share.width() <= wanted {
                    return vec![*part];
                }
                vec![
                    Part::between(self, part.ends[0], part.middle),
                    Part::between(self, part.middle, part.ends[1]),
                ]
            });
            parts = halves.collect();
        }
    }
}

/// The weight beyond e to this power is less than 1e-33.
const LAST: f64 = 40.0;
/// The allowed relative width of the enclosure.
const TOLERANCE: f64 = 1e-7;
/// The most parts of the integral.
const MOST_PARTS: usize = 20_000;

/// δ at one place.
#[derive(Clone, Copy)]
struct Node {
    epsilon: f64,
    /// 1 + e^ε.
    x: Enclosure,
    delta: Enclosure,
}

impl Node {
    fn of(profile: &LocalProfile, epsilon: f64) -> Self {
        Self { epsilon, x: Enclosure::ONE + Enclosure::from(epsilon).exp(), delta: profile.at(epsilon) }
    }
}

/// The part of the integral between two places.
#[derive(Clone, Copy)]
struct Part {
    ends: [Node; 2],
    middle: Node,
    share: Enclosure,
}

impl Part {
    /// δ is convex in γ, so it is below the chord between the ends, and on average at least its value at the mean.
    /// Between x = 1 + γ = a and b the weight 8/x³ has the mass 4(b−a)(a+b)/(ab)² and the mean 2ab/(a+b), and the chord
    /// has the integral 4(b−a)/(ab)·[δ_a/a + δ_b/b].
    fn between(profile: &LocalProfile, a: Node, b: Node) -> Self {
        let mean = Enclosure::from(2.0) * a.x * b.x / (a.x + b.x);
        // Rounded up, as δ falls.
        let middle = (mean - Enclosure::ONE).ln().upper().clamp(a.epsilon, b.epsilon);
        let middle = Node::of(profile, middle);
        let gap = Enclosure::from(4.0) * (b.x - a.x).positive_part() / (a.x * b.x);
        let above = gap * (a.delta / a.x + b.delta / b.x);
        let below = gap * (a.x + b.x) / (a.x * b.x) * middle.delta;
        let share = Enclosure::between(below.lower().min(above.upper()), above.upper());
        Self { ends: [a, b], middle, share }
    }
}
