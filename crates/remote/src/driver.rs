//! The driver: one file on a server, for reading.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use hyperslab::driver::{Capabilities, Driver, DriverInfo, HasInfo, Hints, InMemory, ReadQueue};
use hyperslab_io::process::{self, PerProcess};

use crate::address::{Address, without_secrets};
use crate::blocks::{BLOCK, Blocks};
use crate::connect::Connection;
use crate::error::named;
use crate::fetch::{self, Counts, Version};
use crate::flight::{Flight, Single};
use crate::options::RemoteOptions;
use crate::runtime;

/// A file on a web server or in an object store.
///
/// The front of the file is read when it is opened and kept. Metadata and small reads get blocks that are
/// kept within a budget; larger reads request neighbouring ranges together, many at a time. All requests are
/// for the version of the file that was opened.
pub struct Remote {
    /// The URL without secrets, for messages.
    name: String,
    pub(crate) version: Arc<Version>,
    /// The first bytes of the file.
    front: Box<[u8]>,
    queue_depth: usize,
    pub(crate) counts: Arc<Counts>,
    /// The number of reads that were interrupted.
    pub(crate) interruptions: AtomicU64,
    session: PerProcess<Session>,
}

/// What a forked child cannot share with its parent.
pub(crate) struct Session {
    forks: u32,
    recipe: Arc<(Address, RemoteOptions)>,
    /// The connection, or why a forked child has none.
    connection: Result<Connection, String>,
    blocks: Blocks,
    /// The number and bytes of the ranges that all threads are requesting.
    pub(crate) in_progress: AtomicUsize,
    pub(crate) bytes: AtomicU64,
}

impl Session {
    fn new(recipe: Arc<(Address, RemoteOptions)>, connection: Result<Connection, String>) -> Self {
        let blocks = Blocks::new(recipe.1.cache_bytes);
        let (in_progress, bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { forks: process::forks(), recipe, connection, blocks, in_progress, bytes }
    }

    /// Returns the session of a forked child.
    fn inherited(&self) -> Self {
        let (address, options) = &*self.recipe;
        let connection = Connection::new(address, options).map_err(|error| error.to_string());
        Self::new(Arc::clone(&self.recipe), connection)
    }

    /// Returns the connection.
    pub(crate) fn connection(&self) -> io::Result<Connection> {
        self.connection.clone().map_err(io::Error::other)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // If a child closed the connections of its parent, it would take them out of the parent's runtime.
        if self.forks != process::forks() {
            std::mem::forget(self.connection.clone());
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// Opens the file at `url`, and reads its front.
    ///
    /// Errors: `InvalidInput` if the URL or an option is unknown or wrong; `NotFound`; `PermissionDenied`;
    /// `Unsupported` if the server does not serve ranges and the file has more than 64 MiB; other errors of
    /// the server. No message has a secret of the URL or the options in it.
    pub fn open(url: &str, options: &RemoteOptions) -> io::Result<Self> {
        let address = Address::parse(url)?;
        let recipe = Arc::new((address, options.clone()));
        let connection = Connection::new(&recipe.0, options)?;
        let counts = Arc::<Counts>::default();
        let front = {
            let (connection, counts, most) = (connection.clone(), Arc::clone(&counts), options.front_bytes);
            async move { fetch::front(&connection, most, WHOLE, &counts).await }
        };
        let (version, front) = runtime::wait_for(front)?;
        Ok(Self {
            name: without_secrets(url),
            version: Arc::new(version),
            front: front.into_boxed_slice(),
            queue_depth: options.queue_depth,
            counts,
            interruptions: AtomicU64::new(0),
            session: PerProcess::new(Session::new(recipe, Ok(connection))),
        })
    }

    pub(crate) fn session(&self) -> &Session {
        self.session.get(Session::inherited)
    }

    /// Checks that a range is in the file.
    pub(crate) fn check(&self, offset: u64, len: usize) -> io::Result<()> {
        let end = offset.checked_add(len as u64).filter(|&end| end <= self.version.len);
        end.map(drop).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Returns whether `len` bytes at `offset` are in memory now.
    pub(crate) fn is_kept(&self, offset: u64, len: usize) -> bool {
        let end = offset.saturating_add(len as u64);
        len == 0 || end <= self.front.len() as u64 || self.session().blocks.has(offset..end)
    }

    /// Copies the bytes at `offset` to `dst` if they are in memory.
    pub(crate) fn copy_kept(&self, offset: u64, dst: &mut [u8]) -> bool {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let in_front = self.front.get(start..).and_then(|rest| rest.get(..dst.len()));
        match in_front {
            Some(bytes) => {
                dst.copy_from_slice(bytes);
                true
            }
            None => self.session().blocks.copy(offset, dst),
        }
    }

    /// Requests the blocks of a small range that are not in memory, and keeps them.
    fn read_blocks(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let end = offset + dst.len() as u64;
        let range = self.session().blocks.missing(&(offset..end), self.version.len);
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(len, 0);
        Flight::new(self).run(&mut Single::new(range.start, &mut bytes))?;
        self.session().blocks.keep(range.start, &bytes)?;
        if range.start <= offset && end <= range.end {
            let start = usize::try_from(offset - range.start).unwrap_or(usize::MAX);
            dst.copy_from_slice(&bytes[start..start + dst.len()]);
            return Ok(());
        }
        // A block may have left the memory meanwhile.
        if self.copy_kept(offset, dst) {
            Ok(())
        } else {
            Flight::new(self).run(&mut Single::new(offset, dst))
        }
    }

    /// Returns the error of a read with the name of the file. The error of an interruption is the caller's.
    fn in_file(&self, error: io::Error) -> io::Error {
        if error.kind() == io::ErrorKind::Interrupted { error } else { named(&self.name, &error) }
    }
}

impl Driver for Remote {
    fn len(&self) -> io::Result<u64> {
        Ok(self.version.len)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        self.check(offset, dst.len())?;
        if self.copy_kept(offset, dst) {
            return Ok(());
        }
        let read = if dst.len() as u64 > BLOCK {
            Flight::new(self).run(&mut Single::new(offset, dst))
        } else {
            self.read_blocks(offset, dst)
        };
        read.map_err(|error| self.in_file(error))
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn read_many(&self, queue: &mut dyn ReadQueue) -> io::Result<()> {
        Flight::new(self).run(queue).map_err(|error| self.in_file(error))
    }

    fn capabilities(&self) -> Capabilities<'_> {
        let hints =
            Hints { coalesce_gap: GAP, max_span: SPAN, queue_depth: self.queue_depth, concurrent: true };
        Capabilities {
            description: Some(self),
            memory: Some(self),
            ..Capabilities::new("object_store", hints)
        }
    }
}

impl HasInfo for Remote {
    fn info(&self) -> DriverInfo {
        let mut info = DriverInfo::new("object_store");
        info.traffic = Some(self.counts.traffic());
        info
    }
}

impl InMemory for Remote {
    fn bytes(&self) -> io::Result<Option<&[u8]>> {
        Ok((self.front.len() as u64 == self.version.len).then_some(&*self.front))
    }
}

/// The largest file that is read whole if the server does not serve ranges.
const WHOLE: u64 = 64 << 20;
/// With 64 requests of 20 ms in progress, a request more costs 0.3 ms; in this time 256 KiB arrive.
const GAP: u64 = 256 << 10;
/// A range of this length takes longer to arrive than a request takes to begin.
const SPAN: u64 = 4 << 20;
