//! `dobrushin page`: the calculator in a browser.
//!
//! A server of five files that listens on this machine only. It answers one request on each connection, reads no file and
//! stores nothing; whatever is computed is computed in the browser.

use crate::file;
use crate::output::Report;
use crate::page_files::{FILES, MODULE, PageFile};
use crate::problem::Problem;
use clap::Args;
use dobrushin_document::text::Text;
use flate2::read::GzDecoder;
use serde_json::json;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

#[derive(Args, Debug)]
pub struct PageArgs {
    /// The port on 127.0.0.1; 0 takes any that is free
    #[arg(long, default_value_t = 8017)]
    pub port: u16,
    /// Write the page to a new folder, for a web server, instead of showing it
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// What the page may do: run its own scripts and its own WebAssembly, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// How long a browser may take for a request, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST: u64 = 16 * 1024;

/// Shows the page until the program is interrupted, or writes it.
pub fn run(arguments: &PageArgs) -> Result<Report, Problem> {
    match &arguments.out {
        Some(folder) => write(folder),
        None => serve(arguments.port),
    }
}

fn write(folder: &Path) -> Result<Report, Problem> {
    if folder.exists() {
        let what = format!("{} already exists", folder.display());
        return Err(Problem::new(what).help("--out DIR names a folder that does not exist yet"));
    }
    for PageFile { path, bytes, .. } in FILES {
        let place = folder.join(path);
        let bytes = if path.ends_with(".wasm") { unpacked()? } else { bytes.to_vec() };
        let made = place.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| file::replace(&place, &bytes))
            .map_err(|error| Problem::cannot_write(&place, error))?;
    }
    let mut text = Text::default();
    text.answer(format!("The page is {}.", folder.join("index.html").display()));
    text.explanation("Any web server can show it; it makes no request but for its own files.");
    Ok(Report::new(text, json!({ "page": folder.join("index.html") })))
}

/// The module, for servers that would not say that it is gzipped.
fn unpacked() -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let read = GzDecoder::new(MODULE).read_to_end(&mut bytes);
    read.map_err(|error| Problem::new("the page in this program is damaged").because(error))?;
    Ok(bytes)
}

fn serve(port: u16) -> Result<Report, Problem> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let listener = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = listener.map_err(|error| {
        Problem::new(format!("port {port} on 127.0.0.1 cannot be used"))
            .because(error)
            .help("--port 0 takes any port that is free")
    })?;
    let mut out = anstream::stdout();
    let told =
        writeln!(out, "The page is http://{address}/ until you press Ctrl-C.").and_then(|()| out.flush());
    told.map_err(|error| Problem::new("the address cannot be written").because(error))?;
    for connection in listener.incoming() {
        // A connection that breaks concerns nobody else.
        let Ok(stream) = connection else { continue };
        thread::spawn(move || answer(stream, address.port()));
    }
    Ok(Report::new(Text::default(), json!({})))
}

fn answer(mut stream: TcpStream, port: u16) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(stream.try_clone()?.take(LONGEST)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut host = String::new();
    for line in lines {
        let line = line?;
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("host") => host = value.trim().to_owned(),
            None if line.is_empty() => break,
            _ => {}
        }
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    // A site whose name was pointed at this machine is not this page.
    let is_ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")].contains(&host);
    let path = target.split(['?', '#']).next().unwrap_or("").trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let found = FILES.iter().find(|file| file.path == path);
    let (status, kind, bytes) = match (is_ours, method, found) {
        (false, ..) => {
            ("421 Misdirected Request", "text/plain", &b"This is not the page of that site.\n"[..])
        }
        (_, "GET" | "HEAD", Some(file)) => ("200 OK", file.kind, file.bytes),
        (_, "GET" | "HEAD", None) => ("404 Not Found", "text/plain", &b"There is no such file.\n"[..]),
        _ => ("405 Method Not Allowed", "text/plain", &b"Only GET is answered.\n"[..]),
    };
    let packed = if kind == "application/wasm" { "Content-Encoding: gzip\r\n" } else { "" };
    let length = bytes.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{packed}\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    )?;
    if method != "HEAD" {
        stream.write_all(bytes)?;
    }
    stream.flush()
}
