//! Local privacy, in words.

use super::{Block, Style, Text, aligned, heading, table, wrap};
use crate::json::{Bounds, Number};
use crate::plain_text::shown_safely;
use crate::report::{
    BoundsReport, CoordinateReport, Estimate, EstimateReport, FrequenciesReport, FrequencyReport, MeanReport,
    PlansReport, PrivatizedReport, ProfileReport, PromiseReport, QuantileReport, QuestionReport, RiskReport,
    Span, SurveyReport, Together, VectorReport,
};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;

/// What is said about reports whose randomness is known.
const NOT_PRIVATE: &str = crate::certificate::NOT_PRIVATE;

/// How private a mechanism is, at every ε.
pub fn local_profile(report: &ProfileReport, style: Style) -> Text {
    let mut text = Text::default();
    let row = |name: String, Bounds(value): Bounds| [name, style.upper(value), number::width(value)];
    let levels = report.eta.iter().map(|eta| row(number::plain(eta.epsilon), eta.value));
    text.answer(heading(&report.title).then_apart(table(["epsilon", "delta at most", "width"], levels)));
    let deltas = report.epsilon_at_delta.iter().map(|at| row(number::plain(at.delta), at.epsilon));
    text.answer(table(["delta", "locally private at epsilon", "width"], deltas));
    let contractions = [
        row("total variation (Dobrushin)".to_owned(), report.tv),
        row("χ², KL, squared Hellinger".to_owned(), report.chi2),
    ];
    text.answer(table(["contraction of", "at most", "width"], contractions));
    text.explanation(
        "These are of the mechanism as it is realised, with its probabilities rounded to multiples of 2^-64.\n\
         n reports tell about the answers at most as much as n times the contraction of χ² and KL answers in \
         the clear. Printed bounds are rounded up; \"width\" is how much smaller the true value can be, relatively.\n\
         See: dobrushin explain contraction-coefficient, chi2-contraction",
    );
    let pair = |together: &Together| {
        format!("({}, {})", style.upper(together.epsilon.0), number::plain(together.delta))
    };
    if let Some(questions) = &report.questions {
        text.answer(format!(
            "{} answers of one person together: (ε, δ) = {}",
            questions.count,
            pair(questions)
        ));
    }
    if let Some(shuffled) = &report.shuffled {
        text.answer(format!(
            "One of {} people, towards those who see all reports, shuffled, and nothing else:\n\
             (ε, δ) = {}, if the person is replaced by another; see dobrushin explain shuffle",
            shuffled.count,
            pair(shuffled)
        ));
    }
    text
}

/// Whether a mechanism keeps its promise, in a sentence.
pub fn promise_sentence(report: &PromiseReport) -> String {
    let (name, claim) = (&report.mechanism, claim(report));
    match (report.holds, report.exact_delta.0.lower() > report.delta) {
        (true, _) => format!("{name} is {claim}-locally private."),
        (_, true) => format!(
            "{name} is NOT {claim}-locally private: its delta is at least {} there.",
            number::lower(report.exact_delta.0, number::DIGITS)
        ),
        _ => format!("{name} may be {claim}-locally private, but that could not be proved."),
    }
}

/// (ε, δ).
fn claim(promise: &PromiseReport) -> String {
    format!("({}, {})", number::plain(promise.epsilon), number::plain(promise.delta))
}

/// Whether a mechanism keeps its promise, and how private it is.
pub fn promise(report: &PromiseReport, style: Style) -> Text {
    let row = |what: String, Bounds(value): Bounds| [what, style.lower(value), style.upper(value)];
    let rows = [
        row(format!("delta at epsilon = {}", number::plain(report.epsilon)), report.exact_delta),
        row(format!("epsilon at delta = {}", number::plain(report.delta)), report.exact_epsilon),
    ];
    let mut text = Text::default();
    text.answer(promise_sentence(report));
    text.explanation(table(["of the mechanism as it is realised", "at least", "at most"], rows));
    text.explanation(
        "delta is the contraction coefficient η of E_γ with γ = e^epsilon: the largest that E_γ between the reports on \
         two answers can be. See: dobrushin explain contraction-coefficient",
    );
    text
}

/// What was done to a column of answers.
pub fn privatized(report: &PrivatizedReport) -> Text {
    let PrivatizedReport { reports, skipped, clipped, instead, promise, .. } = report;
    let name = &promise.mechanism;
    let mut text = Text::default();
    text.answer(match report.seed {
        None => format!("{reports} reports, each {}-locally private by {name}", claim(promise)),
        Some(seed) => format!("{reports} reports by {name} from seed {seed}: {NOT_PRIVATE}"),
    });
    if let Some(questions) = &report.questions {
        text.answer(parts(report.answer, questions));
    }
    let unusable = || {
        format!("{skipped} rows could not be used, and report {instead} instead, as privately as all others")
    };
    let outside = || format!("{clipped} numbers were outside the bounds and moved to them");
    let counts = (*skipped > 0).then(unusable).into_iter().chain((*clipped > 0).then(outside));
    let counts = counts.collect::<Vec<_>>().join("; ");
    if !counts.is_empty() {
        text.answer(format!(
            "{counts}. These counts are not private: they are for you, not to be published."
        ));
    }
    if let Some(charged) = &report.charged {
        text.explanation(wrap(&super::ledger::charged(charged), ""));
    }
    text
}

/// What each question uses of the promise.
fn parts(answer: Option<&str>, questions: &[QuestionReport]) -> Block {
    let row = |question: &QuestionReport| {
        let PromiseReport { mechanism, epsilon, delta, .. } = &question.promise;
        [shown_safely(&question.column), mechanism.clone(), number::plain(*epsilon), number::plain(*delta)]
    };
    let table = table(["question", "mechanism", "epsilon", "delta"], questions.iter().map(row));
    let shared = match answer {
        Some("one") => "Everybody answers one of the questions, drawn at random; which one is in the report.",
        _ => "Everybody answers all questions; what they use together is at most what is promised.",
    };
    Block::from(shared).then_apart(table)
}

/// What is estimated from reports, and where they come from.
pub fn estimate(report: &EstimateReport, style: Style) -> Text {
    let mut text = Text::default();
    one_estimate(&mut text, report, style);
    provenance(&mut text, report.skipped, report.private);
    text
}

/// What is estimated from the reports on several questions.
pub fn survey(report: &SurveyReport, style: Style) -> Text {
    let mut text = Text::default();
    for (index, question) in report.questions.iter().enumerate() {
        text.answer(format!("Question {}: {}", index + 1, shown_safely(&question.column)));
        one_estimate(&mut text, question, style);
    }
    provenance(&mut text, report.skipped, report.private);
    text
}

fn one_estimate(text: &mut Text, report: &EstimateReport, style: Style) {
    match &report.estimate {
        Estimate::Frequencies(found) => frequencies(text, report, found, style),
        Estimate::Mean(found) => mean(text, report, found, style),
        Estimate::Vector(found) => vector(text, report, found, style),
    }
}

fn provenance(text: &mut Text, skipped: u64, private: bool) {
    if skipped > 0 {
        text.answer(format!("{skipped} rows were no reports and are not counted"));
    }
    if !private {
        text.warning(format!("The reports were drawn from a known seed: {NOT_PRIVATE}"));
    }
}

fn vector(text: &mut Text, report: &EstimateReport, found: &VectorReport, style: Style) {
    let confidence = number::plain(report.confidence);
    let row = |coordinate: &CoordinateReport| {
        let mean = &coordinate.mean;
        let [from, to] = outward(mean.certain_interval, style);
        let error = style.upper(Enclosure::from(mean.standard_error.0));
        [shown_safely(&coordinate.column), style.nearest(mean.mean.0), error, from, to]
    };
    let header = ["coordinate", "mean", "standard error", "from", "to"];
    let table = table(header, found.coordinates.iter().map(row));
    let title = format!(
        "Mean of the vectors from {} reports, with intervals of {confidence} confidence",
        report.reports
    );
    text.answer(heading(&title).then_apart(table));
    let [error, radius] =
        [found.standard_error, found.certain_radius].map(|n| style.upper(Enclosure::from(n.0)));
    text.answer(format!(
        "The whole vector is off by {error} at most (root of the mean squared distance), and by at most {radius} with \
         {confidence} confidence"
    ));
    let cover = match found.simultaneous {
        true => "All intervals at once cover",
        false => "Each interval covers",
    };
    text.explanation(format!(
        "The mean is that of the population from which the people are drawn. {cover} it with at \
         least the confidence, for any number of reports; so does the ball around the whole vector."
    ));
}

fn frequencies(text: &mut Text, report: &EstimateReport, found: &FrequenciesReport, style: Style) {
    let first = found.frequencies.first();
    let has_errors = first.is_some_and(|row| row.standard_error.is_some());
    let is_certain = first.is_some_and(|row| row.certain_interval.is_some());
    let mut header = vec!["category", "frequency"];
    header.extend(has_errors.then_some("standard error"));
    header.extend(is_certain.then_some(["from", "to"]).into_iter().flatten());
    let confidence = match is_certain {
        true => format!(", with intervals of {} confidence", number::plain(report.confidence)),
        false => String::new(),
    };
    let header = header.into_iter().map(str::to_owned).collect();
    let table = aligned(header, found.frequencies.iter().map(cells));
    let title = format!("Frequencies from {} reports{confidence}", report.reports);
    text.answer(heading(&title).then_apart(table));
    found.notes.iter().for_each(|note| text.answer(note.as_str()));
    let estimate = match found.method {
        "unbiased" => "The frequencies are right on average, and may be negative.",
        "projected" => {
            "These are the nearest possible frequencies. They are not unbiased: rare ones come out too large."
        }
        _ => "These make the reports most likely. They are not unbiased: rare ones come out too large.",
    };
    let cover = match (is_certain, found.simultaneous) {
        (false, _) => "",
        (true, true) => {
            "\nAll intervals at once cover the true frequencies with at least the confidence, for any number of reports."
        }
        (true, false) => {
            "\nEach interval covers the true frequency with at least the confidence, for any number of reports; \
             --simultaneous makes them cover all at once."
        }
    };
    text.explanation(format!("{estimate}{cover}"));
    if let Some(found) = &found.quantiles {
        quantiles(text, found, style);
    }
}

fn cells(row: &FrequencyReport) -> Vec<String> {
    let shown = |Number(value): Number| format!("{value:.6}");
    let ends = row.certain_interval.map(|span| [span.from, span.to].map(shown));
    let frequency = [shown_safely(&row.category), shown(row.frequency)];
    frequency.into_iter().chain(row.standard_error.map(shown)).chain(ends.into_iter().flatten()).collect()
}

/// The ends of an interval, which covers no less when it is printed.
fn outward(span: Span, style: Style) -> [String; 2] {
    [style.lower(Enclosure::from(span.from.0)), style.upper(Enclosure::from(span.to.0))]
}

fn quantiles(text: &mut Text, quantiles: &[QuantileReport], style: Style) {
    let rows = quantiles.iter().map(|quantile| {
        let span = quantile.certain_interval;
        let [from, to] = outward(span, style);
        [number::plain(quantile.level), style.nearest(quantile.value.0), from, to]
    });
    text.answer(table(["quantile", "value", "from", "to"], rows));
    text.explanation(
        "The intervals of all quantiles hold at once with at least the confidence, for any number of reports; numbers \
         outside the bounds count as the bounds.",
    );
}

fn mean(text: &mut Text, report: &EstimateReport, found: &MeanReport, style: Style) {
    text.answer(format!(
        "Mean of {}: {} ± {} (standard error), from {} reports",
        shown_safely(&report.column),
        style.nearest(found.mean.0),
        style.upper(Enclosure::from(found.standard_error.0)),
        report.reports
    ));
    let spans = [("by the normal law", found.interval), ("for certain", found.certain_interval)];
    let rows = spans.map(|(name, span)| {
        let [from, to] = outward(span, style);
        [name.to_owned(), from, to]
    });
    let confidence = format!("{} confidence", number::plain(report.confidence));
    text.explanation(table([confidence.as_str(), "from", "to"], rows));
    text.explanation(
        "The mean is that of the population from which the people are drawn. The interval by the normal law is right \
         for many reports; the other one covers with at least the confidence for any number of them.",
    );
}

/// Which mechanism is best, and how many people it takes.
pub fn plans(report: &PlansReport) -> Text {
    let mut text = Text::default();
    let cell = |Number(value): Number| number::briefly(Enclosure::from(value));
    if let Some(best) = report.plans.first() {
        text.answer(format!(
            "Best for {} at epsilon = {}, delta = {}: {}\n{} reports have a standard error of at most {}",
            report.what,
            number::plain(report.epsilon),
            number::plain(report.delta),
            best.mechanism,
            best.records,
            cell(best.standard_error),
        ));
    }
    let is_of_categories = report.plans.iter().any(|plan| plan.of_one_category.is_some());
    let mut header = vec!["mechanism", "records", "standard error"];
    header.extend(is_of_categories.then_some("of one category"));
    let lines = report.plans.iter().map(|plan| {
        let cells = [plan.mechanism.to_owned(), plan.records.to_string(), cell(plan.standard_error)];
        cells.into_iter().chain(plan.of_one_category.map(cell)).collect()
    });
    text.explanation(aligned(header.into_iter().map(str::to_owned).collect(), lines));
    let of_frequencies = match is_of_categories {
        true => {
            " That of frequencies is the root of the mean square over all \
             categories; \"of one category\" is the largest that a single one can have."
        }
        false => "",
    };
    text.explanation(format!(
        "All keep the same promise to everybody who reports. A standard error is the largest, whatever people answer, \
         if they are drawn from a larger population.{of_frequencies}",
    ));
    text
}

/// The smallest error that anybody can reach from private reports.
pub fn bounds(report: &BoundsReport, style: Style) -> Text {
    let mut text = Text::default();
    for (what, bounds) in &report.tasks {
        let row =
            |risk: &RiskReport| [risk.id.to_owned(), style.lower(risk.value.0), risk.coefficient.clone()];
        let table = table(["by", "error at least", "coefficient"], bounds.iter().map(row));
        text.answer(heading(what).then_apart(table));
    }
    let row = |name: &str, Bounds(value): Bounds| [name.to_owned(), style.upper(value)];
    let contraction = &report.contraction;
    let rows = [row("total variation (η_TV)", contraction.tv), row("χ², KL (η_KL)", contraction.kl)];
    let published = contraction.published.map(|phi| row("every f-divergence, as published (φ)", phi));
    text.explanation(table(["contraction of one report", "at most"], rows.into_iter().chain(published)));
    let (records, worth) = (report.records, number::briefly(report.effective_records.0));
    text.explanation(format!("{records} reports tell at most as much as {worth} answers in the clear."));
    text.explanation(
        "No mechanism that keeps the promise, and no estimator, has a smaller error for all laws of the answers, also if \
         later mechanisms depend on earlier reports. Errors are rounded down, contractions up. See: dobrushin explain, with the id.",
    );
    text
}
