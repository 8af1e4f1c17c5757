//! One question, answered by every analysis.

use super::analyses::{Options, analyses};
use super::explanation;
use super::large_delta::large_delta;
use crate::analysis::Family;
use crate::profile::PrivacyProfile;
use crate::run::{Assumption, Run};
use crate::{Delta, Enclosure, Epsilon, NotApplicable};

/// What is asked of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// The smallest ε for a δ.
    Epsilon(Delta),
    /// The smallest δ for an ε.
    Delta(Epsilon),
}

/// What a profile answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// ε or δ, whichever was asked for.
    pub value: Enclosure,
    /// ln δ, if δ was asked for: it does not underflow.
    pub log_delta: Option<Enclosure>,
}

impl Question {
    /// Asks a profile.
    pub fn ask(self, profile: &dyn PrivacyProfile) -> Answer {
        match self {
            Self::Epsilon(delta) => Answer { value: profile.epsilon(delta), log_delta: None },
            Self::Delta(epsilon) => {
                Answer { value: profile.delta(epsilon), log_delta: Some(profile.log_delta(epsilon)) }
            }
        }
    }
}

/// What one analysis answered.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The analysis.
    pub id: &'static str,
    /// The idea that it rests on.
    pub family: Family,
    /// Whether the upper end is a guarantee.
    pub rigorous: bool,
    /// The answer, or why there is none.
    pub outcome: Result<Answer, NotApplicable>,
    /// What must hold for it.
    pub assumptions: Vec<Assumption>,
}

/// What all analyses answered.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub question: Question,
    /// One for each analysis, in a fixed order.
    pub entries: Vec<Entry>,
    /// Where the answer comes from, in words.
    pub explanation: Vec<String>,
    /// What could not be used, or says nothing, and why, in words; the concern comes first.
    pub warnings: Vec<String>,
    /// Why the guarantee protects nobody, though it holds, in words.
    pub concern: Option<String>,
}

/// An answer that is a guarantee.
#[derive(Clone, Copy, Debug)]
pub struct Guarantee<'a> {
    /// The analysis that gave it.
    pub id: &'static str,
    /// The idea that it rests on.
    pub family: Family,
    /// The answer.
    pub answer: Answer,
    /// What must hold.
    pub assumptions: &'a [Assumption],
}

impl Report {
    /// Asks every analysis of a run.
    pub fn new(run: &Run, question: Question, options: &Options) -> Self {
        let entry = |analysed: super::Analysed| Entry {
            id: analysed.id,
            family: analysed.family,
            rigorous: analysed.rigorous,
            outcome: analysed.profile.map(|profile| question.ask(profile.as_ref())),
            assumptions: analysed.assumptions,
        };
        let entries = analyses(run, options).into_iter().map(entry).collect();
        let mut report =
            Self { question, entries, explanation: Vec::new(), warnings: Vec::new(), concern: None };
        (report.explanation, report.warnings) = explanation::of(run, &report);
        report.concern = report.delta().and_then(|delta| large_delta(run, delta));
        report.warnings.splice(0..0, report.concern.clone());
        report
    }

    /// What an analysis answered.
    pub fn answer(&self, id: &str) -> Option<Answer> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        entry.outcome.as_ref().ok().copied()
    }

    /// What would hold if everything that the run computes were published, by the first composition that answers.
    pub fn if_published(&self) -> Option<Answer> {
        let compositions = self.entries.iter().filter(|entry| entry.family == Family::Composition);
        compositions.filter(|entry| entry.rigorous).find_map(|entry| entry.outcome.as_ref().ok().copied())
    }

    /// The δ of the guarantee: what was given, or the upper end of the answer.
    fn delta(&self) -> Option<f64> {
        match self.question {
            Question::Epsilon(delta) => Some(delta.get()),
            Question::Delta(_) => self.guarantee().map(|best| best.answer.value.upper()),
        }
    }

    /// The guarantee, if it says something: everything is (∞, δ)-private, and everything is (ε, 1)-private.
    pub fn certifiable(&self) -> Option<Guarantee<'_>> {
        let says_something = |best: &Guarantee<'_>| match self.question {
            Question::Epsilon(delta) => delta.get() < 1.0 && best.answer.value.upper() < f64::INFINITY,
            Question::Delta(_) => best.answer.value.upper() < 1.0,
        };
        self.guarantee().filter(says_something)
    }

    /// The best rigorous answer with its analysis.
    ///
    /// # Guarantee
    /// Under the assumptions the run is (ε, δ)-private with the upper end of the answer.
    pub fn guarantee(&self) -> Option<Guarantee<'_>> {
        let rigorous = self.entries.iter().filter(|entry| entry.rigorous);
        let answers = rigorous.filter_map(|entry| {
            let answer = *entry.outcome.as_ref().ok()?;
            Some(Guarantee { id: entry.id, family: entry.family, answer, assumptions: &entry.assumptions })
        });
        // Of δ that underflow, the logarithms still differ.
        let height =
            |g: &Guarantee<'_>| (g.answer.value.upper(), g.answer.log_delta.map_or(0.0, Enclosure::upper));
        answers.min_by(|a, b| {
            let ((a, ln_a), (b, ln_b)) = (height(a), height(b));
            a.total_cmp(&b).then(ln_a.total_cmp(&ln_b))
        })
    }
}
