//! Which files each command reads and writes, according to its arguments.

use super::certificate::CertificateCommand;
use super::divergence::PairArgs;
use super::ledger::LedgerCommand;
use super::local::{LocalCommand, OwnProblem};
use super::schema::SchemaCommand;
use super::{Cli, Command, figures, man};
use crate::cli::LevelArgs;
use crate::file::STANDARD_OUTPUT;
use crate::guard::Touched;
use crate::model_folder::written;
use crate::plot::Format;
use crate::problem::Problem;
use crate::sheet_file;
use dobrushin_ledger::Place;
use std::path::{Path, PathBuf};

/// The files of a command line. Files that a run file names are not among them, because only reading it shows those.
pub fn of(cli: &Cli) -> Result<Touched, Problem> {
    let mut files = Files::default();
    files.answer(cli);
    match &cli.command {
        None
        | Some(Command::Explain(_) | Command::Prescribe(_) | Command::Completions(_) | Command::Page(_)) => {}
        Some(Command::Init(arguments)) => {
            files.read("the parameters", &arguments.params);
            files.read("the data", &arguments.data);
            let named = |path: PathBuf| (path.display().to_string(), path);
            files.0.outputs.extend(arguments.also_written(&cli.common).into_iter().map(named));
        }
        Some(Command::Account(arguments)) => {
            files.read("the run", &arguments.run);
            files.write("--certificate", &arguments.certificate);
            files.report(&arguments.report)?;
            files.draw("--plot", &arguments.plot)?;
            files.write("--per-record-csv", &arguments.per_record_csv);
            files.draw("--per-record-plot", &arguments.per_record_plot)?;
            files.draw("--observers-plot", &arguments.observers_plot)?;
        }
        Some(Command::Calibrate(arguments)) => files.read("the run", [&arguments.run]),
        Some(Command::Curve(arguments)) => {
            files.read("the run", [&arguments.run]);
            files.draw("--plot", &arguments.plot)?;
        }
        Some(Command::Verify(arguments)) => files.read("the certificate", [&arguments.certificate]),
        Some(Command::Audit(arguments)) => {
            files.read("the run", arguments.run());
            files.read("the scores", arguments.scores.iter().flatten());
            files.read("the data", arguments.program.data.iter().chain(&arguments.trained.train));
            files.read("the neighbouring data", &arguments.program.neighbour);
            files.read("the public records", &arguments.trained.public);
            files.write("--state", &arguments.state);
            files.draw("--plot", &arguments.plot)?;
        }
        Some(Command::Divergence(arguments)) => match &arguments.pair {
            PairArgs::Gaussian { at, .. } | PairArgs::Laplace { at, .. } => files.levels(at)?,
            PairArgs::Discrete { file, at, .. } => {
                files.read("the two laws", [file]);
                files.levels(at)?;
            }
        },
        Some(Command::Kernel(arguments)) => {
            for (what, path) in arguments.inputs() {
                files.read(what, [path]);
            }
            files.draw("--plot", arguments.plot())?;
        }
        Some(Command::Local(arguments)) => files.local(&arguments.command)?,
        Some(Command::Schema(arguments)) => match &arguments.command {
            SchemaCommand::Init(arguments) => files.read("the data", [&arguments.data]),
            SchemaCommand::Check(arguments) => {
                files.read("the schema", [&arguments.schema]);
                files.read("the data", &arguments.data);
            }
        },
        Some(Command::Plan(arguments)) => {
            files.read("the schema", &arguments.schema);
            files.write("--write", &arguments.write);
        }
        Some(Command::Train(arguments)) => {
            files.read("the data", [&arguments.data]);
            files.read("the run", &arguments.run);
            files.read("the schema", &arguments.schema);
            files.read("the test records", &arguments.test);
            files.read("the public records", &arguments.public);
            files.report(&arguments.report)?;
            files.keep("--keep-state", &arguments.keep_state)?;
            files.charge(arguments.charge.ledger.as_ref());
            files.fill(&arguments.out, written(&arguments.out))?;
        }
        Some(Command::Forget(arguments)) => {
            files.read("the data", [&arguments.data]);
            files.read("the rows to delete", &arguments.remove);
            files.read("the test records", &arguments.test);
            files.keep("--state", [&arguments.state])?;
            files.report(&arguments.report)?;
            arguments.out.iter().try_for_each(|out| files.fill(out, written(out)))?;
        }
        Some(Command::Ledger(arguments)) => files.ledger(&arguments.command)?,
        Some(Command::Predict(arguments)) => {
            files.read("the model", [&arguments.model]);
            files.read("the data", [&arguments.data]);
        }
        Some(Command::Certificate(arguments)) => match &arguments.command {
            CertificateCommand::Show { certificate, report } => {
                files.read("the certificate", [certificate]);
                files.report(report)?;
            }
            CertificateCommand::Add(arguments) => files.read("the certificate", &arguments.certificates),
            CertificateCommand::Verify(arguments) => {
                files.read("the certificate", [&arguments.certificate]);
                files.read("the model", &arguments.model);
            }
        },
        Some(Command::Man(arguments)) => {
            arguments.out.iter().try_for_each(|folder| files.fill(folder, man::written(arguments)))?;
        }
        Some(Command::Figures(arguments)) => files.fill(&arguments.out, figures::written(arguments))?,
    }
    Ok(files.0)
}

#[derive(Default)]
struct Files(Touched);

impl Files {
    fn read<'a>(&mut self, what: &'static str, paths: impl IntoIterator<Item = &'a PathBuf>) {
        self.0.inputs.extend(paths.into_iter().map(|path| (what, path.clone())));
    }

    fn write<'a>(&mut self, flag: &str, path: impl IntoIterator<Item = &'a PathBuf>) {
        let named = |path: &PathBuf| (format!("{flag} {}", path.display()), path.clone());
        self.0.outputs.extend(path.into_iter().map(named));
    }

    /// Like `write`, for a picture, whose name gives its format.
    fn draw(&mut self, flag: &str, path: &Option<PathBuf>) -> Result<(), Problem> {
        path.iter().try_for_each(|path| Format::of(path).map(drop))?;
        self.write(flag, path);
        Ok(())
    }

    /// Like `write`, for a report, whose name gives its format.
    fn report(&mut self, path: &Option<PathBuf>) -> Result<(), Problem> {
        path.iter().try_for_each(|path| sheet_file::Format::of(path).map(drop))?;
        self.write("--report", path);
        Ok(())
    }

    /// Like `write`, for a secret.
    fn keep<'a>(
        &mut self,
        flag: &str,
        path: impl IntoIterator<Item = &'a PathBuf> + Copy,
    ) -> Result<(), Problem> {
        if path.into_iter().any(|path| path == Path::new(STANDARD_OUTPUT)) {
            return Err(Problem::new(format!("{flag} - would be standard output, but a state is secret"))
                .help("give a file; ./- is one of that name"));
        }
        self.write(flag, path);
        Ok(())
    }

    /// The file that the answer is printed to, and that of its table.
    fn answer(&mut self, cli: &Cli) {
        match &cli.common.output {
            Some(path) => self.write("--output", [path]),
            None if cli.csv().is_some_and(|csv| csv.replaces_the_answer(&cli.common)) => {}
            None => self.0.outputs.push(("the answer".to_owned(), PathBuf::from(STANDARD_OUTPUT))),
        }
        self.write("--csv", cli.csv().and_then(|csv| csv.csv.as_ref()));
    }

    /// Several files in a folder.
    fn fill(&mut self, folder: &Path, paths: Vec<PathBuf>) -> Result<(), Problem> {
        if folder == Path::new(STANDARD_OUTPUT) {
            return Err(Problem::new("--out - would be standard output, but several files are written")
                .help("give a folder; ./- is one of that name"));
        }
        let named = |path: PathBuf| (format!("{} of --out", path.display()), path);
        self.0.outputs.extend(paths.into_iter().map(named));
        Ok(())
    }

    /// The file of a ledger, in which something is changed; databases are not files.
    fn charge(&mut self, ledger: Option<&Place>) {
        if let Some(Place::File(path)) = ledger {
            self.write("the ledger", [path]);
        }
    }

    fn ledger(&mut self, command: &LedgerCommand) -> Result<(), Problem> {
        let place = match command {
            LedgerCommand::Init(arguments) => &arguments.place,
            LedgerCommand::Budget(arguments) => {
                self.read("the people", &arguments.people);
                &arguments.place
            }
            LedgerCommand::Reserve(arguments) => {
                self.read("the people", [&arguments.people]);
                self.read("the run", &arguments.run);
                self.read("the certificate", &arguments.certificate);
                self.write("--leave-out", &arguments.leave_out);
                &arguments.place
            }
            LedgerCommand::Commit(arguments) => &arguments.place,
            LedgerCommand::Abort(arguments) => &arguments.place,
            LedgerCommand::Note(arguments) => &arguments.place,
            LedgerCommand::Show(arguments) => {
                self.draw("--plot", &arguments.plot)?;
                &arguments.place
            }
            LedgerCommand::Check(arguments) => &arguments.place,
        };
        self.charge(Some(&place.ledger));
        Ok(())
    }

    fn levels(&mut self, at: &LevelArgs) -> Result<(), Problem> {
        self.draw("--plot", &at.plot)
    }

    fn local(&mut self, command: &LocalCommand) -> Result<(), Problem> {
        let (mechanism, answers) = match command {
            LocalCommand::Profile(arguments) => {
                self.draw("--plot", &arguments.plot)?;
                (Some(&arguments.mechanism), None)
            }
            LocalCommand::Verify(arguments) => (Some(&arguments.mechanism), None),
            LocalCommand::Privatize(arguments) => {
                self.read("the answers", [&arguments.data]);
                self.read("the survey", &arguments.survey);
                self.charge(arguments.charge.ledger.as_ref());
                (Some(&arguments.mechanism), None)
            }
            LocalCommand::Estimate(arguments) => {
                self.read("the reports", &arguments.reports);
                self.draw("--plot", &arguments.plot)?;
                (None, None)
            }
            LocalCommand::Plan(arguments) => (None, Some(&arguments.answers)),
            LocalCommand::Bounds(arguments) => {
                let files = arguments.problem.iter().flat_map(OwnProblem::files);
                files.for_each(|(what, path)| self.read(what, [path]));
                (None, None)
            }
        };
        self.read("the channel", mechanism.and_then(|mechanism| mechanism.channel.as_ref()));
        let answers = answers.or(mechanism.map(|mechanism| &mechanism.answers));
        self.read("the categories", answers.and_then(|answers| answers.categories_file.as_ref()));
        Ok(())
    }
}
