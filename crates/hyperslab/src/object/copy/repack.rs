//! Files written anew: everything in them as it is, with other filters, chunks or versions of structures where that is asked
//! for, and without the space that changes have left behind.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use hyperslab_filters::FilterChoice;
use hyperslab_format::Addr;
use hyperslab_format::layout::Layout;
use hyperslab_format::message::link::{Link, LinkTarget};

use super::renewal::SMALLEST_CHUNKED;
use super::{Copy, Renewal};
use crate::driver::{Aside, Driver};
use crate::error::{Error, RequestError, Result};
use crate::object::header::versions::LibVersion;
use crate::object::path;
use crate::object::{CopyOptions, Dataset, File, Group, Node, Walk};

/// What of a file is other when it was written anew. By default nothing is, and no chunk is decoded.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RepackOptions {
    /// The filters of every dataset in chunks, first to last; its own if not said.
    pub filters: Option<Vec<FilterChoice>>,
    /// Which datasets are in chunks, and of which shape.
    pub chunks: RepackChunks,
    /// The oldest libhdf5 that every structure is made for; if not said, each stays as it is.
    pub version: Option<LibVersion>,
    /// The paths of what is taken over, with all below and the groups on the way; everything if there are none. References to
    /// anything else are null then.
    pub select: Vec<String>,
    /// Whether a file that has the new one's name is replaced.
    pub overwrite: bool,
}

/// Which datasets of a repacked file are in chunks, and of which shape. Compact data stay in their headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RepackChunks {
    /// Those that are, of the shape they have; contiguous data of at least 4 KiB that are to be filtered, by the rule of
    /// [`auto_chunks`](crate::object::auto_chunks).
    #[default]
    AsNeeded,
    /// Those that are, of the shape they have.
    Keep,
    /// Those that are, and contiguous data of at least 4 KiB, by the rule of [`auto_chunks`](crate::object::auto_chunks).
    Auto,
    /// The same of as many dimensions, of this shape, cut to what the dataset can grow to; others as with `Keep`.
    Shape(Vec<u64>),
}

impl RepackChunks {
    /// Whether a dataset has chunks, or enough elements one after another to be given some.
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
    /// Writes everything in this file, or what `options` select, to a new file at `to`, which gets that name when it is whole
    /// (until then it is [aside](Aside)).
    ///
    /// Links, attributes, committed datatypes, fill values, orders of creation and the user block are as they were; references
    /// lead to what they led to, and those that led to nothing are null. `done` is told of the bytes of elements that were
    /// moved, from any thread: of all datasets together, as many as [`len_bytes`](crate::object::Dataset::len_bytes) says of them.
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
        // This file itself may be replaced: who reads it goes on with what it was.
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
        // A group that does not track the order is listed by name, the order in which it is copied. A group that tracks it
        // has no symbol table.
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
                // Nothing of it is worth writing.
                let _ = to.end_transaction(false);
                Err(error)
            }
        }
    }

    /// The path by hard links of the object at `path`.
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
                    let why = "it lies in another file";
                    return found.ok_or_else(|| {
                        RequestError::Argument { what: format!("path {path:?}"), why }.into()
                    });
                }
            }
        }
        Ok(path::names(path).fold(String::new(), |all, name| format!("{all}/{name}")))
    }

    /// The objects at these paths, all that hard links below them lead to, and the groups on the way.
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

/// Copies what is before the superblock.
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

/// Nothing is left out: what references alone lead to is taken along.
const EVERYTHING: CopyOptions = CopyOptions {
    shallow: false,
    expand_soft: false,
    expand_external: false,
    expand_refs: true,
    without_attributes: false,
};
/// As much of a user block is copied at a time.
const USER_BLOCK_PIECE: usize = 1 << 20;
