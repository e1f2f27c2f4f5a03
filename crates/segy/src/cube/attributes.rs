//! Reads attributes of the types that this crate writes.

use hyperslab::{Attribute, Object};
use hyperslab_format::datatype::{Datatype, Integer};

use crate::error::Result;

/// Returns a text attribute of fixed or variable length, or `None` if the object has none of this name.
pub(super) fn text(object: &Object, name: &str) -> Result<Option<String>> {
    let Some(found) = get(object, name)? else { return Ok(None) };
    let bytes = match &found.datatype {
        Datatype::Text(_) => found.data,
        Datatype::VariableText(_) => {
            let ids = object.file().vlen_ids(&found.data)?;
            object.file().vlen_many(&ids, 1)?.into_iter().next().unwrap_or_default()
        }
        _ => return Ok(None),
    };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    Ok(Some(String::from_utf8_lossy(&bytes[..end]).into_owned()))
}

/// Returns a whole number, or `None` if the object has none of this name.
pub(super) fn number(object: &Object, name: &str) -> Result<Option<u64>> {
    Ok(numbers(object, name)?.and_then(|numbers| <[u64; 1]>::try_from(numbers).ok()).map(|[number]| number))
}

/// Returns whole numbers, or `None` if the object has none of this name. The numbers must have 8 bytes in
/// native byte order, as this crate writes them.
pub(crate) fn numbers(object: &Object, name: &str) -> Result<Option<Vec<u64>>> {
    let Some(found) = get(object, name)? else { return Ok(None) };
    let Datatype::Integer(Integer { size: 8, .. }) = found.datatype else { return Ok(None) };
    Ok(Some(found.data.as_chunks().0.iter().map(|&bytes| u64::from_ne_bytes(bytes)).collect()))
}

fn get(object: &Object, name: &str) -> Result<Option<Attribute>> {
    Ok(if object.has_attribute(name)? { Some(object.attribute(name)?) } else { None })
}
