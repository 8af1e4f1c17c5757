//! How good a run is, in words.

use super::{Text, bullets, capitalised, wrap};
use crate::report::UtilityReport;
use dobrushin::numeric::decimal as number;

/// The bounds on excess risk or regret, what must hold, and the learning rate that would be best.
pub fn utility(text: &mut Text, report: &UtilityReport) {
    let (by_measure, best_rate) = match report {
        UtilityReport::None { not_applicable } => {
            return text.answer(wrap(not_applicable, "No bound on the utility: "));
        }
        UtilityReport::Bounded { by_measure, best_rate, .. } => (by_measure, best_rate),
    };
    for best in by_measure {
        let (measure, value) = (capitalised(best.measure_in_words), number::upper(best.value.0));
        text.answer(format!("{measure} ≤ {value}, by {}", best.id));
        if best.is_vacuous {
            text.explanation("That is what every point of the domain has: nothing is said about the run.");
        }
        text.explanation(bullets("Assumptions of this bound", &best.assumptions));
    }
    if let Some(best) = best_rate {
        let words = format!(
            "A constant learning rate of {} would make it {}, by {}, with the same noise on the gradients. What that does to \
             privacy: --set learning-rate={0}",
            number::nearest(best.learning_rate),
            number::briefly(best.value.0),
            best.id
        );
        text.explanation(wrap(&words, ""));
    }
}
