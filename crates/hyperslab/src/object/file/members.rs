//! Files whose bytes are distributed over several files (spec II.B): opening them, and what they state of
//! their members.

use std::path::Path;
use std::sync::Arc;

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::superblock::driver_information::DriverInformation;
use hyperslab_io::driver::{Arranged, Driver, Elements, Members, Posix, advice};
use hyperslab_store::Store;

use super::options::OpenOptions;
use super::space::FileSpace;

/// Checks that files with such members can be opened as `options` say, before a file is created.
pub(super) fn check_options(options: &OpenOptions) -> Result<()> {
    match &options.members {
        Some(Members::Multi) if options.access.writes() => {
            Err(Error::unsupported("writing multi files (families and split files can be written)", "II.B"))
        }
        Some(_) if options.swmr => Err(no_swmr()),
        Some(Members::Split { .. }) if options.access.writes() => check_space(&options.space),
        _ => Ok(()),
    }
}

/// Refuses what libhdf5 refuses for the space of a split file.
fn check_space(space: &FileSpace) -> Result<()> {
    if space.page().is_none() && !space.persist {
        return Ok(());
    }
    let why = "a split file allocates no pages and keeps no free space: leave out fs_strategy=\"page\" and \
               fs_persist"
        .to_owned();
    Err(RequestError::Members { why }.into())
}

/// Checks that the space of a file on this driver can be managed as `space` says.
pub(super) fn check_space_on(driver: &dyn Driver, space: &FileSpace) -> Result<()> {
    driver.elements().map_or(Ok(()), |_| check_space(space))
}

/// Opens the members of the file at `path`. `first`, the one with the superblock, is open as `options` say.
pub(super) fn open(
    first: Posix,
    path: &Path,
    members: &Members,
    options: &OpenOptions,
) -> Result<Arc<dyn Driver>> {
    let write = options.access.writes();
    let is_empty = first.len().map_err(Error::io("length", 0, 0))? == 0;
    if write && options.access.makes(is_empty) {
        return create(first, path, members, options);
    }
    let arranged = Arranged::open(path, members, first, options.locking, write)?;
    if let Some(split) = arranged.as_split()? {
        let split: Arc<dyn Driver> = Arc::new(split);
        if Store::open_incomplete(Arc::clone(&split))?.states_split()? {
            return Ok(split);
        }
    }
    let given = Arc::new(arranged.as_given()?);
    let store = Store::open_incomplete(Arc::clone(&given) as Arc<dyn Driver>)?;
    let end = store.superblock().end_of_file();
    let stated =
        store.driver_information().or_else(|error| arranged.check_whole(&given, end).and(Err(error)))?;
    let placed = arranged.as_stated(stated.as_ref())?;
    arranged.check_whole(&placed, end)?;
    if write {
        return Ok(Arc::new(arranged.to_write(&placed, stated.as_ref(), store.base())?));
    }
    Ok(Arc::new(placed))
}

/// Creates the members of a new file.
fn create(first: Posix, path: &Path, members: &Members, options: &OpenOptions) -> Result<Arc<dyn Driver>> {
    if let Some(member_size) = member_size(options) {
        let family = Arranged::create(path, first, member_size, options.user_block, options.locking)?;
        return Ok(Arc::new(family));
    }
    let replace = options.access.truncates();
    Ok(Arc::new(Arranged::create_split(path, members, first, replace, options.locking)?))
}

/// Returns the size of the members of a new family.
fn member_size(options: &OpenOptions) -> Option<u64> {
    match options.members {
        Some(Members::Family { member_size }) => {
            Some(member_size.filter(|&size| size > 0).unwrap_or(DEFAULT_SIZE))
        }
        _ => None,
    }
}

/// Returns what a new file on this driver states of its members.
pub(super) fn to_state(driver: &dyn Driver, options: &OpenOptions) -> Option<DriverInformation> {
    let family = || member_size(options).map(|member_size| DriverInformation::Family { member_size });
    driver.elements().map(Elements::to_state).or_else(family)
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
    match store.driver_information() {
        Ok(None) if !is_cut => Ok(None),
        Err(error) if !is_cut => Err(error),
        // A family of one member is read as an ordinary file.
        Ok(Some(DriverInformation::Family { .. })) if !is_cut && !store.is_writable() => Ok(None),
        stated => Ok(advice(path, stated.ok().flatten().as_ref())),
    }
}

/// The size of the members of a new family in bytes, as in h5py.
const DEFAULT_SIZE: u64 = 2_147_483_647;
