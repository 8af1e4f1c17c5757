//! Analyses of hidden states as the papers have them, corrected.

use super::{Notes, Statement};

pub(super) const CONTRACTION_PUBLISHED: Statement = Statement {
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
    notes: Some(Notes {
        applies_to: "a record used once; bounded domain",
        formula: "\
δ(ε) = η(d/s)·∏ η(ω(D)/s), the product over the steps after the use

η(r)     E_{e^ε} of the noise at distance r: θ_ε(r), or [1 − e^((ε−r)/2)]₊ for Laplace noise
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
d        how far the update moves when the record is replaced
ω(D)     how far apart two points of the domain, of diameter D, can be after the same update
s        the noise of the step",
        proof: &[
            "Up to the use both runs have the same law. Given the iterate before it, the use adds noise to two points at most d \
             apart, so that E_γ ≤ η(d/s) afterwards (joint convexity; projecting is post-processing).",
            "A later step is the same kernel K on both sides, w ↦ Π(ψ(w) + noise), and \
             E_γ(μK‖νK) ≤ η_γ(K)·E_γ(μ‖ν), η_γ(K) = sup E_γ(K(x)‖K(y)) over two inputs (`contraction-coefficient`).",
            "Inputs are points of the domain, whose images are at most ω(D) apart, and η grows with the distance: \
             η_γ(K) ≤ η(ω(D)/s).",
            "Multiply. Nothing distinguishes the two orders of the neighbours. After no later step the product is \
             empty, and 1 (E7).",
        ],
        wins: &[
            "Only at ε = 0, where `contraction`, which takes it into account, says no less: in the example, with learning \
             rates 0.5/√t, δ(0) = 6.6e-46 for the first of 200 records, `shift` 0.036.",
            "At ε > 0 much is given away: with D = 5 standard deviations, record 9990 of examples/pnsgd.toml at ε = 1 has \
             5.6e-3 by the product and 2.8e-33 by `contraction`; the example at ε = 0.1 has 9.3e-50, and by `contraction` \
             nothing that a number could hold.",
            "Nothing for a record used more than once, at random, or without a bounded domain; next to nothing if ω(D)/s is \
             above 8, as θ_0(8) = 0.99994.",
        ],
        example: "account examples/online.toml --set record=1 --set diameter=0.5 --epsilon 0",
    }),
};

pub(super) const RANDOM_STOP_PUBLISHED: Statement = Statement {
    id: "random-stop-published",
    title: "One iterate at a random time, or a record at a random place: the average of the products",
    statement: "If T is uniform on 1…n and W_T is published, δ(ε) is the average over T of the products of \
                `contraction-published` up to T (0 if T < i), by joint convexity of E_γ; for equal steps that is at most \
                (1/n)·θ(d/s)·Σ_{j<n} θ(ω(D)/s)^j, at most (1/n)·θ(d/s)/(1 − θ(ω(D)/s)). A record at a uniformly random \
                place of one pass has the same average.",
    assumptions: &["as `contraction-published`", "neither the time nor the place is told"],
    source: ced!(
        "Theorem 6, eq. 33; eq. 34 to 36 and Theorem 5 of Privacy amplification of iterative algorithms via contraction \
         coefficients (2020) are upper bounds of it"
    ),
    errata: &[
        "the closed forms exceed 1 easily (E14): 10.6 at η = 0.05, σ = 3, n = 100, ε = 0; the finite sum is reported, \
         which is never larger",
        "the diameter must not be that of the data at hand (E14), and Theorem 5 of the 2020 paper lacks the step-size \
         hypothesis (E6)",
    ],
    notes: Some(Notes {
        applies_to: "a record used once; bounded domain; a random time or a random place of the record",
        formula: "\
δ(ε) = (1/n)·η(d/s)·(1 + q + q² + … + q^(n−i)),   q = η(ω(D)/s)

n        the number of steps, one of which, each equally likely, is the last
i        the step that uses the record; other symbols as in contraction-published",
        proof: &[
            "What is published is a mixture, with equal weights, of the iterates of the n times, and E_γ is jointly \
             convex: E_γ of two mixtures with the same weights is at most the average of E_γ.",
            "At a time before i both runs have the same law, so that E_γ = 0; at the time i + j it is at most the product of \
             `contraction-published`, η(d/s)·q^j.",
            "The sum of a geometric series; the code adds different steps group by group, in closed form. That \
             1/(1 − q) is above every finite sum gives the closed forms of the papers, which are not used.",
            "The worst record is the first one, for which the sum is longest. A record at a random place of one pass, each \
             equally likely, has the same mixture over the number of steps that follow its use.",
        ],
        wins: &[
            "Only at ε = 0, where `contraction`, which takes it into account, says no less: 3.199167e-5 in the example, on a \
             domain of about a noise standard deviation.",
            "Otherwise `contraction` averages smaller terms: at ε = 0.1 the example has 2.46e-5 against 2.00e-5; with D = 5s \
             and ε = 1 it is 3.4e-5 against 7.3e-7.",
            "δ is at least a share 1/n of what one use costs, as the last step may be that of the record: it is for large n.",
            "Nothing without a bounded domain: there `shift` averages over the times, too.",
        ],
        example: "account examples/stop-pnsgd.toml --set diameter=0.4 --epsilon 0",
    }),
};

pub(super) const SHIFT_RENYI: Statement = Statement {
    id: "shift-renyi",
    title: "Shifting the difference into hidden noise, by Rényi divergences",
    statement: "D_α(W_T‖W′_T) ≤ (α/2)·Σ(a_t/s_t)² for every a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z₀ = z_T = 0, at \
                every order α > 1, where ω′_t = ω_t in steps without the record and at most ω_t + d_t in others. The \
                best a_t are the slopes of the greatest convex minorant. Used once, n−i steps before the end, with \
                1-Lipschitz updates: 2αL²/((n−i+1)σ²). A random time or place: \
                ln[Σ w_j·e^((α−1)D_j)]/(α−1). Converted to (ε, δ) at the best order (`renyi-conversion`).",
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
        "Theorem 22 needs a_t ≥ 0 (E22)",
        "Theorem 26 has ln n where H_n is needed (E8): at n = 1 it says 0, and at n = 2 4.62098 where D_α = 4.71652; \
         the mixture formula used here needs no condition on σ",
        "Theorem 32 fails for n = 1 (E9); Lemma 27 and Theorem 29 use the 1.25-formula beyond ε = 1 (E10)",
        "the (ε/√m, δ) of Theorem 30 does not follow from its Rényi curve (E11); `shift` has what holds",
        "Corollary 31 lacks a factor √2 in σ (E12): δ(1) = 2.713e-5 where 1e-5 is claimed",
    ],
    notes: Some(Notes {
        applies_to: "Gaussian noise and updates that do not drive iterates far apart",
        formula: "\
D_α ≤ (α/2)·Σ(a_t/s_t)²   for all a_t ≥ 0 with z_t = ω′_t(z_{t−1}) − a_t ≥ 0, z₀ = z_T = 0

D_α      the Rényi divergence of order α of the published iterate for two neighbours
ω′_t(z)  how far apart iterates z apart can be after step t, each on its own data
a_t      what is charged of the difference to the noise s_t of step t; z_t is what is left",
        proof: &[
            "Let D_α^z(μ‖ν) be the least D_α(μ′‖ν) over the μ′ that are within z of μ (a coupling never more than z apart). \
             D_α^0 is D_α, and both runs start with D_α^0 = 0.",
            "Updates: if μ′ is within z of μ, the image of μ′ under the update of ν is within ω′(z) of the image of μ under its \
             own. So D_α^{ω′(z)} after the updates is at most D_α^z before, by data processing. Projections count as \
             updates that bring nothing apart.",
            "Noise: D_α^{z−a} of μ + N(0, s²) and ν + N(0, s²) is at most D_α^z(μ‖ν) + (α/2)·(a/s)². Of the displacement between \
             μ and μ′, at most z long, a part at most a long is told to the noise, which it shifts at that price; the \
             rest, at most z − a, is kept.",
            "From z₀ = 0 to z_T = 0 the prices add. Steps before the first use cost nothing and are left out, those after \
             the last use may be.",
            "The best a_t minimise a sum of squares: in units of the end, the total shift is a curve below given points, \
             and the tautest one is their greatest convex minorant. It is found in ordinary arithmetic; that \
             z_t ≥ 0 is checked with every rounding counted. Of a modulus that is the least of several lines each is \
             tried.",
            "A random time or place: e^((α−1)D_α) is jointly convex, so D_α ≤ ln[Σ w_j·e^((α−1)D_j)]/(α−1), in place of \
             Theorem 26 (E8).",
        ],
        wins: &[
            "Never: `shift` turns the same a_t into (ε, δ) without going through Rényi divergences. In the example 2.774 \
             against 2.558; composition says 17.86.",
            "Unlike `shift` it does not use a bounded domain to forget what came before.",
            "Where gradients are bounded and nothing else is known, what has to be shifted grows with every step: \
             nothing for any number of steps.",
        ],
        example: "account examples/noisy-gd.toml --analyses shift-renyi,shift,composition",
    }),
};

pub(super) const STRONGLY_CONVEX_RENYI: Statement = Statement {
    id: "strongly-convex-renyi",
    title: "A record used once with contracting updates, by Rényi divergences",
    statement: "D_α ≤ α·κ with κ = (d²/2s²)·M^(k+1)/k after k ≥ 1 later steps whose updates are M-Lipschitz, κ = d²/2s² \
                after none. Never below `shift-renyi`, from which it follows.",
    assumptions: &["as `shift-renyi`", "equal steps", "M = max(|1−ηρ|, |1−ηβ|)"],
    source: pac!("Proposition 1"),
    errata: &[
        "the step-size hypothesis is missing (E6); M = √(1 − 2ηβρ/(β+ρ)) is larger than needed where it holds",
        "at ρ = 0 it is 2L²/((n−i)σ²), not Theorem 23 of Feldman et al., which has n−i+1 (E20)",
    ],
    notes: Some(Notes {
        applies_to: "a record used once; equal contracting steps with Gaussian noise",
        formula: "\
D_α ≤ α·(d²/2s²)·M^(k+1)/k

D_α      the Rényi divergence of order α of the published iterate for two neighbours
d        how far the update moves when the record is replaced; s the noise of every step
M        the Lipschitz constant of the later updates, k ≥ 1 their number",
        proof: &[
            "`shift-renyi` with ω(z) = Mz: the best a_j are proportional to M^(k−j), j = 0 … k counted from the use, and cost \
             D_α ≤ α·(d²/2s²)·M^(2k)/(1 + M² + … + M^(2k)).",
            "1 + M² + … + M^(2k−2) ≥ k·M^(k−1), the arithmetic and the geometric mean, for every M > 0. Leaving out the last \
             term of the denominator, M^(2k)/(k·M^(k−1)) = M^(k+1)/k.",
            "With no later step it is the divergence d²/2s² of the use itself. A random time or place: the mixture \
             formula of `shift-renyi`.",
        ],
        wins: &[
            "Never: `shift-renyi` has the sum itself, and `shift` no loss to Rényi divergences. In the example \
             0.337 against 0.326 and 0.296, with `contraction` 0.194.",
            "After one later step of a loss that is only convex it says no more than after none: M²/1 = 1.",
            "Nothing for steps that differ, records that are used again, or updates that are not known to be Lipschitz.",
        ],
        example: "account examples/public-tail.toml --set strong-convexity=0.2 \
                  --analyses strongly-convex-renyi,shift-renyi,shift,composition",
    }),
};

pub(super) const NONCONVEX_PUBLISHED: Statement = Statement {
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
    source: ncv!("Theorems 1 and 2, eq. 22 and 23"),
    errata: &[
        "Theorem 1 needs division by the number drawn (E15): with a fixed divisor an update may be n/b times longer, and \
         n = 1, p = 0.01, D = 0.1 has δ(0) = 0.0100 where it says 0.00166; the modulus here counts that",
        "an empty batch leaves the iterate to noise (E15); eq. 22 has a solution only for small δ, otherwise ε = 0",
    ],
    notes: Some(Notes {
        applies_to: "bounded domain, any uses, any number of steps; Gaussian or Laplace noise",
        formula: "\
δ(ε) = p·θ·(1 + q + q² + … + q^(T−1)) ≤ p·θ/(1 − q),   q = (1 − p)·θ,   θ = θ_ε((D + 2ηC)/s)

θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
p        the probability with which a step uses the record; T the number of steps
D        the diameter of the domain
2ηC      how much farther apart two points can be after updates of length at most ηC
s        the noise of the iterate",
        proof: &[
            "A step draws a batch, with the same probabilities on both sides: both kernels are mixtures over the batches. E_γ is \
             jointly convex, so E_γ after the step is at most the average over the batches.",
            "Batches without the record, of probability 1 − p, are one kernel on both sides: it contracts h by \
             θ_ε(ω(D)/s) (`gaussian-kernel`).",
            "With the record two kernels meet two laws; whatever these are, two points are at most ω′(D) apart before \
             the noise, which leaves θ_ε(ω′(D)/s).",
            "h ← (1−p)·θ(ω(D)/s)·h + p·θ(ω′(D)/s) from h = 0. The code takes ω and ω′ as they are, step by step, \
             Laplace noise with its own E_γ, and the average over the times of a random stop; the formula above is ω = ω′ = D + 2ηC.",
            "T → ∞: a geometric series with q < 1, so that the bound holds for any number of steps.",
        ],
        wins: &[
            "Only at ε = 0 with Laplace noise, where `contraction`, which takes it into account, says no less: 3.5595e-3 in \
             the example. At ε = 0.5 `contraction` has 0.",
            "With Gaussian noise never, as `recursion` takes it into account: 7.5e-5 against 6.7e-3 at ε = 0 after 1e6 steps \
             of examples/projected-dp-sgd.toml, and less and less as ε grows.",
            "There it is below composition from about 2e5 steps on (1.6e-2 of `composition` after 1e6); at δ = 1e-5 it needs \
             ε = 10.97.",
            "Every use counts with θ(ω′(D)/s), however little the record moves the update: it never says less than p·θ. \
             Nothing without a bounded domain.",
        ],
        example: "account examples/projected-dp-sgd.toml --set noise=laplace --set steps=1e6 --epsilon 0",
    }),
};

pub(super) const REGULARIZED_PUBLISHED: Statement = Statement {
    id: "regularized-published",
    title: "DP-SGD with weight decay and no projection",
    statement: "For every κ > 0: δ(ε) ≤ (1+e^ε)·[1 − P(χ²_d ≤ κ²)^T] + h_T with h_t = θ_ε(2ρ_t/s)·((1−p)h_{t−1} + p), \
                ρ_t = (1−λ)r_{t−1} + ηC, r_t = ρ_t + κs, r₀ = 0, h₀ = 0. The least over κ is taken.",
    assumptions: &[
        "only the last iterate is published, and who was drawn stays secret",
        "the iteration starts at 0, to which weight decay pulls back",
        "weight decay λ > 0, outside the clipping; clipped or Lipschitz gradients; Gaussian noise; no projection",
    ],
    source: ncv!("Theorem 3"),
    errata: &[
        "as printed it uses the radius where its proof has the diameter (E1): n = 2, T = 1, ε = 1 has δ = 0.210496, and it \
         says 0.126937; in the paper's Figure 2 it is 8 to 31 times too small",
        "the factor b/(n−b) is larger than b/n, which suffices (E2)",
    ],
    notes: Some(Notes {
        applies_to: "weight decay, no projection, start at 0, a number of steps",
        formula: "\
δ(ε) ≤ (1 + e^ε)·[1 − P(χ²_d ≤ κ²)^T] + h_T,   h_t = θ_ε(2ρ_t/s)·((1 − p)·h_{t−1} + p),   h₀ = 0

ρ_t      (1 − λ)·r_{t−1} + ηC: where iterates are before the noise of step t, from r₀ = 0
r_t      ρ_t + κs: where they are after it, if no noise is longer than κs; any κ > 0 will do
θ_ε(r)   E_{e^ε} of two unit Gaussians at distance r
λ, ηC    weight decay, and the length of an update
d, s     the dimension and the noise; χ²_d the squared length of d unit normals
p, T     the probability of a use and the number of steps",
        proof: &[
            "All T noises are at most κs long with probability P(χ²_d ≤ κ²)^T = 1 − τ. If they are, induction gives \
             ‖W_t‖ ≤ r_t, and ψ(W_{t−1}) lies in the ball of radius ρ_t around 0.",
            "Compare with a run that projects to the ball of radius r_t after each step: with the same noise and batches both \
             are the same unless a noise is too long, so that their laws differ by τ in total variation. \
             P(A) − γ·Q(A) changes by τ + γτ at most, for both neighbours together.",
            "In the projected run E_γ before the noise is at most (1−p)·h + p, by joint convexity over the batches and E_γ ≤ 1; \
             the points are in a ball of radius ρ_t, of diameter 2ρ_t (E1), whose noise contracts by θ_ε(2ρ_t/s).",
            "Every κ gives a bound, and the best is searched for. The first term grows with e^ε while δ falls: at large ε the \
             code takes the best bound of all smaller ε. Many steps are taken in groups, with the radii of a \
             group's first and last step as bounds.",
        ],
        wins: &[
            "For records that are drawn rarely and then push by several noise standard deviations, with strong decay, at \
             small ε: in the example (ηC = 3.3s, p = 1e-5, λ = 0.99, one dimension) δ(0) = 0.0166 after 1e6 steps; \
             `recursion` has 0.141, all others more than 0.99. At ε = 1 `recursion` has 6.1e-4, and this 1.03e-2.",
            "Where the record pushes less than the noise, `shift` and `recursion` say less by orders of magnitude: 0.386 at ε \
             = 1 in examples/regularised-dp-sgd.toml with 50 steps, against 3.1e-5 and 1e-300. At δ = 1e-5 it has no ε at all \
             there: in 10 dimensions the ball of short noises is many standard deviations across.",
            "Nothing for any number of steps, nor if iterates are projected.",
        ],
        example: "account examples/regularised-dp-sgd.toml --set steps=1e6 --set dimension=1 \
                  --set records=100000 --set batch-size=1 --set iterate-noise=0.03 --set weight-decay=0.99 --epsilon 0",
    }),
};
