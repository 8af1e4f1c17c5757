//! The results that the numbers of this crate rely on, as data: each with its assumptions, its source and the errors of
//! the source.
//!
//! `dobrushin explain`, certificates and docs/mathematics print these statements, so that nothing is written twice. A
//! name in backticks is the id of another statement; E and a number is an entry of docs/errata.md. The statement of an
//! analysis is in its own file, and [`find`] takes it from there.

mod divergences;
mod kernels;
mod local;
mod utility;

pub use crate::analysis::{Notes, Statement};
pub use local::LOCAL;
pub use utility::UTILITY;

use crate::analysis;

/// The statement with the given id.
///
/// ```
/// use dobrushin::statement;
///
/// let found = statement::find("tight-curve").map(|statement| statement.id);
/// assert_eq!(found, Some("tight-curve"));
/// assert_eq!(statement::find("no-such-theorem"), None);
/// ```
pub fn find(id: &str) -> Option<&'static Statement> {
    all().find(|statement| statement.id == id)
}

/// Every statement: those that analyses rely on, in the order in which they build on each other, the analyses, utility,
/// and local privacy.
///
/// ```
/// use dobrushin::statement;
///
/// // Every name is told once, and can be asked for.
/// let ids: Vec<&str> = statement::all().map(|statement| statement.id).collect();
/// assert!(ids.iter().all(|id| statement::find(id).is_some()));
/// assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len());
/// ```
pub fn all() -> impl Iterator<Item = &'static Statement> {
    let analyses = analysis::ALL.iter().map(|theorem| theorem.statement());
    FOUNDATIONS.iter().chain(analyses).chain(UTILITY).chain(LOCAL)
}

/// The statements that analyses rely on, in the order in which they build on each other.
pub const FOUNDATIONS: &[Statement] = &[
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
    kernels::TIGHT_OUTPUT_BOUND,
    kernels::CHI2_CONTRACTION,
    kernels::PRODUCT_KERNEL,
    divergences::RENYI_CONVERSION,
    divergences::SUBSAMPLING,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// All the text of a statement.
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
    fn every_analysis_has_notes_and_nothing_else_has() {
        assert!(FOUNDATIONS.iter().chain(UTILITY).chain(LOCAL).all(|statement| statement.notes.is_none()));
        for theorem in analysis::ALL {
            let notes = theorem.statement().notes.expect("it has notes");
            assert!((2..=8).contains(&notes.proof.len()), "{:?}", notes.proof);
            assert!(!notes.wins.is_empty() && notes.example.starts_with("account examples/"));
            assert!(notes.formula.lines().all(|line| line.chars().count() <= 96), "{}", notes.formula);
        }
    }

    #[test]
    fn every_name_in_backticks_is_a_statement() {
        for statement in all() {
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
        let mut ids: Vec<&str> = all().map(|s| s.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().count());
    }
}
