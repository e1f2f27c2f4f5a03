//! A file whose bytes are distributed over several files, its members (spec II.B), as one medium.
//! Names and addresses follow libhdf5's drivers "family", "split" and "multi". Families and split files can
//! be written.

mod arrange;
mod family;
mod folder;
mod member;
mod name;
mod split;

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result as CrateResult};

use super::ahead::{Medium, read_ahead};
use super::posix::check_regular;
use super::{Capabilities, Create, Driver, InParts, Posix, ReadQueue};

pub use arrange::{Arranged, advice};
pub use family::{Family, Folder};
pub use split::{Names, Split};

/// How the bytes of a file are distributed over several files.
///
/// ```
/// use hyperslab::driver::Members;
///
/// # fn open(directory: &std::path::Path) -> hyperslab::Result<()> {
/// let file = hyperslab::File::options().members(Members::family()).open(directory.join("run-%05d.h5"))?;
/// # Ok(()) }
/// # assert!(open(std::path::Path::new("/no/such")).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Members {
    /// The members hold the bytes one after another, and all but the last have the same size. The path of the
    /// file has a place for the number of a member, as in C's `printf`: `run-%05d.h5`.
    Family {
        /// The size of a member in bytes. `None` and 0 stand for the size that the file states, or else that
        /// of the first member; in a new file, for 2,147,483,647 bytes, as in h5py.
        member_size: Option<u64>,
    },
    /// One member has the metadata, another one the elements of datasets and the data of variable length. A
    /// name follows the path of the file, or has it in the place of `%s`.
    Split {
        /// The name of the member with the metadata.
        metadata: Vec<u8>,
        /// The name of the member with the elements.
        raw: Vec<u8>,
    },
    /// Each kind of data has its own member. The names are those of libhdf5: they follow the path of the
    /// file, as `-s.h5`, `-b.h5`, `-r.h5`, `-g.h5`, `-l.h5` and `-o.h5`, unless the file says otherwise.
    Multi,
}

impl Members {
    /// Returns a family whose members have the size that the file states.
    pub const fn family() -> Self {
        Self::Family { member_size: None }
    }

    /// Returns two members with libhdf5's names: `-m.h5` and `-r.h5` follow the path of the file.
    pub fn split() -> Self {
        Self::Split { metadata: b"-m.h5".to_vec(), raw: b"-r.h5".to_vec() }
    }

    /// Returns the kind of members by whose names files exist, if there is no file at `path` itself.
    pub fn found(path: &Path) -> Option<Self> {
        if path.exists() {
            return None;
        }
        [Self::family(), Self::split(), Self::Multi]
            .into_iter()
            .find(|members| members.first(path).is_ok_and(|first| first.is_file()))
    }

    /// Returns the path of the member that has the superblock. Errors with the reason why there is none.
    fn first(&self, path: &Path) -> Result<PathBuf, &'static str> {
        let expanded = |template: &[u8]| name::expanded(template, path).ok_or(arrange::OTHER_PLACE);
        match self {
            Self::Family { .. } => name::Numbered::parse(path).map(|numbered| numbered.of(0)),
            Self::Split { metadata, .. } => expanded(metadata),
            Self::Multi => expanded(b"-s.h5"),
        }
    }

    /// Opens the member that has the superblock, without a lock: for reading, or for writing as `create`
    /// says. With `replace`, a new file replaces an existing one.
    ///
    /// Errors: it cannot be opened, or it would be created beside a member of another file.
    pub fn open_first(&self, path: &Path, create: Option<Create>, replace: bool) -> CrateResult<Posix> {
        let first = self.first(path).map_err(|why| RequestError::Members { why: why.to_owned() })?;
        let creates = create.is_some_and(|create| create != Create::No) && !replace && !first.exists();
        if let (Self::Split { raw, .. }, true) = (self, creates) {
            arrange::check_new(&arrange::member(raw, path)?)?;
        }
        check_regular(&first)
            .and_then(|()| match create {
                Some(create) => Posix::open_writable_unlocked(&first, create),
                None => Posix::open_unlocked(&first),
            })
            .map_err(Error::io("open", 0, 0))
    }

    /// Returns whether a file that is open with these members is what an opening with `other` members asks
    /// for. Of a family, the file itself states the size of members.
    pub fn are_those_of(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Family { .. }, Self::Family { .. })) || self == other
    }
}

/// The members of one file, in their places.
///
/// 1. Members are in the order of their addresses and do not overlap.
/// 2. A read never passes over a member that could not be opened: it is an error.
#[derive(Debug)]
pub struct MemberFiles(Vec<Placed>);

/// One member in its place.
#[derive(Debug)]
struct Placed {
    /// The address of its first byte.
    start: u64,
    /// The address after its last byte. For a member that could not be opened, the start of the next.
    end: u64,
    file: Result<Arc<Posix>, Missing>,
}

/// The reason why a member could not be opened.
#[derive(Debug, Clone)]
struct Missing {
    kind: io::ErrorKind,
    why: String,
}

impl Missing {
    fn new(path: &Path, error: &io::Error) -> Self {
        Self { kind: error.kind(), why: format!("the member {}: {error}", path.display()) }
    }

    fn error(&self) -> io::Error {
        io::Error::new(self.kind, self.why.clone())
    }
}

impl Placed {
    fn file(&self) -> io::Result<&Posix> {
        self.file.as_deref().map_err(Missing::error)
    }
}

impl MemberFiles {
    fn end(&self) -> u64 {
        self.0.last().map_or(0, |last| last.end)
    }

    /// Returns the member that has the byte at `offset`, if there is one.
    fn holder(&self, offset: u64) -> Option<&Placed> {
        let after = self.0.partition_point(|placed| placed.start <= offset);
        self.0.get(after.checked_sub(1)?).filter(|placed| offset < placed.end)
    }

    /// Returns the member that has all of the `len` bytes at `offset`, with the offset in it.
    fn whole(&self, offset: u64, len: u64) -> Option<(&Posix, u64)> {
        let placed = self.holder(offset).filter(|placed| len <= placed.end - offset)?;
        Some((placed.file().ok()?, offset - placed.start))
    }
}

impl Driver for MemberFiles {
    fn len(&self) -> io::Result<u64> {
        Ok(self.end())
    }

    /// Bytes between two members read as zeros: a read may span members whose data are wanted.
    fn read_at(&self, mut offset: u64, mut dst: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(dst.len() as u64).is_none_or(|end| end > self.end()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        while !dst.is_empty() {
            let next = self.0.partition_point(|placed| placed.start <= offset);
            let holder = self.holder(offset);
            let end = match holder {
                Some(placed) => placed.end,
                None => self.0.get(next).map_or(u64::MAX, |next| next.start),
            };
            let now = usize::try_from(end - offset).unwrap_or(usize::MAX).min(dst.len());
            let (here, rest) = dst.split_at_mut(now);
            match holder {
                Some(placed) => placed.file()?.read_at(offset - placed.start, here)?,
                None => here.fill(0),
            }
            dst = rest;
            offset += now as u64;
        }
        Ok(())
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        read_ahead(self, queue)
    }

    /// The members are only read.
    fn flush(&self, _closing: bool) -> io::Result<()> {
        Ok(())
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { parts: Some(self), ..Capabilities::new("members", Posix::HINTS) }
    }
}

impl InParts for MemberFiles {
    fn parts(&self) -> Vec<Range<u64>> {
        let mut parts: Vec<Range<u64>> = Vec::new();
        for placed in self.0.iter().filter(|placed| placed.file.is_ok()) {
            match parts.last_mut() {
                Some(before) if before.end == placed.start => before.end = placed.end,
                _ => parts.push(placed.start..placed.end),
            }
        }
        let is_whole = matches!(&parts[..], [one] if *one == (0..self.end()));
        if is_whole { Vec::new() } else { parts }
    }
}

impl Medium for MemberFiles {
    fn read_now(&self, offset: u64, dst: &mut [u8]) -> Option<usize> {
        let (file, at) = self.whole(offset, dst.len() as u64)?;
        file.read_now(at, dst)
    }

    fn fetch(&self, offset: u64, len: u64) {
        if let Some((file, at)) = self.whole(offset, len) {
            file.fetch(at, len);
        }
    }
}
