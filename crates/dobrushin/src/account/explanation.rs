//! Where an answer comes from, and what did not help, in words.

use super::analyses::DEFAULT_TOLERANCE;
use super::bounds::Care;
use super::question::{Account, Question};
use super::tasks::of_the_maxima;
use crate::Enclosure;
use crate::analysis::{self, Effort, EveryStep, ExactComposition, Family};
use crate::chain::{Branch, Mixture, Step, Stop};
use crate::lower::Released;
use crate::numeric::decimal::briefly;
use crate::run::{Divisor, Fact, Order, Record, Run, Tasks, Training};

/// Where the answer of a report comes from, and what did not help.
pub(super) fn of(run: &Run, report: &Account) -> (Vec<String>, Vec<String>) {
    let symbol = match report.question {
        Question::EpsilonAt(_) => "ε",
        Question::DeltaAt(_) => "δ",
    };
    if let Some(tasks) = run.as_tasks() {
        return (of_tasks(tasks, report, symbol), Vec::new());
    }
    let allocated = if_allocated(run, report.question, symbol);
    let Ok(released) = run.released_except(report.exception) else {
        return (allocated.into_iter().collect(), Vec::new());
    };
    let mut explanation: Vec<String> = run.as_training().and_then(forgotten).into_iter().collect();
    let published = report.if_published();
    if let Some(answer) = published {
        explanation.push(format!(
            "If every iterate were published, {symbol} would be {}: that is what composition counts.",
            briefly(answer.value)
        ));
    }
    // Where a view holds for all records, that of the first of them says more.
    let shown = match &released.ranges[..] {
        [records, ..] if released.has_ranges() => records.view(1, 1).ok(),
        _ => released.views.first().cloned(),
    };
    let hidden = report.entries.iter().filter(|entry| entry.family != Family::Composition);
    let applies = hidden.clone().any(|entry| entry.outcome.is_ok());
    // A negligible improvement does not count.
    let helps =
        |value: Enclosure| published.is_none_or(|all| value.upper() < all.value.upper() * (1.0 - 1e-6));
    match report.guarantee() {
        Ok(best) if best.family != Family::Composition && helps(best.answer.value) => {
            let what = shown.as_ref().map_or_else(String::new, what_is_hidden);
            explanation.push(format!(
                "Because {what}, {symbol} is {} by {}.",
                briefly(best.answer.value),
                best.id
            ));
        }
        Ok(_) if applies => explanation.push(
            "That the other iterates are hidden does not help here: no analysis of hidden states says less."
                .to_owned(),
        ),
        Ok(_) => explanation
            .push("No analysis of hidden states applies, so everything counts as published.".to_owned()),
        Err(_) => (),
    }
    explanation.extend(last_record(run, &released));
    explanation.extend(shown.as_ref().and_then(regime));
    explanation.extend(allocated);
    let mut warnings = released.notes.clone();
    warnings.extend(shown.as_ref().and_then(|view| width(view, report)));
    (explanation, warnings)
}

/// What composition would say if every record of a shuffled run drew its batch by itself.
fn if_allocated(run: &Run, question: Question, symbol: &str) -> Option<String> {
    let training = run.as_training().filter(|training| training.order == Order::Shuffled)?;
    let allocated = Training {
        order: Order::Allocation,
        incomplete_batch: None,
        divide_by: Divisor::BatchSize,
        ..training.clone()
    };
    let parts = Run::training(allocated).ok()?.composition().ok()?.parts;
    let bound = ExactComposition.apply(&parts, Effort::Once(1e-3)).ok()?;
    let value = question.ask(bound.into_profile().as_ref()).value;
    Some(format!(
        "In a shuffled pass the other records' places tell where a record is. If every record drew its batch by itself \
         ({} = \"allocation\"), {symbol} would be {} by composition, even if every iterate were published.",
        Fact::Order,
        briefly(value)
    ))
}

/// What is claimed of deleted records.
fn forgotten(training: &Training) -> Option<String> {
    let (records, steps) = (training.deleted_records(), training.clean_steps());
    let (these, they) = match records {
        0 => return None,
        1 => ("this record", "the deleted record".to_owned()),
        _ => ("these records", format!("the {records} deleted records")),
    };
    let plural = if steps == 1 { "" } else { "s" };
    let in_all = if training.forgetting.len() == 1 { "" } else { " in all" };
    Some(format!(
        "After {steps} clean step{plural}{in_all}, the last iterate is as if {these} had never been used, up to the bound above, \
         which is about {they} only. For the records that remain, ask without [forget]."
    ))
}

/// What hiding gains in several tasks, and that nobody is the worst record of each.
fn of_tasks(tasks: &Tasks, report: &Account, symbol: &str) -> Vec<String> {
    let published = report.if_published().map(|answer| {
        format!(
            "If every iterate of every task were published, {symbol} would be {}: that is what composition counts.",
            briefly(answer.value)
        )
    });
    let mut explanation: Vec<String> = published.into_iter().collect();
    let hidden = report.guarantee().ok().filter(|best| best.family != Family::Composition);
    let Some(best) = hidden.filter(|_| tasks.record == Record::Worst && tasks.tasks.len() > 1) else {
        return explanation;
    };
    let tolerance = DEFAULT_TOLERANCE;
    let care = Care { tolerance, exception: report.exception, effort: Effort::Once(tolerance) };
    let theorem = analysis::ALL.iter().find(|theorem| theorem.id() == best.id);
    let maxima = theorem.and_then(|theorem| of_the_maxima(tasks, *theorem, care));
    let maxima = maxima.map(|profile| report.question.ask(profile.as_ref()).value);
    if let Some(maxima) = maxima.filter(|maxima| maxima.upper() > best.answer.value.upper() * 1.001) {
        explanation.push(format!(
            "Somebody who is the worst record of each task would have {symbol} = {}. Nobody is: the worst record of all tasks \
             together has {symbol} = {} by {}. See `account --per-record`.",
            briefly(maxima),
            briefly(best.answer.value),
            best.id
        ));
    }
    explanation
}

fn branch(view: &Mixture) -> Option<&Branch> {
    view.branches().first()
}

/// What an observer does not see.
fn what_is_hidden(view: &Mixture) -> String {
    let Some(branch) = branch(view) else {
        return "the record is not used at all".to_owned();
    };
    let times = |count: Enclosure| match count.upper() {
        f64::INFINITY => "any number of".to_owned(),
        number => number.to_string(),
    };
    let stopped = match branch.stop {
        Stop::End => "",
        Stop::Uniform(_) => ", up to a random one of them,",
    };
    if let (Some((_, after)), true) = (branch.chain.only_use(), branch.chain.start().is_some()) {
        let later: Enclosure = after.iter().map(|stretch| stretch.count.number()).sum();
        return format!(
            "{} iterates{stopped} that follow different starts are hidden, and so are the starts",
            match later.upper() {
                1.0 => "no".to_owned(),
                _ => format!("all but one of {}", times(later)),
            }
        );
    }
    if let Some((_, after)) = branch.chain.only_use() {
        let later: Enclosure = after.iter().map(|stretch| stretch.count.number()).sum();
        return match later.upper() {
            0.0 => "no step follows the only use of the record".to_owned(),
            1.0 => "the step that follows the only use of the record is hidden".to_owned(),
            _ => format!(
                "the {} steps{stopped} that follow the only use of the record are hidden",
                times(later)
            ),
        };
    }
    let all = branch.chain.steps().map_or(Enclosure::INFINITE, Enclosure::from);
    let random = branch
        .chain
        .different_steps()
        .any(|step| step.participation.probability() != Enclosure::ONE && !step.participation.is_never());
    let who = if random { ", and which of them use the record," } else { "" };
    format!("all but one of {} iterates{who} are hidden", times(all))
}

/// The record that nothing hides is the last one; the others are better protected.
fn last_record(run: &Run, released: &Released) -> Option<String> {
    let training = run.as_training().filter(|training| training.record == Record::Worst)?;
    if released.has_ranges() {
        return None;
    }
    let branch = branch(released.views.first()?)?;
    let (_, after) = branch.chain.only_use()?;
    (after.is_empty() && training.batches_in_a_pass() > 1).then(|| {
        "This is the worst record, the last one, after which nothing is hidden; earlier records are better \
         protected: see `account --per-record`."
            .to_owned()
    })
}

/// Whether the noise or the record's influence crosses the domain first, if the record is used repeatedly.
///
/// Noise spreads over a domain of diameter D in about (D/s)² steps. In that time, uses of the record push by p·d each.
/// As long as p·d·D/s² is below 1, they push by less than D in total: the effect of an early use is forgotten by then.
fn regime(view: &Mixture) -> Option<String> {
    let branch = branch(view)?;
    let diameter = Enclosure::from(branch.chain.domain().diameter?);
    let step = branch.chain.since_the_record().next()?.step;
    if branch.chain.only_use().is_some() {
        return None;
    }
    let noise = step.noise.size();
    let mixing = (diameter / noise).square();
    let push = step.participation.probability() * step.displacement * diameter / noise.square();
    let (mixing, shown) = (briefly(mixing), briefly(push));
    Some(if push.upper() < 1.0 {
        format!(
            "The run is in the diffusive regime: noise spreads over the domain in about (D/s)² = {mixing} steps, in which \
             the record pushes by a share of p·d·D/s² = {shown} of it only."
        )
    } else {
        format!(
            "The run is in the drift regime: in the (D/s)² = {mixing} steps in which noise spreads over the domain, the \
             record can push {shown} times across it."
        )
    })
}

/// The width of the domain relative to the noise, if the domain is too wide for one step to forget anything.
fn width(view: &Mixture, report: &Account) -> Option<String> {
    let branch = branch(view)?;
    let diameter = branch.chain.domain().diameter?;
    let clean = |step: &Step| step.modulus.at(diameter.into()) / step.noise.size();
    let ratios = branch.chain.different_steps().map(clean);
    let ratio = ratios.reduce(|a, b| if a.upper() < b.upper() { a } else { b })?;
    let helps = report.guarantee().is_ok_and(|best| best.family == Family::Contraction);
    // θ_0(8) = 1 − 6e-5.
    (ratio.lower() > VACUOUS && !helps).then(|| {
        format!(
            "the image of the domain is {} noise standard deviations across, so that one step forgets next to nothing, \
             and analyses of a bounded domain are vacuous; below about 8 they begin to say something: more noise \
             (update), or a smaller {}",
            briefly(ratio),
            Fact::Diameter
        )
    })
}

const VACUOUS: f64 = 8.0;
