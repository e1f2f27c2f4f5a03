//! Files whose bytes are distributed over several files (spec II.B): opening them, and what they state of
//! their members. They are only read.

use std::path::Path;
use std::sync::Arc;

use hyperslab_format::superblock::driver_information::{DriverBlock, DriverInformation, DriverMessage};

use super::options::OpenOptions;
use crate::driver::{Arranged, Driver, Members, advice};
use crate::error::{Error, RequestError, Result};
use crate::object::header::read::Header;
use crate::store::Store;

/// Opens the members of the file at `path`.
pub(super) fn open(path: &Path, members: &Members, options: &OpenOptions) -> Result<Arc<dyn Driver>> {
    if options.access.writes() {
        return Err(Error::unsupported("writing files in several parts (family, split, multi)", "II.B"));
    }
    if options.swmr {
        let why = "a file in several parts cannot be read while it is written (SWMR)".to_owned();
        return Err(RequestError::Members { why }.into());
    }
    let arranged = Arranged::open(path, members, options.locking)?;
    let given = Arc::new(arranged.as_given()?);
    let store = Store::open_incomplete(Arc::clone(&given) as Arc<dyn Driver>)?;
    let end = store.superblock().end_of_file();
    let stated = stated(&store).or_else(|error| arranged.check_whole(&given, end).and(Err(error)))?;
    let placed = arranged.as_stated(stated.as_ref())?;
    arranged.check_whole(&placed, end)?;
    Ok(Arc::new(placed))
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
