//! Rejects names, links and datatypes that the format cannot store and read back.

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dataspace::{Dataspace, MAX_RANK};
use hyperslab_format::{Addr, Reader, Width, Widths, Writer};
use hyperslab_store::Store;

use crate::object::NamedDatatype;

/// Rejects an empty name, and a name with a zero byte, at which readers would cut it (spec IV.A.2.d, g, m).
pub(super) fn check_name(of: &str, name: &str) -> Result<()> {
    let why = if name.is_empty() {
        "a name needs at least one character"
    } else if name.contains('\0') {
        "names in HDF5 end at the first zero byte: remove it"
    } else {
        return Ok(());
    };
    refuse(format!("{of} {name:?}"), why)
}

/// Rejects a target of a soft or external link (`of`) that is too long: its length has 16 bits (spec
/// IV.A.2.g).
pub(super) fn check_target(of: &str, parts: &[&str]) -> Result<()> {
    parts.iter().try_for_each(|part| check_name(of, part))?;
    let len = parts.iter().map(|part| part.len() + 1).sum::<usize>();
    if len < LONGEST { Ok(()) } else { refuse(format!("{of} of {len} bytes"), "must be smaller than 64 KiB") }
}

/// Rejects a datatype that does not read back the same (spec IV.A.2.d). Returns its encoded length in bytes.
pub(super) fn check_datatype(datatype: &Datatype, widths: Widths) -> Result<usize> {
    check_members(datatype)?;
    let mut bytes = Vec::with_capacity(64);
    Writer::new(&mut bytes, widths).structure(datatype, &());
    let stored = Reader::new(&bytes, widths, Addr::UNDEFINED).structure::<Datatype>(&());
    let why = "HDF5 has no such datatype";
    match stored {
        Ok(stored) if stored == *datatype => Ok(bytes.len()),
        Ok(_) => Err(refused("datatype".to_owned(), why)),
        Err(error) => Err(refused(format!("datatype whose {}", error.kind), why)),
    }
}

/// Rejects invalid names of members, and more members than 16 bits count.
fn check_members(datatype: &Datatype) -> Result<()> {
    let (of, names): (_, Vec<&str>) = match datatype {
        Datatype::Compound(compound) => {
            compound.members.iter().try_for_each(|member| check_members(&member.datatype))?;
            ("member", compound.members.iter().map(|member| member.name.as_str()).collect())
        }
        Datatype::Enumeration(enumeration) => {
            ("name of a value", enumeration.members.iter().map(|(name, _)| name.as_str()).collect())
        }
        Datatype::Array(array) => return check_members(&array.base),
        Datatype::Sequence(base) => return check_members(base),
        _ => return Ok(()),
    };
    if names.len() > LONGEST {
        return refuse(format!("datatype of {} members", names.len()), "at most 65,535 are allowed");
    }
    names.into_iter().try_for_each(|name| check_name(of, name))
}

/// Rejects more dimensions than readers accept (spec IV.A.2.b).
pub(super) fn check_rank(rank: usize) -> Result<()> {
    if rank <= MAX_RANK {
        Ok(())
    } else {
        refuse(format!("shape of {rank} dimensions"), "at most 32 are allowed")
    }
}

/// Rejects dimensions that lengths of this width cannot express. The largest number stands for an unlimited
/// dimension.
pub(super) fn check_dataspace(dataspace: &Dataspace, widths: Widths) -> Result<()> {
    let max_shape = match dataspace {
        Dataspace::Simple { max_shape: Some(max_shape), .. } => max_shape.as_slice(),
        _ => &[],
    };
    let all = dataspace.shape().iter().chain(max_shape.iter().flatten());
    all.copied().try_for_each(|len| check_len("dimension", len, widths))
}

/// Rejects a length that is too large for this width.
pub(super) fn check_len(of: &str, len: u64, widths: Widths) -> Result<()> {
    if len < widths.length.max() || widths.length == Width::Eight {
        return Ok(());
    }
    let why = "the lengths in the file are too narrow for it (Size of Lengths)";
    refuse(format!("{of} of {len}"), why)
}

/// Rejects an attribute that its message cannot encode: the lengths of its parts have 16 bits (spec
/// IV.A.2.m).
pub(super) fn check_attribute(attribute: &Attribute, widths: Widths) -> Result<()> {
    check_name("attribute", &attribute.name)?;
    if let Some(dataspace) = attribute.dataspace.here() {
        check_rank(dataspace.shape().len())?;
        check_dataspace(dataspace, widths)?;
    }
    let datatype_len =
        attribute.datatype.here().map_or(Ok(0), |datatype| check_datatype(datatype, widths))?;
    let why = "each must be smaller than 64 KiB";
    match (attribute.name.len() + 1).max(datatype_len) {
        ..=LONGEST => Ok(()),
        len => {
            Err(RequestError::LongAttribute { what: "attribute with a name or datatype", len, why }.into())
        }
    }
}

/// Checks that a committed datatype is in the file of `store`: an object refers to it by its address.
pub(super) fn check_committed(datatype: &NamedDatatype, store: &Store) -> Result<()> {
    if std::ptr::eq(datatype.store(), store) {
        return Ok(());
    }
    refuse("committed datatype".to_owned(), "it is in another file")
}

fn refuse(what: String, why: &'static str) -> Result<()> {
    Err(refused(what, why))
}

fn refused(what: String, why: &'static str) -> Error {
    RequestError::Argument { what, why }.into()
}

/// The largest value of a 16-bit field.
const LONGEST: usize = 0xffff;
