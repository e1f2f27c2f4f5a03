//! The value of elements that were never written.

/// The fill value of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// Zeros.
    Zeros,
    /// One element of the stored datatype.
    Value(Vec<u8>),
}

impl Fill {
    /// Returns bytes that elements of the fill value repeat.
    pub(super) fn element(&self) -> &[u8] {
        match self {
            Self::Zeros => &[0],
            Self::Value(value) => value,
        }
    }

    /// Sets all elements of `piece` to the fill value.
    pub(super) fn write(&self, piece: &mut [u8]) {
        match self {
            Self::Zeros => piece.fill(0),
            Self::Value(value) => repeat(piece, value),
        }
    }
}

/// Sets the elements of `piece` to the fill value, except those whose indices are all below `kept`.
pub(super) fn fill_outside(piece: &mut [u8], shape: &[u64], kept: &[u64], value: &Fill) {
    let (Some((&len, shape)), Some((&first, kept))) = (shape.split_first(), kept.split_first()) else {
        return;
    };
    let row = piece.len() / usize::try_from(len).unwrap_or(usize::MAX).max(1);
    let (inside, outside) = piece.split_at_mut(row * usize::try_from(first).unwrap_or(0));
    value.write(outside);
    if shape != kept {
        inside.chunks_mut(row.max(1)).for_each(|row| fill_outside(row, shape, kept, value));
    }
}

/// Fills `bytes` with copies of `element`. Each step doubles the filled part by copying it, so few copies are
/// short.
pub(super) fn repeat(bytes: &mut [u8], element: &[u8]) {
    if let Some((&first, rest)) = element.split_first()
        && rest.iter().all(|&byte| byte == first)
    {
        return bytes.fill(first);
    }
    let mut done = element.len().min(bytes.len());
    bytes[..done].copy_from_slice(&element[..done]);
    while 0 < done && done < bytes.len() {
        let more = done.min(bytes.len() - done);
        bytes.copy_within(..more, done);
        done += more;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_element_is_repeated_to_the_end(element in prop::collection::vec(0u8..3, 1..9), len in 0usize..70) {
            let mut bytes = vec![0xEE; len];
            repeat(&mut bytes, &element);
            let wanted: Vec<u8> = element.iter().copied().cycle().take(len).collect();
            prop_assert_eq!(bytes, wanted);
        }

        #[test]
        fn the_kept_box_is_unchanged_and_the_rest_is_filled(
            sides in prop::collection::vec((1u64..5, 0u64..5), 0..4), value in any::<[u8; 2]>()
        ) {
            let shape: Vec<u64> = sides.iter().map(|side| side.0).collect();
            let kept: Vec<u64> = sides.iter().map(|side| side.1.min(side.0)).collect();
            let elements = usize::try_from(shape.iter().product::<u64>()).unwrap();
            let mut piece = vec![0xEE; elements * 2];
            fill_outside(&mut piece, &shape, &kept, &Fill::Value(value.to_vec()));
            for (number, element) in piece.chunks(2).enumerate() {
                let mut rest = number as u64;
                let is_kept = shape.iter().zip(&kept).rev().fold(true, |inside, (&len, &kept)| {
                    let at = rest % len;
                    rest /= len;
                    inside && at < kept
                });
                prop_assert_eq!(element, if is_kept { &[0xEE; 2][..] } else { &value[..] });
            }
        }
    }
}
