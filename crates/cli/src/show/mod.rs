//! The text of datatypes, values, arrays and tables.

pub(crate) mod array;
pub(crate) mod datatype;
mod region;
pub(crate) mod storage;
pub(crate) mod value;

use hyperslab_format::message::dataspace::Dataspace;
pub(crate) use hyperslab_present::tuple;
pub(crate) use hyperslab_terminal::text::{bytes, counted, plain, shape};
pub(crate) use hyperslab_terminal::{paint, table};

/// Returns the shape of a dataspace; `null` for one without elements.
pub(crate) fn dataspace(dataspace: &Dataspace) -> String {
    match dataspace {
        Dataspace::Null => "null".to_owned(),
        Dataspace::Scalar => "()".to_owned(),
        Dataspace::Simple { shape: sizes, .. } => shape(sizes),
    }
}

/// Returns text as a JSON string.
pub(crate) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns numbers as a JSON array.
pub(crate) fn json_numbers(numbers: &[u64]) -> String {
    format!("{numbers:?}")
}
