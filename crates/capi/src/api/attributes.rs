//! Attributes of groups, datasets and committed datatypes.

use std::ffi::{c_char, c_void};

use hyperslab::datatype::Datatype;
use hyperslab::internals::VlenKind;
use hyperslab::{Attribute, Dataspace, Node};
use hyperslab_convert::Conversion;

use crate::arrays;
use crate::codes::{HS_MAX_RANK, HS_STRING};
use crate::failure::{Failure, guard};
use crate::handle;
use crate::items;
use crate::pointers;
use crate::structs::{hs_array_info, hs_file, hs_io_options, hs_items};
use crate::transfer::Transfer;
use crate::types::{self, Named};

/// Returns the names of the attributes of the object at `path`: in the order of creation if the object keeps
/// it, else sorted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_names(
    file: *mut hs_file,
    path: *const c_char,
    names: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, path) = unsafe { (pointers::items("names", names)?, pointers::text("path", path)?) };
        items::put_texts(place, &handle::file(file.addr())?.get(path)?.attribute_names()?)
    })
}

/// Describes the array of an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_info(
    file: *mut hs_file,
    path: *const c_char,
    name: *const c_char,
    info: *mut hs_array_info,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let ((place, given), node, name) =
            unsafe { (pointers::filled("info", info)?, object(file, path)?, pointers::text("name", name)?) };
        arrays::check_wanted(given.wanted)?;
        let widths = node.file().store().widths();
        let mut found = arrays::of_attribute(&node.attribute(name)?, widths, node.address().get());
        found.wanted = given.wanted;
        place.put(&found);
        Ok(())
    })
}

/// Reads all elements of an attribute into `out`, in the type `type`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_read(
    file: *mut hs_file,
    path: *const c_char,
    name: *const c_char,
    r#type: i32,
    out: *mut c_void,
    options: *const hs_io_options,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (node, name, transfer) = unsafe {
            (
                object(file, path)?,
                pointers::text("name", name)?,
                Transfer::of(r#type, options, HS_MAX_RANK)?.without_strides()?,
            )
        };
        let attribute = node.attribute(name)?;
        let widths = node.file().store().widths();
        let datatype = transfer.named.in_memory(&attribute.datatype, widths)?;
        let conversion = Conversion::with_widths(&attribute.datatype, &datatype, widths)?;
        let elements = attribute.dataspace.elements().unwrap_or(0);
        let bytes = transfer.bytes_of(elements, conversion.dst_size() as u64)?;
        // SAFETY: as above.
        let out = unsafe { pointers::room("out", out.cast::<u8>(), bytes) }?;
        let elements = bytes.checked_div(conversion.dst_size()).unwrap_or(0);
        Ok(conversion.apply(&attribute.data, out, elements)?)
    })
}

/// Reads all texts or sequences of an attribute. `type` is the type of the elements of sequences; `HS_STRING`
/// for texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_read_items(
    file: *mut hs_file,
    path: *const c_char,
    name: *const c_char,
    r#type: i32,
    items: *mut hs_items,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (place, node, name) =
            unsafe { (pointers::items("items", items)?, object(file, path)?, pointers::text("name", name)?) };
        let _kept = node.file().reading_vlen();
        let attribute = node.attribute(name)?;
        super::elements::put_items(place, node.file(), &attribute.datatype, &attribute.data, r#type)
    })
}

/// Creates an attribute, or replaces it. `rank` 0: one element, without dimensions. The attribute has the
/// type `type`, of which `data` has all elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_write(
    file: *mut hs_file,
    path: *const c_char,
    name: *const c_char,
    r#type: i32,
    rank: u32,
    shape: *const u64,
    data: *const c_void,
    options: *const hs_io_options,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (node, name, transfer, dataspace) = unsafe {
            (
                object(file, path)?,
                pointers::text("name", name)?,
                Transfer::of(r#type, options, HS_MAX_RANK)?.without_strides()?,
                dataspace(rank, shape)?,
            )
        };
        let widths = node.file().store().widths();
        let datatype = transfer.named.of_new(widths)?;
        if datatype.has_variable_parts() {
            let why = "texts and sequences of variable length are written by hs_attribute_write_items";
            return Err(Failure::argument("type", why));
        }
        let bytes = transfer.bytes_of(elements_of(&dataspace)?, datatype.size(widths))?;
        // SAFETY: as above.
        let data = unsafe { pointers::array("data", data.cast::<u8>(), bytes) }?.to_vec();
        Ok(node.put_attribute(&Attribute { name: name.to_owned(), datatype, dataspace, data })?)
    })
}

/// Creates an attribute of texts (`HS_STRING`) or of sequences of elements of `type`, or replaces it. Item
/// `i` is the `lengths[i]` bytes at `items[i]`; with NULL for `lengths`, the text at `items[i]`. There are as
/// many items as `shape` has elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_write_items(
    file: *mut hs_file,
    path: *const c_char,
    name: *const c_char,
    r#type: i32,
    rank: u32,
    shape: *const u64,
    items: *const *const c_void,
    lengths: *const u64,
    count: usize,
) -> i32 {
    guard(|| {
        if r#type != HS_STRING {
            super::elements::check_lengths(lengths, count)?;
        }
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (node, name, dataspace, items) = unsafe {
            (
                object(file, path)?,
                pointers::text("name", name)?,
                dataspace(rank, shape)?,
                pointers::parts("items", items, lengths, count)?,
            )
        };
        let elements = elements_of(&dataspace)?;
        if elements != count as u64 {
            let why = format!("it is {count}, and the shape has {elements} elements");
            return Err(Failure::argument("count", why));
        }
        let widths = node.file().store().widths();
        let named = Named { code: r#type, message: &[] };
        let datatype = if r#type == HS_STRING {
            named.of_new(widths)?
        } else {
            Datatype::Sequence(Box::new(named.of_new(widths)?))
        };
        let kind = types::vlen_kind(&datatype, widths)?;
        if kind == VlenKind::Text {
            super::elements::check_texts(&items)?;
        }
        // A roll-back of another thread must not take the data back before the attribute refers to it.
        let _storing = node.file().storing();
        let data = node.file().put_elements(&items[..], kind)?;
        Ok(node.put_attribute(&Attribute { name: name.to_owned(), datatype, dataspace, data })?)
    })
}

/// Removes an attribute.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_attribute_delete(
    file: *mut hs_file,
    path: *const c_char,
    name: *const c_char,
) -> i32 {
    guard(|| {
        // SAFETY: the pointers are those of the caller, who keeps what the interface says.
        let (node, name) = unsafe { (object(file, path)?, pointers::text("name", name)?) };
        Ok(node.remove_attribute(name)?)
    })
}

/// Returns the object at `path`.
unsafe fn object(file: *mut hs_file, path: *const c_char) -> Result<Node, Failure> {
    // SAFETY: as the caller promises.
    let path = unsafe { pointers::text("path", path) }?;
    Ok(handle::file(file.addr())?.get(path)?)
}

/// Returns the dataspace of this shape.
unsafe fn dataspace(rank: u32, shape: *const u64) -> Result<Dataspace, Failure> {
    if rank as usize > HS_MAX_RANK {
        return Err(Failure::argument("rank", format!("it is {rank}, at most {HS_MAX_RANK}")));
    }
    if rank == 0 {
        return Ok(Dataspace::Scalar);
    }
    // SAFETY: as the caller promises.
    let shape = unsafe { pointers::array("shape", shape, rank as usize) }?;
    Ok(Dataspace::Simple { shape: shape.to_vec(), max_shape: None })
}

fn elements_of(dataspace: &Dataspace) -> Result<u64, Failure> {
    dataspace.elements().ok_or_else(|| Failure::argument("shape", "it has more than 2^64 elements"))
}
