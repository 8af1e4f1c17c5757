//! How a ledger grows: `scale people N RELEASES [URL]` charges everybody for each release, in a file or in a PostgreSQL
//! database; `scale tasks N K` trains K models on N records and compares what the ledger counts with PAI Theorem 32.

use dobrushin::profile::ApproximateProfile;
use dobrushin::{Delta, Epsilon, Neighbours, Progress, Release, Run};
use dobrushin_ledger::{Budget, Choice, Ledger, Place, Roll, Spend, Terms};
use serde_json::Value as Json;
use std::error::Error;
use std::time::Instant;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let count = |text: &str| text.parse::<f64>().map(|number| number as u64);
    match words[..] {
        ["people", people, releases] => everybody(count(people)?, count(releases)?, None),
        ["people", people, releases, url] => everybody(count(people)?, count(releases)?, Some(url)),
        ["tasks", records, tasks] => many_tasks(count(records)?, count(tasks)?),
        _ => Err("scale people N RELEASES [URL], or scale tasks N K".into()),
    }
}

/// A release that touches everybody, again and again.
fn everybody(people: u64, releases: u64, url: Option<&str>) -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("people.ledger");
    let place = match url {
        Some(url) => url.parse()?,
        None => Place::File(file.clone()),
    };
    let budget = Budget::new(Epsilon::new(5.0)?, Delta::new(1e-6)?, Choice::Adaptive);
    let terms = Terms::new(Neighbours::ReplaceOne, budget, people, [7; 16]);
    let start = Instant::now();
    let mut ledger = Ledger::create(&place, terms)?;
    let profile = ApproximateProfile::new(Epsilon::new(0.01)?, Delta::new(1e-12)?);
    let spend = Spend::of_profile(&profile, "claim", "a release".to_owned(), Json::Null);
    println!("made in {:.2} s", start.elapsed().as_secs_f64());
    println!("release  reading names (s)  reserve (s)  commit (s)  memory (MB)  files (MB)");
    for release in 1..=releases {
        let start = Instant::now();
        let mut roll = Roll::new(&ledger.terms()?);
        // Another order each time.
        let step = 2 * (release.wrapping_mul(0x9e37_79b9) % (people / 2 + 1)) + 1;
        let mut person = release % people;
        let mut name = String::new();
        for _ in 0..people {
            use std::fmt::Write;
            name.clear();
            write!(name, "person-{person}")?;
            roll.add(name.as_bytes())?;
            person = (person + if common(step, people) { 1 } else { step }) % people;
        }
        let read = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let reserved = ledger.reserve(&spend, &mut roll, None)?;
        let reserve = start.elapsed().as_secs_f64();
        let start = Instant::now();
        ledger.commit(reserved.id, None)?;
        let commit = start.elapsed().as_secs_f64();
        let unit = 10_u64.pow(release.ilog10());
        let is_round = release % unit == 0 && [1, 2, 5].contains(&(release / unit));
        if !is_round && release != releases {
            continue;
        }
        let size = if url.is_some() { f64::NAN } else { size_of_all(folder.path()) };
        println!(
            "{release:7}  {read:17.2}  {reserve:11.2}  {commit:10.3}  {:11.0}  {size:10.1}",
            peak_memory()
        );
    }
    let start = Instant::now();
    let share = ledger.histogram()?.most.map_or(0.0, |(share, _)| share);
    println!("everybody read in {:.2} s; the largest share is {share:.4}", start.elapsed().as_secs_f64());
    Ok(())
}

/// The size of the ledger and its journal, in megabytes.
fn size_of_all(folder: &std::path::Path) -> f64 {
    let files = std::fs::read_dir(folder).into_iter().flatten();
    files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len() as f64 / 1e6)).sum()
}

/// Whether two numbers have a common factor, so that steps of one do not reach everybody.
fn common(mut a: u64, mut b: u64) -> bool {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a > 1
}

/// The most memory that this process ever had, in megabytes.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    number.map_or(f64::NAN, |kilobytes| kilobytes / 1e3)
}

/// Models with the noise that PAI Theorem 32 asks for, so that all of them are (ε, δ)-private: what is counted person by
/// person, if the models are trained on the same order of people, and if each has an order of its own.
fn many_tasks(records: u64, tasks: u64) -> Outcome {
    let (epsilon, delta) = (0.9, 1e-6);
    let (n, k, price) = (records as f64, tasks as f64, f64::ln(1.0 / delta));
    let q = (2.0 * k * n.ln() / n).max(2.0 * price);
    let sigma = 4.0 * (q * price).sqrt() / epsilon;
    println!("{tasks} models of one pass over {records} records each, stopped at random");
    println!(
        "Theorem 32, as printed: with noise {sigma:.2} L, all together are ({epsilon}, {delta:e})-private"
    );
    let run = |release: Release| {
        let run =
            Run::pnsgd(records).learning_rate(0.001).lipschitz(1.0).gradient_noise(sigma).release(release);
        run.convex().smoothness(1.0).build()
    };
    for (release, words) in
        [(Release::RandomStop, "stopped at random"), (Release::Last, "the last iterate of each")]
    {
        let run = run(release)?;
        let (relation, what, progress) = (Neighbours::ReplaceOne, "a model".to_owned(), Progress::default());
        let spend = Spend::of_run(&run, relation, Delta::new(delta)?, what, Json::Null, &progress)?;
        for (orders, is_same) in [("one order", true), ("an order for each model", false)] {
            let folder = tempfile::tempdir()?;
            let budget = Budget::new(Epsilon::new(50.0)?, Delta::new(delta)?, Choice::Adaptive);
            let terms = Terms::new(Neighbours::ReplaceOne, budget, records, [7; 16]);
            let mut ledger = Ledger::create(&Place::File(folder.path().join("ledger")), terms)?;
            for task in 0..tasks {
                let mut roll = Roll::new(&ledger.terms()?);
                for place in 0..records {
                    let person = if is_same { place } else { (place + task * records / tasks) % records };
                    roll.add(format!("person-{person}").as_bytes())?;
                }
                let reserved = ledger.reserve(&spend, &mut roll, None)?;
                ledger.commit(reserved.id, None)?;
            }
            let mut most = (0.0, String::new());
            ledger.people(&mut |person| {
                if person.epsilon > most.0 {
                    most = (person.epsilon, person.name.to_owned());
                }
                Ok(())
            })?;
            let standing = ledger.person(&most.1)?;
            println!(
                "{words}, {orders}: {} has the largest sum: ε = {:.4}, {:.2} times below; composed exactly {:.4}, {:.2} times",
                most.1,
                most.0,
                epsilon / most.0,
                standing.planned_epsilon,
                epsilon / standing.planned_epsilon
            );
        }
    }
    Ok(())
}
