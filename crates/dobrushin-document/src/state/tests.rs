use super::*;
use crate::RunFile;

fn print(row: u8) -> Print {
    RowKey::new([1; 32]).print(Some([&[row][..]].into_iter()))
}

/// The state of rows, one for each letter; capitals were deleted.
fn state(rows: &str) -> State {
    let run = RunFile::built_in().expect("it is built in");
    let deleted = rows.bytes().filter(u8::is_ascii_uppercase).count() as u64;
    let request = Forgotten { records: deleted, steps: 7 };
    State {
        run: SelfContained::from_json(&run.json()).expect("it names no file"),
        seed: None,
        requests: Some(request).filter(|_| deleted > 0).into_iter().collect(),
        kept: Kept {
            iterate: vec![0.1, -1e-300, 1.0 / 3.0],
            steps: 17,
            least_noise: 0.1 + 0.2,
            drawn: 1 << 60,
            order: vec![2, 0, u32::MAX],
        },
        key: RowKey::new([1; 32]),
        rows: rows.bytes().map(|row| row.is_ascii_lowercase().then(|| print(row))).collect(),
    }
}

fn refusal(bytes: &[u8]) -> String {
    match State::read(bytes, "s") {
        Ok(_) => panic!("it is read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_state_is_read_as_it_was_written_bit_for_bit() {
    for rows in ["abca", "aBcA", "x"] {
        let written = state(rows);
        let read = State::read(&written.bytes(), "s").expect("it is whole");
        assert!(read.kept == written.kept && read.rows == written.rows && read.requests == written.requests);
        assert_eq!(read.bytes(), written.bytes());
        assert_eq!(read.run.json(), written.run.json());
    }
}

#[test]
fn the_file_says_first_that_it_is_secret_and_has_no_trace_of_deleted_rows() {
    let text = String::from_utf8(state("aBc").bytes()).expect("UTF-8");
    assert!(
        text.starts_with("dobrushin-state 1 ")
            && text.lines().nth(1).is_some_and(|line| line.starts_with("SECRET."))
    );
    assert!(text.contains(&hex(&print(b'a'))) && !text.contains(&hex(&print(b'B'))));
}

#[test]
fn every_damage_is_found_and_nothing_else_is_taken_for_a_state() {
    let bytes = state("abca").bytes();
    for cut in [bytes.len() - 1, bytes.len() / 2, 100, 60] {
        assert!(refusal(&bytes[..cut]).contains("damaged"), "{cut}");
    }
    for place in (16..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(State::read(&changed, "s").is_err(), "{place}");
    }
    for other in [&b""[..], b"x,y\n", b"dobrushin-statement 1 2\n", b"\xff\xfe", b"dobrushin-audit-state 1\n"]
    {
        assert!(refusal(other).contains("is not a state"), "{other:?}");
    }
    assert!(refusal(b"dobrushin-state 2 0\n").contains("version 2"));
    assert!(refusal(b"dobrushin-state 0 0\n").contains("damaged"));
    assert!(refusal(b"dobrushin-state \xff 0\n").contains("damaged"));
    assert!(refusal(b"dobrushin-state 1").contains("damaged"));
}

#[test]
fn content_that_contradicts_itself_is_refused_even_with_a_right_checksum() {
    let text = String::from_utf8(state("aBc").bytes()).expect("UTF-8");
    let (_, rest) = text.split_once('\n').expect("lines");
    let with = |old: &str, new: &str| {
        assert!(rest.contains(old), "{old}");
        let rest = rest.replace(old, new);
        refusal(format!("{TITLE} {SCHEMA} {}\n{rest}", digest(rest.as_bytes())).as_bytes())
    };
    assert!(with("\"deleted\":[1]", "\"deleted\":[]").contains("damaged"));
    assert!(with("\"deleted\":[1]", "\"deleted\":[1,1]").contains("damaged"));
    assert!(with("\"deleted\":[1]", "\"deleted\":[9]").contains("damaged"));
    assert!(with("\"records\":1", "\"records\":2").contains("damaged"));
    assert!(with("\"drawn\":", "\"more\":1,\"drawn\":").contains("damaged"));
    assert!(with("\"key\":\"01", "\"key\":\"").contains("damaged"));
    assert!(with("\"key\":\"01", "\"key\":\"zz").contains("damaged"));
    assert!(with("\"iterate\":[0.1", "\"iterate\":[null").contains("damaged"));
}

/// The letters of the data that are given now, and of the rows that are to be removed.
fn find(trained: &str, data: &str, wanted: &str) -> Result<(Vec<Option<usize>>, Vec<u32>), String> {
    let data: Vec<Print> = data.bytes().map(print).collect();
    let lines: Vec<(u64, Print)> = (1..).zip(wanted.bytes().map(print)).collect();
    let found = matched(&state(trained), &data, &Wanted::Like(&lines));
    found.map(|found| (found.remaining, found.deleted)).map_err(|error| error.to_string())
}

#[test]
fn rows_are_found_whether_or_not_they_are_still_in_the_data() {
    let of_a_and_c = (vec![Some(0), None, Some(2)], vec![1]);
    assert_eq!(find("abc", "abc", "b"), Ok(of_a_and_c));
    assert_eq!(find("abc", "ac", "b"), Ok((vec![Some(0), None, Some(1)], vec![1])));
    // The second row was deleted before, and is still there, or not; then the third is deleted.
    assert_eq!(find("aBcd", "abcd", "c"), Ok((vec![Some(0), None, None, Some(3)], vec![2])));
    assert_eq!(find("aBcd", "a?cd", "c"), Ok((vec![Some(0), None, None, Some(3)], vec![2])));
    assert_eq!(find("aBcd", "acd", "c"), Ok((vec![Some(0), None, None, Some(2)], vec![2])));
    assert_eq!(find("aBcd", "ad", "c"), Ok((vec![Some(0), None, None, Some(1)], vec![2])));
}

#[test]
fn rows_that_were_deleted_before_may_be_missing_one_by_one() {
    for (data, remaining) in [
        ("abcde", vec![Some(0), None, None, None, Some(4)]),
        ("acde", vec![Some(0), None, None, None, Some(3)]),
        ("abde", vec![Some(0), None, None, None, Some(3)]),
        ("ade", vec![Some(0), None, None, None, Some(2)]),
        // The row of the request may be missing, too.
        ("abe", vec![Some(0), None, None, None, Some(2)]),
        ("ae", vec![Some(0), None, None, None, Some(1)]),
    ] {
        assert_eq!(find("aBCde", data, "d"), Ok((remaining, vec![3])), "{data}");
    }
    // A deleted row that looks like the next one is not taken for it.
    assert_eq!(find("aBbc", "abbc", "c"), Ok((vec![Some(0), None, Some(2), None], vec![3])));
    assert_eq!(find("aBbc", "abc", "c"), Ok((vec![Some(0), None, Some(1), None], vec![3])));
}

#[test]
fn of_rows_that_are_alike_those_are_deleted_that_are_missing() {
    assert_eq!(find("xyx", "xyx", "x"), Ok((vec![None, Some(1), Some(2)], vec![0])));
    assert_eq!(find("xyx", "yx", "x"), Ok((vec![None, Some(0), Some(1)], vec![0])));
    assert_eq!(find("xyx", "xy", "x"), Ok((vec![Some(0), Some(1), None], vec![2])));
    assert_eq!(find("xyx", "y", "xx"), Ok((vec![None, Some(0), None], vec![0, 2])));
    assert_eq!(find("xyx", "xyx", "xx"), Ok((vec![None, Some(1), None], vec![0, 2])));
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let refused = |trained, data, wanted, said: &str| {
        let error = find(trained, data, wanted).expect_err("it does not fit");
        assert!(error.contains(said), "{error}");
    };
    refused("abc", "abc", "az", "row 2 of the rows to remove is no row of the training data");
    refused("aBc", "abc", "b", "or was already deleted");
    refused("abc", "abc", "bb", "row 2 of the rows to remove is given more often");
    refused("abc", "abz", "b", "row 3 of the data");
    refused("abc", "bac", "b", "row 1 of the data");
    refused("abc", "ca", "b", "row 1 of the data");
    refused("abc", "az", "b", "row 2 of the data");
    refused("abc", "abcd", "b", "row 4 of the data");
    refused("aBcd", "a", "c", "1 rows, but 4 were trained on");
    refused("abc", "", "b", "0 rows, but 3 were trained on");
    // One row is missing, but another one than the request names.
    refused("abc", "ab", "b", "2 rows, but 3 were trained on");
    refused("abcd", "bc", "a", "row 1 of the data");
    refused("abc", "abc", "", "names no row");
    refused("abc", "abc", "cab", "deletes all rows that remain");
    refused("aBc", "ac", "ca", "deletes all rows that remain");
}

#[test]
fn rows_by_number_are_those_of_the_data() {
    let find = |trained: &str, data: &str, rows: &[usize]| {
        let data: Vec<Print> = data.bytes().map(print).collect();
        let found = matched(&state(trained), &data, &Wanted::Rows(rows));
        found.map(|found| found.deleted).map_err(|error| error.to_string())
    };
    assert_eq!(find("xyx", "xyx", &[2]), Ok(vec![2]));
    assert_eq!(find("aBcd", "acd", &[1, 2, 1]), Ok(vec![2, 3]));
    // A row that was already deleted does not count.
    assert_eq!(find("aBcd", "abcd", &[1, 2]), Ok(vec![2]));
    assert!(find("aBcd", "abcd", &[1]).is_err_and(|error| error.contains("already deleted")));
    assert!(find("aBcd", "abcd", &[]).is_err_and(|error| error.contains("names no row")));
    // Rows that are gone cannot be named by their number.
    assert!(find("abc", "ac", &[1]).is_err_and(|error| error.contains("row 2 of the data")));
}
