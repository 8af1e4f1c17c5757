//! What the numbers of this crate rest on, as data: each result with its
//! assumptions, its source and what was wrong with the source.
//!
//! `dobrushin explain`, certificates and docs/mathematics print it, so that nothing is written twice. A name in
//! backticks is the id of another statement; E and a number is an entry of docs/errata.md.

/// Contraction of E_γ-divergence and its applications to privacy.
macro_rules! ced {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Calmon, Contraction of E_γ-divergence and its applications to privacy (2023), ",
            $place
        )
    };
}

/// Privacy amplification of iterative algorithms via contraction coefficients.
macro_rules! pac {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Calmon, Privacy amplification of iterative algorithms via contraction \
             coefficients (2020), ",
            $place
        )
    };
}

/// Privacy loss of noisy stochastic gradient descent might converge even for non-convex losses.
macro_rules! ncv {
    ($place:literal) => {
        concat!(
            "Asoodeh, Diaz, Privacy loss of noisy stochastic gradient descent might converge even for \
             non-convex losses (2023), ",
            $place
        )
    };
}

mod beyond;
mod composition;
mod divergences;
mod kernels;
mod local;
mod published;
mod utility;

pub use local::LOCAL;
pub use utility::UTILITY;

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
    /// More about an analysis; none for what analyses rest on.
    pub notes: Option<Notes>,
}

/// What one needs to know of an analysis to check it and to choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    /// What runs it is about, in a few words.
    pub applies_to: &'static str,
    /// The displayed formulas, then what their symbols mean, in lines.
    pub formula: &'static str,
    /// The steps of its proof that matter.
    pub proof: &'static [&'static str],
    /// When it is the best of all, and when it says nothing.
    pub wins: &'static [&'static str],
    /// The arguments of a command that shows it at work, from the root of the repository.
    pub example: &'static str,
}

/// The statement with the given id.
pub fn find(id: &str) -> Option<&'static Statement> {
    STATEMENTS.iter().chain(UTILITY).chain(LOCAL).find(|s| s.id == id)
}

/// Every statement about privacy, in the order in which they build on each other.
pub const STATEMENTS: &[Statement] = &[
    divergences::HOCKEY_STICK,
    divergences::GAUSSIAN,
    divergences::LAPLACE,
    divergences::DISCRETE,
    divergences::INTEGRAL_REPRESENTATION,
    kernels::CONTRACTION_COEFFICIENT,
    kernels::GAUSSIAN_KERNEL,
    kernels::LAPLACE_KERNEL,
    kernels::TIGHT_CURVE,
    kernels::OUTPUT_BOUND,
    kernels::CHI2_CONTRACTION,
    kernels::PRODUCT_KERNEL,
    divergences::RENYI_CONVERSION,
    composition::SUBSAMPLING,
    composition::COMPOSITION,
    composition::COMPOSITION_RENYI,
    composition::COMPOSITION_GDP,
    published::CONTRACTION_PUBLISHED,
    published::RANDOM_STOP_PUBLISHED,
    published::SHIFT_RENYI,
    published::STRONGLY_CONVEX_RENYI,
    published::NONCONVEX_PUBLISHED,
    published::REGULARIZED_PUBLISHED,
    beyond::CONTRACTION,
    beyond::SHIFT,
    beyond::CEILING,
    beyond::HYBRID,
    beyond::SHIFT_SUBSAMPLED,
    beyond::RECURSION,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that a statement says.
    fn texts(statement: &Statement) -> Vec<&'static str> {
        let mut texts = vec![statement.title, statement.statement, statement.source];
        texts.extend(statement.assumptions.iter().chain(statement.errata));
        if let Some(notes) = statement.notes {
            texts.extend([notes.applies_to, notes.formula, notes.example]);
            texts.extend(notes.proof.iter().chain(notes.wins));
        }
        texts
    }

    #[test]
    fn every_name_in_backticks_is_a_statement() {
        for statement in STATEMENTS.iter().chain(LOCAL) {
            for text in texts(statement) {
                let names: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
                assert_eq!(text.matches('`').count(), 2 * names.len(), "{text}");
                for name in names {
                    assert!(find(name).is_some_and(|found| found.id != statement.id), "{name} in {text}");
                }
            }
        }
    }

    #[test]
    fn no_two_statements_have_the_same_name() {
        let all = || STATEMENTS.iter().chain(UTILITY).chain(LOCAL);
        let mut ids: Vec<&str> = all().map(|s| s.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().count());
    }
}
