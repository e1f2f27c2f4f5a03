//! The members of a family as one medium that can be written.
//!
//! 1. Every member before one that has bytes has the full size, so the bytes of the file are those of its
//!    members up to the first one that is shorter. A write makes the members before its own full first, and a
//!    cut shortens the file from its end: a program that dies leaves a file that is shorter or longer, and
//!    nothing else.
//! 2. Before a member gets its full size, the next file is empty or missing. Otherwise the bytes of an older,
//!    longer family would become part of the file.

use std::fmt::Debug;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::{RwLock, RwLockReadGuard};

use super::member::Member;
use crate::driver::ahead::{Medium, read_ahead};
use crate::driver::{Capabilities, Driver, HoldsLock, Posix, ReadQueue, ReservesSpace, WriteRequest};
use crate::process;

/// The files that are members of a family, by number.
pub trait Folder: Debug + Send + Sync {
    /// Returns the file with this number, with no bytes. It is created if it does not exist.
    ///
    /// Errors: it cannot be created or emptied, or another program has it open.
    fn create(&self, number: usize) -> io::Result<Arc<dyn Medium>>;

    /// Removes the file with this number, which is a member without bytes. If that fails, the file stays.
    fn remove(&self, number: usize);

    /// Empties or removes the file with this number, which is no member, if it exists.
    ///
    /// Errors: it is not empty and cannot be emptied, or another program has it open.
    fn clear(&self, number: usize) -> io::Result<()>;

    /// Makes created and removed files durable.
    fn sync(&self) -> io::Result<()>;
}

/// A family that is open for writing.
#[derive(Debug)]
pub struct Family {
    /// The size of a member in bytes, at least 1.
    size: u64,
    folder: Box<dyn Folder>,
    state: RwLock<FamilyState>,
    /// The number of [forks](process::forks) when the family was opened.
    forks: u32,
}

#[derive(Debug)]
struct FamilyState {
    /// The members by number. The last ones may be empty.
    members: Vec<Arc<Member>>,
    /// The number of members known to have the full size, from the first one on.
    full: usize,
    /// Whether the file after the last member is known to be empty or missing.
    is_end_clear: bool,
}

/// A part of a range that is in one member.
struct MemberPiece {
    member: usize,
    /// The offset in the member.
    at: u64,
    /// The place in the range.
    range: Range<usize>,
}

impl FamilyState {
    /// Returns the member, if its bytes can be written now.
    fn ready(&self, number: usize) -> Option<&Arc<Member>> {
        let is_ready = self.full >= number && (number + 1 < self.members.len() || self.is_end_clear);
        self.members.get(number).filter(|_| is_ready)
    }
}

impl Family {
    /// Returns a family of these members, all of which but the last have `size` bytes. There is at least one.
    pub fn new(folder: Box<dyn Folder>, members: Vec<Arc<dyn Medium>>, size: u64) -> Self {
        let full = members.len().saturating_sub(1);
        let members = members.into_iter().map(Member::new).map(Arc::new).collect();
        let state = RwLock::new(FamilyState { members, full, is_end_clear: false });
        Self { size: size.max(1), folder, state, forks: process::forks() }
    }

    fn state(&self) -> io::Result<RwLockReadGuard<'_, FamilyState>> {
        if self.forks == process::forks() {
            return Ok(self.state.read());
        }
        // In a forked child, a thread that was adding a member at the time of the fork does not exist.
        let state = self.state.try_read_recursive();
        state.ok_or_else(|| io::Error::other("a member was being added when this process was forked"))
    }

    /// Returns the number of the member that has the byte at `offset`, and the offset in the member.
    fn place(&self, offset: u64) -> (usize, u64) {
        (usize::try_from(offset / self.size).unwrap_or(usize::MAX), offset % self.size)
    }

    /// Divides a range among the members.
    fn pieces(&self, offset: u64, len: usize) -> impl Iterator<Item = MemberPiece> {
        let mut done = 0;
        std::iter::from_fn(move || {
            (done < len).then(|| {
                let (member, at) = self.place(offset + done as u64);
                let now = usize::try_from(self.size - at).unwrap_or(usize::MAX).min(len - done);
                done += now;
                MemberPiece { member, at, range: done - now..done }
            })
        })
    }

    fn member(&self, number: usize) -> io::Result<Option<Arc<Member>>> {
        Ok(self.state()?.members.get(number).cloned())
    }

    /// Returns the member, if it has all of the `len` bytes at `offset`, with the offset in it.
    fn whole(&self, offset: u64, len: u64) -> Option<(Arc<Member>, u64)> {
        let (number, at) = self.place(offset);
        (len <= self.size - at).then_some(())?;
        Some((self.member(number).ok()??, at))
    }

    /// Returns the member to write to. The members before it get the full size.
    fn to_write(&self, number: usize) -> io::Result<Arc<Member>> {
        if let Some(member) = self.state()?.ready(number) {
            return Ok(Arc::clone(member));
        }
        let state = &mut *self.state.write();
        self.grow(state, number)?;
        state.members.get(number).cloned().ok_or_else(|| io::ErrorKind::FileTooLarge.into())
    }

    /// Makes the member with this number exist, and those before it full.
    fn grow(&self, state: &mut FamilyState, number: usize) -> io::Result<()> {
        while state.full < number {
            let next = state.full + 1;
            self.add(state, next)?;
            state.members[state.full].change(|file| file.set_len(self.size))?;
            state.full = next;
        }
        self.add(state, number)?;
        if number + 1 == state.members.len() && !state.is_end_clear {
            self.folder.clear(number + 1)?;
            state.is_end_clear = true;
        }
        Ok(())
    }

    /// Makes the members up to this number exist.
    fn add(&self, state: &mut FamilyState, number: usize) -> io::Result<()> {
        while state.members.len() <= number {
            state.members.push(Arc::new(Member::new(self.folder.create(state.members.len())?)));
            state.is_end_clear = false;
        }
        Ok(())
    }

    /// Removes all but the first `kept` members, from the last one on.
    fn cut(&self, state: &mut FamilyState, kept: usize) -> io::Result<()> {
        while state.members.len() > kept
            && let Some(last) = state.members.last()
        {
            last.change(|file| file.set_len(0))?;
            state.members.pop();
            state.full = state.full.min(state.members.len().saturating_sub(1));
            state.is_end_clear = true;
            self.folder.remove(state.members.len());
        }
        Ok(())
    }
}

impl Driver for Family {
    fn len(&self) -> io::Result<u64> {
        for (number, member) in self.state()?.members.iter().enumerate().rev() {
            let len = member.file.len()?;
            if len > 0 {
                let before = (number as u64).checked_mul(self.size);
                return before
                    .and_then(|before| before.checked_add(len))
                    .ok_or_else(|| io::ErrorKind::FileTooLarge.into());
            }
        }
        Ok(0)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        end(offset, dst.len() as u64, io::ErrorKind::UnexpectedEof)?;
        for MemberPiece { member, at, range } in self.pieces(offset, dst.len()) {
            let member = self.member(member)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            member.file.read_at(at, &mut dst[range])?;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        end(offset, src.len() as u64, io::ErrorKind::FileTooLarge)?;
        self.pieces(offset, src.len()).try_for_each(|MemberPiece { member, at, range }| {
            self.to_write(member)?.change(|file| file.write_at(at, &src[range]))
        })
    }

    /// Writes that follow each other in one member are handed to it together.
    fn write_batch(&self, requests: &[WriteRequest<'_>]) -> io::Result<()> {
        let mut pieces = Vec::with_capacity(requests.len());
        for WriteRequest { offset, src } in requests {
            end(*offset, src.len() as u64, io::ErrorKind::FileTooLarge)?;
            pieces.extend(self.pieces(*offset, src.len()).map(|MemberPiece { member, at, range }| {
                (member, WriteRequest { offset: at, src: &src[range] })
            }));
        }
        for run in pieces.chunk_by(|(before, _), (after, _)| before == after) {
            let requests: Vec<_> = run.iter().map(|(_, request)| *request).collect();
            let number = run.first().map_or(0, |(member, _)| *member);
            self.to_write(number)?.change(|file| file.write_batch(&requests))?;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let state = &mut *self.state.write();
        let last = self.place(len.saturating_sub(1)).0;
        let in_last = if len == 0 { 0 } else { (len - 1) % self.size + 1 };
        self.cut(state, last.saturating_add(1))?;
        self.grow(state, last)?;
        state.members[last].change(|file| file.set_len(in_last))
    }

    /// Closing needs no flush, as in [`Posix`].
    fn flush(&self, closing: bool) -> io::Result<()> {
        if closing {
            return Ok(());
        }
        let members = self.state()?.members.clone();
        members.iter().try_for_each(|member| member.flush())?;
        self.folder.sync()
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        read_ahead(self, queue)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { space: Some(self), lock: Some(self), ..Capabilities::new("members", Posix::HINTS) }
    }
}

impl ReservesSpace for Family {
    /// Reserves space in members that do not exist yet, too. They stay empty until they are written.
    fn reserve(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = end(offset, len, io::ErrorKind::FileTooLarge)?;
        let state = &mut *self.state.write();
        let before = state.members.len();
        let mut at = offset;
        let mut reserve = |state: &mut FamilyState| {
            while at < end {
                let (number, start) = self.place(at);
                let now = (self.size - start).min(end - at);
                self.add(state, number)?;
                let member: &dyn Driver = &*state.members[number].file;
                member.reserve(start, now)?;
                at += now;
            }
            Ok(())
        };
        let reserved = reserve(state);
        if reserved.is_err() {
            // The space of new members is given back. If that fails, the first error matters.
            let _ = self.cut(state, before);
        }
        reserved
    }
}

impl HoldsLock for Family {
    fn unlock(&self) -> io::Result<()> {
        self.state()?.members.iter().try_for_each(|member| {
            let file: &dyn Driver = &*member.file;
            file.unlock()
        })
    }
}

impl Medium for Family {
    fn read_now(&self, offset: u64, dst: &mut [u8]) -> Option<usize> {
        let (member, at) = self.whole(offset, dst.len() as u64)?;
        member.file.read_now(at, dst)
    }

    fn fetch(&self, offset: u64, len: u64) {
        if let Some((member, at)) = self.whole(offset, len) {
            member.file.fetch(at, len);
        }
    }
}

/// Returns the end of a range.
fn end(offset: u64, len: u64, otherwise: io::ErrorKind) -> io::Result<u64> {
    offset.checked_add(len).ok_or_else(|| otherwise.into())
}
