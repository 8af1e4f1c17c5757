//! What may be said after training has ended.

use super::arguments::TrainArgs;
use super::data::Data;
use super::files::Folder;
use dobrushin_document::SelfContained;
use dobrushin_document::report::{
    EnforcedReport, MetricsReport, OneOrMany, PublicReport, ScheduleReport, TrainingReport,
};
use dobrushin_document::trained::Trained;
use dobrushin_train::{Table, evaluate, quality};

/// What was trained, and on which records.
pub struct Told<'a> {
    pub trained: &'a Trained,
    pub data: &'a Data,
    /// Whether the noise was found for a target.
    pub noise_was_found: bool,
}

impl Told<'_> {
    /// The guarantee, and how good the model is on records that may be looked at.
    pub fn report(&self, arguments: &TrainArgs, run: &SelfContained, out: &Folder) -> TrainingReport {
        let files = [out.model(), out.certificate(), out.text()].map(|path| path.display().to_string());
        let schedule = ScheduleReport::new(self.trained.plan.training(), self.noise_was_found);
        TrainingReport {
            // A share of the private records is not public.
            test: (self.data.test.as_ref())
                .map(|table| self.metrics(table, arguments.test_share.is_none() || arguments.data_is_public)),
            test_is_a_share: arguments.test_share.is_some(),
            private_evaluation: self.trained.released.evaluations.iter().map(Into::into).collect(),
            public: arguments.data_is_public.then(|| self.public()),
            ..TrainingReport::new(
                &self.trained.account,
                run,
                &self.trained.schema,
                schedule,
                files,
                arguments.seed,
            )
        }
    }

    fn public(&self) -> PublicReport {
        PublicReport {
            enforced: self.data.enforced.as_ref().map(|loaded| EnforcedReport {
                clipped: loaded.clipped,
                scaled: loaded.scaled,
                skipped: loaded.skipped,
            }),
            training_records: self.data.in_memory().map(|table| self.metrics(table, true)),
            regret: self.data.regret.as_ref().map(Into::into),
        }
    }

    /// One entry for each task, with all that may be said if the records are public.
    fn metrics(&self, table: &Table, are_public: bool) -> OneOrMany<MetricsReport> {
        let tasks = self.trained.released.parameters.iter().enumerate();
        let metrics = tasks.map(|(task, parameters)| {
            let metrics = evaluate(self.trained.plan.model(), parameters, table, task);
            let found =
                are_public.then(|| quality(self.trained.plan.model(), parameters, table, task)).flatten();
            MetricsReport::new(&metrics, &self.trained.schema, task).with_quality(
                found.as_ref(),
                &self.trained.schema,
                task,
            )
        });
        metrics.collect()
    }
}
