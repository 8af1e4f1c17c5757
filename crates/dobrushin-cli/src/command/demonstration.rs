//! What `dobrushin` shows without a command.

use crate::output::{Report, bounds};
use crate::problem::Problem;
use dobrushin::divergence::{GaussianPair, Pair};
use dobrushin::kernel::{GaussianKernel, Kernel};
use dobrushin::numeric::decimal as number;
use dobrushin::numeric::normal;
use dobrushin::{Enclosure, Gamma, Probability};
use dobrushin_document::text::Style;
use dobrushin_document::text::{Text, heading, table};
use serde_json::{Value, json};

/// The example has noise 1, a record that moves the iterate by 1, and a domain of this diameter; it is seen at this ε.
const DIAMETER: f64 = 3.0;
const EPSILON: f64 = 0.5;
const STEPS: [u32; 6] = [0, 1, 2, 4, 8, 12];

/// Hidden steps forget, and tails can be trusted.
pub fn run(style: Style) -> Result<Report, Problem> {
    let gamma = Gamma::from_epsilon(EPSILON)?;
    let start = GaussianPair::new(1.0, 1.0)?.hockey_stick(gamma);
    let kernel = GaussianKernel::new(DIAMETER, 1.0)?;
    let mut forgotten = Vec::new();
    let (mut product, mut tight) = (start, start);
    for step in 0..=STEPS[STEPS.len() - 1] {
        if STEPS.contains(&step) {
            forgotten.push((step, product, tight));
        }
        product = product * kernel.contraction(gamma);
        tight =
            tight.map_monotone(|e| Probability::new(e).map_or(Enclosure::UNIT, |e| kernel.tight(gamma, e)));
    }
    let mut tails = Vec::new();
    for (epsilon, r) in [(1.0, 1.0), (7.0, 0.9), (5.0, 0.5), (20.0, 1.0)] {
        let pair = GaussianPair::new(r, 1.0)?;
        let certified = pair.hockey_stick(Gamma::from_epsilon(epsilon)?);
        tails.push((epsilon, r, textbook(epsilon, r), certified));
    }
    Ok(Report::new(text(&forgotten, &tails, style), as_json(&forgotten, &tails)))
}

/// The papers' formula in floating point, as it is usually coded.
fn textbook(epsilon: f64, r: f64) -> f64 {
    let tail = |x: f64| 1.0 - normal::cdf(x).midpoint();
    tail(epsilon / r - r / 2.0) - epsilon.exp() * tail(epsilon / r + r / 2.0)
}

fn text(
    forgotten: &[(u32, Enclosure, Enclosure)],
    tails: &[(f64, f64, f64, Enclosure)],
    style: Style,
) -> Text {
    let mut text = Text::default();
    text.explanation("A built-in demonstration (dobrushin --help lists the commands).");
    let rows = forgotten
        .iter()
        .map(|(steps, product, tight)| [steps.to_string(), style.upper(*product), style.upper(*tight)]);
    let title = format!("1. Hidden steps forget: delta at epsilon = {EPSILON} of the last iterate");
    let table_of_steps =
        table(["hidden steps after the record", "product of contractions", "tight contraction"], rows);
    text.answer(heading(&title).then_apart(table_of_steps));
    text.explanation(
        "A record moves a projected noisy iterate by at most one noise standard deviation; non-expansive steps \
         without it follow, on a domain three times as wide as the noise, and only the last iterate is \
         released. Were every step released, delta would stay at its first value. The middle column multiplies \
         contraction coefficients, as in the papers; the right one applies the tight curve \
         (dobrushin explain tight-curve).",
    );
    let rows = tails.iter().map(|(epsilon, r, textbook, certified)| {
        [
            number::plain(*epsilon),
            number::plain(*r),
            format!("{textbook:e}"),
            style.upper(*certified),
            number::width(*certified),
        ]
    });
    text.answer(heading("2. Tails can be trusted: delta of a Gaussian mechanism").then_apart(table(
        ["epsilon", "sensitivity/σ", "textbook formula", "certified: at most", "width"],
        rows,
    )));
    text.explanation(
        "The textbook difference of two normal tails 1 − Φ cancels: nine times too much at 1e-14, nothing \
         at all below. The certified bound is proved to the last digit printed.\n\
         Try: dobrushin divergence gaussian --distance 0.5 --sigma 1 --epsilon 0,1,5 --delta 1e-5",
    );
    text
}

fn as_json(forgotten: &[(u32, Enclosure, Enclosure)], tails: &[(f64, f64, f64, Enclosure)]) -> Value {
    let forgotten = forgotten.iter().map(|(steps, product, tight)| {
        json!({ "hidden_steps": steps, "product": bounds(*product), "tight": bounds(*tight) })
    });
    let tails = tails.iter().map(|(epsilon, r, textbook, certified)| {
        json!({ "epsilon": epsilon, "ratio": r, "textbook": textbook, "delta": bounds(*certified) })
    });
    json!({ "epsilon": EPSILON, "forgetting": forgotten.collect::<Value>(), "tails": tails.collect::<Value>() })
}
