//! Files that change: the structures of new files, and writing changes to a file.

use std::path::Path;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::group::symbol::{EntryCache, SymbolTableEntry};
use hyperslab_format::header::{Prefix, RawMessage, v2};
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::group_info::{GroupInfo, PhaseChange};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::message::{MessageBody, kind};
use hyperslab_format::superblock::driver_information::{DriverBlock, DriverInformation, DriverMessage};
use hyperslab_format::superblock::v0::SuperblockV0;
use hyperslab_format::superblock::v2::SuperblockV2;
use hyperslab_format::superblock::{DEFAULT_GROUP_INTERNAL_K, DEFAULT_GROUP_LEAF_K, Superblock};
use hyperslab_format::{Addr, Widths, Writer};
use hyperslab_io::driver::{Driver, Memory};
use hyperslab_store::heap::symbol_table;
use hyperslab_store::{Collective, Store, Txn};

use super::options::OpenOptions;
use super::space::{self, FileSpace};
use super::{Shared, members};
use crate::object::header;
use crate::object::header::edit::HeaderChange;
use crate::object::header::read::Header;
use crate::object::header::versions::LibVersion;
use crate::object::{File, Node, dense};

impl Shared {
    /// Creates a file on `driver`.
    pub(super) fn create(
        driver: Arc<dyn Driver>,
        path: Option<&Path>,
        options: &OpenOptions,
        collective: Option<Arc<Collective>>,
    ) -> Result<Self> {
        members::check_space_on(&*driver, &options.space)?;
        let version = options.version.unwrap_or(LibVersion::V110);
        let has_space = options.space != FileSpace::default();
        // Version 0 has no extension.
        let superblock_version = version.superblock().max(if has_space { 2 } else { 0 });
        let superblock =
            |root, table, stated| superblock(superblock_version, options.user_block, root, table, stated);
        let unrooted = superblock(Addr::new(0), None, Addr::UNDEFINED);
        let cache = options.metadata_cache_bytes;
        let members = members::to_state(&*driver, options);
        let mut store =
            Store::create_shared(driver, options.user_block, unrooted, cache, options.commit, collective)?;
        store.set_space_rules(options.space_rules(&options.space), true);
        let (root, table, stated) = {
            let mut txn = store.begin()?;
            let prefix = if version.is_old() { Prefix::V1 { reference_count: 1 } } else { prefix(false) };
            let stated = state(&mut txn, superblock_version, prefix, members, options)?;
            let header = new_group(&mut txn, version, options.track_order)?;
            txn.finish()?;
            (header.address(), header.find::<SymbolTable>(&store)?, stated)
        };
        store.set_superblock(superblock(root, table, stated));
        store.show_empty(small_file)?;
        Self::of_store(store, path, options, version)
    }

    /// Opens a file for reading and writing.
    pub(super) fn change(
        driver: Arc<dyn Driver>,
        path: Option<&Path>,
        options: &OpenOptions,
        collective: Option<Arc<Collective>>,
    ) -> Result<Self> {
        let cache = options.metadata_cache_bytes;
        let mut store = Store::open_shared(driver, cache, options.commit, collective)?;
        let space = FileSpace::read(&store)?;
        members::check_space_on(&**store.driver()?, &space)?;
        if options.ranks.is_some() && space.persist {
            return Err(Error::unsupported(
                "changing a file that keeps its free space by several ranks",
                "IV.A.2.x",
            ));
        }
        store.set_space_rules(options.space_rules(&space), false);
        if let Some(extension) = store.superblock().extension() {
            settle_image(&store, extension)?;
        }
        space::take_over(&store)?;
        store.set_finder(options.finder, options.searches);
        let version =
            options.version.unwrap_or_else(|| LibVersion::of_superblock(store.superblock().version()));
        Self::of_store(store, path, options, version)
    }
}

/// Returns the bytes of an empty file that is inside one sector.
fn small_file() -> Result<Vec<u8>> {
    let memory = Arc::new(Memory::default());
    Shared::create(memory.clone(), None, &OpenOptions::new(), None)?;
    Ok(memory.bytes())
}

/// Writes what a new file states of its space and its members. Returns the address for the superblock: that
/// of its extension, or in version 0 that of the driver information block.
fn state(
    txn: &mut Txn<'_>,
    version: u8,
    prefix: Prefix,
    members: Option<DriverInformation>,
    options: &OpenOptions,
) -> Result<Addr> {
    if version < 2 {
        return members.map_or(Ok(Addr::UNDEFINED), |members| txn.put_new(DriverBlock(members), ()));
    }
    let widths = txn.store().widths();
    let members = members.map(|members| message(&DriverMessage(members), RawMessage::DO_NOT_SHARE, widths));
    let space = (options.space != FileSpace::default()).then(|| options.space.raw_message(widths));
    let messages: Vec<RawMessage> = members.into_iter().chain(space).collect();
    if messages.is_empty() {
        return Ok(Addr::UNDEFINED);
    }
    Ok(header::edit::create(txn, prefix, messages, 0)?.address())
}

/// Puts the blocks of a cache image in their places and removes the image, which `extension` names.
fn settle_image(store: &Store, extension: Addr) -> Result<()> {
    let Some(image) = store.settle_image()? else { return Ok(()) };
    store.step(|txn| {
        let mut change = HeaderChange::new(txn, extension)?;
        change.take(kind::METADATA_CACHE_IMAGE)?;
        change.finish()?;
        txn.free(image.extent);
        Ok(())
    })
}

impl File {
    /// Returns whether the file can be changed.
    pub fn is_writable(&self) -> bool {
        self.store().is_writable()
    }

    /// Returns the oldest libhdf5 that can read new objects.
    pub fn version(&self) -> LibVersion {
        self.shared().version
    }

    /// Writes all changes to the file: all of them or none, as durably as [`Durability`](crate::Durability)
    /// says.
    ///
    /// Elements without filters are an exception: they are written in place. In a file open for reading, this
    /// does nothing.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("climate.h5");
    /// let file = hyperslab::File::create(&path)?;
    /// file.root().set_attribute("version", 3)?;
    /// file.flush()?; // from here on, the attribute survives the death of the program
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flush(&self) -> Result<()> {
        if !self.is_writable() {
            return Ok(());
        }
        self.store().check_writable()?;
        self.flush_chunks()?;
        self.store().commit()
    }

    /// Lets other programs read the file while this one writes it (SWMR: single writer, multiple readers).
    /// They see changes after each [`flush`](Self::flush), and never half of a change. This lasts until the
    /// file is closed.
    ///
    /// Changes are written in order instead of all or nothing: a writer that dies leaves a file that is
    /// marked as open, and that may have some of the changes since the last flush. Space that is freed is not
    /// used again before the file is closed.
    ///
    /// Errors: the file has a superblock of a version below 3 (see [`LibVersion`]), is in several parts, is
    /// open for reading, or is in this mode already.
    ///
    /// ```
    /// let directory = tempfile::tempdir()?;
    /// let file = hyperslab::File::create(directory.path().join("series.h5"))?;
    /// let options = file.root().new_dataset::<u8>("series").shape([0]).max_shape([None]).chunks([4]);
    /// let series = options.create()?;
    /// file.start_swmr()?;
    /// series.resize(&[2])?;
    /// series.write(.., &[1, 2])?;
    /// file.flush()?; // other programs that follow the file may see two elements now
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_swmr(&self) -> Result<()> {
        if self.store().collective().is_some() {
            return Err(Error::unsupported("SWMR in a file that several processes change together", "II.A"));
        }
        if self.shared().options.members.is_some() {
            return Err(members::no_swmr());
        }
        self.flush()?;
        self.store().start_swmr()
    }

    /// Returns whether another program may write the file while this one reads it, or read it while this one
    /// writes.
    pub fn is_swmr(&self) -> bool {
        self.store().follows() || self.store().is_swmr_writer()
    }

    /// Encodes and writes the chunks that were changed in part.
    pub(in crate::object) fn flush_chunks(&self) -> Result<()> {
        let dirty = &self.chunk_cache().dirty;
        let generation = self.store().generation();
        for address in dirty.datasets() {
            let flushed = self.object_at(address).and_then(Node::into_dataset);
            let flushed = flushed.and_then(|dataset| dataset.flush_chunks());
            // Another thread may have deleted the dataset meanwhile, with its changes. A thread that still
            // writes to the dataset holds the lock.
            let is_gone = || {
                self.store().is_over(address, generation) || {
                    let state = self.dataset_state(address);
                    let _alone = state.data.write();
                    !dirty.datasets().contains(&address)
                }
            };
            if let Err(error) = flushed
                && !is_gone()
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Does all changes of `f`, or none: commits earlier changes, runs `f`, and commits the changes of `f`.
    /// If `f` or the commit fails, or `f` panics, the file is as before.
    ///
    /// Elements of datasets without chunks are written in place, and are not undone. Changes by other threads
    /// at the same time belong to the transaction, too.
    ///
    /// ```
    /// let file = hyperslab::File::in_memory()?;
    /// let failed = file.transaction(|| {
    ///     file.root().create_group("half")?;
    ///     file.dataset("missing").map(drop)
    /// });
    /// assert!(failed.is_err() && file.group("half").is_err());
    /// # Ok::<(), hyperslab::Error>(())
    /// ```
    pub fn transaction<R>(&self, f: impl FnOnce() -> Result<R>) -> Result<R> {
        self.begin_transaction()?;
        let mut unwinding = RollBack(Some(self));
        let result = f();
        unwinding.0 = None;
        self.end_transaction(result.is_ok())?;
        result
    }

    /// Begins a [transaction](Self::transaction), which [`end_transaction`](Self::end_transaction) ends.
    #[doc(hidden)]
    pub fn begin_transaction(&self) -> Result<()> {
        self.flush()?;
        self.store().begin_transaction()?;
        self.shared().unlinked.lock().begin();
        Ok(())
    }

    /// Ends a transaction: commits its changes, or undoes them.
    #[doc(hidden)]
    pub fn end_transaction(&self, is_kept: bool) -> Result<()> {
        let flushed = if is_kept { self.flush_chunks() } else { Ok(()) };
        let committed = match flushed {
            Ok(()) if is_kept => self.store().end_transaction(),
            other => other,
        };
        if !is_kept || committed.is_err() {
            self.shared().datasets.count_for_all();
            self.chunk_cache().dirty.clear();
            // A thread that has read ids reads their data before these are taken back.
            let lock = || (self.shared().heap_objects.write(), self.shared().heap_room.lock());
            let undone = self.store().roll_back(lock).map(|(_unread, mut room)| room.clear());
            self.shared().datasets.count_for_all();
            undone?;
        }
        self.shared().unlinked.lock().end(is_kept && committed.is_ok());
        committed
    }
}

/// Returns the header of a new group.
pub(in crate::object) fn new_group(
    txn: &mut Txn<'_>,
    version: LibVersion,
    track_order: bool,
) -> Result<Arc<Header>> {
    new_group_of(txn, version, track_order, None)
}

/// Returns the header of a new group that moves links and attributes out of its header at these numbers. A
/// group of the old file format has other limits.
pub(in crate::object) fn new_group_of(
    txn: &mut Txn<'_>,
    version: LibVersion,
    track_order: bool,
    phase_change: Option<PhaseChange>,
) -> Result<Arc<Header>> {
    if version.is_old() && !track_order {
        let table = symbol_table::create(txn)?;
        let widths = txn.store().widths();
        let messages = vec![message(&table, 0, widths)];
        return header::edit::create(txn, Prefix::V1 { reference_count: 1 }, messages, 0);
    }
    let widths = txn.store().widths();
    let info: LinkInfo = dense::none_yet(track_order.then_some(0), track_order);
    let messages = vec![
        message(&info, 0, widths),
        message(&GroupInfo { phase_change, estimate: None }, RawMessage::CONSTANT, widths),
    ];
    let room = if track_order { GROUP_ROOM_ORDERED } else { GROUP_ROOM };
    let prefix = match prefix(track_order) {
        Prefix::V2(prefix) => Prefix::V2(v2::Prefix { phase_change, ..prefix }),
        old @ Prefix::V1 { .. } => old,
    };
    header::edit::create(txn, prefix, messages, room)
}

/// Returns the prefix of a new version 2 header.
pub(in crate::object) fn prefix(track_order: bool) -> Prefix {
    Prefix::V2(v2::Prefix {
        len_width: 0,
        tracks_creation_order: track_order,
        indexes_creation_order: track_order,
        times: None,
        phase_change: None,
    })
}

/// Returns a message with this body.
pub(in crate::object) fn message<T: MessageBody>(body: &T, flags: u8, widths: Widths) -> RawMessage {
    let mut data = Vec::new();
    Writer::new(&mut data, widths).structure(body, &());
    RawMessage { kind: T::KIND, flags, creation_order: None, data: data.into(), at: Addr::UNDEFINED }
}

/// Returns the superblock of a new file. `stated` is the address of its extension, or in version 0 that of
/// the driver information block.
fn superblock(version: u8, base: u64, root: Addr, table: Option<SymbolTable>, stated: Addr) -> Superblock {
    let widths = Widths::EIGHT;
    if version > 0 {
        return Superblock::V2(SuperblockV2 {
            version,
            widths,
            consistency_flags: 0,
            base_address: base,
            extension: stated,
            end_of_file: base,
            root,
        });
    }
    let cache = match table {
        Some(SymbolTable { btree, heap }) => EntryCache::Group { btree, heap },
        None => EntryCache::None,
    };
    Superblock::V0(SuperblockV0 {
        version: 0,
        widths,
        group_leaf_k: DEFAULT_GROUP_LEAF_K,
        group_internal_k: DEFAULT_GROUP_INTERNAL_K,
        consistency_flags: 0,
        indexed_storage_k: None,
        base_address: base,
        free_space: Addr::UNDEFINED,
        end_of_file: base,
        driver_information: stated,
        root: SymbolTableEntry { name_offset: 0, header: root, cache },
    })
}

pub(super) fn check_user_block(len: u64) -> Result<()> {
    if len == 0 || (len >= 512 && len.is_power_of_two()) {
        return Ok(());
    }
    let why = "a user block has no bytes, or a power of two of them from 512 on";
    Err(RequestError::Argument { what: format!("user block of {len} bytes"), why }.into())
}

/// Rolls back the transaction of the file when it is dropped.
struct RollBack<'f>(Option<&'f File>);

impl Drop for RollBack<'_> {
    fn drop(&mut self) {
        // The panic goes on; an error cannot be returned beside it.
        self.0.into_iter().for_each(|file| drop(file.end_transaction(false)));
    }
}

/// The bytes for messages in the header of a new group, as in libhdf5: room for four links with names of
/// eight bytes.
const GROUP_ROOM: usize = 120;
/// The same for messages and links that store their creation order.
const GROUP_ROOM_ORDERED: usize = 180;
