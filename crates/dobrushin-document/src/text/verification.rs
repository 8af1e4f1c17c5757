//! Whether a certificate holds, in words.

use super::meaning::OF_DELETED_ONLY;
use super::{Block, Style, Text, bullets, capitalised, table};
use crate::certificate::{NOT_PRIVATE, Verdict, Verification};
use crate::json::Number;
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// The overall verdict first, then why; `model` is the name of the model's file, if one was given.
pub fn verification(found: &Verification, model: Option<&str>, style: Style) -> Text {
    let mut text = Text::default();
    text.answer(if found.confirmed {
        let which = model.map_or(String::new(), |model| format!(", and it is that of {model}"));
        format!("The certificate holds{which}: {}", promise(found, style))
    } else {
        let not_of = model.zip(found.other_model);
        let not_of = not_of.map(|(model, why)| format!("it is NOT the certificate of {model}: {why}"));
        let seed =
            format!("nobody is protected: the randomness of the model came from a known seed: {NOT_PRIVATE}");
        let reasons = complaint(found).into_iter().chain(not_of).chain((!found.private).then_some(seed));
        capitalised(&reasons.collect::<Vec<_>>().join("; "))
    });
    text.explanation(numbers(found));
    if !found.differences.is_empty() {
        let shown = found.differences.iter().map(|difference| difference.what.clone()).take(SHOWN);
        let left = found.differences.len().saturating_sub(SHOWN);
        let more = (left > 0).then(|| format!("and {left} more (--json lists them)"));
        text.answer(bullets("What is not as recomputed", shown.chain(more)));
    }
    if found.verdict == Verdict::NotConfirmed {
        text.answer(format!(
            "Do not rely on the words of the certificate, but on those below; dobrushin {} can confirm its own.",
            found.version
        ));
    }
    if let Some(reason) = &found.not_applicable {
        text.answer(format!("{} does not apply: {reason}", found.analysis));
    }
    if found.recomputed.is_some() {
        text.explanation(bullets(
            "It is worth as much as these assumptions, which no computation can check",
            &found.assumptions,
        ));
    }
    if !found.to_be_believed.is_empty() {
        text.explanation(bullets(
            "What no run implies, and no computation can confirm",
            &found.to_be_believed,
        ));
    }
    text
}

/// People are shown at most this many differences.
const SHOWN: usize = 12;

/// What is wrong with the certificate itself, if something is.
pub fn complaint(found: &Verification) -> Option<String> {
    let first = &found.differences.first()?.what;
    let others = match found.differences.len() - 1 {
        0 => String::new(),
        1 => ", and 1 field more is wrong".to_owned(),
        more => format!(", and {more} fields more are wrong"),
    };
    Some(match found.verdict {
        Verdict::NotConfirmed => format!(
            "the certificate is NOT CONFIRMED: its guarantee holds, but {first}{}, and version {} of dobrushin, which wrote it, is \
             not this one",
            others.replace("wrong", "other"),
            found.version
        ),
        _ => format!("the certificate DOES NOT HOLD: {first}{others}"),
    })
}

/// What is claimed.
fn promise(found: &Verification, style: Style) -> String {
    let Number(claimed) = found.claimed;
    let mut value = style.upper(Enclosure::from(claimed));
    let log_delta = found.claimed_log_delta.filter(|ln| claimed < 1e-300 && ln.0.is_finite());
    if let Some(Number(log_delta)) = log_delta {
        value += &format!(" (ln δ ≤ {})", style.upper(Enclosure::from(log_delta)));
    }
    let about = if found.only_deleted { OF_DELETED_ONLY } else { "" };
    format!("(ε, δ) = {}{about}, by {}", found.target.pair(&value), found.analysis)
}

/// What is claimed beside what is recomputed.
fn numbers(found: &Verification) -> Block {
    let recomputed = found.recomputed.and_then(|recomputed| recomputed.answer());
    let end = |value: Option<f64>| value.map_or("no guarantee".to_owned(), number::plain);
    let at_most = format!("{} at most", found.target.symbol());
    let ends = [
        ["claimed".to_owned(), number::plain(found.claimed.0)],
        ["recomputed".to_owned(), end(recomputed.map(|answer| answer.value.upper()))],
    ];
    match found.claimed_log_delta {
        None => table(["", &at_most], ends),
        Some(Number(claimed)) => {
            let logs = [Some(claimed), recomputed.and_then(|answer| answer.log_delta).map(Enclosure::upper)];
            let rows = ends.into_iter().zip(logs).map(|([name, value], log)| [name, value, end(log)]);
            table(["", &at_most, "ln δ at most"], rows)
        }
    }
}
