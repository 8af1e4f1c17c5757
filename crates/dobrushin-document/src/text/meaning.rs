//! What a guarantee means for one person, in words.

use super::bullets;
use crate::report::{Asked, MeaningReport};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// The heading of these sentences.
pub const HEADING: &str = "What it means for a person with one record";

/// What is said where there is no guarantee, or one that is true of everything.
pub const NOTHING: &str = "Nothing limits what somebody can learn about a person.";

/// A certainty from which on an attacker needs no more.
const PRACTICALLY_CERTAIN: f64 = 0.9999;

/// The sentences under their heading.
pub fn in_words(meaning: Option<&MeaningReport>) -> String {
    meaning.map_or_else(|| NOTHING.to_owned(), |meaning| bullets(HEADING, sentences(meaning)))
}

/// Sentences for somebody who has never heard of ε.
pub fn sentences(meaning: &MeaningReport) -> Vec<String> {
    let (found, certain) = match meaning.question {
        Asked::TookPart => ("it a coin toss whether this person took part", "certain"),
        Asked::WhichValue => {
            ("two values of this person's record equally likely", "certain which one is right")
        }
        Asked::WasUsed => ("it a coin toss whether this person's record was used", "certain"),
        Asked::WhichData => ("two neighbouring data sets equally likely", "certain which one was used"),
    };
    let delta = match meaning.delta.0 {
        0.0 => String::new(),
        delta => format!(
            " With probability {} at most, this limit fails.",
            number::upper(Enclosure::from(delta), number::DIGITS)
        ),
    };
    let posterior = meaning.posterior_from_half.0;
    let mut sentences = vec![format!(
        "Somebody who knows everything else, and found {found}, is at most {} {certain} after they see the result.{delta}",
        percent(posterior)
    )];
    let (wrong, right) = match meaning.question {
        Asked::TookPart => ("accuse {} of those who took no part", "recognise at most {} of those who did"),
        Asked::WasUsed => {
            ("accuse {} of those whose record was not used", "recognise at most {} of those whose was")
        }
        Asked::WhichValue | Asked::WhichData => {
            ("suspect {} of those with the other value", "find at most {} of those with the value they look for")
        }
    };
    let mut rates = meaning.tpr_at_fpr.iter();
    if let Some(first) = rates.next() {
        let others = rates.map(|rate| format!("; at {}, at most {}", exactly(rate.fpr), percent(rate.tpr.0)));
        sentences.push(format!(
            "If they wrongly {}, they {}{}.",
            wrong.replace("{}", &exactly(first.fpr)),
            right.replace("{}", &percent(first.tpr.0)),
            others.collect::<String>()
        ));
    }
    sentences.push(match meaning.one_more_in {
        Some(people) => format!("At most one more in {people} people would be recognised than by guessing."),
        None => format!(
            "Up to {} more of the people would be recognised than by guessing.",
            percent(meaning.advantage.0)
        ),
    });
    if posterior.upper() >= PRACTICALLY_CERTAIN {
        sentences.push("They may be practically certain: by itself, this ε protects nobody.".to_owned());
    }
    sentences
}

/// A probability in per cent, rounded up.
pub fn percent(probability: Enclosure) -> String {
    let percent = (probability * Enclosure::from(100.0)).min(Enclosure::from(100.0));
    format!("{} %", number::upper(percent, number::DIGITS))
}

/// A rate that is not a bound, in per cent.
fn exactly(rate: f64) -> String {
    format!("{} %", number::nearest(100.0 * rate, number::DIGITS))
}
