//! `dobrushin ledger`: what each person has spent, what is left, and who is refused.

use crate::ledger_support::{Desk, number};
use crate::support::bounds;
use serde_json::Value;
use std::fs;

#[test]
fn what_is_reserved_counts_until_it_is_aborted_and_for_good_once_it_is_committed() {
    let desk = Desk::new();
    desk.people("two.csv", &["ada", "ben"]);
    let reserve = "ledger reserve l --epsilon 0.4 --people two.csv --person who --what survey";
    let first = desk.does(reserve);
    assert_eq!((&first["release"], &first["people"], &first["records"]), (&1.into(), &2.into(), &2.into()));
    let spent = desk.share("ada");
    assert!(spent > 0.0 && spent < 1.0);
    let committed = desk.does("ledger commit l 1 --note done");
    assert_eq!((&committed["status"], &committed["what"]), (&"committed".into(), &"survey".into()));
    assert_eq!(committed["notes"], Value::from(vec!["done"]));
    assert_eq!(desk.share("ada"), spent);
    desk.does(reserve);
    assert!(desk.share("ada") > spent);
    desk.does("ledger abort l 2 --nothing-was-released");
    assert_eq!((desk.share("ada"), desk.share("ben")), (spent, spent));
    assert_eq!(desk.statuses(), ["committed", "aborted"]);
    for (words, said) in [
        ("ledger commit l 1", "release 1 is committed"),
        ("ledger commit l 2", "release 2 is aborted"),
        ("ledger abort l 1 --nothing-was-released", "release 1 is committed, so it cannot be aborted"),
        ("ledger abort l 2", "--nothing-was-released"),
        ("ledger commit l 3", "no release 3"),
        ("ledger note l 3 x", "no release 3"),
        ("ledger commit l 0", "0"),
        ("ledger commit l -1", "-1"),
        ("ledger commit l 99999999999999999999999", "9999"),
        ("ledger commit l one", "one"),
    ] {
        let found = desk.refuses(words, 2);
        assert!(found.contains(said), "{words}: {found}");
    }
    assert!(desk.says("ledger check l").contains("is whole: 2 people and 2 releases"));
}

#[test]
fn a_release_that_is_too_much_for_somebody_is_refused_and_changes_nothing() {
    let desk = Desk::new();
    desk.people("ada.csv", &["ada"]);
    desk.people("both.csv", &["ada", "ben"]);
    desk.does("ledger reserve l --epsilon 1.5 --people ada.csv --person who");
    let said = desk.refuses("ledger reserve l --epsilon 0.6 --people both.csv --person who", 1);
    assert!(said.contains("\"ada\" would spend more than their budget") && !said.contains("ben"), "{said}");
    assert!(desk.refuses("ledger show l --person ben", 2).contains("nobody in the ledger is called \"ben\""));
    let json = desk.refuses("ledger reserve l --epsilon 0.6 --people both.csv --person who --json", 1);
    let error: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(error["exit_code"], 1);
    // The release fits if it is a little smaller.
    desk.does("ledger reserve l --epsilon 0.5 --people both.csv --person who");
    assert_eq!(desk.statuses(), ["reserved", "reserved"]);
}

#[test]
fn whoever_is_left_out_is_listed_and_pays_nothing() {
    let desk = Desk::new();
    let names = ["=1+1", "\"b, c\"", "ada"];
    desk.people("three.csv", &names);
    desk.does("ledger reserve l --epsilon 1.5 --people three.csv --person who");
    let before = desk.share("ada");
    desk.people("more.csv", &["dan", names[0], names[1], "ada", "eve", "ada"]);
    let reserve = "ledger reserve l --epsilon 0.6 --people more.csv --person who --leave-out";
    let made = desk.does(&format!("{reserve} out.csv"));
    assert_eq!((&made["people"], &made["records"], &made["left_out"]), (&2.into(), &2.into(), &3.into()));
    assert_eq!(made["left_out_file"], "out.csv");
    // A spreadsheet takes no name for a formula.
    assert_eq!(desk.read("out.csv"), "person\n'=1+1\nada\n\"b, c\"\n");
    assert_eq!(desk.share("ada"), before);
    // The table of those who are left out can be read again.
    desk.does("ledger budget l --epsilon 5 --delta 1e-5 --people out.csv --person person");
    assert_eq!(desk.does("ledger show l --person ada")["own_budget"], true);
    // If nobody is left, or the list cannot be written, nothing is charged.
    desk.refuses("ledger reserve l --epsilon 9 --people more.csv --person who --leave-out none.csv", 1);
    let before = (desk.share("dan"), desk.statuses().len());
    let failed = desk.run(&format!("{reserve} no/such/folder.csv"));
    assert_eq!(failed.status.code(), Some(2));
    assert_eq!(desk.share("dan"), before.0);
    assert_eq!(desk.statuses()[before.1..], ["aborted"]);
}

#[test]
fn people_with_budgets_of_their_own_are_held_to_these() {
    let desk = Desk::new();
    desk.people("ada.csv", &["ada"]);
    desk.people("both.csv", &["ada", "ben"]);
    let given = desk.does("ledger budget l --epsilon 0.3 --delta 1e-6 --people ada.csv --person who");
    assert_eq!((&given["people"], &given["budget"]["epsilon"]), (&1.into(), &0.3.into()));
    let said = desk.refuses("ledger reserve l --epsilon 0.5 --people both.csv --person who", 1);
    assert!(said.contains("\"ada\"") && !said.contains("ben"), "{said}");
    desk.does("ledger reserve l --epsilon 0.2 --people both.csv --person who");
    assert!(desk.share("ada") > 3.0 * desk.share("ben"));
    let shown = desk.does("ledger show l --person ada");
    assert_eq!((&shown["own_budget"], &shown["budget"]["epsilon"]), (&true.into(), &0.3.into()));
    // Everybody's budget is not hers.
    desk.does("ledger budget l --epsilon 4 --delta 1e-5");
    assert_eq!(desk.does("ledger show l --person ada")["budget"]["epsilon"], 0.3);
    assert_eq!(desk.does("ledger show l --person ben")["budget"]["epsilon"], 4.0);
    // A budget that was lowered below what is spent is shown as such.
    desk.does("ledger budget l --epsilon 0.1 --delta 1e-6 --people ada.csv --person who");
    assert!(desk.share("ada") > 1.0);
    assert!(desk.says("ledger show l").contains("1 person has spent more than their budget"));
    // Nothing at all may be spent of a budget of 0.
    desk.people("nobody.csv", &["zoe"]);
    desk.does("ledger budget l --epsilon 0 --delta 0 --people nobody.csv --person who");
    desk.refuses("ledger reserve l --epsilon 1e-9 --people nobody.csv --person who", 1);
}

#[test]
fn a_record_costs_what_its_place_costs() {
    let desk = Desk::new();
    let names: Vec<String> = (1..=60).map(|place| format!("p{place}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    desk.people("all.csv", &names);
    let made = desk.does("ledger reserve l --run once.toml --people all.csv --person who");
    let alone = desk.does("account once.toml --set records=60 --per-record");
    let records = alone["records"].as_array().expect("a list");
    let mut last = 0.0;
    for place in [1_u64, 10, 11, 25, 43, 50, 51, 60] {
        let at = |row: &&Value| row["from"].as_u64() <= Some(place) && Some(place) <= row["to"].as_u64();
        let (_, account) = bounds(&records.iter().find(at).expect("every place")["epsilon"]);
        let [cost] = desk.costs(&format!("p{place}"))[..] else { panic!("one release") };
        assert!(cost >= account * (1.0 - 1e-4) && cost <= 1.3 * account, "{place}: {cost}, {account}");
        assert!(cost >= last, "{place}: the first record is hidden best");
        last = cost;
    }
    assert!(last > 2.0 * desk.costs("p1")[0]);
    let costs = made["costs"].as_array().expect("a list");
    assert!(costs.len() > 3 && costs[0]["from"] == 1 && costs.last().expect("costs")["to"] == 60);
}

#[test]
fn those_who_are_left_out_leave_no_gap_in_the_order() {
    let desk = Desk::new();
    let names: Vec<String> = (1..=60).map(|place| format!("p{place}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    desk.people("all.csv", &names);
    desk.people("remaining.csv", &[&names[..30], &names[40..]].concat());
    desk.people("ten.csv", &names[30..40]);
    desk.does("ledger budget l --epsilon 0 --delta 0 --people ten.csv --person who");
    desk.does(
        "ledger reserve l --run once.toml --set steps=5 --people all.csv --person who --leave-out out.csv",
    );
    assert_eq!(desk.read("out.csv").lines().skip(1).collect::<Vec<_>>(), names[30..40].to_vec());
    desk.does("ledger reserve l --run once.toml --set steps=5 --people remaining.csv --person who");
    for person in ["p1", "p29", "p30", "p41", "p60"] {
        let [left_out, never_there] = desk.costs(person)[..] else { panic!("two releases") };
        assert_eq!(left_out, never_there, "{person}");
    }
}

#[test]
fn several_records_of_a_person_cost_as_a_group() {
    let desk = Desk::new();
    desk.people("rows.csv", &["ada", "ben", " ada ", "cy"]);
    let made = desk.does("ledger reserve l --epsilon 0.25 --people rows.csv --person who");
    assert_eq!((&made["people"], &made["records"]), (&3.into(), &4.into()));
    let (ada, ben) = (desk.costs("ada")[0], desk.costs("ben")[0]);
    assert!((ada - 2.0 * ben).abs() < 1e-3, "{ada} {ben}");
    assert_eq!(desk.costs("cy")[0], ben);
    assert!(
        desk.says("ledger reserve l --epsilon 0.1 --people rows.csv --person who")
            .contains("3 people who have 4 records")
    );
}

#[test]
fn a_certificate_costs_what_its_run_costs_and_is_recomputed_first() {
    let desk = Desk::new();
    let names: Vec<String> = (1..=60).map(|place| format!("p{place}")).collect();
    desk.people("all.csv", &names.iter().map(String::as_str).collect::<Vec<_>>());
    desk.says("account once.toml --set records=60 --certificate c.json --quiet");
    desk.does("ledger reserve l --certificate c.json --people all.csv --person who");
    desk.does("ledger reserve l --run once.toml --set records=60 --people all.csv --person who");
    for person in ["p1", "p33", "p60"] {
        let [certificate, run] = desk.costs(person)[..] else { panic!("two releases") };
        assert_eq!(certificate, run, "{person}");
    }
    // One that claims less than it may is not counted.
    let mut forged: Value = serde_json::from_str(&desk.read("c.json")).expect("JSON");
    let claimed = forged["guarantee"]["epsilon"]["upper"].as_f64().expect("a number");
    for end in ["lower", "upper"] {
        forged["guarantee"]["epsilon"][end] = (claimed / 2.0).into();
    }
    desk.write("forged.json", forged.to_string());
    let said = desk.refuses("ledger reserve l --certificate forged.json --people all.csv --person who", 1);
    assert!(said.contains("does not hold"), "{said}");
    desk.people("few.csv", &["p1", "p2"]);
    let said = desk.refuses("ledger reserve l --certificate c.json --people few.csv --person who", 2);
    assert!(said.contains("run.records is 60, but there are 2 records"), "{said}");
}

#[test]
fn a_certificate_that_is_not_about_all_that_was_released_is_not_counted() {
    let desk = Desk::new();
    for (flags, why) in [
        ("--seed 5 --not-private", "a known seed"),
        ("--test-share 0.2", "kept for a test"),
        ("--data-is-public", "said to be public"),
    ] {
        desk.says(&format!("train data.csv --run run.toml --out model --quiet --force {flags}"));
        let reserve = "ledger reserve l --certificate model/certificate.json --people data.csv --person who";
        let said = desk.refuses(reserve, 1);
        assert!(said.contains(why), "{flags}: {said}");
    }
    // Without them, it is.
    desk.says("train data.csv --run run.toml --out model --quiet --force");
    desk.does("ledger reserve l --certificate model/certificate.json --people data.csv --person who");
}

#[test]
fn everybody_pays_also_if_the_run_was_asked_about_one_record_or_deleted_ones() {
    let desk = Desk::new();
    let falling = "[run]\nalgorithm = \"online\"\n[update]\nlearning-rate = { inverse-sqrt = 0.3 }\nlipschitz = 1.0\n\
                   gradient-noise = 8.0\n[loss]\nconvex = true\nsmoothness = 1.0\n[target]\ndelta = 1e-5\n";
    desk.write("falling.toml", falling);
    let reserve = "ledger reserve l --run falling.toml --people data.csv --person who --dry-run";
    let costs = |flags: &str| desk.does(&format!("{reserve}{flags}"))["costs"].clone();
    assert_eq!(costs(" --set record=1"), costs(""));
    assert!(number(&costs("")[0]["epsilon"]) > 0.1);
    desk.write("forgot.toml", format!("{RANDOM}[forget]\nrecords = 1\nsteps = 30\n"));
    let said = desk.refuses("ledger reserve l --run forgot.toml --people data.csv --person who", 2);
    assert!(said.contains("deleted records") && said.contains("clean steps"), "{said}");
    desk.write("forgot.toml", RANDOM);
    desk.does("ledger reserve l --run forgot.toml --people data.csv --person who");
}

/// Full batches, for records that become empty.
const RANDOM: &str = "[run]\nalgorithm = \"gradient-descent\"\nsteps = 5\nrelease = \"last\"\nneighbours = \"zero-out\"\n[update]\n\
                      learning-rate = 0.3\nclip-norm = 1.0\nnoise-multiplier = 30.0\nweight-decay = 0.1\n[target]\n\
                      delta = 1e-5\n";

#[test]
fn a_list_of_mechanisms_costs_everybody_the_same() {
    let desk = Desk::new();
    let list = "[run]\nalgorithm = \"composition\"\nneighbours = \"replace-one\"\n[[mechanism]]\nkind = \"gaussian\"\n\
                noise-multiplier = 40.0\ncount = 4\n[target]\ndelta = 1e-5\n";
    desk.write("list.toml", list);
    let made = desk.does("ledger reserve l --run list.toml --people data.csv --person who");
    let alone = desk.does("account list.toml --delta 1e-5");
    let (counted, alone) =
        (number(&made["costs"][0]["epsilon"]), number(&alone["guarantee"]["epsilon"]["upper"]));
    assert!(counted >= alone * (1.0 - 1e-6) && counted < 1.002 * alone, "{counted} {alone}");
}

#[test]
fn a_dry_run_says_the_same_and_reserves_nothing() {
    let desk = Desk::new();
    desk.people("two.csv", &["ada", "ben"]);
    let reserve = "ledger reserve l --epsilon 0.4 --delta 1e-7 --people two.csv --person who";
    let before = desk.everything();
    let mut tried = desk.does(&format!("{reserve} --dry-run"));
    assert!(desk.says(&format!("{reserve} --dry-run")).contains("nothing was reserved"));
    assert!(desk.everything() == before);
    let made = desk.does(reserve);
    assert_eq!((&tried["release"], &made["release"]), (&Value::Null, &1.into()));
    tried["release"] = 1.into();
    assert_eq!(tried, made);
    desk.refuses("ledger reserve l --epsilon 3 --people two.csv --person who --dry-run", 1);
}

#[test]
fn releases_for_other_neighbours_are_counted_or_refused() {
    let desk = Desk::new();
    desk.does("ledger init l-zero --epsilon 2 --delta 1e-5 --neighbours zero-out");
    assert_eq!(desk.does("ledger show l-zero")["neighbours"], "zero-out");
    let names: Vec<String> = (1..=60).map(|place| format!("p{place}")).collect();
    desk.people("all.csv", &names.iter().map(String::as_str).collect::<Vec<_>>());
    let zero = "ledger reserve l --run once.toml --set neighbours=zero-out --people all.csv --person who";
    desk.does("ledger reserve l --run once.toml --people all.csv --person who");
    desk.does(zero);
    // A record that is replaced is one that is zeroed out, and another.
    for person in ["p1", "p60"] {
        let [replaced, zeroed] = desk.costs(person)[..] else { panic!("two releases") };
        assert!(zeroed >= replaced * (1.0 - 1e-3), "{person}: {zeroed} {replaced}");
    }
    desk.does(&zero.replace("reserve l ", "reserve l-zero "));
    let other = "ledger reserve l-zero --run once.toml --people all.csv --person who";
    let said = desk.refuses(other, 2);
    assert!(said.contains("replace-one") && said.contains("zero-out"), "{said}");
}

#[test]
fn a_deletion_is_noted_and_what_was_spent_stays_spent() {
    let desk = Desk::new();
    desk.people("two.csv", &["ada", "ben"]);
    desk.does("ledger reserve l --epsilon 0.4 --people two.csv --person who");
    desk.does("ledger commit l 1");
    let before = desk.share("ada");
    let mut command = desk.command("ledger note l 1");
    let output = command.arg("ada was deleted: (ε, δ) = (0.1, 1e-5)").output().expect("it runs");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("Release 1 is committed"));
    assert_eq!(desk.share("ada"), before);
    for words in ["ledger show l", "ledger show l --person ada"] {
        assert!(desk.says(words).contains("release 1: ada was deleted: (ε, δ) = (0.1, 1e-5)"), "{words}");
    }
}

#[test]
fn everybody_is_in_the_table_and_in_the_picture() {
    let desk = Desk::new();
    desk.people("three.csv", &["=1+1", "\"b, c\"", "e\u{1b}[31mvil"]);
    desk.people("one.csv", &["'=1+1"]);
    desk.does("ledger reserve l --epsilon 0.4 --people three.csv --person who");
    desk.does("ledger reserve l --epsilon 0.4 --people one.csv --person who");
    let shown = desk.does("ledger show l --csv people.csv --plot people.svg");
    let table = desk.read("people.csv");
    let mut lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.remove(0), "person,share_spent,epsilon_upper,budget_epsilon,budget_delta");
    assert_eq!(lines.len(), 4);
    let starts = ["\"b, c\",0.", "'=1+1,0.", "''=1+1,0.", "e\u{1b}[31mvil,0."];
    assert!(starts.iter().all(|start| lines.iter().any(|line| line.starts_with(start))), "{table}");
    assert_eq!(
        shown["shares"]["tenths"].as_array().expect("ten").iter().filter_map(Value::as_u64).sum::<u64>(),
        4
    );
    assert!(desk.read("people.svg").contains("share of the budget"));
    // The table can be the answer.
    assert_eq!(desk.says("ledger show l --csv -"), table);
    // No name moves the cursor of a terminal.
    let printed = desk.command("ledger show l --person").arg("e\u{1b}[31mvil").output().expect("it runs");
    assert!(printed.status.success() && !printed.stdout.contains(&0x1b));
    let refused = desk.command("ledger show l --person").arg("\u{1b}[31m").output().expect("it runs");
    assert!(refused.status.code() == Some(2) && !refused.stderr.contains(&0x1b));
}

#[test]
fn no_damaged_byte_changes_what_a_ledger_says_without_being_found() {
    let desk = Desk::new();
    desk.people("two.csv", &["ada", "ben"]);
    desk.does("ledger reserve l --epsilon 0.4 --people two.csv --person who");
    desk.does("ledger commit l 1");
    let said = |words: &str| {
        let output = desk.run(words);
        (output.status.code(), output.stdout)
    };
    let all = ["ledger show l --json", "ledger show l --person ada --json", "ledger show l --csv -"];
    let whole = all.map(said);
    let bytes = fs::read(desk.folder.join("l")).expect("a file");
    assert!(!desk.folder.join("l-wal").exists());
    let mut found = 0;
    // Places that hold something, spread over the file.
    let places: Vec<usize> = (100..bytes.len()).filter(|&place| bytes[place] != 0).collect();
    for place in places.iter().step_by(places.len() / 60) {
        let mut damaged = bytes.clone();
        damaged[*place] ^= 0x40;
        desk.write("l", &damaged);
        let check = desk.run("ledger check l");
        assert!(!String::from_utf8_lossy(&check.stderr).contains("panicked"), "{place}");
        match check.status.success() {
            true => assert!(all.map(said) == whole, "the byte {place} was changed, and nobody noticed"),
            false => found += 1,
        }
    }
    assert!(found > 30, "{found}");
    // Half a file, another file, and none.
    desk.write("l", &bytes[..bytes.len() / 2]);
    assert!(!desk.run("ledger check l").status.success());
    desk.write("l", "who\nada\n");
    assert_eq!(desk.run("ledger check l").status.code(), Some(2));
    desk.write("l", &bytes);
    assert!(desk.says("ledger check l").contains("is whole"));
    assert_eq!(desk.run("ledger check none").status.code(), Some(2));
}

#[test]
fn whatever_is_wrong_is_named_and_charges_nobody() {
    let desk = Desk::new();
    let files: &[(&str, &[u8], &str)] = &[
        ("blank.csv", b"who\nada\n\nben\n", "line 3"),
        ("ragged.csv", b"who,x\nada,1\nben\n", "line 3 of ragged.csv: it has 1 cells, but the header has 2"),
        ("latin.csv", b"who\nad\xe9\n", "not UTF-8"),
        ("empty.csv", b"who\n", "there are no people"),
        ("nothing.csv", b"", "no rows"),
        ("quote.csv", b"who\n\"ada\nben\"\ncy\n", "line 2"),
        ("other.csv", b"name\nada\n", "there is no column \"who\""),
        ("twice.csv", b"who,who\nada,ben\n", "same name"),
    ];
    for (name, content, words) in files {
        desk.write(name, content);
        let said = desk.refuses(&format!("ledger reserve l --epsilon 0.1 --people {name} --person who"), 2);
        assert!(said.contains(words), "{name}: {said}");
    }
    desk.write("long.csv", format!("who\n{}\n", "x".repeat(1025)));
    desk.people("two.csv", &["ada", "ben"]);
    let on = "--people two.csv --person who";
    for (words, said) in [
        ("ledger reserve l --epsilon 0.1 --people long.csv --person who", "longer than 1024 bytes"),
        ("ledger reserve l --epsilon 0.1 --people - --person who", "standard input"),
        ("ledger reserve l --epsilon 0.1 --people none.csv --person who", "cannot read none.csv"),
        (&format!("ledger reserve l --epsilon NaN {on}"), "NaN"),
        (&format!("ledger reserve l --epsilon -1 {on}"), "-1"),
        (&format!("ledger reserve l --epsilon 1e400 {on}"), "finite"),
        (&format!("ledger reserve l --epsilon 0.1 --delta 2 {on}"), "between 0 and 1"),
        (&format!("ledger reserve l --delta 1e-6 {on}"), "--epsilon"),
        (&format!("ledger reserve l --epsilon 1 --run once.toml {on}"), "cannot be used with"),
        (&format!("ledger reserve l --epsilon 1 --set steps=2 {on}"), "--set changes a run file"),
        (&format!("ledger reserve none --epsilon 1 {on}"), "dobrushin ledger init"),
        (&format!("ledger reserve l --epsilon 0.1 {on} --leave-out two.csv"), "an input is never replaced"),
        (&format!("ledger reserve l --epsilon 0.1 {on} --leave-out l"), "are the same file"),
        (
            "ledger budget l --epsilon 1 --delta 1 --people two.csv --person who",
            "everything is (ε, 1)-private",
        ),
        ("ledger budget l --epsilon 1 --delta 1e-6 --people two.csv", "--person"),
        ("ledger init m --epsilon 1", "--delta"),
        ("ledger init m --epsilon 1 --delta 1", "everything is (ε, 1)-private"),
        ("ledger init m --epsilon inf --delta 0", "finite"),
        ("ledger init l --epsilon 1 --delta 1e-6", "cannot make l"),
        ("ledger init no/such/m --epsilon 1 --delta 1e-6", "no/such/m"),
        ("ledger show l --csv l", "are the same file"),
        ("ledger show l --person ada --plot a.svg", "cannot be used with"),
        ("ledger show once.toml", "once.toml is not a ledger"),
    ] {
        let found = desk.refuses(words, 2);
        assert!(found.contains(said), "{words}: {found}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_of_a_ledger_can_read_it() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = Desk::new();
    desk.people("two.csv", &["ada", "ben"]);
    desk.does("ledger reserve l --epsilon 0.4 --people two.csv --person who");
    let mode = fs::metadata(desk.folder.join("l")).expect("it exists").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    symlink("l", desk.folder.join("link")).expect("the folder is writable");
    assert!(desk.refuses("ledger show link", 2).contains("links are not followed"));
}

#[test]
fn a_planned_budget_holds_more_releases_than_one_for_releases_that_follow_each_other() {
    let desk = Desk::new();
    desk.does("ledger init l-planned --epsilon 2 --delta 1e-5 --planned");
    let names: Vec<String> = (1..=60).map(|place| format!("p{place}")).collect();
    desk.people("all.csv", &names.iter().map(String::as_str).collect::<Vec<_>>());
    let count = |ledger: &str| {
        let words = format!("ledger reserve {ledger} --run once.toml --people all.csv --person who --quiet");
        (0..12).take_while(|_| desk.run(&words).status.success()).count()
    };
    let (adaptive, planned) = (count("l"), count("l-planned"));
    assert!(adaptive >= 1 && planned > adaptive && planned < 12, "{adaptive} {planned}");
    let last = desk.does("ledger show l-planned --person p60");
    let (together, sum, share) = (number(&last["epsilon"]), number(&last["sum"]), number(&last["share"]));
    assert!((share - together / 2.0).abs() < 1e-3, "{share}");
    // Nobody is over a budget that the exact composition keeps.
    let shown = desk.does("ledger show l-planned");
    assert_eq!(
        (&shown["shares"]["over"], shown["shares"]["most"]["share"].as_f64()),
        (&0.into(), Some(share))
    );
    assert!(together <= 2.0 && together > 1.6 && sum > together, "{together} {sum}");
}
