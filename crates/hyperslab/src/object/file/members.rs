//! Files whose bytes are distributed over several files (spec II.B): opening them, and what they state of
//! their members.

use std::path::Path;
use std::sync::Arc;

use hyperslab_format::superblock::driver_information::{DriverBlock, DriverInformation, DriverMessage};

use super::options::OpenOptions;
use crate::driver::{Arranged, Driver, Members, Posix, advice};
use crate::error::{Error, RequestError, Result};
use crate::object::header::read::Header;
use crate::store::Store;

/// Checks that files with such members can be opened as `options` say, before a file is created.
pub(super) fn check_options(options: &OpenOptions) -> Result<()> {
    match &options.members {
        Some(Members::Split { .. } | Members::Multi) if options.access.writes() => {
            Err(Error::unsupported("writing split and multi files (a family can be written)", "II.B"))
        }
        Some(_) if options.swmr => Err(no_swmr()),
        _ => Ok(()),
    }
}

/// Opens the members of the file at `path`. `first`, the one with the superblock, is open as `options` say.
pub(super) fn open(
    first: Posix,
    path: &Path,
    members: &Members,
    options: &OpenOptions,
) -> Result<Arc<dyn Driver>> {
    let write = options.access.writes();
    let is_empty = first.is_empty().map_err(Error::io("length", 0, 0))?;
    if let Some(DriverInformation::Family { member_size }) = to_state(options)
        && write
        && options.access.makes(is_empty)
    {
        let created = Arranged::create(path, first, member_size, options.user_block, options.locking)?;
        return Ok(Arc::new(created));
    }
    let arranged = Arranged::open(path, members, first, options.locking, write)?;
    let given = Arc::new(arranged.as_given()?);
    let store = Store::open_incomplete(Arc::clone(&given) as Arc<dyn Driver>)?;
    let end = store.superblock().end_of_file();
    let stated = stated(&store).or_else(|error| arranged.check_whole(&given, end).and(Err(error)))?;
    let placed = arranged.as_stated(stated.as_ref())?;
    arranged.check_whole(&placed, end)?;
    if write {
        return Ok(Arc::new(arranged.to_write(&placed, stated.as_ref(), store.base())?));
    }
    Ok(Arc::new(placed))
}

/// Returns what a new file states of its members.
pub(super) fn to_state(options: &OpenOptions) -> Option<DriverInformation> {
    match options.members {
        Some(Members::Family { member_size }) => {
            let member_size = member_size.filter(|&size| size > 0).unwrap_or(DEFAULT_SIZE);
            Some(DriverInformation::Family { member_size })
        }
        _ => None,
    }
}

/// Returns the error of using a file with members for SWMR.
pub(super) fn no_swmr() -> Error {
    let why = "a file in several parts cannot be read while it is written (SWMR)".to_owned();
    RequestError::Members { why }.into()
}

/// Refuses a file that is only one of several members, and changes of a member.
pub(super) fn check(store: &Store, path: Option<&Path>) -> Result<()> {
    advised(store, path)?.map_or(Ok(()), Err)
}

/// Returns what to do instead of opening a file, if it is only one of several members.
pub(in crate::object) fn advice_for(driver: Arc<dyn Driver>, path: Option<&Path>) -> Option<Error> {
    advised(&Store::open_incomplete(driver).ok()?, path).ok().flatten()
}

fn advised(store: &Store, path: Option<&Path>) -> Result<Option<Error>> {
    if store.has_parts() {
        return Ok(None);
    }
    let superblock = store.superblock();
    let end = store.base().saturating_add(store.len_bytes());
    let is_cut = superblock.end_of_file() > end && !superblock.is_marked_swmr();
    match stated(store) {
        Ok(None) if !is_cut => Ok(None),
        Err(error) if !is_cut => Err(error),
        // A family of one member is read as an ordinary file.
        Ok(Some(DriverInformation::Family { .. })) if !is_cut && !store.is_writable() => Ok(None),
        stated => Ok(advice(path, stated.ok().flatten().as_ref())),
    }
}

/// Returns what the file states of its members.
fn stated(store: &Store) -> Result<Option<DriverInformation>> {
    let superblock = store.superblock();
    if let Some(at) = superblock.driver_information() {
        return store.read::<DriverBlock>(at, &()).map(|block| Some(block.0));
    }
    let Some(extension) = superblock.extension() else { return Ok(None) };
    let message = Header::read(store, extension)?.find::<DriverMessage>(store)?;
    Ok(message.map(|message| message.0))
}

/// The size of the members of a new family in bytes, as in h5py.
const DEFAULT_SIZE: u64 = 2_147_483_647;
