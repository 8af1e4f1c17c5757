//! How much a kernel contracts the divergence of its inputs.

use super::Statement;
use crate::analysis::{ced, pac};

pub(super) const CONTRACTION_COEFFICIENT: Statement = Statement {
    id: "contraction-coefficient",
    title: "Two inputs attain the contraction coefficient",
    statement: "η_γ(K) = sup_{x, y} E_γ(K(x)‖K(y)) for γ ≥ 1 and η_γ = η_{1/γ} for γ < 1. γ = 1 is Dobrushin's \
                coefficient. K is (ε, δ)-locally private iff η_{e^ε}(K) ≤ δ. For every f-divergence \
                η_f ≤ η_TV ≤ 1 − (1 − η_γ)/γ.",
    assumptions: &["any Markov kernel"],
    source: ced!("Theorems 2 and 3, Lemma 1, eq. 13"),
    errata: &[
        "Asoodeh, Diaz, Calmon (2020), eq. 2: a product of coefficients that starts from the law after the first kernel must not count that kernel \
         again (E5)",
    ],
    notes: None,
};

pub(super) const GAUSSIAN_KERNEL: Statement = Statement {
    id: "gaussian-kernel",
    title: "Gaussian noise on a bounded set",
    statement: "η_γ(K) = θ_ε(D/σ) for K(x) = N(x, σ²I) on a set of diameter D; it is 1 on an unbounded set.",
    assumptions: &["D is the diameter, not the radius", "inputs never leave the set"],
    source: ced!("Proposition 1"),
    errata: &[
        "Theorem 1 uses 2dA as the diameter of {‖x‖² ≤ dA}; it is 2√(dA), which is larger when dA < 1 (E3): \
         d = 1, A = 0.01, σ = 0.1 has TV 0.682689 where 0.079656 is printed",
    ],
    notes: None,
};

pub(super) const LAPLACE_KERNEL: Statement = Statement {
    id: "laplace-kernel",
    title: "Laplace noise on an interval",
    statement: "η_γ(K) = [1 − e^((ε − D/v)/2)]₊ for K(x) = Laplace(x, v) on an interval of length D.",
    assumptions: &["one dimension"],
    source: pac!("Theorem 2 and Lemma 1"),
    errata: &[],
    notes: None,
};

pub(super) const TIGHT_CURVE: Statement = Statement {
    id: "tight-curve",
    title: "The tight contraction curve",
    statement: "If E_γ(μ‖ν) = e > 0 then E_γ(μK‖νK) ≤ F_γ(e) = e·η_γ̃(K) with γ̃ = 1 + (γ − 1)/e, and nothing \
                smaller holds for all such μ, ν. F_γ(e) ≤ e·η_γ(K), far below it when e is small: repeated \
                contraction decays faster than geometrically.",
    assumptions: &["γ ≥ 1 (for γ < 1: F_γ(e) = γ·F_{1/γ}(e/γ))"],
    source: "Balle, Barthe, Gaboardi, Geumlek, Privacy amplification by mixing and diffusion mechanisms (2019)",
    errata: &[],
    notes: None,
};

pub(super) const OUTPUT_BOUND: Statement = Statement {
    id: "output-bound",
    title: "What a kernel leaves of an f-divergence",
    statement: "D_f(μK‖νK) ≤ ∫₁^∞ η_γ(K)·[f″(γ)·E_γ(μ‖ν) + γ⁻³f″(1/γ)·E_γ(ν‖μ)] dγ, never above \
                η_TV(K)·D_f(μ‖ν).",
    assumptions: &["f convex with f(1) = 0"],
    source: ced!("Corollary 1"),
    errata: &[
        "the values of its examples are wrong (E20): Example 1 is 20.5241 and 0.887411, not 0.49 and 0.26 \
         (the exact χ² is 0.308649); Example 2 is 0.1875 and 0.175226, not 0.19 and 0.17",
    ],
    notes: None,
};

pub(super) const TIGHT_OUTPUT_BOUND: Statement = Statement {
    id: "tight-output-bound",
    title: "What a kernel leaves of an f-divergence, by the tight curve",
    statement: "D_f(μK‖νK) ≤ ∫₁^∞ [f″(γ)·F_γ(E_γ(μ‖ν)) + γ⁻³f″(1/γ)·F_γ(E_γ(ν‖μ))] dγ with F_γ(e) = e·η_γ̃(K), \
                γ̃ = 1 + (γ − 1)/e: never above `output-bound`.",
    assumptions: &["f convex with f(1) = 0"],
    source: "`tight-curve` in the integral representation of f-divergences (Asoodeh, Diaz, Calmon 2023, eq. 17)",
    errata: &[],
    notes: None,
};

pub(super) const CHI2_CONTRACTION: Statement = Statement {
    id: "chi2-contraction",
    title: "η_χ² = η_KL of a finite kernel",
    statement: "η_χ² = η_KL = max over pairs of rows p, q and 0 < λ < 1 of 1 − Σ pq/(λp + (1 − λ)q): the coefficient \
                of every operator-convex f, attained on two inputs. η_χ² ≤ η_f ≤ η_TV for every twice \
                differentiable f with f″(1) > 0. Of any channel it is at most ∫₁^∞ 8/(1 + γ)³·η_γ dγ, and exactly that \
                if the same two inputs attain η_γ in both directions at every γ, as the ends of an interval do under \
                symmetric log-concave noise.",
    assumptions: &["finitely many inputs and outputs, but for the integral"],
    source: "Choi, Ruskai, Seneta (1994); Ordentlich, Polyanskiy, Strong data processing constant is achieved by \
             binary inputs (2021)",
    errata: &[
        "for the binary symmetric channel with crossover w it is (1 − 2w)², not 1 − 2w² as in Asoodeh, \
         Aliakbarpour, Calmon (2021) (E19): 0.25 against 0.875 at w = 1/4",
    ],
    notes: None,
};

pub(super) const PRODUCT_KERNEL: Statement = Statement {
    id: "product-kernel",
    title: "Kernels side by side",
    statement: "η_γ(⊗K_i) ≤ 1 − Π(1 − η_{γ_i}(K_i)) for any γ_i ≥ 1 with Π γ_i = γ; in particular \
                η_TV(⊗K_i) ≤ 1 − Π(1 − η_TV(K_i)). Independent Gaussian kernels are one, with \
                (D/σ)² = Σ(D_i/σ_i)².",
    assumptions: &["independent noise"],
    source: ced!("Lemma 2, here for every γ and each kernel's own coefficient"),
    errata: &[],
    notes: None,
};
