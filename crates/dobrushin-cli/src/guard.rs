//! No output takes the place of an input, or of another output.

use crate::file::{Place, STANDARD_OUTPUT, folder_of};
use crate::input::is_standard;
use crate::problem::Problem;
use same_file::Handle;
use std::fs;
use std::path::{Path, PathBuf};

/// What a command is asked to read and to write, by the names of its arguments.
#[derive(Default)]
pub struct Touched {
    /// What each input is, as in "the file with the data", and where it is.
    pub inputs: Vec<(&'static str, PathBuf)>,
    /// What messages call each output, and where it is.
    pub outputs: Vec<(String, PathBuf)>,
}

/// The outputs of a command, none of which is one of its inputs.
pub struct Guard {
    outputs: Vec<Output>,
}

struct Output {
    name: String,
    is_standard: bool,
    file: Option<Identity>,
}

impl Guard {
    /// For something that writes nothing.
    pub fn of_nothing() -> Self {
        Self { outputs: Vec::new() }
    }

    /// Refuses outputs that are inputs, or each other. It writes nothing, and reads only names.
    pub fn new(touched: &Touched) -> Result<Self, Problem> {
        let mut outputs: Vec<Output> = Vec::new();
        for (name, path) in &touched.outputs {
            let output = Output::new(name, path)?;
            if let Some(other) = outputs.iter().find(|other| other.is(&output)) {
                return Err(other.clash(&output));
            }
            outputs.push(output);
        }
        let mut standard = touched.inputs.iter().filter(|(_, path)| is_standard(path));
        if let (Some((one, _)), Some((two, _))) = (standard.next(), standard.next()) {
            return Err(Problem::new(format!("{one} and {two} cannot both come from standard input"))
                .help("give a file for one of them"));
        }
        // Even if the answer goes to a file, standard output must not be an input: sooner or later something is
        // appended to it.
        if !outputs.iter().any(|output| output.is_standard) {
            outputs.push(Output::new("standard output", Path::new(STANDARD_OUTPUT))?);
        }
        let guard = Self { outputs };
        touched.inputs.iter().try_for_each(|(what, path)| guard.spares(what, path))?;
        Ok(guard)
    }

    /// Refuses to go on if an output is this input, for example one that a file names.
    pub fn spares(&self, what: &str, input: &Path) -> Result<(), Problem> {
        let Some(input) = Identity::of_input(input) else {
            return Ok(());
        };
        match self.outputs.iter().find(|output| output.file.as_ref().is_some_and(|file| file.is(&input))) {
            None => Ok(()),
            Some(output) => Err(Problem::new(format!("{} is the file with {what}", output.name))
                .help("give another name: an input is never replaced. Nothing was written")),
        }
    }
}

impl Output {
    fn new(name: &str, path: &Path) -> Result<Self, Problem> {
        let place = Place::of(path).map_err(|error| Problem::cannot_write(path, error))?;
        let file = match &place {
            Place::Standard => Identity::of_stream(Handle::stdout()),
            Place::Special(path) | Place::Replaced(path) => Identity::of(path),
        };
        Ok(Self { name: name.to_owned(), is_standard: place == Place::Standard, file })
    }

    fn is(&self, other: &Self) -> bool {
        let both = self.file.as_ref().zip(other.file.as_ref());
        (self.is_standard && other.is_standard) || both.is_some_and(|(one, other)| one.is(other))
    }

    fn clash(&self, other: &Self) -> Problem {
        let [one, two] = [&self.name, &other.name];
        match self.is_standard && other.is_standard {
            true => Problem::new(format!("{one} and {two} cannot both go to standard output"))
                .help("give a file for one of them; --output FILE puts the answer there"),
            false => Problem::new(format!("{one} and {two} are the same file"))
                .help("give two names. Nothing was written"),
        }
    }
}

/// What identifies a regular file, or one that does not exist yet. Devices and pipes lose nothing by being written to.
struct Identity {
    /// The path without links, if it is known.
    path: Option<PathBuf>,
    /// The file itself, which may have several paths.
    file: Option<Handle>,
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(found) if !found.is_file() => None,
            found => {
                let file = found.ok().and_then(|_| Handle::from_path(path).ok());
                Some(Self { path: Some(resolved(path)), file })
            }
        }
    }

    fn of_input(path: &Path) -> Option<Self> {
        if is_standard(path) { Self::of_stream(Handle::stdin()) } else { Self::of(path) }
    }

    fn of_stream(stream: std::io::Result<Handle>) -> Option<Self> {
        let handle = stream.ok()?;
        let is_file = handle.as_file().metadata().is_ok_and(|found| found.is_file());
        is_file.then_some(Self { path: None, file: Some(handle) })
    }

    fn is(&self, other: &Self) -> bool {
        let same_path = self.path.is_some() && self.path == other.path;
        let same_file = self.file.is_some() && self.file == other.file;
        same_path || same_file
    }
}

/// The path without links and "..", even where its end does not exist.
fn resolved(path: &Path) -> PathBuf {
    follow(path, 40)
}

/// Like [`resolved`], with at most this many links to paths that do not exist.
fn follow(path: &Path, links: usize) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    let folder = folder_of(path);
    match (fs::read_link(path), path.file_name()) {
        (Ok(next), _) if links > 0 => follow(&folder.join(next), links - 1),
        (_, Some(name)) => follow(folder, links).join(name),
        // The path ends in "..", or is the root.
        (_, None) => folder_of(&follow(folder, links)).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an output may be written while an input is read.
    fn allowed(input: &Path, output: &Path) -> bool {
        let touched = Touched {
            inputs: vec![("the data", input.to_owned())],
            outputs: vec![("--output".to_owned(), output.to_owned())],
        };
        Guard::new(&touched).is_ok()
    }

    #[test]
    fn a_file_is_recognised_by_every_name() {
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("data.csv"), "x\n").expect("the folder is writable");
        fs::create_dir(path("inner")).expect("the folder is writable");
        fs::hard_link(path("data.csv"), path("hard")).expect("the system has hard links");
        for name in ["data.csv", "inner/../data.csv", "./data.csv", "hard"] {
            assert!(!allowed(&path("data.csv"), &path(name)), "{name}");
        }
        assert!(allowed(&path("data.csv"), &path("other.csv")));
        assert!(allowed(&path("data.csv"), &path("inner/data.csv")));
        // Names that do not exist yet are also compared.
        let two = |one: &str, other: &str| {
            let outputs = [one, other].map(|name| (format!("--{name}"), path(name)));
            Guard::new(&Touched { inputs: Vec::new(), outputs: outputs.to_vec() }).is_ok()
        };
        assert!(two("a", "b"));
        assert!(!two("new/model.json", "new/./model.json"));
        assert!(!two("new/a/../model.json", "new/model.json"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_looked_through_and_devices_are_not_looked_at() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("the folder for temporary files is writable");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("data.csv"), "x\n").expect("the folder is writable");
        symlink("data.csv", path("link")).expect("the folder is writable");
        symlink("new.csv", path("dangling")).expect("the folder is writable");
        symlink(".", path("same-folder")).expect("the folder is writable");
        assert!(!allowed(&path("data.csv"), &path("link")));
        assert!(!allowed(&path("link"), &path("data.csv")));
        assert!(!allowed(&path("data.csv"), &path("same-folder/data.csv")));
        assert!(!allowed(&path("new.csv"), &path("dangling")));
        assert!(!allowed(&path("new.csv"), &path("same-folder/new.csv")));
        assert!(allowed(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
