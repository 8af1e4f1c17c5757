//! Plans, as people read them.

use super::{Style, Text, table, wrap};
use crate::report::{ChoiceReport, ChosenReport};
use crate::run_file::{ORDERS, word};
use dobrushin::mechanism::Neighbours;
use dobrushin::numeric::decimal as number;
use dobrushin::run::{Batch, Contribution, LearningRate, Noise, Order, Training};

/// The best plan, all plans, what hiding is worth, and what other orders would give.
pub fn chosen(report: &ChosenReport, style: Style) -> Text {
    let mut text = Text::default();
    let Some(best) = report.plans.first() else {
        return text;
    };
    text.answer(format!("{}: {}", plan_in_words(&best.training), promise(best, report, style)));
    text.answer(table(HEADER, report.plans.iter().map(|plan| row(plan, style))));
    if !report.others.is_empty() {
        text.answer(others(best, report, style));
    }
    text.explanation(wrap(&meaning(report), ""));
    text.explanation(wrap(&hiding(best, style), ""));
    if best.training.neighbours != Neighbours::AddOrRemoveOne {
        text.explanation(wrap(
            &format!(
                "The number of records, {}, counts as public. If it is a secret: --neighbours add-or-remove-one, with a \
                 public bound as --records.",
                best.training.records
            ),
            "",
        ));
    }
    if let Some(path) = &report.written {
        text.explanation(format!(
            "The best plan is {path}. Train it by: dobrushin train DATA.csv --run {path} --out DIR"
        ));
    }
    text
}

const HEADER: [&str; 8] =
    ["order", "batch", "steps", "learning rate", "clip norm", "weight decay", "noise multiplier", "excess"];

/// The numbers of a plan, in one line.
pub fn plan_in_words(training: &Training) -> String {
    let steps = training.steps().unwrap_or(0);
    let noise = noise(training).map_or(String::new(), |noise| number::nearest(noise, 4));
    match (training.order, training.batch) {
        (Order::Full, _) => format!("{steps} steps on all records, with noise multiplier {noise}"),
        (order, Batch::Size(size)) => {
            format!(
                "{steps} steps on batches of {size}, {}, with noise multiplier {noise}",
                word(ORDERS, &order)
            )
        }
        (order, Batch::Probability(_)) => {
            format!("{steps} steps, {}, with noise multiplier {noise}", word(ORDERS, &order))
        }
    }
}

fn promise(plan: &ChoiceReport, report: &ChosenReport, style: Style) -> String {
    match &plan.guarantee {
        Some(guarantee) => {
            let value = guarantee.answer.value().map_or(String::new(), |value| style.upper(value));
            format!("(ε, δ) = ({value}, {}), by {}", number::plain(report.delta), guarantee.analysis)
        }
        None => "no guarantee".to_owned(),
    }
}

fn row(plan: &ChoiceReport, style: Style) -> [String; 8] {
    let training = &plan.training;
    let rate = match &training.learning_rate {
        Some(LearningRate::Constant(rate)) => number::plain(rate.get()),
        _ => String::new(),
    };
    [
        word(ORDERS, &training.order).to_owned(),
        match training.batch {
            Batch::Size(size) => size.to_string(),
            Batch::Probability(rate) => number::plain(rate.get()),
        },
        training.steps().unwrap_or(0).to_string(),
        rate,
        training.contribution.map_or(String::new(), |part: Contribution| style.nearest(part.norm().get())),
        number::plain(training.weight_decay),
        noise(training).map_or(String::new(), |noise| style.nearest(noise)),
        format!("{:.4} ± {:.4}", plan.excess, plan.excess_error),
    ]
}

fn noise(training: &Training) -> Option<f64> {
    match training.noise {
        Noise::Multiplier(noise) => Some(noise.get()),
        _ => None,
    }
}

/// What the order that was asked for costs.
fn others(best: &ChoiceReport, report: &ChosenReport, style: Style) -> String {
    let asked = word(ORDERS, &best.training.order);
    let rows = report.others.iter().map(|plan| row(plan, style));
    format!("Other orders than {asked} would give\n{}", table(HEADER, rows))
}

fn meaning(report: &ChosenReport) -> String {
    let what = if report.classes {
        "The excess is the share of records in the wrong class, beyond what nobody can tell from the columns"
    } else {
        "The excess is the mean loss, beyond what nobody can tell from the columns"
    };
    format!(
        "{what}. It is a mean over made-up records of the same shape, on which {} models were trained: no record of yours was \
         read, and on yours it may be another number. Compare plans by it.",
        report.trials
    )
}

/// What the plan gains from hiding all iterates but the last.
fn hiding(best: &ChoiceReport, style: Style) -> String {
    let published = best.composition_only;
    match noise(&best.training) {
        Some(noise) if published.noise_multiplier > noise * 1.001 => format!(
            "If every iterate were published, the same plan would need the noise multiplier {} ({:.0} % more), and its excess \
             would be {:.4}.",
            style.nearest(published.noise_multiplier),
            100.0 * (published.noise_multiplier / noise - 1.0),
            published.excess
        ),
        _ => "Hiding the iterates adds nothing to this plan: it would need as much noise if all of them were published.".to_owned(),
    }
}
