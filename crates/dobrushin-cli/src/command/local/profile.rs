//! `dobrushin local profile`: how private a mechanism is, at every ε.

use super::arguments::ProfileArgs;
use crate::local_data::Id;
use crate::output::Report;
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::decimal as number;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_document::csv;
use dobrushin_document::json::{self, Bounds};
use dobrushin_document::report::{ProfileReport, Together};
use dobrushin_document::text;
use dobrushin_document::text::Style;
use dobrushin_local::{LocalProfile, Shuffled};
use std::num::NonZeroU32;

/// A matrix with more entries is not searched for its worst pair of answers.
const MOST_ENTRIES: usize = 1 << 17;

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
    let name = specification.id.name();
    let title = match specification.id {
        Id::Channel => "Channel of your own".to_owned(),
        _ => format!("{name} calibrated to epsilon = {}", number::plain(specification.epsilon.get())),
    };
    let profile = mechanism.privacy();
    let small = |channel: &FiniteKernel| channel.inputs() * channel.outputs() <= MOST_ENTRIES;
    let channel = mechanism.channel().filter(small);
    let titles = (name, title.clone());
    let mut report = ProfileReport::new(titles, &profile, channel.as_ref(), &levels, specification.delta)?;
    if let Some(path) = &arguments.plot {
        draw(title, &profile, &levels)?.write(path)?;
    }
    let delta = arguments.together_delta;
    report.questions = arguments.questions.map(|count| questions(&profile, count, delta));
    report.shuffled = arguments.shuffled.map(|count| shuffled(&profile, count, delta)).transpose()?;
    let table = csv::local_profile(&report);
    Ok(Report::new(text::local_profile(&report, style), json::of(&report)).with_table(table))
}

/// Several questions to one person.
fn questions(profile: &LocalProfile, count: NonZeroU32, delta: Delta) -> Together {
    let epsilon = LocalProfile::compose(&[(profile.clone(), u64::from(count.get()))]).epsilon(delta);
    Together { count: count.get(), delta: delta.get(), epsilon: Bounds(epsilon) }
}

/// Many people's reports, shuffled.
fn shuffled(profile: &LocalProfile, count: NonZeroU32, delta: Delta) -> Result<Together, Problem> {
    let pure = profile.epsilon(Delta::new(0.0)?).upper();
    if !pure.is_finite() {
        return Err(Problem::new("--shuffled: the mechanism has no finite epsilon with delta = 0")
            .help("shuffling is credited for mechanisms with --delta 0 only"));
    }
    let epsilon = Shuffled::new(Epsilon::new(pure)?, count)?.epsilon(delta);
    Ok(Together { count: count.get(), delta: delta.get(), epsilon: Bounds(epsilon) })
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
