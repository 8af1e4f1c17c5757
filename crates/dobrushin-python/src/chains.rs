//! The chains that a run is lowered to, as data.

use crate::errors::invalid;
use crate::run_file::RunFile;
use crate::work::work;
use dobrushin::chain::{Branch, Count, Participation, Piece, Step, StepNoise, Stop, Stretch};
use dobrushin::{Delta, Enclosure, Epsilon, NonNegative};
use dobrushin_cli::Problem;
use dobrushin_document::json::{Number, of};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Chains with more changes are not written out.
const MOST_STRETCHES: usize = 100_000;

/// The release of a run, for each record that may be the least private: a list of chains with their weights, as JSON.
#[pyfunction]
pub fn chains(py: Python<'_>, run: &RunFile) -> PyResult<String> {
    let opened = run.opened.clone();
    let views = work(py, move |_| {
        let run = opened.run()?;
        let released =
            run.released().map_err(|why| Problem::answer_is_no(format!("the run has no chains: {why}")))?;
        let branches = || released.views.iter().flat_map(|view| view.branches());
        let stretches: usize =
            branches().map(|branch| branch.chain.stretches().take(MOST_STRETCHES).count()).sum();
        Ok::<_, Problem>((stretches < MOST_STRETCHES).then(|| {
            let views =
                released.views.iter().map(|view| view.branches().iter().map(chain).collect::<Value>());
            views.collect::<Value>().to_string()
        }))
    })?;
    views.ok_or_else(|| {
        invalid(py, "the chains change their steps too often to be written out", "ask about fewer steps")
    })
}

fn chain(branch: &Branch) -> Value {
    let (domain, start) = (branch.chain.domain(), branch.chain.start());
    let points = |points: &Vec<(Epsilon, Delta)>| {
        points
            .iter()
            .map(|(epsilon, delta)| json!([of(&Number(epsilon.get())), delta.get()]))
            .collect::<Value>()
    };
    // If the runs start apart, the first step is their start.
    let steps = branch.chain.stretches().skip(usize::from(start.is_some()));
    json!({
        "weight": upper(branch.weight),
        "stops": match branch.stop {
            Stop::End => Value::Null,
            Stop::Uniform(steps) => json!(steps),
        },
        "diameter": domain.diameter.map(|diameter| diameter.get()),
        "dimension": domain.dimension,
        "start_distance": start.and_then(|start| start.distance).map(NonNegative::get),
        "start_divergence": start.map(|start| &start.divergence).filter(|points| !points.is_empty()).map(points),
        "steps": steps.map(|stretch| stretch_of(&stretch)).collect::<Value>(),
    })
}

fn stretch_of(stretch: &Stretch<'_>) -> Value {
    let Step { noise, modulus, displacement, absence, participation, diameter, .. } = stretch.step;
    let (kind, size) = match noise {
        StepNoise::Gaussian(size) => ("gaussian", size),
        StepNoise::Laplace(size) => ("laplace", size),
    };
    json!({
        "count": match stretch.count {
            Count::Times(times) => json!(times),
            Count::Any => json!("any"),
        },
        "noise": kind,
        "iterate_noise": size.lower(),
        "modulus": modulus.pieces().iter().map(piece).collect::<Value>(),
        "displacement": upper(displacement.max(*absence)),
        "participation": match participation {
            Participation::Never => 0.0,
            Participation::Always => 1.0,
            Participation::Sometimes(probability) => probability.get(),
        },
        "diameter": diameter.map(|diameter| diameter.get()),
    })
}

fn piece(piece: &Piece) -> Value {
    json!([upper(piece.slope()), upper(piece.offset())])
}

/// The end on the side of less privacy; ∞ is a word in JSON.
fn upper(value: Enclosure) -> Value {
    of(&Number(value.upper()))
}
