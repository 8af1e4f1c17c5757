//! Whether a certificate says what its run gives.

use super::comparison::{Difference, differences};
use super::{Certificate, KIND, SCHEMA, TrainingRecord};
use crate::error::DocumentError;
use crate::json::{self, Number};
use crate::report::Given;
use crate::run_file::SelfContained;
use dobrushin::account::{Account, Options, Question, analysis_ids};
use dobrushin::run::Run;
use dobrushin_audit::floor::{Floor, floor};
use serde::Serialize;
use serde_json::Value;

/// The verdict on a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every field is as recomputed, or a wider bound.
    Holds,
    /// The guarantee holds, up to how two versions of the program round, but the other version says other things about it, in
    /// words or by other analyses, and whether those are true cannot be recomputed.
    NotConfirmed,
    /// Something in the certificate does not follow from its run.
    DoesNotHold,
}

/// A certificate beside what is recomputed.
pub struct Checked {
    /// What the certificate claims.
    pub claim: Claim,
    /// What is recomputed.
    pub account: Account,
    /// The floor, recomputed if the certificate gives one.
    pub floor: Option<Floor>,
    /// Where the two differ.
    pub differences: Vec<Difference>,
}

/// Recomputes a whole certificate from its run, its target, its tolerance and the chosen analyses, and compares the
/// two.
///
/// # Guarantee
/// If the verdict is [`Verdict::Holds`], everything in the certificate is what this program says about that run, or
/// weaker, except what does not follow from any run: the version that wrote it and, for training, the hash of the
/// model, the seed or that there is none, and the measured accuracies and losses, which have the right form.
///
/// # Errors
/// [`DocumentError`] if it cannot be read as a certificate at all.
pub fn check(certificate: &Value) -> Result<Checked, DocumentError> {
    let claim = Claim::read(certificate)?;
    let run = claim.run.run()?;
    let account = run.account_by(claim.question, &claim.options);
    // Older versions did not say how much of it is real, and nobody needs to.
    let floor = certificate.get("floor").and_then(|_| floor(&run, claim.question));
    let differences = match Certificate::of(&claim.run, &account, floor.as_ref(), &claim.options) {
        None => vec![Difference::no_guarantee()],
        Some(mut recomputed) => {
            recomputed.program.version.clone_from(&claim.version);
            // Older versions did not say what it means.
            recomputed.meaning = recomputed.meaning.filter(|_| certificate.get("meaning").is_some());
            let training = certificate.get("training");
            let training =
                training.map(|training| TrainingRecord::recomputed(training, &claim.run, &account));
            recomputed.training = training.transpose()?;
            let mut found = differences(certificate, &json::of(&recomputed));
            let better = found.iter_mut().filter(|difference| difference.claims_a_better_guarantee());
            let better: Vec<_> = better.collect();
            if !better.is_empty() && claim.by_another_version() {
                if claim.is_rounded_differently(&account) {
                    better.into_iter().for_each(Difference::is_rounded_differently);
                } else if claim.is_implied(&run) {
                    better.into_iter().for_each(Difference::holds_more_closely);
                }
            }
            found
        }
    };
    Ok(Checked { claim, account, floor, differences })
}

impl Checked {
    /// The verdict on the certificate.
    pub fn verdict(&self) -> Verdict {
        if self.differences.is_empty() {
            Verdict::Holds
        } else if self.claim.by_another_version()
            && self.differences.iter().all(Difference::may_be_of_another_version)
        {
            Verdict::NotConfirmed
        } else {
            Verdict::DoesNotHold
        }
    }
}

/// No certificate is computed more closely.
const SMALLEST_TOLERANCE: f64 = 1e-8;

/// What a certificate claims, and all that is needed to recompute it.
pub struct Claim {
    /// The run.
    run: SelfContained,
    /// What was asked about the run.
    pub question: Question,
    /// The tolerance, and the analyses to use.
    pub options: Options,
    /// The upper end of the answer.
    pub upper: f64,
    /// The upper end of ln δ, if δ was asked for.
    pub log_delta: Option<f64>,
    /// The analysis on which the claim rests.
    pub analysis: &'static str,
    /// The program that made it.
    pub version: String,
}

impl Claim {
    /// The run that the certificate is of.
    pub fn run(&self) -> &SelfContained {
        &self.run
    }

    /// Whether it was made by another version of the program than this one.
    fn by_another_version(&self) -> bool {
        self.version != env!("CARGO_PKG_VERSION")
    }

    /// Whether the claim is the recomputed guarantee, but for its last digits: elementary functions of an earlier version were
    /// those of its machine.
    fn is_rounded_differently(&self, account: &Account) -> bool {
        const ROUNDING: f64 = 1e-12;
        account.guarantee().is_ok_and(|guarantee| {
            let answer = guarantee.answer;
            let log = answer.log_delta.map(|log| log.upper()).zip(self.log_delta);
            self.upper >= answer.value.upper() * (1.0 - ROUNDING)
                && log.is_none_or(|(found, claimed)| claimed >= found - ROUNDING * found.abs().max(1.0))
        })
    }

    /// Whether a closer computation gives the claim, or better. Two versions that round differently may find bounds that
    /// are a little apart, and each of them is a bound. How far a bound is above the truth does not fall with every step of
    /// the tolerance, so several are tried; each of them proves what it gives.
    fn is_implied(&self, run: &Run) -> bool {
        const CLOSER: [f64; 3] = [1.0 / 10.0, 1.0 / 32.0, 1.0 / 100.0];
        CLOSER.into_iter().any(|closer| {
            let tolerance = (self.options.tolerance * closer).max(SMALLEST_TOLERANCE);
            let options = Options { tolerance, only: vec![self.analysis], ..self.options.clone() };
            run.account_by(self.question, &options).guarantee().is_ok_and(|guarantee| {
                let answer = guarantee.answer;
                let log = answer.log_delta.map(|log| log.upper()).zip(self.log_delta);
                answer.value.upper() <= self.upper && log.is_none_or(|(found, claimed)| found <= claimed)
            })
        })
    }

    fn read(certificate: &Value) -> Result<Self, DocumentError> {
        if certificate["kind"] != KIND {
            return Err(malformed("kind", &certificate["kind"], &format!("\"{KIND}\"")));
        }
        if certificate["schema"] != SCHEMA {
            return Err(malformed("schema", &certificate["schema"], "1: a newer program may read it"));
        }
        let guarantee = &certificate["guarantee"];
        let analysis = analysis_ids()
            .find(|id| guarantee["analysis"] == *id)
            .ok_or_else(|| malformed("guarantee.analysis", &guarantee["analysis"], "a known analysis"))?;
        if !guarantee["assumptions"].is_array() {
            return Err(malformed("guarantee.assumptions", &guarantee["assumptions"], "a list of words"));
        }
        let tolerance = certificate["tolerance"]
            .as_f64()
            .filter(|tolerance| (SMALLEST_TOLERANCE..=0.1).contains(tolerance))
            .ok_or_else(|| malformed("tolerance", &certificate["tolerance"], "between 1e-8 and 0.1"))?;
        let question = Given::question_of(&certificate["target"]).ok_or_else(|| {
            malformed("target", &certificate["target"], "{\"delta\": …}, below 1, or {\"epsilon\": …}")
        })?;
        let version = &certificate["program"]["version"];
        let version = version
            .as_str()
            .filter(|version| is_version(version))
            .ok_or_else(|| malformed("program.version", version, "a version, such as \"1.2.3\""))?;
        let end = |key: &str, accepted: &str, is_accepted: fn(f64) -> bool| {
            let value = &guarantee[key]["upper"];
            let number = Number::read(value).map(|number| number.0).filter(|number| is_accepted(*number));
            number.ok_or_else(|| malformed(&format!("guarantee.{key}.upper"), value, accepted))
        };
        // A claim of infinity, or of δ = 1, claims nothing.
        let epsilon =
            end("epsilon", "a finite number, 0 or more", |epsilon| (0.0..f64::INFINITY).contains(&epsilon))?;
        let delta = end("delta", "a number, 0 or more and below 1", |delta| (0.0..1.0).contains(&delta))?;
        let (upper, given, target) = match question {
            Question::EpsilonAt(target) => (epsilon, delta, target.get()),
            Question::DeltaAt(target) => (delta, epsilon, target.get()),
        };
        if given != target {
            let what =
                format!("the certificate contradicts itself: its target is {target}, its guarantee {given}");
            return Err(DocumentError::new(what).help(HELP));
        }
        // The chosen analyses are those that the certificate lists; the comparison finds a list that no account gives.
        let listed = |id: &&'static str| {
            certificate["analyses"].as_array().into_iter().flatten().any(|entry| entry["id"] == **id)
        };
        Ok(Self {
            run: SelfContained::from_json(&certificate["run"])?,
            question,
            options: Options {
                tolerance,
                only: analysis_ids().filter(listed).collect(),
                ..Options::default()
            },
            upper,
            log_delta: Number::read(&guarantee["log_delta"]["upper"]).map(|number| number.0),
            analysis,
            version: version.to_owned(),
        })
    }
}

/// Whether a text can be a version; it can say nothing else.
fn is_version(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    (1..=40).contains(&text.len()) && text.bytes().all(is_part)
}

const HELP: &str = "dobrushin account RUN.toml --certificate FILE.json writes certificates";

fn malformed(key: &str, value: &Value, accepted: &str) -> DocumentError {
    let value = match value {
        Value::Null => "missing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    };
    DocumentError::new(format!("{key} of the certificate is {value}, but it must be {accepted}")).help(HELP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunFile, Setting};
    use dobrushin::account::DEFAULT_TOLERANCE;
    use dobrushin::{Delta, Epsilon};
    use serde_json::json;

    /// A certificate of the built-in example, made fast.
    fn certificate(question: Question, only: &[&'static str]) -> Value {
        let mut file = RunFile::built_in().expect("it is built in");
        for set in ["order=cyclic", "neighbours=replace-one", "steps=100"] {
            file.set(&Setting::parse("--set", set).expect("a valid key")).expect("a place");
        }
        let options = Options { tolerance: DEFAULT_TOLERANCE, only: only.to_vec(), ..Options::default() };
        let run = SelfContained::from_json(&file.json()).expect("it names no file");
        let account = run.run().expect("a run").account_by(question, &options);
        let floor = floor(&run.run().expect("a run"), question);
        json::of(&Certificate::of(&run, &account, floor.as_ref(), &options).expect("a guarantee"))
    }

    fn holds(certificate: &Value) -> bool {
        check(certificate).is_ok_and(|checked| checked.verdict() == Verdict::Holds)
    }

    /// Every place in a value, as a JSON pointer.
    fn places(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found));
            }
            Value::Array(list) => {
                list.iter()
                    .enumerate()
                    .for_each(|(index, value)| places(value, &format!("{at}/{index}"), found));
            }
            _ => (),
        }
    }

    /// A value that claims more than this one, or something else.
    fn forged(place: &str, value: &Value) -> Value {
        match value {
            Value::Number(number) => {
                let number = number.as_f64().expect("a number");
                json!(if place.ends_with("/lower") { number.next_up() } else { number.next_down() })
            }
            Value::String(text) => json!(format!("{text} or less")),
            Value::Bool(flag) => json!(!flag),
            Value::Null => json!("much"),
            Value::Array(list) => [&list[..], &[json!("trust me")]].concat().into(),
            Value::Object(fields) => {
                let mut fields = fields.clone();
                fields.insert("private".to_owned(), json!(true));
                Value::Object(fields)
            }
        }
    }

    #[test]
    fn whatever_is_changed_added_or_left_out_is_found() {
        let questions = [
            Question::EpsilonAt(Delta::new(1e-5).expect("δ")),
            Question::DeltaAt(Epsilon::new(3.0).expect("ε")),
            // This δ underflows.
            Question::DeltaAt(Epsilon::new(600.0).expect("ε")),
        ];
        for (question, only) in
            questions.into_iter().zip([&[][..], &["composition", "shift"], &["composition"]])
        {
            let original = certificate(question, only);
            assert!(holds(&original));
            let mut all = Vec::new();
            places(&original, "", &mut all);
            assert!(all.len() > 60 && all.iter().any(|place| place == "/guarantee/epsilon/upper"));
            // The input of the recomputation is not a claim, and any version is allowed.
            let given = |place: &String| {
                place.starts_with("/run") || ["/tolerance", "/program/version"].contains(&place.as_str())
            };
            for place in all.iter().filter(|place| !given(place)) {
                let mut changed = original.clone();
                let value = changed.pointer_mut(place).expect("it is a place");
                *value = forged(place, value);
                assert!(!holds(&changed), "{place} is changed");
                let Some((parent, key)) = place.rsplit_once('/') else {
                    continue;
                };
                let mut changed = original.clone();
                match changed.pointer_mut(parent).expect("it is a place") {
                    // Older certificates do not say what they mean.
                    Value::Object(_) if ["/meaning", "/floor"].contains(&place.as_str()) => continue,
                    Value::Object(fields) => drop(fields.remove(key)),
                    // With fewer analyses, it is the certificate of those.
                    Value::Array(_) if parent == "/analyses" => continue,
                    Value::Array(list) => drop(list.remove(key.parse().expect("an index"))),
                    _ => unreachable!("only lists and objects have parts"),
                }
                assert!(!holds(&changed), "{place} is left out");
            }
        }
    }

    #[test]
    fn the_words_of_another_version_are_not_confirmed_but_its_numbers_are() {
        let original = certificate(Question::EpsilonAt(Delta::new(1e-5).expect("δ")), &["composition"]);
        let verdict = |change: &dyn Fn(&mut Value)| {
            let mut changed = original.clone();
            changed["program"]["version"] = json!("9.9.9");
            change(&mut changed);
            check(&changed).expect("it is a certificate").verdict()
        };
        assert_eq!(verdict(&|_| ()), Verdict::Holds);
        assert_eq!(verdict(&|c| c["guarantee"]["assumptions"][0] = json!("trust me")), Verdict::NotConfirmed);
        assert_eq!(verdict(&|c| c["a new field"] = json!(1)), Verdict::NotConfirmed);
        let smaller = |by: f64| {
            move |c: &mut Value| {
                let upper = &mut c["guarantee"]["epsilon"]["upper"];
                *upper = json!(upper.as_f64().expect("a number") * (1.0 - by));
            }
        };
        // The last digits may be rounded in another way. This bound is a formula, and no closer computation gives less.
        assert_eq!(verdict(&smaller(1e-15)), Verdict::NotConfirmed);
        assert_eq!(verdict(&smaller(1e-11)), Verdict::DoesNotHold);
        assert_eq!(verdict(&|c| c["guarantee"]["private"] = json!(true)), Verdict::NotConfirmed);
        assert_eq!(verdict(&|c| drop(c.as_object_mut().map(|c| c.remove("analyses")))), Verdict::DoesNotHold);
    }
}
