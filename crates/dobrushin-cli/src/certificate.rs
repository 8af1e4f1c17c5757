//! Certificates: a guarantee with all that is needed to compute it anew.

use crate::command::account::{analyses_json, question_of, target};
use crate::command::explain;
use crate::output::{bounds, object};
use crate::problem::Problem;
use crate::run_file::{RunFile, SelfContained};
use dobrushin::account::{DEFAULT_TOLERANCE, Options, Question, Report as Account, analysis_ids};
use dobrushin::{Enclosure, statement};
use serde_json::{Value, json};

/// By which certificates are known.
const KIND: &str = "dobrushin-certificate";
/// The version of their format.
const SCHEMA: u64 = 1;

/// The certificate of an account; `None` if there is no guarantee.
pub fn of(file: &RunFile, account: &Account, options: &Options) -> Result<Option<Value>, Problem> {
    let Some(best) = account.guarantee() else {
        return Ok(None);
    };
    let (epsilon, delta) = match account.question {
        Question::Epsilon(delta) => (best.answer.value, Enclosure::from(delta)),
        Question::Delta(epsilon) => (Enclosure::from(epsilon), best.answer.value),
    };
    let mut guarantee = object([
        ("epsilon", bounds(epsilon)),
        ("delta", bounds(delta)),
        ("analysis", json!(best.id)),
        ("assumptions", json!(best.assumptions)),
    ]);
    if let Some(log_delta) = best.answer.log_delta {
        guarantee.insert("log_delta".to_owned(), bounds(log_delta));
    }
    Ok(Some(json!({
        "schema": SCHEMA,
        "kind": KIND,
        "program": { "name": "dobrushin", "version": env!("CARGO_PKG_VERSION") },
        "run": file.embedded()?.json(),
        "target": target(account.question),
        "tolerance": options.tolerance,
        "guarantee": guarantee,
        "theorem": statement::find(best.id).map(explain::as_json),
        "analyses": analyses_json(account),
        "explanation": account.explanation,
        "warnings": account.warnings,
    })))
}

/// What a certificate claims.
pub struct Claim {
    /// The run.
    pub file: SelfContained,
    /// What was asked of it.
    pub question: Question,
    /// The upper end of the answer.
    pub upper: f64,
    /// The analysis by which it is claimed.
    pub analysis: &'static str,
    /// What must hold, in words.
    pub assumptions: Vec<String>,
    /// The program that made it.
    pub version: String,
    /// How exactly it was computed.
    tolerance: f64,
}

impl Claim {
    /// Reads what [`of`] wrote.
    pub fn read(certificate: &Value) -> Result<Self, Problem> {
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
        let tolerance = certificate["tolerance"]
            .as_f64()
            .filter(|tolerance| (1e-8..=0.1).contains(tolerance))
            .ok_or_else(|| malformed("tolerance", &certificate["tolerance"], "between 1e-8 and 0.1"))?;
        let question = question_of(&certificate["target"]).ok_or_else(|| {
            malformed("target", &certificate["target"], "{\"delta\": …} or {\"epsilon\": …}")
        })?;
        let end = |key: &str| {
            let place = format!("guarantee.{key}.upper");
            let value = &guarantee[key]["upper"];
            let number = if *value == "Infinity" { Some(f64::INFINITY) } else { value.as_f64() };
            number
                .filter(|number| *number >= 0.0)
                .ok_or_else(|| malformed(&place, value, "a number, 0 or more"))
        };
        let (upper, given, target) = match question {
            Question::Epsilon(delta) => (end("epsilon")?, end("delta")?, delta.get()),
            Question::Delta(epsilon) => (end("delta")?, end("epsilon")?, epsilon.get()),
        };
        if given != target {
            let what =
                format!("the certificate contradicts itself: its target is {target}, its guarantee {given}");
            return Err(Problem::new(what).help(HELP));
        }
        Ok(Self {
            file: SelfContained::from_json(&certificate["run"])?,
            question,
            upper,
            analysis,
            assumptions: words(&guarantee["assumptions"]).ok_or_else(|| {
                malformed("guarantee.assumptions", &guarantee["assumptions"], "a list of words")
            })?,
            version: certificate["program"]["version"].as_str().unwrap_or("unknown").to_owned(),
            tolerance,
        })
    }

    /// The account by the same analysis, at least as exact.
    pub fn computed_anew(&self) -> Result<Account, Problem> {
        let options = Options { tolerance: self.tolerance.min(DEFAULT_TOLERANCE), only: vec![self.analysis] };
        Ok(Account::new(&self.file.run()?, self.question, &options))
    }

    /// Whether a bound that was computed anew supports the claim.
    pub fn is_supported_by(&self, upper: f64) -> bool {
        // Rounding may differ from machine to machine.
        self.upper >= upper * (1.0 - 1e-9)
    }
}

const HELP: &str = "dobrushin account RUN.toml --certificate FILE.json writes certificates";

fn malformed(key: &str, value: &Value, accepted: &str) -> Problem {
    let value = match value {
        Value::Null => "missing".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    };
    Problem::new(format!("{key} of the certificate is {value}, but it must be {accepted}")).help(HELP)
}

fn words(list: &Value) -> Option<Vec<String>> {
    list.as_array()?.iter().map(|words| words.as_str().map(str::to_owned)).collect()
}
