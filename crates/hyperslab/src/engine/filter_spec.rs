//! The stored description of a filter for chunks of a certain shape.

use hyperslab_filters::{ChunkFacts, Element, FilterChoice, FilterId, Kind, Number, Order, Szip, Zfp};
use hyperslab_format::Widths;
use hyperslab_format::datatype::{BitRange, ByteOrder, Datatype, Member};
use hyperslab_format::message::fill::FillBytes;
use hyperslab_format::message::filters::FilterSpec;

use hyperslab_error::{Error, RequestError, Result};

/// Returns the stored description of a filter for chunks of this shape, with elements of `datatype` and this
/// fill value.
///
/// Errors: `Filter` if a parameter of the filter is out of range, if the filter is not for the datatype, or
/// if a chunk is too long for the filter.
pub fn filter_spec(
    choice: &FilterChoice,
    (datatype, fill): (&Datatype, &FillBytes),
    chunk_shape: &[u64],
    widths: Widths,
) -> Result<FilterSpec> {
    let shape = sides(chunk_shape);
    let fill: Option<&[u8]> = match fill {
        FillBytes::Default => Some(&[]),
        FillBytes::Undefined => None,
        FillBytes::Defined(value) => Some(value),
    };
    let facts = ChunkFacts { element: &element(datatype, widths), fill, shape: &shape };
    let id = choice.id();
    Ok(FilterSpec {
        id: id.0,
        // The filters of libhdf5 need no name.
        name: (id.0 >= 256).then(|| stored_name(id)).flatten(),
        flags: choice.flags(),
        client_data: choice.client_data(&facts).map_err(|cause| Error::Filter { cause })?,
    })
}

/// Returns the name to store with a filter: the registered name, or that of a plug-in.
fn stored_name(id: FilterId) -> Option<String> {
    let registered = hyperslab_filters::registry::registered_name(id).map(str::to_owned);
    registered.or_else(|| Some(hyperslab_filters::added::find(id)?.name().to_owned()))
}

fn sides(chunk_shape: &[u64]) -> Vec<usize> {
    chunk_shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect()
}

/// Returns a datatype as filters see it.
fn element(datatype: &Datatype, widths: Widths) -> Element {
    let size = usize::try_from(datatype.size(widths)).unwrap_or(usize::MAX);
    let number = |kind, order, BitRange { offset, precision }| {
        let order = match order {
            ByteOrder::Little => Order::Little,
            ByteOrder::Big => Order::Big,
            ByteOrder::Vax => Order::Other,
        };
        Element::Number(Number { kind, size, order, precision: precision.into(), offset: offset.into() })
    };
    match datatype {
        Datatype::Integer(t) if t.signed => number(Kind::Signed, t.order, t.bits),
        Datatype::Integer(t) => number(Kind::Unsigned, t.order, t.bits),
        Datatype::Float(t) => number(Kind::Float, t.order, t.bits),
        Datatype::Bits(t) => number(Kind::Bits, t.order, t.bits),
        Datatype::Time(t) => number(Kind::Time, t.order, BitRange { offset: 0, precision: t.precision }),
        Datatype::Enumeration(t) => match element(&t.base, widths) {
            Element::Number(base) => {
                let kind = Kind::Enumeration { signed: base.kind == Kind::Signed };
                Element::Number(Number { kind, ..base })
            }
            other => other,
        },
        Datatype::Array(t) => Element::Array { size, base: Box::new(element(&t.base, widths)) },
        Datatype::Compound(t) => {
            let member = |member: &Member| (member.offset as usize, element(&member.datatype, widths));
            Element::Compound { size, members: t.members.iter().map(member).collect() }
        }
        Datatype::Sequence(_) | Datatype::VariableText(_) => Element::Variable { size },
        Datatype::Text(_) => Element::Other { size, class: 3 },
        Datatype::Opaque(_) => Element::Other { size, class: 5 },
        Datatype::Reference(_) => Element::Other { size, class: 7 },
        Datatype::Complex(_) => Element::Other { size, class: 11 },
    }
}

/// Returns a filter for chunks of another shape, with elements of `element_size` bytes. The client data of
/// some filters hold the size of a chunk.
///
/// Errors: `Request` if a chunk has 4 GiB or more; `Unsupported` if the meaning of the client data is not
/// known, or if they do not fit the elements or the shape.
pub fn refitted_filter(filter: &FilterSpec, element_size: usize, chunk_shape: &[u64]) -> Result<FilterSpec> {
    let bytes = chunk_shape.iter().try_fold(element_size as u64, |all, &len| all.checked_mul(len));
    let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let bytes = bytes.ok_or_else(|| too_large(chunk_shape))?;
    let mut fitted = filter.clone();
    let data = &mut fitted.client_data;
    let mut set = |place: usize| data.get_mut(place).map(|slot| *slot = bytes);
    match FilterId(filter.id) {
        FilterId::DEFLATE
        | FilterId::SHUFFLE
        | FilterId::FLETCHER32
        | FilterId::BZIP2
        | FilterId::SNAPPY
        | FilterId::LZ4
        | FilterId::ZSTD
        | FilterId::BITSHUFFLE => {}
        FilterId::LZF => _ = set(2),
        FilterId::NBIT | FilterId::SCALE_OFFSET => {
            let elements = u32::try_from(bytes as usize / element_size.max(1)).unwrap_or(u32::MAX);
            let size = data.get(4).map(|&size| size as usize);
            // Client data of N-bit without a datatype have three values.
            if size.is_some_and(|size| size != element_size) || data.len() < 3 {
                return Err(refused(filter.id));
            }
            data[2] = elements;
        }
        FilterId::SZIP => {
            *data =
                Szip::refitted(data, element_size, &sides(chunk_shape)).ok_or_else(|| refused(filter.id))?;
        }
        FilterId::ZFP => {
            *data =
                Zfp::refitted(data, element_size, &sides(chunk_shape)).ok_or_else(|| refused(filter.id))?;
        }
        FilterId::BLOSC => _ = set(3),
        FilterId::BLOSC2 => {
            set(3);
            // With more than one dimension, the rank and the shape follow.
            data.truncate(7);
            if chunk_shape.len() > 1 {
                let sides = chunk_shape.iter().map(|&len| u32::try_from(len).unwrap_or(u32::MAX));
                data.push(u32::try_from(chunk_shape.len()).unwrap_or(u32::MAX));
                data.extend(sides);
            }
        }
        FilterId(id) => return Err(refused(id)),
    }
    Ok(fitted)
}

fn refused(id: u16) -> Error {
    Error::unsupported(format!("chunks of another shape with filter {id} (choose other filters)"), "IV.A.2.l")
}

fn too_large(chunk_shape: &[u64]) -> Error {
    let why = "a chunk has less than 4 GiB";
    RequestError::Argument { what: format!("chunks {chunk_shape:?}"), why }.into()
}
