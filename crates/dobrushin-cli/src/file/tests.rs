use super::*;

/// A new empty folder, which removes itself.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("the folder for temporary files is writable")
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_old_content_is_replaced() {
    let folder = folder();
    let path = folder.path().join("a.svg");
    fs::write(&path, "a much longer old text").expect("the folder is writable");
    replace(&path, b"new").expect("the folder is writable");
    assert_eq!(fs::read(&path).expect("the file exists"), b"new");
    assert_eq!(names(folder.path()), ["a.svg"]);
}

#[test]
fn a_failure_leaves_everything_as_it_was() {
    let folder = folder();
    let occupied = folder.path().join("a.svg");
    fs::create_dir_all(occupied.join("inside")).expect("the folder is writable");
    assert!(replace(&occupied, b"new").is_err());
    assert!(occupied.join("inside").is_dir());
    let path = folder.path().join("b.svg");
    fs::write(&path, "old").expect("the folder is writable");
    let failed = replace_by(&path, |file| {
        file.write_all(b"half of the new")?;
        Err(io::Error::other("the rest cannot be computed"))
    });
    assert!(failed.is_err());
    assert_eq!(fs::read(&path).expect("the file exists"), b"old");
    assert_eq!(names(folder.path()), ["a.svg", "b.svg"], "no temporary file is left behind");
}

#[test]
fn a_path_without_a_file_name_is_an_error() {
    assert!(replace(Path::new(".."), b"new").is_err());
    assert!(replace(Path::new(""), b"new").is_err());
    assert!(replace(Path::new("nowhere/.."), b"new").is_err());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("the file exists").permissions().mode() & 0o777
    }

    #[test]
    fn a_mode_is_kept_and_a_new_file_has_the_usual_one() {
        let folder = folder();
        let path = folder.path().join("a.json");
        for kept in [0o600, 0o640, 0o644, 0o664, 0o400] {
            fs::write(&path, "old").expect("the folder is writable");
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).expect("it is ours");
            replace(&path, b"new").expect("the folder is writable");
            assert_eq!(mode(&path), kept, "{kept:o}");
            fs::remove_file(&path).expect("it is ours");
        }
        replace(&path, b"new").expect("the folder is writable");
        let usual = folder.path().join("usual");
        fs::write(&usual, "").expect("the folder is writable");
        assert_eq!(mode(&path), mode(&usual));
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let folder = folder();
        fs::create_dir(folder.path().join("inner")).expect("the folder is writable");
        let (link, target) = (folder.path().join("link"), folder.path().join("inner/target"));
        symlink("via", &link).expect("the folder is writable");
        symlink("inner/target", folder.path().join("via")).expect("the folder is writable");
        // To a file that does not exist yet, and to one that does.
        for content in [&b"first"[..], b"second"] {
            replace(&link, content).expect("the folder is writable");
            assert_eq!(fs::read(&target).expect("the file exists"), content);
            assert!(fs::symlink_metadata(&link).expect("it exists").is_symlink());
        }
        assert_eq!(names(&folder.path().join("inner")), ["target"]);
        symlink("round", folder.path().join("round")).expect("the folder is writable");
        assert!(replace(&folder.path().join("round"), b"new").is_err());
    }

    #[test]
    fn devices_and_standard_output_are_written_in_place() {
        let in_place = |path: &str| Place::of(Path::new(path)).expect("it exists");
        assert_eq!(in_place("/dev/null"), Place::Special("/dev/null".into()));
        assert_eq!(in_place("-"), Place::Standard);
        assert_eq!(in_place("./-"), Place::Replaced("./-".into()));
        assert_eq!(in_place("/dev/stdout"), Place::Standard);
    }

    #[test]
    fn files_that_belong_together_are_never_mixed() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let write = |name: &str, content: &str| {
            let mut draft = Draft::new(&path(name)).expect("the folder is writable");
            draft.write_all(content.as_bytes()).expect("there is room");
            draft
        };
        fs::write(path("model"), "old").expect("the folder is writable");
        fs::write(path("certificate"), "old").expect("the folder is writable");
        finish_together(vec![write("certificate", "new")], write("model", "new"), None)
            .expect("both are written");
        assert_eq!(fs::read(path("model")).expect("it exists"), b"new");
        assert_eq!(fs::read(path("certificate")).expect("it exists"), b"new");
        // A failure between the two leaves no model beside another's certificate.
        let drafts = (write("certificate", "newer"), write("model", "newer"));
        fs::remove_file(path("certificate")).expect("it is ours");
        fs::create_dir(path("certificate")).expect("the folder is writable");
        finish_together(vec![drafts.0], drafts.1, None).expect_err("a folder cannot be replaced");
        assert_eq!(names(folder.path()), ["certificate"]);
    }

    #[test]
    fn files_that_got_their_names_before_a_failure_count_as_written() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let draft = |name: &str| Draft::new(&path(name)).expect("the folder is writable");
        let (text, certificate, model) = (draft("text"), draft("certificate"), draft("model"));
        let before = Before::now();
        fs::create_dir(path("certificate")).expect("the folder is writable");
        finish_together(vec![text, certificate], model, None).expect_err("a folder cannot be replaced");
        assert!(path("text").exists() && !path("model").exists());
        assert!(!nothing_is_finished_since(before));
        let finished = &unfinished::no_interruption().finished;
        assert!(finished.contains(&path("text")) && !finished.contains(&path("model")));
    }
}
