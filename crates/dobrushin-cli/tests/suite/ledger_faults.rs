//! Faults while a ledger is changed: the program is killed at every system call that changes something, and each of these
//! calls fails. Afterwards the ledger is the old one or the new one, whole, and never anything between them.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use crate::trace::{Call, Fault, Kind, run};
use dobrushin_ledger::{Ledger, Place};
use dobrushin_reference::is_deep;
use nix::errno::Errno;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Everything that changes a ledger.
const CHANGES: &[&str] = &[
    "ledger reserve people.ledger --epsilon 0.2 --delta 1e-9 --people people.csv --person name",
    "ledger commit people.ledger 2",
    "ledger abort people.ledger 2 --nothing-was-released",
    "ledger budget people.ledger --epsilon 3 --delta 1e-6",
    "ledger budget people.ledger --epsilon 1 --delta 1e-7 --people people.csv --person name",
];

fn program(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("dobrushin"));
    command.current_dir(folder).args(words.split(' '));
    command
}

fn succeeds(folder: &Path, words: &str) {
    let output = program(folder, words).output().expect("it runs");
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A folder with a ledger that has a committed and a reserved release.
fn workshop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let names: String = (0..40).map(|person| format!("person {person}\n")).collect();
    fs::write(folder.path().join("people.csv"), format!("name\n{names}")).expect("the folder is writable");
    succeeds(folder.path(), "ledger init people.ledger --epsilon 2 --delta 1e-6");
    for _ in 0..2 {
        succeeds(folder.path(), CHANGES[0]);
    }
    succeeds(folder.path(), "ledger commit people.ledger 1");
    folder
}

/// All files of a folder.
type Files = Vec<(PathBuf, Vec<u8>)>;

fn files(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("an entry").path());
    let mut files: Files = entries.map(|path| (path.clone(), fs::read(path).expect("a file"))).collect();
    files.sort();
    files
}

fn reset(folder: &Path, files: &Files) {
    for entry in fs::read_dir(folder).expect("it is there") {
        fs::remove_file(entry.expect("an entry").path()).expect("it is ours");
    }
    files.iter().for_each(|(path, bytes)| fs::write(path, bytes).expect("the folder is writable"));
}

/// All that a ledger says. It must be whole.
fn said(folder: &Path) -> String {
    let place = Place::File(folder.join("people.ledger"));
    let mut ledger = Ledger::open(&place).expect("it can be opened");
    let checked = ledger.check().expect("it can be read");
    assert!(checked.faults.is_empty(), "{:?}", checked.faults);
    let mut all = format!("{:?}\n", ledger.terms().expect("terms"));
    ledger.releases(&mut |release| all += &format!("{release:?}\n")).expect("they can be read");
    ledger
        .people(&mut |person| {
            all += &format!("{person:?}\n");
            Ok(())
        })
        .expect("they can be read");
    all
}

/// The faults that are tried at each call.
fn faults() -> Vec<Fault> {
    let mut faults = vec![Fault::KilledBefore, Fault::Fails(Errno::ENOSPC), Fault::Fails(Errno::EIO)];
    if is_deep() {
        faults.extend([Fault::KilledAfter, Fault::Fails(Errno::EINTR)]);
    }
    faults
}

#[test]
fn whichever_call_fails_or_is_the_last_no_spend_is_lost_or_counted_twice() {
    let folder = workshop();
    let (old, before) = (files(folder.path()), said(folder.path()));
    for words in CHANGES {
        reset(folder.path(), &old);
        let (output, calls) = run(&program(folder.path(), words), None);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        let after = said(folder.path());
        assert_ne!(before, after, "{words}");
        assert!(calls.len() > 8, "{words}: {calls:?}");
        let (mut lost, mut kept) = (0, 0);
        for (number, call) in calls.iter().enumerate() {
            for fault in faults() {
                reset(folder.path(), &old);
                let (output, _) = run(&program(folder.path(), words), Some((number, fault)));
                let what = format!("{words}: {fault:?} at call {number}, {call:?}");
                let found = said(folder.path());
                assert!(
                    found == before || found == after,
                    "{what}: it is neither the old one nor the new one"
                );
                judge(&output, found == after, &what);
                if found == after { kept += 1 } else { lost += 1 }
            }
        }
        // Both happen, or the faults did not.
        assert!(lost > 3 && kept > 0, "{words}: {lost} {kept}");
    }
}

/// What the program says must be true.
fn judge(output: &Output, is_new: bool, what: &str) {
    let message = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => assert!(is_new, "{what}: it says that it was done, and it was not"),
        Some(2) => assert!(
            !(is_new && message.contains("nothing was changed")),
            "{what}: it says that nothing was changed: {message}"
        ),
        Some(code) => panic!("{what}: it ends with {code}: {message}"),
        None => assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(9), "{what}"),
    }
}

#[test]
fn a_ledger_that_was_never_finished_is_none() {
    let words = "ledger init people.ledger --epsilon 2 --delta 1e-6";
    let folder = tempfile::tempdir().expect("a folder");
    let (output, calls) = run(&program(folder.path(), words), None);
    assert!(output.status.success());
    let step = if is_deep() { 1 } else { 5 };
    for number in (0..calls.len()).step_by(step) {
        for fault in faults() {
            reset(folder.path(), &Vec::new());
            let (output, _) = run(&program(folder.path(), words), Some((number, fault)));
            let what = format!("{fault:?} at call {number}, {:?}", calls[number]);
            match Ledger::open(&Place::File(folder.path().join("people.ledger"))) {
                Ok(_) => drop(said(folder.path())),
                Err(_) => assert!(!output.status.success(), "{what}: it says that there is a ledger"),
            }
        }
    }
}

#[test]
fn nothing_is_said_to_be_done_before_it_is_on_the_disk() {
    let folder = workshop();
    let old = files(folder.path());
    for words in CHANGES {
        reset(folder.path(), &old);
        let (output, calls) = run(&program(folder.path(), words), None);
        assert!(output.status.success(), "{words}");
        // It is said in the last write that goes to no file of the ledger.
        let is_of_ledger = |call: &Call| {
            call.path.as_ref().is_some_and(|path| path.to_string_lossy().contains("people.ledger"))
        };
        let said = calls
            .iter()
            .rposition(|call| call.kind == Kind::Write && !is_of_ledger(call))
            .expect("it is said");
        let mut waiting: Vec<&PathBuf> = Vec::new();
        let mut written = 0;
        for call in calls[..said].iter().filter(|call| is_of_ledger(call)) {
            let Some(path) = &call.path else { continue };
            match call.kind {
                // The index of the journal is made again after a power cut.
                Kind::Write if !path.to_string_lossy().ends_with("-shm") => {
                    written += 1;
                    waiting.push(path);
                }
                Kind::Sync => waiting.retain(|other| *other != path),
                _ => {}
            }
        }
        assert!(written > 0, "{words}: nothing was written");
        assert!(waiting.is_empty(), "{words}: {waiting:?} was not on the disk");
    }
}
