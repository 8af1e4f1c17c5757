//! What must hold for a composition to bound a run, in words.

use crate::Enclosure;
use crate::mechanism::Neighbours;
use crate::run::{
    Batch, Contribution, Divisor, IncompleteBatch, Length, NoiseKind, Order, Record, Release, Training,
};

/// Which data sets are neighbours, as a sentence.
pub(super) fn neighbours(neighbours: Neighbours) -> String {
    let how = match neighbours {
        Neighbours::ReplaceOne => "in one record, which is replaced by any other (replace-one)",
        Neighbours::AddOrRemoveOne => "in one record, which is there or not (add-or-remove-one)",
        Neighbours::ZeroOut => {
            "in one record, whose gradient becomes zero while its place is kept (zero-out)"
        }
    };
    format!("neighbouring data sets differ {how}")
}

impl Training {
    /// Every assumption of the composition.
    pub(super) fn assumptions(&self, merged: bool) -> Vec<String> {
        let mut words = self.common_assumptions();
        words.push(self.release_words().to_owned());
        words.push("no parameter was chosen by looking at the data".to_owned());
        if merged {
            words.push(
                "steps with similar noise are counted with the smallest noise among them (more than 64 different)"
                    .to_owned(),
            );
        }
        words
    }

    /// Every assumption of the analyses of hidden states.
    pub(super) fn hidden_assumptions(&self) -> Vec<String> {
        let mut words = self.common_assumptions();
        words.push(self.hiding_words());
        words.push(
            "each iterate is computed from the one before, a batch and fresh noise only: no momentum, no Adam, no average"
                .to_owned(),
        );
        words.extend(self.fact_words());
        words.push("no parameter was chosen by looking at the data".to_owned());
        words
    }

    fn common_assumptions(&self) -> Vec<String> {
        let mut words = vec![neighbours(self.neighbours), self.sampling_words(), self.contribution_words()];
        words.extend(self.divisor_words());
        // A share of fewer records would be larger.
        let shares_records = self.order == Order::WithoutReplacement
            || (self.order == Order::Full && self.divide_by == Divisor::Actual);
        if self.neighbours == Neighbours::AddOrRemoveOne && shares_records {
            words.push(self.exact_number_words());
        }
        words.push(self.noise_words());
        if let Record::Index(index) = self.record {
            words.push(format!("the bound is for record {index} in that order, not for the others"));
        }
        if self.public_steps > 0 {
            words.push(format!(
                "after them, {} further steps with the same update and noise use public data only",
                self.public_steps
            ));
        }
        if let Some(evaluation) = self.evaluation {
            words.push(format!(
                "what is released is then evaluated on the same records: a sum to which no record adds more than 1/{} of \
                 its Gaussian noise, and nothing else of it is published",
                evaluation.noise_multiplier.get()
            ));
        }
        if self.tasks > 1 {
            words.push(format!(
                "{} such runs on the same records are released, each with its own noise and order",
                self.tasks
            ));
        }
        words
    }

    fn hiding_words(&self) -> String {
        let published = match self.release {
            Release::All => "every iterate",
            Release::Last => "only the last iterate",
            Release::RandomStop => "only the iterate of one step, each equally likely,",
            Release::RandomSkip => {
                "only the last iterate of a run that skips its first steps, up to half of them, each number equally \
                 likely,"
            }
        };
        format!(
            "{published} is published: all other iterates, and everything computed from them, stay secret"
        )
    }

    /// What the chains use of what is said of the loss, the domain and the update.
    fn fact_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(diameter) = self.domain.diameter {
            words.push(format!(
                "after every step the iterate is projected to a fixed closed convex set of diameter {}",
                diameter.get()
            ));
        }
        if self.weight_decay > 0.0 {
            words.push(format!(
                "every step multiplies the iterate by 1 − {}, whatever the gradients are",
                self.weight_decay
            ));
        }
        if let Some(smoothness) = self.loss.smoothness {
            let rho = self.loss.strong_convexity.map_or(0.0, |rho| rho.get());
            let kind = match self.uses_convexity() {
                true if self.is_clipped() => "is convex and generalised linear, and has".to_owned(),
                true if rho > 0.0 => format!("is {rho}-strongly convex and has"),
                true => "is convex and has".to_owned(),
                false => "has".to_owned(),
            };
            words.push(format!(
                "every record's loss {kind} a gradient with Lipschitz constant {}, whatever the record",
                smoothness.get()
            ));
        }
        // The largest batch is that of all records.
        let counts_records =
            matches!(self.order, Order::Poisson | Order::Full) && self.divide_by == Divisor::BatchSize;
        if self.neighbours == Neighbours::AddOrRemoveOne && counts_records {
            words.push(if self.usable_strong_convexity() == Enclosure::ZERO {
                format!(
                    "neither data set has more than {} records, a bound that is public and does not depend on the data",
                    self.records.saturating_add(1)
                )
            } else {
                self.exact_number_words()
            });
        }
        if let Some(possible) = self.possible_steps() {
            let numbers: Vec<String> = possible.iter().map(u64::to_string).collect();
            words.push(format!("exactly {} steps were made on private data", numbers.join(" or ")));
        }
        words
    }

    fn sampling_words(&self) -> String {
        let times = self.participations().unwrap_or(u64::MAX);
        let share = match self.batch {
            Batch::Size(size) => format!("{size}/{}", self.records),
            Batch::Probability(p) => p.get().to_string(),
        };
        match self.order {
            Order::Poisson => format!(
                "every step draws each record independently with probability {share}, anew and in secret \
                 (Poisson sampling)"
            ),
            Order::WithoutReplacement => format!(
                "every step draws a uniformly random batch, a share of {share} of the records, anew and in secret"
            ),
            Order::Full => "every step uses all records".to_owned(),
            Order::Once => {
                format!("each record is in one batch at most; the order may be known{}", self.ending_words())
            }
            Order::Cyclic | Order::Shuffled => {
                let credit =
                    if self.order == Order::Shuffled { "; each pass has its own random order" } else { "" };
                let ending = self.ending_words();
                // Certificates are compared word for word: where nothing is incomplete, the words stay what they were.
                match (ending, self.length) {
                    ("", Length::Epochs(_)) => {
                        format!("each record is in one batch of each pass, at most {times} in all{credit}")
                    }
                    ("", _) => format!(
                        "each record is in one batch of each pass, whatever becomes of an incomplete last batch, at most \
                         {times} in all{credit}"
                    ),
                    _ => format!(
                        "each record is in one batch of each pass at most, {times} times at most in all{credit}{ending}"
                    ),
                }
            }
        }
    }

    fn exact_number_words(&self) -> String {
        format!("one of the two data sets has exactly {} records, which is public", self.records)
    }

    /// What becomes of an incomplete last batch.
    fn ending_words(&self) -> &'static str {
        if !self.has_incomplete_batches() {
            return "";
        }
        match (self.incomplete_batch, self.order) {
            (Some(IncompleteBatch::Drop), _) => "; records that fill no batch are left out of that pass",
            (Some(IncompleteBatch::Short), _) => "; the last batch of a pass is smaller than the others",
            (Some(IncompleteBatch::Pad), _) => "; empty records make the last batch of a pass complete",
            (Some(IncompleteBatch::Fill), Order::Shuffled) => {
                "; records of the next pass make the last batch of a pass complete, which may hold a record twice"
            }
            (Some(IncompleteBatch::Fill), _) => {
                "; records of the next pass make the last batch of a pass complete"
            }
            (None, Order::Once) => {
                "; an incomplete last batch may be left out, used as it is, or made complete by empty records"
            }
            (None, Order::Shuffled) => {
                "; an incomplete last batch may be left out, used as it is, or made complete by empty records or by \
                 records of the next pass, so that it holds a record twice (run.incomplete-batch)"
            }
            (None, _) => {
                "; an incomplete last batch may be left out, used as it is, or made complete by empty records or by \
                 records of the next pass"
            }
        }
    }

    fn contribution_words(&self) -> String {
        match self.contribution {
            Some(Contribution::Clipped(norm)) => {
                format!("each record's gradient is clipped to norm {}", norm.get())
            }
            Some(Contribution::Lipschitz(norm)) => {
                format!(
                    "each record's gradient has norm at most {}, for every iterate and record",
                    norm.get()
                )
            }
            None => {
                "each record's gradient has at most the norm that the noise multiplier refers to".to_owned()
            }
        }
    }

    fn divisor_words(&self) -> Option<String> {
        match (self.divide_by, self.order) {
            (Divisor::BatchSize, Order::Poisson) => Some(format!(
                "the sum of the gradients is divided by {} whatever number was drawn",
                self.nominal_batch().midpoint()
            )),
            (Divisor::Actual, Order::Poisson) => Some(
                "the sum of the gradients is divided by the number drawn, which may be 1; the noise does not \
                 depend on that number, and is added also when nothing was drawn"
                    .to_owned(),
            ),
            (Divisor::Actual, _) => Some(
                "the average is over the records of the batch; the noise does not depend on their number".to_owned(),
            ),
            _ => None,
        }
    }

    fn noise_words(&self) -> String {
        let kind = match self.noise_kind {
            NoiseKind::Gaussian => "Gaussian, the same in every direction",
            NoiseKind::Laplace => "Laplace, and the iterate has one dimension",
        };
        format!("the noise of every step is {kind}, independent, secret, and continuous (not rounded)")
    }

    fn release_words(&self) -> &'static str {
        match self.release {
            Release::All => "every iterate may be published",
            Release::Last => {
                "every iterate may be published, though only the last one is (that it hides the others is not \
                 credited)"
            }
            Release::RandomStop | Release::RandomSkip => {
                "every iterate and its time may be published, though only one is (that it hides the others is \
                 not credited)"
            }
        }
    }
}
