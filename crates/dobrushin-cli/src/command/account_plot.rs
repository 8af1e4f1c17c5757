//! The picture of an account: δ against ε, by every analysis.

use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use dobrushin::account::{Account, Options, Question, analyses_for_curves, analysis_ids};
use dobrushin::numeric::decimal as number;
use dobrushin::profile::PrivacyProfile;
use dobrushin::run::Run;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_audit::floor::Floor;
use dobrushin_document::report::Given;
use std::sync::Arc;

/// A picture is at most this many times wider than the best curve; other curves go on beyond its edge.
const WIDER: f64 = 8.0;
/// A curve that stays above this in the whole picture is not drawn.
const VACUOUS: f64 = 0.5;
/// The name of the curve that no analysis of the same facts can go below.
const FLOOR: &str = "floor";
/// The smallest δ that is drawn.
const LEAST: f64 = 1e-300;

struct Curve {
    id: &'static str,
    rigorous: bool,
    profile: Arc<dyn PrivacyProfile>,
    /// The ε at which the curve reaches the floor.
    end: f64,
}

/// δ(ε) of the analysis behind the guarantee, and of composition.
pub fn of_the_guarantee(
    run: &Run,
    account: &Account,
    below: Option<&Floor>,
    options: &Options,
) -> Result<Plot, Problem> {
    let best = account.guarantee().ok().map(|best| best.id);
    let only = analysis_ids().filter(|id| Some(*id) == best || *id == "composition").collect();
    draw(run, account, below, &Options { only, ..options.clone() })
}

/// δ(ε) of every analysis that applies and says something, and of the floor.
pub fn draw(run: &Run, account: &Account, below: Option<&Floor>, options: &Options) -> Result<Plot, Problem> {
    let floor = floor(account)?;
    let options = Options { exception: account.exception, ..options.clone() };
    let curves = analyses_for_curves(run, &options).into_iter().filter_map(|analysed| {
        let profile = analysed.profile.ok()?;
        let end = profile.epsilon(floor).upper();
        Some(Curve { id: analysed.id, rigorous: analysed.rigorous, profile, end })
    });
    let mut curves: Vec<Curve> = curves.collect();
    curves.extend(below.map(|below| Curve {
        id: FLOOR,
        rigorous: false,
        profile: Arc::clone(&below.profile),
        end: below.profile.epsilon(floor).lower(),
    }));
    let asked = match account.question {
        Question::DeltaAt(epsilon) => Some(epsilon.get()),
        Question::EpsilonAt(_) => account.guarantee().ok().map(|best| best.answer.value.upper()),
    };
    let ends = || curves.iter().filter(|curve| curve.rigorous && curve.end > 0.0).map(|curve| curve.end);
    let least = ends().fold(f64::INFINITY, f64::min);
    let wide = ends().filter(|end| *end <= WIDER * least).fold(0.0, f64::max);
    let wide = wide.max(1.2 * asked.filter(|asked| asked.is_finite()).unwrap_or(0.0));
    let wide = if wide.is_finite() && wide > 0.0 { wide } else { 1.0 };
    let (drawn, vacuous): (Vec<Curve>, Vec<Curve>) =
        curves.into_iter().partition(|curve| curve.at(wide).upper() < VACUOUS.ln());
    let best = account.guarantee().ok().map(|best| best.id);
    let marked = best.and_then(|best| drawn.iter().position(|curve| curve.id == best));
    let functions: Vec<Box<dyn Fn(Gamma) -> Enclosure>> = drawn
        .iter()
        .map(|curve| {
            let profile = Arc::clone(&curve.profile);
            let is_floor = curve.id == FLOOR;
            Box::new(move |gamma: Gamma| {
                let value = ln_delta(&profile, gamma.epsilon().lower());
                if is_floor { Enclosure::from(value.lower()) } else { value }
            }) as _
        })
        .collect();
    let profiles = drawn
        .iter()
        .zip(&functions)
        .map(|(curve, ln_delta)| Profile {
            label: named(curve.id, curve.rigorous, best == Some(curve.id)),
            line: match curve.rigorous {
                true if best == Some(curve.id) => Line::Guarantee,
                true => Line::Solid,
                false => Line::Dashed,
            },
            ln_delta: ln_delta.as_ref(),
            end: curve.end.min(wide),
        })
        .collect();
    let mut caption = "Upper ends of certified enclosures.".to_owned();
    if !vacuous.is_empty() {
        let ids: Vec<&str> = vacuous.iter().map(|curve| curve.id).collect();
        caption.push_str(&format!(
            " Left out, because δ stays above {VACUOUS} in the whole picture: {}.",
            ids.join(", ")
        ));
    }
    let given = Given::from(account.question);
    let answer = account.guarantee().ok().map(|best| number::briefly(best.answer.value));
    let picture = Picture {
        title: answer.as_ref().map_or_else(
            || format!("There is no guarantee at {}", given.in_words()),
            |answer| format!("{} at most {answer} at {}", given.symbol(), given.in_words()),
        ),
        value: "δ",
        profiles,
        knots: Vec::new(),
        asked: asked.into_iter().filter(|_| marked.is_some()).collect(),
        marked: marked.unwrap_or(0),
        mark: answer.map_or_else(String::new, |answer| format!("(ε, δ) = {}", given.pair(&answer))),
        caption,
        floor,
    };
    Ok(picture.draw())
}

/// The name of a curve: which one is the guarantee, and which one is no bound.
pub fn named(id: &str, rigorous: bool, is_guarantee: bool) -> String {
    match (rigorous, is_guarantee) {
        (false, _) if id == FLOOR => format!("{FLOOR}: no analysis is below it"),
        (_, true) => format!("guarantee: {id}"),
        (true, false) => id.to_owned(),
        (false, false) => format!("{id}, approximate: no bound"),
    }
}

/// A floor low enough to show what was asked.
fn floor(account: &Account) -> Result<Delta, Problem> {
    let asked = match account.question {
        Question::EpsilonAt(delta) => delta.get(),
        Question::DeltaAt(_) => account.guarantee().map_or(1.0, |best| best.answer.value.upper()),
    };
    let low = if asked > 0.0 { 1e-3 * asked } else { 1.0 };
    Ok(Delta::new(low.clamp(LEAST, 1e-12))?)
}

impl Curve {
    fn at(&self, epsilon: f64) -> Enclosure {
        ln_delta(&self.profile, epsilon)
    }
}

fn ln_delta(profile: &Arc<dyn PrivacyProfile>, epsilon: f64) -> Enclosure {
    Epsilon::new(epsilon.max(0.0)).map_or(Enclosure::ZERO, |epsilon| profile.log_delta(epsilon))
}
