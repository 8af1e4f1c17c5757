//! Private training on tables in memory, and what the models predict.

use crate::charge::{ModelCharge, Unreleased};
use crate::convert::number;
use crate::errors::{Kind, Raised, raise};
use crate::frame::Given;
use crate::questions::asked;
use crate::run_file::RunFile;
use crate::schema::Schema;
use crate::work::{quickly, work};
use dobrushin::Progress;
use dobrushin::account::Question;
use dobrushin::mechanism::Neighbours;
use dobrushin_cli::ledger::{Charging, Remaining};
use dobrushin_cli::{
    BadRows, Cells, Folder, Guard, Keeping, Opened, Pass, Problem, Rows, Touched, load_columns, pad,
    refuse_none, written,
};
use dobrushin_document::ask::{self, Asked, PlanWishes};
use dobrushin_document::certificate::{self, Certificate};
use dobrushin_document::model::SavedModel;
use dobrushin_document::report::TrainingReport;
use dobrushin_document::text::Style;
use dobrushin_document::trained::{self, Circumstances, Goal, Trained};
use dobrushin_document::{SelfContained, json, text};
use dobrushin_train::schema::{Encoder, Schema as Declared};
use dobrushin_train::{Generators, Plan, Prediction, Released, Seed, Table, TrainError};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Trains a model, as `dobrushin train` does, and gives the bytes of its file, its certificate, and the report as JSON and
/// as text. Without a run, a plan is chosen for the schema. Nothing is written unless everything is done.
#[pyfunction]
#[pyo3(signature = (data, run=None, *, schema=None, model=None, order=None, neighbours=None, records=None, epsilon=None, delta=None, test=None, public=None, out=None, force=false, seed=None, keep_state=None, ledger=None, person=None, leave_out=false))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn train<'py>(
    py: Python<'py>,
    data: &Bound<'_, PyAny>,
    run: Option<&RunFile>,
    schema: Option<&Schema>,
    model: Option<String>,
    order: Option<&str>,
    neighbours: Option<&str>,
    records: Option<&Bound<'_, PyAny>>,
    epsilon: Option<&Bound<'_, PyAny>>,
    delta: Option<&Bound<'_, PyAny>>,
    test: Option<&Bound<'_, PyAny>>,
    public: Option<&Bound<'_, PyAny>>,
    out: Option<PathBuf>,
    force: bool,
    seed: Option<u64>,
    keep_state: Option<PathBuf>,
    ledger: Option<&str>,
    person: Option<&Bound<'_, PyAny>>,
    leave_out: bool,
) -> PyResult<(Bound<'py, PyBytes>, String, String, String)> {
    // It is read before the records are, so that it does not depend on them.
    let made = Some(dobrushin_cli::today());
    let records = records.map(|given| {
        let count = ask::count_of(&number("records", given)?.to_string());
        count.map_err(|error| error.within("records")).raised(py)
    });
    let request = Request {
        run: run.map(|run| run.opened.clone()),
        schema: schema.map(|schema| schema.declared.clone()),
        wishes: PlanWishes {
            label: None,
            model,
            order: order.map(ask::order_of).transpose().raised(py)?,
            neighbours: neighbours.map(ask::neighbours_of).transpose().raised(py)?,
        },
        records: records.transpose()?,
        asked: asked(epsilon, delta)?,
        private: Given::of(data, "the data")?,
        test: test.map(|given| Given::of(given, "the test records")).transpose()?,
        public: public.map(|given| Given::of(given, "the public records")).transpose()?,
        keeps_state: keep_state.is_some(),
        charge: match ledger.zip(person) {
            Some((ledger, person)) => Some(ModelCharge::new(ledger, person, leave_out, out.clone())?),
            None => None,
        },
    };
    request.refuse_to_mix(keep_state.as_deref(), out.as_deref()).raised(py)?;
    let folder = out.map(|path| py.detach(|| Folder::new(&path, force))).transpose().raised(py)?;
    let files = folder.as_ref().map(Folder::files);
    let path = keep_state.clone();
    let (trained, state, mut report, unreleased) = work(py, move |progress| {
        let generators = Generators::new(seed.map_or(Seed::OperatingSystem, Seed::Known))?;
        let Prepared { mut records, run, goal, unreleased } = request.prepare(progress)?;
        path.iter().try_for_each(|path| Keeping::check(path, force, &run))?;
        let circumstances = Circumstances {
            seed,
            test_share: None,
            keeps_state: path.is_some(),
            data_is_public: false,
            made,
        };
        let mut begin = |_| progress.clone();
        let trained = trained::train(&run, goal.question(), circumstances, &mut begin, |plan, advance| {
            records.train(plan, &generators, advance)
        })?;
        let test = records.test.as_ref().map(|table| trained.metrics(table, true));
        let state = records.keeping.and_then(|keeping| keeping.state(&run, seed));
        let report = TrainingReport { test, ..trained.report(&run, seed, goal.target().is_some()) };
        Ok::<_, Problem>((trained, state, report, unreleased))
    })?;
    // Nobody has pressed Ctrl-C up to here, and from here on nothing listens to it.
    let Trained { model, certificate, .. } = &trained;
    let state = keep_state.as_deref().zip(state.as_ref());
    py.detach(|| {
        let mut charging = unreleased.leaving();
        let left = charging.leaves();
        let written =
            left.and_then(|()| dobrushin_cli::write(folder.as_ref(), model, certificate, None, state));
        charging.settle(written)
    })
    .raised(py)?;
    report.files = files;
    report.state = keep_state.map(|path| path.display().to_string());
    let style = Style::default();
    let (data, said) = (json::of(&report).to_string(), text::training(&report, style).render(style));
    Ok((PyBytes::new(py, model), certificate.file(), data, said))
}

/// What is to be trained, on what.
struct Request {
    run: Option<Opened>,
    schema: Option<Declared>,
    wishes: PlanWishes,
    records: Option<u64>,
    asked: Asked,
    private: Given,
    test: Option<Given>,
    public: Option<Given>,
    keeps_state: bool,
    charge: Option<ModelCharge>,
}

/// What is known before the account: the records, the run with its noise, and who is charged.
struct Prepared {
    records: Records,
    run: SelfContained,
    goal: Goal,
    unreleased: Unreleased,
}

impl Request {
    /// Refuses outputs that are inputs, or each other, and what cannot go with a state that is kept.
    fn refuse_to_mix(&self, state: Option<&Path>, out: Option<&Path>) -> Result<(), Problem> {
        let Some(state) = state else {
            return Ok(());
        };
        if self.public.is_some() {
            return Err(Problem::new(
                "--keep-state is given, but no record could be deleted from a model with public steps",
            )
            .help("leave --public or --keep-state out"));
        }
        let given = [("the data", Some(&self.private)), ("the test records", self.test.as_ref())];
        refuse_clash(("--keep-state", state), out, &given)
    }

    fn prepare(&self, progress: &Progress) -> Result<Prepared, Problem> {
        match &self.run {
            Some(opened) => self.described(opened, progress),
            None => self.planned(progress),
        }
    }

    /// The run that is given.
    fn described(&self, opened: &Opened, progress: &Progress) -> Result<Prepared, Problem> {
        self.wishes.refuse_with_run()?;
        let run = opened.self_contained()?;
        trained::keep_the_number_secret(&run, false)?;
        let goal = Goal::of(self.asked, &run)?;
        let noisy = |run: SelfContained| match goal.target() {
            Some(target) => trained::with_least_noise(run, target, progress),
            None => Ok(run),
        };
        let schema = run.schema()?;
        let counted = |records| Ok::<_, Problem>(noisy(trained::counted(run.clone(), records)?)?);
        let unreleased = self.charged(&schema, progress, &counted)?;
        let records = Records::read(self, &schema, unreleased.charging())?;
        let run = noisy(records.counted(self, run.clone())?)?;
        Ok(Prepared { records, run, goal, unreleased })
    }

    /// The best plan. Of the records, it knows their number, where that is public, and nothing else.
    fn planned(&self, progress: &Progress) -> Result<Prepared, Problem> {
        let (Some(schema), Asked { epsilon: Some(epsilon), delta: Some(delta) }) = (&self.schema, self.asked)
        else {
            return Err(Problem::new("there is no --run, and a plan needs --schema, --epsilon and --delta")
                .help("schema=\"schema.toml\", epsilon=1.0, delta=1e-6, or run=\"run.toml\""));
        };
        if self.public.is_some() {
            return Err(Problem::new("--public is given, but plans have no public steps")
                .help("give a run with run.public-steps"));
        }
        if self.wishes.neighbours == Some(Neighbours::AddOrRemoveOne) {
            trained::refuse_counting(self.records, false)?;
        }
        let best = |count: u64| {
            let count = self.records.unwrap_or(count);
            Ok::<_, Problem>(
                ask::planned(schema.clone(), count, epsilon, delta, &self.wishes, progress)?.best,
            )
        };
        let read_by = ask::as_planned(schema.clone(), &self.wishes)?;
        let counted = |records| Ok::<_, Problem>(trained::counted(best(records)?, records)?);
        let unreleased = self.charged(&read_by, progress, &counted)?;
        let records = Records::read(self, &read_by, unreleased.charging())?;
        let count = self.records.map_or_else(|| records.some(self), Ok)?;
        let run = records.counted(self, best(count)?)?;
        Ok(Prepared { records, run, goal: Goal::Ask(Question::EpsilonAt(delta)), unreleased })
    }

    /// Reserves the model, if somebody is charged. `run` is what will be trained on this many records.
    fn charged(
        &self,
        schema: &Declared,
        progress: &Progress,
        run: &dyn Fn(u64) -> Result<SelfContained, Problem>,
    ) -> Result<Unreleased, Problem> {
        match &self.charge {
            Some(charge) => charge.reserve(&self.private, schema, progress, run),
            None => Ok(Unreleased::default()),
        }
    }
}

/// The records of a training run.
struct Records {
    private: Table,
    /// Test records, which may be looked at.
    test: Option<Table>,
    /// Records for public steps.
    public: Option<Table>,
    /// What is kept of training, if it is to go on later.
    keeping: Option<Keeping>,
}

impl Records {
    /// The contents of a public row may stop it, those of a private row must not.
    fn read(request: &Request, schema: &Declared, charging: &Charging) -> Result<Self, Problem> {
        let public = |given: &Given| {
            let loaded = load_columns(given.path(), given.columns(schema, true)?, schema, false, false)?;
            refuse_none(given.path(), loaded.table.len() as u64)?;
            Ok::<_, Problem>(loaded.table)
        };
        let (test, public) = (
            request.test.as_ref().map(public).transpose()?,
            request.public.as_ref().map(public).transpose()?,
        );
        let names = schema.columns_wanted().into_iter().map(str::to_owned).collect();
        let rows = request.private.named(schema, names);
        let (loaded, keeping) = match request.keeps_state {
            true => Keeping::load(&rows, schema, false).map(|(loaded, keeping)| (loaded, Some(keeping)))?,
            false => {
                let columns =
                    Remaining { rows: &rows, gone: &charging.gone }.columns(&schema.columns_wanted())?;
                (load_columns(rows.path(), columns, schema, true, false)?, None)
            }
        };
        charging.refuse_other_records(loaded.table.len() as u64)?;
        Ok(Self { test, public, private: loaded.table, keeping })
    }

    /// How many records there are to train on, if there are any.
    fn some(&self, request: &Request) -> Result<u64, Problem> {
        let count = self.private.len() as u64;
        refuse_none(request.private.path(), count)?;
        Ok(count)
    }

    /// The run with this many records, unless their number is a secret.
    fn counted(&self, request: &Request, run: SelfContained) -> Result<SelfContained, Problem> {
        match trained::count_is_secret(&run)? {
            true => Ok(run),
            false => Ok(trained::counted(run, self.some(request)?)?),
        }
    }

    /// Carries out the plan, with the empty records that it counts on.
    fn train(
        &mut self,
        plan: &Plan,
        generators: &Generators,
        advance: &mut (dyn FnMut() + Send),
    ) -> Result<Released, TrainError> {
        pad(&mut self.private, plan.training().records);
        match &mut self.keeping {
            Some(keeping) => keeping.train(plan, &mut self.private, generators, advance),
            None => plan.train(&mut self.private, self.public.as_ref(), generators, advance),
        }
    }
}

/// Refuses a state in the place of a file that is read or written.
pub fn refuse_clash(
    state: (&str, &Path),
    out: Option<&Path>,
    given: &[(&'static str, Option<&Given>)],
) -> Result<(), Problem> {
    let file = |(what, given): &(&'static str, Option<&Given>)| match given {
        Some(Given::File(path)) => Some((*what, path.clone())),
        _ => None,
    };
    let (name, path) = state;
    let folder = out.into_iter().flat_map(written);
    let outputs = folder.map(|path| (format!("{} of --out", path.display()), path));
    let touched = Touched {
        inputs: given.iter().filter_map(file).collect(),
        outputs: outputs.chain([(format!("{name} {}", path.display()), path.to_owned())]).collect(),
    };
    Guard::new(&touched).map(drop)
}

/// Writes a model, its certificate and the certificate for people into a folder, as `dobrushin train` does.
#[pyfunction]
pub fn save_model(
    py: Python<'_>,
    folder: PathBuf,
    model: &[u8],
    certificate: &str,
    force: bool,
) -> PyResult<()> {
    let Ok(certificate) = serde_json::from_str::<Certificate>(certificate) else {
        return Err(raise(py, Kind::InvalidInput, "it is not a certificate", Some(certificate::WRITERS)));
    };
    py.detach(|| Folder::new(&folder, force)?.write(model, &certificate, None, None)).raised(py)
}

/// A model, read from its file.
#[pyclass(frozen, module = "dobrushin._core")]
pub struct Model {
    saved: Arc<SavedModel>,
}

/// For each label: the class or the number that is predicted for each row, the scores, and the probabilities of the
/// classes, row by row. What cannot be predicted is NaN.
type Predicted<'py> = Vec<[Bound<'py, PyArray1<f64>>; 3]>;

#[pymethods]
impl Model {
    /// Reads the bytes of a file.
    #[staticmethod]
    fn read(py: Python<'_>, model: &[u8], name: &str) -> PyResult<Self> {
        let saved = quickly(py, || SavedModel::read(model, name))?.raised(py)?;
        Ok(Self { saved: Arc::new(saved) })
    }

    /// The columns with features, and those with labels, in the order in which they are wanted.
    fn columns(&self) -> (Vec<&str>, Vec<&str>) {
        (self.saved.schema.feature_columns(), self.saved.schema.label_columns())
    }

    /// The names of the features.
    fn feature_names(&self) -> Vec<String> {
        self.saved.schema.feature_names()
    }

    /// For each label, its classes, if it has classes.
    fn classes(&self) -> Vec<Option<Vec<String>>> {
        (0..self.saved.schema.tasks())
            .map(|task| self.saved.schema.classes(task).map(<[_]>::to_vec))
            .collect()
    }

    /// The parameters for each label.
    fn parameters<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyArray1<f64>>> {
        self.saved.parameters.iter().map(|task| PyArray1::from_slice(py, task)).collect()
    }

    /// What the model predicts. A row that cannot be used stops it, unless it is to be skipped.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'_, PyAny>,
        skip_bad: bool,
    ) -> PyResult<Predicted<'py>> {
        let (given, saved) = (Given::of(data, "the data")?, self.saved.clone());
        let tasks = work(py, move |_| predict(&saved, &given, skip_bad))?;
        let arrays = |task: Predictions| {
            [task.values, task.scores, task.probabilities].map(|flat| PyArray1::from_vec(py, flat))
        };
        Ok(tasks.into_iter().map(arrays).collect())
    }
}

/// What is predicted for one label, row by row.
#[derive(Clone, Default)]
struct Predictions {
    values: Vec<f64>,
    scores: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Predictions {
    fn append(&mut self, mut more: Self) {
        self.values.append(&mut more.values);
        self.scores.append(&mut more.scores);
        self.probabilities.append(&mut more.probabilities);
    }
}

fn predict(saved: &SavedModel, given: &Given, skip_bad: bool) -> Result<Vec<Predictions>, Problem> {
    let encoder = Encoder::new(&saved.schema);
    let help = "correct it; or skip_bad=True gives NaN or None for such a row";
    let pass = Pass { path: given.path(), skip_bad, help, show_progress: false };
    let work = |_: u64, cells: &Cells| predicted(saved, cells, &encoder);
    let mut all = vec![Predictions::default(); saved.parameters.len()];
    pass.run(given.columns(&saved.schema, false)?, work, |tasks| {
        all.iter_mut().zip(tasks).for_each(|(all, more)| all.append(more));
        Ok(())
    })?;
    Ok(all)
}

/// The predictions for a batch, and the rows that cannot be used.
fn predicted(saved: &SavedModel, cells: &Cells, encoder: &Encoder) -> (Vec<Predictions>, BadRows) {
    let SavedModel { model, schema, parameters } = saved;
    let (mut tasks, mut bad) = (vec![Predictions::default(); parameters.len()], BadRows::default());
    let dimension = schema.bounds().dimension;
    let mut features = Vec::with_capacity(dimension);
    for row in 0..cells.len() {
        features.clear();
        let encoded = cells.get(row).map(|(place, cells)| {
            let encoded = encoder.encode(cells, false, &mut features, &mut Vec::new());
            encoded.inspect_err(|problem| bad.add(place, problem)).is_ok()
        });
        let usable = encoded == Some(true);
        // A row that cannot be used has as many predictions as any other.
        features.resize(dimension, 0.0);
        schema.bounds().scale_down(&mut features);
        for (task, (parameters, predictions)) in parameters.iter().zip(&mut tasks).enumerate() {
            let scores = model.scores(parameters, &features);
            let (value, probabilities) = match model.prediction(&scores) {
                Prediction::Value(value) => (schema.label_value(task, value), Vec::new()),
                Prediction::Class { class, probabilities } => (class as f64, probabilities),
            };
            let shown = |value: f64| if usable { value } else { f64::NAN };
            predictions.values.push(shown(value));
            predictions.scores.extend(scores.into_iter().map(shown));
            predictions.probabilities.extend(probabilities.into_iter().map(shown));
        }
    }
    (tasks, bad)
}
