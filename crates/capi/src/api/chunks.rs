//! Chunks as they are stored, without the filters.

use std::ffi::c_void;

use hyperslab::Dataset;

use crate::codes::HS_NO_ADDRESS;
use crate::failure::{Failure, guard};
use crate::handle;
use crate::items::{self, ItemKind};
use crate::pointers;
use crate::structs::{hs_chunk_info, hs_dataset, hs_items};

/// Describes the chunk whose first element is `first`. `bytes` may be NULL; else it gets the
/// stored bytes as one item, or no item if the chunk was never written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_chunk_read(
    dataset: *mut hs_dataset,
    rank: u32,
    first: *const u64,
    info: *mut hs_chunk_info,
    bytes: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (bytes, (place, _), first) = unsafe {
            let bytes = if bytes.is_null() { None } else { Some(pointers::items("bytes", bytes)?) };
            (bytes, pointers::filled("info", info)?, pointers::array("first", first, rank as usize)?)
        };
        let dataset = handle::dataset(dataset.addr())?;
        let coord = coordinate(&dataset, first)?;
        if dataset.file().is_writable() {
            // Chunks that were written in part are in memory until then.
            dataset.flush_chunks()?;
        }
        let (record, stored) = match bytes {
            None => (dataset.chunk_at(&coord)?, Vec::new()),
            Some(_) => dataset
                .stored_chunk_at(&coord)?
                .map_or((None, Vec::new()), |(record, stored)| (Some(record), stored)),
        };
        let mut found = hs_chunk_info { size: 0, is_stored: 0, mask: 0, address: HS_NO_ADDRESS, bytes: 0 };
        if let Some(record) = record {
            found.is_stored = 1;
            found.mask = record.mask.0;
            found.address = record.extent.addr.get();
            found.bytes = record.extent.len;
            if let Some(bytes) = bytes {
                items::put(bytes, ItemKind::Data, std::iter::once(&stored[..]))?;
            }
        }
        place.put(&found);
        Ok(())
    })
}

/// Stores a chunk that is encoded already. `first` is its first element. Bit `i` of `mask` is set if filter
/// `i` was not applied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_chunk_write(
    dataset: *mut hs_dataset,
    rank: u32,
    first: *const u64,
    mask: u32,
    bytes: *const c_void,
    size: usize,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (first, bytes) = unsafe {
            (
                pointers::array("first", first, rank as usize)?,
                pointers::array("bytes", bytes.cast::<u8>(), size)?,
            )
        };
        Ok(handle::dataset(dataset.addr())?.write_stored_chunk(first, mask, bytes)?)
    })
}

/// Returns the coordinate, counted in chunks, of the chunk that begins at `first`.
fn coordinate(dataset: &Dataset, first: &[u64]) -> Result<Vec<u64>, Failure> {
    let chunk = dataset.chunk_shape();
    let chunk =
        chunk.ok_or_else(|| Failure::request(format!("{}: it is not stored in chunks", dataset.path())))?;
    let shape = dataset.shape();
    let is_first = first.len() == chunk.len()
        && first.iter().zip(&chunk).zip(&shape).all(|((at, len), end)| at % len == 0 && at < end);
    if !is_first {
        let why = format!("{first:?} is not the first element of a chunk of shape {chunk:?} in {shape:?}");
        return Err(Failure::argument("first", why));
    }
    Ok(first.iter().zip(&chunk).map(|(at, len)| at / len).collect())
}
