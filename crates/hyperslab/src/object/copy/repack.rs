//! Repacks files: writes all objects to a new file, with other filters, chunks or versions if requested, and
//! without unused space.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_filters::FilterChoice;
use hyperslab_format::Addr;
use hyperslab_format::layout::Layout;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_io::driver::{Aside, Driver};

use super::renewal::SMALLEST_CHUNKED;
use super::{Copy, Renewal};
use crate::object::header::versions::LibVersion;
use crate::object::path;
use crate::object::{CopyOptions, Dataset, File, Group, Node, Walk};

/// The differences between a repacked file and its source. By default there are none, and no chunk is
/// decoded.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RepackOptions {
    /// The filters of every chunked dataset, first to last. If `None`, each dataset keeps its own.
    pub filters: Option<Vec<FilterChoice>>,
    /// Which datasets are chunked, and the shape of their chunks.
    pub chunks: RepackChunks,
    /// Whether filtered chunks are decoded and encoded again, even if their shape and filters stay the same.
    /// Other encoders store a chunk in other ways under the same filters.
    pub encode: bool,
    /// The oldest libhdf5 that must be able to read the file. If `None`, each structure keeps its version.
    pub version: Option<LibVersion>,
    /// The paths of the objects to copy, with everything below them and the groups on the way. Empty for all
    /// objects. References to objects that are not copied become null.
    pub select: Vec<String>,
    /// The paths of links from the root that are not taken over, with everything below them.
    pub leave_out: Vec<String>,
    /// Whether to replace a file that has the name of the new one.
    pub overwrite: bool,
}

/// Which datasets of a repacked file are chunked, and the shape of their chunks. Compact data stay in their
/// headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepackChunks {
    /// Chunked datasets keep their chunk shape. Contiguous datasets of at least 4 KiB become chunked if
    /// `filters` are given, by the rule of [`auto_chunks`](crate::object::auto_chunks).
    #[default]
    AsNeeded,
    /// Chunked datasets keep their chunk shape. No other dataset becomes chunked.
    Keep,
    /// Chunked datasets, and contiguous ones of at least 4 KiB, get chunks by the rule of
    /// [`auto_chunks`](crate::object::auto_chunks).
    Auto,
    /// The datasets of `Auto` with as many dimensions as this shape get chunks of this shape, cut to the
    /// maximum shape of the dataset. Others are as with `Keep`.
    Shape(Vec<u64>),
}

impl RepackChunks {
    /// Whether a dataset is chunked, or is contiguous and large enough to become chunked.
    pub fn can_chunk(dataset: &Dataset) -> bool {
        match dataset.layout() {
            Layout::Chunked(_) => true,
            Layout::Contiguous(_) => {
                let has_axes = !dataset.shape().is_empty();
                has_axes && !dataset.has_external_files() && dataset.len_bytes() >= SMALLEST_CHUNKED
            }
            Layout::Compact { .. } | Layout::Virtual { .. } => false,
        }
    }
}

impl File {
    /// Writes everything in this file, or the objects that `options` select, to a new file at `to`. The new
    /// file gets that name when it is complete (until then it is [aside](Aside)).
    ///
    /// Links, attributes, committed datatypes, fill values, creation orders and the user block stay the same.
    /// References lead to the copies of their targets; broken references become null. `done` is called from
    /// any thread with the number of bytes of elements that were copied. The numbers add up to the
    /// [`len_bytes`](crate::object::Dataset::len_bytes) of all datasets together.
    ///
    /// ```
    /// use hyperslab::{File, RepackOptions, filter::{Shuffle, Zstd}};
    ///
    /// let directory = tempfile::tempdir()?;
    /// let small = directory.path().join("small.h5");
    /// let file = File::in_memory()?;
    /// file.root().new_dataset::<i32>("zeros").shape([100_000]).create_with(&vec![0; 100_000])?;
    /// let mut options = RepackOptions::default();
    /// options.filters = Some(vec![Shuffle.into(), Zstd::default().into()]);
    /// file.repack(&small, &options, &mut |_| {})?;
    /// assert!(std::fs::metadata(&small)?.len() < 10_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repack(
        &self,
        to: impl AsRef<Path>,
        options: &RepackOptions,
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let to = to.as_ref();
        if !options.overwrite && to.symlink_metadata().is_ok() {
            return Err(RequestError::Exists { name: to.display().to_string() }.into());
        }
        // If the new file replaces this one, readers of this file keep its old content.
        let is_own = |path: &Path| {
            let known = fs::canonicalize(path);
            known.is_ok_and(|known| fs::canonicalize(to).is_ok_and(|to| to == known))
        };
        let aside = if self.path().is_some_and(is_own) { Aside::replacing(to) } else { Aside::new(to) };
        let aside = aside.map_err(Error::io("create", 0, 0))?;
        self.repack_to(Arc::clone(aside.medium()) as _, to, options, done)?;
        aside.finish().map_err(Error::io("rename", 0, 0))
    }

    fn repack_to(
        &self,
        driver: Arc<dyn Driver>,
        to: &Path,
        options: &RepackOptions,
        done: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let root = self.root();
        let version = options.version.unwrap_or_else(|| self.version());
        // The members of a group that does not track their order are copied in the order of their names. A
        // group that tracks the order has no symbol table.
        let track_order = root.tracks_creation_order()?
            || root.tracks_attribute_order()
            || (version.is_old() && has_new_links(&root)?);
        let selected = options.select.iter().map(|path| self.hard_path(path)).collect::<Result<Vec<_>>>()?;
        let members = if selected.is_empty() { None } else { Some(self.below(&selected)?) };
        let to = std::path::absolute(to).unwrap_or_else(|_| to.to_owned());
        let create = File::options().create(true).truncate(true).location(to).version(version);
        let to = create.user_block(self.store().base()).track_order(track_order).open_on(driver)?;
        copy_user_block(self, &to)?;
        let renewal = Renewal { options, selected, members, done };
        let copied = Copy::renewing(&to, EVERYTHING, renewal).run_root(&root);
        match copied {
            Ok(()) => to.close(),
            Err(error) => {
                // The new file is discarded, so pending changes need not be written.
                let _ = to.end_transaction(false);
                Err(error)
            }
        }
    }

    /// Returns a path that consists of hard links to the object at `path`.
    fn hard_path(&self, path: &str) -> Result<String> {
        let node = self.get(path)?;
        let mut group = self.root();
        let mut names = path::names(path).peekable();
        while let Some(name) = names.next() {
            let link = group.link(name)?;
            let is_hard = link.as_ref().is_some_and(|link| matches!(link.target, LinkTarget::Hard(_)));
            match link.filter(|_| is_hard).map(|link| group.open_link(&link)).transpose()? {
                Some(Node::Group(next)) => group = next,
                Some(_) if names.peek().is_none() => {}
                _ => {
                    let found = if node.file().is_same(self) { self.path_of(node.address())? } else { None };
                    let why = "it is in another file";
                    return found.ok_or_else(|| {
                        RequestError::Argument { what: format!("path {path:?}"), why }.into()
                    });
                }
            }
        }
        Ok(path::names(path).fold(String::new(), |all, name| format!("{all}/{name}")))
    }

    /// Returns the objects at these paths, all objects that hard links below them lead to, and the groups on
    /// the way.
    fn below(&self, paths: &[String]) -> Result<HashSet<Addr>> {
        let mut found = HashSet::from([self.root().address()]);
        for path in paths {
            let node = self.get(if path.is_empty() { "/" } else { path })?;
            found.insert(node.address());
            if let Node::Group(group) = &node {
                for step in Walk::new(group) {
                    let step = step.map_err(|(_, error)| error)?;
                    found.extend(step.node.transpose()?.map(|node| node.address()));
                }
            }
            for (end, _) in path.match_indices('/').skip(1) {
                found.insert(self.get(&path[..end])?.address());
            }
        }
        Ok(found)
    }
}

/// Whether a group has links that a symbol table cannot express.
fn has_new_links(group: &Group) -> Result<bool> {
    let is_new = |link: &Link| matches!(link.target, LinkTarget::External { .. } | LinkTarget::User { .. });
    Ok(group.links()?.iter().any(is_new))
}

/// Copies the bytes before the superblock.
fn copy_user_block(from: &File, to: &File) -> Result<()> {
    let len = from.store().base();
    let (from, to) = (from.store().driver()?, to.store().driver()?);
    let mut buffer = vec![0; usize::try_from(len).unwrap_or(usize::MAX).min(USER_BLOCK_PIECE)];
    let mut at = 0;
    while at < len {
        let piece = usize::try_from(len - at).unwrap_or(usize::MAX).min(buffer.len());
        let bytes = &mut buffer[..piece];
        let failed = |op| move |error: io::Error| Error::io(op, at, piece as u64)(error);
        from.read_at(at, bytes).map_err(failed("read"))?;
        to.write_at(at, bytes).map_err(failed("write"))?;
        at += piece as u64;
    }
    Ok(())
}

/// Copies everything, including objects that only references lead to.
const EVERYTHING: CopyOptions = CopyOptions {
    shallow: false,
    expand_soft: false,
    expand_external: false,
    expand_refs: true,
    without_attributes: false,
};
/// The number of bytes of a user block that are copied at a time.
const USER_BLOCK_PIECE: usize = 1 << 20;
