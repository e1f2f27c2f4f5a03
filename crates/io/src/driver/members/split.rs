//! The two members of a split file as one medium with two ranges of offsets: metadata are in one member, and
//! elements in the other one.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use hyperslab_format::superblock::driver_information::{DriverInformation, MultiInformation};

use super::Missing;
use super::member::Member;
use crate::driver::ahead::{Medium, read_ahead};
use crate::driver::{
    Capabilities, Driver, Elements, HoldsLock, Posix, ReadQueue, ReservesSpace, WriteRequest,
};

/// The names of files that were created.
pub trait Names: Debug + Send + Sync {
    /// Makes the names durable that were not so before.
    fn sync(&self) -> io::Result<()>;
}

/// A split file that is open for reading or writing.
#[derive(Debug)]
pub struct Split {
    metadata: Member,
    raw: Result<Member, Missing>,
    names: Box<dyn Names>,
    /// The names of the members, in which `%s` stands for the path of the file.
    templates: [Vec<u8>; 2],
}

impl Split {
    /// Returns the file with these members, whose names in the folder are `names`.
    pub fn new(metadata: Arc<dyn Medium>, raw: Arc<dyn Medium>, names: Box<dyn Names>) -> Self {
        Self::of(metadata, Ok(raw), names, [b"%s-m.h5".to_vec(), b"%s-r.h5".to_vec()])
    }

    pub(super) fn of(
        metadata: Arc<dyn Medium>,
        raw: Result<Arc<dyn Medium>, Missing>,
        names: Box<dyn Names>,
        templates: [Vec<u8>; 2],
    ) -> Self {
        Self { metadata: Member::new(metadata), raw: raw.map(Member::new), names, templates }
    }

    fn raw(&self) -> io::Result<&Member> {
        self.raw.as_ref().map_err(Missing::error)
    }

    /// Returns the member that has the byte at `offset`, with the offset in it. The range of `len` bytes must
    /// be in one member: otherwise `otherwise` is the error.
    fn place(&self, offset: u64, len: usize, otherwise: io::ErrorKind) -> io::Result<(&Member, u64)> {
        match offset.checked_sub(START) {
            Some(at) => Ok((self.raw()?, at)),
            None if len as u64 <= START - offset => Ok((&self.metadata, offset)),
            None => Err(otherwise.into()),
        }
    }

    fn to_write(&self, offset: u64, len: usize) -> io::Result<(&Member, u64)> {
        self.place(offset, len, io::ErrorKind::FileTooLarge)
    }
}

impl Driver for Split {
    fn len(&self) -> io::Result<u64> {
        self.metadata.file.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let (member, at) = self.place(offset, dst.len(), io::ErrorKind::UnexpectedEof)?;
        member.file.read_at(at, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let (member, at) = self.to_write(offset, src.len())?;
        member.change(|file| file.write_at(at, src))
    }

    /// Writes that follow each other in one member are handed to it together.
    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        for run in requests.chunk_by(|before, after| (before.offset < START) == (after.offset < START)) {
            let mut inside = Vec::with_capacity(run.len());
            for WriteRequest { offset, src } in run {
                inside.push(WriteRequest { offset: self.to_write(*offset, src.len())?.1, src });
            }
            let (member, _) = self.to_write(run.first().map_or(0, |first| first.offset), 0)?;
            member.change(|file| file.write_batch(&inside))?;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.metadata.change(|file| file.set_len(len))
    }

    /// The elements become durable before metadata that may refer to them. Closing needs no flush, as in
    /// [`Posix`].
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing {
            return Ok(());
        }
        self.raw()?.flush()?;
        self.metadata.flush()?;
        self.names.sync()
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        read_ahead(self, queue)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            space: Some(self),
            lock: Some(self),
            elements: Some(self),
            ..Capabilities::new("members", Posix::HINTS)
        }
    }
}

impl ReservesSpace for Split {
    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        let (member, at) = self.to_write(offset, usize::try_from(len).unwrap_or(usize::MAX))?;
        let file: &dyn Driver = &*member.file;
        file.reserve(at, len)
    }
}

impl HoldsLock for Split {
    fn unlock(&self) -> io::Result<()> {
        let (metadata, raw): (&dyn Driver, _) = (&*self.metadata.file, &self.raw);
        metadata.unlock()?;
        raw.iter().try_for_each(|raw| {
            let raw: &dyn Driver = &*raw.file;
            raw.unlock()
        })
    }
}

impl Elements for Split {
    fn start(&self) -> u64 {
        START
    }

    fn len(&self) -> io::Result<u64> {
        self.raw()?.file.len()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.raw()?.change(|file| file.set_len(len))
    }

    fn to_state(&self) -> DriverInformation {
        DriverInformation::Multi(MultiInformation::split(self.templates.clone()))
    }
}

impl Medium for Split {
    fn read_now(&self, offset: u64, dst: &mut [u8]) -> Option<usize> {
        let (member, at) = self.place(offset, dst.len(), io::ErrorKind::UnexpectedEof).ok()?;
        member.file.read_now(at, dst)
    }

    fn fetch(&self, offset: u64, len: u64) {
        let len_in_one = usize::try_from(len).unwrap_or(usize::MAX);
        if let Ok((member, at)) = self.place(offset, len_in_one, io::ErrorKind::UnexpectedEof) {
            member.file.fetch(at, len);
        }
    }
}

/// The offset of the first element.
const START: u64 = MultiInformation::SPLIT_AT;
