//! What a guarantee means for one person, in words.

use super::{Block, bullets};
use crate::report::{Asked, MeaningReport};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// The heading of these sentences.
pub const HEADING: &str = "What it means for a person with one record";

/// The same where records were deleted.
pub const OF_DELETED: &str = "What it means for those whose records were deleted";

/// What is said where there is no guarantee, or one that is true of everything.
pub const NOTHING: &str = "Nothing limits what somebody can learn about a person.";

/// A certainty from which on an attacker needs no more.
const PRACTICALLY_CERTAIN: f64 = 0.9999;

/// There are not this many people.
const BEYOND_MEASURE: u64 = 1_000_000_000_000;

/// The sentences under their heading.
pub fn in_words(meaning: Option<&MeaningReport>) -> Block {
    let heading = |meaning: &MeaningReport| match meaning.question {
        Asked::WereEverUsed => OF_DELETED,
        _ => HEADING,
    };
    meaning.map_or_else(|| NOTHING.into(), |meaning| bullets(heading(meaning), sentences(meaning)))
}

/// Sentences for somebody who has never heard of ε.
pub fn sentences(meaning: &MeaningReport) -> Vec<String> {
    let (found, certain) = match meaning.question {
        Asked::TookPart => ("it a coin toss whether a person took part", "certain"),
        Asked::WasUsed => ("it a coin toss whether a person's record was used", "certain"),
        Asked::WhichValue => ("two values of a person's record equally likely", "certain of one"),
        Asked::WereEverUsed => ("it a coin toss whether the deleted records were ever used", "certain"),
        Asked::WhichData => ("two neighbouring data sets equally likely", "certain of one"),
    };
    let posterior = meaning.posterior_from_half.0;
    let mut first = format!(
        "Somebody who knows all else, and found {found}, becomes at most {} {certain}",
        percent(posterior)
    );
    if meaning.delta.0 > 0.0 {
        first += &format!("; with probability {} at most, that may fail", shortest(meaning.delta.0));
    }
    let mut sentences = vec![first + "."];
    let wrongly = match meaning.question {
        Asked::TookPart | Asked::WasUsed => "Accusing",
        Asked::WhichValue | Asked::WhichData | Asked::WereEverUsed => "Suspecting",
    };
    let whom = match meaning.question {
        Asked::WereEverUsed => "the models that used them",
        _ => "the people",
    };
    let mut rates = meaning.tpr_at_fpr.iter();
    if let Some(first) = rates.next() {
        let others = rates.map(|rate| format!("; at {}, at most {}", exactly(rate.fpr), percent(rate.tpr.0)));
        sentences.push(format!(
            "{wrongly} {} wrongly, they recognise at most {} of {whom}{}.",
            exactly(first.fpr),
            percent(first.tpr.0),
            others.collect::<String>()
        ));
    }
    sentences.push(match meaning.one_more_in {
        Some(people) if people >= BEYOND_MEASURE => {
            "Nobody more would be recognised than by guessing.".to_owned()
        }
        Some(models) if meaning.question == Asked::WereEverUsed => {
            format!("At most one more in {models} such models would be recognised than by guessing.")
        }
        Some(people) => format!("At most one more in {people} people would be recognised than by guessing."),
        None => format!(
            "Up to {} more of {whom} would be recognised than by guessing.",
            percent(meaning.advantage.0)
        ),
    });
    if posterior.upper() >= PRACTICALLY_CERTAIN {
        sentences.push("They may be practically certain: by itself, this ε protects nobody.".to_owned());
    }
    sentences
}

/// What stands after (ε, δ) where it is about deleted records only.
pub const OF_DELETED_ONLY: &str = " for what was deleted";

/// Whom a guarantee is about, where that is not everybody: what stands after (ε, δ).
pub fn about(meaning: Option<&MeaningReport>) -> &'static str {
    match meaning.map(|meaning| meaning.question) {
        Some(Asked::WereEverUsed) => OF_DELETED_ONLY,
        _ => "",
    }
}

/// A probability in per cent, rounded up.
pub fn percent(probability: Enclosure) -> String {
    let percent = (probability * Enclosure::from(100.0)).min(Enclosure::from(100.0));
    format!("{}%", number::upper(percent, number::DIGITS))
}

/// A number as it was given, if that is short, or rounded up.
pub fn shortest(value: f64) -> String {
    match number::plain(value) {
        given if given.len() <= 8 => given,
        _ => number::briefly(Enclosure::from(value)),
    }
}

/// A rate that is not a bound, in per cent.
fn exactly(rate: f64) -> String {
    format!("{}%", number::nearest(100.0 * rate, number::DIGITS))
}
