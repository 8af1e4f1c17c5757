//! Whether a page shows what was printed.

use serde_json::Value;

/// Whether lines are those that were printed; a line "…" stands for any number of lines.
pub fn is_text(shown: &[String], printed: &str) -> bool {
    let printed: Vec<&str> = printed.lines().collect();
    let mut parts = shown.split(|line| line.trim() == "…");
    let first = parts.next().unwrap_or(&[]);
    if !starts_with(&printed, first) {
        return false;
    }
    let mut rest = &printed[first.len()..];
    let mut parts: Vec<&[String]> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(place) = (0..=rest.len()).find(|&place| starts_with(&rest[place..], part)) else {
            return false;
        };
        rest = &rest[place + part.len()..];
    }
    rest.len() >= last.len() && starts_with(&rest[rest.len() - last.len()..], last)
}

fn starts_with(printed: &[&str], shown: &[String]) -> bool {
    printed.len() >= shown.len() && printed.iter().zip(shown).all(|(printed, shown)| printed == shown)
}

/// Whether values are those that were printed; a field "…" stands for any other fields, and "…" at the end of a list
/// for any other values.
pub fn is_json(shown: &Value, printed: &Value) -> bool {
    match (shown, printed) {
        (Value::Object(shown), Value::Object(printed)) => {
            let fields = shown.iter().filter(|(key, _)| *key != "…");
            let whole = !shown.contains_key("…");
            (!whole || shown.len() == printed.len())
                && fields.into_iter().all(|(key, value)| printed.get(key).is_some_and(|p| is_json(value, p)))
        }
        (Value::Array(shown), Value::Array(printed)) => {
            let (values, whole) = match shown.split_last() {
                Some((last, values)) if last == "…" => (values, false),
                _ => (&shown[..], true),
            };
            (!whole || values.len() == printed.len())
                && values.len() <= printed.len()
                && values.iter().zip(printed).all(|(shown, printed)| is_json(shown, printed))
        }
        _ => shown == printed,
    }
}
