//! Tasks that differ, on the same records.

use dobrushin::account::{Options, Question, protection_by_record};
use dobrushin::numeric::theta::smallest_epsilon;
use dobrushin::run::{
    Batch, DomainFacts, LearningRate, Length, LossFacts, Noise, Order, Record, Release, Run, Task, Tasks,
    Training, Turn,
};
use dobrushin::{Delta, Epsilon, Fact, Neighbours, NonNegative, Positive};

fn positive(value: f64) -> Positive {
    Positive::new(value).unwrap()
}

/// One pass over sixteen records, convex and smooth: neighbours are half a noise deviation apart.
fn base() -> Training {
    Run::pnsgd(16)
        .release(Release::Last)
        .learning_rate(0.25)
        .lipschitz(1.0)
        .gradient_noise(4.0)
        .convex()
        .smoothness(4.0)
        .training()
        .expect("all is said")
}

fn forward(training: Training) -> Task {
    Task { training, turn: Turn::forward(), count: 1 }
}

fn backward(training: Training) -> Task {
    Task { turn: Turn::backward(training.records), ..forward(training) }
}

fn together(tasks: &[Task]) -> Run {
    Run::of_tasks(Tasks { tasks: tasks.to_vec(), record: Record::Worst }).unwrap()
}

fn question() -> Question {
    Question::EpsilonAt(Delta::new(1e-5).unwrap())
}

fn quick() -> Options {
    Options {
        only: vec!["composition", "shift", "ceiling", "contraction"],
        tolerance: 1e-3,
        ..Options::default()
    }
}

/// The analyses whose bounds on single passes compose in closed form.
fn closed() -> Options {
    Options { only: vec!["composition", "shift"], tolerance: 1e-3, ..Options::default() }
}

fn only(id: &'static str) -> Options {
    Options { only: vec![id], tolerance: 1e-3, ..Options::default() }
}

fn of_mu(mu: f64) -> f64 {
    smallest_epsilon(NonNegative::new(mu).unwrap(), Delta::new(1e-5).unwrap()).upper()
}

fn upper(run: &Run, options: &Options) -> f64 {
    run.account_by(question(), options).guarantee().unwrap().answer.value.upper()
}

#[test]
fn there_and_back_costs_the_worst_person_hardly_more_than_one_way() {
    let tasks = [forward(base()), backward(base())];
    // Record i is hidden by 16 − i steps on the way there, and by i − 1 on the way back: μ² = r²/(17 − i) + r²/i.
    let square = |record: u64| 0.25 * (1.0 / (17 - record) as f64 + 1.0 / record as f64);
    let run = together(&tasks);
    for record in 1..=16 {
        let found = upper(&run.of_record(record).unwrap(), &only("shift"));
        assert!((found / of_mu(square(record).sqrt()) - 1.0).abs() < 1e-9, "{record}: {found}");
    }
    let worst = upper(&run, &only("shift"));
    assert!((worst / of_mu((0.25_f64 * (1.0 + 1.0 / 16.0)).sqrt()) - 1.0).abs() < 1e-9, "{worst}");
    // The sum of the maxima is √2 times as far.
    let maxima = upper(&together(&[forward(base()), forward(base())]), &only("shift"));
    assert!((maxima / of_mu(0.5_f64.sqrt()) - 1.0).abs() < 1e-9 && worst < 0.72 * maxima);
}

/// Tasks that differ in everything: order, direction, place, noise, rate, passes, number.
fn various() -> Vec<Task> {
    let noisy = |sigma: f64| Training { noise: Noise::Gradient(positive(sigma)), ..base() };
    let domain = DomainFacts { diameter: Some(positive(1.5)), dimension: None };
    let sampled =
        Training { order: Order::Poisson, batch: Batch::Size(4), length: Length::Steps(5), ..noisy(3.0) };
    vec![
        forward(Training { domain, ..noisy(3.0) }),
        Task { count: 2, ..backward(noisy(6.0)) },
        Task {
            turn: Turn { first: 15, reversed: false },
            ..forward(Training { learning_rate: Some(LearningRate::Constant(positive(0.1))), ..noisy(5.0) })
        },
        Task {
            turn: Turn { first: 7, reversed: true },
            ..forward(Training { batch: Batch::Size(4), ..noisy(2.0) })
        },
        forward(Training { release: Release::RandomStop, ..noisy(4.0) }),
        backward(Training { order: Order::Cyclic, length: Length::Steps(36), ..noisy(20.0) }),
        Task { count: 3, ..forward(Training { domain: DomainFacts::default(), ..sampled }) },
    ]
}

#[test]
fn the_worst_record_is_the_worst_of_each_by_itself() {
    let all = various();
    let cases = [(&all[..2], quick()), (&all[1..4], closed()), (&all[3..], closed())];
    for (tasks, best) in cases {
        let run = together(tasks);
        for options in [only("shift"), only("composition"), best] {
            let each = |record| upper(&run.of_record(record).unwrap(), &options);
            let worst = (1..=16).map(each).fold(0.0, f64::max);
            let found = upper(&run, &options);
            // Composition counts the worst record of each task.
            let exactly = options.only != ["composition"];
            assert!(found >= worst * (1.0 - 1e-9), "{found} for {worst}");
            assert!(!exactly || found <= worst * 1.003, "{found} for {worst} of {options:?}");
        }
    }
}

#[test]
fn each_record_has_one_row_that_its_own_account_confirms() {
    for tasks in [&various()[..2], &various()[1..4]] {
        let run = together(tasks);
        let rows = protection_by_record(&run, question(), &Options::default()).unwrap();
        let mut next = 1;
        for row in rows {
            assert_eq!(row.from, next);
            next = row.to + 1;
            for record in [row.from, row.to] {
                let own = upper(&run.of_record(record).unwrap(), &closed());
                let said = row.answer.unwrap().value.upper();
                assert!(said >= own * 0.998 && said <= own * 1.004, "{record}: {said} for {own}");
            }
        }
        assert_eq!(next, 17);
    }
}

#[test]
fn tasks_of_which_nothing_differs_are_equal_tasks() {
    let equal = Run::training(Training { tasks: 3, ..base() }).unwrap();
    for id in ["composition", "composition-renyi", "shift", "shift-renyi"] {
        let found = [
            together(&[Task { count: 3, ..forward(base()) }]),
            together(&[forward(base()), Task { count: 2, ..forward(base()) }]),
        ];
        for found in found {
            let (found, known) = (upper(&found, &only(id)), upper(&equal, &only(id)));
            assert!((found / known - 1.0).abs() < 1e-9, "{id}: {found} for {known}");
        }
    }
    // One task is the run itself, with its own bounds.
    let one = Run::training(base()).unwrap();
    let alone = together(&[forward(base())]);
    for id in ["composition", "shift", "ceiling", "recursion"] {
        let answers = [&alone, &one].map(|run| run.account_by(question(), &only(id)).answer(id));
        assert_eq!(answers[0], answers[1], "{id}");
    }
}

#[test]
fn a_task_that_hides_nothing_counts_as_published() {
    let published = Training { release: Release::All, noise: Noise::Gradient(positive(10.0)), ..base() };
    let run = together(&[forward(base()), forward(published)]);
    let shift = upper(&run.of_record(1).unwrap(), &only("shift"));
    // r²/16 for the hidden one, and (2/10)² for the published one.
    assert!((shift / of_mu((0.25_f64 / 16.0 + 0.04).sqrt()) - 1.0).abs() < 1e-9, "{shift}");
    let hidden = run.account_by(question(), &Options::default());
    assert!(hidden.guarantee().is_ok());
    let nothing = together(&[forward(Training { release: Release::All, ..base() })]);
    assert!(nothing.account_by(question(), &only("shift")).guarantee().is_err());
}

#[test]
fn a_million_records_take_no_time() {
    let million = Training { records: 1_000_000, ..base() };
    let quarter = |first| Task { turn: Turn { first, reversed: false }, ..forward(million.clone()) };
    let tasks: Vec<Task> =
        (0..4).map(|k| quarter(1 + 250_000 * k)).chain([backward(million.clone())]).collect();
    let run = together(&tasks);
    let start = std::time::Instant::now();
    let account = run.account_by(question(), &closed());
    let best = account.guarantee().unwrap();
    // Record 1 is last on the way back, and hidden by at least a quarter of a million steps elsewhere.
    assert!(best.epsilon() < of_mu(0.5 * 1.0001_f64.sqrt()), "{best}");
    assert!(account.explanation.iter().any(|line| line.contains("worst record of each task")));
    let rows = protection_by_record(&run, question(), &only("shift")).unwrap();
    assert_eq!(rows.last().map(|row| row.to), Some(1_000_000));
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}

#[test]
fn steps_that_differ_are_looked_at_one_by_one_or_as_the_worst() {
    let falling = |records| Training {
        records,
        learning_rate: Some(LearningRate::InverseSqrt(positive(0.3))),
        noise: Noise::Iterate(positive(1.0)),
        ..base()
    };
    let tasks = [forward(falling(16)), backward(base())];
    let run = together(&tasks);
    let worst = (1..=16).map(|r| upper(&run.of_record(r).unwrap(), &only("shift"))).fold(0.0, f64::max);
    assert!((upper(&run, &only("shift")) / worst - 1.0).abs() < 1e-9);
    // Of many records each counts as the worst one of that task.
    let many = together(&[forward(falling(2000)), backward(Training { records: 2000, ..base() })]);
    let found = upper(&many, &only("shift"));
    for record in [1, 2, 40, 1000, 1999, 2000] {
        let own = upper(&many.of_record(record).unwrap(), &only("shift"));
        assert!(own <= found, "{record}: {own} > {found}");
    }
    let maxima = [forward(falling(2000)), backward(Training { records: 2000, ..base() })];
    let maxima = maxima.map(|task| upper(&together(&[task]), &only("shift")));
    assert!(found >= maxima[0].max(maxima[1]) && found <= maxima[0] + maxima[1], "{found}, {maxima:?}");
}

/// The exact law of the last of a few steps on [−1, 1] by quadrature: the mass at both ends, and at points between.
fn last_iterate(steps: &[f64], rate: f64, noise: f64) -> Vec<f64> {
    const POINTS: usize = 200;
    let upto = |z: f64| 0.5 * erfc(-z / std::f64::consts::SQRT_2);
    let spacing = 2.0 / POINTS as f64;
    let centre = |cell: usize| match cell {
        0 => -1.0,
        cell if cell == POINTS + 1 => 1.0,
        cell => -1.0 + spacing * (cell as f64 - 0.5),
    };
    let mut law: Vec<f64> = vec![0.0; POINTS + 2];
    law[POINTS / 2] = 1.0;
    for push in steps {
        let mut next = vec![0.0; POINTS + 2];
        for (cell, mass) in law.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let mean = centre(cell) + rate * push;
            let below = |x: f64| upto((x - mean) / noise);
            next[0] += mass * below(-1.0);
            next[POINTS + 1] += mass * (1.0 - below(1.0));
            for (into, value) in next.iter_mut().enumerate().skip(1).take(POINTS) {
                let left = -1.0 + spacing * (into as f64 - 1.0);
                *value += mass * (below(left + spacing) - below(left));
            }
        }
        law = next;
    }
    law
}

/// erfc to twelve digits, by its continued fraction or series.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.5 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    let mut fraction = 0.0;
    for n in (1..200).rev() {
        fraction = f64::from(n) / 2.0 / (x + fraction);
    }
    (-x * x).exp() / ((x + fraction) * std::f64::consts::PI.sqrt())
}

#[test]
fn two_models_together_never_tell_more_than_the_bound() {
    // Three records on [−1, 1], there and back with different noise. The others' losses are constant, the person pushes up
    // or down. What is known is a bounded domain, so that bounds are profiles and not Gaussian.
    let task = |noise: f64| Training {
        records: 3,
        learning_rate: Some(LearningRate::Constant(positive(0.3))),
        noise: Noise::Iterate(positive(noise)),
        domain: DomainFacts { diameter: Some(positive(2.0)), dimension: Some(1) },
        loss: LossFacts { smoothness: Some(positive(1.0)), ..base().loss },
        ..base()
    };
    let run = together(&[forward(task(0.7)), backward(task(0.5))]);
    let mut tightest = f64::INFINITY;
    for record in 1..=3_usize {
        let push = |place: usize, sign: f64| -> Vec<f64> {
            (1..=3).map(|step| if step == place { sign } else { 0.0 }).collect()
        };
        let laws = [1.0, -1.0].map(|sign| {
            [last_iterate(&push(record, sign), 0.3, 0.7), last_iterate(&push(4 - record, sign), 0.3, 0.5)]
        });
        for epsilon in [0.0, 0.5, 1.0, 2.0] {
            let gamma = f64::exp(epsilon);
            let [p, q] = &laws;
            let cells = |a: usize, b: usize| (p[0][a] * p[1][b] - gamma * q[0][a] * q[1][b]).max(0.0);
            let exact: f64 = (0..p[0].len()).map(|a| (0..p[1].len()).map(|b| cells(a, b)).sum::<f64>()).sum();
            let question = Question::DeltaAt(Epsilon::new(epsilon).unwrap());
            let account = run.of_record(record as u64).unwrap().account(question);
            for entry in account.entries.iter().filter(|entry| entry.rigorous) {
                let Ok(answer) = &entry.outcome else { continue };
                assert!(
                    answer.value.upper() >= exact * (1.0 - 1e-3),
                    "{}: {exact} > {}",
                    entry.id,
                    answer.value
                );
            }
            let best = account.guarantee().unwrap().answer.value.upper();
            if exact > 1e-4 {
                tightest = tightest.min(best / exact);
            }
        }
    }
    assert!(tightest < 1.6, "{tightest}");
}

#[test]
fn tasks_that_do_not_fit_together_are_refused() {
    let refused =
        |tasks: Vec<Task>| Run::of_tasks(Tasks { tasks, record: Record::Worst }).err().map(|e| e.fact);
    let zero_out = Training { neighbours: Neighbours::ZeroOut, ..base() };
    let sampled = Training { order: Order::Poisson, length: Length::Steps(5), ..base() };
    let turn = |first| Turn { first, reversed: false };
    for (tasks, fact) in [
        (vec![], Fact::TaskList),
        (vec![Task { count: 0, ..forward(base()) }], Fact::TaskCount),
        (vec![forward(base()), forward(Training { records: 17, ..base() })], Fact::Records),
        (vec![forward(base()), forward(zero_out)], Fact::Neighbours),
        (vec![forward(Training { tasks: 2, ..base() })], Fact::Tasks),
        (vec![forward(Training { record: Record::Index(2), ..base() })], Fact::Record),
        (vec![Task { turn: turn(0), ..forward(base()) }], Fact::TaskFirst),
        (vec![Task { turn: turn(17), ..forward(base()) }], Fact::TaskFirst),
        (vec![backward(sampled)], Fact::TaskFirst),
        (vec![forward(Training { records: 0, ..base() })], Fact::Records),
    ] {
        assert_eq!(refused(tasks), Some(fact));
    }
    let run = together(&[forward(base())]);
    assert!(run.of_record(0).is_err() && run.of_record(17).is_err() && run.of_record(16).is_ok());
    assert!(run.with(dobrushin::run::Parameter::Steps, 3.0).is_err());
}

#[test]
fn a_turn_places_every_record_once() {
    for records in [1, 2, 7] {
        for first in 1..=records {
            for reversed in [false, true] {
                let turn = Turn { first, reversed };
                let mut places: Vec<u64> = (1..=records).map(|record| turn.place(record, records)).collect();
                for (record, place) in (1..).zip(&places) {
                    assert_eq!(turn.record(*place, records), record, "{turn:?} of {records}");
                }
                places.sort_unstable();
                assert!(places.into_iter().eq(1..=records));
            }
        }
    }
}
