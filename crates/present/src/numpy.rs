//! NumPy's names of numbers.

use hyperslab_format::datatype::{ByteOrder, Float};

/// Returns NumPy's type string of a number, as in its array interface: `<i4`, `>f8`, `|u1`. `None` in VAX
/// order, which NumPy lacks.
pub fn type_string(kind: char, size: u32, order: ByteOrder) -> Option<String> {
    let order = match order {
        ByteOrder::Vax => return None,
        _ if size == 1 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    Some(format!("{order}{kind}{size}"))
}

/// Returns the bytes of NumPy's smallest float that has all values of `t`, as h5py selects it: 2, 4, 8, or 16
/// for the extended precision of x86. `None` if there is none.
pub fn float_size(t: &Float) -> Option<u32> {
    let most = (1_i64 << t.exponent_size.min(62)) - i64::from(t.exponent_bias) - 1;
    let least = 1 - i64::from(t.exponent_bias);
    let fits = |&(size, mantissa, max, min): &(u32, u8, i64, i64)| {
        size >= t.size && t.mantissa_size <= mantissa && most <= max && least >= min
    };
    FLOATS.into_iter().find(fits).map(|(size, ..)| size)
}

/// NumPy's floats: size in bytes, mantissa bits, largest and smallest exponent.
const FLOATS: [(u32, u8, i64, i64); 4] =
    [(2, 10, 16, -14), (4, 23, 128, -126), (8, 52, 1024, -1022), (16, 64, 16384, -16382)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_has_no_order_and_vax_order_no_name() {
        let strings =
            [ByteOrder::Little, ByteOrder::Big, ByteOrder::Vax].map(|order| type_string('i', 4, order));
        assert_eq!(strings, [Some("<i4".to_owned()), Some(">i4".to_owned()), None]);
        assert_eq!(type_string('u', 1, ByteOrder::Big), Some("|u1".to_owned()));
    }

    #[test]
    fn a_float_of_numpy_has_every_value_of_the_float() {
        let wide = Float { mantissa_size: 112, ..Float::EXTENDED };
        let sizes = [Float::HALF, Float::BFLOAT16, Float::SINGLE, Float::DOUBLE, Float::EXTENDED, wide];
        let found = sizes.map(|float| float_size(&float));
        assert_eq!(found, [Some(2), Some(4), Some(4), Some(8), Some(16), None]);
    }
}
