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
        words: "How are batches made? poisson (each record is drawn independently), without-replacement (batches of a fixed \
                size, drawn again in each step), \
                allocation (in each pass every record draws one batch for itself), shuffled (each pass in a new order), cyclic (always the same order), once (one pass), full (all records)?",
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
    starter.file().question()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::init::tests::arguments;

    const ANSWERS: [(&str, &str); 14] = [
        ("run.records", "5000"),
        ("run.order", "shuffled"),
        ("run.batch-size", "50"),
        ("run.epochs", "4"),
        ("update.clip-norm", "2"),
        ("update.noise-multiplier", "3.5"),
        ("run.neighbours", "zero-out"),
        ("run.release", "last"),
        ("update.learning-rate", "0.5"),
        ("update.weight-decay", "0.01"),
        ("loss.convex", "true"),
        ("loss.generalised-linear", "true"),
        ("loss.smoothness", "0.25"),
        ("target.delta", "1e-7"),
    ];

    fn answered(flags: &[&str], answers: &str) -> (Result<Starter, Problem>, String) {
        let mut shown = Vec::new();
        let asked = starter(&arguments(flags), &mut Interview::new(answers.as_bytes(), &mut shown));
        (asked, String::from_utf8(shown).expect("UTF-8"))
    }

    #[test]
    fn every_answer_stands_in_the_file() {
        let answers: String = ANSWERS.iter().map(|(_, answer)| format!("{answer}\n")).collect();
        let (starter, shown) = answered(&[], &answers);
        let starter = starter.expect("all is accepted");
        assert_eq!(
            ANSWERS.map(|(key, _)| key).as_slice(),
            QUESTIONS.iter().map(|asked| asked.key).collect::<Vec<_>>()
        );
        for (key, answer) in ANSWERS {
            let value = starter.value(key).expect("it is set");
            assert_eq!(value.trim_matches('"'), answer, "{key}: {shown}");
        }
    }

    #[test]
    fn a_flag_is_not_asked_for_again() {
        let set: Vec<String> = ANSWERS.iter().map(|(key, answer)| format!("{key}={answer}")).collect();
        let flags: Vec<&str> = set.iter().flat_map(|set| ["--set", set.as_str()]).collect();
        let (starter, shown) = answered(&flags, "");
        assert!(starter.is_ok() && shown.is_empty(), "{shown}");
    }

    #[test]
    fn what_does_not_matter_is_not_asked() {
        let (starter, shown) =
            answered(&["--set", "order=full", "--set", "target.epsilon=1"], &"\n".repeat(9));
        assert!(starter.is_ok_and(|starter| !starter.is_set("run.release")), "{shown}");
        for words in ["in a batch", "learning rate", "convex", "Which δ"] {
            assert!(!shown.contains(words), "{words}: {shown}");
        }
    }

    #[test]
    fn an_answer_is_refused_in_the_words_of_run_files_and_asked_again() {
        for (refused, words) in [
            ("0", "run.records is 0, but it must be a whole number, 1 or more"),
            ("-5", "run.records is -5"),
            ("many", "run.records is \"many\""),
            ("1e99", "run.records is"),
        ] {
            let (starter, shown) = answered(&[], &format!("{refused}\n7\n{}", "\n".repeat(9)));
            assert_eq!(starter.expect("7 is accepted").value("run.records").as_deref(), Some("7"));
            assert!(shown.contains(words) && shown.contains("help: "), "{shown}");
        }
    }

    #[test]
    fn what_a_library_was_given_is_asked_for_by_its_name() {
        let (starter, shown) = answered(&["--from", "opacus"], "x\n1.1\nsample_rate=0.01\n10\n");
        assert_eq!(starter.expect("all is said").value("run.steps").as_deref(), Some("1000"), "{shown}");
        assert!(shown.contains("batch_size or sample_rate of Opacus?"), "{shown}");
    }
}
