//! The levels at which a profile is asked for.

use crate::problem::Problem;
use dobrushin::{Epsilon, Positive};
use dobrushin_document::json;
use dobrushin_document::report::Level;
use serde_json::{Map, Value};

/// The levels of `--epsilon`, then those of `--gamma`.
pub fn levels(epsilons: &[Epsilon], gammas: &[Positive]) -> Result<Vec<Level>, Problem> {
    let by_epsilon = epsilons.iter().map(|&epsilon| Level::at_epsilon(epsilon));
    let by_gamma = gammas.iter().map(|&gamma| Level::at_gamma(gamma));
    let levels: Result<_, dobrushin::Error> = by_epsilon.chain(by_gamma).collect();
    Ok(levels?)
}

/// The fields that tell which level it is.
pub fn fields(level: &Level) -> Map<String, Value> {
    match json::of(level) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
