//! What a table is asked: one question, or several under one promise.

use super::description::{Description, Question, asked_word};
use crate::problem::Problem;
use dobrushin::Error;
use dobrushin_document::local::{Answers, Categories, Id, Mechanism, Specification};
use dobrushin_document::report::{PromiseReport, QuestionReport};
use dobrushin_document::{Possible, SurveyFile, SurveyQuestion};
use dobrushin_local::risk::Ball;
use dobrushin_local::{Asked, LocalPrivacy, LocalProfile, Survey};
use std::num::NonZeroU32;
use std::path::Path;

/// Questions, and how a promise is divided among them if there are several.
pub struct Asking {
    /// The questions.
    pub questions: Vec<Question>,
    /// What several questions share.
    pub survey: Option<SharedPromise>,
}

/// A promise that several questions share.
pub struct SharedPromise {
    /// The whole.
    pub promise: LocalPrivacy,
    /// Who answers what.
    pub asked: Asked,
    /// How it is divided.
    pub survey: Survey,
}

impl Asking {
    /// One question.
    pub fn one(mechanism: Specification, columns: Vec<String>) -> Self {
        Self { questions: vec![Question { mechanism, columns }], survey: None }
    }

    /// The same question about several columns, each with the same share of the promise of the specification.
    pub fn each(specification: &Specification, columns: Vec<String>, asked: Asked) -> Result<Self, Problem> {
        let promise = LocalPrivacy { epsilon: specification.epsilon, delta: specification.delta };
        let questions = columns.into_iter().map(|column| (specification.clone(), vec![column], 1)).collect();
        Self::sharing(promise, asked, questions)
    }

    /// The questions of a survey file.
    pub fn from_file(path: &Path) -> Result<Self, Problem> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Problem::new(format!("cannot read the survey {}", path.display())).because(error)
        })?;
        let SurveyFile { promise, asked, questions } = SurveyFile::parse(&text)?;
        let question = |(index, question): (usize, SurveyQuestion)| {
            let called = format!("question {}", index + 1);
            let specification = specification(&question, promise, &called)?;
            Ok((specification, question.columns, question.share))
        };
        let questions = questions.into_iter().enumerate().map(question).collect::<Result<_, Problem>>()?;
        Self::sharing(promise, asked, questions)
    }

    fn sharing(
        promise: LocalPrivacy,
        asked: Asked,
        questions: Vec<(Specification, Vec<String>, u32)>,
    ) -> Result<Self, Problem> {
        let shares = questions.iter().map(|(_, _, share)| *share).collect();
        let survey =
            Survey::new(promise, asked, shares).map_err(|error: Error| Problem::new(error.to_string()))?;
        let part = |(index, (specification, columns, _)): (usize, (Specification, Vec<String>, u32))| {
            let LocalPrivacy { epsilon, delta } = survey.part(index)?;
            Ok(Question { mechanism: Specification { epsilon, delta, ..specification }, columns })
        };
        let questions = questions.into_iter().enumerate().map(part).collect::<Result<_, Problem>>()?;
        Ok(Self { questions, survey: Some(SharedPromise { promise, asked, survey }) })
    }

    /// The names of all columns, in the order of the questions.
    pub fn columns(&self) -> Vec<String> {
        self.questions.iter().flat_map(|question| question.columns.iter().cloned()).collect()
    }

    /// Makes the mechanisms.
    pub fn build(&self) -> Result<Vec<Mechanism>, Problem> {
        self.questions.iter().map(|question| Ok(question.mechanism.build()?)).collect()
    }

    /// What is promised to everybody who answers, and whether the mechanisms keep it.
    pub fn promise(&self, mechanisms: &[Mechanism]) -> PromiseReport {
        let Some(shared) = &self.survey else {
            return self.questions[0].mechanism.promise(&mechanisms[0]);
        };
        let mut names: Vec<String> =
            self.questions.iter().map(|question| question.mechanism.id.name()).collect();
        names.dedup();
        PromiseReport::new(names.join(", "), shared.promise, &self.privacy(mechanisms))
    }

    /// What all reports of a person tell together.
    pub fn privacy(&self, mechanisms: &[Mechanism]) -> LocalProfile {
        let profiles: Vec<LocalProfile> = mechanisms.iter().map(Mechanism::privacy).collect();
        match &self.survey {
            Some(shared) => shared.survey.privacy(&profiles),
            None => mechanisms[0].privacy(),
        }
    }

    /// What each question uses of the promise, if there are several.
    pub fn parts(&self, mechanisms: &[Mechanism]) -> Option<(&'static str, Vec<QuestionReport>)> {
        let shared = self.survey.as_ref()?;
        let part = |(question, mechanism): (&Question, &Mechanism)| {
            QuestionReport::new(question.name(), &question.mechanism.promise(mechanism))
        };
        Some((asked_word(shared.asked), self.questions.iter().zip(mechanisms).map(part).collect()))
    }

    /// What the file of reports says about itself.
    pub fn description(&self, seed: Option<u64>) -> Description {
        let survey = self.survey.as_ref().map(|shared| (shared.promise, shared.asked));
        Description { questions: self.questions.clone(), survey, seed }
    }
}

/// What a question says, with the whole promise.
fn specification(
    question: &SurveyQuestion,
    promise: LocalPrivacy,
    called: &str,
) -> Result<Specification, Problem> {
    let id = Id::named(&question.mechanism).filter(|id| *id != Id::Channel).ok_or_else(|| {
        let known = Id::all().filter(|id| *id != Id::Channel).map(|id| id.name());
        Problem::new(format!("{called}.mechanism is {:?}, which is none", question.mechanism))
            .help(format!("one of: {}", known.collect::<Vec<_>>().join(", ")))
    })?;
    let answers = match &question.possible {
        Possible::Numbered(count) => Answers::Category(Categories::numbered(*count)?),
        Possible::Values(names) => {
            Answers::Category(Categories::named(names.clone(), &format!("{called}.values"))?)
        }
        Possible::Bins(bounds, count) => Answers::Category(Categories::binned(*bounds, *count)?),
        Possible::Bounds(bounds) => Answers::Number(*bounds),
        Possible::Radius(radius) => {
            let dimension = u32::try_from(question.columns.len()).ok().and_then(NonZeroU32::new);
            let dimension = dimension.ok_or_else(|| Problem::new(format!("{called} has no columns")))?;
            Answers::Vector(Ball { radius: *radius, dimension })
        }
    };
    let LocalPrivacy { epsilon, delta } = promise;
    Ok(Specification { id, epsilon, delta, answers, truth: question.truth, channel: None })
}
