//! Made-up records of the same shape as those that nobody looks at.
//!
//! A number lies around a random place between its bounds; a category is drawn from random shares. Columns have one
//! factor in common. Effects of the columns on the label are random. How much the columns have in common, how many of
//! them matter, how much noise the labels have and how rare a class is differ from law to law, because nobody knows
//! them: a plan has to be good for all.

use super::Wanted;
use crate::schema::{FeatureKind, Range, Schema};
use crate::{Bounds, Model, Table, Target, evaluate};
use dobrushin::numeric::Random;

/// Records to train on and to test on.
pub struct Population {
    pub records: Table,
    tests: Table,
    /// What the law itself would get wrong, on average over the records to test on.
    least: f64,
}

/// What differs between populations.
struct Law {
    /// The correlation of two columns.
    correlation: f64,
    /// The share of columns that matter.
    sparsity: f64,
    /// How far the scores of records are apart, in logits.
    strength: f64,
    /// The score of an average record: how rare one of two classes is.
    lean: f64,
}

const LAWS: [Law; 4] = [
    Law { correlation: 0.3, sparsity: 1.0, strength: 3.0, lean: 0.0 },
    Law { correlation: 0.6, sparsity: 0.3, strength: 6.0, lean: 1.0 },
    Law { correlation: 0.2, sparsity: 0.5, strength: 2.0, lean: -1.5 },
    Law { correlation: 0.6, sparsity: 1.0, strength: 12.0, lean: 0.5 },
];
/// How many laws there are.
pub const COUNT: usize = LAWS.len();
/// Records to test on.
const TESTS: usize = 1000;

/// A column of features and what it says about the label.
struct Column {
    kind: Cells,
    matters: bool,
}

enum Cells {
    /// A number around a place, and its effect on each score.
    Number { range: Range, place: f64, spread: f64, effects: Vec<f64> },
    /// The summed shares of categories, and the effects of each on each score.
    Category { shares: Vec<f64>, effects: Vec<Vec<f64>> },
}

impl Population {
    /// A population of the law with this number.
    pub fn new(wanted: &Wanted, law: usize, records: usize, seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(law as u64 + 1));
        let (law, bounds) = (&LAWS[law % COUNT], wanted.schema.bounds());
        let scores = match bounds.target {
            Target::Classes(classes) if classes > 2 => classes,
            _ => 1,
        };
        let columns = columns(&wanted.schema, law, scores, &mut random);
        let mut draw = |count: usize| {
            let (mut table, mut missed) = (Table::new(bounds, 1), 0.0);
            for _ in 0..count {
                let (features, scores) = row(&wanted.schema, &columns, law, scores, &mut random);
                let (target, miss) = label(&wanted.model, bounds, &scores, law, &mut random);
                table.push(&features, &[target]);
                missed += miss;
            }
            (table, missed / count as f64)
        };
        let (records, _) = draw(records);
        let (tests, least) = draw(TESTS);
        Self { records, tests, least }
    }

    /// How much worse than the law parameters are.
    pub fn excess(&self, model: &Model, parameters: &[f64]) -> f64 {
        let metrics = evaluate(model, parameters, &self.tests, 0);
        metrics.accuracy.map_or(metrics.loss, |accuracy| 1.0 - accuracy) - self.least
    }
}

fn columns(schema: &Schema, law: &Law, scores: usize, random: &mut Random) -> Vec<Column> {
    let effects = |random: &mut Random| (0..scores).map(|_| normal(random)).collect::<Vec<f64>>();
    let features = &schema.declaration().features;
    let column = |kind: &FeatureKind| {
        let matters = random.between(0.0, 1.0) < law.sparsity;
        let kind = match kind {
            FeatureKind::Number { range, .. } => Cells::Number {
                range: *range,
                place: random.between(0.1, 0.55),
                spread: random.between(0.05, 0.2),
                effects: effects(random),
            },
            FeatureKind::Category { categories, .. } => {
                let weights: Vec<f64> = categories.iter().map(|_| (1.2 * normal(random)).exp()).collect();
                let (total, mut sum) = (weights.iter().sum::<f64>(), 0.0);
                let shares = weights.iter().map(|weight| {
                    sum += weight / total;
                    sum
                });
                Cells::Category {
                    shares: shares.collect(),
                    effects: categories.iter().map(|_| effects(random)).collect(),
                }
            }
        };
        Column { kind, matters }
    };
    let mut columns: Vec<Column> = features.iter().map(|feature| &feature.kind).map(column).collect();
    if let Some(first) = columns.first_mut() {
        first.matters |= law.sparsity > 0.0;
    }
    columns
}

/// The features of a record, and its scores, which have a variance near 1 without the strength.
fn row(
    schema: &Schema,
    columns: &[Column],
    law: &Law,
    scores: usize,
    random: &mut Random,
) -> (Vec<f32>, Vec<f64>) {
    let common = law.correlation.sqrt() * normal(random);
    let mut features = Vec::with_capacity(schema.bounds().dimension);
    let mut sums = vec![0.0; scores];
    for column in columns {
        let own = common + (1.0 - law.correlation).sqrt() * normal(random);
        let mut add = |effects: &[f64], size: f64| {
            let each = sums.iter_mut().zip(effects);
            each.for_each(|(sum, effect)| *sum += if column.matters { effect * size } else { 0.0 });
        };
        match &column.kind {
            Cells::Number { range, place, spread, effects } => {
                let share = (place + spread * own).clamp(0.0, 1.0);
                features.push(range.scaled(range.lower() * (1.0 - share) + range.upper() * share).0);
                add(effects, own);
            }
            Cells::Category { shares, effects } => {
                // A logistic curve is close to the distribution function of `own`.
                let level = 1.0 / (1.0 + (-1.702 * own).exp());
                let chosen = shares.iter().position(|&share| level <= share).unwrap_or(shares.len() - 1);
                features.extend((0..shares.len()).map(|category| f32::from(u8::from(category == chosen))));
                add(&effects[chosen], 1.0);
            }
        }
    }
    if schema.declaration().intercept {
        features.push(1.0);
    }
    let size = (columns.iter().filter(|column| column.matters).count().max(1) as f64).sqrt();
    (features, sums.into_iter().map(|sum| sum / size).collect())
}

/// A label, and what whoever knows the scores would get wrong about it.
fn label(model: &Model, bounds: Bounds, scores: &[f64], law: &Law, random: &mut Random) -> (f32, f64) {
    let wrong = |best: usize, target: usize| (target as f32, f64::from(u8::from(best != target)));
    match bounds.target {
        Target::Classes(classes) if classes > 2 => {
            let noisy: Vec<f64> = scores.iter().map(|score| law.strength * score + gumbel(random)).collect();
            wrong(largest(scores), largest(&noisy))
        }
        Target::Classes(_) => {
            let score = law.strength * scores[0] + law.lean;
            let yes = random.between(0.0, 1.0) < 1.0 / (1.0 + (-score).exp());
            wrong(usize::from(score > 0.0), usize::from(yes))
        }
        Target::Range { lower, upper } => {
            let counts = lower == 0.0;
            let score = if counts { (upper / 8.0).ln() + 0.4 * scores[0] } else { 0.35 * scores[0] };
            let target = if counts {
                (score.exp() + (score / 2.0).exp() * normal(random)).round()
            } else {
                score + 0.7 / law.strength * normal(random)
            };
            let target = target.clamp(lower, upper);
            let least = match model {
                Model::Linear { loss, .. } => loss.value(score, target, 1.0),
                Model::Softmax { .. } | Model::Network { .. } => 0.0,
            };
            (target as f32, least)
        }
    }
}

fn largest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, class| if scores[class] > scores[best] { class } else { best })
}

/// Box and Muller's.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.between(0.0, 1.0)).max(f64::MIN_POSITIVE).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.between(0.0, 1.0)).cos()
}

fn gumbel(random: &mut Random) -> f64 {
    -(-random.between(0.0, 1.0).clamp(1e-300, 1.0 - 1e-16).ln()).ln()
}
