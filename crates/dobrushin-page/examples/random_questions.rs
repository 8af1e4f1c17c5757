//! Random questions with the answers of the native program, a line of JSON each: `random_questions COUNT SEED`.
//!
//! The test of the page asks the same questions in WebAssembly, and every answer must be the same to the last digit.

use serde_json::{Value, json};
use std::io::Write;

/// SplitMix64: what is asked depends on the seed alone.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// A number between a and b, whose logarithm is uniform, with few digits or with all.
    fn number(&mut self, a: f64, b: f64) -> f64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let value = a * (b / a).powf(share);
        if self.below(2) == 0 { value } else { format!("{value:.1e}").parse().unwrap_or(value) }
    }
}

/// A run, which may be impossible: then the errors must be the same.
fn question(random: &mut Random) -> Value {
    let records = random.number(20.0, 1e6).round();
    let mut run = json!({ "records": records as u64, "steps": random.number(1.0, 3e3).round() as u64 });
    let mut update =
        json!({ "learning-rate": random.number(1e-3, 2.0), "clip-norm": random.number(0.1, 10.0) });
    let (mut loss, mut domain) = (json!({}), json!({}));
    run["algorithm"] = random.one(&["dp-sgd", "dp-sgd", "dp-sgd", "gradient-descent", "pnsgd"]).into();
    let turns = run["algorithm"] == "pnsgd";
    if run["algorithm"] == "dp-sgd" {
        run["batch-size"] = (random.number(1.0, records / 2.0).round() as u64).into();
        run["order"] = random
            .one(&["poisson", "poisson", "without-replacement", "allocation", "cyclic", "shuffled"])
            .into();
    }
    run["neighbours"] = random.one(&["replace-one", "zero-out", "zero-out", "add-or-remove-one"]).into();
    if random.below(4) == 0 {
        run["release"] = random.one(&["all", "random-stop", "random-skip"]).into();
    }
    if turns {
        run["order"] = "once".into();
        run.as_object_mut().map(|run| run.remove("steps"));
        update["lipschitz"] = update["clip-norm"].take();
        update.as_object_mut().map(|update| update.remove("clip-norm"));
        update["gradient-noise"] = random.number(0.1, 30.0).into();
    } else {
        update["noise-multiplier"] = random.number(0.4, 30.0).into();
    }
    if random.below(2) == 0 {
        loss["convex"] = true.into();
        loss["smoothness"] = random.number(1e-3, 2.0).into();
        loss["generalised-linear"] = true.into();
    }
    if random.below(3) == 0 {
        loss["strong-convexity"] = random.number(1e-4, 1e-2).into();
    }
    if random.below(3) == 0 {
        update["weight-decay"] = random.number(1e-4, 0.1).into();
    }
    if random.below(2) == 0 {
        domain["diameter"] = random.number(0.1, 100.0).into();
        domain["dimension"] = (random.number(1.0, 1e3).round() as u64).into();
    }
    let sections = json!({ "run": run, "update": update, "loss": loss, "domain": domain });
    let mut question = json!({ "ask": "account", "run": sections, "floor": random.below(4) == 0 });
    match random.below(3) {
        0 => question["epsilon"] = random.number(0.01, 10.0).into(),
        _ => question["delta"] = random.number(1e-12, 1e-2).into(),
    }
    question
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().unwrap_or(1));
    let (count, seed) = (arguments.next().unwrap_or(100), arguments.next().unwrap_or(1));
    let mut random = Random(seed);
    let mut out = std::io::stdout().lock();
    for _ in 0..count {
        let question = question(&mut random).to_string();
        let answer = dobrushin_page::answer(&question);
        writeln!(out, "{}", json!({ "question": question, "answer": answer }))?;
    }
    Ok(())
}
