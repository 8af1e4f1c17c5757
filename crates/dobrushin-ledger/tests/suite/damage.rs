//! Files and tables that are not what was written: nobody is ever taken for somebody who has spent less.

use crate::claims::Random;
use crate::people::{is_whole, made, opened, promise, reserve, share};
use crate::server::Server;
use dobrushin_ledger::{Ledger, LedgerError, Place};
use dobrushin_reference::depth;
use std::fs;
use std::path::Path;

const NAMES: [&str; 5] = ["ada", "ben", "cy", "dora", "eve"];

/// A ledger with some history, closed.
fn history(place: &Place) {
    let mut ledger = made(place, 1.0, 1e-6);
    let first = reserve(&mut ledger, &promise(0.3, 1e-9), &NAMES).expect("it fits").id;
    ledger.commit(first, None).expect("it is reserved");
    reserve(&mut ledger, &promise(0.2, 0.0), &NAMES[..3]).expect("it fits");
    let last = reserve(&mut ledger, &promise(0.4, 0.0), &NAMES[3..]).expect("it fits").id;
    ledger.abort(last, None).expect("it is reserved");
    is_whole(&mut ledger);
}

/// The shares of everybody, or why they are not known.
fn shares(place: &Place) -> Result<Vec<f64>, LedgerError> {
    let mut ledger = Ledger::open(place)?;
    NAMES.iter().map(|name| Ok(ledger.person(name)?.spent.share)).collect()
}

/// A file with history, without a journal beside it.
fn file(folder: &Path) -> (Place, Vec<u8>, Vec<f64>) {
    let path = folder.join("people.ledger");
    let place = Place::File(path.clone());
    history(&place);
    let connection = rusqlite::Connection::open(&path).expect("it is a file of SQLite");
    connection.pragma_update(None, "journal_mode", "delete").expect("nobody else uses it");
    drop(connection);
    let spent = shares(&place).expect("it is whole");
    (place, fs::read(path).expect("it is there"), spent)
}

#[test]
fn a_damaged_byte_is_found_or_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, bytes, spent) = file(folder.path());
    let path = folder.path().join("people.ledger");
    let mut random = Random(11);
    let (mut refused, mut same) = (0, 0);
    for _ in 0..depth(400, 20_000) {
        let mut other = bytes.clone();
        // Most of a small file is unused.
        let used: Vec<usize> = (0..other.len()).filter(|&at| at < 100 || bytes[at] != 0).collect();
        let at = used[random.below(used.len() as u64) as usize];
        other[at] ^= 1 << random.below(8);
        fs::write(&path, &other).expect("it is ours");
        match shares(&place) {
            Ok(found) => {
                assert_eq!(found, spent, "byte {at}");
                same += 1;
            }
            Err(error) => {
                let expected = matches!(
                    error,
                    LedgerError::Damaged(_) | LedgerError::Store { .. } | LedgerError::NoSuchPerson(_)
                );
                assert!(expected, "byte {at}: {error:?}");
                refused += 1;
            }
        }
        remove_journals(&path);
    }
    assert!(refused > 20 && same > 20, "{refused} {same}");
}

#[test]
fn a_file_that_is_cut_or_overwritten_in_pages_is_found_or_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (place, bytes, spent) = file(folder.path());
    let path = folder.path().join("people.ledger");
    let page = 4096;
    let mut tried = Vec::new();
    for at in (0..bytes.len()).step_by(page) {
        tried.push(bytes[..at].to_vec());
        tried.push(bytes[..at + 1].to_vec());
        let mut zeros = bytes.clone();
        zeros[at..at + page].fill(0);
        tried.push(zeros);
        let mut swapped = bytes.clone();
        swapped.copy_within(at..at + page, bytes.len() - page);
        tried.push(swapped);
    }
    let mut refused = 0;
    for other in tried {
        fs::write(&path, &other).expect("it is ours");
        match shares(&place) {
            Ok(found) => assert_eq!(found, spent),
            Err(_) => refused += 1,
        }
        remove_journals(&path);
    }
    assert!(refused > 10, "{refused}");
}

/// Statements that change rows behind the ledger's back. The names of tables are to be put in place of `@`.
const TAMPERINGS: [&str; 10] = [
    "DELETE FROM @bucket WHERE b = (SELECT max(b) FROM @bucket)",
    "UPDATE @bucket SET data = (SELECT data FROM @bucket WHERE b = 1) WHERE b = 0",
    "DELETE FROM @entry WHERE b = 1",
    "UPDATE @entry SET b = 7 WHERE b = 2",
    "DELETE FROM @cost WHERE a = 1",
    "UPDATE @cost SET data = (SELECT data FROM @cost WHERE a = 2) WHERE a = 1",
    "DELETE FROM @release WHERE b = 1",
    "UPDATE @release SET data = (SELECT data FROM @release WHERE b = 3) WHERE b = 2",
    "DELETE FROM @meta",
    "INSERT INTO @entry (a, b, data) SELECT a, 9, data FROM @entry WHERE b = 1",
];

/// What the ledger must say after each.
fn tampered(place: &Place, spent: &[f64], words: &str) {
    match Ledger::open(place) {
        Err(_) => {}
        Ok(mut ledger) => {
            for (name, spent) in NAMES.iter().zip(spent) {
                match ledger.person(name) {
                    Ok(standing) => assert_eq!(standing.spent.share, *spent, "{words}: {name}"),
                    Err(LedgerError::NoSuchPerson(_)) => panic!("{words}: {name} is forgotten"),
                    Err(_) => {}
                }
            }
            let found = ledger.check();
            assert!(
                found.is_err() || found.is_ok_and(|found| !found.faults.is_empty()),
                "{words}: not found"
            );
        }
    }
}

#[test]
fn rows_that_are_changed_behind_its_back_are_found_in_a_file() {
    for words in TAMPERINGS {
        let folder = tempfile::tempdir().expect("a folder");
        let (place, _, spent) = file(folder.path());
        let connection =
            rusqlite::Connection::open(folder.path().join("people.ledger")).expect("a file of SQLite");
        let changed = connection.execute(&words.replace('@', ""), []).expect("it can be changed");
        assert!(changed > 0, "{words}: nothing was changed");
        drop(connection);
        tampered(&place, &spent, words);
    }
}

#[test]
fn rows_that_are_changed_behind_its_back_are_found_in_a_database() {
    let Some(server) = Server::start() else { return };
    for words in TAMPERINGS {
        let url = server.database();
        let place: Place = url.parse().expect("every text is a place");
        history(&place);
        let spent = shares(&place).expect("it is whole");
        let mut client = postgres::Client::connect(&url, postgres::NoTls).expect("the server runs");
        let changed =
            client.execute(&words.replace('@', "dobrushin_ledger."), &[]).expect("it can be changed");
        assert!(changed > 0, "{words}: nothing was changed");
        tampered(&place, &spent, words);
    }
}

#[test]
fn what_is_no_ledger_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("notes.txt");
    fs::write(&text, "not a ledger").expect("it is ours");
    let other = folder.path().join("other.sqlite");
    rusqlite::Connection::open(&other)
        .and_then(|c| c.execute_batch("CREATE TABLE t (a)"))
        .expect("a file of SQLite");
    let empty = folder.path().join("empty");
    fs::write(&empty, "").expect("it is ours");
    for path in [text, other, empty] {
        let before = fs::read(&path).expect("it is there");
        let refused = Ledger::open(&Place::File(path.clone())).err().expect("it is no ledger");
        assert!(refused.to_string().ends_with("is not a ledger"), "{}: {refused}", path.display());
        assert_eq!(fs::read(&path).expect("it is there"), before);
    }
    assert!(Ledger::open(&Place::File(folder.path().join("missing"))).is_err());
    assert!(Ledger::open(&Place::File(folder.path().to_owned())).is_err());
    #[cfg(unix)]
    {
        let place = Place::File(folder.path().join("people.ledger"));
        history(&place);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("people.ledger", &link).expect("a link");
        assert!(Ledger::open(&Place::File(link)).is_err());
        use std::os::unix::fs::MetadataExt;
        let mode = fs::metadata(folder.path().join("people.ledger")).expect("it is there").mode();
        assert_eq!(mode & 0o077, 0, "only its owner may read it");
        assert!(share(&mut opened(&place), "ada") > 0.4);
    }
}

#[test]
fn urls_that_are_wrong_are_refused_and_no_password_is_shown() {
    let urls = [
        "postgresql://ada:secret@127.0.0.1:1/nothing",
        "postgresql://ada:secret@[::1",
        "postgresql://ada:secret@host/db?nonsense=secret",
        "postgres://ada:secret@127.0.0.1:99999/db",
    ];
    for url in urls {
        let error =
            Ledger::open(&url.parse().expect("every text is a place")).err().expect("nobody listens there");
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        let said = format!("{error} {cause} {}", error.help().unwrap_or_default());
        assert!(!said.contains("secret"), "{url}: {said}");
    }
}

fn remove_journals(path: &Path) {
    for end in ["-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        let _ = fs::remove_file(name);
    }
}
