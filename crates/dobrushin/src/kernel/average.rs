//! How much a kernel contracts χ² and KL, from how much it contracts E_γ.

use crate::{Enclosure, Epsilon};

/// ∫₁^∞ 8/(1 + γ)³·η_γ(K) dγ, which bounds η_χ²(K) = η_KL(K), from ε ↦ η_γ(K) with γ = e^ε and the ε where it bends, if
/// they are known. The integral is computed in parts that are halved until the enclosure is narrow.
///
/// # Guarantee
/// Two inputs suffice for η_χ² = η_KL (Ordentlich, Polyanskiy 2021): it is the largest h(λ) = λ(1−λ)·∫(p − q)²/(λp +
/// (1−λ)q) = 1 − ∫pq/(λp + (1−λ)q) over the outputs p, q at any two of them and over 0 < λ < 1. This is the
/// f-divergence with f″(t) = 2λ(1−λ)/(λt + 1 − λ)³, which is ∫₁^∞ [f″(γ)·E_γ(p‖q) + γ⁻³f″(1/γ)·E_γ(q‖p)] dγ (CED
/// equation 17). It grows with E_γ in both directions, neither of which exceeds η_γ. So let p and q be a pair whose E_γ
/// is η_γ in both directions (one exists for every convex decreasing η): their h is concave in λ, since ∫pq/(λp +
/// (1−λ)q) is convex, and the same at 1 − λ; it is largest at λ = 1/2, where the weight is f″(γ) + γ⁻³f″(1/γ) = 8/(1 +
/// γ)³.
///
/// It is η_χ² exactly if two inputs of the kernel are such a pair. The weight has mass 1, so this is an average of η,
/// and never above η_TV.
///
/// ```
/// use dobrushin::Enclosure;
/// use dobrushin::kernel::average_contraction;
///
/// // Randomised response that tells the truth 3 times in 4 has η_γ = (3 − γ)/4, in both directions, and η_χ² = 1/4.
/// let eta = |epsilon| ((Enclosure::from(3.0) - Enclosure::from(epsilon).exp()) / Enclosure::from(4.0)).positive_part();
/// assert!((average_contraction(eta, &[3_f64.ln()]).upper() - 0.25).abs() < 1e-6);
/// # Ok::<(), dobrushin::Error>(())
/// ```
pub fn average_contraction(eta: impl Fn(Epsilon) -> Enclosure, bends: &[f64]) -> Enclosure {
    let eta: &dyn Fn(f64) -> Enclosure = &|epsilon| Epsilon::new(epsilon).map_or(Enclosure::UNIT, &eta);
    let ends = [0.0].into_iter().chain(bends.iter().copied().filter(|bend| (0.0..LAST).contains(bend)));
    let mut nodes: Vec<Node> = ends.chain([LAST]).map(|epsilon| Node::of(eta, epsilon)).collect();
    nodes.sort_by(|a, b| a.epsilon.total_cmp(&b.epsilon));
    nodes.dedup_by(|a, b| a.epsilon == b.epsilon);
    let mut parts: Vec<Part> = nodes.windows(2).map(|ends| Part::between(eta, ends[0], ends[1])).collect();
    // Beyond the last part η falls, and the weight has mass 4/(1 + γ)².
    let rest = nodes.last().map_or(Enclosure::ONE, |last| {
        let beyond = Enclosure::from(4.0) / last.x.square() * last.eta;
        Enclosure::between(0.0, beyond.upper())
    });
    loop {
        let sum = parts.iter().map(|part| part.share).sum::<Enclosure>() + rest;
        let wanted = TOLERANCE * sum.upper() / parts.len() as f64;
        if sum.width() <= TOLERANCE * sum.upper() || parts.len() > MOST_PARTS {
            return sum;
        }
        let before = parts.len();
        let halves = parts.iter().flat_map(|part| {
            let [from, to] = part.ends;
            // Numbers near 1 are not dense enough to halve a part any number of times.
            let is_divisible = from.epsilon < part.middle.epsilon && part.middle.epsilon < to.epsilon;
            if part.share.width() <= wanted || !is_divisible {
                return vec![*part];
            }
            vec![Part::between(eta, from, part.middle), Part::between(eta, part.middle, to)]
        });
        parts = halves.collect();
        if parts.len() == before {
            return sum;
        }
    }
}

/// The weight beyond e to this power is less than 1e-33.
const LAST: f64 = 40.0;
/// The allowed relative width of the enclosure.
const TOLERANCE: f64 = 1e-7;
/// The most parts of the integral.
const MOST_PARTS: usize = 20_000;

/// η at one place.
#[derive(Clone, Copy)]
struct Node {
    epsilon: f64,
    /// 1 + e^ε.
    x: Enclosure,
    eta: Enclosure,
}

impl Node {
    fn of(eta: &dyn Fn(f64) -> Enclosure, epsilon: f64) -> Self {
        Self { epsilon, x: Enclosure::ONE + Enclosure::from(epsilon).exp(), eta: eta(epsilon) }
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
    /// η is convex in γ, so it is below the chord between the ends, and on average at least its value at the mean.
    /// Between x = 1 + γ = a and b the weight 8/x³ has the mass 4(b−a)(a+b)/(ab)² and the mean 2ab/(a+b), and the chord
    /// has the integral 4(b−a)/(ab)·[η_a/a + η_b/b].
    fn between(eta: &dyn Fn(f64) -> Enclosure, a: Node, b: Node) -> Self {
        let mean = Enclosure::from(2.0) * a.x * b.x / (a.x + b.x);
        // Rounded up, as η falls.
        let middle = (mean - Enclosure::ONE).ln().upper().clamp(a.epsilon, b.epsilon);
        let middle = Node::of(eta, middle);
        let gap = Enclosure::from(4.0) * (b.x - a.x).positive_part() / (a.x * b.x);
        let above = gap * (a.eta / a.x + b.eta / b.x);
        let below = gap * (a.x + b.x) / (a.x * b.x) * middle.eta;
        let share = Enclosure::between(below.lower().min(above.upper()), above.upper());
        Self { ends: [a, b], middle, share }
    }
}
