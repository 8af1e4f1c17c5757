//! What there is: presets, keys, analyses, parameters, topics.

use crate::channel;
use dobrushin::run::Parameter;
use dobrushin_document::RunFile;
use dobrushin_document::idea::{IDEAS, Idea};
use dobrushin_document::text;
use serde_json::{Value, json};

/// Runs to start from: an id, a title, what it is, and the run file.
const PRESETS: &[(&str, &str, &str, &str)] = &[
    (
        "opacus",
        "My Opacus training",
        "A network trained by DP-SGD with Poisson batches. Only the last model is released.",
        include_str!("../../../examples/image-network.toml"),
    ),
    (
        "logistic-regression",
        "Private logistic regression",
        "A convex model with weight decay on a bounded domain: hidden steps are forgotten.",
        include_str!("../../../examples/logistic-regression.toml"),
    ),
    (
        "fine-tuned-head",
        "A linear head on frozen features",
        "The last layer of a pretrained network, trained on full batches.",
        include_str!("../../../examples/fine-tuned-head.toml"),
    ),
    (
        "noisy-gd",
        "Noisy gradient descent",
        "Full batches and strong convexity: the guarantee is exact.",
        include_str!("../../../examples/noisy-gd.toml"),
    ),
    (
        "allocation",
        "Every record once a pass",
        "Each record draws its batch in every pass, as a data loader would have it.",
        include_str!("../../../examples/allocation.toml"),
    ),
    (
        "federated",
        "Federated averaging",
        "People and not records are protected, and every round is published.",
        include_str!("../../../examples/federated.toml"),
    ),
    (
        "pnsgd",
        "One pass, one record a step (PNSGD)",
        "The algorithm of the first papers: early records are protected by all later steps.",
        include_str!("../../../examples/pnsgd.toml"),
    ),
    (
        "owners",
        "A model that travels",
        "Each owner adds a step of their own and hands the model on.",
        include_str!("../../../examples/owners.toml"),
    ),
    (
        "random-stop",
        "Stopped at random",
        "The paper's run: one pass that stops at a secret time.",
        include_str!("../../../examples/papers/random-stop.toml"),
    ),
    (
        "starts-apart",
        "Starts apart",
        "The paper's run: the same algorithm from two starts.",
        include_str!("../../../examples/papers/starts-apart.toml"),
    ),
    (
        "public-tail",
        "Ending on public data",
        "Public steps after the private ones hide them.",
        include_str!("../../../examples/public-tail.toml"),
    ),
    (
        "forget",
        "A person asks to be deleted",
        "Clean steps after training, until the model is as if the record had never been used.",
        include_str!("../../../examples/forget.toml"),
    ),
    (
        "chain",
        "Any chain of noisy steps",
        "Steps with a modulus of their own, for anything else.",
        include_str!("../../../examples/chain.toml"),
    ),
    (
        "mechanisms",
        "Mechanisms that release everything",
        "The composition of Gaussian, Laplace and other mechanisms.",
        include_str!("../../../examples/mechanisms.toml"),
    ),
];

/// A run file without names of files, which a page cannot open: the one that an example names is written into it.
fn contained(toml: &str) -> String {
    let rows = channel::rows(include_str!("../../../examples/channel.csv")).unwrap_or_default();
    toml.replace("channel = \"channel.csv\"", &format!("channel = {rows:?}"))
}

/// Everything that a page needs to begin with.
pub fn about() -> Value {
    let preset = |&(id, title, about, toml): &(&str, &str, &str, &str)| json!({ "id": id, "title": title, "about": about, "toml": contained(toml) });
    let key = |(section, key, example): (&str, &str, &str)| json!({ "section": section, "key": key, "example": example });
    let analysis =
        |theorem: &dobrushin::statement::Statement| json!({ "id": theorem.id, "title": theorem.title });
    let [(_, analyses), ..] = text::topics();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "presets": PRESETS.iter().map(preset).collect::<Vec<_>>(),
        "keys": RunFile::keys().map(key).collect::<Vec<_>>(),
        "analyses": analyses.into_iter().map(analysis).collect::<Vec<_>>(),
        "ideas": IDEAS,
        "parameters": Parameter::ALL.map(|parameter| parameter.key()),
    })
}

/// What can be explained, in groups.
pub fn topics() -> Vec<Value> {
    let ideas = Idea::all().into_iter().map(|idea| json!({ "id": idea.id, "title": idea.title }));
    let ideas = json!({ "title": "Ideas in plain words", "topics": ideas.collect::<Vec<_>>() });
    let groups = text::topics().into_iter().map(|(title, group)| {
        let topics = group.into_iter().map(|one| json!({ "id": one.id, "title": one.title }));
        json!({ "title": title, "topics": topics.collect::<Vec<_>>() })
    });
    std::iter::once(ideas).chain(groups).collect()
}
