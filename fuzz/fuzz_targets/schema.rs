//! A schema may hold any text; one that is accepted returns from its canonical form, and takes any row.

#![no_main]

use dobrushin_document::schema;
use dobrushin_train::schema::Encoder;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(schema) = schema::parse(text) else {
        return;
    };
    let again = schema::from_json(&schema::canonical_json(&schema)).expect("it was accepted before");
    assert_eq!(schema::hash(&again), schema::hash(&schema));
    let (mut features, mut targets) = (Vec::new(), Vec::new());
    let row = text.split(['"', '\n', ' ']).map(str::as_bytes);
    if Encoder::new(&schema).encode(row, true, &mut features, &mut targets).is_ok() {
        assert_eq!(features.len(), schema.bounds().dimension);
        assert_eq!(targets.len(), schema.tasks());
    }
});
