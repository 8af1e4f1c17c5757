//! What the numbers of this crate rest on, as data: each result with its
//! assumptions, its source and what was wrong with the source.

/// A theorem that a number rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The name to ask for it by.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The result, in words and formulas.
    pub statement: &'static str,
    /// What must hold.
    pub assumptions: &'static [&'static str],
    /// Where it comes from.
    pub source: &'static str,
    /// What the source has wrong, and what holds instead; the numbers are those
    /// of docs/errata.md.
    pub errata: &'static [&'static str],
}

/// The statement with the given id.
pub fn find(id: &str) -> Option<&'static Statement> {
    STATEMENTS.iter().chain(crate::utility::STATEMENTS).find(|s| s.id == id)
}

/// Contraction of E_γ-divergence and its applications to privacy.
macro_rules! ced {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Calmon, Contraction of E_γ-divergence and its applications to privacy (2023), ",
            $place
        )
    };
}

/// Every statement about privacy, in the order in which they build on each other; those about utility are
/// [`crate::utility::STATEMENTS`].
pub const STATEMENTS: &[Statement] = &[
    Statement {
        id: "hockey-stick",
        title: "The hockey-stick divergence and differential privacy",
        statement: "E_γ(P‖Q) = sup_A [P(A) − γQ(A)] − (1 − γ)₊ for γ = e^ε > 0. A mechanism is (ε, δ)-DP iff \
                    E_{e^ε} ≤ δ between its output laws on all neighbouring data, in both orders. \
                    E_1 is total variation, and E_γ(P‖Q) = γ·E_{1/γ}(Q‖P).",
        assumptions: &["any two probability laws"],
        source: ced!("eq. 6 and 47"),
        errata: &[
            "\"privacy loss ≤ ε with probability ≥ 1 − δ\" is sufficient for (ε, δ)-DP, not equivalent to it (E21): \
             for a Gaussian pair with r = 1 at ε = 1 the tail is 0.3085 and δ is 0.1269",
        ],
    },
    Statement {
        id: "gaussian",
        title: "Two Gaussian laws",
        statement: "E_{e^ε}(N(m₁, σ²I)‖N(m₂, σ²I)) = θ_ε(r) = Q(ε/r − r/2) − e^ε·Q(ε/r + r/2) with r = ‖m₁ − m₂‖/σ; \
                    for ε < 0 it is e^ε·θ_{−ε}(r). It is evaluated as φ(a)·[R(a) − R(a + r)], a = ε/r − r/2, with \
                    the Mills ratio R, which does not cancel. D_α = αr²/2, KL = r²/2, χ² = e^(r²) − 1, \
                    H² = 2 − 2e^(−r²/8).",
        assumptions: &["the same covariance σ²I, any dimension"],
        source: ced!("Lemma 3 and Definition 1"),
        errata: &[],
    },
    Statement {
        id: "laplace",
        title: "Two Laplace laws",
        statement: "E_{e^ε} = [1 − e^((ε − t)/2)]₊ for ε ≥ 0, with t = |m₁ − m₂|/v: exactly 0 from ε = t on.",
        assumptions: &["the same scale v", "one dimension"],
        source: "Asoodeh, Diaz, Calmon, Privacy amplification of iterative algorithms via contraction coefficients \
                 (2020), Lemma 1",
        errata: &[],
    },
    Statement {
        id: "discrete",
        title: "Two laws on finitely many outcomes",
        statement: "E_γ = Σ(p − γq)₊ for γ ≥ 1: convex, decreasing and piecewise linear in γ, with bends exactly at \
                    the likelihood ratios p/q; the set {p > γq} attains it.",
        assumptions: &["probabilities that sum to 1 within 1e-9 (they are divided by their sum)"],
        source: ced!("eq. 6"),
        errata: &[],
    },
    Statement {
        id: "integral-representation",
        title: "Every f-divergence from the hockey-stick curve",
        statement: "D_f(P‖Q) = ∫₁^∞ [f″(γ)·E_γ(P‖Q) + γ⁻³f″(1/γ)·E_γ(Q‖P)] dγ. Integrated by parts it needs f only, \
                    and is exact on a piecewise linear curve.",
        assumptions: &["f convex with f(1) = 0"],
        source: ced!("eq. 17"),
        errata: &[],
    },
    Statement {
        id: "contraction-coefficient",
        title: "Two inputs attain the contraction coefficient",
        statement: "η_γ(K) = sup_{x, y} E_γ(K(x)‖K(y)) for γ ≥ 1 and η_γ = η_{1/γ} for γ < 1. γ = 1 is Dobrushin's \
                    coefficient. K is (ε, δ)-locally private iff η_{e^ε}(K) ≤ δ. For every f-divergence \
                    η_f ≤ η_TV ≤ 1 − (1 − η_γ)/γ.",
        assumptions: &["any Markov kernel"],
        source: ced!("Theorems 2 and 3, Lemma 1, eq. 13"),
        errata: &[
            "a product of coefficients that starts from the law after the first kernel must not count that kernel \
             again (E5)",
        ],
    },
    Statement {
        id: "gaussian-kernel",
        title: "Gaussian noise on a bounded set",
        statement: "η_γ(K) = θ_ε(D/σ) for K(x) = N(x, σ²I) on a set of diameter D; it is 1 on an unbounded set.",
        assumptions: &["D is the diameter, not the radius", "inputs never leave the set"],
        source: ced!("Proposition 1"),
        errata: &[
            "Theorem 1 uses 2dA as the diameter of {‖x‖² ≤ dA}; it is 2√(dA), which is larger when dA < 1 (E3): \
             d = 1, A = 0.01, σ = 0.1 has TV 0.682689 where 0.079656 is printed",
        ],
    },
    Statement {
        id: "laplace-kernel",
        title: "Laplace noise on an interval",
        statement: "η_γ(K) = [1 − e^((ε − D/v)/2)]₊ for K(x) = Laplace(x, v) on an interval of length D.",
        assumptions: &["one dimension"],
        source: "Asoodeh, Diaz, Calmon, Privacy amplification of iterative algorithms via contraction coefficients \
                 (2020), Theorem 2 and Lemma 1",
        errata: &[],
    },
    Statement {
        id: "tight-curve",
        title: "The tight contraction curve",
        statement: "If E_γ(μ‖ν) = e > 0 then E_γ(μK‖νK) ≤ F_γ(e) = e·η_γ̃(K) with γ̃ = 1 + (γ − 1)/e, and nothing \
                    smaller holds for all such μ, ν. F_γ(e) ≤ e·η_γ(K), far below it when e is small: repeated \
                    contraction decays faster than geometrically.",
        assumptions: &["γ ≥ 1 (for γ < 1: F_γ(e) = γ·F_{1/γ}(e/γ))"],
        source: "Balle, Barthe, Gaboardi, Geumlek, Privacy amplification by mixing and diffusion mechanisms (2019)",
        errata: &[],
    },
    Statement {
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
    },
    Statement {
        id: "chi2-contraction",
        title: "η_χ² = η_KL of a finite kernel",
        statement: "η_χ² = η_KL = max over pairs of rows p, q and 0 < λ < 1 of 1 − Σ pq/(λp + (1 − λ)q): the coefficient \
                    of every operator-convex f, attained on two inputs. η_χ² ≤ η_f ≤ η_TV for every twice \
                    differentiable f with f″(1) > 0.",
        assumptions: &["finitely many inputs and outputs"],
        source: "Choi, Ruskai, Seneta (1994); Ordentlich, Polyanskiy, Strong data processing constant is achieved by \
                 binary inputs (2021)",
        errata: &[
            "for the binary symmetric channel with crossover w it is (1 − 2w)², not 1 − 2w² as in Asoodeh, \
             Aliakbarpour, Calmon (2021) (E19): 0.25 against 0.875 at w = 1/4",
        ],
    },
    Statement {
        id: "renyi-conversion",
        title: "From one Rényi divergence to (ε, δ)",
        statement: "If D_α(P‖Q) ≤ ρ for one order α > 1, then E_{e^ε}(P‖Q) ≤ δ*(ε) = max{p − e^ε·q : \
                    D_α(Bern(p)‖Bern(q)) ≤ ρ}, and nothing smaller follows. It is never above the conversions of \
                    Mironov, of Canonne, Kamath and Steinke, and both branches of Asoodeh et al.",
        assumptions: &["one order α with 1 < α < ∞; for several orders take the smallest result"],
        source: ced!("eq. 39, and the exact optimum in place of its two closed forms"),
        errata: &[
            "the closed forms of eq. 39 are valid but not optimal (E13): at α = 2, ρ = 0.5, ε = 1 they give 0.15163, \
             and 0.08970 holds",
        ],
    },
    Statement {
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
    },
    Statement {
        id: "composition-renyi",
        title: "Everything a run computes, by adding up Rényi divergences",
        statement: "D_α of all outputs together is at most ΣD_α of the steps, for every α > 1; the profile is the best \
                    that any one order implies (renyi-conversion). Never below `composition`.",
        assumptions: &[
            "as composition",
            "Gaussian or Laplace noise on all records, or Gaussian noise on Poisson samples with a fixed divisor and \
             add-or-remove-one or zero-out",
        ],
        source: "Mironov, Rényi differential privacy (2017), Proposition 1; Mironov, Talwar, Zhang, Rényi differential \
                 privacy of the sampled Gaussian mechanism (2019)",
        errata: &[],
    },
    Statement {
        id: "composition-gdp",
        title: "Everything a run computes, as the central limit theorem has it (an approximation)",
        statement: "T steps on Poisson samples of rate p with noise multiplier m are about as private as a Gaussian \
                    mechanism with μ = p·√(T·(e^(1/m²) − 1)). It is no bound: it errs to either side, at small δ to the \
                    unsafe one, and is never the guarantee.",
        assumptions: &[
            "p·√T tends to a constant as T grows",
            "Gaussian noise; add-or-remove-one or zero-out",
        ],
        source: "Bu, Dong, Long, Su, Deep learning with Gaussian differential privacy (2020), Theorem 5",
        errata: &[],
    },
    Statement {
        id: "contraction-published",
        title: "A record used once, then hidden by steps on a bounded domain: a product of contraction coefficients",
        statement: "If the record is used in step i only, the last iterate has δ(ε) = η(d_i/s_i)·∏_{t>i} η(ω_t(D)/s_t), \
                    where η(r) = θ_ε(r) for Gaussian noise and [1 − e^((ε−r)/2)]₊ for Laplace noise in one dimension; \
                    d_i is how far the update moves when the record is replaced, s_t the noise of the iterate, and ω_t(D) \
                    the diameter of the image of the domain under the update.",
        assumptions: &[
            "only the last iterate is published",
            "iterates are projected to a closed convex set of diameter D",
            "ω_t(D) ≤ D + 2ηL always; ≤ D·max(|1−ηρ|, |1−ηβ|) if losses are ρ-strongly convex and β-smooth",
            "diameters are suprema over all data sets",
        ],
        source: ced!(
            "Theorem 5; Privacy amplification of iterative algorithms via contraction coefficients (2020), Theorems 3 and 4"
        ),
        errata: &[
            "the step-size hypothesis η ≤ 2/(β+ρ) is missing in the 2020 paper (E6): with η = 1, β = 1000 on [0, 0.1] \
             two steps have TV 0.449138, and Theorem 4 says 0.027224; here the modulus is right for every η",
            "\"consequently δ = 0 if ε ≥ M(b−a)/(ηv)\" fails for the last record (E7): 0.527633 against 0",
            "the diameter must not be that of the data at hand (E14): 0 against 0.254132",
            "the displayed product of eq. 2 of the 2020 paper counts one factor too many (E5)",
        ],
    },
    Statement {
        id: "random-stop-published",
        title: "One iterate at a random time, or a record at a random place: the average of the products",
        statement: "If T is uniform on 1…n and W_T is published, δ(ε) is the average over T of the products of \
                    contraction-published up to T (0 if T < i), by joint convexity of E_γ; for equal steps that is \
                    (1/n)·θ(d/s)·Σ_{j<n} θ(ω(D)/s)^j, at most (1/n)·θ(d/s)/(1 − θ(ω(D)/s)). A record at a uniformly random \
                    place of one pass has the same average.",
        assumptions: &["as contraction-published", "neither the time nor the place is told"],
        source: ced!(
            "Theorem 6, eq. 33; eq. 34 to 36 and Theorem 5 of the 2020 paper are upper bounds of it"
        ),
        errata: &[
            "the closed forms exceed 1 easily, 3e13 in the paper's own figure (E14): the finite sum is reported, which is \
             never larger",
        ],
    },
    Statement {
        id: "shift-renyi",
        title: "Shifting the difference into hidden noise, by Rényi divergences",
        statement: "D_α(W_T‖W′_T) ≤ (α/2)·Σ(a_t/s_t)² for every a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z₀ = z_T = 0, at \
                    every order α > 1, where ω′_t = ω_t in steps without the record and at most ω_t + d_t in others. The \
                    best a_t are the slopes of the greatest convex minorant. Used once, n−i steps before the end, with \
                    1-Lipschitz updates: 2αL²/((n−i+1)σ²). A random time or place: \
                    ln[Σ w_j·e^((α−1)D_j)]/(α−1). Converted to (ε, δ) at the best order (renyi-conversion).",
        assumptions: &[
            "only the last iterate, or that of a random time, is published",
            "Gaussian noise",
            "a modulus of the updates: convex and smooth losses with η ≤ 2/β keep iterates together; bounded gradients \
             alone let them drift apart by 2ηL a step",
            "projections to closed convex sets are allowed, and not needed",
        ],
        source: "Feldman, Mironov, Talwar, Thakurta, Privacy amplification by iteration (2018), Theorems 22, 23, 24, 35",
        errata: &[
            "Theorem 1 lacks a square (E4): distance 3, one step, α = 2 has D = 9, and it says 3",
            "Theorem 26 has ln n where H_n is needed (E8): at n = 1 it says 0, and at n = 2 4.62098 where D_α = 4.71652; \
             the mixture formula used here needs no condition on σ",
            "Corollary 31 lacks a factor √2 in σ (E12): δ(1) = 2.713e-5 where 1e-5 is claimed",
            "Theorem 32 fails for n = 1 (E9); Lemma 27 and Theorem 29 use the 1.25-formula beyond ε = 1 (E10)",
        ],
    },
    Statement {
        id: "strongly-convex-renyi",
        title: "A record used once with contracting updates, by Rényi divergences",
        statement: "D_α ≤ α·κ with κ = (d²/2s²)·M^(k+1)/k after k ≥ 1 later steps whose updates are M-Lipschitz, κ = d²/2s² \
                    after none. Never below shift-renyi, from which it follows.",
        assumptions: &["as shift-renyi", "equal steps", "M = max(|1−ηρ|, |1−ηβ|)"],
        source: "Asoodeh, Diaz, Calmon, Privacy amplification of iterative algorithms via contraction coefficients \
                 (2020), Proposition 1",
        errata: &[
            "the step-size hypothesis is missing (E6); M = √(1 − 2ηβρ/(β+ρ)) is larger than needed",
            "at ρ = 0 it is 2L²/((n−i)σ²), not Theorem 23 of Feldman et al., which has n−i+1 (E20)",
        ],
    },
    Statement {
        id: "nonconvex-published",
        title: "Projected DP-SGD without convexity: a bound that does not grow for ever",
        statement: "If E_γ ≤ h before a step, it is at most (1−p)·θ(ω(D)/s)·h + p·θ(ω′(D)/s) after it; with \
                    ω = ω′ = D + 2ηC and T equal steps, δ(ε) = pθ·(1 − ((1−p)θ)^T)/(1 − (1−p)θ), θ = θ_ε((D+2ηC)/s), at most its \
                    limit for every T. p is the Poisson rate, b/n without replacement, 1 or 0 in fixed orders.",
        assumptions: &[
            "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
            "iterates are projected to a closed convex set of diameter D",
            "clipped or Lipschitz gradients; nothing else of the loss",
        ],
        source: "Asoodeh, Diaz, Privacy loss of noisy stochastic gradient descent might converge even for non-convex \
                 losses (2023), Theorems 1 and 2, eq. 22 and 23",
        errata: &[
            "Theorem 1 needs division by the number drawn (E15): with a fixed divisor an update may be n/b times longer, and \
             n = 1, p = 0.01, D = 0.1 has δ(0) = 0.0100 where it says 0.00166; the modulus here counts that",
            "an empty batch leaves the iterate to noise (E15); eq. 22 has a solution only for small δ, otherwise ε = 0",
        ],
    },
    Statement {
        id: "regularized-published",
        title: "DP-SGD with weight decay and no projection",
        statement: "For every κ > 0: δ(ε) ≤ (1+e^ε)·[1 − P(χ²_d ≤ κ²)^T] + h_T with h_t = θ_ε(2ρ_t/s)·((1−p)h_{t−1} + p), \
                    ρ_t = (1−λ)r_{t−1} + ηC, r_t = ρ_t + κs, r₀ = 0, h₀ = 0. The least over κ is taken.",
        assumptions: &[
            "only the last iterate is published, and who was drawn stays secret",
            "the iteration starts at 0, to which weight decay pulls back",
            "weight decay λ > 0, outside the clipping; clipped or Lipschitz gradients; Gaussian noise; no projection",
        ],
        source: "Asoodeh, Diaz, Privacy loss of noisy stochastic gradient descent might converge even for non-convex \
                 losses (2023), Theorem 3",
        errata: &[
            "as printed it uses the radius where its proof has the diameter (E1): n = 2, T = 1, ε = 1 has δ = 0.210496, and it \
             says 0.126937; in the paper's Figure 2 it is 8 to 31 times too small",
            "the factor b/(n−b) is larger than b/n, which suffices (E2)",
        ],
    },
    Statement {
        id: "recursion",
        title: "A whole profile pushed through hidden steps: for any number of them",
        statement: "Let h bound E_γ before k steps at every γ ≥ 1. After them, for every γ₁γ₂ = γ, E_γ is at most \
                    g(γ₁) + γ₁·F(γ₂) and F(γ₁) + γ₁·g(γ₂), where g is the profile of the k steps from a start that both \
                    neighbours share (by composition), F(γ) = h·θ_ε̃(R), e^ε̃ = 1 + (γ−1)/h, and \
                    R = (c^k·D + o·Σc^j)/(s·√Σc^(2j)) if the same update takes iterates z apart to cz + o apart. After one step \
                    it is also at most F(γ) of p + (1−p)h on points ω′(D) apart, and (1−p)·F(γ) plus p times what holds \
                    if the record is used. A bound h for every number of steps stays one; the least of all, its convex \
                    hull, and so on. Without a domain: D = 2ρ, and (1+γ)·τ is added to F, where an iterate is outside a \
                    ball of radius ρ with probability τ at most: P(χ_d > (ρ − o/(1−c))·√(1−c²)/s).",
        assumptions: &[
            "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
            "Gaussian noise",
            "iterates are projected to a closed convex set of diameter D; or the iteration starts at 0, to which weight \
             decay pulls back, and the dimension is known",
            "the record is used in equal steps, always or with probability p, or once in each period of steps",
        ],
        source: "Proved here, from Balle, Barthe, Gaboardi, Geumlek, Privacy amplification by mixing and diffusion \
                 mechanisms (2019), and the shift of Feldman et al. (2018) in the form of Bok, Su, Altschuler (2024)",
        errata: &[],
    },
    Statement {
        id: "shift-subsampled",
        title: "Hidden participation and hidden iterates: the last steps composed, what came before shifted into their noise",
        statement: "For every k ≤ T, with R_k = 1/(s·√Σ_{i=1..k} c^(−2i)) and D_τ = min(D, d·(1−c^τ)/(1−c)), τ = T−k. Split: for \
                    s² = s₁² + s₂² the last iterate is dominated by k subsampled steps with noise s₁ and one normal pair with \
                    μ = D_τ·R_k·s/s₂. Triangle: δ(ε₁+ε₂) ≤ g_k(ε₁) + e^ε₁·h(ε₂) and ≤ h(ε₁) + e^ε₁·g_k(ε₂), where g_k is the profile of \
                    k subsampled steps and h(ε) = E θ_ε(R_k·z) with z = min(D, Σ_j d·c^j·Bernoulli(p)) the distance of neighbours \
                    before the cut. The best k and splits are taken; with D or c < 1 the bound holds for every T.",
        assumptions: &[
            "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
            "equal steps with Gaussian noise; the record takes part with probability p, independently",
            "every update is c-Lipschitz (or moves iterates apart by o more, c ≤ 1), for every batch that can occur",
            "projections to closed convex sets are allowed, and not needed if c < 1",
        ],
        source: "Altschuler, Talwar, Privacy of noisy stochastic gradient descent (2022); Bok, Su, Altschuler, Shifted \
                 interpolation for differential privacy (2024); the split without a factor 2 and the random distance are \
                 proved with the code",
        errata: &[],
    },
    Statement {
        id: "contraction",
        title: "Hidden steps on a bounded domain: the tight contraction curve in blocks of steps",
        statement: "If E_γ ≤ e before k steps without the record, it is at most F_γ(e) = e·θ_{ln γ̃}(R_k) after them, \
                    γ̃ = 1 + (γ−1)/e, R_k = (c^k·D + o·Σc^j)/(s·√Σc^(2j)) for a modulus cz + o. Used once: the shift over the \
                    use and j₀ steps, then blocks of k steps, the best of all. Used again, with probability p: \
                    h⁺ = min{F_γ(p + (1−p)h), (1−p)·F_γ(h) + p·θ(ω′(D)/s)}. With Laplace noise δ is exactly 0 after \
                    finitely many steps. A random time or place: the average.",
        assumptions: &[
            "only the last iterate (or that of a random time) is published, and who was drawn stays secret",
            "iterates are projected to a closed convex set of diameter D",
        ],
        source: "Balle, Barthe, Gaboardi, Geumlek, Privacy amplification by mixing and diffusion mechanisms (2019), for one \
                 step; the blocks and the recursions are ours",
        errata: &[],
    },
    Statement {
        id: "shift",
        title: "Shifting the difference into hidden noise, without loss",
        statement: "The released iterate is μ-GDP, δ(ε) = θ_ε(μ), with μ² = Σ(a_t/s_t)² for every a_t ≥ 0 with \
                    z_t = ω′_t(z_{t−1}) − a_t ≥ 0 and z_T = 0, from z₀ = 0 at the first use on, or from z_τ = D at any \
                    time τ on. The best a_t are the slopes of the greatest convex minorant. Noisy gradient descent with \
                    c-Lipschitz updates: μ = (d/s)·√((1−c^T)/(1+c^T)·(1+c)/(1−c)), exact for quadratic losses; used once, \
                    n−i steps before the end: d/(s·√(n−i+1)) for c = 1; regularised DP-SGD without convexity: \
                    (2ηC/s)·√((1−c^T)/(1+c^T)·(2−λ)/λ), c = 1−λ, in every dimension.",
        assumptions: &[
            "only the last iterate, or that of a random time, is published",
            "Gaussian noise",
            "a modulus of the updates; projections to closed convex sets are allowed",
        ],
        source: "Bok, Su, Altschuler, Shifted interpolation for differential privacy (2024); Altschuler, Talwar (2022) for \
                 the start at any time; any modulus and the optimal allocation are ours",
        errata: &[],
    },
    Statement {
        id: "ceiling",
        title: "What the last noise hides",
        statement: "With the same noise and batches two runs are at most z_t = min(D, ω′_t(z_{t−1})) apart, so that \
                    δ(ε) ≤ p·η(ω′_T(z_{T−1})/s_T) + (1−p)·η(ω_T(z_{T−1})/s_T), η(r) being E_{e^ε} of the noise at distance r.",
        assumptions: &["only the last iterate (or that of a random time) is published"],
        source: "the coupling that shares all noise but the last",
        errata: &[],
    },
    Statement {
        id: "hybrid",
        title: "Any bound at the last use of a record, continued by contraction",
        statement: "If δ(ε) bounds the iterate after the last use of the record, then F_γ of it bounds the iterate after \
                    further steps without the record on a bounded domain, in blocks of the best length. At the last use \
                    the best of composition, shift, ceiling and contraction is taken.",
        assumptions: &[
            "as contraction",
            "equal steps without the record follow its last use, such as public ones",
        ],
        source: "data processing, and the tight contraction curve",
        errata: &[],
    },
    Statement {
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
        source: "Balle, Barthe, Gaboardi, Privacy amplification by subsampling (2018), Theorem 2; Zhu, Dong, Wang (2022), \
                 Theorem 11",
        errata: &[
            "the symmetric Poisson pair is no bound for batches of fixed size: in one dimension with D = 3, s = 1, \
             d = 1, p = 0.2, T = 10 the total variation is 0.268, and it says 0.244",
        ],
    },
    Statement {
        id: "product-kernel",
        title: "Kernels side by side",
        statement: "η_γ(⊗K_i) ≤ 1 − Π(1 − η_{γ_i}(K_i)) for any γ_i ≥ 1 with Π γ_i = γ; in particular \
                    η_TV(⊗K_i) ≤ 1 − Π(1 − η_TV(K_i)). Independent Gaussian kernels are one, with \
                    (D/σ)² = Σ(D_i/σ_i)².",
        assumptions: &["independent noise"],
        source: ced!("Lemma 2, here for every γ and each kernel's own coefficient"),
        errata: &[],
    },
];
