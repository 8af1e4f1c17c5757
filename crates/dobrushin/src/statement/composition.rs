//! Everything that a run computes, added up.

use super::{Notes, Statement};

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

pub(super) const COMPOSITION: Statement = Statement {
    id: "composition",
    title: "Everything a run computes, by adding up privacy losses",
    statement: "If the pair (P_t, Q_t) dominates step t, E_γ of its outputs being at most E_γ(P_t‖Q_t) for every \
                γ > 0 and every earlier output, then E_γ of all outputs together is at most \
                E_γ(⊗P_t‖⊗Q_t) = E[(1 − e^(ε−ΣL_t))₊], L_t = ln(dP_t/dQ_t). The law of the sum is computed by \
                convolution on a grid, rounded so that the upper end is a bound; nothing is published that is \
                not a post-processing of it.",
    assumptions: &[
        "each step's noise and sample are drawn anew, independently, and stay secret",
        "a noisy iteration with noise s_t, rate η_t, clip norm C and divisor b is a mechanism with multiplier \
         m_t = s_t·b/(η_t·C): neighbours are 1/m_t apart (add-or-remove-one, zero-out) or 2/m_t (replace-one)",
        "records in turn (once, cyclic, shuffled): only the steps that use the record count; shuffling itself \
         is not credited",
    ],
    source: "Zhu, Dong, Wang, Optimal accounting of differential privacy via characteristic function (2022), \
             Theorem 10; Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the dots (2022)",
    errata: &[],
    notes: Some(Notes {
        applies_to: "any run with a number of steps; any list of mechanisms",
        formula: "\
δ(ε) = E(1 − e^(ε − L₁ − … − L_T))₊

L_t      the privacy loss ln(dP_t/dQ_t) of step t, drawn under P_t
P_t, Q_t the laws of step t's output for two neighbours, or a pair that is easier to tell apart
T        the number of steps that may use the record",
        proof: &[
            "E_γ(P‖Q) = ∫(dP − γdQ)₊ = E(1 − γ·e^(−L))₊ with L = ln(dP/dQ) under P: δ(ε) is read off the law of the loss.",
            "Two steps, the second of which may depend on the output y of the first: E_γ of both is the integral over y of \
             p(y)·E_{γ′}(second step given y), γ′ = γ·q(y)/p(y). As γ′ may be any positive number, the pair (P₂, Q₂) \
             must dominate at every γ > 0; it may then replace the second step.",
            "In what results the second loss no longer depends on y. Integrating over y first, the same argument \
             replaces the first step by (P₁, Q₁). By induction E_γ of all steps is at most E_γ(⊗P_t‖⊗Q_t).",
            "The losses of a product are independent and add: their law is a convolution. Gaussian steps on all \
             records need none: L is N(r²/2, r²) at distance r, so T of them are one Gaussian step at distance r·√T.",
            "On the grid, the profile is replaced by its chords between the grid's γ. As E_γ is convex in γ they lie above \
             it, and they are E_γ of a pair with losses on the grid: an upper bound that may be composed. A hull below \
             gives the lower end. What the Fourier transform rounds and what lies outside its window are bounded \
             and added.",
            "The pair of a step that samples its records is that of `subsampling`, in both orders of the neighbours. \
             What is published is a function of all outputs, so the bound holds for it.",
        ],
        wins: &[
            "The guarantee wherever hiding does not help: everything is published, a list of mechanisms, or iterates so \
             far apart that no noise hides them. In the example D is 25600 noise standard deviations, and ε = 2.345 of \
             composition is the best; `shift-subsampled` says 3.031, every other analysis of hidden states more than 700.",
            "It is the only analysis that is tight for published iterates, and the lower end says how tight: 2e-5 of ε.",
            "It grows like √T at first and like T in the end, and says nothing for any number of steps. For a record \
             used once it is the ε of that one step, whatever follows.",
        ],
        example: "account examples/dp-sgd.toml",
    }),
};

pub(super) const COMPOSITION_RENYI: Statement = Statement {
    id: "composition-renyi",
    title: "Everything a run computes, by adding up Rényi divergences",
    statement: "D_α of all outputs together is at most ΣD_α of the steps, for every α > 1; the profile is the best \
                that any one order implies (`renyi-conversion`). Never below `composition`.",
    assumptions: &[
        "as `composition`",
        "Gaussian or Laplace noise on all records, or Gaussian noise on Poisson samples with a fixed divisor and \
         add-or-remove-one or zero-out",
    ],
    source: "Mironov, Rényi differential privacy (2017), Proposition 1; Mironov, Talwar, Zhang, Rényi differential \
             privacy of the sampled Gaussian mechanism (2019)",
    errata: &[],
    notes: Some(Notes {
        applies_to: "a number of steps, each of which has a Rényi curve",
        formula: "\
δ(ε) = min over α > 1 of δ*(ε; α, D_α(step 1) + … + D_α(step T))

D_α      the Rényi divergence of order α of a step's outputs for two neighbours
δ*       the largest δ at ε that a pair of laws with this D_α can have",
        proof: &[
            "e^((α−1)·D_α) = ∫ p^α·q^(1−α). Given the earlier outputs, the factor of step t is at most e^((α−1)·D_α(step t)), \
             so the integral over all outputs is at most the product: the divergences add.",
            "D_α = α·r²/2 for Gaussian noise at distance r, a closed form for Laplace noise. For Poisson samples of rate p and \
             r = 1/m it is ln E[(1 − p + p·e^(rx − r²/2))^α]/(α − 1), x normal, integrated with a proved error \
             at every real order.",
            "With a record removed in place of added, D_α is smaller: with t = e^(rx − r²/2), u = 1 − p + pt, v = 1 − p + p/t \
             the claim is u^α − u^(1−α) ≥ t·(v^(1−α) − v^α) for t > 1, an equality at α = 1 that uv ≥ 1 keeps true beyond.",
            "`renyi-conversion` turns one order into (ε, δ) without loss. Every order gives a bound; the best one is \
             searched for.",
        ],
        wins: &[
            "Where δ is below 1e-250 or so: there the masses of losses underflow and `composition` answers ∞; in the example \
             ε = 74.60.",
            "Otherwise never: ε of examples/dp-sgd.toml at δ = 1e-5 is 2.566 against 2.345, and 7 to 9 per cent more are \
             usual there.",
            "It is a check on `composition` that shares no code with it and needs no grid.",
            "It says nothing about batches of a fixed size, a realised divisor, or Poisson samples with replace-one.",
        ],
        example: "account examples/dp-sgd.toml --delta 1e-300",
    }),
};

pub(super) const COMPOSITION_GDP: Statement = Statement {
    id: "composition-gdp",
    title: "Everything a run computes, as the central limit theorem has it (an approximation)",
    statement: "T steps on Poisson samples of rate p with noise multiplier m are about as private as a Gaussian \
                mechanism with μ = p·√(T·(e^(1/m²) − 1)). It is no bound: it errs to either side, at small δ to the \
                unsafe one, and is never the guarantee.",
    assumptions: &["p·√T tends to a constant as T grows", "Gaussian noise; add-or-remove-one or zero-out"],
    source: "Bu, Dong, Long, Su, Deep learning with Gaussian differential privacy (2020), Theorem 5",
    errata: &[],
    notes: Some(Notes {
        applies_to: "Gaussian noise on all records or on Poisson samples; an approximation",
        formula: "\
δ(ε) ≈ θ_ε(μ),   μ = p·√(T·(e^(1/m²) − 1))

θ_ε(μ)   E_{e^ε} of two unit Gaussians at distance μ
p, T, m  the sampling rate, the number of steps, the noise multiplier",
        proof: &[
            "One step's likelihood ratio is 1 + p·(t − 1), t = e^(x/m − 1/(2m²)), x normal. E(t − 1)² = e^(1/m²) − 1, so for small p \
             its logarithm has mean −p²·(e^(1/m²) − 1)/2 and variance p²·(e^(1/m²) − 1), up to p³.",
            "If p·√T tends to a constant, the sum of T of them tends to N(−μ²/2, μ²) by the central limit theorem: the \
             loss of two unit Gaussians at distance μ.",
            "That is a limit, without a bound on what is missing at a given T. The tail of a sum is the last to become \
             normal, and a small δ is all tail: there the formula is too small.",
            "Steps on all records, at distance r, add T·r² to μ², which is no approximation; μ² of different steps add.",
        ],
        wins: &[
            "Never: an approximation is no guarantee, and is reported to be compared with what others report.",
            "In the example it says 2.259 where ε is 2.345; with 100 steps 0.181 for 0.291, with 1e6 steps 38.75 for 38.67. \
             Without sampling it is exact.",
        ],
        example: "account examples/dp-sgd.toml --set steps=100 --analyses composition-gdp,composition",
    }),
};
