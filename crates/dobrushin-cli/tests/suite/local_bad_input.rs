//! Every way in which a column, a declaration or a file of reports can be wrong, and what is left behind.

use crate::local_support::{estimation, folder, names, privatize, said};
use std::path::Path;

const K_RR: [&str; 4] = ["--mechanism", "k-rr", "--epsilon", "1"];
const LAPLACE: [&str; 6] = ["--mechanism", "laplace", "--epsilon", "1", "--bounds", "0,10"];

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), content).expect("the folder is writable");
}

#[test]
fn a_bad_row_stops_with_its_line_and_leaves_nothing_behind() {
    let folder = folder("bad-rows");
    let categories = [&K_RR[..], &["--values", "yes,no"]].concat();
    let count = [&K_RR[..], &["--categories", "5"]].concat();
    for (content, words, what) in [
        (
            "id,answer\n1,yes\n2,S3CRET\n",
            &categories[..],
            "line 3 of data.csv: column \"answer\": the cell is not accepted; one of the 2 declared categories (\"yes\", \"no\") is",
        ),
        ("id,answer\n1,yes\n2,\n", &categories, "line 3 of data.csv: column \"answer\": the cell is empty"),
        (
            "id,answer\n1,yes\n2\n",
            &categories,
            "line 3 of data.csv: it has 1 cells, but the column is number 2",
        ),
        (
            "id,answer\n1,yes\n2,\"S3CRET\n3,no\n",
            &categories,
            "line 3 of data.csv: cell 2 begins with a quote that is not closed on its line",
        ),
        ("id,answer\n1,yes\n\n3,no\n", &categories, "line 3 of data.csv: the line is blank"),
        ("answer\nyes\n\n", &categories, "line 3 of data.csv: column \"answer\": the cell is empty"),
        (
            "answer\n5\n6\n",
            &count,
            "line 3 of data.csv: column \"answer\": the cell is not accepted; a whole number from 1 to 5 is",
        ),
        ("answer\n0\n", &count, "line 2 of data.csv: column \"answer\": the cell is not accepted"),
        (
            "answer\n1.5\nS3CRET\n",
            &LAPLACE,
            "line 3 of data.csv: column \"answer\": the cell is not accepted; a finite number is",
        ),
        ("answer\nNaN\n", &LAPLACE, "line 2 of data.csv: column \"answer\": the cell is not accepted"),
        ("answer\n-inf\n", &LAPLACE, "line 2 of data.csv: column \"answer\": the cell is not accepted"),
        ("answer\n1e999\n", &LAPLACE, "line 2 of data.csv: column \"answer\": the cell is not accepted"),
    ] {
        write(&folder, "data.csv", content);
        let refusal = said(privatize(&folder, "data.csv", "reports.csv", words), 2);
        assert!(refusal.contains(what) && refusal.contains("--skip-bad"), "{refusal}");
        assert!(!refusal.contains("S3CRET"), "{refusal}");
        assert_eq!(names(&folder), ["data.csv"], "{what}");
    }
    write(&folder, "data.csv", b"answer\nyes\n\xff\xfe\n");
    let refusal = said(privatize(&folder, "data.csv", "reports.csv", &categories), 2);
    assert!(refusal.contains("line 3 of data.csv: column \"answer\": the cell is not accepted"), "{refusal}");
    assert_eq!(names(&folder), ["data.csv"]);
}

#[test]
fn a_bad_row_far_down_leaves_what_was_there_before() {
    let folder = folder("bad-row-late");
    let rows: String = (0..300_000).map(|row| if row == 250_000 { "7\n" } else { "1\n" }).collect();
    write(&folder, "data.csv", format!("answer\n{rows}"));
    write(&folder, "reports.csv", "precious");
    let words = [&K_RR[..], &["--categories", "5"]].concat();
    let refusal = said(privatize(&folder, "data.csv", "reports.csv", &words), 2);
    assert!(
        refusal.contains("line 250002 of data.csv: column \"answer\": the cell is not accepted"),
        "{refusal}"
    );
    assert_eq!(names(&folder), ["data.csv", "reports.csv"]);
    assert_eq!(std::fs::read(folder.join("reports.csv")).expect("it is still there"), b"precious");
    let summary =
        said(privatize(&folder, "data.csv", "reports.csv", &[&words[..], &["--skip-bad"]].concat()), 0);
    assert!(
        summary.starts_with("300000 reports")
            && summary.contains("1 rows could not be used, and report a category"),
        "{summary}"
    );
}

#[test]
fn columns_that_are_not_there_are_named() {
    let folder = folder("columns");
    let words = [&K_RR[..], &["--values", "a,b"]].concat();
    for (content, what) in [
        (
            "id,reply\n1,a\n",
            "--column answer: there is no such column in data.csv\n  help: give a name as the file has it, or a number from 1 to 2",
        ),
        ("answer,answer\na,b\n", "--column answer: 2 columns of data.csv have that name"),
        ("", "data.csv has no rows"),
    ] {
        write(&folder, "data.csv", content);
        let refusal = said(privatize(&folder, "data.csv", "reports.csv", &words), 2);
        assert!(refusal.contains(what), "{refusal}");
        // Without a header line these would be somebody's answers.
        assert!(!refusal.contains("reply"), "{refusal}");
    }
    let refusal = said(privatize(&folder, "nothing.csv", "reports.csv", &words), 2);
    assert!(refusal.contains("cannot read nothing.csv"), "{refusal}");
    // A byte-order mark is no part of a name.
    write(&folder, "data.csv", "\u{feff}answer\na\n");
    said(privatize(&folder, "data.csv", "reports.csv", &words), 0);
}

#[test]
fn declarations_that_do_not_fit_say_what_does() {
    let folder = folder("declarations");
    write(&folder, "data.csv", "answer\n1\n");
    write(&folder, "twice.txt", "a\nb\n\na\n");
    write(&folder, "channel.csv", "0.5,0.5\n0.4,0.6\n");
    write(&folder, "no-channel.csv", "0.5,0.6\n0.4,0.6\n");
    for (words, what) in [
        (&["--mechanism", "k-rr", "--epsilon", "1"][..], "takes categories, and none are declared"),
        (&["--mechanism", "laplace", "--epsilon", "1"], "takes numbers, and --bounds is missing"),
        (&["--mechanism", "k-rr", "--epsilon", "1", "--bounds", "0,1"], "does not take such answers"),
        (&["--mechanism", "laplace", "--epsilon", "1", "--values", "a,b"], "does not take such answers"),
        (&["--mechanism", "k-rr", "--epsilon", "1", "--categories", "1"], "at least two categories"),
        (&["--mechanism", "k-rr", "--epsilon", "1", "--values", "a,a"], "categories 1 and 2 are both \"a\""),
        (
            &["--mechanism", "k-rr", "--epsilon", "1", "--categories-file", "twice.txt"],
            "1 and 3 are both \"a\"",
        ),
        (
            &["--mechanism", "k-rr", "--epsilon", "1", "--categories-file", "none.txt"],
            "cannot read the categories",
        ),
        (&["--mechanism", "k-rr", "--epsilon", "0", "--values", "a,b"], "epsilon is 0"),
        (&["--mechanism", "k-rr", "--epsilon", "-1", "--values", "a,b"], "epsilon is -1"),
        (&["--mechanism", "k-rr", "--epsilon", "nan", "--values", "a,b"], "epsilon is NaN"),
        (&["--mechanism", "k-rr", "--values", "a,b"], "--epsilon"),
        (&["--mechanism", "laplace", "--epsilon", "1", "--bounds", "2,1"], "above the lower bound"),
        (&["--mechanism", "laplace", "--epsilon", "1", "--bounds", "1"], "two numbers are needed"),
        (&["--mechanism", "laplace", "--epsilon", "1", "--bounds", "0,inf"], "the upper bound is inf"),
        (&["--mechanism", "gaussian", "--epsilon", "1", "--bounds", "0,1"], "delta is 0"),
        (&["--mechanism", "aue", "--epsilon", "1", "--values", "a,b"], "aue needs --truth"),
        (
            &["--mechanism", "oue", "--epsilon", "1", "--values", "a,b", "--truth", "0.6"],
            "--truth is for aue",
        ),
        (&["--mechanism", "channel", "--epsilon", "1", "--values", "a,b"], "needs --channel FILE"),
        (&["--mechanism", "k-rr", "--channel", "channel.csv", "--epsilon", "1"], "not with k-rr"),
        (
            &["--channel", "channel.csv", "--epsilon", "1", "--values", "a,b,c"],
            "2 rows, but there are 3 categories",
        ),
        (&["--channel", "no-channel.csv", "--epsilon", "1"], "row 1 sums to 1.1"),
        (&["--mechanism", "rappor", "--epsilon", "1", "--values", "a,b"], "possible values: k-rr"),
    ] {
        let refusal = said(privatize(&folder, "data.csv", "reports.csv", words), 2);
        assert!(refusal.contains(what), "{words:?}: {refusal}");
    }
    let there = ["channel.csv", "data.csv", "no-channel.csv", "twice.txt"];
    assert_eq!(names(&folder), there);
    let onto =
        said(privatize(&folder, "data.csv", "data.csv", &[&K_RR[..], &["--categories", "5"]].concat()), 2);
    assert!(onto.contains("--output data.csv is the file with the answers"), "{onto}");
}

#[test]
fn a_file_that_is_no_file_of_reports_is_refused() {
    let folder = folder("reports");
    write(&folder, "data.csv", "answer\n1\n2\n3\n");
    let words = [&K_RR[..], &["--categories", "5"]].concat();
    said(privatize(&folder, "data.csv", "reports.csv", &words), 0);
    let good = std::fs::read_to_string(folder.join("reports.csv")).expect("it was written");
    let (first, rest) = good.split_once('\n').expect("two lines at least");
    for (content, what) in [
        ("answer\n1\n".to_owned(), "does not say which mechanism made its reports"),
        (rest.to_owned(), "does not say which mechanism made its reports"),
        (String::new(), "does not say which mechanism"),
        (
            good.replace("\"schema\":1", "\"schema\":2"),
            "was written in form 2, but this program knows form 1",
        ),
        (good.replace("\"epsilon\":1.0", "\"epsilon\":1.5"), "its mechanism is not the k-rr of this program"),
        (good.replace("\"k-rr\"", "\"oue\""), "its mechanism is not the oue of this program"),
        (good.replace("\"k-rr\"", "\"k-r\""), "has no valid \"mechanism\": \"k-r\""),
        (good.replace("\"categories\":5", "\"categories\":1"), "has no valid \"categories\": 1"),
        (good.replace("{\"", "{"), "the description of the reports is damaged"),
        (
            good.replacen("\nreport\n", "\nanswer\n", 1),
            "the columns of bad.csv are not those of its mechanism",
        ),
        (format!("{first}\nreport\n"), "has no reports"),
        (format!("{first}\nreport\n1\n5\n"), "line 4 of bad.csv: it is not a report that k-rr can make"),
        (
            format!("{first}\nreport\n1\nx\n"),
            "line 4 of bad.csv: column \"report\": the cell is not accepted; a whole number",
        ),
        (format!("{first}\nreport\n-1\n"), "line 3 of bad.csv: column \"report\": the cell is not accepted"),
    ] {
        write(&folder, "bad.csv", content);
        let refusal = said(estimation(&folder, &["bad.csv"]), 2);
        assert!(refusal.contains(what), "{what}: {refusal}");
    }
    write(&folder, "bad.csv", format!("{first}\nreport\n1\n5\n2\n"));
    let counted = said(estimation(&folder, &["bad.csv", "--skip-bad"]), 0);
    assert!(counted.contains("from 2 reports") && counted.contains("1 rows were no reports"), "{counted}");
    for (words, what) in [
        (&["reports.csv", "--confidence", "1"][..], "confidence"),
        (&["reports.csv", "--confidence", "2"], "between 0 and 1"),
        (&["reports.csv", "--plot", "picture.gif"], ".svg, .png, .pdf or .html"),
        (&["nothing.csv"], "cannot read nothing.csv"),
    ] {
        let refusal = said(estimation(&folder, words), 2);
        assert!(refusal.contains(what), "{words:?}: {refusal}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = folder("unwritable");
    write(&folder, "data.csv", "answer\n1\n");
    let words = [&K_RR[..], &["--categories", "5"]].concat();
    let refusal = said(privatize(&folder, "data.csv", "none/reports.csv", &words), 2);
    assert!(refusal.contains("cannot write none/reports.csv"), "{refusal}");
}

#[test]
#[cfg(not(feature = "parquet"))]
fn without_parquet_its_files_are_refused_with_what_to_do() {
    let folder = folder("without-parquet");
    write(&folder, "data.csv", "answer\n1\n");
    let words = [&K_RR[..], &["--categories", "5"]].concat();
    let why = "is a Parquet file, and this program was built without Parquet";
    for refusal in [
        said(privatize(&folder, "data.csv", "reports.parquet", &words), 2),
        said(privatize(&folder, "data.parquet", "reports.csv", &words), 2),
        said(estimation(&folder, &["reports.parquet"]), 2),
    ] {
        assert!(refusal.contains(why) && refusal.contains("--features parquet"), "{refusal}");
    }
    assert_eq!(names(&folder), ["data.csv"]);
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_leaves_nothing_behind() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let folder = folder("interrupted");
    // Tests may have been started so that they ignore some signals, and the program would go on ignoring them.
    let mut program = Command::new("env")
        .arg("--default-signal")
        .arg(assert_cmd::cargo::cargo_bin("dobrushin"))
        .args([
            "local",
            "privatize",
            "-",
            "--column",
            "answer",
            "--categories",
            "5",
            "--output",
            "reports.csv",
        ])
        .args(K_RR)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut answers = program.stdin.take().expect("it is piped");
    answers.write_all(format!("answer\n{}", "3\n".repeat(400_000)).as_bytes()).expect("the program reads");
    let start = Instant::now();
    while names(&folder).is_empty() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(names(&folder).len(), 1, "there is a temporary file");
    let signal = Command::new("kill").args(["-INT", &program.id().to_string()]).status();
    assert!(signal.expect("there is a kill command").success());
    let status = program.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    drop(answers);
}
