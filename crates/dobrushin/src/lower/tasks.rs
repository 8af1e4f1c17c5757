//! Several runs on the same records.

use super::observed::{Composed, of_training};
use crate::NotApplicable;
use crate::run::{Assumption, Record, Tasks};

impl Tasks {
    /// The mechanisms of all tasks, each with the record that is least private in it, or with the one that is asked
    /// about.
    pub(super) fn composition(&self) -> Result<Composed, NotApplicable> {
        let mut parts = Vec::new();
        let mut assumptions = Vec::new();
        for task in &self.tasks {
            let composed = of_training(&task.of_record(self.record))?;
            parts.extend(composed.parts.into_iter().map(|mut part| {
                part.count = part.count.saturating_mul(task.count);
                part
            }));
            assumptions.push(composed.assumptions);
        }
        Ok(Composed { parts, assumptions: self.assumptions(&assumptions) })
    }

    /// What must hold for all tasks, and for each of them, given what must hold for each.
    pub(crate) fn assumptions(&self, of_each: &[Vec<Assumption>]) -> Vec<Assumption> {
        // The place of the record in one task says nothing to people.
        let places = |assumption: &&Assumption| !matches!(assumption, Assumption::OnlyForRecord(_));
        let shared = |assumption: &Assumption| of_each.iter().all(|each| each.contains(assumption));
        let first = of_each.first().into_iter().flatten().filter(places);
        let mut all: Vec<Assumption> = first.filter(|assumption| shared(assumption)).cloned().collect();
        let runs = self.tasks.iter().map(|task| task.count).fold(0, u64::saturating_add);
        all.push(Assumption::DifferentTasks(runs));
        if let Record::Index(index) = self.record {
            all.push(Assumption::OnlyForRecordOfAll(index));
        }
        for (number, each) in (1..).zip(of_each) {
            let task = &self.tasks[number - 1];
            if task.is_in_turn() {
                all.push(Assumption::OfTask(number, Box::new(Assumption::PassBegins(task.turn))));
            }
            let own = each.iter().filter(places).filter(|assumption| !shared(assumption));
            all.extend(own.map(|assumption| Assumption::OfTask(number, Box::new(assumption.clone()))));
        }
        all
    }
}
