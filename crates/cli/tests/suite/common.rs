//! Code that tests of several commands share.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use hyperslab::Element;
use hyperslab::storage::{DatasetOptions, NewStorage};
use hyperslab::{Dataset, File, Group, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_testkit::golden;
use hyperslab_testkit::sound::assert_sound;

/// The folder of one test, removed at its end.
pub(crate) struct Scratch(PathBuf, RefCell<Vec<PathBuf>>);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hyperslab-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path, RefCell::default())
    }

    /// Writes a file that is damaged, or not an HDF5 file.
    pub(crate) fn write_damaged(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
        self.1.borrow_mut().push(self.path(name));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let found = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Creates a file in this folder.
    pub(crate) fn make(&self, name: &str, fill: impl FnOnce(&Group)) {
        let file = File::create(self.path(name)).unwrap();
        fill(&file.root());
        file.close().unwrap();
    }

    /// Runs the command and returns its exit code, its output and its errors. `@name` is a golden file, and
    /// `%name` a file in this folder.
    pub(crate) fn run(&self, args: &[&str]) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let args = args.iter().map(|arg| match (arg.strip_prefix('@'), arg.strip_prefix('%')) {
            (Some(name), _) => sample(name).into_os_string(),
            (_, Some(name)) => self.path(name).into_os_string(),
            _ => OsString::from(arg),
        });
        let code =
            hyperslab_cli::run([OsString::from("hyperslab")].into_iter().chain(args), &mut out, &mut err);
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    /// Returns the output of a command that must succeed without errors.
    #[track_caller]
    pub(crate) fn printed(&self, args: &[&str]) -> String {
        let (code, out, err) = self.run(args);
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}\n{out}");
        out
    }
}

impl Drop for Scratch {
    /// Checks that the files that the commands of a test have written are sound.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let found = self.names().into_iter().map(|name| self.path(&name));
            let is_file = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "h5");
            for path in found.filter(|path| is_file(path) && !self.1.borrow().contains(path)) {
                assert_sound(&std::fs::read(path).unwrap());
            }
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn sample(name: &str) -> PathBuf {
    golden::directory().join("files").join(name)
}

/// Returns the names of all golden files.
pub(crate) fn samples() -> Vec<String> {
    let found = std::fs::read_dir(golden::directory().join("files")).unwrap();
    let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_file = |name: &String| Path::new(name).extension().is_some_and(|extension| extension == "h5");
    let mut names: Vec<String> = names.filter(is_file).collect();
    names.sort();
    names
}

/// Creates a dataset with these values.
pub(crate) fn dataset<T: Element>(
    group: &Group,
    path: &str,
    shape: &[u64],
    chunk: Option<&[u64]>,
    values: &[T],
) -> Dataset {
    let dataspace = Dataspace::Simple { shape: shape.to_vec(), max_shape: None };
    let mut options = DatasetOptions::new(dataspace, T::datatype());
    if let Some(chunk) = chunk {
        options.storage = NewStorage::Chunked(chunk.to_vec());
    }
    let dataset = group.create_dataset(path, &options).unwrap();
    if !values.is_empty() {
        dataset.write(Selection::All, values).unwrap();
    }
    dataset
}
