//! The assumptions of statements about a noisy iteration.

use super::batch::Ordinary;
use crate::Enclosure;
use crate::mechanism::Neighbours;
use crate::run::{Assumption, Contribution, Curvature, Divisor, Ending, Length, Order, Record, Training};

impl Training {
    /// Every assumption of the composition; if there are more different noise levels than this, they may be counted as
    /// the smallest of a group.
    pub(super) fn assumptions(&self, merged: Option<usize>) -> Vec<Assumption> {
        let mut all = self.common_assumptions();
        all.push(Assumption::MayPublish(self.release));
        all.push(Assumption::ParametersWithoutData);
        all.extend(merged.map(Assumption::SmallestNoiseOfMoreThan));
        all
    }

    /// Every assumption of the analyses of hidden states.
    pub(super) fn hidden_assumptions(&self, ordinary: Option<&Ordinary>) -> Vec<Assumption> {
        let mut all = self.common_assumptions();
        all.push(Assumption::PublishesOnly(self.release));
        all.push(Assumption::NoMemory);
        all.extend(self.used_facts(ordinary));
        all.push(Assumption::ParametersWithoutData);
        all
    }

    fn common_assumptions(&self) -> Vec<Assumption> {
        let compared = match self.deleted_records() {
            0 => Assumption::NeighboursDiffer(self.neighbours),
            deleted => Assumption::AsIfNeverUsed(deleted),
        };
        let mut all = vec![compared, self.sampling(), self.gradient_norm()];
        all.extend(self.divisor());
        // The share would be larger with fewer records.
        let shares_records = self.order == Order::WithoutReplacement
            || (self.order == Order::Full && self.divide_by == Divisor::Actual);
        if self.neighbours == Neighbours::AddOrRemoveOne && shares_records {
            all.push(Assumption::ExactlyRecords(self.records));
        }
        all.push(Assumption::Noise(self.noise_kind));
        if let Record::Index(index) = self.record {
            all.push(Assumption::OnlyForRecord(index));
        }
        if self.public_steps > 0 {
            all.push(Assumption::PublicSteps(self.public_steps));
        }
        if !self.forgetting.is_empty() {
            let (after, requests) = (self.possible_steps(), self.forgetting.clone());
            all.push(Assumption::Deleted { after, requests });
            all.push(Assumption::ContinuesTheIterate);
            all.push(Assumption::RequestsWithoutReleases);
            all.push(Assumption::EarlierReleasesStay);
        }
        all.extend(self.centre.map(|centre| Assumption::Centred(centre.noise_multiplier)));
        all.extend(self.evaluation.map(|evaluation| Assumption::Evaluated(evaluation.noise_multiplier)));
        if self.tasks > 1 {
            all.push(Assumption::Tasks(self.tasks));
        }
        all
    }

    /// What the chains use of the facts about the loss, the domain and the update.
    fn used_facts(&self, ordinary: Option<&Ordinary>) -> Vec<Assumption> {
        let mut all = Vec::new();
        all.extend(self.domain.diameter.map(Assumption::ProjectedTo));
        if self.weight_decay > 0.0 {
            all.push(Assumption::WeightDecay(self.weight_decay));
        }
        all.extend(self.loss.smoothness.map(|smoothness| Assumption::Smooth(smoothness, self.curvature())));
        // The largest batch contains all records.
        let counts_records = matches!(self.order, Order::Poisson | Order::Allocation | Order::Full)
            && (self.divide_by == Divisor::BatchSize || ordinary.is_some());
        if self.neighbours == Neighbours::AddOrRemoveOne && counts_records {
            let counts_the_fewest = match ordinary {
                Some(_) => self.depends_on_the_fewest(),
                None => self.usable_strong_convexity() != Enclosure::ZERO,
            };
            all.push(if counts_the_fewest {
                Assumption::ExactlyRecords(self.records)
            } else {
                Assumption::AtMostRecords(self.records.saturating_add(1))
            });
        }
        all.extend(ordinary.map(|ordinary| Assumption::OrdinaryBatches {
            least: ordinary.least,
            most: ordinary.most,
            exception: ordinary.exception.upper(),
            last: ordinary.last,
        }));
        if self.forgetting.is_empty() {
            all.extend(self.possible_steps().map(Assumption::ExactlySteps));
        }
        all
    }

    fn curvature(&self) -> Curvature {
        let rho = self.loss.strong_convexity.map_or(0.0, |rho| rho.get());
        match self.uses_convexity() {
            true if self.is_clipped() => Curvature::GeneralisedLinear,
            true if rho > 0.0 => Curvature::StronglyConvex(rho),
            true => Curvature::Convex,
            false => Curvature::Any,
        }
    }

    fn sampling(&self) -> Assumption {
        let (batch, records) = (self.batch, self.records);
        match self.order {
            Order::Poisson => Assumption::DrawnIndependently { batch, records },
            Order::WithoutReplacement => Assumption::DrawnTogether { batch, records },
            Order::Allocation => Assumption::Allocated {
                batches: self.batches_in_a_pass(),
                passes: self.participations().unwrap_or(u64::MAX),
            },
            Order::Full => Assumption::EveryRecordEveryStep,
            Order::Once => Assumption::OneBatch(self.ending()),
            Order::Cyclic | Order::Shuffled => Assumption::OneBatchOfEachPass {
                times: self.participations().unwrap_or(u64::MAX),
                shuffled: self.order == Order::Shuffled,
                whole_passes: matches!(self.length, Length::Epochs(_)),
                ending: self.ending(),
            },
        }
    }

    fn ending(&self) -> Ending {
        match self.incomplete_batch {
            _ if !self.has_incomplete_batches() => Ending::Complete,
            Some(said) => Ending::Incomplete(said),
            None => Ending::Unknown,
        }
    }

    fn gradient_norm(&self) -> Assumption {
        match self.contribution {
            Some(Contribution::Clipped(norm)) => Assumption::ClippedTo(norm),
            Some(Contribution::Lipschitz(norm)) => Assumption::GradientNorm(norm),
            None => Assumption::GradientNormOfTheMultiplier,
        }
    }

    fn divisor(&self) -> Option<Assumption> {
        match (self.divide_by, self.order) {
            (Divisor::BatchSize, Order::Poisson | Order::Allocation) => {
                Some(Assumption::DividedBy(self.nominal_batch().midpoint()))
            }
            (Divisor::BatchSize, _) => None,
            (Divisor::Actual, Order::Poisson) => Some(Assumption::DividedByTheNumberDrawn),
            (Divisor::Actual, _) => Some(Assumption::DividedByTheBatch),
        }
    }
}
