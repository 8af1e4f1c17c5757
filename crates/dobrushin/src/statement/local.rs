//! The cost of local privacy, and the gain from shuffling.

use super::Statement;
use crate::analysis::ced;

/// The assumptions of every bound on reports.
macro_rules! reports {
    ($($more:literal),*) => {
        &[
            "independent records with the same law, and one report from each, through a channel with the promised (ε, δ), or with \
             the coefficients of a given channel",
            "the channels may depend on earlier reports (sequential interaction), but no record is used twice",
            $($more),*
        ]
    };
}

/// Contraction of E_γ-divergence, and its local part.
macro_rules! ldc {
    ($place:literal) => {
        concat!("Asoodeh, Aliakbarpour, Calmon, Local differential privacy is equivalent to contraction of E_γ-divergence (2021), ", $place)
    };
}

/// Every statement about local privacy, in the order in which they build on each other.
pub const LOCAL: &[Statement] = &[
    Statement {
        id: "local-contraction",
        title: "What a promise of local privacy says about contraction",
        statement: "A channel K is (ε, δ)-locally private iff η_{e^ε}(K) ≤ δ. Then η_TV ≤ δ + (1−δ)·tanh(ε/2) and \
                    η_KL = η_χ² ≤ δ + (1−δ)·tanh²(ε/2), the same as for half the squared Hellinger distance 1 − BC and Hellinger \
                    divergences of order up to 2; \"reveal with probability δ, else randomised response\" attains both. \
                    n reports contract KL by 1 − (1−η_KL)^n and E_γ by that of n such channels. For δ = 0 also \
                    1 − BC ≤ ½(√(1 + (e^ε−1)·TV) − 1)².",
        assumptions: &["(ε, δ) between the answers to any two inputs"],
        source: ced!(
            "Theorem 3, with sharp coefficients: two inputs suffice for η_χ² (Choi, Ruskai, Seneta 1994; Ordentlich, Polyanskiy 2021), \
                      and any two answers come from that channel (Kairouz, Oh, Viswanath 2017); n reports as Polyanskiy, Wu (2017)"
        ),
        errata: &[
            "the papers have φ = 1 − (1−δ)e^(−ε) and φ_n = 1 − e^(−nε)(1−δ)^n for all coefficients, which hold and are larger; \
             the comparison with Duchi et al. is reversed (E19), and η_KL of a binary symmetric channel is (1−2w)² (E19)",
        ],
        notes: None,
    },
    Statement {
        id: "local-information",
        title: "How much reports tell",
        statement: "I(V; Z^n) ≤ min{n·η_KL·I(V; X), (1 − (1−η_KL)^n)·I(V; X^n)}, and I(X; Z) ≤ η_KL·H(X): n reports tell at most as much as \
                    n·η_KL records.",
        assumptions: reports!("records that are independent given V"),
        source: ldc!("Lemma 4 and Corollary 5, with the coefficients of `local-contraction`"),
        errata: &["Lemma 4 has φ_n·I(X^n; V) only, and an equality that is an inequality (E17)"],
        notes: None,
    },
    Statement {
        id: "local-capacity",
        title: "How much a report can tell at most, whatever the records are",
        statement: "For δ = 0, I(X; Z) ≤ m − 1 − ln m with m = ε·e^ε/(e^ε − 1), for every law of X, on however many values; so I(V; Z^n) ≤ \
                    n·(m − 1 − ln m). It is about ε²/8 for small ε, and below ε.",
        assumptions: reports!("δ = 0"),
        source: "K(z|x)/P(z) has mean 1 and lies between 1/m and e^ε/m for some m; t·ln t is below its chord, and the best m is as above; \
                 channels that report large sets of values approach it",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "local-data-processing",
        title: "Reports tell no more than the records",
        statement: "Nobody does better from n reports than the best estimator or test from the n records in the clear. Its error is computed \
                    exactly, from the law of how often each value occurs among them.",
        assumptions: reports!("at most 200000 different counts of the values"),
        source: "the data-processing inequality; Neyman and Pearson for tests at a level",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "two-point-pinsker",
        title: "Two laws that are hard to tell apart, by Pinsker's inequality",
        statement: "Every test between P and Q errs with probability at least ½(1 − √(n·η_KL·KL(P‖Q)/2)), on average. For parameters at \
                    distance Δ the risk is at least Δ times that for a metric, 2(Δ/2)^p times for its power p ≥ 1, and Δ²/2 times \
                    for a squared Hilbert norm.",
        assumptions: reports!(),
        source: ced!("Lemma 4, with the best coefficient and the constants of two points"),
        errata: &["a semi-metric is not enough (E18)"],
        notes: None,
    },
    Statement {
        id: "two-point-bretagnolle-huber",
        title: "Two laws that are hard to tell apart, by the inequality of Bretagnolle and Huber",
        statement: "The error of `two-point-pinsker` is at least ½(1 − √(1 − e^(−n·η_KL·KL(P‖Q)))) ≥ ¼·e^(−n·η_KL·KL).",
        assumptions: reports!(),
        source: "Bretagnolle, Huber (1979), with the contraction of `local-contraction`",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "two-point-affinity",
        title: "Two laws that are hard to tell apart, by their affinity",
        statement: "BC of the reports is at least (1 − c)^n, c ≤ η_KL·(1 − BC(P, Q)) or as in `local-contraction` for δ = 0. The error of \
                    `two-point-pinsker` is at least ½(1 − √(1 − BC²)), and for a squared Hilbert norm the risk is at least Δ²·BC²/4.",
        assumptions: reports!(),
        source: "Cauchy–Schwarz for ∫pq/(p + q), and the chain rule of BC given earlier reports",
        errata: &["the product formula of the papers assumes that there is no interaction (E16)"],
        notes: None,
    },
    Statement {
        id: "two-point-side-by-side",
        title: "Two laws that are hard to tell apart, all reports together",
        statement: "The error of `two-point-pinsker` is at least ½(1 − min{η_TV(n reports)·TV(P^n, Q^n), n·η_TV·TV(P, Q)}), with the least \
                    known bound on TV(P^n, Q^n).",
        assumptions: reports!(),
        source: ced!("Lemma 5, with the total variation of n randomised responses for φ_n"),
        errata: &[],
        notes: None,
    },
    Statement {
        id: "two-point-composed",
        title: "Two laws that are hard to tell apart, as randomised responses are",
        statement: "The laws of a report under P and Q are (ε′, δ′)-indistinguishable, e^ε′ = 1 + (e^ε − 1)·E and δ′ = δ·E with \
                    E = max{E_γ(P‖Q), E_γ(Q‖P)} at γ = e^ε′. So the error of `two-point-pinsker` is at least ½(1 − TV), TV that of n times \
                    \"reveal with probability δ′, else randomised response with ε′\". For δ = 0 and two values with P and Q mirrored, randomised \
                    response attains it, for every n.",
        assumptions: reports!(),
        source: "E_γ(PK‖QK) ≤ e·η_γ̃(K), e = E_γ(P‖Q), γ̃ = 1 + (γ−1)/e (Balle, Barthe, Gaboardi, Geumlek 2019), and the composition of Kairouz, Oh, \
                 Viswanath (2017), which allows interaction",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "assouad",
        title: "Laws indexed by signs, coordinate by coordinate",
        statement: "For laws P_v, v a vector of d signs, and a loss that is a sum over coordinates, the risk is at least the sum over j of the \
                    mean, over the other signs, of the best bound of the kind `two-point-affinity` on the Bayes risk between the two laws that \
                    differ in sign j alone.",
        assumptions: reports!("a law for each of the 2^d vectors of signs"),
        source: "Assouad (1983): for uniform v the Bayes risk is a sum over coordinates, and knowing all other signs does not increase it",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "mean-moments",
        title: "The mean of a law with a bounded moment",
        statement: "For E|X|^k ≤ 1 and squared error R_n ≥ sup over 0 < w, h ≤ 1 of w^s·h²·[1 − c]^(2n), s = 2(k−1)/k, c the contracted 1 − BC = \
                    w(1 − √(1−h²)) of two laws at total variation wh.",
        assumptions: reports!("k > 1"),
        source: ced!("Example 4, corrected, by `two-point-affinity`"),
        errata: &[
            "Corollary 2, which is Corollary 1 of the 2021 paper, is false: erasure beats its rate (E16)",
        ],
        notes: None,
    },
    Statement {
        id: "mean-moments-simple",
        title: "The mean of a law with a bounded moment, in closed form",
        statement: "R_n ≥ ¼·min{1, (2n·η_KL)^(−min(1, s))}, s = 2(k−1)/k.",
        assumptions: reports!("k > 1"),
        source: "`mean-moments` at h = 1, w = min{1, 1/(2nη)}, or w = 1, h² = min{1, 1/(2nη)}",
        errata: &["it replaces Corollary 2 of Asoodeh, Diaz, Calmon (2023) (E16)"],
        notes: None,
    },
    Statement {
        id: "mean-moments-pure",
        title: "The mean of a law with a bounded moment, for δ = 0",
        statement: "R_n ≥ ¼·min{1, [4/(n(e^ε − 1)²)]^((k−1)/k)}.",
        assumptions: reports!("k > 1", "δ = 0"),
        source: "`mean-moments` at h = 1, w² = min{1, 4/(n(e^ε−1)²)}, with the constant of E16",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "ball-two-point",
        title: "The mean of a law on a ball, by two points",
        statement: "R_n ≥ (r²/4)·min{1, 1/(2n·η_KL)} for squared Euclidean error, in any dimension.",
        assumptions: reports!("records of norm at most r"),
        source: "`mean-moments` with w = 1 on one line",
        errata: &["Corollary 2 of the 2021 paper is false for n·φ_n < 1, and proved for d ≥ 16 only (E17)"],
        notes: None,
    },
    Statement {
        id: "ball-assouad",
        title: "The mean of a law on a ball, coordinate by coordinate",
        statement: "R_n ≥ sup over m ≤ d and 0 < h ≤ 1 of (r²h²/m)·[1 − c]^(2n), c the contracted 1 − BC = (1 − √(1−h²))/m at total variation h/m. \
                    For δ = 0 and n(e^ε−1)² ≥ 4d² it is at least r²d/(n(e^ε−1)²).",
        assumptions: reports!("records of norm at most r"),
        source: "Assouad's method with `two-point-affinity` for each coordinate, BC being jointly concave",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "ball-fano",
        title: "The mean of a law on a ball, by a packing",
        statement: "R_n ≥ sup over m ≤ d, D and h of 2(rh/m)²·D·P_e, where P_e is the least error that `fano` allows for \
                    e^(m(ln 2 − h_b((D−1)/m))) vectors of m signs that differ in D places, and I(X; V) ≤ ln 2 − h_b((1−h)/2).",
        assumptions: reports!("records of norm at most r"),
        source: ldc!("the proof of Corollary 2, with the best packing of Gilbert and Varshamov"),
        errata: &["the constant in (45) is half the printed one (E17)"],
        notes: None,
    },
    Statement {
        id: "fano",
        title: "Guessing which of several laws the records have",
        statement: "A guess of V, uniform on |V| laws, is right with a probability p for which d(p‖1/|V|) ≤ min{n·η_KL·I(V; X), \
                    (1 − (1−η_KL)^n)·I(V; X^n)}, d the divergence of two coins; so it is wrong with probability at least \
                    1 − (I + ln 2)/ln|V|. If parameters are Δ apart the risk is at least (Δ/2)^p times that for the power p of a metric, and Δ²/2 \
                    times for a squared Hilbert norm.",
        assumptions: reports!("finitely many laws"),
        source: ldc!(
            "Lemmas 3 and 4, and the data-processing inequality for the event that the guess is right"
        ),
        errata: &["a semi-metric is not enough (E18)"],
        notes: None,
    },
    Statement {
        id: "family-pair",
        title: "The largest risk over a family, by two of its laws",
        statement: "The largest risk over a family of laws is at least that over any two of them, bounded as in `two-point-pinsker`, \
                    `two-point-affinity` or `two-point-composed`, with the least distance of their parameters.",
        assumptions: reports!("at most 100 laws"),
        source: "a supremum over fewer laws is no larger",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "bayes-information",
        title: "The Bayes risk, by mutual information",
        statement: "R ≥ sup over z of z·(1 − p), p the largest probability with d(p‖L(z)) ≤ I(Θ; Z^n), L(z) = sup_a P(ℓ(Θ, a) < z); it is never \
                    below z·[1 − (I + ln 2)/ln(1/L(z))]. I(Θ; Z^n) is bounded as in `local-information`.",
        assumptions: reports!("a prior on Θ"),
        source: ced!("Corollary 3, after Xu, Raginsky (2015)"),
        errata: &["the example of Remark 2 is 0.0457, not 0.03 (E20)"],
        notes: None,
    },
    Statement {
        id: "bayes-hockey-stick",
        title: "The Bayes risk, by E_γ-information",
        statement: "R ≥ sup over γ > 0 and z of z·[1 − η_γ(n reports)·I_γ(Θ; X^n) − γ·L(z) − (1−γ)₊], L as in `bayes-information`.",
        assumptions: reports!("a prior on Θ"),
        source: ced!("Theorem 4 and equation 27, at every γ"),
        errata: &[
            "Theorem 4 has γ = e^ε only, and is not always above Corollary 3 (E21)",
            "the example of Remark 2 is 2/27, not 0.08 (E20)",
        ],
        notes: None,
    },
    Statement {
        id: "bayes-pairs",
        title: "The Bayes risk, by pairs of values",
        statement: "R ≥ Σ over pairs of min_e [ℓ(θ, e) + ℓ(θ′, e)]·∫min(a·p, b·q), p and q the laws of all reports, a = π(θ)π(θ′)/(1 − π(θ)), b the \
                    same with θ and θ′ exchanged. For b ≥ a the integral is a·(1 − E_γ(p‖q)), γ = b/a, bounded as in `two-point-composed`, and at \
                    least 2a times the error of `two-point-pinsker`, in its best form. For equally likely laws and wrong guesses that cost 1 it is \
                    the mean over pairs of the error of the best test between them.",
        assumptions: reports!("a prior on at most 100 values of Θ"),
        source: "whoever knows θ tells the estimator one other value that it might be, drawn with probability π(θ′)/(1 − π(θ)), which does not \
                 increase the risk",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "testing-renyi",
        title: "Errors of the second kind, by Rényi divergences",
        statement: "A test that rejects P with probability at most α under P accepts it under Q with probability β, ln β ≥ \
                    −(n/(s−1))·ln[1 + η·(e^((s−1)D_s(P‖Q)) − 1)] − (s/(s−1))·ln(1/(1−α)) for every s > 1, with η = η_KL for s ≤ 2 and η_TV \
                    beyond. So −(1/n)·ln β is at most η_KL·KL(P‖Q) in the limit.",
        assumptions: reports!("D_s(P‖Q) is finite for some s > 1"),
        source: ced!("Corollary 4, for every n"),
        errata: &["the proof applies Stein's lemma to one channel, but the channel may change with n (E21)"],
        notes: None,
    },
    Statement {
        id: "testing-kl",
        title: "Errors of the second kind, by the divergence of two coins",
        statement: "With α and β as in `testing-renyi`, d(1−α‖β) ≤ n·η_KL·KL(P‖Q) and d(β‖1−α) ≤ n·η_KL·KL(Q‖P).",
        assumptions: reports!(),
        source: "the data-processing inequality, with the contraction of `local-contraction`",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "testing-affinity",
        title: "Errors of the second kind, by affinity",
        statement: "With α and β as in `testing-renyi`, √(α(1−β)) + √((1−α)β) ≥ BC of the reports, bounded as in `two-point-affinity`.",
        assumptions: reports!(),
        source: "the data-processing inequality",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "testing-composed",
        title: "Errors of the second kind, as those between randomised responses",
        statement: "With α as in `testing-renyi` and (ε′, δ′) as in `two-point-composed`, β is at least the least one between n times \"reveal with \
                    probability δ′, else randomised response with ε′\" and the same with the truth exchanged: β ≥ 1 − E_γ − γα and β ≥ (1 − E_γ − α)/γ \
                    for every γ ≥ 1. For δ = 0, −(1/n)·ln β is at most ε′·tanh(ε′/2) in the limit.",
        assumptions: reports!(),
        source: "Kairouz, Oh, Viswanath (2017), which allows interaction",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "frequency-assouad",
        title: "The frequencies of several values",
        statement: "For k values the risk is at least the supremum over m ≤ k/2 and 0 < h ≤ 1 of (h²/2m)·B² for Σ(p̂−p)², and of \
                    h·(1 − √(1 − B²)) for Σ|p̂−p|, B = [1 − c]^n, c the contracted 1 − BC = (1 − √(1−h²))/m at total variation h/m.",
        assumptions: reports!(),
        source: "Assouad's method on m pairs of values, with `two-point-affinity` for each",
        errata: &[],
        notes: None,
    },
    Statement {
        id: "shuffle",
        title: "Privacy amplification by shuffling",
        statement: "What n shuffled reports tell of one record is at most what (A+Δ, C−A+1−Δ) against (A+1−Δ, C−A+Δ) does, C ~ Bin(n−1, c), \
                    A ~ Bin(C, ½), Δ ~ Bernoulli(e^ε₀/(e^ε₀+1)), in both directions. c = e^(−ε₀) for every ε₀-private randomiser, and the least \
                    2R(z|x)/(R(z|y) + R(z|w)) for a given one: 2/(e^ε₀+1) for randomised response.",
        assumptions: &[
            "every record goes through the same ε₀-locally private randomiser (δ = 0), with its own randomness",
            "only the multiset of reports is seen",
            "neighbours: one record is replaced",
        ],
        source: "Feldman, McMillan, Talwar, Hiding among the clones (2021); the share c of a given randomiser by the same proof",
        errata: &[
            "the stronger bound of the same authors (2023) holds for some randomisers only, as they have since found, and is not used",
        ],
        notes: None,
    },
];
