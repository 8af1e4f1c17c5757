//! What was carried out, and how good the model is, in words.

use super::{Block, Style, aligned, wrap};
use crate::report::{
    ClassReport, ClassesReport, MetricsReport, NumbersReport, QualityReport, ScheduleReport,
};
use dobrushin::numeric::decimal as number;

/// The noise, the steps, the batches and the passes, in a sentence.
pub(super) fn schedule(report: &ScheduleReport, style: Style) -> Block {
    let ScheduleReport { noise_multiplier, noise_was_found, steps, batch_size, passes } = report;
    let noise = noise_multiplier.map(|noise| {
        let found = if *noise_was_found { ", the least that meets the target" } else { "" };
        format!("The noise multiplier is {}{found}. ", number::plain(noise))
    });
    let steps = match steps {
        Some(1) => "1 step".to_owned(),
        Some(steps) => format!("{steps} steps"),
        None => "steps".to_owned(),
    };
    let passes = passes.map_or(String::new(), |passes| match style.nearest(passes).as_str() {
        "1" => ", which is 1 pass".to_owned(),
        passes => format!(", which is {passes} passes"),
    });
    let size = style.nearest(*batch_size);
    wrap(&format!("{}It took {steps} on {size} records each{passes}.", noise.unwrap_or_default()), "")
}

/// Beside the numbers of the table: the baseline, and what else tells how good the predictions for a label are.
pub(super) fn quality(label: &str, metrics: &MetricsReport, style: Style) -> Option<Block> {
    match metrics.quality.as_ref()? {
        QualityReport::Classes(found) => Some(classes(label, found, style)),
        QualityReport::Numbers(found) => Some(numbers(label, found, metrics.unit, style)),
    }
}

/// The table of confusions is shown for at most this many classes.
const FEW: usize = 8;

fn classes(label: &str, found: &ClassesReport, style: Style) -> Block {
    let share = |value: f64| style.nearest(value);
    let mut words = format!(
        "Always predicting {:?}, the most frequent class, would have accuracy {}.",
        found.baseline.class,
        share(found.baseline.accuracy)
    );
    let more = [("AUC", found.auc), ("log loss", found.log_loss)];
    let more = more.into_iter().filter_map(|(name, value)| Some(format!("the {name} is {}", share(value?))));
    let more = more.collect::<Vec<_>>().join(", and ");
    if !more.is_empty() {
        words += &format!(" Of the model, {more}.");
    }
    let sentence = wrap(&words, "");
    if found.classes.len() > FEW {
        return sentence;
    }
    let or_dash = |value: Option<f64>| value.map_or("–".to_owned(), share);
    let names = found.classes.iter().map(|class| format!("{:?}", class.class));
    let first = format!("predicted, where {label} is");
    let header = [first].into_iter().chain(names.clone()).collect();
    let predicted = names.enumerate().map(|(class, name)| {
        let counts = found.confusion.iter().map(move |row| row[class].to_string());
        [name].into_iter().chain(counts).collect::<Vec<String>>()
    });
    let measure = |name: &str, of: fn(&ClassReport) -> Option<f64>| {
        let shares = found.classes.iter().map(|class| or_dash(of(class)));
        [name.to_owned()].into_iter().chain(shares).collect::<Vec<String>>()
    };
    let measures = [measure("precision", |class| class.precision), measure("recall", |class| class.recall)];
    sentence.then_apart(aligned(header, predicted.chain(measures)))
}

fn numbers(label: &str, found: &NumbersReport, unit: f64, style: Style) -> Block {
    let baseline = style.nearest(found.baseline.root_mean_square * unit);
    let explained =
        found.r_squared.map_or(String::new(), |share| format!(" R² is {}.", style.nearest(share)));
    let words =
        format!("Always predicting the mean {label} would have a root mean square of {baseline}.{explained}");
    wrap(&words, "")
}
