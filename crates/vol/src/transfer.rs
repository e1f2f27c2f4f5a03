//! The property list of a transfer, and the datatype in memory.

use hyperslab::Structure;
use hyperslab::datatype::{ByteOrder, Datatype, Float, Integer};
use hyperslab_format::{Addr, Reader};

use crate::ffi::datatypes::{self, WIDTHS};
use crate::ffi::library::Library;
use crate::ffi::lists::TransferWishes;
use crate::ffi::types::Hid;
use crate::rules::{Reason, Ruled};

/// Checks that a property list asks for nothing that the engine does not do: a data transform, callbacks for
/// conversions and filters, and checksums that are not checked.
pub(crate) fn check(library: &Library, transfer: Hid) -> Ruled<()> {
    if transfer == 0 || transfer == library.default_transfer() {
        return Ok(());
    }
    let plain = TransferWishes { transform: false, callbacks: false, checksums: true };
    if TransferWishes::of(library, transfer) == Some(plain) { Ok(()) } else { Err(Reason::Transfer) }
}

/// The way that elements go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the file to memory.
    Read,
    /// From memory to the file.
    Write,
}

/// Returns the datatype that an identifier stands for.
pub(crate) fn datatype(library: &Library, id: Hid) -> Ruled<Datatype> {
    let message = datatypes::message(library, id).ok_or(Reason::Conversion)?;
    if is_vax(&message) {
        return Err(Reason::Conversion);
    }
    Datatype::decode(&mut Reader::new(&message, WIDTHS, Addr::new(0)), &()).map_err(|_| Reason::Conversion)
}

/// Returns whether a message describes floats in the order of the VAX (spec IV.A.2.d). libhdf5 also writes
/// messages of version 1 for them, which has no such order: read again, they describe other floats.
fn is_vax(message: &[u8]) -> bool {
    const FLOAT: u8 = 1;
    const VAX: u8 = 0x40;
    matches!(message, [head, flags, ..] if head & 0x0f == FLOAT && flags & VAX != 0)
}

/// Returns the datatype that elements of `stored` are converted to in memory, or `None` if they stay as
/// they are.
///
/// `file` identifies the datatype in the file.
///
/// Errors: a conversion that may give another result than libhdf5's, or that the program has registered.
pub(crate) fn conversion(
    library: &Library,
    stored: &Datatype,
    memory: Hid,
    file: Hid,
    way: Way,
) -> Ruled<Option<Datatype>> {
    let wanted = datatype(library, memory)?;
    if wanted == *stored {
        return Ok(None);
    }
    let ((from, to), is_same) = match way {
        Way::Read => ((file, memory), gives_the_same(stored, &wanted)),
        Way::Write => ((memory, file), gives_the_same(&wanted, stored)),
    };
    if !is_same {
        return Err(Reason::Conversion);
    }
    let is_own = datatypes::is_conversion_built_in(library, from, to);
    if is_own { Ok(Some(wanted)) } else { Err(Reason::RegisteredConversion) }
}

/// Returns whether the engine converts every number to the one that libhdf5 converts it to. libhdf5
/// converts as a cast in C does, where that is possible, so its results for numbers that do not fit
/// depend on the processor and on the byte order; `tests/test_conversions.py` has all pairs.
fn gives_the_same(from: &Datatype, to: &Datatype) -> bool {
    match (from, to) {
        (Datatype::Integer(from), Datatype::Integer(to)) => {
            let fits = match (from.signed, to.signed) {
                (false, true) => from.size < to.size,
                (true, false) => false,
                _ => from.size <= to.size,
            };
            fits && is_plain(from) && is_plain(to)
        }
        (Datatype::Integer(from), Datatype::Float(to)) => {
            is_plain(from) && [4, 8].contains(&to.size) && is_ieee(to)
        }
        (Datatype::Float(from), Datatype::Float(to)) => {
            // libhdf5 has casts for numbers in the order of the machine only, and gives NaNs other bits by
            // its other path.
            // Its cast to 2 bytes makes numbers just above the largest one infinite, where IEEE 754 rounds
            // down.
            let is_cast = from.order == NATIVE && to.order == NATIVE && to.size != 2;
            (from.size == to.size || is_cast) && is_ieee(from) && is_ieee(to)
        }
        _ => false,
    }
}

/// The byte order of the machine.
const NATIVE: ByteOrder = if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };

/// Returns whether all bits of an integer are significant.
fn is_plain(integer: &Integer) -> bool {
    integer.bits.offset == 0 && u32::from(integer.bits.precision) == 8 * integer.size
}

/// Returns whether a number is one of IEEE 754 of 2, 4 or 8 bytes, in every bit of its datatype: libhdf5
/// converts others by a path of its own, which gives NaNs other bits.
fn is_ieee(float: &Float) -> bool {
    float.size <= 8 && float.order != ByteOrder::Vax && Float::ieee(float.size, float.order) == Some(*float)
}

#[cfg(test)]
mod tests {
    use hyperslab::Element as _;

    use super::*;

    fn integer(size: u32, signed: bool) -> Datatype {
        Datatype::Integer(Integer::little(size, signed))
    }

    #[test]
    fn integers_are_converted_to_those_that_have_room_for_all() {
        assert!(gives_the_same(&integer(2, true), &integer(4, true)));
        assert!(gives_the_same(&integer(2, false), &integer(4, true)));
        assert!(!gives_the_same(&integer(4, false), &integer(4, true)));
        assert!(!gives_the_same(&integer(2, true), &integer(4, false)));
        assert!(!gives_the_same(&integer(4, true), &integer(2, true)));
    }

    #[test]
    fn floats_are_not_converted_to_integers() {
        let float = |size| match size {
            2 => hyperslab::half::f16::datatype(),
            4 => f32::datatype(),
            _ => f64::datatype(),
        };
        assert!(!gives_the_same(&float(4), &integer(8, true)));
        assert!(gives_the_same(&integer(8, true), &float(4)));
        assert!(!gives_the_same(&integer(1, true), &float(2)));
        assert!(gives_the_same(&float(8), &float(4)));
    }
}
