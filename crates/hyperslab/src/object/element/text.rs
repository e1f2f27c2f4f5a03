//! Strings as elements.

use hyperslab_convert::text_of;
use hyperslab_error::{RequestError, Result};
use hyperslab_format::datatype::{Datatype, Padding, Text};
use hyperslab_select::Selection;

use crate::engine::WriteOptions;
use crate::object::{Dataset, File};

/// Returns the strings that `stored` holds in `datatype`.
pub(super) fn decode(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    match datatype {
        Datatype::VariableText(_) => {
            let mut result = Ok(());
            file.vlen_each(&file.vlen_ids(stored)?, 1, &mut |bytes| {
                if result.is_ok() {
                    result = push(&mut found, text_of(bytes, Padding::NullTerminated));
                }
            })?;
            result?;
        }
        Datatype::Text(text) => {
            for element in stored.chunks_exact((text.size as usize).max(1)) {
                push(&mut found, text_of(element, text.padding))?;
            }
        }
        _ => return Err(no_text()),
    }
    Ok(found)
}

fn push(found: &mut Vec<String>, bytes: &[u8]) -> Result<()> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let what = format!("string {}", found.len());
        let why = "its bytes are not UTF-8: read them with `read_into`";
        return Err(RequestError::Argument { what, why }.into());
    };
    found.push(text.to_owned());
    Ok(())
}

fn no_text() -> crate::Error {
    let why = "the elements are no strings";
    RequestError::Argument { what: "String".to_owned(), why }.into()
}

/// Writes strings to a dataset of strings.
pub(super) fn write(dataset: &Dataset, what: &Selection, elements: &[String]) -> Result<()> {
    match &*dataset.datatype() {
        Datatype::VariableText(_) => {
            elements.iter().try_for_each(|element| check(element))?;
            dataset.replace_vlen(what, elements)
        }
        Datatype::Text(text) => {
            let padded = elements.iter().map(|element| padded(element, *text)).collect::<Result<Vec<_>>>()?;
            dataset.write_with(what, &padded.concat(), &WriteOptions::default())
        }
        _ => Err(no_text()),
    }
}

/// Refuses a string that readers would cut short.
pub(super) fn check(element: &str) -> Result<()> {
    if element.contains('\0') {
        let what = format!("string {element:?}");
        return Err(RequestError::Argument { what, why: "a string in HDF5 ends at a zero byte" }.into());
    }
    Ok(())
}

/// Returns the bytes of a string of fixed length.
fn padded(element: &str, text: Text) -> Result<Vec<u8>> {
    check(element)?;
    let size = text.size as usize;
    let room = if text.padding == Padding::NullTerminated { size.saturating_sub(1) } else { size };
    if element.len() > room {
        let what = format!("string {element:?} of {} bytes", element.len());
        let why = "it is longer than the strings of the dataset";
        return Err(RequestError::Argument { what, why }.into());
    }
    let mut bytes = element.as_bytes().to_vec();
    bytes.resize(size, if text.padding == Padding::SpacePadded { b' ' } else { 0 });
    Ok(bytes)
}
