//! Divergences of two laws.

use super::Statement;
use crate::analysis::{ced, pac};

pub(super) const HOCKEY_STICK: Statement = Statement {
    id: "hockey-stick",
    title: "The hockey-stick divergence and differential privacy",
    statement: "E_γ(P‖Q) = sup_A [P(A) − γQ(A)] − (1 − γ)₊ for γ = e^ε > 0. A mechanism is (ε, δ)-DP iff \
                E_{e^ε} ≤ δ between its output laws on all neighbouring data, in both orders. \
                E_1 is total variation, and E_γ(P‖Q) = γ·E_{1/γ}(Q‖P).",
    assumptions: &["any two probability laws"],
    source: ced!("eq. 6 and 47"),
    errata: &[
        "\"privacy loss ≤ ε with probability ≥ 1 − δ\" (Asoodeh, Aliakbarpour, Calmon 2021, introduction) is \
         sufficient for (ε, δ)-DP, not equivalent to it (E21): for a Gaussian pair with r = 1 at ε = 1 the tail \
         is 0.3085 and δ is 0.1269",
    ],
    notes: None,
};

pub(super) const GAUSSIAN: Statement = Statement {
    id: "gaussian",
    title: "Two Gaussian laws",
    statement: "E_{e^ε}(N(m₁, σ²I)‖N(m₂, σ²I)) = θ_ε(r) = Q(ε/r − r/2) − e^ε·Q(ε/r + r/2) with r = ‖m₁ − m₂‖/σ; \
                for ε < 0 it is e^ε·θ_{−ε}(r). It is evaluated as φ(a)·[R(a) − R(a + r)], a = ε/r − r/2, with \
                the Mills ratio R, which does not cancel. D_α = αr²/2, KL = r²/2, χ² = e^(r²) − 1, \
                H² = 2 − 2e^(−r²/8).",
    assumptions: &["the same covariance σ²I, any dimension"],
    source: ced!("Lemma 3 and Definition 1"),
    errata: &[],
    notes: None,
};

pub(super) const LAPLACE: Statement = Statement {
    id: "laplace",
    title: "Two Laplace laws",
    statement: "E_{e^ε} = [1 − e^((ε − t)/2)]₊ for ε ≥ 0, with t = |m₁ − m₂|/v: exactly 0 from ε = t on.",
    assumptions: &["the same scale v", "one dimension"],
    source: pac!("Lemma 1"),
    errata: &[],
    notes: None,
};

pub(super) const DISCRETE: Statement = Statement {
    id: "discrete",
    title: "Two laws on finitely many outcomes",
    statement: "E_γ = Σ(p − γq)₊ for γ ≥ 1: convex, decreasing and piecewise linear in γ, with bends exactly at \
                the likelihood ratios p/q; the set {p > γq} attains it.",
    assumptions: &["probabilities that sum to 1 within 1e-9 (they are divided by their sum)"],
    source: ced!("eq. 6"),
    errata: &[],
    notes: None,
};

pub(super) const INTEGRAL_REPRESENTATION: Statement = Statement {
    id: "integral-representation",
    title: "Every f-divergence from the hockey-stick curve",
    statement: "D_f(P‖Q) = ∫₁^∞ [f″(γ)·E_γ(P‖Q) + γ⁻³f″(1/γ)·E_γ(Q‖P)] dγ. Integrated by parts it needs f only, \
                and is exact on a piecewise linear curve.",
    assumptions: &["f convex with f(1) = 0"],
    source: ced!("eq. 17"),
    errata: &[],
    notes: None,
};

pub(super) const RENYI_CONVERSION: Statement = Statement {
    id: "renyi-conversion",
    title: "From one Rényi divergence to (ε, δ)",
    statement: "If D_α(P‖Q) ≤ ρ for one order α > 1, then E_{e^ε}(P‖Q) ≤ δ*(ε) = max{p − e^ε·q : \
                D_α(Bern(p)‖Bern(q)) ≤ ρ}, and nothing smaller follows. It is never above the conversions of \
                Mironov, of Canonne, Kamath and Steinke, and both branches of Asoodeh et al.",
    assumptions: &["one order α with 1 < α < ∞; for several orders take the smallest result"],
    source: ced!("eq. 39, and the exact optimum in place of its two closed forms"),
    errata: &[
        "eq. 38 takes an order below 1 if ε < ρ, which is none (E13): 0.00516 where δ = 0.9304",
        "the closed forms of eq. 39 are valid but not optimal (E13): at α = 2, ρ = 0.5, ε = 1 they give 0.15163, \
         and 0.08970 holds",
    ],
    notes: None,
};

pub(super) const SUBSAMPLING: Statement = Statement {
    id: "subsampling",
    title: "A step that uses the record with probability p only",
    statement: "With γ = 1 + p(g − 1): Poisson sampling, a record added, removed or zeroed out: the pair \
                ((1−p)Q + pP, Q). Poisson sampling, fixed divisor, replace-one: \
                E_γ ≤ p·[(1−b)·θ_g(1/m) + b·θ_g(2/m)], b = γ/g. Batches of fixed size, or divided by the number \
                drawn, replace-one: E_γ ≤ p·θ_g(2/m), in both orders of the neighbours.",
    assumptions: &[
        "which records were drawn stays secret",
        "divided by the number drawn, the batch may be the record alone: m = s/(ηC)",
    ],
    source: "Balle, Barthe, Gaboardi, Privacy amplification by subsampling (2018), Theorem 2; Zhu, Dong, Wang, Optimal \
             accounting of differential privacy via characteristic function (2022), Theorem 11",
    errata: &[
        "the symmetric Poisson pair that other libraries use for replace-one is no bound for batches of fixed size: \
         in one dimension with D = 3, s = 1, d = 1, p = 0.2, T = 10 the total variation is 0.2677, and it says 0.2433",
    ],
    notes: None,
};
