//! Datatypes (H5T): that of the dataset, those that it is made of, and the predefined ones.

use std::ffi::{c_int, c_void};

use hyperslab_filters::{Element, Kind, Number, Order};

use super::state::{self, DATATYPE};

/// The ids of predefined datatypes: the kind, the power of two of the size, and the order.
const PREDEFINED: i64 = 0x0310_0000;

/// `H5T_class_t` (the numbers of spec IV.A.2.d).
mod of {
    use std::ffi::c_int;

    pub(super) const INTEGER: c_int = 0;
    pub(super) const FLOAT: c_int = 1;
    pub(super) const TIME: c_int = 2;
    pub(super) const TEXT: c_int = 3;
    pub(super) const BITS: c_int = 4;
    pub(super) const COMPOUND: c_int = 6;
    pub(super) const ENUMERATION: c_int = 8;
    pub(super) const SEQUENCE: c_int = 9;
    pub(super) const ARRAY: c_int = 10;
}

/// Returns the id of a predefined datatype, such as `H5T_NATIVE_INT_g` or `H5T_STD_U32BE_g`.
pub(super) fn predefined(name: &str) -> Option<i64> {
    let name = name.strip_prefix("H5T_")?.strip_suffix("_g")?;
    let (kind, size, order) = if let Some(native) = name.strip_prefix("NATIVE_") {
        let (kind, size) = match native {
            "SCHAR" | "INT8" => (Kind::Signed, 1),
            "UCHAR" | "UINT8" => (Kind::Unsigned, 1),
            "SHORT" | "INT16" => (Kind::Signed, 2),
            "USHORT" | "UINT16" => (Kind::Unsigned, 2),
            "INT" | "INT32" => (Kind::Signed, 4),
            "UINT" | "UINT32" => (Kind::Unsigned, 4),
            "LONG" | "LLONG" | "INT64" => (Kind::Signed, 8),
            "ULONG" | "ULLONG" | "UINT64" => (Kind::Unsigned, 8),
            "FLOAT" => (Kind::Float, 4),
            "DOUBLE" => (Kind::Float, 8),
            _ => return None,
        };
        (kind, size, Order::Little)
    } else {
        let (kind, rest) = if let Some(rest) = name.strip_prefix("STD_I") {
            (Kind::Signed, rest)
        } else if let Some(rest) = name.strip_prefix("STD_U") {
            (Kind::Unsigned, rest)
        } else {
            (Kind::Float, name.strip_prefix("IEEE_F")?)
        };
        let (bits, order) = match rest.split_at_checked(rest.len().checked_sub(2)?)? {
            (bits, "LE") => (bits, Order::Little),
            (bits, "BE") => (bits, Order::Big),
            _ => return None,
        };
        (kind, bits.parse::<u32>().ok().filter(|bits| matches!(bits, 8 | 16 | 32 | 64))? / 8, order)
    };
    let kind = match kind {
        Kind::Signed => 1,
        Kind::Float => 2,
        _ => 0,
    };
    Some(PREDEFINED | kind << 8 | i64::from(size.trailing_zeros()) << 4 | i64::from(order == Order::Big))
}

fn number(kind: Kind, size: usize, order: Order) -> Element {
    let precision = u32::try_from(size * 8).unwrap_or(u32::MAX);
    Element::Number(Number { kind, size, order, precision, offset: 0 })
}

/// Returns a datatype by its id.
fn element(id: i64) -> Option<Element> {
    let id = id & 0xffff_ffff;
    if id & !0xfff == PREDEFINED {
        let kind = match id >> 8 & 0xf {
            0 => Kind::Unsigned,
            1 => Kind::Signed,
            _ => Kind::Float,
        };
        let order = if id & 1 == 1 { Order::Big } else { Order::Little };
        return Some(number(kind, 1 << (id >> 4 & 0xf), order));
    }
    let place = usize::try_from(id.checked_sub(DATATYPE)?).ok()?;
    state::with(|state| state.types.get(place).cloned()).flatten()
}

/// Returns the id of a new datatype.
fn add(element: Element) -> i64 {
    let place = state::with(|state| {
        state.types.push(element);
        state.types.len() - 1
    });
    place.and_then(|place| i64::try_from(place).ok()).map_or(-1, |place| DATATYPE + place)
}

fn class_of(element: &Element) -> c_int {
    match element {
        Element::Number(number) => match number.kind {
            Kind::Unsigned | Kind::Signed => of::INTEGER,
            Kind::Float => of::FLOAT,
            Kind::Enumeration { .. } => of::ENUMERATION,
            Kind::Bits => of::BITS,
            Kind::Time => of::TIME,
        },
        Element::Array { .. } => of::ARRAY,
        Element::Compound { .. } => of::COMPOUND,
        Element::Variable { .. } => of::SEQUENCE,
        Element::Other { class, .. } => c_int::from(*class),
    }
}

/// Returns the number that a datatype is or is made of: questions about numbers are passed on to it.
fn number_of(element: Option<Element>) -> Option<Number> {
    match element? {
        Element::Number(number) => Some(number),
        Element::Array { base, .. } => number_of(Some(*base)),
        _ => None,
    }
}

/// `H5Tget_class`.
pub(super) extern "C" fn class(id: i64) -> c_int {
    element(id).map_or(-1, |element| class_of(&element))
}

/// `H5Tget_size`, which returns 0 if it fails.
pub(super) extern "C" fn size(id: i64) -> usize {
    element(id).map_or(0, |element| element.size())
}

/// `H5Tget_order`: little-endian, big-endian, VAX, or none.
pub(super) extern "C" fn order(id: i64) -> c_int {
    match (element(id), number_of(element(id))) {
        (None, _) => -1,
        (_, Some(Number { order: Order::Little, .. })) => 0,
        (_, Some(Number { order: Order::Big, .. })) => 1,
        (_, Some(Number { order: Order::Other, .. })) => 2,
        (_, None) => 4,
    }
}

/// `H5Tget_sign`: none, or two's complement.
pub(super) extern "C" fn sign(id: i64) -> c_int {
    match number_of(element(id)).map(|number| number.kind) {
        Some(Kind::Unsigned | Kind::Enumeration { signed: false }) => 0,
        Some(Kind::Signed | Kind::Enumeration { signed: true }) => 1,
        _ => -1,
    }
}

/// `H5Tget_precision`, which returns 0 if it fails.
pub(super) extern "C" fn precision(id: i64) -> usize {
    number_of(element(id)).map_or(0, |number| number.precision as usize)
}

/// `H5Tget_offset`.
pub(super) extern "C" fn offset(id: i64) -> c_int {
    number_of(element(id)).and_then(|number| c_int::try_from(number.offset).ok()).unwrap_or(-1)
}

/// `H5Tget_super`: what an array or an enumeration is made of.
pub(super) extern "C" fn base(id: i64) -> i64 {
    match element(id) {
        Some(Element::Array { base, .. }) => add(*base),
        Some(Element::Number(number)) => match number.kind {
            Kind::Enumeration { signed: true } => {
                add(Element::Number(Number { kind: Kind::Signed, ..number }))
            }
            Kind::Enumeration { signed: false } => {
                add(Element::Number(Number { kind: Kind::Unsigned, ..number }))
            }
            _ => -1,
        },
        _ => -1,
    }
}

/// `H5Tget_native_type`: the number of the same size in the order of this machine.
pub(super) extern "C" fn native(id: i64, _direction: c_int) -> i64 {
    match element(id) {
        Some(Element::Number(number)) => add(self::number(number.kind, number.size, Order::Little)),
        Some(other) => add(other),
        None => -1,
    }
}

/// `H5Tequal`.
pub(super) extern "C" fn are_equal(one: i64, other: i64) -> c_int {
    match (element(one), element(other)) {
        (Some(one), Some(other)) => c_int::from(one == other),
        _ => -1,
    }
}

/// `H5Tcopy`.
pub(super) extern "C" fn copy(id: i64) -> i64 {
    element(id).map_or(-1, add)
}

/// `H5Tis_variable_str`: sequences and texts of variable length are not told apart here, and no filter sees
/// the elements of either.
pub(super) extern "C" fn is_variable_text(id: i64) -> c_int {
    element(id).map_or(-1, |element| c_int::from(class_of(&element) == of::TEXT && element.size() == 0))
}

/// `H5Tconvert` between the orders of one number.
pub(super) extern "C" fn convert(
    from: i64,
    to: i64,
    count: usize,
    elements: *mut c_void,
    _background: *mut c_void,
    _list: i64,
) -> c_int {
    let (Some(Element::Number(from)), Some(Element::Number(to))) = (element(from), element(to)) else {
        return -1;
    };
    let Some(len) = count.checked_mul(from.size) else { return -1 };
    if from.kind != to.kind || from.size != to.size || from.size == 0 || elements.is_null() {
        state::say("it asks for a conversion that hyperslab does not offer to plug-ins".to_owned());
        return -1;
    }
    if from.order != to.order {
        // SAFETY: there are `count` elements, by the rules of the function.
        let bytes = unsafe { std::slice::from_raw_parts_mut(elements.cast::<u8>(), len) };
        bytes.chunks_exact_mut(from.size).for_each(<[u8]>::reverse);
    }
    0
}
