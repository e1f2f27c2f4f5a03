//! Virtual datasets: their elements are those of other datasets (spec III.F).

mod heap;
mod names;
pub(super) mod read;
pub(in crate::object) mod sources;
mod view;
mod write;

use std::fmt;

use hyperslab_error::{Error, Result};
use hyperslab_format::selection::StoredSelection;

use crate::object::Dataset;

/// One mapping of a virtual dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VirtualSource {
    /// The name of the source file, as the dataset stores it; "." is the same file. `%b` stands for the
    /// number of a block.
    pub file: String,
    /// The path of the source dataset.
    pub dataset: String,
    /// The elements of the source dataset.
    #[doc(hidden)]
    pub source: StoredSelection,
    /// The elements of the virtual dataset.
    #[doc(hidden)]
    pub target: StoredSelection,
    /// Whether the source file or the source dataset does not exist. `None` if that was not looked up.
    pub is_missing: Option<bool>,
}

impl Dataset {
    /// Returns the mappings of a virtual dataset, in order. The result is empty for other datasets.
    ///
    /// ```
    /// use hyperslab::File;
    ///
    /// let file = File::in_memory()?;
    /// let root = file.root();
    /// root.new_dataset::<i32>("a").shape([2]).create_with(&[1, 2])?;
    /// root.new_dataset::<i32>("v").shape([4]).map(2..4, ".", "a", ..).create()?;
    /// let sources = file.dataset("v")?.virtual_sources()?;
    /// assert_eq!((&*sources[0].file, &*sources[0].dataset), (".", "a"));
    /// assert_eq!(file.dataset("v")?.read::<i32>(..)?, [0, 0, 1, 2]);
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn virtual_sources(&self) -> Result<Vec<VirtualSource>> {
        let find = || {
            let mappings = self.properties()?.mappings(self.store())?;
            let source = |mapping: &hyperslab_format::layout::mappings::VirtualMapping| VirtualSource {
                file: mapping.file.to_string(),
                dataset: mapping.dataset.to_string(),
                source: mapping.source.clone(),
                target: mapping.target.clone(),
                is_missing: None,
            };
            Ok(mappings.mappings.iter().map(source).collect())
        };
        find().map_err(|error: Error| error.at(self.path()))
    }

    /// Does the same as [`virtual_sources`](Self::virtual_sources), and looks up which sources exist.
    pub fn virtual_sources_found(&self) -> Result<Vec<VirtualSource>> {
        let mut sources = self.virtual_sources()?;
        for source in &mut sources {
            source.is_missing = Some(self.open_source(source)?.is_none());
        }
        Ok(sources)
    }

    /// Returns the dataset of a mapping, or `None` if its file or the dataset does not exist.
    #[doc(hidden)]
    pub fn open_source(&self, source: &VirtualSource) -> Result<Option<Self>> {
        let [file, dataset] = [&source.file, &source.dataset].map(|name| names::of_block(name, 0));
        let names = (file?.into(), dataset?.into());
        let found = self.source(&names.0, &names.1).map_err(|error| error.at(self.path()))?;
        // The caller asks, so a read need not tell.
        self.sources.forget_missing(&names);
        Ok(found)
    }

    /// Returns the names of sources that reads through this handle did not find, each once: the file and the
    /// dataset.
    #[doc(hidden)]
    pub fn take_missing_sources(&self) -> Vec<(String, String)> {
        let missing = self.sources.take_missing();
        missing.into_iter().map(|(file, dataset)| (file.to_string(), dataset.to_string())).collect()
    }

    /// Sets the folder in which this handle looks for source files with relative names. `${ORIGIN}` at its
    /// beginning stands for the folder of this file. The environment variable `HDF5_VDS_PREFIX` counts more.
    pub fn set_virtual_prefix(&self, prefix: &str) {
        self.sources.set_prefix(prefix);
    }

    /// Returns the folder that [`set_virtual_prefix`](Self::set_virtual_prefix) set.
    pub fn virtual_prefix(&self) -> String {
        self.sources.prefix()
    }
}

impl fmt::Display for VirtualSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, dataset, source, target, .. } = self;
        write!(f, "{} <- {file}:{dataset} {}", Shown(target), Shown(source))
    }
}

/// A stored selection as text: a slice for each axis.
struct Shown<'a>(&'a StoredSelection);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            StoredSelection::All => write!(f, "[...]"),
            StoredSelection::None => write!(f, "[nothing]"),
            StoredSelection::Points(points) => write!(f, "[{} points]", points.points().len()),
            StoredSelection::Blocks(blocks) => match blocks.blocks().next() {
                Some((first, last)) if blocks.blocks().len() == 1 => {
                    let axes = first
                        .iter()
                        .zip(last)
                        .map(|(first, last)| format!("{first}:{}", last.saturating_add(1)));
                    write!(f, "[{}]", axes.collect::<Vec<_>>().join(", "))
                }
                _ => write!(f, "[{} blocks]", blocks.blocks().len()),
            },
            StoredSelection::Regular(slab) => {
                let axes = slab.axes.iter().map(|axis| match (axis.count, axis.block) {
                    (Some(1), Some(block)) => format!("{}:{}", axis.start, axis.start.saturating_add(block)),
                    (None, Some(1)) if axis.stride == 1 => format!("{}:", axis.start),
                    (_, None) => format!("{}:", axis.start),
                    (count, Some(block)) => {
                        let count = count.map_or_else(|| "any number".to_owned(), |count| count.to_string());
                        format!("{}::{} ({count} of {block})", axis.start, axis.stride)
                    }
                });
                write!(f, "[{}]", axes.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
