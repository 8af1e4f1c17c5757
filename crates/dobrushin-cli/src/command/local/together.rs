//! Many reports together: several questions to one person, or those of many people, shuffled.

use super::arguments::ProfileArgs;
use crate::output::bounds;
use crate::problem::Problem;
use dobrushin::numeric::decimal as number;
use dobrushin::profile::PrivacyProfile;
use dobrushin::{Delta, Enclosure, Epsilon};
use dobrushin_local::{LocalProfile, Shuffled};
use serde_json::{Value, json};

/// What is known about many reports.
pub struct Together {
    /// Its field for programs.
    pub key: &'static str,
    count: u32,
    delta: Delta,
    epsilon: Enclosure,
}

impl Together {
    /// In words.
    pub fn sentence(&self) -> String {
        let (epsilon, delta) = (number::upper(self.epsilon), number::plain(self.delta.get()));
        let count = self.count;
        match self.key {
            "questions" => format!("{count} answers of one person together: (ε, δ) = ({epsilon}, {delta})"),
            _ => format!(
                "One of {count} people, towards those who see all reports, shuffled, and nothing else:\n\
                 (ε, δ) = ({epsilon}, {delta}), if the person is replaced by another; see dobrushin explain shuffle"
            ),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({ "count": self.count, "delta": self.delta.get(), "epsilon": bounds(self.epsilon) })
    }
}

/// What is asked for.
pub fn together(arguments: &ProfileArgs, profile: &LocalProfile) -> Result<Vec<Together>, Problem> {
    let delta = arguments.together_delta;
    let mut all = Vec::new();
    if let Some(count) = arguments.questions {
        let epsilon = LocalProfile::compose(&[(profile.clone(), u64::from(count.get()))]).epsilon(delta);
        all.push(Together { key: "questions", count: count.get(), delta, epsilon });
    }
    if let Some(count) = arguments.shuffled {
        let pure = profile.epsilon(Delta::new(0.0)?).upper();
        if !pure.is_finite() {
            return Err(Problem::new("--shuffled: the mechanism has no finite epsilon with delta = 0")
                .help("shuffling is credited for mechanisms with --delta 0 only"));
        }
        let epsilon = Shuffled::new(Epsilon::new(pure)?, count)?.epsilon(delta);
        all.push(Together { key: "shuffled", count: count.get(), delta, epsilon });
    }
    Ok(all)
}
