//! The text of datatypes, values, arrays and tables.

pub(crate) mod array;
pub(crate) mod datatype;
#[path = "../../../terminal/src/paint.rs"]
pub(crate) mod paint;
mod region;
pub(crate) mod storage;
#[path = "../../../terminal/src/table.rs"]
pub(crate) mod table;
pub(crate) mod value;

pub(crate) use hyperslab::internals::counted;
use hyperslab_format::message::dataspace::Dataspace;
pub(crate) use hyperslab_present::{one_line as plain, tuple};

/// Returns a shape in Python's notation: `()`, `(5,)`, `(2, 3)`.
pub(crate) fn shape(shape: &[u64]) -> String {
    tuple(shape.iter().map(u64::to_string))
}

/// Returns the shape of a dataspace; `null` for one without elements.
pub(crate) fn dataspace(dataspace: &Dataspace) -> String {
    match dataspace {
        Dataspace::Null => "null".to_owned(),
        Dataspace::Scalar => "()".to_owned(),
        Dataspace::Simple { shape: sizes, .. } => shape(sizes),
    }
}

/// Returns a number of bytes with a unit: `17 B`, `1.5 KiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let exponent = count.ilog2() / 10;
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
    let scaled = count as f64 / (1_u64 << (10 * exponent)) as f64;
    format!("{scaled:.1} {}", UNITS[exponent as usize - 1])
}

/// Returns text as a JSON string.
pub(crate) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns numbers as a JSON array.
pub(crate) fn json_numbers(numbers: &[u64]) -> String {
    format!("{numbers:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_python_tuples() {
        assert_eq!([shape(&[]), shape(&[5]), shape(&[2, 3])], ["()", "(5,)", "(2, 3)"]);
    }

    #[test]
    fn sizes_have_a_unit_and_few_digits() {
        let shown = [0, 1023, 1024, 1536, 1 << 20, u64::MAX].map(bytes);
        assert_eq!(shown, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 MiB", "16.0 EiB"]);
    }
}
