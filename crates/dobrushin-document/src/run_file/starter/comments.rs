//! What the keys of a run file mean, in a few words.

/// Keys that are worth thinking about: if nobody sets them, they stand in the file as comments.
pub const SUGGESTED: &[&str] = &[
    "run.records",
    "run.release",
    "update.learning-rate",
    "update.weight-decay",
    "loss.convex",
    "loss.smoothness",
    "loss.generalised-linear",
    "domain.diameter",
];

/// What stands above a section.
pub fn above(section: &str) -> Option<&'static str> {
    match section {
        "loss" => Some(
            "What is known about the loss of each record. Leave out what you do not know: nothing is assumed in its place. \
             Without a learning rate and these, the answer is that of composition.",
        ),
        "domain" => Some("The set to which every iterate is projected, if it is."),
        _ => None,
    }
}

/// What a key means.
pub fn meaning(key: &str) -> &'static str {
    match key {
        "run.algorithm" => "pnsgd | dp-sgd | gradient-descent | online",
        "run.records" => "how many people, or other units that the guarantee is for",
        "run.steps" => "\"any\": a guarantee for every number of steps",
        "run.epochs" => "passes over the records; or steps",
        "run.batch-size" => "the expected size, with Poisson sampling",
        "run.sampling-probability" => "of each record, in each step",
        "run.order" => "once | cyclic | shuffled | allocation | poisson | without-replacement | full",
        "run.incomplete-batch" => {
            "records at the end of a pass that fill no batch: drop | short | pad | fill"
        }
        "run.release" => "\"last\" if nobody ever sees another iterate: no checkpoint, no average",
        "run.neighbours" => "replace-one | add-or-remove-one | zero-out",
        "run.record" => "\"worst\": the guarantee is for every record",
        "run.public-steps" => "further steps, at the end, that use only public data",
        "run.tasks" => "the number of such runs on the same records",
        "forget.records" => "how many records each request deletes: a number, or a list",
        "forget.steps" => "clean steps on the remaining records after each request: a number, or a list",
        "update.learning-rate" => "a number, a list, or { inverse-sqrt = 0.1 }",
        "update.clip-norm" => "the gradient of each record is clipped to this norm",
        "update.lipschitz" => "no gradient of a record is longer, without clipping",
        "update.noise" => "gaussian | laplace (in one dimension)",
        "update.noise-multiplier" => "the noise on the sum of gradients over clip-norm, as in Opacus",
        "update.gradient-noise" => "the noise on the average gradient",
        "update.iterate-noise" => "the noise on the iterate",
        "update.weight-decay" => {
            "a step multiplies the iterate by 1 minus this: learning rate times the optimiser's"
        }
        "update.divide-by" => "\"actual\": by the number of records that were drawn",
        "loss.convex" => "true of linear, logistic and softmax regression; not of networks",
        "loss.smoothness" => "of the gradient: R²/4 for logistic regression on rows of norm at most R",
        "loss.strong-convexity" => "without clipping only",
        "loss.generalised-linear" => "a loss of ⟨w, x⟩ only: clipping then keeps it convex",
        "domain.diameter" => "twice the radius of a ball",
        "domain.dimension" => "the number of parameters",
        "domain.ball" => "iterates are projected to this norm",
        "domain.box" => "every parameter is kept between these",
        "model.kind" => "what is trained; the loss and how smooth it is follow from it",
        "model.schema" => "what the columns may hold, in the folder of this file",
        "target.delta" => "finds ε; well below 1 over the number of records",
        "target.epsilon" => "with delta: whether both are met; alone: finds δ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_file::keys::{example, keys_of};

    #[test]
    fn every_key_of_a_noisy_iteration_is_explained() {
        for section in ["run", "update", "loss", "forget"] {
            for (name, _) in keys_of(section).iter().filter(|(name, _)| !name.starts_with("start-")) {
                assert!(!meaning(&format!("{section}.{name}")).is_empty(), "{section}.{name}");
            }
        }
        for key in SUGGESTED {
            let (section, name) = key.split_once('.').expect("a key has a section");
            assert!(!example(section, name).is_empty() && !meaning(key).is_empty(), "{key}");
        }
    }
}
