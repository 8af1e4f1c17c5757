//! `dobrushin local profile`: how private a mechanism is, at every ε.

use super::arguments::ProfileArgs;
use super::together::together;
use crate::local_data::{Id, Mechanism};
use crate::output::{Report, bounds, object};
use crate::plot::{Line, Plot};
use crate::problem::Problem;
use crate::profile_plot::{Picture, Profile};
use dobrushin::kernel::FiniteKernel;
use dobrushin::numeric::decimal as number;
use dobrushin::{Delta, Enclosure, Epsilon, Gamma};
use dobrushin_document::text::{Text, table};
use dobrushin_local::LocalProfile;
use serde_json::{Value, json};

/// Matrices with more entries are not searched for their worst pairs of answers.
const MOST_ENTRIES: usize = 1 << 17;

/// The profile of the mechanism as it is realised.
pub fn run(arguments: &ProfileArgs) -> Result<Report, Problem> {
    let zero = Epsilon::new(0.0)?;
    let id = arguments.mechanism.mechanism.filter(|_| arguments.mechanism.channel.is_none());
    if let (Some(id), 2..) = (id, arguments.epsilon.len()) {
        return Err(Problem::new(format!("--epsilon: {} has one epsilon, but several are given", id.name()))
            .help("--at takes the levels at which delta is wanted"));
    }
    let specification =
        arguments.mechanism.specification(arguments.epsilon.first().copied().unwrap_or(zero))?;
    let mechanism = specification.build()?;
    let mut levels: Vec<Epsilon> = arguments.at.iter().chain(&arguments.epsilon).copied().collect();
    levels.sort_by(|a, b| a.get().total_cmp(&b.get()));
    levels.dedup();
    let title = match specification.id {
        Id::Channel => "Channel of your own".to_owned(),
        id => format!("{} calibrated to epsilon = {}", id.name(), number::plain(specification.epsilon.get())),
    };
    let answers = Known::of(&mechanism, levels, specification.delta)?;
    if let Some(path) = &arguments.plot {
        answers.draw(title.clone())?.write(path)?;
    }
    let mut json = answers.json();
    json.insert("mechanism".to_owned(), json!(specification.id.name()));
    let mut text = answers.text(&title);
    for together in together(arguments, &answers.profile)? {
        text.answer(together.sentence());
        json.insert(together.key.to_owned(), together.json());
    }
    Ok(Report::new(text, Value::Object(json)))
}

/// What is known about a mechanism.
struct Known {
    profile: LocalProfile,
    /// The mechanism as a matrix, if it is not too large.
    channel: Option<FiniteKernel>,
    levels: Vec<Epsilon>,
    deltas: Vec<Delta>,
    /// η of χ² and KL.
    chi2: Enclosure,
}

impl Known {
    fn of(mechanism: &Mechanism, levels: Vec<Epsilon>, delta: Delta) -> Result<Self, Problem> {
        let profile = mechanism.privacy();
        let small = |channel: &FiniteKernel| channel.inputs() * channel.outputs() <= MOST_ENTRIES;
        let channel = mechanism.channel().filter(small);
        let mut deltas = vec![Delta::new(0.0)?];
        deltas.extend((delta.get() > 0.0).then_some(delta));
        let chi2 = match &channel {
            Some(channel) => channel.chi_squared_contraction().value,
            None => profile.chi_squared_contraction(),
        };
        Ok(Self { profile, channel, levels, deltas, chi2 })
    }

    /// The two answers that are easiest to tell apart at a level.
    fn pair(&self, epsilon: Epsilon) -> Option<(usize, usize)> {
        let gamma = Gamma::from_epsilon(epsilon.get()).ok()?;
        let channel = self.channel.as_ref()?;
        Some(channel.contraction_with_pair(gamma).pair).map(|(x, y)| (x + 1, y + 1))
    }

    fn text(&self, title: &str) -> Text {
        let mut text = Text::default();
        let rows = self.levels.iter().map(|&level| {
            let delta = self.profile.delta(level);
            [number::plain(level.get()), number::upper(delta), number::width(delta)]
        });
        text.answer(format!("{title}\n\n{}", table(["epsilon", "delta at most", "width"], rows)));
        let rows = self.deltas.iter().map(|&delta| {
            let epsilon = self.profile.epsilon(delta);
            [number::plain(delta.get()), number::upper(epsilon), number::width(epsilon)]
        });
        text.answer(table(["delta", "locally private at epsilon", "width"], rows));
        let row =
            |name: &str, value: Enclosure| [name.to_owned(), number::upper(value), number::width(value)];
        let rows =
            [row("total variation (Dobrushin)", self.tv()), row("χ², KL, squared Hellinger", self.chi2)];
        text.answer(table(["contraction of", "at most", "width"], rows));
        text.explanation(
            "These are of the mechanism as it is realised, with its probabilities rounded to multiples of 2^-64.\n\
             n reports tell about the answers at most as much as n times the contraction of χ² and KL answers in\n\
             the clear. Printed bounds are rounded up; \"width\" is how much smaller the true value can be, relatively.\n\
             See: dobrushin explain contraction-coefficient, chi2-contraction",
        );
        text
    }

    fn tv(&self) -> Enclosure {
        Epsilon::new(0.0).map_or(Enclosure::UNIT, |zero| self.profile.delta(zero))
    }

    fn json(&self) -> serde_json::Map<String, Value> {
        let eta = self.levels.iter().map(|&level| {
            let value = bounds(self.profile.delta(level));
            let mut entry = object([("epsilon", json!(level.get())), ("value", value)]);
            if let Some((x, y)) = self.pair(level) {
                entry.insert("pair".to_owned(), json!([x, y]));
            }
            Value::Object(entry)
        });
        let deltas = self
            .deltas
            .iter()
            .map(|&delta| json!({ "delta": delta.get(), "epsilon": bounds(self.profile.epsilon(delta)) }));
        let mut fields = object([
            ("eta", eta.collect()),
            ("tv", bounds(self.tv())),
            ("chi2", bounds(self.chi2)),
            ("kl", bounds(self.chi2)),
            ("epsilon_at_delta", deltas.collect()),
        ]);
        if let Some(channel) = &self.channel {
            fields.insert("inputs".to_owned(), json!(channel.inputs()));
            fields.insert("outputs".to_owned(), json!(channel.outputs()));
        }
        fields
    }

    fn draw(&self, title: String) -> Result<Plot, Problem> {
        let floor = Delta::new(1e-6)?;
        let ln_delta = |gamma: Gamma| {
            let epsilon = Epsilon::new(gamma.epsilon().lower().max(0.0));
            epsilon.map_or(Enclosure::ENTIRE, |epsilon| self.profile.delta(epsilon).ln())
        };
        let picture = Picture {
            title,
            value: "δ",
            profiles: vec![Profile {
                label: "δ of local privacy",
                line: Line::Solid,
                ln_delta: &ln_delta,
                end: self.profile.epsilon(floor).upper(),
            }],
            knots: Vec::new(),
            asked: self.levels.iter().map(|level| level.get()).collect(),
            marked: 0,
            caption: "The mechanism as it is realised is (ε, δ)-locally private. Upper ends of certified enclosures."
                .to_owned(),
            floor,
        };
        Ok(picture.draw())
    }
}
