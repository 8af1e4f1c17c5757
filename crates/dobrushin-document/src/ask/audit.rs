//! Whether attacks contradict a claim.

use super::worth_meeting;
use crate::error::DocumentError;
use crate::json::Bounds;
use crate::report::{Answered, AttackReport, AuditReport, ClaimReport, ComposedReport, FloorReport, Given};
use crate::run_file::{RunFile, SelfContained};
use dobrushin::account::{Options, Question, analyses_for_curves};
use dobrushin::analysis::Family;
use dobrushin::numeric::decimal as number;
use dobrushin::profile::{ApproximateProfile, BestProfile, Direction};
use dobrushin::{Delta, Enclosure, Epsilon, PrivacyProfile, Progress};
use dobrushin_audit::floor::{Floor, floor};
use dobrushin_audit::{
    Canaries, Evidence, Models, Risk, Scores, evidence, guesses_for, one_run, score_models,
};
use serde_json::Value as Json;
use std::sync::Arc;

/// What somebody claims of a program, and what attacks are held against.
pub struct Claim {
    /// The δ at which ε is compared.
    pub delta: Delta,
    /// The claimed δ(ε), the same in both directions: whoever calls the neighbours by each other's name is right, too.
    pub profile: Arc<dyn PrivacyProfile>,
    /// The δ(ε) if every iterate were released, for a run.
    pub composition: Option<Arc<dyn PrivacyProfile>>,
    /// What no analysis of the same facts can go below, for a run.
    pub floor: Option<Floor>,
    claimed: ClaimReport,
    composed: Option<ComposedReport>,
    run: Option<Json>,
}

impl Claim {
    /// The claim of being (ε, δ)-private.
    pub fn of_pair(epsilon: Epsilon, delta: Delta) -> Result<Self, DocumentError> {
        let delta = worth_meeting(delta)?;
        Ok(Self {
            delta,
            profile: Arc::new(ApproximateProfile::new(epsilon, delta)),
            composition: None,
            floor: None,
            claimed: ClaimReport {
                epsilon: Bounds(Enclosure::from(epsilon)),
                delta: Given::Delta(crate::json::Number(delta.get())),
                analysis: None,
            },
            composed: None,
            run: None,
        })
    }

    /// The claim of a run file: the whole profile of its guarantee. The δ is the one that is given, or that of the file.
    pub fn of_run(
        file: &RunFile,
        contained: &SelfContained,
        delta: Option<Delta>,
        progress: Progress,
    ) -> Result<Self, DocumentError> {
        let delta = match delta {
            Some(delta) => delta,
            None => file.target()?.1.ok_or_else(|| {
                DocumentError::new("it is not said at which δ to compare: target.delta is missing")
                    .help("--delta 1e-5, or add [target] with delta = 1e-5 to the file")
            })?,
        };
        let delta = worth_meeting(delta)?;
        let run = contained.run()?;
        let options = Options { progress, ..Options::default() };
        let account = run.account_by(Question::EpsilonAt(delta), &options);
        let best = account.certifiable().ok_or_else(|| {
            DocumentError::answer_is_no(
                "the run has no guarantee, so there is nothing that attacks could contradict",
            )
            .help("dobrushin account says why; or claim something with --epsilon and --delta")
        })?;
        let epsilon = Epsilon::new(best.answer.value.upper())?;
        let mut rigorous: Vec<Arc<dyn PrivacyProfile>> =
            vec![Arc::new(ApproximateProfile::new(epsilon, delta))];
        let mut composition = None;
        for analysed in analyses_for_curves(&run, &Options::default()) {
            let (Ok(profile), true) = (analysed.profile, analysed.rigorous) else {
                continue;
            };
            if analysed.family == Family::Composition && composition.is_none() {
                composition = Some(symmetric(&profile));
            }
            rigorous.push(profile);
        }
        let profile: Arc<dyn PrivacyProfile> = Arc::new(BestProfile::new(rigorous)?);
        Ok(Self {
            delta,
            profile: symmetric(&profile),
            composition,
            floor: floor(&run, Question::EpsilonAt(delta)),
            claimed: ClaimReport {
                epsilon: Bounds(best.answer.value),
                delta: Given::Delta(crate::json::Number(delta.get())),
                analysis: Some(best.id.to_owned()),
            },
            composed: account
                .if_published()
                .map(|answer| ComposedReport { answer: Answered::new(account.question, answer) }),
            run: Some(file.json()),
        })
    }

    /// Another claim about the same run: that it is (ε, δ)-private, at the δ of this claim.
    #[must_use]
    pub fn instead(self, epsilon: Epsilon) -> Self {
        Self {
            profile: Arc::new(ApproximateProfile::new(epsilon, self.delta)),
            claimed: ClaimReport {
                epsilon: Bounds(Enclosure::from(epsilon)),
                analysis: None,
                ..self.claimed
            },
            ..self
        }
    }
}

/// The larger δ of both directions, in both directions.
struct Symmetric(Arc<dyn PrivacyProfile>);

fn symmetric(profile: &Arc<dyn PrivacyProfile>) -> Arc<dyn PrivacyProfile> {
    if profile.is_symmetric() { Arc::clone(profile) } else { Arc::new(Symmetric(Arc::clone(profile))) }
}

impl PrivacyProfile for Symmetric {
    fn delta_of(&self, _: Direction, epsilon: Epsilon) -> Enclosure {
        self.0.delta(epsilon)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// What an attack is called, and what it saw.
pub struct Attack {
    /// Its name in reports.
    pub id: &'static str,
    /// What it saw.
    pub saw: Saw,
    /// All runs, with and without the record, also those from which the attacker learnt.
    pub runs: usize,
}

/// What an attack saw.
pub enum Saw {
    /// The scores of independent runs.
    Scores(Scores),
    /// The canaries of one run.
    Canaries(Canaries),
}

impl Attack {
    /// The attack on rows of numbers, one for each run: scores, if there is one number in each; or whole models, some of
    /// which teach a direction by which the others are scored.
    pub fn on(with: Vec<Vec<f64>>, without: Vec<Vec<f64>>) -> Result<Self, DocumentError> {
        let runs = with.len() + without.len();
        if with.iter().chain(&without).all(|row| row.len() == 1) {
            let scores = Scores { with: with.concat(), without: without.concat() };
            return Ok(Self { id: "scores", saw: Saw::Scores(scores), runs });
        }
        let scores = score_models(&Models { with, without }).map_err(|error| refused(&error))?;
        Ok(Self { id: "direction", saw: Saw::Scores(scores), runs })
    }
}

/// The confidence of statements about attacks, above 0 and below 1.
fn risk_of(confidence: f64) -> Result<Risk, DocumentError> {
    Risk::new(1.0 - confidence).map_err(|_| {
        DocumentError::new(format!(
            "the confidence is {}, but it must be above 0 and below 1",
            number::plain(confidence)
        ))
        .help("--confidence 0.95, which is usual")
    })
}

/// What was found, and what it was found from.
pub struct Audited {
    /// The report.
    pub report: AuditReport,
    /// What each attack on many runs proves, with its name.
    pub evidence: Vec<(&'static str, Evidence)>,
}

/// Holds attacks against a claim. All that is said about them is true at once, with this confidence.
pub fn audit(claim: &Claim, attacks: &[Attack], confidence: f64) -> Result<Audited, DocumentError> {
    let risk = risk_of(confidence)?.shared_by(attacks.len());
    let mut found = Vec::new();
    let mut reports = Vec::new();
    for Attack { id, saw, runs } in attacks {
        match saw {
            Saw::Scores(scores) => {
                let proved = evidence(scores, claim.delta, risk).map_err(|error| refused(&error))?;
                let contradiction = proved.contradicts(claim.profile.as_ref());
                reports.push(AttackReport::new(id, *runs, scores, &proved, contradiction, confidence));
                found.push((*id, proved));
            }
            Saw::Canaries(canaries) => {
                let epsilon = Epsilon::new(claim.claimed.epsilon.0.upper())?;
                let each = guesses_for(epsilon, canaries.scores.len(), claim.delta, risk);
                let proved =
                    one_run(canaries, each, each, claim.delta, risk).map_err(|error| refused(&error))?;
                let refutation = proved.refutes(claim.profile.as_ref());
                reports.push(AttackReport::of_one_run(id, *runs, &proved, refutation, confidence));
            }
        }
    }
    let floor = claim.floor.as_ref().map(|floor| FloorReport::new(Question::EpsilonAt(claim.delta), floor));
    let report =
        AuditReport::new(claim.run.clone(), floor, claim.claimed.clone(), claim.composed.clone(), reports);
    Ok(Audited { report, evidence: found })
}

impl Audited {
    /// The same audit, of models that dobrushin trained on records. They are private, unless somebody says that they are not.
    #[must_use]
    pub fn of_trained_models(self, are_public: bool) -> Self {
        Self { report: self.report.of_trained_models(are_public), ..self }
    }
}

/// What cannot be audited, and what to do.
fn refused(error: &dobrushin_audit::Error) -> DocumentError {
    use dobrushin_audit::Error;
    let help = match error {
        Error::NotANumber { what: "score", .. } => {
            "every run needs a score; give runs that diverged the score inf, and do not leave them out"
        }
        Error::NotANumber { .. } => {
            "parameters must be finite; put 1e300 in the place of those that diverged, and do not leave the run out"
        }
        Error::TooFewRuns { .. } => {
            "to prove ε, even a perfect attacker needs about 5·e^ε runs with the record and as many without it"
        }
        Error::Parameters { .. } => "write the same parameters of every model, in the same order",
        _ => "see docs/audit.md",
    };
    DocumentError::new(error.to_string()).help(help)
}
