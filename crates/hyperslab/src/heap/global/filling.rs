//! Divides many objects into collections that are written at once, outside a step.

use std::ops::Range;

use hyperslab_format::Widths;
use hyperslab_format::heap::global::GlobalHeapCollection;

use super::edit::LARGEST;

/// A new collection for some of the objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filling {
    /// The objects, with others between them that need no storage.
    pub objects: Range<usize>,
    /// The size of the collection in bytes.
    pub size: u64,
}

/// Divides objects of the lengths `lens` into collections that are full, or that hold one large object. `None`
/// is an object without storage. Returns the collections, which hold the first objects; there is less than a
/// collection of other objects.
pub fn fillings(lens: impl Iterator<Item = Option<usize>>, widths: Widths) -> Vec<Filling> {
    let (mut full, mut start, mut used) = (Vec::new(), 0, 0);
    let mut close = |objects: Range<usize>, used| {
        full.push(Filling { objects, size: GlobalHeapCollection::len_for(used, widths) });
    };
    let mut count = 0;
    for len in lens {
        if let Some(len) = len {
            let needed = GlobalHeapCollection::object_len(len, widths);
            if used > 0 && used + needed > LARGEST {
                close(start..count, used);
                (start, used) = (count, 0);
            }
            used += needed;
        }
        count += 1;
    }
    if used > LARGEST {
        close(start..count, used);
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_full_and_the_rest_is_left() {
        let of = |lens: &[Option<usize>]| fillings(lens.iter().copied(), Widths::EIGHT);
        assert_eq!(of(&[]), []);
        assert_eq!(of(&vec![Some(8); 2730]), [], "a full collection may still get more");
        let size = GlobalHeapCollection::len_for(2730 * 24, Widths::EIGHT);
        assert_eq!(of(&vec![Some(8); 2731]), [Filling { objects: 0..2730, size }]);
        let large = GlobalHeapCollection::len_for((1 << 20) + 16, Widths::EIGHT);
        let small = GlobalHeapCollection::len_for(24, Widths::EIGHT);
        assert_eq!(
            of(&[Some(1), None, Some(1 << 20), None, None]),
            [Filling { objects: 0..2, size: small }, Filling { objects: 2..5, size: large }]
        );
    }
}
