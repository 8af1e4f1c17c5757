//! What may be said after training has ended.

use super::arguments::TrainArgs;
use super::data::Data;
use crate::model_folder::Folder;
use dobrushin_document::SelfContained;
use dobrushin_document::report::{ChargedReport, EnforcedReport, PublicReport, TrainingReport};
use dobrushin_document::trained::Trained;

/// What was trained, and on which records.
pub struct Told<'a> {
    pub trained: &'a Trained,
    pub data: &'a Data,
    /// Whether the noise was found for a target.
    pub noise_was_found: bool,
    /// Who was charged for it.
    pub charged: Option<ChargedReport>,
}

impl Told<'_> {
    /// The guarantee, and how good the model is on records that may be looked at.
    pub fn report(self, arguments: &TrainArgs, run: &SelfContained, out: &Folder) -> TrainingReport {
        let public = arguments.data_is_public.then(|| self.public());
        let are_public = arguments.test_share.is_none() || arguments.data_is_public;
        TrainingReport {
            files: Some(out.files()),
            state: arguments.keep_state.as_ref().map(|path| path.display().to_string()),
            // A share of the private records is not public.
            test: self.data.test.as_ref().map(|table| self.trained.metrics(table, are_public)),
            test_is_a_share: arguments.test_share.is_some(),
            public,
            charged: self.charged,
            ..self.trained.report(run, arguments.seed, self.noise_was_found)
        }
    }

    fn public(&self) -> PublicReport {
        PublicReport {
            enforced: self.data.enforced.as_ref().map(|loaded| EnforcedReport {
                clipped: loaded.clipped,
                scaled: loaded.scaled,
                skipped: loaded.skipped,
            }),
            training_records: self.data.in_memory().map(|table| self.trained.metrics(table, true)),
            regret: self.data.regret.as_ref().map(Into::into),
        }
    }
}
