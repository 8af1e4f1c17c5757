//! What losses require of targets, and what they say about others.

use crate::Target;

/// Refuses targets that are not numbers.
pub fn need_numbers(loss: &str, target: Target) -> Result<(), String> {
    match target {
        Target::Range { .. } => Ok(()),
        Target::Classes(_) => Err(format!(
            "the {loss} loss needs targets that are numbers, but they are {}: declare a range, or choose logistic or softmax",
            described(target)
        )),
    }
}

/// Refuses targets that are not of two classes.
pub fn need_two_classes(loss: &str, target: Target) -> Result<(), String> {
    let others = match target {
        Target::Classes(2) => return Ok(()),
        Target::Classes(_) => "softmax",
        Target::Range { .. } => "squared, huber or quantile",
    };
    Err(format!(
        "the {loss} loss needs targets of two classes, but they are {}: declare 2 classes, or choose {others}",
        described(target)
    ))
}

/// s = 2y − 1, the sign of class 0 or 1.
pub fn sign(target: f64) -> f64 {
    2.0 * target - 1.0
}

pub fn described(target: Target) -> String {
    match target {
        Target::Range { lower, upper } => format!("numbers between {lower} and {upper}"),
        Target::Classes(count) => format!("of {count} classes"),
    }
}
