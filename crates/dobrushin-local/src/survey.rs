//! Several questions to each person, under one promise.

use crate::profile::LocalProfile;
use crate::promise::LocalPrivacy;
use dobrushin::numeric::bits::{RandomBits, below};
use dobrushin::profile::{Direction, PrivacyProfile};
use dobrushin::{Enclosure, Epsilon, Error};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Who answers what.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::{Asked, LocalPrivacy, Survey};
///
/// let promise = LocalPrivacy { epsilon: Epsilon::new(3.0)?, delta: Delta::new(0.0)? };
/// let epsilon = |asked, question| -> Result<f64, dobrushin::Error> {
///     Ok(Survey::new(promise, asked, vec![2, 1])?.part(question)?.epsilon.get())
/// };
/// // Two thirds and one third of the promise, or all of it for whichever question is answered.
/// assert_eq!((epsilon(Asked::All, 0)?, epsilon(Asked::All, 1)?), (2.0, 1.0));
/// assert_eq!((epsilon(Asked::One, 0)?, epsilon(Asked::One, 1)?), (3.0, 3.0));
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Everybody answers all questions, each with its share of the promise.
    All,
    /// Everybody answers one question, drawn at random in proportion to the shares, with all of the promise.
    One,
}

/// Questions that share a promise of (ε, δ) to everybody who answers.
///
/// ```
/// use dobrushin::{Delta, Epsilon};
/// use dobrushin_local::frequency::{FrequencyOracle, Response};
/// use dobrushin_local::{Asked, LocalPrivacy, Survey};
///
/// let promise = LocalPrivacy { epsilon: Epsilon::new(1.0)?, delta: Delta::new(0.0)? };
/// let survey = Survey::new(promise, Asked::All, vec![1, 1, 1])?;
/// let questions = (0..3).map(|question| {
///     let LocalPrivacy { epsilon, delta } = survey.part(question)?;
///     Ok(Response::new(4, epsilon, delta)?.privacy())
/// });
/// let together = survey.privacy(&questions.collect::<Result<Vec<_>, dobrushin::Error>>()?);
/// assert_eq!(together.delta(promise.epsilon).upper(), 0.0);
/// # Ok::<(), dobrushin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Survey {
    promise: LocalPrivacy,
    asked: Asked,
    shares: Vec<u32>,
    total: NonZeroU32,
}

impl Survey {
    /// Questions with these shares.
    ///
    /// # Errors
    /// [`Error::Empty`] without questions, and [`Error::OutOfRange`] for a share of 0 and for shares that add up to 2³² or
    /// more.
    pub fn new(promise: LocalPrivacy, asked: Asked, shares: Vec<u32>) -> Result<Self, Error> {
        let name = "the share of a question";
        if shares.contains(&0) {
            return Err(Error::OutOfRange { name, value: 0.0, accepted: "a whole number, 1 or more" });
        }
        let sum: u64 = shares.iter().map(|&share| u64::from(share)).sum();
        let too_large =
            Error::OutOfRange { name, value: sum as f64, accepted: "below 2^32 for all together" };
        let total = u32::try_from(sum).map_err(|_| too_large)?;
        let total = NonZeroU32::new(total)
            .ok_or(Error::Empty { what: "the survey".to_owned(), missing: "question" })?;
        Ok(Self { promise, asked, shares, total })
    }

    /// The promise that the mechanism of a question, counted from 0, must keep.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if there is no such question.
    pub fn part(&self, question: usize) -> Result<LocalPrivacy, Error> {
        let share = self.shares.get(question).ok_or(Error::OutOfRange {
            name: "the number of a question",
            value: question as f64,
            accepted: "below the number of questions",
        })?;
        match self.asked {
            Asked::All => self.promise.part(*share, self.total),
            Asked::One => Ok(self.promise),
        }
    }

    /// How private all answers of one person are together, from the profile of each question.
    ///
    /// # Guarantee
    /// If all questions are answered: with parts (εᵢ, ·) of ε that add up to at most ε, and δᵢ the profile of question i
    /// at εᵢ, the answers are (ε, Σδᵢ)-locally private by sequential composition; below ε nothing is claimed. If one
    /// question is answered: which one does not depend on the person and is told, so the profile is the mean of the
    /// profiles, weighted by the shares, exactly.
    pub fn privacy(&self, questions: &[LocalProfile]) -> LocalProfile {
        let profiles = questions.to_vec();
        LocalProfile::new(Arc::new(SurveyProfile { survey: self.clone(), profiles }))
    }

    /// The question that a person answers if everybody answers one, counted from 0.
    pub fn draw(&self, bits: &mut (impl RandomBits + ?Sized)) -> usize {
        let mut place = below(u64::from(self.total.get()), bits);
        let passed = self.shares.iter().take_while(|&&share| {
            let is_passed = place >= u64::from(share);
            place = place.saturating_sub(u64::from(share));
            is_passed
        });
        passed.count().min(self.shares.len() - 1)
    }
}

struct SurveyProfile {
    survey: Survey,
    profiles: Vec<LocalProfile>,
}

impl PrivacyProfile for SurveyProfile {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        let survey = &self.survey;
        let numbered = || self.profiles.iter().enumerate();
        let delta = match survey.asked {
            Asked::All if epsilon < survey.promise.epsilon => return Enclosure::UNIT,
            Asked::All => {
                let part = |(question, profile): (usize, &LocalProfile)| match survey.part(question) {
                    Ok(part) => profile.delta(part.epsilon),
                    Err(_) => Enclosure::ONE,
                };
                Enclosure::ZERO.hull(numbered().map(part).sum())
            }
            Asked::One => {
                let total = Enclosure::from(f64::from(survey.total.get()));
                let part = |(question, profile): (usize, &LocalProfile)| {
                    let share = survey.shares.get(question).copied().unwrap_or(survey.total.get());
                    Enclosure::from(f64::from(share)) / total * profile.delta(epsilon)
                };
                numbered().map(part).sum()
            }
        };
        delta.min(Enclosure::ONE)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
