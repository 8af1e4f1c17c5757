//! Tables as people have them: other separators, compressed, in other encodings, with marks. The program reads them or says
//! what to do, and repeats nothing of them.

use crate::support::{dobrushin, own_folder};
use crate::train_support::{LOANS, RUN, new_folder, read_json, trained};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;

fn loans() -> String {
    std::fs::read_to_string(crate::support::root().join(LOANS)).expect("the example exists")
}

fn written(name: &str, bytes: &[u8]) -> String {
    let path: PathBuf = own_folder().join(name);
    std::fs::write(&path, bytes).expect("the folder is ours");
    path.display().to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// What a command says that fails.
fn refusal(words: &[&str]) -> String {
    let output = dobrushin(words).output().expect("it runs");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    said
}

/// Trains on a file like on the loans themselves: the model must be the same.
fn trains_like_the_loans(data: &str, more: &[&str]) {
    let (_, expected) = trained(&["--set", "steps=5"]);
    let folder = new_folder();
    let out = folder.display().to_string();
    let words =
        ["train", data, "--run", RUN, "--out", &out, "--seed", "1", "--not-private", "--set", "steps=5"];
    let output = dobrushin(&[&words[..], more].concat()).output().expect("it runs");
    assert!(output.status.success(), "{data}: {}", String::from_utf8_lossy(&output.stderr));
    let model = |folder: &PathBuf| read_json(&folder.join("model.json"))["parameters"].clone();
    assert_eq!(model(&folder), model(&expected), "{data}");
}

#[test]
fn another_separator_is_named_and_accepted() {
    for (delimiter, flag, shown) in [(";", ";", "';'"), ("\t", "tab", "tabs"), ("|", "|", "'|'")] {
        let data =
            written(&format!("separated-{}.csv", flag.len()), loans().replace(',', delimiter).as_bytes());
        let schema = "examples/loans/schema.toml";
        let out = new_folder().display().to_string();
        for words in [
            &["train", &data, "--run", RUN, "--out", &out][..],
            &["train", &data, "--run", RUN, "--out", &out, "--stream", "--set", "order=cyclic"],
            &["schema", "check", schema, &data],
            &["schema", "init", &data, "--label", "repaid"],
            &[
                "local",
                "privatize",
                &data,
                "--column",
                "repaid",
                "--mechanism",
                "k-rr",
                "--values",
                "yes,no",
                "--epsilon",
                "1",
            ],
        ] {
            let said = refusal(words);
            let hint = format!("--delimiter {}", if flag == "tab" { "tab" } else { shown });
            assert!(said.contains(&format!("are separated by {shown}, not by ','")), "{words:?}: {said}");
            assert!(said.contains(&hint), "{words:?}: {said}");
            assert!(!said.contains("income"), "{words:?} repeats the header: {said}");
        }
        trains_like_the_loans(&data, &["--delimiter", flag]);
        for words in [
            &["schema", "check", schema, &data, "--rows"][..],
            &["schema", "init", &data, "--label", "repaid"],
            &["schema", "init", &data, "--label", "repaid", "--values-are-public"],
            &[
                "local",
                "privatize",
                &data,
                "--column",
                "repaid",
                "--mechanism",
                "k-rr",
                "--values",
                "yes,no",
                "--epsilon",
                "1",
            ],
        ] {
            dobrushin(&[words, &["--delimiter", flag]].concat()).assert().success();
        }
    }
    // A column that is not there in any case is said to be missing.
    let other = written("other.csv", b"a;b\n1;2\n");
    let said = refusal(&["schema", "init", &other, "--label", "repaid"]);
    assert!(said.contains("there is no column \"repaid\""), "{said}");
    for wrong in ["", ";;", "x", "\""] {
        let said = refusal(&["schema", "init", &other, "--label", "a", "--delimiter", wrong]);
        assert!(said.contains("--delimiter"), "{said}");
    }
}

#[test]
fn a_compressed_table_is_read_like_the_table() {
    let compressed = gzip(loans().as_bytes());
    // By its first bytes, whatever its name.
    for name in ["loans.csv.gz", "loans-compressed.csv"] {
        let data = written(name, &compressed);
        trains_like_the_loans(&data, &[]);
    }
    // As several members, as `cat a.gz b.gz` makes.
    let text = loans();
    let (first, second) = text.split_at(text.len() / 2);
    let data = written("members.csv.gz", &[gzip(first.as_bytes()), gzip(second.as_bytes())].concat());
    trains_like_the_loans(&data, &[]);
    // From standard input.
    let output =
        dobrushin(&["schema", "init", "-", "--label", "repaid"]).write_stdin(compressed.clone()).output();
    assert!(output.expect("it runs").status.success());
    // A file that ends too early is an error, and not a shorter table.
    let torn = written("torn.csv.gz", &compressed[..compressed.len() / 2]);
    let out = new_folder().display().to_string();
    let said = refusal(&["train", &torn, "--run", RUN, "--out", &out]);
    assert!(said.contains("cannot read"), "{said}");
}

#[test]
fn what_is_no_text_is_recognised_by_its_first_bytes() {
    let utf16: Vec<u8> =
        [0xfeff].into_iter().chain(loans().encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let out = new_folder().display().to_string();
    for (name, bytes, what, help) in [
        ("book.csv", &b"PK\x03\x04rest"[..], "ZIP archive", "save the sheet as CSV"),
        ("zstd.csv", b"\x28\xb5\x2f\xfdrest", "zstd", "zstd -d"),
        ("xz.csv", b"\xfd7zXZ\x00rest", "xz", "unxz"),
        ("bzip2.csv", b"BZh91AY&SYrest", "bzip2", "bunzip2"),
        ("columns.csv", b"PAR1\x15rest", "Parquet", ".parquet"),
        ("wide.csv", &utf16, "UTF-16", "iconv"),
        ("wide-be.csv", b"\xfe\xff\0a", "UTF-16", "iconv"),
        ("twice.csv", &gzip(&gzip(b"a,b\n")), "gzip twice", "gunzip"),
    ] {
        let data = written(name, bytes);
        for words in [
            &["train", &data, "--run", RUN, "--out", &out][..],
            &["schema", "init", &data, "--label", "repaid"],
            &[
                "local",
                "privatize",
                &data,
                "--column",
                "repaid",
                "--mechanism",
                "k-rr",
                "--values",
                "yes,no",
                "--epsilon",
                "1",
            ],
        ] {
            let said = refusal(words);
            assert!(said.contains(what) && said.contains(help) && said.contains(name), "{words:?}: {said}");
        }
    }
}

#[test]
fn the_mark_of_a_spreadsheet_is_not_part_of_the_first_name() {
    let data = written("marked.csv", &[b"\xef\xbb\xbf", loans().as_bytes()].concat());
    trains_like_the_loans(&data, &[]);
    let data = written("marked.csv.gz", &gzip(&[b"\xef\xbb\xbf", loans().as_bytes()].concat()));
    trains_like_the_loans(&data, &[]);
}

/// Without a header the first bytes are somebody's: they must not decide how the rows of others are read.
#[test]
fn without_a_header_no_row_decides_what_the_file_is() {
    let words = |data: &str| {
        let words = format!(
            "local privatize {data} --column 1 --no-header --mechanism k-rr --values yes,no --epsilon 1 --skip-bad --quiet"
        );
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let output =
            dobrushin(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8").lines().count())
    };
    let rest = "yes\nno\n".repeat(20);
    let usual = words(&written("rows.csv", format!("yes\n{rest}").as_bytes()));
    assert_eq!(usual.0, Some(0));
    for first in [&b"PK\x03\x04"[..], b"\x1f\x8b", b"\xff\xfe", b"\xef\xbb\xbfyes"] {
        let data = written("row.csv", &[first, b"\n", rest.as_bytes()].concat());
        assert_eq!(words(&data), usual, "{first:?}");
    }
}

#[test]
fn predictions_keep_the_identifiers_of_their_rows() {
    let (_, folder) = trained(&["--set", "steps=5"]);
    let model = folder.join("model.json").display().to_string();
    let text = loans();
    let mut lines = text.lines().take(30);
    let header = lines.next().expect("a header");
    let rows: Vec<&str> = lines.collect();
    let ids: Vec<String> = (0..rows.len())
        .map(|row| if row == 3 { "=1+1, \"x\"".to_owned() } else { format!("p-{row}") })
        .collect();
    let quoted = |id: &str| format!("\"{}\"", id.replace('"', "\"\""));
    let table = rows.iter().zip(&ids).map(|(row, id)| format!("{row},{}\n", quoted(id))).collect::<String>();
    let data = written("identified.csv", format!("{header},who\n{table}").as_bytes());
    let printed = |words: &[&str]| {
        let output = dobrushin(words).output().expect("it runs");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let without = printed(&["predict", &model, &data]);
    let with = printed(&["predict", &model, &data, "--id", "who"]);
    let mut reader = csv_lines(&with).into_iter();
    let first = reader.next().expect("a header");
    assert_eq!(first[0], "who");
    for ((row, id), line) in reader.zip(&ids).zip(without.lines().skip(1)) {
        // A spreadsheet must not take it for a formula.
        let expected = if id.starts_with('=') { format!("'{id}") } else { id.clone() };
        assert_eq!(row[0], expected);
        assert_eq!(row[1..].join(","), line, "the predictions are the same");
    }
    let json = printed(&["predict", &model, &data, "--id", "who", "--json"]);
    for (line, id) in json.lines().zip(&ids) {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(line["who"], *id.as_str());
        assert!(line["repaid"].is_string());
    }
    let said = refusal(&["predict", &model, &data, "--id", "repaid"]);
    assert!(said.contains("is the column that is predicted"), "{said}");
    let said = refusal(&["predict", &model, &data, "--id", "nobody"]);
    assert!(said.contains("there is no column \"nobody\""), "{said}");
}

/// The cells of CSV text, with quotes.
fn csv_lines(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let (mut cells, mut inside) = (vec![String::new()], false);
        let mut letters = line.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if inside && letters.peek() == Some(&'"') => {
                    cells.last_mut().expect("a cell").push(letters.next().expect("a quote"))
                }
                '"' => inside = !inside,
                ',' if !inside => cells.push(String::new()),
                _ => cells.last_mut().expect("a cell").push(letter),
            }
        }
        cells
    };
    text.lines().map(cells).collect()
}
