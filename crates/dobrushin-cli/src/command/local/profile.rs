//! `dobrushin local profile`: how private a mechanism is, at every ε.

use super::arguments::ProfileArgs;
use crate::output::Report;
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_document::local::{ProfileWishes, profile};
use dobrushin_document::text::Style;
use dobrushin_document::{csv, json, text};
use dobrushin_local::LocalProfile;

/// The profile of the mechanism as it is realised.
pub fn run(arguments: &ProfileArgs, style: Style) -> Result<Report, Problem> {
    let zero = Epsilon::new(0.0)?;
    let id = arguments.mechanism.mechanism.filter(|_| arguments.mechanism.channel.is_none());
    if let (Some(id), 2..) = (id, arguments.epsilon.len()) {
        return Err(Problem::new(format!("--epsilon: {} has one epsilon, but several are given", id.name()))
            .help("--at takes the levels at which you want delta"));
    }
    let specification =
        arguments.mechanism.specification(arguments.epsilon.first().copied().unwrap_or(zero), None)?;
    let mechanism = specification.build()?;
    let mut levels: Vec<Epsilon> = arguments.at.iter().chain(&arguments.epsilon).copied().collect();
    levels.sort_by(|a, b| a.get().total_cmp(&b.get()));
    levels.dedup();
    let wishes = ProfileWishes {
        levels,
        questions: arguments.questions,
        shuffled: arguments.shuffled,
        together_delta: arguments.together_delta,
    };
    let report = profile(&specification, &mechanism, &wishes)?;
    if let Some(path) = &arguments.plot {
        draw(report.title.clone(), &mechanism.privacy(), &wishes.levels)?.write(path)?;
    }
    let table = csv::local_profile(&report);
    Ok(Report::new(text::local_profile(&report, style), json::of(&report)).with_table(table))
}

fn draw(title: String, profile: &LocalProfile, levels: &[Epsilon]) -> Result<Plot, Problem> {
    let floor = Delta::new(1e-6)?;
    let ln_delta = |gamma: Gamma| {
        let epsilon = Epsilon::new(gamma.epsilon().lower().max(0.0));
        epsilon.map_or(Enclosure::ENTIRE, |epsilon| profile.delta(epsilon).ln())
    };
    let picture = Picture {
        title,
        value: "δ",
        profiles: vec![Profile {
            label: "δ of local privacy".to_owned(),
            line: Line::Guarantee,
            ln_delta: &ln_delta,
            end: profile.epsilon(floor).upper(),
        }],
        knots: Vec::new(),
        asked: levels.iter().map(|level| level.get()).collect(),
        marked: 0,
        mark: "asked for".to_owned(),
        caption:
            "The mechanism as it is realised is (ε, δ)-locally private. Upper ends of certified enclosures."
                .to_owned(),
        floor,
    };
    Ok(picture.draw())
}
