//! Run files on the disk, with the files that they name.

use crate::guard::Guard;
use crate::input;
use crate::probabilities;
use crate::problem::Problem;
use dobrushin::run::Run;
use dobrushin_document::{Files, RunFile, SelfContained, Setting, schema, text_of};
use dobrushin_train::schema::Schema;
use std::path::{Path, PathBuf};

/// A run file that was opened, with settings applied.
#[derive(Clone)]
pub struct Opened {
    /// What the file says.
    pub file: RunFile,
    /// The folder that paths in the file are relative to; the current one, if the file comes from standard input.
    folder: Folder,
}

#[derive(Clone)]
struct Folder(PathBuf);

impl Opened {
    /// Reads a file ("-" is standard input), or the built-in example if there is none, and applies every `key=value`. An output that would
    /// replace a file that it names is refused.
    pub fn new(path: Option<&Path>, assignments: &[String], guard: &Guard) -> Result<Self, Problem> {
        let (mut file, folder) = match path {
            Some(path) => (read(path)?, path.parent().map(Path::to_path_buf).unwrap_or_default()),
            None => (RunFile::built_in()?, PathBuf::new()),
        };
        for assignment in assignments {
            file.set(&Setting::parse("--set", assignment)?)?;
        }
        let opened = Self { file, folder: Folder(folder) };
        opened.spared_by(guard)?;
        Ok(opened)
    }

    /// What a program says instead of a file. Files that it names are looked for in the current folder.
    pub fn here(file: RunFile) -> Self {
        Self { file, folder: Folder(PathBuf::new()) }
    }

    /// The same file with other values.
    pub fn with(&self, settings: impl IntoIterator<Item = Setting>) -> Result<Self, Problem> {
        let mut changed = self.clone();
        settings.into_iter().try_for_each(|setting| changed.file.set(&setting))?;
        Ok(changed)
    }

    /// Refuses to go on if an output would replace a file that this one names.
    pub fn spared_by(&self, guard: &Guard) -> Result<(), Problem> {
        self.file.names().try_for_each(|(what, name)| guard.spares(what, &self.folder.path(name)))
    }

    /// The run, with the content of every file that it names.
    pub fn self_contained(&self) -> Result<SelfContained, Problem> {
        self.file.self_contained(&self.folder)
    }

    /// The run.
    pub fn run(&self) -> Result<Run, Problem> {
        Ok(self.self_contained()?.run()?)
    }
}

impl Folder {
    /// The path of a file that the run file names. Such a file is never standard input, even if its name is "-".
    fn path(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        if input::is_standard(&path) { Path::new(".").join(path) } else { path }
    }
}

impl Files for Folder {
    type Error = Problem;

    fn schema(&self, _: &str, name: &str) -> Result<Schema, Problem> {
        read_schema(&self.path(name))
    }

    fn channel(&self, key: &str, name: &str) -> Result<Vec<Vec<f64>>, Problem> {
        probabilities::read(&self.path(name))
            .map_err(|problem| problem.help(format!("{key} is relative to the folder of the run file")))
    }
}

fn read(path: &Path) -> Result<RunFile, Problem> {
    let bytes = bytes_of(path, "examples/dp-sgd.toml is a complete run file")?;
    Ok(RunFile::read(&bytes, &input::shown(path))?)
}

/// Reads a schema.
pub fn read_schema(path: &Path) -> Result<Schema, Problem> {
    let name = input::shown(path);
    let bytes = bytes_of(path, "dobrushin schema init DATA.csv --label COLUMN drafts a schema")?;
    let schema = schema::parse(text_of(&bytes, &name)?);
    Ok(schema.map_err(|mut error| {
        error.message = format!("{name}: {error}");
        error
    })?)
}

/// The bytes of a file, or of standard input; `help` says where such files come from.
pub fn bytes_of(path: &Path, help: &str) -> Result<Vec<u8>, Problem> {
    input::bytes(path).map_err(|problem| problem.help(help))
}
