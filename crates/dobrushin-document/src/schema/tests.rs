//! Schemas that are read, refused and stored, and what they make of rows.

use super::*;
use crate::DocumentError;
use dobrushin_train::schema::{CellProblem, Clipped, Encoder, Labels, Schema};
use dobrushin_train::{Enforced, Table, Target};
use serde_json::json;

const ADULT: &str = r#"
label = "income"
missing = ["", "?", "NA"]
norm = 2.0

[columns.workclass]
kind = "category"
categories = ["Private", "Self-emp", "Gov"]
if-missing = "Private"
if-unknown = "none"

[columns.age]
kind = "number"
lower = 17
upper = 90
if-missing = 40

[columns.income]
kind = "category"
categories = ["<=50K", ">50K"]
"#;

/// The message and the help.
fn whole(error: &DocumentError) -> String {
    format!("{error}; {}", error.help.as_deref().unwrap_or_default())
}

fn schema(text: &str) -> Schema {
    parse(text).unwrap_or_else(|error| panic!("{}", whole(&error)))
}

/// The features and targets of a row, and how many values were clipped.
fn encoded(schema: &Schema, cells: &[&[u8]]) -> Result<(Vec<f32>, Vec<f32>, u64), CellProblem> {
    let (mut features, mut targets) = (vec![7.0], vec![8.0]);
    let result = Encoder::new(schema).encode(cells.iter().copied(), true, &mut features, &mut targets);
    if result.is_err() {
        assert_eq!((&features[..], &targets[..]), (&[7.0][..], &[8.0][..]), "nothing is appended");
    }
    result.map(|clipped| (features.split_off(1), targets.split_off(1), clipped.values))
}

#[test]
fn a_schema_says_what_its_records_are() {
    let schema = schema(ADULT);
    assert_eq!(schema.columns_wanted(), ["age", "workclass", "income"]);
    let names = ["age", "workclass=Private", "workclass=Self-emp", "workclass=Gov", "intercept"];
    assert_eq!(schema.feature_names(), names);
    let bounds = schema.bounds();
    assert_eq!((bounds.dimension, bounds.norm.get(), bounds.target), (5, 2.0, Target::Classes(2)));
    assert_eq!(schema.classes(0), Some(&["<=50K".to_owned(), ">50K".to_owned()][..]));
    assert_eq!((schema.classes(1), schema.tasks(), schema.labels()), (None, 1, Labels::Category));
}

#[test]
fn rows_become_what_the_formulas_say() {
    let schema = schema(ADULT);
    // (50 − 53.5)/36.5.
    let row = encoded(&schema, &[b"50", b"Gov", b">50K"]);
    assert_eq!(row, Ok((vec![-3.5 / 36.5, 0.0, 0.0, 1.0, 1.0], vec![1.0], 0)));
    // Values outside the bounds are moved to them and counted.
    assert_eq!(
        encoded(&schema, &[b"1e9", b"Private", b"<=50K"]),
        Ok((vec![1.0, 1.0, 0.0, 0.0, 1.0], vec![0.0], 1))
    );
    assert_eq!(encoded(&schema, &[b"-3", b"Private", b"<=50K"]).map(|row| (row.0[0], row.2)), Ok((-1.0, 1)));
    // Missing and unknown cells become what the schema says.
    let row = encoded(&schema, &[b"?", b"", b">50K"]);
    assert_eq!(row, Ok((vec![-13.5 / 36.5, 1.0, 0.0, 0.0, 1.0], vec![1.0], 0)));
    let row = encoded(&schema, &[b"17", b"Never-worked", b">50K"]);
    assert_eq!(row, Ok((vec![-1.0, 0.0, 0.0, 0.0, 1.0], vec![1.0], 0)));
}

#[test]
fn labels_are_left_out_if_they_are_not_asked_for() {
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    let cells = [&b"17"[..], b"Private"];
    let clipped = Encoder::new(&schema(ADULT)).encode(cells.into_iter(), false, &mut features, &mut targets);
    assert_eq!((clipped, features.len(), targets.len()), (Ok(Clipped { values: 0 }), 5, 0));
}

#[test]
fn numbers_and_counts_as_labels_keep_their_bounds() {
    let text = r#"
        label = ["b", "a"]
        intercept = false
        columns.x = { kind = "number", lower = -1, upper = 1 }
        columns.a = { kind = "number", lower = 0, upper = 10 }
        columns.b = { kind = "number", lower = 100, upper = 300 }
    "#;
    let numbers = schema(text);
    assert_eq!(numbers.columns_wanted(), ["x", "b", "a"], "tasks are in the order of the list");
    assert_eq!(numbers.bounds().target, Target::Range { lower: -1.0, upper: 1.0 });
    assert_eq!(encoded(&numbers, &[b"0.5", b"150", b"11"]), Ok((vec![0.5], vec![-0.5, 1.0], 1)));
    assert_eq!((numbers.label_value(0, -0.5), numbers.label_value(1, 1.0)), (150.0, 10.0));
    let counts = schema(
        &text
            .replace("kind = \"number\", lower = 0,", "kind = \"count\",")
            .replace("kind = \"number\", lower = 100,", "kind = \"count\","),
    );
    assert_eq!(counts.bounds().target, Target::Range { lower: 0.0, upper: 300.0 });
    assert_eq!(encoded(&counts, &[b"0", b"301", b"7.0"]), Ok((vec![0.0], vec![300.0, 7.0], 1)));
    assert_eq!(counts.label_value(0, 12.5), 12.5);
    for count in [&b"-1"[..], b"1.5", b"", b"NaN", b"inf", b"many"] {
        let problem = encoded(&counts, &[b"0", b"1", count]).expect_err("it is no count");
        assert!(problem.column == "a" && problem.what.contains("a whole number, 0 or more"), "{problem}");
    }
}

#[test]
fn without_a_norm_it_is_the_largest_that_a_row_can_have() {
    let schema = schema(&ADULT.replace("norm = 2.0", ""));
    let norm = schema.bounds().norm.get();
    assert!(norm >= 3f64.sqrt() && norm <= 3f64.sqrt() * (1.0 + 1e-9), "{norm}");
    assert!(!schema.declares_norm());
    // The longest row is not changed at all.
    let (features, targets, _) = encoded(&schema, &[b"90", b"Gov", b">50K"]).expect("it is a row");
    let mut table = Table::new(schema.bounds(), 1);
    assert_eq!(table.push(&features, &targets), Enforced::default());
    assert_eq!(table.features(0), features);
}

#[test]
fn what_is_declared_is_never_missing() {
    let text = r#"
        label = "y"
        columns.x = { kind = "category", categories = ["NA", "none"], if-missing = "none" }
        columns.y = { kind = "category", categories = ["?", "yes"] }
    "#;
    let schema = schema(text);
    assert_eq!(encoded(&schema, &[b"NA", b"?"]), Ok((vec![1.0, 0.0, 1.0], vec![0.0], 0)));
    // "none" is a category here.
    assert_eq!(encoded(&schema, &[b"", b"yes"]), Ok((vec![0.0, 1.0, 1.0], vec![1.0], 0)));
}

#[test]
fn no_message_says_what_a_cell_holds() {
    let strict = schema(
        r#"
        label = "y"
        columns.x = { kind = "number", lower = 0, upper = 1 }
        columns.c = { kind = "category", categories = ["a", "b"] }
        columns.y = { kind = "category", categories = ["no", "yes"] }
    "#,
    );
    let secrets: [&[u8]; 6] = [b"S3CRET", b"1,5", b"0x1F", b"\xff\xfeS3CRET", b"infinity", b"-nan"];
    for secret in secrets {
        for column in 0..3 {
            let mut cells: [&[u8]; 3] = [b"a", b"0.5", b"yes"];
            cells[column] = secret;
            let problem = encoded(&strict, &cells).expect_err("no column accepts it");
            assert_eq!(problem.column, ["c", "x", "y"][column]);
            let said = format!("{problem} {problem:?}");
            let secret = String::from_utf8_lossy(secret);
            assert!(
                said.contains("accepted") && !said.contains(&*secret) && !said.contains("S3CRET"),
                "{said}"
            );
        }
    }
    let missing = encoded(&strict, &[b"a", b"NaN", b"yes"]).expect_err("there is no if-missing");
    assert_eq!(missing.what, "the cell is missing; a finite number is accepted");
    let none = encoded(&strict, &[b"a", b"0.5", b"maybe"]).expect_err("it is no class");
    assert_eq!(none.what, "the cell is not accepted; one of the 2 declared categories (\"no\", \"yes\") is");
}

#[test]
fn a_schema_returns_from_its_canonical_form() {
    let json = canonical_json(&schema(ADULT));
    let expected = concat!(
        r#"{"columns":{"age":{"if-missing":40.0,"kind":"number","lower":17.0,"upper":90.0},"#,
        r#""income":{"categories":["<=50K",">50K"],"kind":"category"},"#,
        r#""workclass":{"categories":["Private","Self-emp","Gov"],"if-missing":"Private","if-unknown":"none","#,
        r#""kind":"category"}},"intercept":true,"label":["income"],"missing":["","?","NA"],"norm":2.0}"#
    );
    assert_eq!(json.to_string(), expected);
    assert_eq!(from_json(&json).ok(), Some(schema(ADULT)));
    // Another program, sha256sum, gave the digest of that line.
    assert_eq!(hash(&schema(ADULT)), "e15cd1b873a9cd63005eee3f23d57a71511bf797601b99951c9a9392d4c0956f");
    assert!(from_json(&json!({ "label": null })).is_err());
    assert!(from_json(&json!([1])).is_err());
}

#[test]
fn what_means_the_same_has_the_same_hash_and_what_does_not_has_not() {
    let known = hash(&schema(ADULT));
    for (from, to) in [
        ("label = \"income\"", "intercept = true\nlabel = [\"income\"]"),
        ("lower = 17", "lower = 17.0"),
        ("[\"\", \"?\", \"NA\"]", "[\"NA\", \"\", \"?\"]"),
        ("kind = \"number\"\nlower = 17", "lower = 1.7e1\nkind = \"number\""),
    ] {
        assert!(ADULT.contains(from));
        assert_eq!(hash(&schema(&ADULT.replace(from, to))), known, "{to}");
    }
    for (from, to) in [
        ("norm = 2.0", ""),
        ("norm = 2.0", "intercept = false"),
        ("lower = 17", "lower = 16"),
        ("[\"\", \"?\", \"NA\"]", "[\"\", \"?\"]"),
        ("\"Self-emp\", \"Gov\"", "\"Gov\", \"Self-emp\""),
        ("if-unknown = \"none\"", "if-unknown = \"Gov\""),
        ("if-missing = 40", ""),
    ] {
        assert!(ADULT.contains(from));
        assert_ne!(hash(&schema(&ADULT.replace(from, to))), known, "{to}");
    }
}

#[test]
fn a_schema_that_is_wrong_names_the_key_and_what_is_accepted() {
    for (from, to, said) in [
        ("label = \"income\"", "", "label is missing; add it, for example: label = \"income\""),
        ("label = \"income\"", "label = 3", "label is 3, but it must be the name of a column"),
        ("label = \"income\"", "label = []", "label is an empty list"),
        ("label = \"income\"", "label = [\"income\", \"income\"]", "label lists \"income\" twice"),
        ("label = \"income\"", "label = \"incme\"", "no such column is declared; did you mean \"income\"?"),
        (
            "label = \"income\"",
            "label = [\"income\", \"workclass\"]",
            "columns.workclass.if-missing is for features",
        ),
        ("norm = 2.0", "norms = 2.0", "norms is not a key of a schema; did you mean norm?"),
        ("norm = 2.0", "norm = 0", "norm is 0, but it must be a number above 0"),
        ("norm = 2.0", "norm = inf", "norm is inf, but it must be a finite number"),
        ("norm = 2.0", "norm = \"2\"", "norm is \"2\", but it must be a finite number"),
        ("norm = 2.0", "intercept = 1", "intercept is 1, but it must be true or false"),
        ("norm = 2.0", "columns.x = 3", "columns.x is not a table of keys; write [columns.x]"),
        ("[\"\", \"?\", \"NA\"]", "\"?\"", "missing is \"?\", but it must be a list of texts"),
        ("[\"\", \"?\", \"NA\"]", "[\"\", 1]", "missing is a list, but it must be a list of texts"),
        ("[\"\", \"?\", \"NA\"]", "[\" ?\"]", "missing lists \" ?\", but cells are read without"),
        ("lower = 17", "lower = 90", "columns.age.lower is 90, but it must be below upper, which is 90"),
        ("lower = 17", "lower = nan", "columns.age.lower is nan, but it must be a finite number"),
        ("upper = 90", "upper = inf", "columns.age.upper is inf, but it must be a finite number"),
        ("upper = 90", "", "columns.age.upper is missing; add it, for example: upper = 100"),
        (
            "upper = 90",
            "uper = 90",
            "columns.age.uper is not a key of kind = \"number\"; did you mean upper?",
        ),
        (
            "if-missing = 40",
            "if-missing = 91",
            "columns.age.if-missing is 91, but it must be a number from 17 to 90",
        ),
        (
            "if-missing = 40",
            "if-missing = \"none\"",
            "columns.age.if-missing is \"none\", but it must be a finite",
        ),
        ("kind = \"number\"\n", "", "columns.age.kind is missing"),
        (
            "kind = \"number\"",
            "knd = \"number\"",
            "columns.age.knd is not a key of a column; did you mean kind?",
        ),
        (
            "kind = \"number\"",
            "kind = \"numbr\"",
            "one of \"number\", \"category\"; did you mean \"number\"?",
        ),
        ("kind = \"number\"", "kind = \"count\"", "counts are for labels"),
        ("kind = \"number\"", "kind = 7", "columns.age.kind is 7, but it must be one of"),
        ("\"Self-emp\"", "\"Private\"", "columns.workclass.categories lists \"Private\" twice"),
        ("\"Self-emp\"", "\" Self\"", "columns.workclass.categories lists \" Self\", but cells"),
        (
            "[\"Private\", \"Self-emp\", \"Gov\"]",
            "[]",
            "columns.workclass.categories lists 0, but there must be 1",
        ),
        ("if-missing = \"Private\"", "if-missing = \"Privat\"", "or \"none\"; did you mean \"Private\"?"),
        (
            "if-unknown = \"none\"",
            "if-unknown = 0",
            "columns.workclass.if-unknown is 0, but it must be one of",
        ),
        (
            "[\"<=50K\", \">50K\"]",
            "[\"<=50K\"]",
            "columns.income.categories lists 1, but there must be 2 or more",
        ),
        ("[columns.age]", "[columns.workclass]", "the schema is not TOML"),
    ] {
        assert!(ADULT.contains(from), "{from}");
        let error = parse(&ADULT.replacen(from, to, 1)).expect_err(to);
        let whole = whole(&error);
        assert!(whole.contains(said), "{to}: {whole}");
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let column = "columns.x = { kind = \"number\", lower = 0, upper = 1 }\n";
    let two =
        |a: &str, b: &str| format!("label = [\"a\", \"b\"]\n{column}columns.a = {a}\ncolumns.b = {b}\n");
    let (number, classes) = (
        "{ kind = \"number\", lower = 0, upper = 1 }",
        "{ kind = \"category\", categories = [\"0\", \"1\"] }",
    );
    let more = "{ kind = \"category\", categories = [\"0\", \"1\", \"2\"] }";
    assert!(parse(&two(classes, classes)).is_ok());
    for (a, b) in [(number, classes), (classes, more), (number, "{ kind = \"count\", upper = 1 }")] {
        let error = parse(&two(a, b)).expect_err("the kinds differ");
        assert!(error.to_string().contains("all labels must be of one kind"), "{error}");
    }
    let only = parse(&format!("label = \"a\"\ncolumns.a = {number}")).expect_err("nothing to predict from");
    assert!(only.to_string().contains("columns have labels only"), "{only}");
    let many: Vec<String> = (0..10_000).map(|place| format!("\"{place}\"")).collect();
    let wide = |count: usize| {
        let list = many[..count].join(",");
        parse(&format!(
            "label = \"a\"\ncolumns.a = {number}\ncolumns.x = {{ kind = \"category\", categories = [{list}] }}"
        ))
    };
    assert_eq!(wide(9_999).map(|schema| schema.bounds().dimension).ok(), Some(10_000));
    let error = wide(10_000).expect_err("the intercept is one too many");
    assert!(error.to_string().contains("10001 features, but at most 10000"), "{error}");
    for upper in ["0", "1.5", "16777217", "-1", "1e300"] {
        let count = format!("label = \"a\"\n{column}columns.a = {{ kind = \"count\", upper = {upper} }}");
        let error = parse(&count).expect_err("it is no largest count");
        assert!(error.to_string().contains("a whole number from 1 to 2^24"), "{error}");
    }
}

#[test]
fn a_draft_names_all_that_is_to_be_filled_in() {
    let draft = "label = \"y\"\n[columns.x]\nkind = \"number\"\nlower = # e.g. 0\nupper = # e.g. 1\n\
                 [columns.\"y\"]\nkind = \"category\"\ncategories =\n";
    let error = parse(draft).expect_err("nothing is filled in");
    assert_eq!(error.to_string(), "columns.x.lower is still to be filled in");
    let said = whole(&error);
    assert!(said.ends_with("for: columns.x.lower, columns.x.upper, columns.\"y\".categories"), "{said}");
    let half = draft.replacen("lower = #", "lower = 0 #", 1);
    let left = parse(&half).expect_err("one is left").to_string();
    assert_eq!(left, "columns.x.upper is still to be filled in");
}
