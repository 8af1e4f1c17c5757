//! How private a run is.

use super::Asked;
use crate::error::DocumentError;
use crate::report::{
    AdviceReport, Extras, FloorReport, ObserversReport, Records, RenyiReport, UtilityReport, WantedReport,
};
use crate::run_file::{RunFile, SelfContained};
use dobrushin::account::{Account, DEFAULT_TOLERANCE, Options, Question, advice};
use dobrushin::run::Run;
use dobrushin::{Error, Progress, RenyiOrder};
use dobrushin_audit::floor::{Floor, floor};

/// What is wanted of an account.
#[derive(Clone, Debug)]
pub struct AccountWishes {
    /// The question, if the file does not ask it.
    pub asked: Asked,
    /// How wide the enclosure of ε may be relative to ε; see [`AccountWishes::check_tolerance`].
    pub tolerance: f64,
    /// The only analyses to use; all, if it is empty.
    pub only: Vec<&'static str>,
    /// Also what no analysis can go below.
    pub floor: bool,
    /// Also what would help most.
    pub advice: bool,
    /// Also how good the released result is.
    pub utility: bool,
    /// Also how well each record is protected.
    pub per_record: bool,
    /// Also what owners see of each other.
    pub observers: bool,
    /// Also the Rényi divergences of these orders.
    pub orders: Vec<RenyiOrder>,
}

impl Default for AccountWishes {
    fn default() -> Self {
        Self {
            asked: Asked::default(),
            tolerance: DEFAULT_TOLERANCE,
            only: Vec::new(),
            floor: true,
            advice: false,
            utility: false,
            per_record: false,
            observers: false,
            orders: Vec::new(),
        }
    }
}

impl AccountWishes {
    /// Refuses tolerances that cannot be kept, or that would say nothing.
    pub fn check_tolerance(value: f64) -> Result<f64, Error> {
        match value {
            1e-8..=0.1 => Ok(value),
            _ => Err(Error::OutOfRange { name: "tolerance", value, accepted: "between 1e-8 and 0.1" }),
        }
    }
}

/// The answer, and what it was found from.
pub struct Accounted {
    /// The run.
    pub run: Run,
    /// What every analysis says.
    pub account: Account,
    /// What no analysis can go below.
    pub floor: Option<Floor>,
    /// How it was asked; nobody watches.
    pub options: Options,
    /// What else was asked for.
    pub extras: Extras,
}

/// Accounts for a run; an [`AccountReport`](crate::report::AccountReport) says it to people and programs. `begin` is told what is being worked on, and gives what counts it.
pub fn account(
    file: &RunFile,
    contained: &SelfContained,
    wishes: &AccountWishes,
    begin: &mut dyn FnMut(&'static str) -> Progress,
) -> Result<Accounted, DocumentError> {
    let run = contained.run()?;
    let both = wishes.asked.both(file)?;
    let question = match both {
        Some((_, delta)) => Question::EpsilonAt(delta),
        None => wishes.asked.of(file)?,
    };
    let options = Options { tolerance: wishes.tolerance, only: wishes.only.clone(), ..Options::default() };
    let mut watched = |what| Options { progress: begin(what), ..options.clone() };
    let account = run.account_by(question, &watched("analyses"));
    let floor = wishes.floor.then(|| floor(&run, question)).flatten();
    let records = wishes.per_record.then(|| Records::new(&run, question, &watched("records"))).transpose()?;
    let observers = wishes
        .observers
        .then(|| ObserversReport::new(&run, question, &watched("pairs of owners")))
        .transpose()?;
    let advice =
        wishes.advice.then(|| AdviceReport::all(&account, advice(&run, &account, &watched("changes"))));
    let wanted = both.map(|(epsilon, _)| {
        let of_delta = run.account_by(Question::DeltaAt(epsilon), &watched("analyses"));
        WantedReport::new(epsilon, &account, &of_delta)
    });
    let renyi = match wishes.orders.is_empty() {
        true => None,
        false => Some(run.renyi(&wishes.orders, &options)?.iter().map(RenyiReport::new).collect()),
    };
    let utility = wishes.utility.then(|| UtilityReport::from(&dobrushin::utility::of(&run)));
    let floor_report = floor.as_ref().map(|floor| FloorReport::new(question, floor));
    let extras =
        Extras { wanted, floor: floor_report, advice, utility, records, observers, renyi, is_example: false };
    Ok(Accounted { run, account, floor, options, extras })
}

/// Why there is no certificate, though the run can be accounted for.
pub fn why_no_certificate(account: &Account) -> String {
    match (&account.concern, account.guarantee()) {
        (Some(concern), _) => concern.clone(),
        (None, Ok(_)) => "ε is infinite, which is no guarantee: add noise, or choose a larger δ".to_owned(),
        (None, Err(_)) => "dobrushin account without --certificate says why no analysis applies".to_owned(),
    }
}
