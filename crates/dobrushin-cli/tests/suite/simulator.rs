//! From a run file to the printed answer: no guarantee is below what the run, as documented, gives away.
//!
//! `DOBRUSHIN_BINARY` names another build of the program to try; a key that it does not know is passed over.

use dobrushin::numeric::Random;
use dobrushin::run::Run;
use dobrushin_audit::simulator::{divergences, random_run, run_file};
use dobrushin_reference::depth;
use serde_json::Value;
use std::process::Command;
use std::sync::Mutex;

const EPSILONS: [f64; 12] = [0.0, 0.3, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0];

fn program() -> Command {
    match std::env::var_os("DOBRUSHIN_BINARY") {
        Some(other) => Command::new(other),
        None => Command::new(env!("CARGO_BIN_EXE_dobrushin")),
    }
}

/// The δ that the program prints for an ε; `None` if it prints none.
fn printed(file: &std::path::Path, epsilon: f64) -> Option<f64> {
    let mut account = program();
    account.arg("account").arg(file).args(["--json", "--epsilon", &epsilon.to_string()]);
    let output = account.output().expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout).ok()?;
    report["guarantee"]["delta"]["upper"].as_f64()
}

#[test]
fn no_printed_guarantee_is_below_what_the_run_gives_away() {
    let cases: u64 = depth(60, 1_000);
    let seen = Mutex::new((0, 0, Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..4_u64 {
            let seen = &seen;
            scope.spawn(move || {
                for index in (worker..cases).step_by(4) {
                    let run = random_run(&mut Random::new(900_000 + index));
                    let fits = Run::training(run.clone()).is_ok();
                    let Some(exact) = divergences(&run, &EPSILONS).filter(|_| fits) else {
                        continue;
                    };
                    let file = crate::support::file(&format!("simulated-{index}.toml"), run_file(&run));
                    // Where much is given away, and where little is: there a rare event counts most.
                    let little = exact.iter().rposition(|&exact| exact > 1e-8).unwrap_or(0);
                    for (&epsilon, &exact) in [2, little].map(|at| (&EPSILONS[at], &exact[at])) {
                        let printed = printed(&file, epsilon);
                        let mut seen = seen.lock().expect("no other thread failed");
                        seen.0 += 1;
                        seen.1 += usize::from(printed.is_some());
                        if let Some(delta) = printed.filter(|&delta| delta < exact) {
                            let what = format!("case {index}: δ({epsilon}) is {delta:e}, exact {exact:e}");
                            seen.2.push(format!("{what}\n{}", run_file(&run)));
                        }
                    }
                }
            });
        }
    });
    let (asked, answered, found) = seen.into_inner().expect("no thread failed");
    println!("{asked} questions, {answered} answered, {} violated", found.len());
    assert!(found.is_empty(), "{} of {asked}:\n{}", found.len(), found[..found.len().min(5)].join("\n"));
    assert!(answered * 2 > asked && asked > 20);
}
