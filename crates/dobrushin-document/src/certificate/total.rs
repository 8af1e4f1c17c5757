//! What several certificates about the same people say together.

use super::check::{Checked, Claim, Verdict, check};
use super::verification::is_private;
use crate::error::DocumentError;
use crate::json::{Bounds, Number};
use crate::report::MeaningReport;
use dobrushin::account::{Account, Question, Total, TotalError};
use dobrushin::run::Run;
use dobrushin::{Delta, Enclosure, Neighbours};
use serde::Serialize;
use serde_json::Value as Json;

/// The guarantee of all releases together.
#[derive(Serialize)]
pub struct TotalReport {
    schema: u32,
    /// The certificates, in the order in which they were given.
    pub certificates: Vec<Counted>,
    /// The δ for which ε was found.
    pub delta: Number,
    /// ε of all of them together.
    pub epsilon: Bounds,
    /// What it means for one person; `None` if ε is infinite.
    pub meaning: Option<MeaningReport>,
    /// Which data sets are neighbours, if the runs say so.
    pub neighbours: Option<&'static str>,
    /// Whether some certificates are for other neighbours, and were counted for these.
    pub changed_neighbours: bool,
    /// What must hold besides the assumptions of each certificate, in words.
    pub assumptions: Vec<&'static str>,
}

/// One of the certificates.
#[derive(Serialize)]
pub struct Counted {
    /// Its file.
    pub certificate: String,
    /// Its ε.
    pub epsilon: Number,
    /// Its δ.
    pub delta: Number,
    /// The analysis by which it holds.
    pub analysis: &'static str,
    /// Its neighbours, if its run says so.
    pub neighbours: Option<&'static str>,
}

const ASSUMPTIONS: [&str; 3] = [
    "each person has at most one record in each of the releases",
    "the assumptions of every certificate hold",
    "which runs were made, and how many, was decided without looking at earlier results",
];

/// Why certificates are not added up.
pub enum NotAdded {
    /// One cannot be read, or they do not belong together.
    Bad(DocumentError),
    /// One does not hold.
    DoesNotHold(String),
}

impl From<DocumentError> for NotAdded {
    fn from(error: DocumentError) -> Self {
        Self::Bad(error)
    }
}

/// Checks certificates, each with the name of its file, and adds up what they claim; without a δ, at the sum of theirs.
///
/// # Errors
/// [`NotAdded`] if a certificate does not hold, if two are of the same model, or if their neighbours cannot be compared.
pub fn total(certificates: &[(String, Json)], delta: Option<Delta>) -> Result<TotalReport, NotAdded> {
    refuse_twice(certificates)?;
    let mut releases = Vec::with_capacity(certificates.len());
    for (name, certificate) in certificates {
        releases.push(release(name, certificate)?);
    }
    let counted: Vec<Counted> = releases.iter().map(Release::counted).collect();
    let sum = counted.iter().map(|one| Enclosure::from(one.delta.0)).sum::<Enclosure>().upper();
    let delta = match delta {
        Some(delta) => delta,
        None => Delta::new(sum).map_err(|_| {
            DocumentError::new(format!("the δ of the certificates add up to {sum}, which is no guarantee"))
                .help("--delta 1e-5 finds ε for that δ")
        })?,
    };
    let added = Total::of(releases.iter().map(|release| (&release.run, &release.account)), delta);
    let total = added.map_err(|error| {
        DocumentError::new(format!("the certificates cannot be added up: {error}")).help(match error {
            TotalError::OnlyDeleted => "add up the certificates of the same runs without [forget]",
            TotalError::OneRecord(_) => "add up the certificates of the same runs without run.record",
            _ => "add up certificates for the same neighbours",
        })
    })?;
    Ok(TotalReport {
        schema: 1,
        certificates: counted,
        delta: Number(delta.get()),
        epsilon: Bounds(total.epsilon),
        meaning: total.meaning.map(Into::into),
        neighbours: total.neighbours.map(word),
        changed_neighbours: total.changed,
        assumptions: ASSUMPTIONS.to_vec(),
    })
}

/// A certificate that holds.
struct Release<'a> {
    name: &'a str,
    claim: Claim,
    run: Run,
    account: Account,
}

impl Release<'_> {
    fn counted(&self) -> Counted {
        let (epsilon, delta) = match self.claim.question {
            Question::EpsilonAt(delta) => (self.claim.upper, delta.get()),
            Question::DeltaAt(epsilon) => (epsilon.get(), self.claim.upper),
        };
        Counted {
            certificate: self.name.to_owned(),
            epsilon: Number(epsilon),
            delta: Number(delta),
            analysis: self.claim.analysis,
            neighbours: self.run.neighbours().map(word),
        }
    }
}

/// The numbers of a certificate count only if they are recomputed and nobody knows the randomness.
fn release<'a>(name: &'a str, certificate: &Json) -> Result<Release<'a>, NotAdded> {
    let checked = check(certificate).map_err(|error| error.within(name))?;
    if !is_private(certificate) {
        return Err(NotAdded::DoesNotHold(format!(
            "{name} is of a model whose randomness came from a known seed, which protects nobody"
        )));
    }
    if checked.verdict() == Verdict::DoesNotHold {
        let first = checked.differences.first().map_or_else(String::new, |first| format!(": {first}"));
        return Err(NotAdded::DoesNotHold(format!("the certificate {name} DOES NOT HOLD{first}")));
    }
    let Checked { claim, account, .. } = checked;
    let run = claim.run().run().map_err(|error| error.within(name))?;
    Ok(Release { name, claim, run, account })
}

/// One model is released once, however many copies of its certificate there are.
fn refuse_twice(certificates: &[(String, Json)]) -> Result<(), DocumentError> {
    let model = |certificate: &Json| certificate["training"]["model_sha256"].as_str().map(str::to_owned);
    for (index, (name, certificate)) in certificates.iter().enumerate() {
        let earlier = &certificates[..index];
        let same =
            earlier.iter().find(|(_, other)| model(other).is_some() && model(other) == model(certificate));
        if let Some((other, _)) = same {
            return Err(DocumentError::new(format!("{other} and {name} are certificates of the same model"))
                .help("give each release once"));
        }
    }
    Ok(())
}

/// The neighbours as run files write them.
fn word(neighbours: Neighbours) -> &'static str {
    match neighbours {
        Neighbours::ReplaceOne => "replace-one",
        Neighbours::AddOrRemoveOne => "add-or-remove-one",
        Neighbours::ZeroOut => "zero-out",
    }
}
