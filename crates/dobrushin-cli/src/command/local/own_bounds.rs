//! `dobrushin local bounds PROBLEM`: what private reports can tell at best about a problem of one's own.

use super::own_problem::{LossArgs, OwnProblem, PrivacyArgs};
use crate::laws;
use crate::output::Report;
use crate::probabilities;
use crate::problem::Problem;
use dobrushin::divergence::{DiscretePair, FiniteLaw};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::decimal as number;
use dobrushin::{Epsilon, Gamma, NonNegative, Probability};
use dobrushin_document::local::{Answers, Categories, Id, Specification};
use dobrushin_document::report::{PrivacyReport, ProblemReport};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use dobrushin_local::LocalPrivacy;
use dobrushin_local::risk::own::{self, Findings, Prior, Setting};
use dobrushin_local::risk::{Hypercube, Loss};
use std::path::Path;

/// A matrix with more entries is not searched for its coefficients.
const MOST_ENTRIES: usize = 1 << 17;

/// Every bound on the problem.
pub fn run(problem: &OwnProblem, style: Style) -> Result<Report, Problem> {
    let asked = Asked::read(problem)?;
    let (setting, privacy) = setting(problem.privacy(), asked.outcomes())?;
    let (name, title) = asked.names();
    let report = ProblemReport::new((name, title), privacy, &setting, asked.findings(&setting)?);
    Ok(Report::new(text::problem(&report, style), json::of(&report)).with_table(csv::problem(&report)))
}

/// A problem whose files have been read.
enum Asked {
    TwoLaws(DiscretePair, Option<(NonNegative, Loss)>),
    Family(Vec<FiniteLaw>, Option<(NonNegative, Loss)>),
    Hypercube(Hypercube, Vec<FiniteLaw>, Vec<NonNegative>, Loss),
    Bayes { prior: FiniteLaw, laws: Vec<FiniteLaw>, losses: Vec<Vec<f64>>, gammas: Vec<Gamma> },
    Testing(DiscretePair, Probability, Option<Probability>),
    Information(FiniteLaw, Vec<FiniteLaw>),
    Coin,
}

impl Asked {
    fn read(problem: &OwnProblem) -> Result<Self, Problem> {
        let normalise = problem.privacy().normalise;
        Ok(match problem {
            OwnProblem::TwoLaws { laws, loss, .. } => {
                Self::TwoLaws(laws::pair(laws, normalise)?, one_separation(loss)?)
            }
            OwnProblem::Family { laws, loss, .. } => {
                Self::Family(laws::family(laws, normalise)?, one_separation(loss)?)
            }
            OwnProblem::Hypercube { laws, loss, .. } => {
                let laws = laws::family(laws, normalise)?;
                let cube = Hypercube::new(&laws)?;
                let mut separations = loss.separation.clone();
                if let [one] = separations[..] {
                    separations = vec![one; cube.coordinates() as usize];
                }
                Self::Hypercube(cube, laws, separations, loss.loss())
            }
            OwnProblem::Bayes { model, prior, losses, gamma, .. } => {
                let laws = laws::family(model, normalise)?;
                let count = laws.len();
                let wrong_or_right = || {
                    (0..count).map(|v| (0..count).map(|a| f64::from(u8::from(v != a))).collect()).collect()
                };
                Self::Bayes {
                    prior: weights(prior.as_deref(), count, normalise)?,
                    losses: losses
                        .as_ref()
                        .map_or_else(|| Ok(wrong_or_right()), |path| probabilities::read(path))?,
                    gammas: gamma.iter().map(|gamma| Gamma::new(gamma.get())).collect::<Result<_, _>>()?,
                    laws,
                }
            }
            OwnProblem::Testing { laws, alpha, beta, .. } => {
                Self::Testing(laws::pair(laws, normalise)?, *alpha, *beta)
            }
            OwnProblem::Information { laws, prior, .. } => {
                let laws = laws::family(laws, normalise)?;
                Self::Information(weights(prior.as_deref(), laws.len(), normalise)?, laws)
            }
            OwnProblem::Coin { .. } => Self::Coin,
        })
    }

    /// The number of values of a record.
    fn outcomes(&self) -> usize {
        match self {
            Self::TwoLaws(pair, _) | Self::Testing(pair, ..) => pair.p().len(),
            Self::Family(laws, _) | Self::Hypercube(_, laws, ..) | Self::Information(_, laws) => {
                laws[0].len()
            }
            Self::Bayes { laws, .. } => laws[0].len(),
            Self::Coin => 2,
        }
    }

    /// For programs, and for people.
    fn names(&self) -> (&'static str, String) {
        let outcomes = self.outcomes();
        match self {
            Self::TwoLaws(..) => ("two-laws", format!("Two laws on {outcomes} outcomes")),
            Self::Family(laws, _) => ("family", format!("{} laws on {outcomes} outcomes", laws.len())),
            Self::Hypercube(cube, ..) => {
                ("hypercube", format!("Laws on {outcomes} outcomes, indexed by {} signs", cube.coordinates()))
            }
            Self::Bayes { laws, .. } => {
                ("bayes", format!("A parameter with {} values, records with {outcomes}", laws.len()))
            }
            Self::Testing(_, alpha, beta) => {
                let beta =
                    beta.map_or(String::new(), |beta| format!(", beta = {}", number::plain(beta.get())));
                let alpha = number::plain(alpha.get());
                ("testing", format!("P against Q on {outcomes} outcomes at alpha = {alpha}{beta}"))
            }
            Self::Information(_, laws) if laws.len() == 1 => {
                ("information", format!("A record with {outcomes} values"))
            }
            Self::Information(_, laws) => {
                ("information", format!("A variable with {} values, records with {outcomes}", laws.len()))
            }
            Self::Coin => ("coin", "A coin of uniform bias".to_owned()),
        }
    }

    fn findings(&self, setting: &Setting) -> Result<Findings, Problem> {
        Ok(match self {
            Self::TwoLaws(pair, risk) => own::two_laws(pair, *risk, setting)?,
            Self::Family(laws, risk) => own::family(laws, *risk, setting)?,
            Self::Hypercube(cube, laws, separations, loss) => {
                let risk = (!separations.is_empty()).then_some((separations.as_slice(), *loss));
                own::hypercube(cube, laws, risk, setting)?
            }
            Self::Bayes { prior, laws, losses, gammas } => {
                own::bayes(Prior { weights: prior, laws, losses }, gammas, setting)?
            }
            Self::Testing(pair, level, wanted) => own::testing(pair, *level, *wanted, setting)?,
            Self::Information(prior, laws) => own::information(prior, laws, setting)?,
            Self::Coin => own::coin(setting)?,
        })
    }
}

/// One distance, with the loss.
fn one_separation(arguments: &LossArgs) -> Result<Option<(NonNegative, Loss)>, Problem> {
    match arguments.separation[..] {
        [] => Ok(None),
        [one] => Ok(Some((one, arguments.loss()))),
        _ => Err(Problem::new(format!(
            "--separation: {} distances are given, but one is needed",
            arguments.separation.len()
        ))
        .help("give the least distance between the parameters of two of the laws")),
    }
}

/// The prior in a file, or the uniform one.
fn weights(path: Option<&Path>, count: usize, normalise: bool) -> Result<FiniteLaw, Problem> {
    match path {
        Some(path) => laws::one(path, normalise),
        None => Ok(FiniteLaw::proportional_to("the prior", vec![1.0; count])?),
    }
}

/// How private the reports on records with this many values are.
fn setting(arguments: &PrivacyArgs, outcomes: usize) -> Result<(Setting, PrivacyReport), Problem> {
    let (delta, records) = (arguments.delta, arguments.records);
    if let Some(path) = &arguments.channel {
        let rows = probabilities::read(path)?;
        let built =
            if arguments.normalise { FiniteKernel::proportional_to(rows) } else { FiniteKernel::new(rows) };
        let channel = built.map_err(|error| {
            Problem::new(format!("{} is not a channel: {error}", path.display()))
                .help("a row of report probabilities for each value of a record; --normalise divides rows by their sums")
        })?;
        if channel.inputs() != outcomes {
            let message =
                format!("the channel has {} rows, but a record has {outcomes} values", channel.inputs());
            return Err(
                Problem::new(message).help("a row of report probabilities for each value of a record")
            );
        }
        let epsilon = Epsilon::new(channel.epsilon_at(delta).upper()).ok();
        let promise = epsilon.map(|epsilon| LocalPrivacy { epsilon, delta });
        let report = PrivacyReport {
            kind: "channel",
            epsilon: epsilon.map(Epsilon::get),
            delta: delta.get(),
            mechanism: None,
            words: format!("{} through {}", reports(arguments), path.display()),
        };
        return Ok((Setting::through(&channel, promise, records), report));
    }
    let Some(epsilon) = arguments.epsilon else {
        return Err(Problem::new("--epsilon is missing").help("or --channel FILE, a matrix of your own"));
    };
    let promise = LocalPrivacy { epsilon, delta };
    let claim = format!("({}, {})", number::plain(epsilon.get()), number::plain(delta.get()));
    let mut report = PrivacyReport {
        kind: "promise",
        epsilon: Some(epsilon.get()),
        delta: delta.get(),
        mechanism: None,
        words: format!("{}, each {claim}-locally private", reports(arguments)),
    };
    let Some(id) = arguments.mechanism else { return Ok((Setting::promised(promise, records), report)) };
    let specification = specification(id, epsilon, arguments, outcomes)?;
    let mechanism = specification.build()?;
    let matrix = mechanism.channel().filter(|matrix| matrix.inputs() * matrix.outputs() <= MOST_ENTRIES);
    report.kind = "mechanism";
    report.words = format!("{} by {} calibrated to {claim}", reports(arguments), id.name());
    report.mechanism = Some(id.name());
    Ok((Setting::of(&mechanism.privacy(), matrix.as_ref(), promise, records), report))
}

/// "1 report", "2 reports".
fn reports(arguments: &PrivacyArgs) -> String {
    format!("{} report{}", arguments.records, if arguments.records.get() == 1 { "" } else { "s" })
}

fn specification(
    id: Id,
    epsilon: Epsilon,
    arguments: &PrivacyArgs,
    outcomes: usize,
) -> Result<Specification, Problem> {
    let name = id.name();
    let answers = match (id, arguments.bounds) {
        (Id::Channel, _) => {
            return Err(Problem::new("--mechanism channel needs a matrix").help("give --channel FILE alone"));
        }
        (id, Some(bounds)) if id.is_for_numbers() => Answers::Number(bounds),
        (id, None) if id.is_for_numbers() => {
            return Err(Problem::new(format!("--mechanism {name} takes numbers, and --bounds is missing"))
                .help("--bounds LOW,HIGH says between which numbers the values of a record lie"));
        }
        (_, Some(_)) => {
            let message = format!("--bounds is for mechanisms that take numbers, not for {name}");
            return Err(Problem::new(message).help("leave it out"));
        }
        (_, None) => Answers::Category(Categories::numbered(outcomes as u32)?),
    };
    if arguments.truth.is_some() && id != Id::Aue {
        return Err(Problem::new(format!("--truth is for aue, not for {name}")).help("leave it out"));
    }
    let delta = arguments.delta;
    Ok(Specification { id, epsilon, delta, answers, truth: arguments.truth, channel: None })
}
