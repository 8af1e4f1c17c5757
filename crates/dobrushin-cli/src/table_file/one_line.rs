//! Files that differ in one line.

use super::csv_rows::{CsvRows, LONGEST_LINE, Torn};
use dobrushin::numeric::bits::RandomBits;
use dobrushin::numeric::bits::below;
use dobrushin_train::{Generators, Seed};

/// Something that a line may hold: whatever has a meaning in some CSV file, and bytes that have none.
const PIECES: [&[u8]; 20] = [
    b"\"",
    b"\"",
    b"\"",
    b"\"\"",
    b",",
    b",",
    b"\r",
    b"\r",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
    b" ",
    b"\t",
    b"#",
    b"'",
    b"\\",
    b"5",
    b"red",
    b"yes",
    b"\x1b",
];

/// Calls `compare` this many times, more in the deep tests, with a place among the lines and a file in which the line
/// there holds other bytes. Some of the files also end their lines with a carriage return, and some do not end the last
/// one.
pub fn other_lines(
    seed: u64,
    cases: usize,
    header: &str,
    lines: &[&str],
    mut compare: impl FnMut(usize, &[u8]),
) {
    let mut bits = Generators::new(Seed::Known(seed)).expect("a known seed").stream(0);
    for _ in 0..dobrushin_reference::depth(cases, 20 * cases) {
        let place = below(lines.len() as u64, &mut bits) as usize;
        let ending: &[u8] = [&b"\n"[..], b"\r\n"][below(2, &mut bits) as usize];
        let ends_last = below(2, &mut bits) == 0;
        let mut file = header.as_bytes().to_vec();
        for (index, line) in lines.iter().enumerate() {
            file.extend_from_slice(ending);
            match index == place {
                true => file.extend(other(&mut bits, index + 1 < lines.len() || ends_last)),
                false => file.extend_from_slice(line.as_bytes()),
            }
        }
        file.extend_from_slice(if ends_last { ending } else { b"" });
        compare(place, &file);
    }
}

/// Any bytes without a line feed.
fn other(bits: &mut impl RandomBits, may_be_nothing: bool) -> Vec<u8> {
    let mut line = Vec::new();
    for _ in 0..below(12, bits) {
        match below(4, bits) {
            0 => line.push(below(256, bits) as u8),
            _ => line.extend_from_slice(PIECES[below(PIECES.len() as u64, bits) as usize]),
        }
    }
    line.retain(|byte| *byte != b'\n');
    if line.is_empty() && !may_be_nothing {
        line.push(b'"');
    }
    line
}

/// All rows: their cells, or why they have none.
fn rows(file: &[u8]) -> Vec<Result<Vec<Vec<u8>>, Torn>> {
    let mut rows = CsvRows::new(file);
    let mut all = Vec::new();
    while let Some(row) = rows.next_row().expect("memory can be read") {
        all.push(row.map(|row| row.iter().map(<[u8]>::to_vec).collect()));
    }
    assert_eq!(rows.line(), all.len() as u64);
    all
}

const LINES: [&str; 6] = ["5,red,no", "\"6\",\"a \"\"b\"\", c\",yes", "", "7,green", ",,", "\"x\"y,\"\",z"];

#[test]
fn a_line_changes_neither_the_number_of_rows_nor_any_other_row() {
    let expected = rows(format!("a,c,y\n{}", LINES.join("\n")).as_bytes());
    let cells = |row: &[&str]| Ok(row.iter().map(|cell| cell.as_bytes().to_vec()).collect());
    assert_eq!(expected[2..5], [cells(&["6", "a \"b\", c", "yes"]), cells(&[""]), cells(&["7", "green"])]);
    assert_eq!(expected[5..], [cells(&["", "", ""]), cells(&["xy", "", "z"])]);
    other_lines(1, 20_000, "a,c,y", &LINES, |place, file| {
        let mut found = rows(file);
        assert_eq!(found.len(), expected.len(), "{:?}", String::from_utf8_lossy(file));
        found[place + 1] = expected[place + 1].clone();
        assert_eq!(found, expected, "{:?}", String::from_utf8_lossy(file));
    });
}

#[test]
fn a_quote_that_is_not_closed_on_its_line_and_a_line_without_end_are_bad_rows_of_their_own() {
    let found = rows(b"a,b\n1,\"two\nthree\",4\n\"");
    assert_eq!(found[1..3], [Err(Torn::OpenQuote(2)), Ok(vec![b"three\"".to_vec(), b"4".to_vec()])]);
    assert_eq!(found[3], Err(Torn::OpenQuote(1)));
    for (length, expected) in [(LONGEST_LINE, None), (LONGEST_LINE + 1, Some(Torn::TooLong(LONGEST_LINE)))] {
        for ending in ["\n", ""] {
            let file = format!("a\n{}\n{}{ending}", "x".repeat(length), "y".repeat(length));
            let found = rows(file.as_bytes());
            assert_eq!(found.len(), 3);
            assert_eq!(
                (found[1].as_ref().err(), found[2].as_ref().err()),
                (expected.as_ref(), expected.as_ref())
            );
        }
    }
    // A line before the header may be longer: it may list millions of categories.
    let file = format!("{}\na\n", "x".repeat(LONGEST_LINE + 1));
    let mut after = CsvRows::new(file.as_bytes());
    assert_eq!(after.next_raw_line().expect("memory").map(<[u8]>::len), Ok(LONGEST_LINE + 1));
    assert!(
        after
            .next_row()
            .is_ok_and(|row| row.is_some_and(|row| row.is_ok_and(|row| row.get(0) == Some(b"a"))))
    );
    let many = rows(",".repeat(100_000).as_bytes());
    assert_eq!(many[0].as_ref().map(Vec::len), Ok(100_001));
}

#[test]
fn batches_are_bounded_by_bytes_however_wide_rows_are() {
    let path = std::env::temp_dir().join(format!("dobrushin-wide-{}.csv", std::process::id()));
    let (names, row): (Vec<String>, _) =
        ((0..2000).map(|name| name.to_string()).collect(), "1.5,".repeat(1999) + "2\n");
    std::fs::write(&path, names.join(",") + "\n" + &row.repeat(1000))
        .expect("the temporary folder is writable");
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut columns = super::columns(super::Source::of(&path), &wanted).expect("all columns");
    let mut rows = 0;
    loop {
        let (cells, _) = columns.next().expect("rows");
        rows += cells.len();
        // A row takes up 6 kB of text and 16 kB of numbers.
        assert!(cells.len() <= (1 << 20) / 22_000 + 1, "{}", cells.len());
        if cells.is_empty() {
            break;
        }
    }
    assert_eq!(rows, 1000);
    std::fs::remove_file(&path).expect("the file is ours");
}
