//! Records that are deleted: what a loader may do before and after each request.
//!
//! D is the run as it was made: a member of the group pushes until its request, and its slot is empty from then on. In D′
//! the slots of all members are empty from the first step on. In a batch, `uses` counts the members that are deleted
//! later, whose gradient is that of the record in D and zero in D′, and `empty` those that are deleted already. Clean steps
//! begin with a new pass where records take turns.

use super::lengths;
use super::loader::{Batches, Course, Drawn, MOST, Turns, binomial, end, endings, per_pass, steps_in_a_pass};
use dobrushin::run::{Batch, Order, Training};

/// Steps between two requests, with the requests before and after which members are deleted.
#[derive(Clone, Copy)]
struct Phase {
    steps: u64,
    /// The number of requests so far.
    request: usize,
}

/// Everything that a description leaves open; `None` if there are too many possibilities.
pub(super) fn courses(run: &Training) -> Option<Vec<Course>> {
    match run.order {
        Order::Once | Order::Cyclic | Order::Shuffled => in_turn(run),
        Order::Poisson | Order::WithoutReplacement | Order::Full => at_random(run),
        // Allocated records that are deleted are not simulated.
        Order::Allocation => None,
    }
}

fn phases(run: &Training, steps: u64) -> Vec<Phase> {
    let clean = (1..).zip(&run.forgetting).map(|(request, of)| Phase { steps: of.steps, request });
    [Phase { steps, request: 0 }].into_iter().chain(clean).collect()
}

/// The request, counted from 0, that deletes each member.
fn requests(run: &Training) -> Vec<usize> {
    let of = |(request, of): (usize, &dobrushin::run::Forgotten)| vec![request; of.records as usize];
    run.forgetting.iter().enumerate().flat_map(of).collect()
}

fn at_random(run: &Training) -> Option<Vec<Course>> {
    let members = requests(run);
    let mut courses = Vec::new();
    for steps in lengths(run, per_pass(run)) {
        let mut course = vec![Batches { probability: 1.0, steps: Vec::new() }];
        for phase in phases(run, steps) {
            let gone = members.iter().filter(|request| **request < phase.request).count() as u64;
            let step = one_step(run, members.len() as u64 - gone, gone)?;
            for _ in 0..phase.steps {
                if course.len() * step.len() > MOST {
                    return None;
                }
                let longer = |batches: &Batches| -> Vec<Batches> {
                    let append = |&(probability, drawn): &(f64, Drawn)| {
                        let mut steps = batches.steps.clone();
                        steps.push([drawn; 2]);
                        Batches { probability: batches.probability * probability, steps }
                    };
                    step.iter().map(append).collect()
                };
                course = course.iter().flat_map(longer).collect();
            }
        }
        courses.push(course);
    }
    Some(courses)
}

/// What one step may draw, if some members are left and some are gone.
fn one_step(run: &Training, left: u64, gone: u64) -> Option<Vec<(f64, Drawn)>> {
    let rest = run.records - left - gone;
    let mut drawn = Vec::new();
    match (run.order, run.batch) {
        (Order::Full, _) => drawn.push((1.0, Drawn { others: rest, uses: left, empty: gone })),
        (Order::WithoutReplacement, Batch::Size(size)) => {
            let all = choose(run.records, size);
            for uses in 0..=left.min(size) {
                for empty in 0..=gone.min(size - uses) {
                    let others = size - uses - empty;
                    if others > rest {
                        continue;
                    }
                    let chance = choose(left, uses) * choose(gone, empty) * choose(rest, others) / all;
                    drawn.push((chance, Drawn { others, uses, empty }));
                }
            }
        }
        (Order::Poisson, batch) => {
            let rate = match batch {
                Batch::Size(size) => size as f64 / run.records as f64,
                Batch::Probability(rate) => rate.get(),
            };
            for uses in 0..=left {
                for others in 0..=rest {
                    // What is empty changes nothing, as the divisor is fixed.
                    let chance = binomial(left, uses, rate) * binomial(rest, others, rate);
                    drawn.push((chance, Drawn { others, uses, empty: 0 }));
                }
            }
            drawn.retain(|(chance, _)| *chance > 0.0);
        }
        _ => return None,
    }
    Some(drawn)
}

fn in_turn(run: &Training) -> Option<Vec<Course>> {
    let Batch::Size(size) = run.batch else {
        return None;
    };
    let members = requests(run);
    let arrangements = arrangements(run.records, members.len());
    let mut courses = Vec::new();
    for ending in endings(run, size) {
        let pass = steps_in_a_pass(run, size, ending);
        for steps in lengths(run, pass) {
            let steps = if run.order == Order::Once { steps.min(pass as u64) } else { steps };
            let loader = |phase: Phase| Turns {
                records: run.records,
                size,
                steps: phase.steps,
                ending,
                end: if phase.request == 0 { end(run) } else { u64::MAX },
            };
            let phases = phases(run, steps);
            if run.order != Order::Shuffled {
                for places in &arrangements {
                    let batches = phases.iter().flat_map(|&phase| {
                        let passes = vec![places.clone(); loader(phase).passes() as usize];
                        of_phase(&loader(phase), phase, &members, &passes)
                    });
                    courses.push(vec![Batches { probability: 1.0, steps: batches.collect() }]);
                }
                continue;
            }
            // Each pass of each phase has an arrangement of its own.
            let mut course = vec![Batches { probability: 1.0, steps: Vec::new() }];
            for &phase in &phases {
                let loader = loader(phase);
                let passes = loader.passes() as usize;
                let choices = arrangements.len().checked_pow(u32::try_from(passes).ok()?)?;
                if course.len().checked_mul(choices).is_none_or(|all| all > MOST) {
                    return None;
                }
                let mut longer = Vec::new();
                for batches in &course {
                    for mut choice in 0..choices {
                        let mut places = Vec::new();
                        for _ in 0..passes {
                            places.push(arrangements[choice % arrangements.len()].clone());
                            choice /= arrangements.len();
                        }
                        let mut steps = batches.steps.clone();
                        steps.extend(of_phase(&loader, phase, &members, &places));
                        longer.push(Batches { probability: batches.probability / choices as f64, steps });
                    }
                }
                course = longer;
            }
            courses.push(course);
        }
    }
    Some(courses)
}

/// The batches of a phase, if the members have these places in its passes.
fn of_phase(loader: &Turns, phase: Phase, members: &[usize], passes: &[Vec<u64>]) -> Vec<[Drawn; 2]> {
    let batch = |step: u64| {
        let mut sum = loader.batch(step, &[]);
        for (member, request) in members.iter().enumerate() {
            let places: Vec<u64> = passes.iter().map(|places| places[member]).collect();
            let uses = loader.batch(step, &places).uses;
            sum.others -= uses;
            if *request < phase.request {
                sum.empty += uses;
            } else {
                sum.uses += uses;
            }
        }
        [sum; 2]
    };
    (0..phase.steps).map(batch).collect()
}

/// Every way to give this many members different places.
fn arrangements(records: u64, members: usize) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for _ in 0..members {
        let longer = |places: &Vec<u64>| -> Vec<Vec<u64>> {
            let free = (0..records).filter(|place| !places.contains(place));
            free.map(|place| [places.clone(), vec![place]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn choose(count: u64, chosen: u64) -> f64 {
    (0..chosen).fold(1.0, |product, i| product * (count - i) as f64 / (i + 1) as f64)
}
