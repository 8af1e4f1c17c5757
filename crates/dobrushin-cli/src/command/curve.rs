//! `dobrushin curve`: a run with one or two of its parameters varied.

use crate::cli::CurveArgs;
use crate::command::account::{answer_json, asked, question, symbol, target, warn};
use crate::guard::Guard;
use crate::output::{Report, Text, aligned, bounds, object, wrap};
use crate::plot::{Axis, FLOOR, Line, Plot, Scale, Series};
use crate::problem::Problem;
use crate::progress;
use crate::run_file::{self, RunFile};
use crate::sweep::Sweep;
use dobrushin::NotApplicable;
use dobrushin::account::{Answer, Entry, Options, Question, Report as Account};
use dobrushin::numeric::decimal as number;
use dobrushin::run::Run;
use dobrushin::utility::{self, Best, Utility};
use rayon::prelude::*;
use serde_json::{Value, json};

/// The question, asked at every point.
pub fn run(arguments: &CurveArgs, guard: &Guard, show_progress: bool) -> Result<Report, Problem> {
    let mut file = RunFile::read(&arguments.run)?;
    run_file::apply(&mut file, &arguments.changes.set)?;
    file.spared_by(guard)?;
    let sweeps = sweeps(arguments)?;
    spare_what_is_varied(&file, &sweeps, guard)?;
    let question = question(&file, &arguments.question)?;
    let points = points(&sweeps);
    let bar = progress::bar(show_progress, points.len() as u64, "points");
    let options = Options { only: arguments.analyses.only(), ..Options::default() };
    let accounts = points
        .par_iter()
        .map(|point| {
            let (run, question) = at(&file, &sweeps, point, question)?;
            let worth = arguments.utility.then(|| utility::of(&run));
            let account = Account::new(&run, question, &options);
            bar.inc(1);
            Ok((account, worth))
        })
        .collect::<Result<Vec<_>, Problem>>()?;
    bar.finish_and_clear();
    let (accounts, worths): (Vec<Account>, Vec<Option<Worth>>) = accounts.into_iter().unzip();
    let worths = worths.into_iter().collect();
    let curve = Curve { sweeps, points, accounts, worths, question };
    if let Some(path) = &arguments.plot {
        curve.draw(arguments.log).above(FLOOR).write(path)?;
    }
    Ok(Report::new(curve.text(), curve.json()))
}

/// Words that a key takes in turn may be names of files.
fn spare_what_is_varied(file: &RunFile, sweeps: &[Sweep], guard: &Guard) -> Result<(), Problem> {
    for sweep in sweeps {
        for word in sweep.values.iter().filter(|value| value.is_str()) {
            let mut file = file.clone();
            run_file::set(&mut file, &sweep.key, word.clone())?;
            file.spared_by(guard)?;
        }
    }
    Ok(())
}

/// The most points of a curve, or of a table for two parameters: each takes some ten kilobytes until all are printed.
const MOST_POINTS: usize = 100_000;

fn sweeps(arguments: &CurveArgs) -> Result<Vec<Sweep>, Problem> {
    if arguments.over.len() > 2 {
        return Err(Problem::new(format!("--over is given {} times", arguments.over.len()))
            .help("once, or twice for two parameters"));
    }
    let read = |over: &String| Sweep::parse(over, arguments.points, arguments.log);
    let sweeps: Vec<Sweep> = arguments.over.iter().map(read).collect::<Result<_, _>>()?;
    if let [a, b] = &sweeps[..]
        && a.key == b.key
    {
        return Err(Problem::new(format!("--over varies {} twice", a.key)).help("give two different keys"));
    }
    let numbers = sweeps.iter().map(|sweep| sweep.values.len());
    let points = numbers.clone().fold(1_usize, usize::saturating_mul);
    if points > MOST_POINTS {
        let each = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(" × ");
        return Err(Problem::new(format!(
            "--over asks for {each} = {points} points: at most {MOST_POINTS} are computed"
        ))
        .help("give fewer values, or a smaller number with --points"));
    }
    Ok(sweeps)
}

/// Indices into the values, the first parameter varying slowest.
fn points(sweeps: &[Sweep]) -> Vec<Vec<usize>> {
    sweeps.iter().fold(vec![Vec::new()], |points, sweep| {
        let extend =
            |point: Vec<usize>| (0..sweep.values.len()).map(move |index| [&point[..], &[index]].concat());
        points.into_iter().flat_map(extend).collect()
    })
}

fn at(
    file: &RunFile,
    sweeps: &[Sweep],
    point: &[usize],
    question: Question,
) -> Result<(Run, Question), Problem> {
    let mut file = file.clone();
    for (sweep, &index) in sweeps.iter().zip(point) {
        run_file::set(&mut file, &sweep.key, sweep.values[index].clone())?;
    }
    // A target that is varied is asked for.
    let varied = sweeps.iter().any(|sweep| sweep.key.starts_with("target."));
    let question = if varied { file.question()?.unwrap_or(question) } else { question };
    Ok((file.run()?, question))
}

/// How good a run is.
type Worth = Result<Utility, NotApplicable>;

fn best(worth: &Worth) -> Option<Best<'_>> {
    worth.as_ref().ok()?.best()
}

struct Curve {
    sweeps: Vec<Sweep>,
    points: Vec<Vec<usize>>,
    accounts: Vec<Account>,
    /// One for each point, if they are asked for.
    worths: Option<Vec<Worth>>,
    question: Question,
}

impl Curve {
    /// The analyses that apply somewhere.
    fn ids(&self) -> Vec<&'static str> {
        self.entries().map(|entry| entry.id).collect()
    }

    /// What the analyses that apply somewhere answered at the first point.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.accounts.first().map_or(&[][..], |account| &account.entries);
        let applies = |id: &str| self.accounts.iter().any(|account| answer(account, id).is_some());
        entries.iter().filter(move |entry| applies(entry.id))
    }

    fn text(&self) -> Text {
        let mut text = Text::default();
        let symbol = symbol(self.question);
        let names = self.sweeps.iter().map(|sweep| sweep.key.clone());
        let ids = self.ids();
        let columns = ids.iter().map(|id| (*id).to_owned());
        let excess = self.worths.iter().map(|_| "excess at most".to_owned());
        let header = names.chain([format!("{symbol} at most")]).chain(excess).chain(columns).collect();
        let cell =
            |answer: Option<Answer>| answer.map_or("–".to_owned(), |answer| number::upper(answer.value));
        let rows = self.points.iter().zip(&self.accounts).enumerate().map(|(place, (point, account))| {
            let values = self.sweeps.iter().zip(point).map(|(sweep, &index)| sweep.label(index));
            let guarantee = cell(account.guarantee().map(|best| best.answer));
            let worth = self.worths.iter().map(|worths| {
                best(&worths[place]).map_or("–".to_owned(), |best| number::upper(best.value))
            });
            let analyses = ids.iter().map(|id| cell(answer(account, id)));
            values.chain([guarantee]).chain(worth).chain(analyses).collect()
        });
        text.answer(aligned(header, rows));
        warn(&mut text, self.concern().as_deref());
        let asked = match self.question {
            Question::Epsilon(delta) => format!("ε at δ = {}", number::plain(delta.get())),
            Question::Delta(epsilon) => format!("δ at ε = {}", number::plain(epsilon.get())),
        };
        text.explanation(format!(
            "{asked}. The second part of the table is what each analysis says; composition-gdp is an\n\
             approximation and never the guarantee. Printed bounds are rounded up. The assumptions are those of\n\
             dobrushin account."
        ));
        if let Some(words) = self.worth_words() {
            text.explanation(words);
        }
        text
    }

    /// Where δ is too large to protect anybody, in words.
    fn concern(&self) -> Option<String> {
        let concerns = || self.accounts.iter().filter_map(|account| account.concern.as_ref());
        let first = concerns().next()?;
        Some(match (concerns().count(), self.accounts.len()) {
            (1, 1) => first.clone(),
            (some, all) => format!("at {some} of {all} points δ is too large, at the first because {first}"),
        })
    }

    /// What is bounded, of all points, in words.
    fn measure(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for best in self.worths.iter().flatten().filter_map(best) {
            if !words.contains(&best.measure.words()) {
                words.push(best.measure.words());
            }
        }
        words.join(", or ")
    }

    /// What the excess is, and why it is missing where it is.
    fn worth_words(&self) -> Option<String> {
        let worths = self.worths.as_ref()?;
        let mut lines = Vec::new();
        if worths.iter().any(Result::is_ok) {
            lines.push(format!("The excess is the {}; see dobrushin account --utility.", self.measure()));
        }
        if let Some(reason) = worths.iter().find_map(|worth| worth.as_ref().err()) {
            lines.push(format!("Where there is no excess: {reason}."));
        }
        Some(lines.iter().map(|line| wrap(line, "")).collect::<Vec<_>>().join("\n"))
    }

    fn json(&self) -> Value {
        let over = self.sweeps.iter().map(|sweep| {
            let values: Value = sweep.values.iter().map(run_file::json).collect();
            json!({ "key": sweep.key, "values": values })
        });
        let analyses = self.ids().into_iter().map(|id| {
            let mut fields = object([("id", json!(id))]);
            fields.extend(self.lists(|account| answer(account, id)));
            Value::Object(fields)
        });
        let guarantee = self.lists(|account| account.guarantee().map(|best| best.answer));
        let guarantee = guarantee.into_iter().next().map_or(Value::Null, |(_, list)| list);
        let mut fields = object([
            ("over", over.collect()),
            ("target", target(self.question)),
            ("analyses", analyses.collect()),
            ("guarantee", guarantee),
            ("warnings", self.concern().into_iter().collect()),
        ]);
        if let Some(worths) = &self.worths {
            let value = |worth| {
                best(worth).map_or(Value::Null, |best| {
                    let mut value = bounds(best.value);
                    value["measure"] = json!(best.measure.name());
                    value
                })
            };
            fields.insert("utility".to_owned(), self.rows(worths.iter().map(value).collect()));
        }
        Value::Object(fields)
    }

    /// A value for each point; for two parameters a list of rows.
    fn rows(&self, flat: Vec<Value>) -> Value {
        match &self.sweeps[..] {
            [_, inner] => flat.chunks(inner.values.len()).map(|row| json!(row)).collect(),
            _ => json!(flat),
        }
    }

    /// The fields of the answers, each as a list over the points (of lists, for two parameters).
    fn lists(&self, of: impl Fn(&Account) -> Option<Answer>) -> serde_json::Map<String, Value> {
        let answers: Vec<Option<serde_json::Map<String, Value>>> = self
            .accounts
            .iter()
            .map(|account| of(account).map(|answer| answer_json(self.question, answer)))
            .collect();
        let names: Vec<String> =
            answers.iter().flatten().next().map_or(Vec::new(), |fields| fields.keys().cloned().collect());
        let list = |name: &String| -> Value {
            let value = |fields: &Option<serde_json::Map<String, Value>>| {
                fields.as_ref().and_then(|fields| fields.get(name)).cloned().unwrap_or(Value::Null)
            };
            self.rows(answers.iter().map(value).collect())
        };
        names.iter().map(|name| (name.clone(), list(name))).collect()
    }

    fn draw(&self, log: bool) -> Plot {
        let label = match &self.worths {
            Some(_) => format!("{} at most", self.measure()),
            None => self.sweeps[0].key.clone(),
        };
        let x = Axis { label, scale: if log { Scale::Log10 } else { Scale::Linear } };
        let delta = asked(self.question) == "delta";
        let y = Axis {
            label: if delta { "δ" } else { "ε" }.to_owned(),
            scale: if log || delta { Scale::Log10 } else { Scale::Linear },
        };
        let place = |scale: Scale, value: f64| if scale == Scale::Log10 { value.log10() } else { value };
        let height = |answer: Option<Answer>| match answer {
            Some(Answer { log_delta: Some(ln), .. }) => ln.upper() / std::f64::consts::LN_10,
            Some(answer) => place(y.scale, answer.value.upper()),
            None => f64::NAN,
        };
        let abscissa = |at: usize| match &self.worths {
            Some(worths) => best(&worths[at]).map_or(f64::NAN, |best| place(x.scale, best.value.upper())),
            None => place(x.scale, self.sweeps[0].number(self.points[at][0])),
        };
        let here = || self.points.iter().zip(&self.accounts).enumerate();
        let series = match &self.sweeps[..] {
            [_, inner] => (0..inner.values.len())
                .map(|second| {
                    let points =
                        here().filter(|(_, (point, _))| point[1] == second).map(|(at, (_, account))| {
                            (abscissa(at), height(account.guarantee().map(|best| best.answer)))
                        });
                    let label = format!("{} = {}", inner.key, inner.label(second));
                    Series { label, points: points.collect(), line: Line::Solid }
                })
                .collect(),
            _ => (self.entries())
                .map(|Entry { id, rigorous, .. }| {
                    let points = here().map(|(at, (_, account))| (abscissa(at), height(answer(account, id))));
                    let line = if *rigorous { Line::Solid } else { Line::Dashed };
                    Series { label: (*id).to_owned(), points: points.collect(), line }
                })
                .collect(),
        };
        let given = match self.question {
            Question::Epsilon(d) => format!("δ = {}", number::plain(d.get())),
            Question::Delta(e) => format!("ε = {}", number::plain(e.get())),
        };
        let approximate = self.entries().filter(|entry| !entry.rigorous);
        let approximate: String =
            approximate.map(|entry| format!("; {} is an approximation", entry.id)).collect();
        Plot {
            title: match &self.worths {
                Some(_) => format!("{} against excess, over {}, at {given}", y.label, self.sweeps[0].key),
                None => format!("{} over {} at {given}", y.label, x.label),
            },
            caption: vec![format!("Upper ends of certified enclosures{approximate}.")],
            x,
            y,
            series,
        }
    }
}

/// What an analysis answered, if it applies.
fn answer(account: &Account, id: &str) -> Option<Answer> {
    account.entries.iter().find(|entry| entry.id == id)?.outcome.as_ref().ok().copied()
}
