//! `train --ledger` and `local privatize --ledger`: whoever is in a release is charged before it is made, and pays nothing
//! if nothing was released.

use crate::file_support::{Running, is_ignored, wait_until};
use crate::ledger_support::{Desk, ROWS, TRAIN, number, table};
use crate::train_support::read_json;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;

#[test]
fn training_charges_everybody_what_its_certificate_says() {
    let desk = Desk::new();
    let trained = desk.does(TRAIN);
    assert_eq!(trained["charged"]["release"], 1);
    assert_eq!((&trained["charged"]["people"], &trained["charged"]["left_out"]), (&ROWS.into(), &0.into()));
    assert_eq!(desk.statuses(), ["committed"]);
    let certificate = read_json(&desk.folder.join("model/certificate.json"));
    let epsilon = number(&certificate["guarantee"]["epsilon"]["upper"]);
    let costs: Vec<f64> = (1..=ROWS).map(|i| desk.costs(&format!("p{i}"))[0]).collect();
    let dearest = costs.iter().copied().fold(0.0, f64::max);
    assert!(dearest >= epsilon * (1.0 - 1e-4) && dearest <= 1.01 * epsilon, "{dearest} {epsilon}");
    // Records of the same batch cost the same, and the first batch costs less than the last.
    assert!(costs[0] == costs[9] && costs[0] < costs[ROWS - 1]);
    let said = desk.says(&TRAIN.replace("--out model", "--out next"));
    assert!(said.contains("It is release 2 in the ledger l, which charges 50 people."), "{said}");
    // The certificate by itself costs the same.
    desk.does("ledger reserve l --certificate model/certificate.json --people data.csv --person who");
    let [trained, _, reserved] = desk.costs("p50")[..] else { panic!("three releases") };
    assert_eq!(trained, reserved);
    assert!(desk.says("ledger check l").contains("is whole"));
}

#[test]
fn nothing_is_trained_on_somebody_whose_budget_would_be_exceeded() {
    let desk = Desk::new();
    desk.people("few.csv", &["p3", "p50", "p50"]);
    desk.does("ledger reserve l --epsilon 1.6 --people few.csv --person who --leave-out heavy.csv");
    assert_eq!(desk.read("heavy.csv"), "person\np50\n");
    desk.people("p50.csv", &["p50"]);
    desk.does("ledger budget l --epsilon 0 --delta 0 --people p50.csv --person who");
    let said = desk.refuses(TRAIN, 1);
    assert!(said.contains("\"p3\"") && said.contains("\"p50\"") && !said.contains("\"p4\""), "{said}");
    assert!(!desk.folder.join("model/model.json").exists());
    // Without them, it is trained on 48 records.
    let trained = desk.does(&format!("{TRAIN} --leave-out"));
    assert_eq!((&trained["charged"]["people"], &trained["charged"]["left_out"]), (&48.into(), &2.into()));
    assert_eq!(trained["run"]["run"]["records"], 48);
    assert_eq!(desk.costs("p3").len(), 1);
    // It costs the others what it costs them in a table that never had those rows.
    desk.write("others.csv", table((1..=ROWS).filter(|i| ![3, 50].contains(i))));
    desk.does("ledger reserve l --certificate model/certificate.json --people others.csv --person who");
    for person in ["p1", "p2", "p4", "p11", "p49"] {
        let [left_out, never_there] = desk.costs(person)[..] else { panic!("two releases") };
        assert_eq!(left_out, never_there, "{person}");
    }
}

/// With the same records in the same order, the places are the same.
#[test]
fn however_a_table_is_read_the_same_people_pay_the_same() {
    let desk = Desk::new();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(desk.read("data.csv").as_bytes()).expect("memory");
    desk.write("packed.csv.gz", encoder.finish().expect("memory"));
    // Cells that cannot be used make an empty record, which keeps its place.
    desk.write("bad.csv", desk.read("data.csv").replacen("p7,", "p7,x", 1).replace("yes", "maybe"));
    desk.write("semicolons.csv", desk.read("data.csv").replace(',', ";"));
    for (number, words) in [
        TRAIN,
        &format!("{TRAIN} --stream"),
        &TRAIN.replace("data.csv", "packed.csv.gz"),
        &TRAIN.replace("data.csv", "bad.csv"),
        &format!("{} --delimiter ;", TRAIN.replace("data.csv", "semicolons.csv")),
    ]
    .into_iter()
    .enumerate()
    {
        desk.does(&words.replace("--out model", &format!("--out model{number}")));
    }
    for person in ["p1", "p7", "p11", "p41", "p50"] {
        let costs = desk.costs(person);
        assert!(costs.len() == 5 && costs.iter().all(|cost| *cost == costs[0]), "{person}: {costs:?}");
    }
}

#[test]
fn what_would_be_told_beyond_the_account_is_refused() {
    let desk = Desk::new();
    for (more, said) in [
        ("--seed 1 --not-private", "--seed"),
        ("--data-is-public", "--data-is-public"),
        ("--test-share 0.2", "--test-share"),
        ("--leave-out --stream", "cannot be used with"),
        ("--leave-out --keep-state state", "cannot be used with"),
        ("--ledger none", "cannot be used multiple times"),
        ("--output l", "are the same file"),
    ] {
        let found = desk.refuses(&format!("{TRAIN} {more}"), 2);
        assert!(found.contains(said), "{more}: {found}");
    }
    for (words, said) in [
        (TRAIN.replace(" --person who", ""), "--person"),
        (TRAIN.replace(" --ledger l", ""), "--ledger"),
        (TRAIN.replace("--person who", "--person nobody"), "there is no column \"nobody\""),
        (TRAIN.replace("train data.csv", "train -"), "read twice"),
        (TRAIN.replace("--ledger l", "--ledger none"), "dobrushin ledger init"),
        (TRAIN.replace("--ledger l", "--ledger data.csv"), "an input is never replaced"),
    ] {
        let found = desk.refuses(&words, 2);
        assert!(found.contains(said), "{words}: {found}");
    }
    desk.write("torn.csv", desk.read("data.csv").replacen("p7,", "", 1));
    let found = desk.refuses(&TRAIN.replace("data.csv", "torn.csv"), 2);
    assert!(found.contains("line 8 of torn.csv: it has 2 cells, but the header has 3"), "{found}");
    assert!(desk.statuses().is_empty());
}

#[test]
fn training_that_fails_costs_nothing() {
    let desk = Desk::new();
    let output = desk.run(&format!("{TRAIN} --report no/such/report.html"));
    assert_eq!(output.status.code(), Some(2));
    assert!(!desk.folder.join("model/model.json").exists());
    let shown = desk.does("ledger show l");
    assert_eq!(shown["releases"][0]["status"], "aborted");
    assert_eq!(shown["releases"][0]["notes"][0], "it failed before anything was released");
    assert_eq!(desk.share("p1"), 0.0);
}

/// Training that takes seconds after it is reserved.
fn long(desk: &Desk) -> std::process::Command {
    let run = desk.read("run.toml").replace("steps = 60\nbatch-size = 10", "steps = 5000");
    desk.write("long.toml", run.replace("cyclic", "full").replace("30.0", "3000.0"));
    desk.write("long.csv", table(1..=20_000));
    desk.command(&TRAIN.replace("run.toml", "long.toml").replace("data.csv", "long.csv"))
}

#[cfg(unix)]
#[test]
fn training_that_is_killed_stays_reserved_and_can_be_aborted() {
    let desk = Desk::new();
    let mut running = Running::start(&mut long(&desk));
    wait_until("it is reserved", || desk.statuses() == ["reserved"]);
    running.0.kill().expect("it has not been waited for");
    assert!(!running.ended().success());
    assert_eq!(desk.statuses(), ["reserved"]);
    assert!(desk.share("p50") > 0.0 && !desk.folder.join("model/model.json").exists());
    assert!(desk.says("ledger check l").contains("is whole"));
    desk.does("ledger abort l 1 --nothing-was-released");
    assert_eq!(desk.share("p50"), 0.0);
}

#[cfg(unix)]
#[test]
fn training_that_is_interrupted_before_anything_is_written_costs_nothing() {
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        if is_ignored(number) {
            continue;
        }
        let desk = Desk::new();
        let said = fs::File::create(desk.folder.join("said")).expect("the folder is ours");
        let mut running = Running(long(&desk).stderr(said).spawn().expect("it starts"));
        wait_until("it is reserved", || desk.statuses() == ["reserved"]);
        // The reservation is known to the program a moment after it is on the disk.
        std::thread::sleep(std::time::Duration::from_millis(200));
        running.signal(name);
        assert_eq!(running.ended().code(), Some(128 + number as i32));
        assert_eq!(desk.statuses(), ["aborted"], "{}", desk.read("said"));
        assert!(desk.read("said").contains("release 1 was aborted in l: nobody pays for it"));
        assert_eq!(desk.share("p50"), 0.0);
    }
}

const PRIVATIZE: &str = "local privatize data.csv --column y --mechanism k-rr --values no,yes --epsilon 0.5 --output r.csv --ledger l --person who";

#[test]
fn private_answers_are_charged_to_whoever_gives_them() {
    let desk = Desk::new();
    let made = desk.does(PRIVATIZE);
    assert_eq!((&made["charged"]["release"], &made["charged"]["people"]), (&1.into(), &ROWS.into()));
    assert_eq!(desk.statuses(), ["committed"]);
    let cost = desk.costs("p1")[0];
    assert!(cost <= 0.5 * (1.0 + 1e-9) && cost > 0.49, "{cost}");
    assert_eq!(desk.costs("p50"), [cost]);
    // Who answers twice pays twice.
    desk.write("data.csv", table([1, 2, 1]));
    desk.does(PRIVATIZE);
    assert!(desk.costs("p1")[1] > 1.9 * desk.costs("p2")[1]);
    let less = PRIVATIZE.replace("--epsilon 0.5", "--epsilon 0.1");
    assert!(desk.says(&less).contains("It is release 3 in the ledger l, which charges 2 people."));
    let before = desk.read("r.csv");
    let said = desk.refuses(PRIVATIZE, 1);
    assert!(said.contains("\"p1\" would spend more"), "{said}");
    assert_eq!(desk.read("r.csv"), before);
    assert!(desk.says("ledger check l").contains("is whole"));
}

#[test]
fn private_answers_that_fail_cost_nothing_and_go_to_no_stream() {
    let desk = Desk::new();
    let said = desk.refuses(&PRIVATIZE.replace(" --output r.csv", ""), 2);
    assert!(said.contains("--output reports.csv"), "{said}");
    for more in ["--seed 1 --not-private", "--output l"] {
        desk.refuses(&format!("{PRIVATIZE} {more}"), 2);
    }
    desk.does("ledger init l-added --epsilon 2 --delta 1e-5 --neighbours add-or-remove-one");
    let said = desk.refuses(&PRIVATIZE.replace("--ledger l ", "--ledger l-added "), 2);
    assert!(said.contains("replace-one"), "{said}");
    assert!(desk.statuses().is_empty());
    desk.write("data.csv", desk.read("data.csv").replacen(",yes", ",maybe", 1));
    assert_eq!(desk.run(PRIVATIZE).status.code(), Some(2));
    assert_eq!(desk.statuses(), ["aborted"]);
    assert!(desk.share("p1") == 0.0 && !desk.folder.join("r.csv").exists());
    desk.does(&format!("{PRIVATIZE} --skip-bad"));
    assert_eq!(desk.statuses(), ["aborted", "committed"]);
}

#[test]
fn many_at_once_never_spend_more_than_there_is() {
    let desk = Desk::new();
    desk.people("two.csv", &["ada", "ben"]);
    let words = "ledger reserve l --epsilon 0.3 --people two.csv --person who --quiet";
    let alone = {
        let other = Desk::new();
        other.people("two.csv", &["ada", "ben"]);
        (0..20).take_while(|_| other.run(words).status.success()).count()
    };
    let mut running: Vec<Running> = (0..12).map(|_| Running::start(&mut desk.command(words))).collect();
    let codes: Vec<_> = running.iter_mut().map(|one| one.ended().code()).collect();
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 1))), "{codes:?}");
    let made = codes.iter().filter(|code| **code == Some(0)).count();
    assert_eq!((made, desk.statuses().len()), (alone, alone));
    assert!(alone > 1 && alone < 12 && desk.share("ada") <= 1.0);
    assert!(desk.says("ledger check l").contains("is whole"));
}
