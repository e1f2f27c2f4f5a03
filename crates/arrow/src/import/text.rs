//! Texts and bytes of Arrow as texts of a fixed size.

use arrow_array::cast::AsArray;
use arrow_array::types::GenericBinaryType;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::{Converted, unfit};
use crate::error::BadValue;

/// Returns the texts of an array, or `None` if it has others values.
pub(super) fn texts(array: &ArrayRef) -> Option<Vec<&[u8]>> {
    fn collected<'a>(len: usize, value: impl Fn(usize) -> &'a [u8]) -> Vec<&'a [u8]> {
        (0..len).map(value).collect()
    }
    let len = array.len();
    Some(match array.data_type() {
        DataType::Utf8 => {
            let texts = array.as_string::<i32>();
            collected(len, |index| texts.value(index).as_bytes())
        }
        DataType::LargeUtf8 => {
            let texts = array.as_string::<i64>();
            collected(len, |index| texts.value(index).as_bytes())
        }
        DataType::Utf8View => {
            let texts = array.as_string_view();
            collected(len, |index| texts.value(index).as_bytes())
        }
        DataType::Binary => {
            let texts = array.as_bytes::<GenericBinaryType<i32>>();
            collected(len, |index| texts.value(index))
        }
        DataType::LargeBinary => {
            let texts = array.as_bytes::<GenericBinaryType<i64>>();
            collected(len, |index| texts.value(index))
        }
        DataType::BinaryView => {
            let texts = array.as_binary_view();
            collected(len, |index| texts.value(index))
        }
        _ => return None,
    })
}

/// Returns texts in `size` bytes each.
pub(super) fn fixed(array: &ArrayRef, size: usize, padding: u8) -> Converted {
    let mut bytes = vec![0; array.len() * size];
    let mut places = bytes.chunks_exact_mut(size.max(1));
    let is_fixed = matches!(array.data_type(), DataType::FixedSizeBinary(_));
    let texts = match texts(array) {
        Some(texts) => texts,
        None if is_fixed => {
            let texts = array.as_fixed_size_binary();
            (0..array.len()).map(|index| trimmed(texts.value(index))).collect()
        }
        None => return Err(unfit(array.data_type(), "strings")),
    };
    for (index, text) in texts.into_iter().enumerate() {
        let Some(place) = places.next() else { break };
        let len = text.len();
        if len > size {
            let why = format!("the string must have at most {size} bytes, not {len}");
            return Err(BadValue::new(index, why));
        }
        if text.last() == Some(&0) || (padding != 0 && text.last() == Some(&padding)) {
            let why =
                "the string must not end with the byte that fills strings in the file; it would be cut off";
            return Err(BadValue::new(index, why));
        }
        place[..len].copy_from_slice(text);
    }
    Ok(bytes)
}

/// Returns a text of a fixed size without the zeros that fill its space.
fn trimmed(text: &[u8]) -> &[u8] {
    &text[..text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

/// Returns bytes of exactly `size` bytes each.
pub(super) fn opaque(array: &ArrayRef, size: usize) -> Converted {
    let values: Vec<&[u8]> = match array.as_fixed_size_binary_opt() {
        Some(values) => (0..array.len()).map(|index| values.value(index)).collect(),
        None => texts(array).ok_or_else(|| unfit(array.data_type(), "opaque bytes"))?,
    };
    if let Some(index) = values.iter().position(|value| value.len() != size) {
        let why = format!("the value must have {size} bytes, not {}", values[index].len());
        return Err(BadValue::new(index, why));
    }
    Ok(values.concat())
}
