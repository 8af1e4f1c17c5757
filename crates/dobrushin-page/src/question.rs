//! The questions, and their answers.

use crate::run::Given;
use crate::{about, channel, sheet};
use dobrushin::account::Options;
use dobrushin::{Delta, Epsilon, Probability, Progress, RenyiOrder};
use dobrushin_document::ask::{self, AccountWishes, Asked, CalibrationWishes, PlanWishes};
use dobrushin_document::certificate::{self, Certificate};
use dobrushin_document::report::{AccountReport, CalibrationReport, Extras};
use dobrushin_document::text::Style;
use dobrushin_document::{DocumentError, Sweep, json, schema, text};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error as _;

/// What can be asked.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
enum Question {
    /// What there is: the version, presets, keys, analyses, parameters.
    About,
    /// The run as sections and as a run file; only its form is checked.
    Parse(Given),
    Account(AccountQuestion),
    Curve(CurveQuestion),
    Calibrate(CalibrateQuestion),
    Plan(PlanQuestion),
    Kernel(KernelQuestion),
    /// The certificate of a run.
    Certificate(AccountQuestion),
    /// Whether a certificate holds.
    Verify {
        certificate: String,
    },
    /// Whether a certificate holds, what its page shows, and the curves of its picture.
    Sheet {
        certificate: String,
    },
    /// A theorem or an idea in plain words.
    Explain {
        topic: Option<String>,
    },
}

/// How private a run is; the fields are those of [`AccountWishes`].
#[derive(Deserialize)]
struct AccountQuestion {
    #[serde(flatten)]
    given: Given,
    #[serde(flatten)]
    asked: AskedFor,
    tolerance: Option<f64>,
    #[serde(default)]
    only: Vec<String>,
    floor: Option<bool>,
    #[serde(default)]
    advice: bool,
    #[serde(default)]
    utility: bool,
    #[serde(default)]
    per_record: bool,
    #[serde(default)]
    observers: bool,
    #[serde(default)]
    orders: Vec<f64>,
}

#[derive(Clone, Copy, Deserialize)]
struct AskedFor {
    epsilon: Option<f64>,
    delta: Option<f64>,
}

#[derive(Deserialize)]
struct CurveQuestion {
    #[serde(flatten)]
    given: Given,
    #[serde(flatten)]
    asked: AskedFor,
    over: Vec<String>,
    points: Option<u32>,
    #[serde(default)]
    log: bool,
    #[serde(default)]
    analyses: Vec<String>,
    #[serde(default)]
    utility: bool,
}

#[derive(Deserialize)]
struct CalibrateQuestion {
    #[serde(flatten)]
    given: Given,
    #[serde(flatten)]
    asked: AskedFor,
    parameter: String,
    advantage: Option<f64>,
    tpr: Option<f64>,
    fpr: Option<f64>,
}

#[derive(Deserialize)]
struct PlanQuestion {
    records: Value,
    epsilon: f64,
    delta: f64,
    dimension: Option<u64>,
    classes: Option<u64>,
    schema: Option<String>,
    label: Option<String>,
    model: Option<String>,
    order: Option<String>,
    neighbours: Option<String>,
}

#[derive(Deserialize)]
struct KernelQuestion {
    channel: String,
    #[serde(default)]
    epsilon: Vec<f64>,
    #[serde(default)]
    delta: Vec<f64>,
    #[serde(default)]
    normalise: bool,
    #[serde(default)]
    curve: bool,
}

/// The answer to a question, both as JSON.
pub fn answer(question: &str) -> String {
    let answer = match serde_json::from_str::<Question>(question) {
        Ok(question) => question.answer().unwrap_or_else(|error| problem(&error)),
        Err(error) => problem(&DocumentError::new("the question is not understood").because(error)),
    };
    answer.to_string()
}

fn ok(answer: Value) -> Value {
    json!({ "ok": answer })
}

fn problem(error: &DocumentError) -> Value {
    let mut causes = Vec::new();
    let mut cause = error.source();
    while let Some(next) = cause {
        causes.push(next.to_string());
        cause = next.source();
    }
    json!({ "error": {
        "message": error.message, "help": error.help, "causes": causes, "answer_is_no": error.answer_is_no,
    } })
}

impl Question {
    fn answer(self) -> Result<Value, DocumentError> {
        Ok(ok(match self {
            Self::About => about::about(),
            Self::Parse(given) => {
                let file = given.file()?;
                json!({ "run": file.json(), "toml": file.toml() })
            }
            Self::Account(question) => question.answer()?,
            Self::Curve(question) => question.answer()?,
            Self::Calibrate(question) => question.answer()?,
            Self::Plan(question) => question.answer()?,
            Self::Kernel(question) => {
                let KernelQuestion { channel, epsilon, delta, normalise, curve } = question;
                let report = channel::report(&channel, normalise, &epsilon, &delta, curve)?;
                let style = Style::default();
                json!({ "report": json::of(&report), "text": text::kernel(&report, style).render(style) })
            }
            Self::Certificate(question) => json!({ "certificate": question.certificate()?.file() }),
            Self::Verify { certificate } => {
                let read = certificate::read(certificate.as_bytes(), "the certificate")?;
                let found = certificate::verify(&read, None)?;
                let style = Style::default();
                let said = text::verification(&found, None, style).render(style);
                json!({ "report": json::of(&found), "text": said })
            }
            Self::Sheet { certificate } => sheet::sheet(&certificate)?,
            Self::Explain { topic: None } => json!({ "groups": about::topics() }),
            Self::Explain { topic } => {
                let (said, report) = text::explained(topic.as_deref())?;
                json!({ "text": said.render(Style::default()), "report": report })
            }
        }))
    }
}

impl AskedFor {
    fn asked(self) -> Result<Asked, DocumentError> {
        Ok(Asked {
            epsilon: self.epsilon.map(Epsilon::new).transpose()?,
            delta: self.delta.map(Delta::new).transpose()?,
        })
    }
}

/// Nobody counts parts here: a worker that takes too long is stopped as a whole.
pub(crate) fn unwatched(_: &'static str) -> Progress {
    Progress::default()
}

/// The ids of the analyses that words name.
fn analyses(words: &[String]) -> Result<Vec<&'static str>, DocumentError> {
    Ok(words.iter().map(|word| ask::analyses_of(word)).collect::<Result<Vec<_>, _>>()?.concat())
}

impl AccountQuestion {
    fn wishes(&self) -> Result<AccountWishes, DocumentError> {
        let usual = AccountWishes::default();
        Ok(AccountWishes {
            asked: self.asked.asked()?,
            tolerance: self.tolerance.map_or(Ok(usual.tolerance), AccountWishes::check_tolerance)?,
            only: analyses(&self.only)?,
            floor: self.floor.unwrap_or(usual.floor),
            advice: self.advice,
            utility: self.utility,
            per_record: self.per_record,
            observers: self.observers,
            orders: self.orders.iter().map(|&order| RenyiOrder::new(order)).collect::<Result<_, _>>()?,
        })
    }

    fn answer(&self) -> Result<Value, DocumentError> {
        let file = self.given.file()?;
        let accounted = ask::account(&file, &file.alone()?, &self.wishes()?, &mut unwatched)?;
        let report = AccountReport::new(&file, &accounted.account, Extras { ..accounted.extras });
        let style = Style::default();
        Ok(json!({ "report": json::of(&report), "text": text::account(&report, style).render(style) }))
    }

    fn certificate(&self) -> Result<Certificate, DocumentError> {
        let file = self.given.file()?;
        let contained = file.alone()?;
        let found = ask::account(&file, &contained, &self.wishes()?, &mut unwatched)?;
        Certificate::of(&contained, &found.account, found.floor.as_ref(), &found.options).ok_or_else(|| {
            DocumentError::answer_is_no("there is no guarantee, so there is no certificate")
                .help(ask::why_no_certificate(&found.account))
        })
    }
}

impl CurveQuestion {
    fn answer(&self) -> Result<Value, DocumentError> {
        let file = self.given.file()?;
        let points = self.points.unwrap_or(25);
        if !(2..=10_000).contains(&points) {
            return Err(DocumentError::new(format!(
                "points is {points}, but it must be between 2 and 10000"
            )));
        }
        let sweeps = self.over.iter().map(|over| Sweep::parse(over, points, self.log));
        let sweeps = sweeps.collect::<Result<Vec<_>, _>>()?;
        ask::refuse_sweeps(&sweeps)?;
        if sweeps.is_empty() {
            return Err(DocumentError::new("nothing is varied").help("over: run.steps=1..1e5"));
        }
        let at = |settings: Vec<_>| {
            let mut file = file.clone();
            settings.iter().try_for_each(|setting| file.set(setting))?;
            Ok::<_, DocumentError>(file)
        };
        // The target itself may be varied.
        let question = self.asked.asked()?.of(&at(sweeps.iter().map(|sweep| sweep.setting(0)).collect())?)?;
        let options = Options { only: analyses(&self.analyses)?, ..Options::default() };
        let curve = ask::curve(sweeps, question, self.utility, &options, |settings| {
            let file = at(settings)?;
            Ok::<_, DocumentError>((file.run()?, file.question()?))
        })?;
        let style = Style::default();
        Ok(json!({ "report": json::of(&curve), "text": text::curve(&curve, style).render(style) }))
    }
}

impl CalibrateQuestion {
    fn answer(&self) -> Result<Value, DocumentError> {
        let parameter = ask::parameter_of(&self.parameter)?;
        let advantage = self.advantage.map(Probability::new).transpose()?;
        let rates =
            (self.tpr.map(Probability::new).transpose()?, self.fpr.map(Probability::new).transpose()?);
        let wishes = match (advantage, rates) {
            (advantage, (None, None)) => {
                CalibrationWishes { asked: self.asked.asked()?, advantage, rates: None }
            }
            (None, (Some(tpr), Some(fpr))) => {
                CalibrationWishes { rates: Some((tpr, fpr)), ..Default::default() }
            }
            _ => {
                return Err(DocumentError::new("there is more than one target, or half of one")
                    .help("give ε and δ, or an advantage, or tpr and fpr"));
            }
        };
        let file = self.given.file()?.searchable(parameter)?;
        let target = wishes.target(&file)?;
        let run = file.run()?;
        let found = ask::search(&run, parameter, target, &Progress::default())?;
        let value = found.value;
        let report = CalibrationReport::new(&run, found, target);
        let style = Style::default();
        let said = text::calibration(&report, style).render(style);
        let file = file.with_found(parameter, value)?;
        Ok(json!({ "report": json::of(&report), "text": said, "run": file.toml() }))
    }
}

impl PlanQuestion {
    fn answer(&self) -> Result<Value, DocumentError> {
        let schema = match (&self.schema, self.dimension) {
            (Some(text), None) => schema::parse(text)?,
            (None, Some(dimension)) => ask::schema_of(dimension, self.classes.unwrap_or(2))?,
            _ => {
                return Err(DocumentError::new("a plan needs either a schema or the number of features")
                    .help("dimension: 20, classes: 2"));
            }
        };
        let records = match &self.records {
            Value::String(text) => ask::count_of(text),
            number => ask::count_of(&number.to_string()),
        };
        let records = records.map_err(|error| error.within("records"))?;
        let (epsilon, delta) = (Epsilon::new(self.epsilon)?, Delta::new(self.delta)?);
        let wishes = PlanWishes {
            label: self.label.clone(),
            model: self.model.clone(),
            order: self.order.as_deref().map(ask::order_of).transpose()?,
            neighbours: self.neighbours.as_deref().map(ask::neighbours_of).transpose()?,
        };
        let report = ask::planned(schema, records, epsilon, delta, &wishes, &Progress::default())?;
        let style = Style::default();
        let said = text::chosen(&report, style).render(style);
        Ok(json!({ "report": json::of(&report), "text": said, "run": report.best.file().toml() }))
    }
}
