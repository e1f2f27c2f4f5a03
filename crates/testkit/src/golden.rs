//! The golden files: their locations, and the contents that `golden/MANIFEST.toml` states for them.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::pattern::{self, ElementType, Pattern};

/// The contents of `golden/MANIFEST.toml`.
#[derive(Debug, Deserialize)]
pub struct Manifest {
    /// The files, in the order of the scripts.
    #[serde(rename = "file")]
    pub files: Vec<File>,
}

/// A golden file.
#[derive(Debug, Deserialize)]
pub struct File {
    /// The name of the file in `golden/files`, or among the generated files.
    pub name: String,
    /// The script in `golden/make` that writes the file.
    pub script: String,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// Whether the file is in `golden/files`.
    pub committed: bool,
    /// The SHA-256 of a committed file, in hex.
    pub sha256: Option<String>,
    /// Whether the file was damaged on purpose. Reads may fail or return correct data, but not panic.
    #[serde(default)]
    pub damaged: bool,
    /// The size in bytes of the user block before the superblock.
    #[serde(default)]
    pub userblock_bytes: u64,
    /// The datasets that the manifest describes.
    #[serde(default, rename = "dataset")]
    pub datasets: Vec<Dataset>,
}

/// A dataset of a golden file.
#[derive(Debug, Deserialize)]
pub struct Dataset {
    /// The path from the root group.
    pub path: String,
    /// The shape in elements.
    pub shape: Vec<u64>,
    /// The layout or chunk index: `compact`, `contiguous`, `btree1`, `single`, `implicit`, `fixed_array`, ...
    pub index: Option<String>,
    /// The shape of a chunk.
    pub chunks: Option<Vec<u64>>,
    /// The element type in the notation of `golden/README.md`. `None` if the values have no formula.
    pub dtype: Option<String>,
    /// The formula of the values.
    pub pattern: Option<Pattern>,
    /// The fill value, if it is a number other than 0.
    #[serde(default)]
    pub fill: f64,
    /// The chunks that were written, if not all. The other chunks hold the fill value.
    pub written: Option<Vec<Vec<u64>>>,
    /// If present, only elements below this corner were written. The other elements are the fill value.
    #[serde(rename = "box")]
    pub corner: Option<Vec<u64>>,
    /// Whether hyperslab must report that it does not support the dataset.
    #[serde(default)]
    pub refused: bool,
}

impl Manifest {
    /// Reads the committed manifest.
    ///
    /// # Panics
    /// If the manifest is missing or malformed, which is a fault of the checkout.
    pub fn load() -> Self {
        let path = directory().join("MANIFEST.toml");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the file called `name`.
    pub fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| file.name == name)
    }

    /// Returns every file on this machine with its path: all committed files, and existing generated files.
    pub fn present(&self) -> impl Iterator<Item = (&File, PathBuf)> {
        self.files.iter().filter_map(|file| Some((file, file.path()?)))
    }
}

impl File {
    /// Returns the path of the file, or `None` if it is not on this machine.
    pub fn path(&self) -> Option<PathBuf> {
        if self.committed {
            return Some(directory().join("files").join(&self.name));
        }
        Some(generated().join(&self.name)).filter(|path| path.is_file())
    }

    /// Returns whether `content` matches the hash in the manifest. True for files without a hash.
    pub fn is(&self, content: &[u8]) -> bool {
        let Some(expected) = &self.sha256 else { return true };
        let found = Sha256::digest(content);
        let mut stored =
            expected.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
        expected.len() == 2 * found.len() && found.iter().all(|&byte| stored.next() == Some(Some(byte)))
    }
}

impl Dataset {
    /// Returns the number of elements.
    pub fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element type if it has a fixed size and the values have a formula.
    pub fn element(&self) -> Option<ElementType> {
        ElementType::parse(self.dtype.as_deref()?)
    }

    /// Returns every stored element, row-major. `None` if values have no formula or a variable length.
    pub fn expected(&self) -> Option<Vec<u8>> {
        let element = self.element()?;
        let pattern = self.pattern?;
        let written: Option<HashSet<&[u64]>> =
            self.written.as_ref().map(|all| all.iter().map(Vec::as_slice).collect());
        let mut out = Vec::new();
        for k in 0..self.len() {
            let at = self.coordinates(k);
            let in_box = self.corner.iter().all(|corner| at.iter().zip(corner).all(|(x, end)| x < end));
            let in_chunk = written.as_ref().is_none_or(|written| {
                let chunks = self.chunks.as_deref().unwrap_or_default();
                let chunk: Vec<u64> = at.iter().zip(chunks).map(|(x, size)| x / size).collect();
                written.contains(chunk.as_slice())
            });
            if pattern != Pattern::Fill && in_box && in_chunk {
                element.push(pattern, k, &mut out);
            } else {
                element.push_fill(self.fill, &mut out);
            }
        }
        Some(out)
    }

    /// Returns every element if the elements are variable-length strings with a formula.
    pub fn expected_texts(&self) -> Option<Vec<String>> {
        let text = match self.dtype.as_deref()? {
            "vlen:utf-8" => pattern::words,
            "vlen:ascii" => pattern::plain_words,
            _ => return None,
        };
        Some((0..self.len()).map(text).collect())
    }

    /// Returns the bytes of every element, as stored in the file, if the elements are variable-length
    /// sequences with a formula.
    pub fn expected_sequences(&self) -> Option<Vec<Vec<u8>>> {
        let element = ElementType::parse(self.dtype.as_deref()?.strip_prefix("vlen")?)?;
        Some((0..self.len()).map(|k| pattern::sequence(&element, k)).collect())
    }

    fn coordinates(&self, mut k: u64) -> Vec<u64> {
        let mut at = vec![0; self.shape.len()];
        for (x, size) in at.iter_mut().zip(&self.shape).rev() {
            *x = k % size;
            k /= size;
        }
        at
    }
}

/// Returns the directory `golden/` of this checkout.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

/// Returns the directory of generated files: `$HYPERSLAB_GOLDEN`, or `target/golden`.
pub fn generated() -> PathBuf {
    std::env::var_os("HYPERSLAB_GOLDEN").map_or_else(|| directory().join("../target/golden"), PathBuf::from)
}

/// Generates every file with `$HYPERSLAB_PYTHON` or `python3`, which needs `golden/requirements.txt`.
pub fn generate() -> io::Result<()> {
    let python = std::env::var_os("HYPERSLAB_PYTHON").unwrap_or_else(|| "python3".into());
    let status = Command::new(python).arg(directory().join("make/all.py")).arg(generated()).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("golden/make/all.py: {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_committed_file_matches_the_manifest() {
        let manifest = Manifest::load();
        let mut committed = 0;
        for (file, path) in manifest.present().filter(|(file, _)| file.committed) {
            let content = std::fs::read(&path).unwrap();
            assert_eq!(content.len() as u64, file.bytes, "{}", file.name);
            assert!(file.is(&content), "{} is not the file in the manifest", file.name);
            committed += 1;
        }
        assert!(committed > 50, "{committed} files");
        let beside = std::fs::read_dir(directory().join("files")).unwrap();
        let is_listed = |path: PathBuf| path.is_file() && path.extension().is_none_or(|end| end != "raw");
        assert_eq!(beside.filter(|entry| is_listed(entry.as_ref().unwrap().path())).count(), committed);
    }

    #[test]
    fn every_type_and_pattern_in_the_manifest_has_a_formula() {
        let manifest = Manifest::load();
        for file in &manifest.files {
            for dataset in
                file.datasets.iter().filter(|dataset| dataset.dtype.is_some() && dataset.len() < 50_000)
            {
                let known = dataset.expected().is_some()
                    || dataset.expected_texts().is_some()
                    || dataset.expected_sequences().is_some();
                assert!(known, "{} {} {:?}", file.name, dataset.path, dataset.dtype);
            }
        }
    }

    #[test]
    fn elements_outside_the_written_chunks_are_fill() {
        let dataset = Dataset {
            path: "/d".into(),
            shape: vec![4],
            index: None,
            chunks: Some(vec![2]),
            dtype: Some("|u1".into()),
            pattern: Some(Pattern::Ramp),
            fill: 9.0,
            written: Some(vec![vec![1]]),
            corner: None,
            refused: false,
        };
        assert_eq!(dataset.expected().unwrap(), [9, 9, 2, 3]);
        let boxed = Dataset { written: None, corner: Some(vec![1]), ..dataset };
        assert_eq!(boxed.expected().unwrap(), [0, 9, 9, 9]);
    }
}
