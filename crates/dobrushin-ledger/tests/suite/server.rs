//! A PostgreSQL server of our own, which listens on this machine only and is stopped when it is dropped.

use dobrushin_ledger::Place;
use std::cell::Cell;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    databases: Cell<u32>,
}

/// Most connections at once.
pub const CONNECTIONS: u32 = 2100;

impl Server {
    /// Starts one. `None` where PostgreSQL is not installed, unless `CI` is "true": then it must be.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
            assert!(!is_ci, "PostgreSQL is not installed");
            eprintln!("ledgers in PostgreSQL were NOT tested: it is not installed");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("ledger-").tempdir().expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        drop(listener);
        let server = Self { programs, folder, port, databases: Cell::new(0) };
        // PostgreSQL refuses to be run by root.
        if is_root() {
            succeeds(Command::new("chown").args(["nobody:nogroup"]).arg(server.folder.path()));
        }
        succeeds(
            server
                .program("initdb")
                .args(["-A", "trust", "-U", "dobrushin", "--no-sync", "-D"])
                .arg(server.data()),
        );
        server.up();
        Some(server)
    }

    /// The URL of a new and empty database.
    pub fn database(&self) -> String {
        let number = self.databases.replace(self.databases.get() + 1);
        let mut client =
            postgres::Client::connect(&self.url("postgres"), postgres::NoTls).expect("the server runs");
        client.batch_execute(&format!("CREATE DATABASE ledger{number}")).expect("a new database");
        self.url(&format!("ledger{number}"))
    }

    pub fn place(&self) -> Place {
        self.database().parse().expect("every text is a place")
    }

    fn url(&self, database: &str) -> String {
        format!("postgresql://dobrushin@127.0.0.1:{}/{database}", self.port)
    }

    /// Ends the server as a power cut would, and starts it again.
    pub fn crash(&self) {
        self.down("immediate");
        self.up();
    }

    fn up(&self) {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories='' -c max_connections={CONNECTIONS} \
             -c shared_buffers=256MB",
            self.port
        );
        let mut start = self.program("pg_ctl");
        start.args(["start", "-w", "-t", "60", "-o", &options, "-D"]).arg(self.data());
        // The server keeps these open.
        succeeds(
            start.arg("-l").arg(self.folder.path().join("log")).stdout(Stdio::null()).stderr(Stdio::null()),
        );
    }

    fn down(&self, mode: &str) {
        let mut stop = self.program("pg_ctl");
        let stopped = stop.args(["stop", "-w", "-m", mode, "-D"]).arg(self.data()).output();
        assert!(stopped.is_ok_and(|output| output.status.success()), "the server cannot be stopped");
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL, run by somebody without privileges.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]).arg(path);
                command
            }
            false => Command::new(path),
        };
        command.current_dir(self.folder.path());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program("pg_ctl").args(["stop", "-m", "immediate", "-D"]).arg(self.data()).output();
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    id.stdout == b"0\n"
}

/// Where the programs of the newest PostgreSQL are.
fn programs() -> Option<PathBuf> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut found: Vec<PathBuf> = debian.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    found.sort();
    let asked = Command::new("pg_config").arg("--bindir").output();
    found.extend(asked.ok().map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())));
    found.into_iter().rev().find(|folder| Path::new(folder).join("initdb").exists())
}

fn succeeds(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
