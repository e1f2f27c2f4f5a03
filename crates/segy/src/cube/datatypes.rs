//! The HDF5 datatypes of headers and samples.

use hyperslab::Element;
use hyperslab_format::datatype::{
    Array, ByteOrder as StoredOrder, Charset, Compound, Datatype, Float, Integer, Member, Padding, Text,
};

use crate::field::{ByteOrder, FieldKind, NamedField};

/// Returns the datatype of a number in native byte order, or of a text.
pub(super) fn native(kind: FieldKind) -> Datatype {
    match kind {
        FieldKind::I8 => i8::datatype(),
        FieldKind::U8 => u8::datatype(),
        FieldKind::I16 => i16::datatype(),
        FieldKind::U16 => u16::datatype(),
        FieldKind::I32 => i32::datatype(),
        FieldKind::U32 => u32::datatype(),
        FieldKind::I64 => i64::datatype(),
        FieldKind::U64 => u64::datatype(),
        FieldKind::F32 => f32::datatype(),
        FieldKind::F64 => f64::datatype(),
        FieldKind::Text8 => {
            Datatype::Text(Text { size: 8, padding: Padding::NullPadded, charset: Charset::Ascii })
        }
    }
}

/// Returns the datatype of a header of `len` bytes. Each field is a member in the byte order of the file, so
/// an element has the bytes of the file. Bytes between fields are arrays named `unassigned_BYTE`.
pub(super) fn header(fields: &[NamedField], len: usize, order: ByteOrder) -> Datatype {
    let mut members = Vec::new();
    let mut end = 0;
    let bytes = |from: usize, to: usize| Member {
        name: format!("unassigned_{}", from + 1),
        offset: size(from),
        datatype: Datatype::Array(Array { base: Box::new(u8::datatype()), shape: vec![size(to - from)] }),
    };
    for field in fields {
        let start = usize::from(field.at.byte) - 1;
        if start > end {
            members.push(bytes(end, start));
        }
        let datatype = in_order(field.at.kind, order);
        members.push(Member { name: field.name.to_owned(), offset: size(start), datatype });
        end = start + field.at.kind.size();
    }
    if end < len {
        members.push(bytes(end, len));
    }
    Datatype::Compound(Compound { size: size(len), members })
}

/// Returns the datatype of a field.
fn in_order(kind: FieldKind, order: ByteOrder) -> Datatype {
    let order = if order == ByteOrder::Big { StoredOrder::Big } else { StoredOrder::Little };
    match native(kind) {
        Datatype::Integer(integer) => Datatype::Integer(Integer { order, ..integer }),
        Datatype::Float(float) => Datatype::Float(Float { order, ..float }),
        other => other,
    }
}

/// Returns the datatype of an IBM float that differs from its IEEE float: the numbers of its trace and its
/// sample, and its word.
pub(crate) fn ibm_word() -> Datatype {
    let member = |name: &str, offset, datatype| Member { name: name.to_owned(), offset, datatype };
    let members = vec![
        member("trace", 0, u64::datatype()),
        member("sample", 8, u32::datatype()),
        member("word", 12, u32::datatype()),
    ];
    Datatype::Compound(Compound { size: 16, members })
}

fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables;

    #[test]
    fn members_of_a_header_cover_it_without_gaps() {
        for (fields, len) in [(tables::BINARY_HEADER, 400_u32), (tables::TRACE_HEADER, 240)] {
            let Datatype::Compound(compound) = header(fields, len as usize, ByteOrder::Big) else {
                panic!("not a compound datatype")
            };
            let mut end = 0;
            for member in &compound.members {
                assert_eq!(member.offset, end, "{}", member.name);
                end += u32::try_from(member.datatype.size(hyperslab_format::Widths::EIGHT)).unwrap();
            }
            assert_eq!(end, len);
        }
    }
}
