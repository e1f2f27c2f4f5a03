//! What the format cannot hold, refused before it is stored: no reader would find it again.

use hyperslab_format::datatype::Datatype;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dataspace::MAX_RANK;
use hyperslab_format::{Addr, Reader, Widths, Writer};

use crate::error::{Error, RequestError, Result};

/// Refuses a name that is empty or that readers would find cut: names end at their first zero byte (spec IV.A.2.d, g, m).
pub(super) fn check_name(of: &str, name: &str) -> Result<()> {
    let why = if name.is_empty() {
        "a name has at least one character"
    } else if name.contains('\0') {
        "a name in HDF5 ends at its first zero byte: leave the zero out"
    } else {
        return Ok(());
    };
    refuse(format!("{of} {name:?}"), why)
}

/// Refuses what a soft or external link (`of`) cannot lead to: its length has 16 bits (spec IV.A.2.g).
pub(super) fn check_target(of: &str, parts: &[&str]) -> Result<()> {
    parts.iter().try_for_each(|part| check_name(of, part))?;
    let len = parts.iter().map(|part| part.len() + 1).sum::<usize>();
    if len < LONGEST { Ok(()) } else { refuse(format!("{of} of {len} bytes"), "it has less than 64 KiB") }
}

/// Refuses a datatype that does not come back as it is stored (spec IV.A.2.d). Returns how many bytes that takes.
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

/// Refuses names of members that cannot be, and more members than 16 bits count.
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
        return refuse(format!("datatype of {} members", names.len()), "there are at most 65,535");
    }
    names.into_iter().try_for_each(|name| check_name(of, name))
}

/// Refuses more dimensions than readers take (spec IV.A.2.b).
pub(super) fn check_rank(rank: usize) -> Result<()> {
    if rank <= MAX_RANK {
        Ok(())
    } else {
        refuse(format!("shape of {rank} dimensions"), "there are at most 32")
    }
}

/// Refuses an attribute that its message cannot say: the lengths of its parts have 16 bits (spec IV.A.2.m).
pub(super) fn check_attribute(attribute: &Attribute, widths: Widths) -> Result<()> {
    check_name("attribute", &attribute.name)?;
    check_rank(attribute.dataspace.here().map_or(0, |dataspace| dataspace.shape().len()))?;
    let datatype_len =
        attribute.datatype.here().map_or(Ok(0), |datatype| check_datatype(datatype, widths))?;
    let why = "the name and the datatype of an attribute have less than 64 KiB each";
    match (attribute.name.len() + 1).max(datatype_len) {
        ..=LONGEST => Ok(()),
        len => refuse(format!("attribute with {len} bytes of one of them"), why),
    }
}

fn refuse(what: String, why: &'static str) -> Result<()> {
    Err(refused(what, why))
}

fn refused(what: String, why: &'static str) -> Error {
    RequestError::Argument { what, why }.into()
}

/// The most that a field of 16 bits counts.
const LONGEST: usize = 0xffff;
