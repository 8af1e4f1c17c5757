//! How good a run is, beside how private it is.

use crate::output::{Text, bounds, bullets, object, wrap};
use dobrushin::NotApplicable;
use dobrushin::numeric::decimal as number;
use dobrushin::utility::{Best, BestRate, Entry, Utility};
use serde_json::{Map, Value, json};

/// The bounds on excess risk or regret, what must hold, and the learning rate that would be best.
pub fn describe(text: &mut Text, utility: &Result<Utility, NotApplicable>) {
    let utility = match utility {
        Ok(utility) => utility,
        Err(reason) => return text.answer(wrap(&reason.to_string(), "No bound on the utility: ")),
    };
    let best = utility.measures().into_iter().filter_map(|measure| utility.best_of(measure));
    for best in best {
        text.answer(format!(
            "{} ≤ {}, by {}",
            capitalised(best.measure.words()),
            number::upper(best.value),
            best.id
        ));
        if best.is_vacuous() {
            text.explanation("That is what every point of the domain has: nothing is said about the run.");
        }
        text.explanation(bullets("Assumptions of this bound", best.assumptions));
    }
    if let Some(best) = utility.best_rate {
        let words = format!(
            "A constant learning rate of {} would make it {}, by {}, with the same noise on the gradients. What that does to \
             privacy: --set learning-rate={0}",
            number::nearest(best.rate.get()),
            number::briefly(best.value),
            best.id
        );
        text.explanation(wrap(&words, ""));
    }
}

/// The same, for programs.
pub fn as_json(utility: &Result<Utility, NotApplicable>) -> Value {
    let utility = match utility {
        Ok(utility) => utility,
        Err(reason) => return json!({ "not_applicable": reason.to_string() }),
    };
    let mut fields = utility.best().map_or(Map::new(), best_json);
    fields.insert("all".to_owned(), utility.entries.iter().map(entry_json).collect());
    if let Some(BestRate { rate, id, value }) = utility.best_rate {
        let best = json!({ "learning_rate": rate.get(), "id": id, "value": bounds(value) });
        fields.insert("best_rate".to_owned(), best);
    }
    Value::Object(fields)
}

fn best_json(best: Best<'_>) -> Map<String, Value> {
    object([
        ("measure", json!(best.measure.name())),
        ("value", bounds(best.value)),
        ("id", json!(best.id)),
        ("assumptions", json!(best.assumptions)),
    ])
}

fn entry_json(entry: &Entry) -> Value {
    let mut fields = object([("id", json!(entry.id)), ("measure", json!(entry.measure.name()))]);
    match &entry.outcome {
        Ok(value) => fields.insert("value".to_owned(), bounds(*value)),
        Err(reason) => fields.insert("not_applicable".to_owned(), json!(reason.to_string())),
    };
    Value::Object(fields)
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
