//! Where ledgers are kept.

use crate::LedgerError;
use crate::store::{Store, Work};
use std::str::FromStr;

/// Where a ledger is: a file, or a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file of SQLite.
    File(std::path::PathBuf),
    /// The URL of a PostgreSQL database.
    Postgres(String),
}

impl FromStr for Place {
    type Err = std::convert::Infallible;

    /// Whatever begins with `postgres://` or `postgresql://` is a database, and everything else a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
        Ok(if is_url { Self::Postgres(text.to_owned()) } else { Self::File(text.into()) })
    }
}

#[cfg_attr(not(feature = "sqlite"), allow(unused_variables))]
pub(crate) fn made(place: &Place, fill: Work) -> Result<Box<dyn Store>, LedgerError> {
    match place {
        #[cfg(feature = "sqlite")]
        Place::File(path) => Ok(Box::new(crate::store::sqlite::Sqlite::create(path, fill)?)),
        #[cfg(feature = "postgres")]
        Place::Postgres(url) => Ok(Box::new(crate::store::postgres::Postgres::create(url, fill)?)),
        #[allow(unreachable_patterns, reason = "with all features, there is nothing else")]
        other => Err(not_built(other)),
    }
}

pub(crate) fn opened(place: &Place) -> Result<Box<dyn Store>, LedgerError> {
    match place {
        #[cfg(feature = "sqlite")]
        Place::File(path) => Ok(Box::new(crate::store::sqlite::Sqlite::open(path)?)),
        #[cfg(feature = "postgres")]
        Place::Postgres(url) => Ok(Box::new(crate::store::postgres::Postgres::open(url)?)),
        #[allow(unreachable_patterns, reason = "with all features, there is nothing else")]
        other => Err(not_built(other)),
    }
}

#[allow(dead_code, reason = "with all features, every place is known")]
fn not_built(place: &Place) -> LedgerError {
    match place {
        Place::File(_) => LedgerError::invalid(
            "this program was built without ledgers in files",
            "build it with the feature ledger",
        ),
        Place::Postgres(_) => LedgerError::invalid(
            "this program was built without PostgreSQL",
            "build it with the feature postgres",
        ),
    }
}
