//! What a library's own accountant would say.

use super::library::Library;
use dobrushin::account::{Options, Question};
use dobrushin::numeric::decimal::{briefly, plain};
use dobrushin::run::Run;
use dobrushin::{Delta, Neighbours, Order};

/// The event that the library's accountant counts: Poisson samples of a Gaussian mechanism, with or without one record.
pub struct Theirs {
    /// The library.
    pub library: Library,
    /// The probability with which a record is in a batch.
    pub rate: f64,
    /// The noise over the sensitivity.
    pub noise: f64,
    /// The number of steps.
    pub steps: u64,
    /// δ.
    pub delta: f64,
    /// Which data sets are neighbours, for the numbers.
    pub neighbours: Neighbours,
    /// What it assumes, in words.
    pub assumes: &'static str,
    /// The accountant that was named, in small letters.
    pub accountant: Option<String>,
}

impl Theirs {
    /// Their ε, in words, by the accountant that was named or is usual.
    ///
    /// It is computed here, by the analysis of the same kind. Theirs differs in the last digits: it rounds to a grid, or
    /// tries fewer orders.
    pub fn sentence(&self) -> Option<String> {
        let usual = match self.library {
            Library::Opacus => "prv",
            Library::TensorflowPrivacy => "rdp",
            Library::JaxPrivacy => "pld",
        };
        let named = self.accountant.as_deref().unwrap_or(usual);
        let (analysis, kind) = match named {
            "rdp" => ("composition-renyi", "by Rényi divergences"),
            "gdp" => ("composition-gdp", "by a central limit theorem, which is no bound"),
            _ => ("composition", "by privacy loss distributions"),
        };
        let records = 1_u64 << 40;
        let run =
            Run::dp_sgd(records).order(Order::Poisson).sampling_probability(self.rate).steps(self.steps);
        let run = run.clip_norm(1.0).noise_multiplier(self.noise).neighbours(self.neighbours).build().ok()?;
        let options = Options { only: vec![analysis], ..Options::default() };
        let account = run.account_by(Question::EpsilonAt(Delta::new(self.delta).ok()?), &options);
        let epsilon = briefly(account.answer(analysis)?.value);
        Some(format!(
            "{}'s own accountant ({named}, {kind}) would say: ε is about {epsilon} at δ = {}. It counts every iterate as published, \
             and assumes {}.",
            self.library.name(),
            plain(self.delta),
            self.assumes
        ))
    }
}
