//! Accounting: what every analysis says about a run, the best of it as the guarantee, for the worst record
//! or for each, and how much noise (or how many steps) a target needs or leaves.

mod advice;
mod analyses;
mod calibrate;
mod composition;
mod explanation;
mod large_delta;
mod losses;
mod proxy;
mod records;
mod report;
mod search;
mod target;
mod worst;

pub use advice::{Advice, advice};
pub use analyses::{Analysed, DEFAULT_TOLERANCE, Options, analyses, analyses_for_curves, analysis_ids};
pub use calibrate::{Calibration, CalibrationError, calibrate};
pub use large_delta::large_delta;
pub use records::{Protection, RecordsError, protection_by_record};
pub use report::{Answer, Entry, Guarantee, Question, Report};
pub use target::Target;

#[cfg(test)]
mod tests {
    use super::analysis_ids;
    use crate::statement::STATEMENTS;

    #[test]
    fn every_analysis_has_notes_and_nothing_else_has() {
        let with_notes: Vec<&str> = STATEMENTS.iter().filter(|s| s.notes.is_some()).map(|s| s.id).collect();
        let mut analyses: Vec<&str> = analysis_ids().collect();
        assert_eq!(analyses.len(), 15);
        analyses.sort_unstable();
        let mut sorted = with_notes.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, analyses);
        for notes in STATEMENTS.iter().filter_map(|statement| statement.notes) {
            assert!((2..=8).contains(&notes.proof.len()), "{:?}", notes.proof);
            assert!(!notes.wins.is_empty() && notes.example.starts_with("account examples/"));
            assert!(notes.formula.lines().all(|line| line.chars().count() <= 96), "{}", notes.formula);
        }
    }
}
