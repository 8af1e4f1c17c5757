//! Parquet files, with `cargo test -p dobrushin-cli --features parquet --test suite local_parquet::`.
#![cfg(feature = "parquet")]

use crate::local_support::{column, estimate, estimation, folder, names, privatize, said};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A Parquet file of three columns in two row groups; some texts and numbers are missing.
fn answers(path: &Path) {
    let schema = "message answers { REQUIRED INT64 id; OPTIONAL BINARY answer (UTF8); OPTIONAL DOUBLE minutes; \
                  REQUIRED INT32 day (DATE); }";
    let schema = Arc::new(parse_message_type(schema).expect("it is a schema"));
    let file = File::create(path).expect("the folder is writable");
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).expect("a new file");
    for group in 0..2 {
        let rows: Vec<i64> = (0..70_000).map(|row| group * 70_000 + row).collect();
        let text = |row: &i64| ByteArray::from(if row % 10 < 7 { "yes" } else { "no" });
        // In the second group every thousandth row has neither a text nor a number.
        let present: Vec<i16> = rows.iter().map(|row| i16::from(group == 0 || row % 1000 != 5)).collect();
        let there = || rows.iter().zip(&present).filter(|(_, present)| **present == 1).map(|(row, _)| row);
        let texts: Vec<ByteArray> = there().map(text).collect();
        let numbers: Vec<f64> = there().map(|row| (row % 21) as f64).collect();
        let days = vec![0i32; rows.len()];
        let mut columns = writer.next_row_group().expect("a new row group");
        put::<Int64Type>(&mut columns, &rows, None);
        put::<ByteArrayType>(&mut columns, &texts, Some(&present));
        put::<DoubleType>(&mut columns, &numbers, Some(&present));
        put::<Int32Type>(&mut columns, &days, None);
        columns.close().expect("closed");
    }
    writer.close().expect("the file is complete");
}

/// Writes the next column of a row group.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    present: Option<&[i16]>,
) {
    let mut column = group.next_column().expect("it can be written").expect("there is another column");
    column.typed::<T>().write_batch(values, present, None).expect("it can be written");
    column.close().expect("it can be written");
}

const SEEDED: [&str; 7] = ["--epsilon", "2", "--seed", "9", "--not-private", "--values", "yes,no"];

#[test]
fn reports_are_the_same_in_both_forms() {
    let folder = folder("both-forms");
    column(&folder, "answers.csv", (0..200_000).map(|person| if person % 3 == 0 { "yes" } else { "no" }));
    for name in ["k-rr", "oue", "olh", "hadamard"] {
        let words = [&SEEDED[..], &["--mechanism", name]].concat();
        said(privatize(&folder, "answers.csv", "reports.csv", &words), 0);
        said(privatize(&folder, "answers.csv", "reports.parquet", &words), 0);
        assert_eq!(estimate(&folder, &["reports.csv"]), estimate(&folder, &["reports.parquet"]), "{name}");
    }
    column(&folder, "numbers.csv", (0..200_000).map(|person| person % 11));
    let words =
        ["--mechanism", "laplace", "--epsilon", "1", "--bounds", "0,10", "--seed", "9", "--not-private"];
    said(privatize(&folder, "numbers.csv", "reports.csv", &words), 0);
    said(privatize(&folder, "numbers.csv", "reports.parquet", &words), 0);
    assert_eq!(estimate(&folder, &["reports.csv"]), estimate(&folder, &["reports.parquet"]));
}

#[test]
fn texts_and_numbers_are_read_and_missing_ones_are_bad_rows() {
    let folder = folder("parquet-columns");
    answers(&folder.join("answers.parquet"));
    let words = [&SEEDED[..], &["--mechanism", "k-rr"]].concat();
    let refusal = said(privatize(&folder, "answers.parquet", "reports.parquet", &words), 2);
    assert!(
        refusal.contains("row 70006 of answers.parquet: column \"answer\": the cell is empty"),
        "{refusal}"
    );
    assert_eq!(names(&folder), ["answers.parquet"]);
    let skipping = [&words[..], &["--skip-bad"]].concat();
    let summary = said(privatize(&folder, "answers.parquet", "reports.csv", &skipping), 0);
    assert!(summary.contains("140000 reports") && summary.contains("70 rows could not be used"), "{summary}");
    let answer = estimate(&folder, &["reports.csv"]);
    let yes = answer["frequencies"][0]["frequency"].as_f64().expect("a number");
    assert!((yes - 0.7).abs() < 0.02, "{yes}");
    let numbers =
        ["local", "privatize", "answers.parquet", "--column", "minutes", "--output", "reports.parquet"];
    let more =
        ["--mechanism", "one-bit", "--epsilon", "2", "--bounds", "0,20", "--seed", "9", "--not-private"];
    let mut command = crate::support::dobrushin(&[&numbers[..], &more, &["--skip-bad"]].concat());
    command.current_dir(&folder).assert().success();
    let mean = estimate(&folder, &["reports.parquet"])["mean"].as_f64().expect("a number");
    assert!((mean - 10.0).abs() < 0.2, "{mean}");
}

#[test]
fn columns_and_files_of_another_kind_are_refused() {
    let folder = folder("parquet-refused");
    answers(&folder.join("answers.parquet"));
    let of = |column: &str| {
        let words = ["local", "privatize", "answers.parquet", "--column", column, "--output", "reports.csv"];
        let mut command =
            crate::support::dobrushin(&[&words[..], &["--mechanism", "k-rr"], &SEEDED].concat());
        command.current_dir(&folder);
        said(command, 2)
    };
    assert!(of("day").contains("--column day of answers.parquet is a column of"), "{}", of("day"));
    assert!(of("week").contains("give a name as the file has it, or a number from 1 to 4"), "{}", of("week"));
    let refusal = said(estimation(&folder, &["answers.parquet"]), 2);
    assert!(refusal.contains("does not say which mechanism made its reports"), "{refusal}");
    std::fs::write(folder.join("text.parquet"), "answer\nyes\n").expect("writable");
    let refusal = said(estimation(&folder, &["text.parquet"]), 2);
    assert!(refusal.contains("cannot read text.parquet"), "{refusal}");
}
