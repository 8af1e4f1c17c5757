//! Ledgers in a PostgreSQL database, which a team shares: in a schema of their own, one in each database.

use super::{Access, Key, Rows, Store, Table, Work};
use crate::LedgerError;
use postgres::config::{Config, Host, SslMode, TargetSessionAttrs};
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Error, IsolationLevel, NoTls, Statement, Transaction};
use std::collections::HashMap;
use std::error::Error as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres_rustls::MakeRustlsConnect;

/// A ledger in a database.
pub struct Postgres {
    client: Client,
    known: HashMap<String, Statement>,
}

/// The schema with the tables.
const SCHEMA: &str = "dobrushin_ledger";
/// What is said of the schema, so that tables of another version are known.
const VERSION: &str = "dobrushin ledger, tables of version 1";
/// Whoever changes something waits for this lock.
const LOCK: i64 = 0x646f_6272_7573_6869;
/// How long to wait for others who change something, in milliseconds.
const PATIENCE: &str = "300000";
/// How long to wait for a server.
const CONNECT: Duration = Duration::from_secs(20);
/// Rows that are read at once.
const PAGE: i64 = 1024;

const EXAMPLE: &str = "postgresql://NAME@HOST/DATABASE; PGPASSWORD may hold the password";
const NEW_LEDGER: &str = "dobrushin ledger init URL makes a ledger in a database";

impl Postgres {
    /// Makes the tables in a database that has none, with what `fill` writes.
    pub fn create(url: &str, fill: Work) -> Result<Self, LedgerError> {
        let mut made = Self { client: connect(url)?, known: HashMap::new() };
        made.within(Access::Write, &mut |rows| {
            if rows.version()?.is_some() {
                return Err(LedgerError::store(
                    "the database has a ledger already",
                    "use it, or give another database: each holds one ledger",
                ));
            }
            rows.transaction.batch_execute(&definition()).map_err(failed)?;
            fill(rows)
        })?;
        Ok(made)
    }

    /// Opens the ledger of a database.
    pub fn open(url: &str) -> Result<Self, LedgerError> {
        let mut opened = Self { client: connect(url)?, known: HashMap::new() };
        opened.within(Access::Read, &mut |rows| match rows.version()? {
            None => Err(LedgerError::store("the database has no ledger", NEW_LEDGER)),
            Some(version) if version == VERSION => rows.check_tables(),
            Some(version) => Err(LedgerError::store(
                format!("the database has a {version:?}, and this program knows {VERSION:?}"),
                "a newer dobrushin reads it",
            )),
        })?;
        Ok(opened)
    }

    /// A transaction. Those that change something come one after another, and see all that came before them; the others see
    /// one state of everything.
    fn within(
        &mut self,
        access: Access,
        work: &mut dyn FnMut(&mut Open) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        let build = self.client.build_transaction();
        let build = match access {
            Access::Read => build.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
            // Each statement sees what was committed before it began, and all come after the lock.
            Access::Write => build.isolation_level(IsolationLevel::ReadCommitted).read_only(false),
        };
        let mut transaction = build.start().map_err(failed)?;
        if access == Access::Write {
            // Whatever the server's usual settings are: what is committed survives a power cut.
            let settings = format!("SET LOCAL synchronous_commit = on; SET LOCAL lock_timeout = {PATIENCE}");
            transaction.batch_execute(&settings).map_err(failed)?;
            transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).map_err(failed)?;
        }
        let mut open = Open { transaction, known: &mut self.known };
        // It is rolled back if it is dropped.
        work(&mut open)?;
        open.transaction.commit().map_err(|error| match access {
            Access::Read => failed(error),
            Access::Write => unsure(error),
        })
    }
}

impl Store for Postgres {
    fn transaction(&mut self, access: Access, work: Work) -> Result<(), LedgerError> {
        self.within(access, &mut |rows| work(rows))
    }

    /// Every row has a checksum of ours; pages are the server's.
    fn faults(&mut self) -> Result<Vec<String>, LedgerError> {
        Ok(Vec::new())
    }
}

/// The rows in a transaction.
struct Open<'a> {
    transaction: Transaction<'a>,
    known: &'a mut HashMap<String, Statement>,
}

impl Open<'_> {
    /// What the schema says that it is, if there is one.
    fn version(&mut self) -> Result<Option<String>, LedgerError> {
        let words =
            "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = $1";
        let found = self.transaction.query_opt(words, &[&SCHEMA]).map_err(failed)?;
        found.map(|row| row.try_get(0).map_err(failed)).transpose()
    }

    /// Refuses tables that are not those of a ledger.
    fn check_tables(&mut self) -> Result<(), LedgerError> {
        let words = "SELECT table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable \
                     FROM information_schema.columns WHERE table_schema = $1";
        let found = self.transaction.query(words, &[&SCHEMA]).map_err(failed)?;
        let mut found: Vec<String> =
            found.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(failed)?;
        let columns = [("a", "bigint"), ("b", "bigint"), ("data", "bytea")];
        let of_table =
            |table: Table| columns.map(|(name, kind)| format!("{} {name} {kind} NO", table.name()));
        let mut wanted: Vec<String> = Table::ALL.into_iter().flat_map(of_table).collect();
        found.sort();
        wanted.sort();
        match found == wanted {
            true => Ok(()),
            false => {
                Err(LedgerError::Damaged(format!("the schema {SCHEMA} does not have the tables of a ledger")))
            }
        }
    }

    fn prepared(&mut self, words: String) -> Result<Statement, LedgerError> {
        if let Some(known) = self.known.get(&words) {
            return Ok(known.clone());
        }
        let made = self.transaction.prepare(&words).map_err(failed)?;
        self.known.insert(words, made.clone());
        Ok(made)
    }

    fn told(&mut self, words: String, values: &[&(dyn ToSql + Sync)]) -> Result<(), LedgerError> {
        let statement = self.prepared(words)?;
        self.transaction.execute(&statement, values).map(drop).map_err(failed)
    }
}

impl Rows for Open<'_> {
    fn get(&mut self, table: Table, (a, b): Key) -> Result<Option<Vec<u8>>, LedgerError> {
        let asked = self.prepared(format!("SELECT data FROM {} WHERE a = $1 AND b = $2", of(table)))?;
        let found = self.transaction.query_opt(&asked, &[&a, &b]).map_err(failed)?;
        found.map(|row| row.try_get(0).map_err(failed)).transpose()
    }

    fn put(&mut self, table: Table, (a, b): Key, row: &[u8]) -> Result<(), LedgerError> {
        let words = "ON CONFLICT (a, b) DO UPDATE SET data = excluded.data";
        self.told(
            format!("INSERT INTO {} (a, b, data) VALUES ($1, $2, $3) {words}", of(table)),
            &[&a, &b, &row],
        )
    }

    fn delete(&mut self, table: Table, (a, b): Key) -> Result<(), LedgerError> {
        self.told(format!("DELETE FROM {} WHERE a = $1 AND b = $2", of(table)), &[&a, &b])
    }

    fn page(&mut self, table: Table, first: i64, from: i64) -> Result<Vec<(i64, Vec<u8>)>, LedgerError> {
        let words =
            format!("SELECT b, data FROM {} WHERE a = $1 AND b >= $2 ORDER BY b LIMIT {PAGE}", of(table));
        let asked = self.prepared(words)?;
        let found = self.transaction.query(&asked, &[&first, &from]).map_err(failed)?;
        let pair = |row: &postgres::Row| Ok((row.try_get(0)?, row.try_get(1)?));
        found.iter().map(pair).collect::<Result<_, Error>>().map_err(failed)
    }
}

/// A table, as statements name it.
fn of(table: Table) -> String {
    format!("{SCHEMA}.\"{}\"", table.name())
}

/// The statements that make the tables. Nobody but their owner may use them until the owner grants it.
fn definition() -> String {
    let table = |table: Table| {
        let columns = "a bigint NOT NULL, b bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (a, b)";
        // Rows are not compressed: most are hashes and names.
        format!("CREATE TABLE {0} ({columns}); ALTER TABLE {0} ALTER data SET STORAGE EXTERNAL;\n", of(table))
    };
    let tables: String = Table::ALL.into_iter().map(table).collect();
    format!("CREATE SCHEMA {SCHEMA};\nCOMMENT ON SCHEMA {SCHEMA} IS '{VERSION}';\n{tables}")
}

/// Connects to a server that keeps what it is given.
fn connect(url: &str) -> Result<Client, LedgerError> {
    // What is wrong with a URL is not repeated: it may hold a password.
    let mut config = Config::from_str(url).map_err(|error| LedgerError::Store {
        what: "the URL of the database cannot be read".to_owned(),
        cause: error.source().map(|cause| cause.to_string().into()),
        help: EXAMPLE,
    })?;
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    config.application_name("dobrushin").target_session_attrs(TargetSessionAttrs::ReadWrite);
    let mut client = match config.get_ssl_mode() {
        SslMode::Disable => config.connect(NoTls),
        SslMode::Prefer if stays_here(&config) => config.connect(NoTls),
        // Names and budgets cross a network: a server that cannot prove who it is gets none of them.
        _ => config.ssl_mode(SslMode::Require).connect(encryption()?),
    }
    .map_err(unreachable)?;
    let keeps = client.query_one("SHOW fsync", &[]).and_then(|row| row.try_get::<_, String>(0));
    if keeps.map_err(failed)? != "on" {
        return Err(LedgerError::store(
            "the server has fsync = off: after a power cut, what was spent could be lost",
            "set fsync = on",
        ));
    }
    Ok(client)
}

/// Whether nothing leaves this machine.
fn stays_here(config: &Config) -> bool {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

/// TLS with the certificates that this system trusts.
fn encryption() -> Result<MakeRustlsConnect, LedgerError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = builder.map_err(|error| LedgerError::Store {
        what: "TLS cannot be used".to_owned(),
        cause: Some(Box::new(error)),
        help: "sslmode=disable in the URL does without it, in a network that you trust",
    })?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth()))
}

fn unreachable(error: Error) -> LedgerError {
    let help = match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => EXAMPLE,
        Some(&SqlState::INVALID_CATALOG_NAME) => "createdb makes a database",
        _ => {
            "the server must run, and prove who it is if it is on another machine: SSL_CERT_FILE names certificates to \
             trust, and sslmode=disable in the URL does without encryption"
        }
    };
    LedgerError::Store { what: "the database cannot be reached".to_owned(), cause: Some(said(&error)), help }
}

/// The connection broke while something was being committed: nobody knows yet whether it was.
fn unsure(error: Error) -> LedgerError {
    match error.as_db_error() {
        Some(_) => failed(error),
        None => LedgerError::Store {
            what: "the connection was lost at the last moment, so it is not known whether this was done"
                .to_owned(),
            cause: Some(said(&error)),
            help: "dobrushin ledger show LEDGER says it; what was reserved counts as spent until you abort it",
        },
    }
}

/// What PostgreSQL says, and what a person can do about it.
fn failed(error: Error) -> LedgerError {
    if let Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) = error.code() {
        return LedgerError::Damaged(said(&error).to_string());
    }
    let help = match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::QUERY_CANCELED) => {
            "somebody else has been writing for minutes: try again"
        }
        Some(&SqlState::DISK_FULL) => "make room on the server's disk; nothing was changed",
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            "the ledger's owner must grant you the schema dobrushin_ledger and its tables"
        }
        _ => "nothing was changed",
    };
    LedgerError::Store { what: "the ledger cannot be used".to_owned(), cause: Some(said(&error)), help }
}

/// All that an error says.
fn said(error: &Error) -> Box<dyn std::error::Error + Send + Sync> {
    match (error.as_db_error(), error.source()) {
        (Some(server), _) => server.message().into(),
        (None, Some(cause)) => format!("{error}: {cause}").into(),
        (None, None) => error.to_string().into(),
    }
}
