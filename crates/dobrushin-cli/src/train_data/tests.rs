//! Files of records, good and bad, loaded and streamed.

use super::*;
use crate::problem::Problem;
use crate::table_file::{Source, other_lines};
use dobrushin_train::schema::Schema;
use dobrushin_train::{Records, Table};
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SCHEMA: &str = r#"
    label = "y"
    columns.a = { kind = "number", lower = 0, upper = 10 }
    columns.c = { kind = "category", categories = ["red", "green"], if-missing = "none" }
    columns.y = { kind = "category", categories = ["no", "yes"] }
"#;

fn schema() -> Schema {
    dobrushin_document::schema::parse(SCHEMA).expect("it is a schema")
}

/// A folder of its own for each test, which is removed after it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dobrushin-records-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        Self(folder)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("the folder is writable");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that could not be removed stays in the temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The message of an error, with its help.
fn said<T>(result: Result<T, Problem>) -> String {
    match result {
        Ok(_) => panic!("it was accepted"),
        Err(problem) => format!("{problem} {problem:?}"),
    }
}

/// The bits of a record: features, then the target.
fn record(table: &Table, record: usize) -> Vec<u32> {
    let targets = (0..table.tasks()).map(|task| table.target(record, task));
    table.features(record).iter().copied().chain(targets).map(f32::to_bits).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

const EMPTY: [f32; 5] = [0.0, 0.0, 0.0, 0.0, f32::NAN];

#[test]
fn rows_are_read_whatever_the_file_looks_like() {
    let folder = Folder::new("forms");
    // The columns have another order, one is not wanted, and some values are outside the bounds.
    let rows = ["y,id,c,a", "no,1,red,5", "yes,2,green,20", "yes,3,?,-1"];
    let expected: [&[f32]; 3] =
        [&[0.0, 1.0, 0.0, 1.0, 0.0], &[1.0, 0.0, 1.0, 1.0, 1.0], &[-1.0, 0.0, 0.0, 1.0, 1.0]];
    let quoted: Vec<String> = rows
        .iter()
        .map(|row| row.split(',').map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(","))
        .collect();
    for (name, content) in [
        ("plain.csv", rows.join("\n") + "\n"),
        ("no-last-newline.csv", rows.join("\n")),
        ("mark.csv", "\u{feff}".to_owned() + &rows.join("\n")),
        ("dos.csv", rows.join("\r\n") + "\r\n"),
        ("quoted.csv", quoted.join("\n") + "\n"),
        ("spaces.csv", rows.join("\n").replace(',', " , ")),
    ] {
        let loaded = load(Source::of(&folder.file(name, content)), &schema(), false, false)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(loaded.table.len(), 3, "{name}");
        for (place, expected) in expected.iter().enumerate() {
            assert_eq!(record(&loaded.table, place), bits(expected), "{name}");
        }
        assert_eq!((loaded.clipped, loaded.scaled, loaded.skipped), (2, 0, 0), "{name}");
    }
}

#[test]
fn one_record_one_class_and_one_value_are_enough() {
    let folder = Folder::new("few");
    let loaded = load(Source::of(&folder.file("one.csv", "a,c,y\n5,red,no\n")), &schema(), false, false)
        .expect("a record");
    assert_eq!(record(&loaded.table, 0), bits(&[0.0, 1.0, 0.0, 1.0, 0.0]));
    let path = folder.file("same.csv", format!("a,c,y\n{}", "5,red,no\n".repeat(100)));
    let same = load(Source::of(&path), &schema(), false, false);
    assert_eq!(same.expect("100 records").table.len(), 100);
}

#[test]
fn rows_longer_than_the_norm_are_scaled_and_counted() {
    let folder = Folder::new("long");
    let schema = dobrushin_document::schema::parse(&format!("norm = 1.5\n{SCHEMA}")).expect("it is a schema");
    // The first norm is √2, the second √3.
    let path = folder.file("long.csv", "a,c,y\n5,red,no\n10,red,no\n");
    let loaded = load(Source::of(&path), &schema, false, false).expect("two records");
    assert_eq!((loaded.scaled, loaded.clipped), (1, 0));
    let norm =
        |record| loaded.table.features(record).iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    assert!((norm(0) - 2f64.sqrt()).abs() < 1e-12 && norm(1) <= 1.5 && norm(1) > 1.4999);
    assert_eq!(
        Streamed::open(Source::of(&path), &schema, false, false).expect("two records").found().scaled,
        1
    );
}

#[test]
fn a_bad_row_stops_with_its_line_and_column_but_not_its_content() {
    let folder = Folder::new("bad");
    let number = "a finite number is accepted";
    for (row, what) in [
        ("S3CRET,red,no", "line 3 of bad.csv: column \"a\": the cell is not accepted; a finite number is"),
        (",red,no", "column \"a\": the cell is missing; a finite number is accepted"),
        ("NaN,red,no", number),
        ("nan,red,no", "column \"a\": the cell is not accepted; a finite number is"),
        ("inf,red,no", "a finite number is"),
        ("1e999,red,no", "a finite number is"),
        (
            "5,S3CRET,no",
            "column \"c\": the cell is not accepted; one of the 2 declared categories (\"red\", \"green\")",
        ),
        (
            "5,red,S3CRET",
            "column \"y\": the cell is not accepted; one of the 2 declared categories (\"no\", \"yes\")",
        ),
        ("5,red,", "column \"y\": the cell is missing; one of the 2 declared categories"),
        ("5,red", "line 3 of bad.csv: it has 2 cells, but the header has 3"),
        ("5,red,no,S3CRET", "line 3 of bad.csv: it has 4 cells, but the header has 3"),
        ("5,\"reS3CRET,no", "line 3 of bad.csv: cell 2 begins with a quote that is not closed on its line"),
        ("\"5,red,no", "line 3 of bad.csv: cell 1 begins with a quote that is not closed on its line"),
        ("", "line 3 of bad.csv: the line is blank; every line is a row of its own"),
    ] {
        let path = folder.file("bad.csv", format!("a,c,y\n5,red,no\n{row}\n5,red,yes\n"));
        let named = |message: String| message.replace(&path.display().to_string(), "bad.csv");
        let loading = named(said(load(Source::of(&path), &schema(), false, false)));
        let streaming = named(said(Streamed::open(Source::of(&path), &schema(), false, false)));
        for message in [loading, streaming] {
            assert!(
                message.contains(what) && message.contains("makes such rows empty records"),
                "{row}: {message}"
            );
            assert!(!message.contains("S3CRET"), "{message}");
        }
        // The row keeps its place as a record that changes nothing.
        let loaded = load(Source::of(&path), &schema(), true, false).expect("bad rows are empty records");
        assert_eq!((loaded.table.len(), loaded.skipped), (3, 1), "{row}");
        assert_eq!(record(&loaded.table, 1), bits(&EMPTY), "{row}");
        assert_eq!(record(&loaded.table, 2), bits(&[0.0, 1.0, 0.0, 1.0, 1.0]), "{row}");
    }
    let path = folder.file("not-utf8.csv", b"a,c,y\n5,red,\xff\xfe\n");
    assert!(said(load(Source::of(&path), &schema(), false, false)).contains("line 2 of"));
    assert_eq!(load(Source::of(&path), &schema(), true, false).expect("an empty record").skipped, 1);
}

#[test]
fn the_first_bad_row_of_many_is_named() {
    let folder = Folder::new("far");
    let mut text = "a,c,y\n".to_owned();
    for row in 0..200_000 {
        text += match row {
            70_000 => "5,red\n",
            70_001 | 190_000 => "five,red,no\n",
            _ => "5,red,no\n",
        };
    }
    let path = folder.file("far.csv", text);
    assert!(said(load(Source::of(&path), &schema(), false, false)).contains("line 70002 of"));
    let loaded = load(Source::of(&path), &schema(), true, false).expect("bad rows are empty records");
    assert_eq!((loaded.table.len(), loaded.skipped), (200_000, 3));
    let empty = (0..200_000).filter(|&row| loaded.table.target(row, 0).is_nan()).collect::<Vec<_>>();
    assert_eq!(empty, [70_000, 70_001, 190_000]);
}

#[test]
fn a_file_without_what_the_schema_wants_is_refused() {
    let folder = Folder::new("refused");
    for (content, what) in [
        ("", "has no rows"),
        ("a,c,z\n5,red,no\n", "there is no column \"y\" in"),
        ("A,c,y\n5,red,no\n", "it is called \\\"A\\\" there"),
        ("a,a,c,y\n5,5,red,no\n", "columns 1 and 2 of"),
        ("S3CRET,S3CRET,no\n5,red,no\n", "there is no column \"a\" in"),
    ] {
        let path = folder.file("refused.csv", content);
        for message in [
            said(load(Source::of(&path), &schema(), true, false)),
            said(Streamed::open(Source::of(&path), &schema(), true, false)),
        ] {
            assert!(message.contains(what) && !message.contains("S3CRET"), "{content:?}: {message}");
        }
    }
    assert!(
        said(load(Source::of(Path::new("none.csv")), &schema(), true, false))
            .contains("cannot read none.csv")
    );
    // Where the number of records is a secret, there may be none; elsewhere the program says so.
    for content in ["a,c,y\n", "a,c,y"] {
        let path = folder.file("header.csv", content);
        assert!(load(Source::of(&path), &schema(), true, false).expect("a table").table.is_empty());
        assert_eq!(
            Streamed::open(Source::of(&path), &schema(), true, false).expect("a table").found().rows,
            0
        );
        assert!(said(super::refuse_none(&path, 0)).contains("has a header, but no records"));
    }
    for path in ["-", "none.csv", "/"] {
        let message = said(Streamed::open(Source::of(Path::new(path)), &schema(), true, false));
        assert!(message.contains("cannot read"), "{message}");
    }
}

/// A bad row keeps its place as an empty record, and no row affects how others are read. As long as the other lines are
/// the same, the number of records is the same, and all others have the same features and targets.
#[test]
fn a_line_changes_no_record_but_its_own_and_never_their_number() {
    let folder = Folder::new("one-line");
    let lines = ["5,red,no", "\"6\",\"green\",yes", "7,,no", "8,red", "9,green,yes", "1,red,yes"];
    let path = folder.file("one-line.csv", format!("a,c,y\n{}\n", lines.join("\n")));
    let expected = load(Source::of(&path), &schema(), true, false).expect("bad rows are empty records").table;
    let wanted: Vec<u32> = (0..lines.len() as u32).collect();
    other_lines(2, 1000, "a,c,y", &lines, |place, content| {
        let path = folder.file("one-line.csv", content);
        let loaded =
            load(Source::of(&path), &schema(), true, false).expect("bad rows are empty records").table;
        let mut streamed = Streamed::open(Source::of(&path), &schema(), true, false).expect("the same");
        let rows = streamed.found().rows;
        let (step, _) = streamed.bring(&wanted).expect("as many as there are");
        assert_eq!((loaded.len(), rows), (lines.len(), lines.len() as u64), "{content:?}");
        for other in (0..lines.len()).filter(|other| *other != place) {
            assert_eq!(record(&loaded, other), record(&expected, other), "{content:?}");
            assert_eq!(record(step, other), record(&expected, other), "{content:?}");
        }
    });
}

/// Rows of which some are bad, some clipped and some missing.
fn rows(count: usize) -> String {
    let mut text = "a,c,y\n".to_owned();
    for row in 0..count {
        let color = ["red", "green", "NA"][row % 3];
        let label = if row % 101 == 7 { "perhaps" } else { ["no", "yes"][row / 2 % 2] };
        writeln!(text, "{},{color},{label}", (row % 1009) as f64 / 97.0).expect("memory is enough");
    }
    text
}

#[test]
fn streaming_is_the_same_as_loading_over_several_passes() {
    let folder = Folder::new("stream");
    for (count, batch) in [(1, 1), (5, 2), (100, 7), (70_001, 1000), (131_072, 4096)] {
        let path = folder.file(&format!("stream-{count}.csv"), rows(count));
        let loaded = load(Source::of(&path), &schema(), true, false).expect("records");
        let mut streamed = Streamed::open(Source::of(&path), &schema(), true, false).expect("records");
        let found = streamed.found();
        assert_eq!(found.rows, count as u64);
        assert_eq!(
            (found.clipped, found.scaled, found.skipped),
            (loaded.clipped, loaded.scaled, loaded.skipped)
        );
        let all = (count as u64).div_ceil(batch) * batch;
        streamed.pad_to(all);
        assert_eq!((streamed.count(), streamed.any_order(), streamed.tasks()), (all, false, 1));
        assert_eq!(streamed.bounds(), loaded.table.bounds());
        for step in 0..3 * all / batch {
            let wanted: Vec<u32> = (0..batch).map(|place| ((step * batch + place) % all) as u32).collect();
            let (table, places) = streamed.bring(&wanted).expect("the next records");
            assert_eq!(
                (table.len() as u64, places.len() as u64),
                (batch, batch),
                "only one step is in memory"
            );
            for (&place, &index) in places.iter().zip(&wanted) {
                let expected = match (index as usize) < count {
                    true => record(&loaded.table, index as usize),
                    false => bits(&EMPTY),
                };
                assert_eq!(record(table, place as usize), expected);
            }
        }
    }
}

#[test]
fn steps_need_not_end_where_passes_do() {
    let folder = Folder::new("across");
    let path = folder.file("across.csv", rows(5));
    let loaded = load(Source::of(&path), &schema(), true, false).expect("records");
    let mut streamed = Streamed::open(Source::of(&path), &schema(), true, false).expect("records");
    let (table, _) = streamed.bring(&[0, 1, 2, 3, 4, 0, 1]).expect("the next records");
    assert_eq!(record(table, 6), record(&loaded.table, 1));
    let (table, _) = streamed.bring(&[2]).expect("the next record");
    assert_eq!(record(table, 0), record(&loaded.table, 2));
    let refused = streamed.bring(&[2]).map(|_| ()).expect_err("it was brought already");
    assert_eq!(refused, "record 2 is wanted, but records are read in their order and 3 is next");
    assert!(streamed.bring(&[0, 1]).is_ok());
    assert!(streamed.bring(&[3]).is_err() && streamed.bring(&[5]).is_err());
}

#[test]
fn a_file_that_changes_while_it_is_read_is_noticed() {
    let folder = Folder::new("changing");
    let content = rows(100);
    let open = |path: &PathBuf| Streamed::open(Source::of(path), &schema(), true, false).expect("records");
    let first: Vec<u32> = (0..50).collect();
    let changed = |streamed: &mut Streamed, wanted: &[u32]| {
        let refusal = streamed.bring(wanted).map(|_| ()).expect_err("it was changed");
        assert!(refusal.contains("was changed while it was read"), "{refusal}");
    };
    // The file is longer.
    let path = folder.file("changing.csv", &content);
    let mut streamed = open(&path);
    assert!(streamed.bring(&first).is_ok());
    fs::write(&path, content.clone() + "1,red,no\n").expect("the file is ours");
    changed(&mut streamed, &[50]);
    // The file has the same length, but another time.
    let path = folder.file("changing.csv", &content);
    let mut streamed = open(&path);
    assert!(streamed.bring(&first).is_ok());
    fs::write(&path, content.replace("red", "RED")).expect("the file is ours");
    let later = SystemTime::now() + Duration::from_secs(10);
    File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(later))
        .expect("the file is ours");
    changed(&mut streamed, &[50]);
    // The file is gone.
    let path = folder.file("changing.csv", &content);
    let mut streamed = open(&path);
    fs::remove_file(&path).expect("the file is ours");
    assert!(streamed.bring(&first).is_err());
    // The file has another number of rows, though it looks the same from outside.
    for other in [content.replace("\n0,", "\n0\n"), content.replacen("red,no\n", "red,no ", 1)] {
        let path = folder.file("changing.csv", &content);
        let mut streamed = open(&path);
        let before = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("a time");
        fs::write(&path, &other).expect("the file is ours");
        File::options().write(true).open(&path).and_then(|file| file.set_modified(before)).expect("ours");
        assert_eq!(other.len(), content.len());
        changed(&mut streamed, &(0..100).collect::<Vec<u32>>());
    }
}

#[test]
#[cfg(feature = "parquet")]
fn a_parquet_file_is_the_same_as_a_csv_file_and_what_it_leaves_out_is_missing() {
    let folder = Folder::new("parquet");
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    let message = "message rows { OPTIONAL DOUBLE a; OPTIONAL BINARY c (UTF8); REQUIRED BINARY y (UTF8); }";
    let message = parse_message_type(message).expect("it is a schema");
    let path = folder.file("rows.parquet", "");
    let mut writer =
        SerializedFileWriter::new(File::create(&path).expect("writable"), message.into(), Default::default())
            .expect("a new file");
    let mut csv = "a,c,y\n".to_owned();
    for group in 0..2 {
        let rows: Vec<usize> = (0..40_000).map(|row| group * 40_000 + row).collect();
        let has = |row: &usize, every: usize| i16::from(row % every != 3);
        let number = |row: usize| (row % 1009) as f64 / 97.0;
        let color = |row: usize| ["red", "green", "NA"][row % 3];
        let label = |row: usize| ["no", "yes", "no", "perhaps"][row % 4];
        let mut columns = writer.next_row_group().expect("a new row group");
        let levels: Vec<i16> = rows.iter().map(|row| has(row, 11)).collect();
        let numbers: Vec<f64> = rows.iter().filter(|row| has(row, 11) == 1).map(|&row| number(row)).collect();
        let mut column = columns.next_column().expect("writable").expect("a column");
        column.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None).expect("writable");
        column.close().expect("writable");
        let levels: Vec<i16> = rows.iter().map(|row| has(row, 7)).collect();
        let colors: Vec<ByteArray> =
            rows.iter().filter(|row| has(row, 7) == 1).map(|&row| color(row).into()).collect();
        let mut column = columns.next_column().expect("writable").expect("a column");
        column.typed::<ByteArrayType>().write_batch(&colors, Some(&levels), None).expect("writable");
        column.close().expect("writable");
        let labels: Vec<ByteArray> = rows.iter().map(|&row| label(row).into()).collect();
        let mut column = columns.next_column().expect("writable").expect("a column");
        column.typed::<ByteArrayType>().write_batch(&labels, None, None).expect("writable");
        column.close().expect("writable");
        columns.close().expect("writable");
        for &row in &rows {
            let cell = |every: usize, text: String| if has(&row, every) == 1 { text } else { String::new() };
            let cells =
                [cell(11, number(row).to_string()), cell(7, color(row).to_owned()), label(row).to_owned()];
            csv += &(cells.join(",") + "\n");
        }
    }
    writer.close().expect("the file is complete");
    let refusal = said(load(Source::of(&path), &schema(), false, false));
    assert!(refusal.contains("row 4 of"), "{refusal}");
    let loaded = load(Source::of(&path), &schema(), true, false).expect("records");
    let same = load(Source::of(&folder.file("rows.csv", csv)), &schema(), true, false).expect("records");
    assert_eq!((loaded.skipped, loaded.clipped), (same.skipped, same.clipped));
    assert_eq!(loaded.table.len(), 80_000);
    let mut streamed = Streamed::open(Source::of(&path), &schema(), true, false).expect("records");
    streamed.pad_to(81_000);
    for first in (0..81_000).step_by(3000) {
        let wanted: Vec<u32> = (first..first + 3000).collect();
        let (table, _) = streamed.bring(&wanted).expect("the next records");
        for (place, &index) in wanted.iter().enumerate().filter(|(_, index)| **index < 80_000) {
            assert_eq!(record(&loaded.table, index as usize), record(&same.table, index as usize));
            assert_eq!(record(table, place), record(&same.table, index as usize));
        }
    }
}
