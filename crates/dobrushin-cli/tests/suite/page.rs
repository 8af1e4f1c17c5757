//! `dobrushin page`: what it serves, what it refuses, and what it writes.

use crate::support::{dobrushin, own_folder};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const FILES: [&str; 5] =
    ["index.html", "assets/index.js", "assets/index.css", "assets/worker.js", "dobrushin.wasm"];

/// The program, which serves the page until this is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("dobrushin"));
        let mut child =
            command.args(["page", "--port", "0"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is a pipe");
        BufReader::new(out).read_line(&mut line).expect("it says where it is");
        let address = line.strip_prefix("The page is http://127.0.0.1:").expect(&line);
        let port = address.split('/').next().and_then(|port| port.parse().ok()).expect(&line);
        Self { child, port }
    }

    /// The head and the body of the answer to a request, as it stands.
    fn ask(&self, request: &[u8]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.write_all(request).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        let body = answer.split_off(end);
        (String::from_utf8(answer).expect("a head is text"), body)
    }

    fn get(&self, method: &str, target: &str, host: &str) -> (String, Vec<u8>) {
        self.ask(format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n").as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it ends");
    }
}

#[test]
fn five_files_are_served_and_nothing_else_to_nobody_else() {
    let server = Server::start();
    let ours = format!("127.0.0.1:{}", server.port);
    for file in FILES.map(|file| format!("/{file}")).iter().map(String::as_str).chain(["/", "/?run=1#x"]) {
        let (head, body) = server.get("GET", file, &ours);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{file}: {head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())) && !body.is_empty(), "{file}");
        assert!(head.contains("Content-Security-Policy: default-src 'none'; script-src 'self' "), "{file}");
        assert_eq!(head.contains("Content-Encoding: gzip"), file.ends_with(".wasm"), "{file}");
        let (alone, nothing) = server.get("HEAD", file, &ours);
        assert_eq!((alone, nothing.len()), (head, 0), "{file}");
    }
    let localhost = format!("localhost:{}", server.port);
    assert!(server.get("GET", "/", &localhost).0.starts_with("HTTP/1.1 200 "));
    let other = format!("127.0.0.1:{}", server.port.wrapping_add(1));
    let cases = [
        ("GET", "/../../Cargo.toml", ours.as_str(), "404"),
        ("GET", "/Cargo.toml", &ours, "404"),
        ("GET", "/assets/", &ours, "404"),
        ("POST", "/", &ours, "405"),
        ("GET", "/", "example.org", "421"),
        ("GET", "/", &other, "421"),
        ("GET", "/", "", "421"),
    ];
    for (method, target, host, status) in cases {
        let (head, _) = server.get(method, target, host);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {target} {host}: {head}");
    }
    // What is no request ends its own connection only.
    assert!(server.ask(b"\r\n\r\n").0.starts_with("HTTP/1.1 421 "));
    drop(TcpStream::connect(("127.0.0.1", server.port)));
    let mut broken = TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
    broken.write_all(b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n").expect("it reads");
    assert!(server.get("GET", "/", &ours).0.starts_with("HTTP/1.1 200 "));

    let taken = server.port.to_string();
    let refused = dobrushin(&["page", "--port", &taken]).assert().failure().get_output().stderr.clone();
    let refused = String::from_utf8(refused).expect("UTF-8");
    assert!(refused.contains(&format!("port {taken} on 127.0.0.1 cannot be used")), "{refused}");
    assert!(refused.contains("--port 0 takes any port that is free"), "{refused}");
}

#[test]
fn the_page_is_written_to_a_new_folder_only() {
    let folder = own_folder().join("written");
    let _ = std::fs::remove_dir_all(&folder);
    let place = folder.to_str().expect("UTF-8");
    dobrushin(&["page", "--out", place]).assert().success();
    let server = Server::start();
    let ours = format!("127.0.0.1:{}", server.port);
    for file in FILES {
        let written = std::fs::read(folder.join(file)).expect("it was written");
        match file.ends_with(".wasm") {
            true => assert!(written.starts_with(b"\0asm\x01\0\0\0"), "it is unpacked"),
            false => assert_eq!(written, server.get("GET", &format!("/{file}"), &ours).1, "{file}"),
        }
    }
    std::fs::write(folder.join("index.html"), "mine").expect("it can be written");
    let refused = dobrushin(&["page", "--out", place]).assert().failure().get_output().stderr.clone();
    assert!(String::from_utf8_lossy(&refused).contains("already exists"));
    assert_eq!(std::fs::read(folder.join("index.html")).expect("it is there"), b"mine");
}
