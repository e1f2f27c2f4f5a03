//! NumPy's names of numbers.

use hyperslab_format::datatype::ByteOrder;

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
}
