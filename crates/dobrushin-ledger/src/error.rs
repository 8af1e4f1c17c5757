//! Why a ledger refuses.

use dobrushin::account::TotalError;

/// People who would spend more than they may.
#[derive(Clone, Debug, PartialEq)]
pub struct OverBudget {
    /// How many they are.
    pub count: u64,
    /// The first of them, as they are named, up to [`OverBudget::LISTED`].
    pub first: Vec<String>,
}

impl OverBudget {
    /// At most this many are listed.
    pub const LISTED: usize = 1000;
}

/// Why a ledger refuses.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// Somebody's budget would be exceeded. Nothing was changed.
    #[error("{} would spend more than their budget", people(.0))]
    OverBudget(OverBudget),
    /// There is no such release.
    #[error("the ledger has no release {0}")]
    NoSuchRelease(u64),
    /// There is no such person.
    #[error("nobody in the ledger is called {0:?}")]
    NoSuchPerson(String),
    /// A release is not in the state in which this can be done.
    #[error("release {id} is {status}, so it cannot be {wanted}")]
    NotReserved {
        /// The release.
        id: u64,
        /// Its state.
        status: &'static str,
        /// What was to become of it.
        wanted: &'static str,
    },
    /// The release says nothing about what is counted here.
    #[error(transparent)]
    Cost(#[from] TotalError),
    /// What was given cannot be used.
    #[error("{what}")]
    Invalid {
        /// What is wrong.
        what: String,
        /// What would fix it.
        help: &'static str,
    },
    /// What is stored is not what was written.
    #[error("the ledger is damaged: {0}")]
    Damaged(String),
    /// The place where it is stored fails.
    #[error("{what}")]
    Store {
        /// What failed.
        what: String,
        /// What the store says.
        #[source]
        cause: Option<Box<dyn std::error::Error + Send + Sync>>,
        /// What would fix it.
        help: &'static str,
    },
}

impl LedgerError {
    pub(crate) fn invalid(what: impl Into<String>, help: &'static str) -> Self {
        Self::Invalid { what: what.into(), help }
    }

    pub(crate) fn store(what: impl Into<String>, help: &'static str) -> Self {
        Self::Store { what: what.into(), cause: None, help }
    }

    /// What would fix it.
    pub fn help(&self) -> Option<&str> {
        Some(match self {
            Self::OverBudget(_) => {
                "more noise, fewer steps, or a release without these people (--leave-out); dobrushin ledger show LEDGER --person NAME \
                 says what is left"
            }
            Self::NoSuchRelease(_) => "dobrushin ledger show LEDGER lists the releases",
            Self::NoSuchPerson(_) => {
                "people are in the ledger after their first release, or if they have a budget of their own"
            }
            Self::NotReserved { status: "leaving", .. } => {
                "it is being released; if its program has ended, commit it, because it may have been"
            }
            Self::NotReserved { .. } => {
                "dobrushin ledger show LEDGER lists the releases and what became of them"
            }
            Self::Cost(TotalError::OnlyDeleted) => {
                "reserve the clean steps as a run by themselves, on the records that remain (docs/ledger.md)"
            }
            Self::Cost(_) => "a release that is accounted for, for the same neighbours as the ledger",
            Self::Damaged(_) => "restore a copy of it; dobrushin ledger check says what is wrong",
            Self::Invalid { help, .. } | Self::Store { help, .. } => help,
        })
    }

    /// Whether nothing is wrong, but the answer is "no".
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::OverBudget(_))
    }
}

fn people(over: &OverBudget) -> String {
    const NAMED: usize = 3;
    let named: Vec<String> = over.first.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    match over.count {
        count if count as usize <= named.len() => named.join(", "),
        count => format!("{count} people, such as {},", named.join(", ")),
    }
}
