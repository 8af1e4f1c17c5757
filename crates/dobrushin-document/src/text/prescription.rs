//! The run for a learning problem, in words.

use super::{Block, Style, Text, bullets, capitalised, heading, table, warn, wrap};
use crate::report::{PrescriptionReport, prescription_source, prescription_title};
use dobrushin::Enclosure;
use dobrushin::numeric::decimal as number;
use dobrushin::run::LearningRate;
use dobrushin::utility::{Learner, Measure, Prescribed, Published, Scheme};

/// Noise and learning rate, what they promise and mean, what nobody can do better, and what the paper prints.
pub fn prescription(report: &PrescriptionReport, style: Style) -> Text {
    let PrescriptionReport { request, found, concern, output, .. } = report;
    let (epsilon, delta) = (request.privacy.epsilon.get(), request.privacy.delta.get());
    let mut text = Text::default();
    text.explanation(format!("{}.", prescription_title(request.scheme)));
    text.answer(format!(
        "gradient-noise = {}\nlearning-rate = {}",
        number::plain(found.gradient_noise.get()),
        rate(&found.learning_rate)
    ));
    let excess = capitalised(found.measure.words());
    let rows = [
        [
            format!("ε at δ = {}", number::plain(delta)),
            String::new(),
            style.upper(found.epsilon),
            found.analysis.to_owned(),
        ],
        [excess, String::new(), style.upper(found.excess), found.theorem.to_owned()],
        [among(request.scheme), style.lower(found.least.excess), String::new(), found.least.id.to_owned()],
        [
            "  even without privacy".to_owned(),
            style.lower(found.least.without_privacy),
            String::new(),
            String::new(),
        ],
    ];
    text.explanation(table(["", "at least", "at most", "by"], rows));
    warn(&mut text, concern.as_deref());
    if found.vacuous {
        text.answer(wrap(
            &format!(
                "The bound on the excess is vacuous: a model chosen without looking at the data, the centre of the set, has an \
                 excess of at most {}. More records, fewer dimensions or a larger ε would help.",
                style.upper(found.blind)
            ),
            "",
        ));
    }
    text.explanation(wrap(&meaning(report, style), ""));
    if let Some(smoothing) = &found.smoothing {
        text.explanation(wrap(
            &format!(
                "Nothing is known of the smoothness of the losses, so train on f(w + λZ) averaged over normal Z, λ = {}: its \
                 gradient must be exact, not that of a drawn Z. This adds {} to the excess, which is included. With --smoothness \
                 you can do without.",
                style.nearest(smoothing.deviation.get()),
                style.upper(smoothing.error)
            ),
            "",
        ));
    }
    if let Some(published) = &found.published {
        let title = heading(&format!("Beside the paper ({})", prescription_source(request.scheme)));
        text.explanation(title.then(beside(found, published, (epsilon, delta), style)));
        text.explanation(wrap(&verdict(published, (epsilon, delta), style), ""));
    }
    text.explanation(bullets("This holds if", assumptions(report)));
    text.explanation(format!(
        "The theorems: dobrushin explain {}, {}, {}",
        request.scheme.theorem(),
        found.theorem,
        found.least.id
    ));
    text.explanation(match output {
        Some(path) => format!("The run file is {path}; dobrushin account {path} --utility confirms it"),
        None => "--output run.toml writes the run file, which dobrushin account confirms.".to_owned(),
    });
    text
}

fn rate(rate: &LearningRate) -> String {
    match rate {
        LearningRate::Constant(rate) => number::plain(rate.get()),
        LearningRate::InverseSqrt(first) => format!("{}/√t in step t", number::plain(first.get())),
        LearningRate::List(rates) => format!("one of {} for each step", rates.len()),
    }
}

/// Whose excess the lower bound is about.
fn among(scheme: Scheme) -> String {
    match scheme.learner() {
        Learner::Local => "of every locally private algorithm",
        Learner::Central { tasks, .. } if tasks.get() > 1 => "of every private algorithm, mean over models",
        Learner::Central { .. } | Learner::Empirical => "of every private algorithm",
    }
    .to_owned()
}

/// What the numbers mean for a person and for the model.
fn meaning(report: &PrescriptionReport, style: Style) -> String {
    let PrescriptionReport { request, found, .. } = report;
    let who = match request.scheme {
        Scheme::Local | Scheme::Online | Scheme::PerRecord => {
            "Whoever sees every step, and whoever sees the model,".to_owned()
        }
        Scheme::PublicTail { records } => {
            format!(
                "The {records} public records are not protected. Whoever sees the model, and not the steps,"
            )
        }
        Scheme::Tasks { tasks } => {
            format!("Whoever sees the released models ({tasks} of them), and not the steps,")
        }
        Scheme::Passes { .. } => "Whoever sees the last model, and not the steps,".to_owned(),
    };
    let better = match request.scheme {
        Scheme::PerRecord => {
            " Earlier records are better protected from those who see only the model: account --per-record."
        }
        _ => "",
    };
    let most = style.upper(found.excess);
    let than = match found.measure {
        Measure::PopulationRisk => {
            format!(
                "A new record is expected to lose at most {most} more than with the best model of the set"
            )
        }
        Measure::EmpiricalRisk => format!(
            "These records are expected to lose at most {most} more than with their best model (nothing is said about new ones)"
        ),
        Measure::AverageRegret => {
            format!("A play is expected to cost on average at most {most} more than the best fixed model")
        }
    };
    format!(
        "{who} learns no more about one record than (ε, δ) = ({}, {}) allows.{better} {than}. No algorithm that protects records \
         in this way is below {} on every such problem.",
        number::plain(request.privacy.epsilon.get()),
        number::plain(request.privacy.delta.get()),
        style.lower(found.least.excess)
    )
}

/// This run and the printed one, in the same columns.
fn beside(found: &Prescribed, published: &Published, (epsilon, delta): (f64, f64), style: Style) -> Block {
    let shown = |value: Option<Enclosure>| value.map_or("–".to_owned(), |value| style.upper(value));
    let near = |value: Option<f64>| value.map_or("–".to_owned(), |value| style.nearest(value));
    let first = match &found.learning_rate {
        LearningRate::Constant(rate) | LearningRate::InverseSqrt(rate) => Some(rate.get()),
        LearningRate::List(rates) => rates.first().map(|rate| rate.get()),
    };
    let rows = [
        [
            "this run".to_owned(),
            near(Some(found.gradient_noise.get())),
            near(first),
            style.upper(found.excess),
            style.upper(found.epsilon),
            format!("≤ {}", number::plain(delta)),
        ],
        [
            "as printed".to_owned(),
            near(published.gradient_noise.map(|noise| noise.get())),
            near(published.learning_rate.map(Enclosure::midpoint)),
            shown(published.excess),
            shown(published.epsilon),
            shown(published.delta),
        ],
    ];
    let (at_delta, at_epsilon) =
        (format!("ε at δ = {}", number::plain(delta)), format!("δ at ε = {}", number::plain(epsilon)));
    table(["", "σ", "η", "excess", &at_delta, &at_epsilon], rows)
}

/// Whether the printed noise keeps its promise.
fn verdict(published: &Published, (epsilon, delta): (f64, f64), style: Style) -> String {
    let erratum =
        published.erratum.map_or(String::new(), |erratum| format!(" See {erratum} of docs/errata.md."));
    match (published.epsilon, published.delta) {
        (Some(real), Some(_)) if real.upper() <= epsilon => format!(
            "The printed σ is enough here, and more than is needed: it gives ε = {}.{erratum}",
            style.upper(real)
        ),
        (Some(real), Some(at)) => format!(
            "The printed σ is not enough: all that can be shown for it is δ = {} at ε = {}, or ε = {} at δ = {}.{erratum}",
            style.upper(at),
            number::plain(epsilon),
            style.upper(real),
            number::plain(delta)
        ),
        _ => format!("The paper leaves σ open; its bound is for the same σ and its own rates.{erratum}"),
    }
}

fn assumptions(report: &PrescriptionReport) -> Vec<String> {
    let (problem, found) = (report.request.problem, &report.found);
    let [norm, radius] = [problem.lipschitz, problem.radius].map(|value| number::plain(value.get()));
    let mut words = vec![
        format!("every record's loss is convex, with gradients (or subgradients) of norm at most {norm}"),
        format!(
            "the start is in, and every step is projected to, a closed convex set of diameter at most {} in {} dimensions",
            number::plain(2.0 * problem.radius.get()),
            problem.dimension
        ),
    ];
    match found.measure {
        Measure::PopulationRisk => {
            words.push("the records are independent draws from one distribution".to_owned())
        }
        Measure::AverageRegret => {
            words.push("the costs were fixed in advance: no cost depends on the plays".to_owned())
        }
        Measure::EmpiricalRisk => {}
    }
    if let Some(beta) = report.request.smoothness {
        words.push(format!(
            "gradients change by at most {} times the distance of models",
            number::plain(beta.get())
        ));
    }
    words.push(format!(
        "for the lower bound: the losses may be straight, and the set is the ball of radius {radius}; it is for the worst \
         such problem"
    ));
    words
}
