//! `dobrushin local privatize`: turns a column of answers into private reports.

use super::arguments::PrivatizeArgs;
use crate::cli::Common;
use crate::file::Place;
use crate::local_data::{Batch, Description, Mechanism, NUMBER, Writer, number, refusal};
use crate::output::Report;
use crate::problem::Problem;
use crate::stderr::say;
use crate::table_file::{BadRows, Cells, Input, Pass};
use dobrushin::numeric::bits::{RandomBits, below};
use dobrushin::numeric::decimal;
use dobrushin_document::report::PrivatizedReport;
use dobrushin_document::{json, text};
use dobrushin_train::{Generators, Seed};
use std::path::Path;
use std::process::ExitCode;

/// Writes the reports to `--output`, or to standard output, and says what was done.
pub fn run(arguments: &PrivatizeArgs, common: &Common) -> Result<ExitCode, Problem> {
    let to = common.destination();
    let report = privatize(arguments, to, !common.quiet)?;
    // The reports may have taken the place where the answer is printed.
    let rest = Common { output: None, ..common.clone() };
    if matches!(Place::of(to), Ok(Place::Standard)) {
        say(&report.rendered(&rest));
    } else {
        report.print(&rest)?;
    }
    Ok(report.exit_code())
}

fn privatize(arguments: &PrivatizeArgs, to: &Path, show_progress: bool) -> Result<Report, Problem> {
    let specification = arguments.mechanism.specification(arguments.epsilon)?;
    let mechanism = specification.build()?;
    let promise = specification.promise(&mechanism);
    if !promise.holds {
        let help = format!(
            "with delta = {} it is private at epsilon = {}; see dobrushin local verify",
            decimal::plain(specification.delta.get()),
            decimal::briefly(promise.exact_epsilon.0)
        );
        return Err(Problem::answer_is_no(text::promise_sentence(&promise)).help(help));
    }
    let description = Description {
        mechanism: specification.clone(),
        column: arguments.column.clone(),
        seed: arguments.seed,
    };
    let generators = Generators::new(arguments.seed.map_or(Seed::OperatingSystem, Seed::Known))?;
    let input = Input { path: &arguments.data, no_header: arguments.no_header };
    let mut columns = input.column(&arguments.column)?;
    columns.becoming(mechanism.report_columns().len() * WORD);
    let mut writer = Writer::new(to, &description, &mechanism)?;
    let form = writer.form();
    let work = |number: u64, cells: &Cells| {
        let made = Made::of(cells, &mechanism, &arguments.column, &mut generators.stream(number));
        ((form.encode(made.reports), cells.len() as u64, made.clipped), made.bad)
    };
    let (mut reports, mut clipped) = (0, 0);
    let pass = Pass { path: &arguments.data, skip_bad: arguments.skip_bad, help: BAD_ROWS, show_progress };
    let skipped = pass.run(columns, work, |(batch, rows, outside)| {
        reports += rows;
        clipped += outside;
        writer.write(to, batch)
    })?;
    writer.finish(to)?;

    let report = PrivatizedReport {
        reports,
        skipped,
        instead: match mechanism {
            Mechanism::Frequency(..) => "a category drawn at random",
            Mechanism::Mean(_) => "the middle of the bounds",
        },
        clipped,
        promise,
        private: arguments.seed.is_none(),
        seed: arguments.seed,
        output: to.display().to_string(),
    };
    Ok(Report::new(text::privatized(&report), json::of(&report)))
}

/// A word or a number of a report, with its digits, takes this many bytes.
const WORD: usize = 32;

/// What to do about bad rows.
const BAD_ROWS: &str = "correct it; or --skip-bad makes such rows report a category drawn at random, or the middle of \
                        the bounds, and says how many there were";

/// The reports of a batch, one for each row.
///
/// # Guarantee
/// Whatever a row holds, it has one report, whose law is that of a report on some answer, or a mixture of such laws: a
/// row that cannot be used reports a category drawn uniformly, or the middle of the bounds, by the same mechanism. E_γ
/// is jointly convex, so the laws of the reports on any two rows, good or bad, have an E_γ of at most the mechanism's
/// δ. A missing report would tell with certainty that its row was bad.
struct Made {
    reports: Batch,
    clipped: u64,
    bad: BadRows,
}

impl Made {
    fn of(cells: &Cells, mechanism: &Mechanism, column: &str, bits: &mut impl RandomBits) -> Self {
        let (mut bad, mut clipped) = (BadRows::default(), 0);
        let rows = (0..cells.len()).map(|row| {
            let (place, mut row) = cells.get(row)?;
            Some((place, row.next().unwrap_or_default()))
        });
        let reports = match mechanism {
            Mechanism::Frequency(oracle, categories) => {
                let mut category = |row: Option<(u64, &[u8])>| {
                    let (place, cell) = row?;
                    let found = categories.find(cell);
                    if found.is_none() {
                        bad.add(place, refusal(column, cell, || categories.accepted()));
                    }
                    clipped += u64::from(found?.clipped);
                    Some(found?.category)
                };
                let drawn = |bits: &mut _| below(u64::from(categories.count()), bits) as u32;
                let categories: Vec<u32> =
                    rows.map(|row| category(row).unwrap_or_else(|| drawn(bits))).collect();
                let mut reports = Vec::new();
                oracle.privatise_all(&categories, bits, &mut reports);
                Batch::Words(reports, oracle.report_words())
            }
            Mechanism::Mean(mechanism) => {
                let bounds = mechanism.bounds();
                let middle = bounds.lower() / 2.0 + bounds.upper() / 2.0;
                let mut value = |row: Option<(u64, &[u8])>| {
                    let (place, cell) = row?;
                    let found = number(cell).and_then(|number| bounds.clip(number).ok());
                    if found.is_none() {
                        bad.add(place, refusal(column, cell, || NUMBER.to_owned()));
                    }
                    clipped += u64::from(found?.clipped);
                    Some(found?.value)
                };
                let reports = rows.map(|row| mechanism.privatise(value(row).unwrap_or(middle), bits));
                Batch::Numbers(reports.collect())
            }
        };
        Self { reports, clipped, bad }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_data::{Answers, Categories, Id, Specification};
    use crate::table_file::other_lines;
    use dobrushin::{Delta, Epsilon};
    use dobrushin_local::mean::Bounds;

    fn mechanism(id: Id, answers: Answers) -> Mechanism {
        let (epsilon, delta) = (Epsilon::new(2.0).expect("above 0"), Delta::new(0.0).expect("a probability"));
        let specification = Specification { id, epsilon, delta, answers, truth: None, channel: None };
        specification.build().expect("a mechanism")
    }

    /// Reports on cells, the first of which is torn.
    fn made(rows: &[&[u8]], mechanism: &Mechanism, stream: u64) -> Made {
        let mut cells = Cells::new(1);
        cells.refuse(2, "torn");
        for (place, cell) in (3..).zip(rows) {
            cells.push(cell);
            cells.end_row(place);
        }
        let generators = Generators::new(Seed::Known(9)).expect("a known seed");
        Made::of(&cells, mechanism, "answer", &mut generators.stream(stream))
    }

    #[test]
    fn a_bad_row_reports_every_category_alike_and_the_middle_of_the_bounds() {
        let rows = vec![&b"bad"[..]; 40_000];
        let categories = Categories::numbered(4).expect("four");
        let Made { reports, bad, .. } = made(&rows, &mechanism(Id::KRr, Answers::Category(categories)), 0);
        assert_eq!(bad.count, 40_000);
        let Batch::Words(words, 1) = reports else { panic!("one word each") };
        assert_eq!(words.len(), 40_001);
        let counts = [0, 1, 2, 3].map(|category| words.iter().filter(|&&word| word == category).count());
        // A category drawn uniformly is reported uniformly. χ² with 3 degrees of freedom exceeds 21 once in 10 000
        // times.
        let surplus: f64 = counts.iter().map(|&count| (count as f64 - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(surplus < 21.0, "{counts:?}");
        let bounds = Bounds::new(0.0, 10.0).expect("bounds");
        let Made { reports, .. } = made(&rows, &mechanism(Id::OneBit, Answers::Number(bounds)), 1);
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
        let mechanism = mechanism(Id::KRr, Answers::Category(categories.clone()));
        let generators = Generators::new(Seed::Known(9)).expect("a known seed");
        for (seed, no_header) in [(3, false), (4, true)] {
            // Without a header, the first line is a row, which is never replaced here.
            let header = if no_header { "1" } else { "answer" };
            other_lines(seed, 1000, header, &lines, |place, content| {
                std::fs::write(&path, content).expect("the folder is ours");
                let input = Input { path: &path, no_header };
                let mut columns = input.column("1").expect("a column");
                let (cells, _) = columns.next().expect("rows");
                let first = usize::from(no_header);
                let Batch::Words(reports, 1) =
                    Made::of(&cells, &mechanism, "1", &mut generators.stream(0)).reports
                else {
                    panic!("one word each")
                };
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
