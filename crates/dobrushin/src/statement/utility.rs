//! How good the released model of a run is, in expectation.

use super::Statement;

/// Privacy amplification by iteration.
macro_rules! pai {
    ($place:literal) => {
        concat!("Feldman, Mironov, Talwar, Thakurta, Privacy amplification by iteration (2018), ", $place)
    };
}

/// The assumptions of every bound on a descent.
macro_rules! descent {
    ($($more:literal),*) => {
        &[
            "convex losses with gradients (or subgradients) of norm at most L; clipped ones only of generalised linear losses",
            "the start is in, and every step is projected to, a closed convex set of diameter D",
            "the mean gradient is unbiased: records used at most once and drawn independently (population risk), or every \
             batch drawn from all records anew and divided by a fixed number (empirical risk)",
            "no weight decay; learning rates that never grow",
            $($more),*
        ]
    };
}

/// Every statement about utility, in the order of reports.
pub const UTILITY: &[Statement] = &[
    Statement {
        id: "utility-average",
        title: "The excess risk of the iterate of a random time, or of the average iterate",
        statement: "Over m iterates in a row the mean of E[F(x_t)] − F* is at most \
                    (D²/η + Σ η_t·G_t² + η·L²)/(2m), the sum over the m − 1 steps between them and η the last rate; for equal \
                    steps D²/(2ηm) + (η/2)·((m−1)·G² + L²)/m. G² = g² + d(s/η)² with the iterate's noise s (Laplace: \
                    g² + 2(s/η)²), g² = L², or L²(1 + (1−p)/b) for Poisson batches divided by b = pn. A random stop has \
                    m = n iterates, a random skip of up to half of the n private steps ⌊n/2⌋ + 1, at every start.",
        assumptions: descent!(),
        source: "the analysis of projected subgradient descent (Zinkevich 2003), from any time on, the last step being \
                 made without noise, or not at all",
        errata: &[
            "Theorem 28 of Feldman et al. (2018) has 4R·G/√n at η = 2R/(G√n); with D = 2R this is 2R·G/√n",
        ],
        notes: None,
    },
    Statement {
        id: "utility-last",
        title: "The excess risk of the last iterate",
        statement: "For equal steps E[F(x_n)] − F* ≤ D²/(2ηm) + (η/2)·(G²·H_{m−1} + L²) for every m ≤ n + 1, H_k = 1 + … + 1/k. \
                    For rates that fall: the bound on the average of the last m, and \
                    Σ_{k<m} (Σ_{t>n−k} η_t·G_t² + η_n·L² + D²·(1/η_n − 1/η_{n−k+1}))/(2k(k+1)). The best m is taken; G as in \
                    utility-average.",
        assumptions: descent!(),
        source: "Shamir, Zhang, Stochastic gradient descent for non-smooth optimization (2013), with explicit constants, \
                 the last step without noise, and any m",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "utility-passes",
        title: "The excess empirical risk of the last iterate after several passes in turn",
        statement: "Records are used in turn, in M equal batches a pass, the same rate η in every step. A whole pass is a step of rate \
                    Mη on the empirical risk, with the second moment g²/M + L²(M−1)/M + (2L√V/M²)·Σ_{j<M} √j, where g² = L² + V \
                    and V = d(s/η)² is the noise of a step. The bound is that of utility-last for as many steps as there are passes.",
        assumptions: &[
            "convex losses with gradients (or subgradients) of norm at most L; clipped ones only of generalised linear losses",
            "the start is in, and every step is projected to, a closed convex set of diameter D",
            "whole passes, each over all records, in batches of equal size",
            "no weight decay; one learning rate and one noise",
        ],
        source: "incremental subgradient descent (Nedić, Bertsekas 2001), with noise, explicit constants and the last iterate",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "utility-domain",
        title: "The excess risk of any point of the domain, or the average regret of any plays",
        statement: "F(x) − F* ≤ L·D.",
        assumptions: &["gradients (or subgradients) of norm at most L on a convex set of diameter D"],
        source: "convexity",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "utility-regret",
        title: "The average regret of online gradient descent",
        statement: "For plays w_1, …, w_n and costs f_1, …, f_n, E[Σ f_t(w_t)] − min_u Σ f_t(u) ≤ \
                    D²/(2η_n) + ½·Σ_{t<n} η_t·(L² + d·σ_t²) + ½·η_n·L².",
        assumptions: &[
            "convex costs with gradients of norm at most L, fixed before the first play",
            "the start is in, and every step is projected to, a closed convex set of diameter D",
            "learning rates that never grow",
        ],
        source: "Asoodeh, Diaz, Calmon, Contraction of E_γ-divergence and its applications to privacy (2023), Proposition 2, \
                 for any rates",
        errata: &[
            "the paper's algorithm releases w_{T+1}, its proposition is about w_T (E21); utility-average is about the former",
            "σ_t/√t → 0 is not enough for vanishing regret with η_t ~ 1/√t (E21): (1/n)·Σ σ_t²/√t → 0 is needed",
        ],
        notes: None,
    },
    Statement {
        id: "prescription-stop",
        title: "Noise and learning rate for one pass that stops at random",
        statement: "With the smallest σ such that θ_ε(2L/σ) ≤ δ, η = 2R/(G√n) and G² = L² + dσ², every step is (ε, δ)-private \
                    by itself, and the excess population risk is at most 2R·G/√n.",
        assumptions: &[
            "convex L-Lipschitz losses",
            "a convex set in a ball of radius R",
            "independent records",
        ],
        source: pai!("Theorem 29, with half its bound"),
        errata: &[
            "σ = 2L√(2·ln(1.25/δ))/ε is not private for large ε (E10): at ε = 10 and δ = 1e-5 the δ is 2.265e-5",
        ],
        notes: None,
    },
    Statement {
        id: "prescription-skip",
        title: "Noise and learning rate for one pass that skips its start at random",
        statement: "σ as in prescription-stop, η = √8·R/(G√n): every step is (ε, δ)-private by itself, record t is \
                    (ε₀, θ_{ε₀}(2L/(σ√(n−t+1))))-private for every ε₀, and the excess population risk is at most 2√2·R·G/√n.",
        assumptions: &[
            "convex L-Lipschitz losses, of smoothness at most 2/η for the second part",
            "a convex set in a ball of radius R",
            "independent records",
        ],
        source: pai!("Theorem 30, with half its bound"),
        errata: &[
            "(ε/√(n−t+1), δ) does not follow from the Rényi curve; it holds where ε/√(n−t+1) ≤ 1 (E11)",
            "√(8R) in η must be √8·R (E11)",
        ],
        notes: None,
    },
    Statement {
        id: "prescription-public",
        title: "Noise and learning rate for one pass that ends with m public records",
        statement: "With the smallest σ such that θ_ε(2L/(σ√(m+1))) ≤ δ, η = √8·R/(G√n) and G² = L² + dσ², the model is \
                    (ε, δ)-private for all other records, and the excess population risk is at most 2√2·R·G/√n.",
        assumptions: &[
            "convex L-Lipschitz losses of smoothness at most 2/η",
            "a convex set in a ball of radius R",
            "independent records, the public ones of the same distribution",
        ],
        source: pai!("Corollary 31, with half its bound"),
        errata: &[
            "the printed σ lacks a factor √2 and is not private (E12): 50 public records, ε = 1 and δ = 1e-5 have δ = 2.713e-5",
        ],
        notes: None,
    },
    Statement {
        id: "prescription-tasks",
        title: "Noise and learning rate for k models on the same records",
        statement: "With q = max{2k·H_n/n, 2·ln(1/δ)}, σ = 4L√(q·ln(1/δ))/ε, η = 4R/(G√n) and G² = L² + dσ², k models of \
                    random times are (ε, δ)-private together, and the excess population risk of each is at most 2.5·R·G/√n.",
        assumptions: &[
            "convex L-Lipschitz losses of smoothness at most 2/η",
            "a convex set in a ball of radius R",
            "independent records",
            "0 < ε < 1 and 0 < δ < 1/2",
        ],
        source: pai!("Theorem 32, with 5/8 of its bound"),
        errata: &["q has ln n in place of H_n, which is too small for n = 1 (E9)"],
        notes: None,
    },
    Statement {
        id: "prescription-passes",
        title: "Noise and learning rate for several passes in the same order",
        statement: "With the smallest σ such that θ_ε(2L·√(1 + (E−1)/n)/σ) ≤ δ, the last model of E passes over n records is \
                    (ε, δ)-private; the learning rate minimises the bound of utility-passes. With E = n this is, up to a \
                    logarithm, the rate L·D·(1/√n + √d·σ/(L·n)).",
        assumptions: &["convex L-Lipschitz losses of smoothness at most 2/η", "a convex set of diameter D"],
        source: pai!("Theorem 35, with the exact profile; the paper gives no utility"),
        errata: &[],
        notes: None,
    },
    Statement {
        id: "prescription-smoothing",
        title: "Losses that are not smooth",
        statement: "f̂(w) = E f(w + λZ), Z ~ N(0, I), is convex, L-Lipschitz and L/λ-smooth, and f ≤ f̂ ≤ f + L·λ·E‖Z‖ with \
                    E‖Z‖ = √2·Γ((d+1)/2)/Γ(d/2) ≤ √d. With λ = L·η/2 it is smooth enough for prescription-skip, whose excess \
                    grows by at most ½·η·L²·E‖Z‖.",
        assumptions: &["convex L-Lipschitz losses, extended from the set to all points"],
        source: pai!("Theorem 33 and Corollary 34"),
        errata: &[
            "the smoothing term of Corollary 34 must be LRε√d/(2√(n·ln(1/δ))); as printed it is smaller for δ below about \
             1e-14 (E21)",
            "E‖Z‖ = √d must be ≤ (E22)",
        ],
        notes: None,
    },
    Statement {
        id: "prescription-online",
        title: "Noise and learning rates for online gradient descent",
        statement: "With σ as in prescription-stop and η_t = D/(L√t) the average regret is at most \
                    3LD/(2√n) + (dσ²/(2n))·Σ η_t; utility-regret is sharper.",
        assumptions: &[
            "convex costs with gradients of norm at most L, fixed before the first play",
            "a set of diameter D",
        ],
        source: "Asoodeh, Diaz, Calmon, Contraction of E_γ-divergence and its applications to privacy (2023), Proposition 2",
        errata: &["the bound is for w_T, not for the w_{T+1} that the algorithm returns (E21)"],
        notes: None,
    },
    Statement {
        id: "lower-two-points",
        title: "What nobody can do better: two points",
        statement: "Every algorithm has, for some straight losses −L·⟨w, x⟩ on the ball of radius R, an excess of at least \
                    L·R·sup_h h·(1 − T(h)). Without privacy T² = 1 − (1 − h²)^n. If every report is (ε, δ)-private, T² = 1 − B^{2n} \
                    with B = δ·√(1 − h²) + (1 − δ)·√(1 − τ²h²), τ = tanh(ε/2). If the model is (ε, δ)-private, T = \
                    min{nhφ, (1 + 2δ/(e^ε − 1))·tanh(nhε/2)} with φ = τ + δ(1 − τ), plus √(1 − (1 − h²)^m) for m public records, where \
                    n counts the others. For the empirical risk h = r/n for whole numbers r.",
        assumptions: &[
            "the class of losses contains straight ones, and the set is the ball of radius R",
            "neighbours differ in one replaced record",
        ],
        source: "Le Cam's method; Kairouz, Oh, Viswanath, The composition theorem for differential privacy (2015), for the \
                 least private report on two values",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "lower-tracing",
        title: "What nobody can do better: tracing in d dimensions",
        statement: "Every algorithm has, for some straight losses on the ball of radius R, an excess of at least \
                    L·R·sup_{k≥0} (√(v·d/(κ + d − 1)) − ℓ/(2(k+1)√d)), v = 1/(2k+3), κ = 3(2k+3)/(2k+5). If the model is \
                    (ε, δ)-private, ℓ = n·(sinh ε + (1 + e^{−ε})·δ·√d); with K models sinh ε/√K; with m public records, n counting the \
                    others, √(md) more. If every report is (ε, δ)-private, ℓ = y·√n with y² = y·sinh ε + 2(1 + e^{−ε})·δ·d. For the \
                    empirical risk, N of n records: (N/n)·L·R·(… − ℓ/(N√d)). The leading terms are L·R·√d/(4nε) and L·R·√d/(4ε√n).",
        assumptions: &[
            "the class of losses contains straight ones, and the set is the ball of radius R",
            "neighbours differ in one replaced record",
        ],
        source: "fingerprinting (Bun, Ullman, Vadhan 2014; Steinke, Ullman 2017) with explicit constants; the proof is in the \
                 documentation of dobrushin::utility::least_excess",
        errata: &[],
        notes: None,
    },
];
