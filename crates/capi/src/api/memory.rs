//! Items that the library hands out.

use std::ffi::c_void;

use hyperslab::datatype::Padding;
use hyperslab::internals::{StoredIds, VlenId};
use hyperslab_convert::text_of;
use hyperslab_format::Structure;

use crate::failure::{Failure, guard};
use crate::handle;
use crate::items::{self, ItemKind};
use crate::pointers;
use crate::structs::{hs_file, hs_items};

/// Returns the texts or sequences inside other elements: members of compounds, sequences of sequences.
/// `stored` are elements that were read as `HS_STORED` or `HS_NATIVE`, `pitch` bytes apart; the text or
/// sequence is `offset` bytes into each. `element_size` is the bytes of an element of the sequences, 0 for
/// texts. No other thread changes the elements in the file between the two reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_resolve(
    file: *mut hs_file,
    stored: *const c_void,
    stored_size: usize,
    pitch: usize,
    offset: usize,
    element_size: usize,
    items: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, stored) = unsafe {
            (pointers::items("items", items)?, pointers::array("stored", stored.cast::<u8>(), stored_size)?)
        };
        let file = handle::file(file.addr())?;
        let widths = file.store().widths();
        let id = VlenId::read_len(widths, &());
        if offset.checked_add(id).is_none_or(|end| end > pitch) {
            let why = format!("{offset} and {id} bytes of an id are beyond an element of {pitch} bytes");
            return Err(Failure::argument("offset", why));
        }
        if !stored_size.is_multiple_of(pitch) {
            let why = format!("{stored_size} bytes are no whole number of elements of {pitch} bytes");
            return Err(Failure::argument("stored_size", why));
        }
        let _kept = file.reading_vlen();
        let found = file.vlen_items(&StoredIds::new(stored, offset, pitch, widths), element_size.max(1))?;
        let kind = if element_size == 0 { ItemKind::Text } else { ItemKind::Data };
        let whole = |index| match kind {
            ItemKind::Text => text_of(found.get(index), Padding::NullTerminated),
            ItemKind::Data => found.get(index),
        };
        items::put(place, kind, (0..found.len()).map(whole))
    })
}

/// Releases the memory of items and sets them to zeros. Items that are zeros have none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_free(items: *mut hs_items) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let items = unsafe { pointers::given_items(items) }?;
        let owner = std::mem::replace(items, hs_items::NONE).owner;
        if owner.is_null() { Ok(()) } else { handle::release(owner.addr()) }
    })
}
