//! Ledgers in a file: SQLite, compiled in.

use super::{Access, Key, Rows, Store, Table, Work};
use crate::LedgerError;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::Duration;

/// A ledger in a file. Its journal lies beside it, in files with the same name and `-wal` or `-shm` behind it.
pub struct Sqlite {
    connection: Connection,
}

/// "dobr": says that a file of SQLite is a ledger.
const APPLICATION: i64 = 0x646f_6272;
/// The version of the tables.
const SCHEMA: i64 = 1;
/// How long to wait for others who change something.
const PATIENCE: Duration = Duration::from_secs(300);
/// This many bytes are read at once, about.
const PAGE: usize = 1 << 22;

const NEW_FILE: &str = "dobrushin ledger init LEDGER makes a ledger";

fn definition(table: Table) -> String {
    format!(
        "CREATE TABLE \"{}\" (a INTEGER NOT NULL, b INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (a, b))",
        table.name()
    )
}

impl Sqlite {
    /// A new file that only its owner can read, with empty tables and what `fill` writes.
    pub fn create(path: &Path, fill: Work) -> Result<Self, LedgerError> {
        let shown = path.display();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(|error| LedgerError::Store {
            what: format!("cannot make {shown}"),
            cause: Some(Box::new(error)),
            help: "give the name of a file that does not exist yet, in a folder that you can write to",
        })?;
        let made = Self::fill(path, fill);
        if made.is_err() {
            // It is ours, and holds nothing.
            let _ = fs::remove_file(path);
        }
        made
    }

    fn fill(path: &Path, fill: Work) -> Result<Self, LedgerError> {
        let mut made = Self { connection: connect(path)? };
        // The journal is kept in a file of its own from now on, so that people can read while somebody writes.
        made.connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
        let transaction =
            made.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        make_tables(&transaction).map_err(failed)?;
        fill(&mut Open { transaction: &transaction })?;
        transaction.commit().map_err(failed)?;
        Ok(made)
    }

    /// Opens a ledger, and refuses every other file.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let shown = path.display();
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => {
                return Err(LedgerError::store(
                    format!("{shown} is not a regular file"),
                    "links are not followed: give the ledger itself",
                ));
            }
            Err(error) => {
                let what = format!("cannot open {shown}");
                return Err(LedgerError::Store { what, cause: Some(Box::new(error)), help: NEW_FILE });
            }
        }
        let no_ledger = || LedgerError::store(format!("{shown} is not a ledger"), NEW_FILE);
        let connection = connect(path).map_err(|error| match error {
            // It is no file of SQLite.
            LedgerError::Damaged(_) => no_ledger(),
            other => other,
        })?;
        let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        if number("application_id").map_err(|_| no_ledger())? != APPLICATION {
            return Err(no_ledger());
        }
        match number("user_version").map_err(failed)? {
            SCHEMA => {}
            other => {
                let what =
                    format!("{shown} has tables of version {other}, and this program knows version {SCHEMA}");
                return Err(LedgerError::store(what, "a newer dobrushin reads it"));
            }
        }
        let mut found: Vec<String> = {
            let mut asked =
                connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").map_err(failed)?;
            let rows = asked.query_map([], |row| row.get(0)).map_err(failed)?;
            rows.collect::<Result<_, _>>().map_err(failed)?
        };
        let mut wanted = Table::ALL.map(definition).to_vec();
        found.sort();
        wanted.sort();
        if found != wanted {
            return Err(LedgerError::Damaged(format!("{shown} does not have the tables of a ledger")));
        }
        Ok(Self { connection })
    }
}

fn connect(path: &Path) -> Result<Connection, LedgerError> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    // A path is a path, and no address with options.
    let connection =
        Connection::open_with_flags(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()), flags);
    let connection = connection.map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;")
        .map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

impl Store for Sqlite {
    fn transaction(&mut self, access: Access, work: Work) -> Result<(), LedgerError> {
        let behavior = match access {
            Access::Read => TransactionBehavior::Deferred,
            Access::Write => TransactionBehavior::Immediate,
        };
        let transaction = self.connection.transaction_with_behavior(behavior).map_err(failed)?;
        // It is rolled back if it is dropped.
        work(&mut Open { transaction: &transaction })?;
        transaction.commit().map_err(failed)
    }

    fn faults(&mut self) -> Result<Vec<String>, LedgerError> {
        let mut asked = self.connection.prepare("PRAGMA integrity_check").map_err(failed)?;
        let rows = asked.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
        let said: Vec<String> = rows.collect::<Result<_, _>>().map_err(failed)?;
        Ok(said.into_iter().filter(|said| said != "ok").collect())
    }
}

/// The rows in a transaction.
struct Open<'a> {
    transaction: &'a rusqlite::Transaction<'a>,
}

impl Rows for Open<'_> {
    fn get(&mut self, table: Table, (a, b): Key) -> Result<Option<Vec<u8>>, LedgerError> {
        let words = format!("SELECT data FROM \"{}\" WHERE a = ?1 AND b = ?2", table.name());
        let mut asked = self.transaction.prepare_cached(&words).map_err(failed)?;
        asked.query_row(params![a, b], |row| row.get(0)).optional().map_err(failed)
    }

    fn put(&mut self, table: Table, (a, b): Key, row: &[u8]) -> Result<(), LedgerError> {
        let words = format!(
            "INSERT INTO \"{}\" (a, b, data) VALUES (?1, ?2, ?3) ON CONFLICT (a, b) DO UPDATE SET data = excluded.data",
            table.name()
        );
        let mut told = self.transaction.prepare_cached(&words).map_err(failed)?;
        told.execute(params![a, b, row]).map(drop).map_err(failed)
    }

    fn delete(&mut self, table: Table, (a, b): Key) -> Result<(), LedgerError> {
        let words = format!("DELETE FROM \"{}\" WHERE a = ?1 AND b = ?2", table.name());
        let mut told = self.transaction.prepare_cached(&words).map_err(failed)?;
        told.execute(params![a, b]).map(drop).map_err(failed)
    }

    fn page(&mut self, table: Table, first: i64, from: i64) -> Result<Vec<(i64, Vec<u8>)>, LedgerError> {
        let words = format!("SELECT b, data FROM \"{}\" WHERE a = ?1 AND b >= ?2 ORDER BY b", table.name());
        let mut asked = self.transaction.prepare_cached(&words).map_err(failed)?;
        let mut found = asked.query(params![first, from]).map_err(failed)?;
        let (mut page, mut bytes) = (Vec::new(), 0);
        while bytes < PAGE
            && let Some(row) = found.next().map_err(failed)?
        {
            let data: Vec<u8> = row.get(1).map_err(failed)?;
            bytes += data.len() + size_of::<Key>();
            page.push((row.get(0).map_err(failed)?, data));
        }
        Ok(page)
    }
}

fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    Table::ALL.into_iter().try_for_each(|table| connection.execute_batch(&definition(table)))?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", SCHEMA)
}

/// What SQLite says, and what a person can do about it.
fn failed(error: rusqlite::Error) -> LedgerError {
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => LedgerError::Damaged(error.to_string()),
        _ => {
            let help = match code {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    "somebody else has been writing for minutes: try again"
                }
                Some(ErrorCode::DiskFull) => "make room on the disk; nothing was changed",
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                    "the ledger and its folder must be yours to write, also to read it"
                }
                _ => "nothing was changed",
            };
            LedgerError::Store {
                what: "the ledger cannot be used".to_owned(),
                cause: Some(Box::new(error)),
                help,
            }
        }
    }
}
