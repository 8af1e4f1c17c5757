//! `dobrushin init account`: a run file of a noisy iteration, asked for or translated.

use super::InitArgs;
use super::interview::Interview;
use crate::input;
use crate::problem::Problem;
use dobrushin_document::peers::{Library, Parameters, translate};
use dobrushin_document::{Setting, Starter, text_of};

/// A question about a key of a run file.
struct Asked {
    key: &'static str,
    words: &'static str,
    /// Whether it is worth asking, after what was said.
    when: fn(&Starter) -> bool,
}

const QUESTIONS: &[Asked] = &[
    Asked { key: "run.records", words: "How many records (people) are there?", when: always },
    Asked {
        key: "run.order",
        words: "How are batches made? poisson (every record drawn for itself), without-replacement (a fixed size, drawn anew), \
                shuffled (each pass in a new order), cyclic (always the same order), once (one pass), full (all records)?",
        when: always,
    },
    Asked { key: "run.batch-size", words: "How many records are in a batch?", when: in_batches },
    Asked { key: "run.epochs", words: "How many passes over the records (epochs)?", when: several_passes },
    Asked {
        key: "update.clip-norm",
        words: "To which norm is each record's gradient clipped?",
        when: always,
    },
    Asked {
        key: "update.noise-multiplier",
        words: "Which noise multiplier (the noise on the sum of gradients over the norm, as in Opacus)?",
        when: always,
    },
    Asked {
        key: "run.neighbours",
        words: "Whom does the guarantee compare? replace-one, add-or-remove-one (as Opacus does), or zero-out?",
        when: always,
    },
    Asked {
        key: "run.release",
        words: "What does anybody ever see? last (the final model only), or all (checkpoints, averages, …)?",
        when: always,
    },
    Asked {
        key: "update.learning-rate",
        words: "Which learning rate? Leave it out if you do not know.",
        when: hides,
    },
    Asked {
        key: "update.weight-decay",
        words: "Which weight decay a step (learning rate times the optimiser's)? Leave it out if there is none.",
        when: hides,
    },
    Asked {
        key: "loss.convex",
        words: "Is the loss convex: true, false? Leave it out if you do not know.",
        when: hides,
    },
    Asked {
        key: "loss.generalised-linear",
        words: "Is it a loss of ⟨w, x⟩ alone, as in linear or logistic regression: true, false?",
        when: convex,
    },
    Asked {
        key: "loss.smoothness",
        words: "How smooth is it (R²/4 for logistic regression on rows of norm at most R)? Leave it out if you do not know.",
        when: convex,
    },
    Asked { key: "target.delta", words: "Which δ?", when: no_target },
];

fn always(_: &Starter) -> bool {
    true
}

fn is(starter: &Starter, key: &str, word: &str) -> bool {
    starter.value(key).is_some_and(|value| value.trim_matches('"') == word)
}

fn in_batches(starter: &Starter) -> bool {
    !is(starter, "run.order", "full") && !starter.is_set("run.sampling-probability")
}

fn several_passes(starter: &Starter) -> bool {
    !is(starter, "run.order", "once") && !starter.is_set("run.steps")
}

fn hides(starter: &Starter) -> bool {
    !is(starter, "run.release", "all")
}

fn convex(starter: &Starter) -> bool {
    hides(starter) && is(starter, "loss.convex", "true")
}

fn no_target(starter: &Starter) -> bool {
    !starter.is_set("target.epsilon")
}

/// The run file, from flags, from another library's parameters, and from what is answered.
pub fn starter(arguments: &InitArgs, interview: &mut Interview) -> Result<Starter, Problem> {
    let mut starter = match arguments.from {
        Some(library) => translated(library, arguments, interview)?,
        None => Starter::default(),
    };
    for assignment in &arguments.changes.set {
        starter.set(&Setting::parse("--set", assignment)?)?;
    }
    if arguments.from.is_none() {
        starter.begin_with(
            "A run file by dobrushin init. Change what is not so, and leave out what you do not know: nothing is assumed in \
             its place. Then ask: dobrushin account FILE",
        );
        for asked in QUESTIONS {
            if !starter.is_set(asked.key) && (asked.when)(&starter) {
                ask(&mut starter, asked, interview)?;
            }
        }
    }
    starter.file().run()?;
    Ok(starter)
}

/// Asks for one key. The program's own checks of run files accept or refuse the answer.
fn ask(starter: &mut Starter, asked: &Asked, interview: &mut Interview) -> Result<(), Problem> {
    let usual = starter.value(asked.key);
    let usual = usual.as_deref().map(|usual| usual.trim_matches('"'));
    let answered = interview.ask(asked.words, usual, |answer| {
        let mut tried = starter.clone();
        tried.set(&Setting::parse("the answer", &format!("{}={answer}", asked.key))?)?;
        tried.file().question()?;
        tried.file().run()?;
        Ok(tried)
    })?;
    *starter = answered.unwrap_or_else(|| starter.clone());
    Ok(())
}

/// What another library was given. What is missing is asked for by its name there.
fn translated(library: Library, arguments: &InitArgs, interview: &mut Interview) -> Result<Starter, Problem> {
    let mut parameters = Parameters::new(library);
    if let Some(path) = &arguments.params {
        parameters.read(text_of(&input::bytes(path)?, &input::shown(path))?)?;
    }
    for assignment in &arguments.param {
        parameters.add(assignment)?;
    }
    for names in library.needed() {
        if !parameters.has(names) {
            let question = format!("{} of {}?", names.join(" or "), library.name());
            let answered = interview.ask(&question, None, |answer| {
                let mut tried = parameters.clone();
                let assignment =
                    if answer.contains('=') { answer.to_owned() } else { format!("{}={answer}", names[0]) };
                tried.add(&assignment)?;
                Ok(tried)
            })?;
            parameters = answered.unwrap_or(parameters);
        }
    }
    Ok(translate(&parameters)?)
}
