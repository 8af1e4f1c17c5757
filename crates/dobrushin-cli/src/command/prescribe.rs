//! `dobrushin prescribe`: noise and learning rate for a learning problem and a privacy level.

use crate::cli::{Common, delta, epsilon, positive};

use crate::file::{self, Place};
use crate::output::Report;
use crate::problem::Problem;
use crate::stderr::say;
use crate::watch::Watch;
use clap::{Args, ValueEnum};
use dobrushin::account::CalibrationError;
use dobrushin::utility::prescribe::{self, Privacy};
use dobrushin::utility::{Request, Scheme};
use dobrushin::{Delta, Epsilon, Positive};
use dobrushin_document::ask::worth_meeting;
use dobrushin_document::report::PrescriptionReport;
use dobrushin_document::{json, text};
use std::num::NonZeroU64;
use std::process::ExitCode;

#[derive(Args, Debug)]
#[command(
    after_help = "With --output FILE the run file is written there, and the answer is printed to standard output."
)]
pub struct PrescribeArgs {
    /// How records are used, and who sees what
    #[arg(value_enum, value_name = "SETTING")]
    pub setting: Setting,
    /// The number of records, public ones included; 1e6 is accepted
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub records: NonZeroU64,
    /// The number of parameters of the model
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true)]
    pub dimension: NonZeroU64,
    /// The largest norm of one record's gradient
    #[arg(long, value_name = "L", value_parser = |s: &str| positive("lipschitz", s), allow_negative_numbers = true)]
    pub lipschitz: Positive,
    /// Models are in a convex set within a ball of this radius
    #[arg(long, value_name = "R", value_parser = |s: &str| positive("radius", s), allow_negative_numbers = true,
          required_unless_present = "diameter", conflicts_with = "diameter")]
    pub radius: Option<Positive>,
    /// Models are in a convex set of this diameter
    #[arg(long, value_name = "DIAMETER", value_parser = |s: &str| positive("diameter", s), allow_negative_numbers = true)]
    pub diameter: Option<Positive>,
    /// The ε to meet, for one replaced record
    #[arg(long, value_parser = epsilon, allow_negative_numbers = true)]
    pub epsilon: Epsilon,
    /// The δ to meet
    #[arg(long, value_parser = delta, allow_negative_numbers = true)]
    pub delta: Delta,
    /// How much gradients change, over the distance of models; without it, losses are averaged where that is needed
    #[arg(long, value_name = "BETA", value_parser = |s: &str| positive("smoothness", s), allow_negative_numbers = true)]
    pub smoothness: Option<Positive>,
    /// For public-tail: how many of the records are public; they are used last
    #[arg(long, value_name = "M", value_parser = count, allow_negative_numbers = true)]
    pub public_records: Option<NonZeroU64>,
    /// For tasks: the number of models
    #[arg(long, value_name = "K", value_parser = count, allow_negative_numbers = true)]
    pub tasks: Option<NonZeroU64>,
    /// For passes: the number of passes
    #[arg(long, value_name = "E", value_parser = count, allow_negative_numbers = true)]
    pub passes: Option<NonZeroU64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Setting {
    /// One pass whose every step may be seen (Feldman et al. 2018, Theorem 29)
    Local,
    /// One pass that skips up to half of its start at random; earlier records are better protected (Theorem 30)
    PerRecord,
    /// One pass that ends with public records (Corollary 31): --public-records
    PublicTail,
    /// Several models on the same records (Theorem 32): --tasks
    Tasks,
    /// Several passes in the same order (Theorem 35): --passes
    Passes,
    /// Online descent whose every play may be seen (Asoodeh, Diaz, Calmon 2023, Proposition 2)
    Online,
}

/// The most records and steps of a run.
const MOST: u64 = 1 << 60;

/// A number of things, also as 1e6.
fn count(text: &str) -> Result<NonZeroU64, String> {
    let text = text.trim();
    let refused = || format!("{text:?} is not a whole number from 1 to {MOST}");
    // Up to 2⁵³ every whole number has a float of its own.
    let exact = |value: f64| {
        (value.fract() == 0.0 && (1.0..=9_007_199_254_740_992.0).contains(&value)).then_some(value as u64)
    };
    let value = text.parse().ok().or_else(|| text.parse().ok().and_then(exact));
    value.filter(|value| *value <= MOST).and_then(NonZeroU64::new).ok_or_else(refused)
}

/// Prints the answer, and writes the run file to `--output`.
pub fn run(arguments: &PrescribeArgs, common: &Common) -> Result<ExitCode, Problem> {
    let output = common.output.as_ref().map(|path| path.display().to_string());
    let watch = Watch::new(!common.quiet, 0, "searching");
    let report = report(arguments, output);
    drop(watch);
    let report = report?;
    let rest = Common { output: None, ..common.clone() };
    let answer = Report::new(text::prescription(&report, common.style()), json::of(&report));
    let Some(path) = &common.output else {
        answer.print(&rest)?;
        return Ok(answer.exit_code());
    };
    file::replace(path, report.run_file().as_bytes()).map_err(|error| Problem::cannot_write(path, error))?;
    // The run file may have taken the place where the answer is printed.
    if matches!(Place::of(path), Ok(Place::Standard)) {
        say(&answer.rendered(&rest));
    } else {
        answer.print(&rest)?;
    }
    Ok(answer.exit_code())
}

fn report(arguments: &PrescribeArgs, output: Option<String>) -> Result<PrescriptionReport, Problem> {
    let scheme = scheme(arguments)?;
    if arguments.epsilon.get() == 0.0 {
        return Err(Problem::new("--epsilon is 0, but it must be above 0").help("--epsilon 1"));
    }
    if arguments.delta.get() == 0.0 {
        let message = "--delta is 0, but it must be above 0: Gaussian noise is never (ε, 0)-private";
        return Err(Problem::new(message).help("--delta 1e-6, well below 1 over the number of records"));
    }
    let radius = match (arguments.radius, arguments.diameter) {
        (Some(radius), _) => radius,
        (None, Some(diameter)) => Positive::named("radius", diameter.get() / 2.0)?,
        (None, None) => {
            return Err(Problem::new("--radius and --diameter are both missing").help("--radius 1"));
        }
    };
    let request = Request {
        problem: prescribe::Problem {
            records: arguments.records,
            dimension: arguments.dimension,
            lipschitz: arguments.lipschitz,
            radius,
        },
        privacy: Privacy { epsilon: arguments.epsilon, delta: worth_meeting(arguments.delta)? },
        scheme,
        smoothness: arguments.smoothness,
    };
    let found = request.prescribe().map_err(problem)?;
    Ok(PrescriptionReport::new(request, found, output))
}

/// The setting, with the number that it needs; a number for another setting is refused.
fn scheme(arguments: &PrescribeArgs) -> Result<Scheme, Problem> {
    let given = [
        (Setting::PublicTail, "--public-records", arguments.public_records),
        (Setting::Tasks, "--tasks", arguments.tasks),
        (Setting::Passes, "--passes", arguments.passes),
    ];
    for (setting, flag, value) in given {
        match value {
            Some(value) if setting != arguments.setting => {
                return Err(Problem::new(format!("{flag} is {value}, but {flag} is for another setting"))
                    .help(format!(
                        "dobrushin prescribe {} {flag} {value} …, or leave {flag} out",
                        name(setting)
                    )));
            }
            None if setting == arguments.setting => {
                return Err(Problem::new(format!("{flag} is missing: {} needs it", name(setting)))
                    .help(format!("{flag} 10")));
            }
            _ => {}
        }
    }
    let number = |value: Option<NonZeroU64>| value.unwrap_or(NonZeroU64::MIN);
    Ok(match arguments.setting {
        Setting::Local => Scheme::Local,
        Setting::PerRecord => Scheme::PerRecord,
        Setting::Online => Scheme::Online,
        Setting::Tasks => Scheme::Tasks { tasks: number(arguments.tasks) },
        Setting::Passes => {
            let (passes, records) = (number(arguments.passes), arguments.records);
            if records.get().checked_mul(passes.get()).is_none_or(|steps| steps > MOST) {
                let message = format!(
                    "--passes is {passes} over {records} records, but there must be at most {MOST} steps"
                );
                return Err(
                    Problem::new(message).help("fewer passes: more than --records of them hardly help")
                );
            }
            Scheme::Passes { passes }
        }
        Setting::PublicTail => {
            let (public, all) = (number(arguments.public_records), arguments.records);
            if public >= all {
                let message = format!(
                    "--public-records is {public}, but there are only {all} records, and some must be private"
                );
                return Err(Problem::new(message).help("--records counts public records too"));
            }
            Scheme::PublicTail { records: public.get() }
        }
    })
}

fn name(setting: Setting) -> String {
    setting.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

fn problem(error: CalibrationError) -> Problem {
    match error {
        CalibrationError::Run(error) => error.into(),
        other => Problem::new(other.to_string()),
    }
}
