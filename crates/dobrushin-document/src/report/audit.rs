//! `audit`: what attacks prove, and whether it contradicts what is claimed.

use super::{Answered, FloorReport, Given};
use crate::json::{Bounds, Number};
use dobrushin_audit::{Contradiction, Evidence, OneRun, Point, Purpose, Refutation, Scores, Tail};
use serde::Serialize;
use serde_json::Value as Json;

/// Attacks beside the claim that they were held against.
#[derive(Serialize)]
pub struct AuditReport {
    schema: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Json>,
    /// What no analysis of the same facts can go below, where it is known.
    pub floor: Option<FloorReport>,
    /// What each attack proves.
    pub attacks: Vec<AttackReport>,
    /// What is claimed.
    pub guarantee: ClaimReport,
    /// What would be claimed if every iterate were released, for a run.
    pub composition: Option<ComposedReport>,
    /// Whether some attack contradicts the claim.
    pub violation: bool,
    /// What to suspect if it does, in words; the likeliest comes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspects: Vec<&'static str>,
    /// Why what is said may rest on less than it seems, in words.
    pub warnings: Vec<String>,
}

/// What is claimed.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimReport {
    /// The claimed ε; the upper end is the claim.
    pub epsilon: Bounds,
    /// At this δ.
    #[serde(flatten)]
    pub delta: Given,
    /// The analysis by which it is claimed; `None` if somebody just says so.
    pub analysis: Option<String>,
}

/// The claim if every iterate were released.
#[derive(Clone, Debug, Serialize)]
pub struct ComposedReport {
    /// Its ε.
    #[serde(flatten)]
    pub answer: Answered,
}

/// What one attack proves.
#[derive(Clone, Debug, Serialize)]
pub struct AttackReport {
    /// Its name: scores, or direction if the scores were made of whole models; or that of an attack on trained models.
    pub id: String,
    /// A lower bound on ε.
    pub epsilon: Lower,
    /// The ε that a perfect attacker would have proved with as many runs.
    pub provable_at_most: Number,
    /// All runs, with and without the record.
    pub runs: usize,
    /// The runs that are counted, with the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_with: Option<u64>,
    /// The runs that are counted, without the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_without: Option<u64>,
    /// The canaries of an audit with one run.
    #[serde(flatten)]
    pub canaries: Option<CanariesReport>,
    /// The probability with which everything that is said about all attacks is true.
    pub confidence: f64,
    /// What follows if the worst trade-off curve is that of two normal laws; nothing for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaussian: Option<GaussianReport>,
    /// The counted rules; none for a single run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointReport>,
    /// Where the claim is contradicted, if it is.
    pub contradiction: Option<ContradictionReport>,
    /// Whether all scores with the record are equal, and all scores without it, but not the same.
    #[serde(skip)]
    pub is_constant: bool,
}

/// What was guessed about the canaries of one run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CanariesReport {
    /// The canaries, each of which a coin included or not.
    pub canaries: u64,
    /// The guesses about them.
    pub guesses: u64,
    /// The guesses that were right.
    pub right: u64,
}

/// A bound from below.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lower {
    /// The bound.
    pub lower: Number,
}

/// What follows if the worst trade-off curve is that of two normal laws of variance 1.
#[derive(Clone, Debug, Serialize)]
pub struct GaussianReport {
    /// A lower bound on the distance of their means.
    pub mu: Lower,
    /// A lower bound on ε.
    pub epsilon: Lower,
    /// The ε that a perfect attacker would have proved with as many runs.
    pub provable_at_most: Number,
}

/// One rule by which the attacker guesses, and how often it was right.
#[derive(Clone, Debug, Serialize)]
pub struct PointReport {
    /// What its threshold was chosen for.
    pub purpose: &'static str,
    /// The rule says "with the record" for scores on this side of the threshold.
    pub side: &'static str,
    /// The threshold.
    pub threshold: Number,
    /// How often it was right about runs with the record.
    pub true_positives: u64,
    /// How often it was wrong about runs without the record.
    pub false_positives: u64,
    /// The true-positive rate.
    pub tpr: Lower,
    /// The false-positive rate.
    pub fpr: Upper,
}

/// A bound from above.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Upper {
    /// The bound.
    pub upper: Number,
}

/// Where a claim is contradicted.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ContradictionReport {
    /// At this ε,
    pub epsilon: Number,
    /// the claim allows this δ at most,
    pub claimed_delta: Number,
    /// and the runs prove this one at least.
    pub proved_delta: Number,
}

/// What makes a program leak more than its description says; the likeliest comes first.
const SUSPECTS: [&str; 7] = [
    "the noise is smaller than was said, for example because it was divided by the batch size twice, or drawn once and used again",
    "gradients are not clipped, or clipped as a sum and not one by one",
    "batches are not drawn as was said: records in turn were accounted for as drawn at random",
    "the sum is divided by the size of the drawn batch, which depends on the record",
    "a record is used twice in a step or an epoch",
    "the two data sets are neighbours of another relation than the claimed one: replacing a record is adding one and removing one",
    "something else is released, such as statistics of a normalisation, the best of several models, or a loss on the training data",
];

/// What to suspect if models that dobrushin trains contradict what somebody says about them.
const SUSPECTS_OF_A_CLAIM: [&str; 3] = [
    "the claim is about another run: less noise, more steps or another order of records than in the run file",
    "the claim is for another relation of neighbours: replacing a record is adding one and removing one",
    "the claim is an approximation or holds on average, such as one by a central limit theorem",
];

/// What to suspect if models that dobrushin trains contradict its own guarantee.
const SUSPECTS_OF_DOBRUSHIN: [&str; 2] = [
    "dobrushin trains otherwise than it accounts, or a theorem of it is wrong: please report it, as docs/security.md says",
    "chance: repeat it with another --seed, and with a higher --confidence",
];

/// What an audit tells about the records that it uses.
const NOT_PRIVATE: &str = "This report was computed from your records without any protection, so it is not private. Keep it to \
                           those who may see the records";

impl AuditReport {
    pub(crate) fn new(
        run: Option<Json>,
        floor: Option<FloorReport>,
        guarantee: ClaimReport,
        composition: Option<ComposedReport>,
        attacks: Vec<AttackReport>,
    ) -> Self {
        let violation = attacks.iter().any(|attack| attack.contradiction.is_some());
        let constant = attacks.iter().filter(|attack| attack.is_constant);
        let warnings = constant.map(|attack| {
            format!(
                "All scores with the record are equal in {}, and so are all scores without it. If the program draws from a \
                 fixed seed, its runs are not independent, and nothing is proved",
                attack.id
            )
        });
        let warnings = warnings.collect();
        let suspects = if violation { SUSPECTS.to_vec() } else { Vec::new() };
        Self { schema: 1, run, floor, attacks, guarantee, composition, violation, suspects, warnings }
    }

    /// The same audit, of models that dobrushin trained on records. They are private, unless somebody says that they are not.
    pub(crate) fn of_trained_models(mut self, are_public: bool) -> Self {
        if self.violation {
            self.suspects = match self.guarantee.analysis {
                Some(_) => SUSPECTS_OF_DOBRUSHIN.to_vec(),
                None => SUSPECTS_OF_A_CLAIM.to_vec(),
            };
        }
        if !are_public {
            self.warnings.push(NOT_PRIVATE.to_owned());
        }
        self
    }

    /// The attack that proves most.
    pub fn best(&self) -> Option<&AttackReport> {
        self.attacks.iter().max_by(|a, b| a.epsilon.lower.0.total_cmp(&b.epsilon.lower.0))
    }

    /// The attack that contradicts the claim most clearly, if one does.
    pub fn worst_contradiction(&self) -> Option<(&AttackReport, ContradictionReport)> {
        let found = self.attacks.iter().filter_map(|attack| Some((attack, attack.contradiction?)));
        found.max_by(|a, b| a.1.excess().total_cmp(&b.1.excess()))
    }
}

impl ContradictionReport {
    fn excess(self) -> f64 {
        self.proved_delta.0 - self.claimed_delta.0
    }
}

impl AttackReport {
    pub(crate) fn new(
        id: &str,
        runs: usize,
        scores: &Scores,
        proved: &Evidence,
        contradiction: Option<Contradiction>,
        confidence: f64,
    ) -> Self {
        let lower = |value: f64| Lower { lower: Number(value) };
        let constant = |scores: &[f64]| scores.windows(2).all(|pair| pair[0] == pair[1]);
        let Scores { with, without } = scores;
        let counted = proved.points[0].guesses;
        Self {
            id: id.to_owned(),
            epsilon: lower(proved.epsilon),
            provable_at_most: Number(proved.provable_at_most),
            runs,
            counted_with: Some(counted.runs),
            counted_without: Some(counted.other_runs),
            canaries: None,
            confidence,
            gaussian: Some(GaussianReport {
                mu: lower(proved.gaussian.mu),
                epsilon: lower(proved.gaussian.epsilon),
                provable_at_most: Number(proved.gaussian.provable_at_most),
            }),
            points: proved.points.iter().map(PointReport::new).collect(),
            contradiction: contradiction.map(|found| ContradictionReport {
                epsilon: Number(found.epsilon),
                claimed_delta: Number(found.claimed_delta),
                proved_delta: Number(found.proved_delta),
            }),
            is_constant: constant(with) && constant(without) && with.first() != without.first(),
        }
    }

    pub(crate) fn of_one_run(
        id: &str,
        runs: usize,
        proved: &OneRun,
        refutation: Option<Refutation>,
        confidence: f64,
    ) -> Self {
        let &OneRun { canaries, guesses, right, .. } = proved;
        Self {
            id: id.to_owned(),
            epsilon: Lower { lower: Number(proved.epsilon) },
            provable_at_most: Number(proved.provable_at_most),
            runs,
            counted_with: None,
            counted_without: None,
            canaries: Some(CanariesReport { canaries, guesses, right }),
            confidence,
            gaussian: None,
            points: Vec::new(),
            contradiction: refutation.map(|found| ContradictionReport {
                epsilon: Number(found.epsilon),
                claimed_delta: Number(found.claimed_delta),
                proved_delta: Number(found.proved_delta),
            }),
            is_constant: false,
        }
    }
}

impl PointReport {
    fn new(point: &Point) -> Self {
        Self {
            purpose: match point.purpose {
                Purpose::FewFalseAlarms => "few-false-alarms",
                Purpose::FewMisses => "few-misses",
                Purpose::Balanced => "balanced",
            },
            side: match point.rule.tail {
                Tail::Above => "above",
                Tail::Below => "below",
            },
            threshold: Number(point.rule.threshold),
            true_positives: point.guesses.right,
            false_positives: point.guesses.wrong,
            tpr: Lower { lower: Number(point.rates.least_true_positives) },
            fpr: Upper { upper: Number(point.rates.most_false_positives) },
        }
    }
}
