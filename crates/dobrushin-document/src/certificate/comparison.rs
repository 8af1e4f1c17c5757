//! What a certificate says, field by field, compared with what is recomputed.

use crate::json::Number;
use crate::plain_text::shown_safely;
use serde_json::{Map, Value};
use std::fmt;

/// A field that differs from what is recomputed.
pub struct Difference {
    /// Where the field is, such as `guarantee.epsilon`.
    pub field: String,
    how: How,
}

#[derive(PartialEq)]
enum How {
    /// A bound that is tighter than the recomputed one, exactly.
    ClaimsMore,
    /// A guarantee that is tighter than the recomputed one, and that a closer computation confirms.
    HoldsMoreClosely,
    /// A guarantee that is below the recomputed one by no more than two versions of the program round differently.
    RoundedDifferently,
    Differs,
    Missing,
    Unknown,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.how {
            How::ClaimsMore => "claims more than can be recomputed",
            How::HoldsMoreClosely => "is rounded differently, and holds by a closer computation",
            How::RoundedDifferently => "is rounded differently, by less than a millionth of a millionth",
            How::Differs => "is not what is recomputed",
            How::Missing => "is missing",
            How::Unknown => "is no field of a certificate, and says nothing that could be checked",
        };
        write!(f, "{} {how}", self.field)
    }
}

/// The fields that are words, or no guarantee; another version may say the same in others.
const WORDS: [&str; 8] = [
    "floor",
    "guarantee.assumptions",
    "theorem",
    "explanation",
    "warnings",
    "training.enforcement",
    "training.not_covered",
    "training.randomness",
];

/// The fields that say how good the guarantee is.
const GUARANTEE: [&str; 3] = ["guarantee.epsilon", "guarantee.delta", "guarantee.log_delta"];

impl Difference {
    /// Whether the field is, or is in, another one.
    pub fn is_in(&self, field: &str) -> bool {
        let rest = self.field.strip_prefix(field);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Whether another version of the program might have written the field, with the same guarantee: in other words, or
    /// by analyses that said more or less, of which the guarantee is the best.
    pub fn may_be_of_another_version(&self) -> bool {
        let words = WORDS.iter().any(|field| self.is_in(field));
        words
            || self.field.starts_with("analyses[")
            || matches!(self.how, How::Unknown | How::HoldsMoreClosely | How::RoundedDifferently)
    }

    /// Whether it is a guarantee that is better than the recomputed one.
    pub fn claims_a_better_guarantee(&self) -> bool {
        self.how == How::ClaimsMore && GUARANTEE.contains(&self.field.as_str())
    }

    /// The better guarantee is the recomputed one, but for how it is rounded.
    pub fn is_rounded_differently(&mut self) {
        self.how = How::RoundedDifferently;
    }

    /// The better guarantee was confirmed by a closer computation.
    pub fn holds_more_closely(&mut self) {
        self.how = How::HoldsMoreClosely;
    }

    /// The guarantee, where none is recomputed.
    pub fn no_guarantee() -> Self {
        Self { field: "guarantee".to_owned(), how: How::ClaimsMore }
    }
}

/// Further differences are not listed.
const MOST: usize = 100;

/// Every field in which a certificate differs from what is recomputed.
///
/// Everything must be the same, except that a bound `{"lower", "upper"}` may be wider than the recomputed one: such a
/// claim is true. A tighter bound is not shown to be true, however little tighter it is.
pub fn differences(claimed: &Value, recomputed: &Value) -> Vec<Difference> {
    let mut differences = Vec::new();
    compare("", claimed, recomputed, &mut differences);
    differences
}

fn compare(field: &str, claimed: &Value, recomputed: &Value, found: &mut Vec<Difference>) {
    let mut differs = |how| {
        if found.len() < MOST {
            found.push(Difference { field: field.to_owned(), how });
        }
    };
    match (claimed, recomputed) {
        (Value::Object(claimed), Value::Object(recomputed)) => match ends(recomputed) {
            Some(recomputed) => match ends(claimed) {
                Some(claimed) if contains(claimed, recomputed) => (),
                Some(_) => differs(How::ClaimsMore),
                None => differs(How::Differs),
            },
            None => compare_objects(field, claimed, recomputed, found),
        },
        (Value::Array(claimed), Value::Array(recomputed)) if claimed.len() == recomputed.len() => {
            for (index, (claimed, recomputed)) in claimed.iter().zip(recomputed).enumerate() {
                compare(&format!("{field}[{index}]"), claimed, recomputed, found);
            }
        }
        (Value::Number(a), Value::Number(b)) if a == b || (!is_whole(a, b) && a.as_f64() == b.as_f64()) => (),
        (claimed, recomputed) if claimed == recomputed => (),
        _ => differs(How::Differs),
    }
}

fn compare_objects(
    field: &str,
    claimed: &Map<String, Value>,
    recomputed: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    let dotted = |key: &str| if field.is_empty() { key.to_owned() } else { format!("{field}.{key}") };
    for (key, recomputed) in recomputed {
        match claimed.get(key) {
            Some(claimed) => compare(&dotted(key), claimed, recomputed, found),
            None => found.push(Difference { field: dotted(key), how: How::Missing }),
        }
    }
    let unknown = claimed.keys().filter(|key| !recomputed.contains_key(*key));
    for key in unknown.take(MOST.saturating_sub(found.len())) {
        // The key is the file's own word.
        let short: String = key.chars().take(40).collect();
        found.push(Difference { field: dotted(&shown_safely(&short)), how: How::Unknown });
    }
}

/// Whether both are whole numbers, which are equal only if all their digits are.
fn is_whole(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    [a, b].iter().all(|number| !number.is_f64())
}

/// The ends of a bound, if the value is a bound and nothing else.
fn ends(fields: &Map<String, Value>) -> Option<(f64, f64)> {
    let end = |key: &str| Number::read(fields.get(key)?).map(|number| number.0);
    (fields.len() == 2).then_some(())?;
    end("lower").zip(end("upper"))
}

/// The comparison is exact, with no room for rounding.
fn contains((lower, upper): (f64, f64), inner: (f64, f64)) -> bool {
    lower <= inner.0 && inner.1 <= upper
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(claimed: Value, recomputed: Value) -> Vec<String> {
        differences(&claimed, &recomputed).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bound_may_be_wider_but_not_tighter_by_one_digit() {
        let recomputed = json!({ "epsilon": { "lower": 1.0, "upper": 2.0 } });
        let claimed = |lower: f64, upper: f64| json!({ "epsilon": { "lower": lower, "upper": upper } });
        assert!(found(claimed(0.9, 2.1), recomputed.clone()).is_empty());
        assert!(
            found(json!({ "epsilon": { "lower": "-Infinity", "upper": "Infinity" } }), recomputed.clone())
                .is_empty()
        );
        for (lower, upper) in [(1.0, 2.0_f64.next_down()), (1.0_f64.next_up(), 2.0)] {
            assert_eq!(
                found(claimed(lower, upper), recomputed.clone()),
                ["epsilon claims more than can be recomputed"]
            );
        }
        let with_more = json!({ "epsilon": { "lower": 0.0, "upper": 3.0, "really": 0.1 } });
        assert_eq!(found(with_more, recomputed), ["epsilon is not what is recomputed"]);
    }

    #[test]
    fn every_other_field_is_the_same_or_named() {
        let recomputed = json!({ "a": ["x", { "b": 1 }], "c": null, "n": 9007199254740993_u64 });
        assert!(found(recomputed.clone(), recomputed.clone()).is_empty());
        assert!(found(json!({ "n": 1 }), json!({ "n": 1.0 })).is_empty());
        let claimed = json!({ "a": ["x", { "b": 2 }], "n": 9007199254740992_u64, "\u{1b}[2J": 0 });
        assert_eq!(
            found(claimed, recomputed),
            [
                "a[1].b is not what is recomputed",
                "c is missing",
                "n is not what is recomputed",
                "\\u001b[2J is no field of a certificate, and says nothing that could be checked",
            ]
        );
    }
}
