//! Names, numbers and shapes as text.

pub use hyperslab::internals::counted;
pub use hyperslab_present::one_line as plain;
use hyperslab_present::tuple;

/// Returns a shape in Python's notation: `()`, `(5,)`, `(2, 3)`.
pub fn shape(shape: &[u64]) -> String {
    tuple(shape.iter().map(u64::to_string))
}

/// Returns a number of bytes with a unit: `17 B`, `1.5 KiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let exponent = count.ilog2() / 10;
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
    let scaled = count as f64 / (1_u64 << (10 * exponent)) as f64;
    format!("{scaled:.1} {}", UNITS[exponent as usize - 1])
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
