//! `dobrushin local privatize`: turns a column of answers into private reports.

use super::arguments::{AnswerWhich, PrivatizeArgs};
use crate::cli::Common;
use crate::file::Place;
use crate::ledger::{self, Charged, Exhausted};
use crate::local_data::{Asking, Rows, Writer};
use crate::output::Report;
use crate::problem::Problem;
use crate::stderr::say;
use crate::table_file::{BadRow, BadRows, Cells, Input, Pass};
use crate::watch::Watch;
use dobrushin::numeric::bits::RandomBits;
use dobrushin::numeric::decimal;
use dobrushin_document::local::{
    Answers, Batch, Mechanism, NUMBER, number, on_categories, on_numbers, on_vectors, refusal,
};
use dobrushin_document::report::{PrivatizedReport, PromiseReport};
use dobrushin_document::{json, text};
use dobrushin_ledger::Spend;
use dobrushin_local::Asked;
use dobrushin_local::mean::clip_to_ball;
use dobrushin_train::{Generators, Seed};
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

/// Writes the reports to `--output`, or to standard output, and says what was done.
pub fn run(arguments: &PrivatizeArgs, common: &Common) -> Result<ExitCode, Problem> {
    let to = common.destination();
    let report = privatize(arguments, to, !common.quiet)?;
    // The reports may have taken the place where the answer is printed.
    let rest = Common { output: None, ..common.clone() };
    if matches!(Place::of(to), Ok(Place::Standard)) {
        // Then the reports are the answer.
        if !common.quiet {
            say(&report.rendered(&rest));
        }
    } else {
        report.print(&rest)?;
    }
    Ok(report.exit_code())
}

fn privatize(arguments: &PrivatizeArgs, to: &Path, show_progress: bool) -> Result<Report, Problem> {
    let asking = asking(arguments)?;
    let mechanisms = asking.build()?;
    let promise = asking.promise(&mechanisms);
    if !promise.holds {
        let help = format!(
            "with delta = {} it is private at epsilon = {}; see dobrushin local verify",
            decimal::plain(arguments.mechanism.delta.get()),
            decimal::briefly(promise.exact_epsilon.0)
        );
        return Err(Problem::answer_is_no(text::promise_sentence(&promise)).help(help));
    }
    let mut charged = charge(arguments, &asking, &mechanisms, to, show_progress)?;
    let told = charged.as_ref().map(Charged::report);
    let done = carry_out(arguments, &asking, &mechanisms, promise, to, &mut charged, show_progress);
    let made = Charged::settle(charged, done)?;
    let report = PrivatizedReport { charged: told, ..made };
    Ok(Report::new(text::privatized(&report), json::of(&report)))
}

/// Reserves the reports in the ledger that the flags name, if they do.
fn charge(
    arguments: &PrivatizeArgs,
    asking: &Asking,
    mechanisms: &[Mechanism],
    to: &Path,
    show_progress: bool,
) -> Result<Option<Charged>, Problem> {
    let Some((place, person)) = arguments.charge.ledger.as_ref().zip(arguments.charge.person.as_deref())
    else {
        return Ok(None);
    };
    if arguments.seed.is_some() {
        return Err(Problem::new("--ledger counts what private reports tell, and --seed makes them public")
            .help("leave --seed out"));
    }
    if !matches!(Place::of(to), Ok(Place::Replaced(_))) {
        return Err(Problem::new(
            "with --ledger, reports go to a file, which is complete or not there at all",
        )
        .help("--output reports.csv"));
    }
    let mut ledger = ledger::open(place)?;
    ledger::refuse_secret_numbers(&ledger.terms()?)?;
    let source = arguments.cells.source(&arguments.data);
    let input = Input { source, no_header: arguments.no_header };
    let mut roll = ledger::roll(&mut ledger, &input, person)?;
    let _watch = Watch::new(show_progress, 0, "what it costs");
    let promise = asking.privacy(mechanisms);
    let description = json::of(&asking.promise(mechanisms));
    let what = format!("private answers in {}", to.display());
    let mut spend = |_| Ok(Spend::of_profile(&promise, "local", what.clone(), description.clone()));
    Charged::reserve(place, ledger, &mut roll, Exhausted::Refuse, &mut spend)
        .map(|(charged, _)| Some(charged))
}

/// Writes the reports.
fn carry_out(
    arguments: &PrivatizeArgs,
    asking: &Asking,
    mechanisms: &[Mechanism],
    promise: PromiseReport,
    to: &Path,
    charged: &mut Option<Charged>,
    show_progress: bool,
) -> Result<PrivatizedReport, Problem> {
    let description = asking.description(arguments.seed);
    let generators = Generators::new(arguments.seed.map_or(Seed::OperatingSystem, Seed::Known))?;
    let source = arguments.cells.source(&arguments.data);
    let input = Input { source, no_header: arguments.no_header };
    let mut columns = input.columns(&asking.columns())?;
    columns.becoming(mechanisms.iter().map(|mechanism| mechanism.report_columns().len() * WORD).sum());
    let mut writer = Writer::new(to, &description, mechanisms)?;
    let form = writer.form();
    let work = |number: u64, cells: &Cells| {
        let made = Made::of(cells, asking, mechanisms, &mut generators.stream(number));
        ((form.encode(made.reports), cells.len() as u64, made.clipped), made.bad)
    };
    let (mut reports, mut clipped) = (0, 0);
    let help = bad_rows(mechanisms);
    let pass = Pass { path: &arguments.data, skip_bad: arguments.skip_bad, help, show_progress };
    let skipped = pass.run(columns, work, |(batch, rows, outside)| {
        reports += rows;
        clipped += outside;
        writer.write(to, batch)
    })?;
    charged.as_mut().map_or(Ok(()), Charged::leaves)?;
    writer.finish(to)?;

    let (answer, questions) = asking.parts(mechanisms).unzip();
    Ok(PrivatizedReport {
        reports,
        skipped,
        instead: match mechanisms {
            [Mechanism::Frequency(..)] => "a category drawn at random",
            [Mechanism::Mean(_)] => "the middle of the bounds",
            [Mechanism::Vector(_)] => "the zero vector",
            _ => "a category drawn at random, the middle of the bounds or the zero vector",
        },
        clipped,
        promise,
        answer,
        questions,
        private: arguments.seed.is_none(),
        seed: arguments.seed,
        output: to.display().to_string(),
        charged: None,
    })
}

/// The questions that the flags, or the survey file, ask.
fn asking(arguments: &PrivatizeArgs) -> Result<Asking, Problem> {
    if let Some(path) = &arguments.survey {
        return Asking::from_file(path);
    }
    let columns: Vec<String> = arguments.column.iter().chain(&arguments.columns).cloned().collect();
    if let Some(twice) = columns.iter().enumerate().find(|(place, name)| columns[..*place].contains(name)) {
        return Err(Problem::new(format!("--columns names {:?} twice", twice.1)).help("name it once"));
    }
    let Some(epsilon) = arguments.epsilon else {
        return Err(Problem::new("--epsilon is missing").help("--epsilon 1 promises ε = 1 to everybody"));
    };
    let specification = arguments.mechanism.specification(epsilon, Some(columns.len()))?;
    let is_one = arguments.columns.is_empty() || matches!(specification.answers, Answers::Vector(_));
    match (is_one, arguments.answer) {
        (true, Some(_)) => Err(Problem::new("--answer is for several questions, and this is one")
            .help("leave it out; --columns with a mechanism that is not for vectors asks several")),
        (true, None) => Ok(Asking::one(specification, columns)),
        (false, None | Some(AnswerWhich::All)) => Asking::each(&specification, columns, Asked::All),
        (false, Some(AnswerWhich::One)) => Asking::each(&specification, columns, Asked::One),
    }
}

/// A word or a number of a report, with its digits, takes this many bytes.
const WORD: usize = 32;

/// What to do about bad rows.
fn bad_rows(mechanisms: &[Mechanism]) -> &'static str {
    match mechanisms.iter().any(|mechanism| matches!(mechanism, Mechanism::Vector(_))) {
        false => {
            "correct it; or --skip-bad makes such rows report a category drawn at random, or the middle of the \
             bounds, and says how many there were"
        }
        true => {
            "correct it; or --skip-bad makes such rows report the zero vector, a category drawn at random, or the \
             middle of the bounds, and says how many there were"
        }
    }
}

/// The reports of a batch, one for each row and question.
///
/// # Guarantee
/// Whatever a row holds, it has one report on each question, as `dobrushin_document::local` makes them. If only one
/// question is answered, which one is drawn independently of all rows, and the reports on the others are dropped.
struct Made {
    reports: Rows,
    clipped: u64,
    bad: BadRows,
}

impl Made {
    fn of(cells: &Cells, asking: &Asking, mechanisms: &[Mechanism], bits: &mut impl RandomBits) -> Self {
        let mut counts = Counts { bad: vec![false; cells.len()], first: None, clipped: 0 };
        let mut first = 0;
        let mut batches = Vec::with_capacity(mechanisms.len());
        for (question, mechanism) in asking.questions.iter().zip(mechanisms) {
            let places = first..first + mechanism.answer_columns();
            first = places.end;
            batches.push(reports(cells, places, &question.columns, mechanism, &mut counts, bits));
        }
        let shared = asking.survey.as_ref().filter(|shared| shared.asked == Asked::One);
        let answered = shared.map(|shared| (0..cells.len()).map(|_| shared.survey.draw(bits)).collect());
        let count = counts.bad.iter().filter(|bad| **bad).count() as u64;
        Self {
            reports: Rows { batches, answered },
            clipped: counts.clipped,
            bad: BadRows { count, first: counts.first },
        }
    }
}

/// What is counted while reports are made.
struct Counts {
    /// Whether each row has an answer that cannot be used.
    bad: Vec<bool>,
    /// The first of these rows in its file.
    first: Option<BadRow>,
    /// Numbers and vectors that were moved.
    clipped: u64,
}

impl Counts {
    fn refuse(&mut self, row: usize, place: u64, what: impl Display) {
        self.bad[row] = true;
        if self.first.as_ref().is_none_or(|first| place < first.place) {
            self.first = Some(BadRow { place, what: what.to_string() });
        }
    }
}

/// The reports on one question, whose answers are in some of the cells of each row.
fn reports(
    cells: &Cells,
    places: Range<usize>,
    columns: &[String],
    mechanism: &Mechanism,
    counts: &mut Counts,
    bits: &mut impl RandomBits,
) -> Batch {
    let rows = (0..cells.len()).map(|row| {
        let (place, found) = cells.get(row)?;
        Some((row, place, found.skip(places.start).take(places.len())))
    });
    let column = columns.first().map_or("", String::as_str);
    match mechanism {
        Mechanism::Frequency(oracle, categories) => {
            let mut category = |(row, place, mut cell): (usize, u64, _)| {
                let cell: &[u8] = Iterator::next(&mut cell).unwrap_or_default();
                let found = categories.find(cell);
                if found.is_none() {
                    counts.refuse(row, place, refusal(column, cell, || categories.accepted()));
                }
                counts.clipped += u64::from(found?.clipped);
                Some(found?.category)
            };
            on_categories(oracle.as_ref(), rows.map(|row| row.and_then(&mut category)), bits)
        }
        Mechanism::Mean(mechanism) => {
            let mut value = |(row, place, mut cell): (usize, u64, _)| {
                let cell: &[u8] = Iterator::next(&mut cell).unwrap_or_default();
                let found = number(cell).and_then(|number| mechanism.bounds().clip(number).ok());
                if found.is_none() {
                    counts.refuse(row, place, refusal(column, cell, || NUMBER.to_owned()));
                }
                counts.clipped += u64::from(found?.clipped);
                Some(found?.value)
            };
            on_numbers(mechanism.as_ref(), rows.map(|row| row.and_then(&mut value)), bits)
        }
        Mechanism::Vector(mechanism) => {
            let mut vector = |(row, place, found): (usize, u64, _)| {
                let mut vector = Vec::with_capacity(places.len());
                for (cell, column) in Iterator::zip(found, columns) {
                    let coordinate = number(cell);
                    if coordinate.is_none() {
                        counts.refuse(row, place, refusal(column, cell, || NUMBER.to_owned()));
                    }
                    vector.push(coordinate?);
                }
                let found = clip_to_ball(vector, mechanism.radius()).ok()?;
                counts.clipped += u64::from(found.clipped);
                Some(found.value)
            };
            on_vectors(mechanism.as_ref(), rows.map(|row| row.and_then(&mut vector)), bits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table_file::{Source, other_lines};
    use dobrushin::{Delta, Epsilon};
    use dobrushin_document::local::{Categories, Id, Specification};
    use dobrushin_local::mean::Bounds;

    fn asking(id: Id, answers: Answers) -> Asking {
        let (epsilon, delta) = (Epsilon::new(2.0).expect("above 0"), Delta::new(0.0).expect("a probability"));
        let specification = Specification { id, epsilon, delta, answers, truth: None, channel: None };
        Asking::one(specification, vec!["answer".to_owned()])
    }

    /// Reports on cells, the first of which is torn.
    fn made(rows: &[&[u8]], asking: &Asking, stream: u64) -> (Batch, u64) {
        let mut cells = Cells::new(1);
        cells.refuse(2, "torn");
        for (place, cell) in (3..).zip(rows) {
            cells.push(cell);
            cells.end_row(place);
        }
        let generators = Generators::new(Seed::Known(9)).expect("a known seed");
        let mechanisms = asking.build().expect("a mechanism");
        let mut made = Made::of(&cells, asking, &mechanisms, &mut generators.stream(stream));
        (made.reports.batches.remove(0), made.bad.count)
    }

    #[test]
    fn a_bad_row_reports_every_category_alike_and_the_middle_of_the_bounds() {
        let rows = vec![&b"bad"[..]; 40_000];
        let categories = Categories::numbered(4).expect("four");
        let (reports, bad) = made(&rows, &asking(Id::KRr, Answers::Category(categories)), 0);
        assert_eq!(bad, 40_000);
        let Batch::Words(words, 1) = reports else { panic!("one word each") };
        assert_eq!(words.len(), 40_001);
        let counts = [0, 1, 2, 3].map(|category| words.iter().filter(|&&word| word == category).count());
        // A category drawn uniformly is reported uniformly. χ² with 3 degrees of freedom exceeds 21 once in 10 000
        // times.
        let surplus: f64 = counts.iter().map(|&count| (count as f64 - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(surplus < 21.0, "{counts:?}");
        let bounds = Bounds::new(0.0, 10.0).expect("bounds");
        let (reports, _) = made(&rows, &asking(Id::OneBit, Answers::Number(bounds)), 1);
        let Batch::Numbers(numbers) = reports else { panic!("a number each") };
        assert_eq!(numbers.len(), 40_001);
        let above = numbers.iter().filter(|&&number| number > 5.0).count();
        // The middle is reported as either number with probability 1/2. The standard deviation is 100, and four are
        // allowed.
        assert!(above.abs_diff(20_000) < 400, "{above}");
    }

    #[test]
    fn a_line_changes_neither_the_number_of_reports_nor_what_others_answer() {
        let folder = std::env::temp_dir().join(format!("dobrushin-answers-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
        let path = folder.join("answers.csv");
        let lines = ["1", "2", "\"3\"", "4"];
        let categories = Categories::numbered(4).expect("four");
        let asking = asking(Id::KRr, Answers::Category(categories.clone()));
        let mechanisms = asking.build().expect("a mechanism");
        let generators = Generators::new(Seed::Known(9)).expect("a known seed");
        for (seed, no_header) in [(3, false), (4, true)] {
            // Without a header, the first line is a row, which is never replaced here.
            let header = if no_header { "1" } else { "answer" };
            other_lines(seed, 1000, header, &lines, |place, content| {
                std::fs::write(&path, content).expect("the folder is ours");
                let input = Input { source: Source::of(&path), no_header };
                let mut columns = input.columns(&["1".to_owned()]).expect("a column");
                let (cells, _) = columns.next().expect("rows");
                let first = usize::from(no_header);
                let made = Made::of(&cells, &asking, &mechanisms, &mut generators.stream(0));
                let [Batch::Words(reports, 1)] = &made.reports.batches[..] else { panic!("one word each") };
                assert_eq!(reports.len(), lines.len() + first, "{content:?}");
                for other in (0..lines.len()).filter(|other| *other != place) {
                    let answer =
                        cells.get(first + other).and_then(|(_, mut row)| categories.find(row.next()?));
                    assert_eq!(answer.map(|found| found.category), Some(other as u32), "{content:?}");
                }
            });
        }
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }
}
