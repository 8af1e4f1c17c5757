//! One attack: whose gradients are crafted, and how a released model is scored.

use super::keep::Keep;
use super::ratio::Ratio;
use super::uses::Uses;
use super::{World, forget, quiet};
use dobrushin::mechanism::Neighbours;
use dobrushin::run::{Order, Release, Training};
use dobrushin_train::{
    Canary, Crafted, CraftedGradient, Generators, Plan, Seed, Table, Target, TrainError, evaluate,
};
use std::borrow::Cow;

/// What an attacker does.
///
/// ```
/// use dobrushin_audit::trained::Kind;
///
/// assert_eq!(Kind::Landscape.id(), "crafted-landscape");
/// assert!(Kind::ALL.iter().all(|kind| Kind::ALL.iter().filter(|other| other.id() == kind.id()).count() == 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The record's gradient is crafted in every step, along the direction in which the others move the iterate least.
    EveryStep,
    /// The same, in the last pass only.
    LastPass,
    /// The gradients of all other records are crafted too, so that the release tells most of what the record did: others pull
    /// to the middle, which forgets the noise of early steps, or, if nothing is claimed about the loss, they multiply what
    /// the record did.
    Landscape,
    /// All other records push against the record. That finds trainers which divide by the number of records drawn.
    Opposition,
    /// No gradient is crafted: the record itself is extreme, and it is scored by its loss.
    Record,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::EveryStep, Self::LastPass, Self::Landscape, Self::Opposition, Self::Record];

    /// Its name in reports and files.
    pub fn id(self) -> &'static str {
        match self {
            Self::EveryStep => "crafted-gradient",
            Self::LastPass => "crafted-last-pass",
            Self::Landscape => "crafted-landscape",
            Self::Opposition => "crafted-opposition",
            Self::Record => "extreme-record",
        }
    }

    /// The attacks that tell something of their own about this training.
    ///
    /// ```
    /// use dobrushin::Run;
    /// use dobrushin_audit::trained::Kind;
    ///
    /// let run = Run::gradient_descent(10).learning_rate(0.5).clip_norm(1.0).noise_multiplier(1.0);
    /// // A single step has no last pass, and full batches have one size.
    /// let once = Kind::suiting(&run.clone().steps(1).training()?);
    /// assert_eq!(once, [Kind::EveryStep, Kind::Landscape, Kind::Record]);
    /// assert!(Kind::suiting(&run.steps(2).training()?).contains(&Kind::LastPass));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn suiting(training: &Training) -> Vec<Self> {
        let suits = |kind: &Self| match kind {
            Self::EveryStep | Self::Landscape | Self::Record => true,
            // A run that stops at random has no last pass.
            Self::LastPass => training.release != Release::RandomStop && Uses::has_passes(training),
            Self::Opposition => training.order == Order::Poisson,
        };
        Self::ALL.into_iter().filter(suits).collect()
    }
}

/// Crafted gradients are this much longer than the clip, so that a trainer that does not clip is noticed.
const LENGTH: f64 = 10.0;

/// An attack on the models of a plan: what is trained in both worlds, and how a release is scored. The larger the score,
/// the more likely the record was there.
///
/// An example is in [`super`].
pub struct Attack<'a> {
    kind: Kind,
    public: Option<&'a Table>,
    /// The tables with and without the record.
    tables: [Cow<'a, Table>; 2],
    record: u32,
    neighbours: Neighbours,
    uses: Uses,
    /// The direction in which the record pushes, and the gradient that does it.
    direction: Vec<f64>,
    length: f64,
    keep: Option<Keep>,
    /// The curvature of the others' losses in that direction.
    curvature: f64,
    ratio: Option<Ratio>,
    /// The extreme record and its opposite, each in a table of its own.
    extremes: [Table; 2],
}

impl<'a> Attack<'a> {
    /// Prepares an attack on the models that a plan makes of a table, which has the empty records that the plan counts
    /// on, and of public records.
    pub fn new(kind: Kind, plan: &Plan, table: &'a Table, public: Option<&'a Table>) -> Self {
        let training = plan.training();
        let table = with_room(table, 1, training.neighbours);
        let uses = Uses::new(training, &table);
        let centred = training.centre.is_some();
        let direction = quiet::direction(plan.model(), &table, centred);
        let extremes = extremes(plan, &table, centred);
        let keep = (kind == Kind::Landscape).then(|| Keep::new(plan, &table, &uses)).flatten();
        let curvature = match (kind, &keep) {
            (Kind::Landscape, None) => forget::curvature(training, &table, &uses),
            _ => 0.0,
        };
        let late = kind == Kind::LastPass;
        let pushes = |time: u64| !late || uses.is_late(time);
        let computed = keep.is_none() && matches!(kind, Kind::EveryStep | Kind::LastPass | Kind::Landscape);
        let ratio = computed.then(|| Ratio::new(training, &uses, pushes)).flatten();
        let tables = World::BOTH.map(|world| table_of(kind, world, training, &table, &uses, &extremes));
        Self {
            kind,
            public,
            tables,
            record: uses.record,
            neighbours: training.neighbours,
            uses,
            direction,
            length: LENGTH * training.contribution.map_or(1.0, |contribution| contribution.norm().get()),
            keep,
            curvature,
            ratio,
            extremes,
        }
    }

    /// What the attacker does.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The record whose gradient is crafted, counted from 0.
    pub fn record(&self) -> u32 {
        self.record
    }

    /// The table of a world, before any gradient is crafted.
    pub fn table(&self, world: World) -> &Table {
        &self.tables[world as usize]
    }

    /// Trains one model, and returns the parameters of all tasks that are released. The plan is the one that is audited,
    /// or one that stands for a fault.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn train(&self, plan: &Plan, world: World, seed: u64) -> Result<Vec<f64>, TrainError> {
        self.train_on(plan, self.table(world), &[self.record], world, seed)
    }

    /// Like [`Attack::train`], on another table, and with other records whose gradients are crafted.
    ///
    /// # Errors
    /// [`TrainError`].
    pub fn train_on(
        &self,
        plan: &Plan,
        table: &Table,
        records: &[u32],
        world: World,
        seed: u64,
    ) -> Result<Vec<f64>, TrainError> {
        let push = |time: u64, _: &[f64], gradient: &mut [f64]| self.push(time, self.sign(world), gradient);
        let others = |time: u64, iterate: &[f64], gradient: &mut [f64]| match (self.kind, &self.keep) {
            (Kind::Opposition, _) => self.push(time, -1.0, gradient),
            (_, Some(keep)) => keep.others(time, iterate, gradient),
            (_, None) => {
                let along: f64 = iterate.iter().zip(&self.direction).map(|(w, u)| w * u).sum();
                let size = self.curvature * along;
                gradient.iter_mut().zip(&self.direction).for_each(|(value, u)| *value = size * u);
            }
        };
        let others: Option<&CraftedGradient> = match self.kind {
            Kind::EveryStep | Kind::LastPass | Kind::Record => None,
            Kind::Landscape | Kind::Opposition => Some(&others),
        };
        let canaries = match self.kind {
            Kind::Record => Vec::new(),
            _ => records.iter().map(|&record| Canary { record, gradient: &push }).collect(),
        };
        let generators =
            Generators::new(Seed::Known(seed)).map_err(|e| TrainError::Reading(e.to_string()))?;
        let crafted = Crafted::new(canaries, others);
        let released = plan.train_with_crafted_gradients(table, self.public, &generators, &crafted)?;
        Ok(released.parameters.concat())
    }

    /// How much the released parameters look as if the record had been there.
    pub fn score(&self, plan: &Plan, released: &[f64]) -> f64 {
        let size = plan.model().parameters().max(1);
        let of_task = |(task, parameters): (usize, &[f64])| match (self.kind, &self.keep, &self.ratio) {
            (Kind::Record, ..) => {
                let loss = |table| evaluate(plan.model(), parameters, table, task).loss;
                let opposite = match self.neighbours {
                    Neighbours::ReplaceOne => loss(&self.extremes[1]),
                    Neighbours::ZeroOut | Neighbours::AddOrRemoveOne => 0.0,
                };
                opposite - loss(&self.extremes[0])
            }
            (_, Some(keep), _) => keep.score(parameters),
            (_, None, ratio) => {
                let along = parameters.iter().zip(&self.direction).map(|(w, u)| w * u).sum();
                ratio.as_ref().map_or(along, |ratio| ratio.at(along))
            }
        };
        released.chunks_exact(size).enumerate().map(of_task).sum()
    }

    /// Writes a gradient that moves the iterate in a direction, or in the opposite one.
    fn push(&self, time: u64, sign: f64, gradient: &mut [f64]) {
        if self.kind == Kind::LastPass && !self.uses.is_late(time) {
            return;
        }
        // A step goes against the gradient.
        let size = -sign * self.length;
        match &self.keep {
            Some(keep) => {
                if let Some(place) = keep.place(time) {
                    gradient[place] = size;
                }
            }
            None => gradient.iter_mut().zip(&self.direction).for_each(|(value, u)| *value = size * u),
        }
    }

    /// Which way the record pushes.
    fn sign(&self, world: World) -> f64 {
        match (world, self.neighbours) {
            (World::With, _) => 1.0,
            (World::Without, Neighbours::ReplaceOne) => -1.0,
            (World::Without, Neighbours::ZeroOut | Neighbours::AddOrRemoveOne) => 0.0,
        }
    }
}

/// The longest record in the quietest direction, with the highest target or class 1; and the one with the lowest target or
/// class 0.
fn extremes(plan: &Plan, table: &Table, centred: bool) -> [Table; 2] {
    let bounds = *plan.bounds();
    let score = dobrushin_train::Model::Linear {
        loss: dobrushin_train::loss::Squared.into(),
        features: bounds.dimension,
    };
    let direction = quiet::direction(&score, table, centred);
    let features: Vec<f32> = direction.iter().map(|u| (u * bounds.norm.get()) as f32).collect();
    let targets = match bounds.target {
        Target::Classes(_) => [1.0, 0.0],
        Target::Range { lower, upper } => [upper as f32, lower as f32],
    };
    targets.map(|target| {
        let mut one = Table::new(bounds, table.tasks());
        one.push(&features, &vec![target; table.tasks()]);
        one
    })
}

/// Where records may be present or absent, the last ones are made empty, so that as many can be added: a guarantee is
/// for data sets within the bound on their number, and empty records contribute nothing.
pub(super) fn with_room<'a>(table: &'a Table, room: usize, neighbours: Neighbours) -> Cow<'a, Table> {
    if neighbours != Neighbours::AddOrRemoveOne {
        return Cow::Borrowed(table);
    }
    let mut roomy = Table::new(*table.bounds(), table.tasks());
    let kept = table.len().saturating_sub(room);
    (0..kept).for_each(|record| give(table, record, &mut roomy));
    (kept..table.len()).for_each(|_| roomy.push_empty());
    Cow::Owned(roomy)
}

/// Appends a record of one table to another one.
fn give(from: &Table, record: usize, into: &mut Table) {
    let targets: Vec<f32> = (0..from.tasks()).map(|task| from.target(record, task)).collect();
    // The targets of an empty record are NaN, so it stays empty.
    into.push(from.features(record), &targets);
}

/// The table of a world, before gradients are crafted.
fn table_of<'a>(
    kind: Kind,
    world: World,
    training: &Training,
    table: &Cow<'a, Table>,
    uses: &Uses,
    extremes: &[Table; 2],
) -> Cow<'a, Table> {
    let record = uses.record as usize;
    match (training.neighbours, world, kind) {
        (Neighbours::AddOrRemoveOne, World::Without, _) => table.clone(),
        (Neighbours::AddOrRemoveOne, World::With, _) => {
            let mut more = Table::clone(table);
            match kind {
                Kind::Record => give(&extremes[0], 0, &mut more),
                _ => more.push_empty(),
            }
            Cow::Owned(more)
        }
        (Neighbours::ReplaceOne | Neighbours::ZeroOut, _, Kind::Record) => {
            let mut changed = Table::new(*table.bounds(), table.tasks());
            for place in 0..table.len() {
                match (place == record, world, training.neighbours) {
                    (false, ..) => give(table, place, &mut changed),
                    (true, World::With, _) => give(&extremes[0], 0, &mut changed),
                    (true, World::Without, Neighbours::ReplaceOne) => give(&extremes[1], 0, &mut changed),
                    (true, World::Without, _) => changed.push_empty(),
                }
            }
            Cow::Owned(changed)
        }
        (Neighbours::ReplaceOne | Neighbours::ZeroOut, ..) => table.clone(),
    }
}
