//! What will be released, and what it costs the people in it.

use super::spend_of;
use crate::problem::Problem;
use dobrushin::profile::ApproximateProfile;
use dobrushin::{Delta, Epsilon, Progress};
use dobrushin_document::SelfContained;
use dobrushin_document::certificate::{self, Verdict};
use dobrushin_document::text::ledger::PROMISED;
use dobrushin_ledger::{Spend, Terms};
use serde_json::json;

/// What will be released by another program.
pub enum Released {
    /// The result of a run.
    Run(Box<SelfContained>),
    /// Something that promises (ε, δ) to each record.
    Promise(ApproximateProfile, String),
}

impl Released {
    /// The result of a run.
    pub fn of_run(run: SelfContained) -> Self {
        Self::Run(Box::new(run))
    }

    /// What a certificate is about, which is recomputed first. `name` is what messages call it.
    ///
    /// # Errors
    /// [`Problem`] if it is no certificate, or does not hold.
    pub fn of_certificate(bytes: &[u8], name: &str) -> Result<Self, Problem> {
        let given = certificate::read(bytes, name)?;
        let checked = certificate::check(&given)?;
        if checked.verdict() == Verdict::DoesNotHold {
            return Err(Problem::answer_is_no(format!("{name} is not counted, because it does not hold"))
                .help("dobrushin certificate verify lists every difference"));
        }
        let uncounted = |what: &str, help: &str| {
            Err(Problem::answer_is_no(format!("{name} is not counted, because {what}")).help(help))
        };
        let training = &given["training"];
        if training["private"] == false {
            let what = "the randomness of its model came from a known seed, which protects nobody";
            return uncounted(what, "train without --seed");
        }
        for (key, what) in [
            ("test_share", "some of the records were kept for a test, which its ε does not cover"),
            (
                "data_is_public",
                "the records were said to be public, so that more was shown than its ε covers",
            ),
        ] {
            if training.get(key).is_some_and(|value| !value.is_null()) {
                return uncounted(what, "train with --ledger, which refuses what cannot be counted");
            }
        }
        Ok(Self::of_run(checked.claim.run().clone()))
    }

    /// What promises this to each record.
    pub fn of_promise(epsilon: Epsilon, delta: Delta) -> Self {
        let words = format!("a release that promises (ε, δ) = ({}, {})", epsilon.get(), delta.get());
        Self::Promise(ApproximateProfile::new(epsilon, delta), words)
    }

    /// What it costs with this many records; `what` says in a few words what it is.
    ///
    /// # Errors
    /// [`Problem`] if nothing is known of it, or it is not for this many records.
    pub fn spend(
        &self,
        records: u64,
        terms: &Terms,
        what: Option<String>,
        progress: &Progress,
    ) -> Result<Spend, Problem> {
        match self {
            Self::Promise(profile, words) => {
                let what = what.unwrap_or_else(|| words.clone());
                Ok(Spend::of_profile(profile, PROMISED, what, json!({ "promise": words })))
            }
            Self::Run(run) => spend_of(run, records, terms, what, progress),
        }
    }
}
