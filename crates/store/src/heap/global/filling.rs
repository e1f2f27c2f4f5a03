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

/// The objects of a range, divided into collections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fillings {
    /// The collections, which hold the first objects.
    pub whole: Vec<Filling>,
    /// The other objects, which take less than a quarter of a collection.
    pub rest: Range<usize>,
}

/// Divides the objects from number `first` on, of the lengths `lens`, into collections. `None` is an object
/// without storage.
pub fn fillings(first: usize, lens: impl Iterator<Item = Option<usize>>, widths: Widths) -> Fillings {
    let (mut whole, mut start, mut used, mut end) = (Vec::new(), first, 0_u64, first);
    let mut close = |objects: Range<usize>, used| {
        whole.push(Filling { objects, size: GlobalHeapCollection::len_for(used, widths) });
    };
    for len in lens {
        if let Some(len) = len {
            let needed = GlobalHeapCollection::object_len(len, widths);
            if used > 0 && used.saturating_add(needed) > LARGEST {
                close(start..end, used);
                (start, used) = (end, 0);
            }
            used = used.saturating_add(needed);
        }
        end += 1;
    }
    if used >= LARGEST / 4 {
        close(start..end, used);
        start = end;
    }
    Fillings { whole, rest: start..end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_full_and_a_short_rest_is_left() {
        let of = |lens: &[Option<usize>]| fillings(5, lens.iter().copied(), Widths::EIGHT);
        let size = |bytes| GlobalHeapCollection::len_for(bytes, Widths::EIGHT);
        let filling = |objects, bytes| Filling { objects, size: size(bytes) };
        assert_eq!(of(&[]), Fillings { whole: vec![], rest: 5..5 });
        assert_eq!(of(&[Some(8); 682]), Fillings { whole: vec![], rest: 5..687 });
        assert_eq!(of(&[Some(8); 683]), Fillings { whole: vec![filling(5..688, 683 * 24)], rest: 688..688 });
        let whole = vec![filling(5..2735, 2730 * 24)];
        assert_eq!(of(&vec![Some(8); 2731]), Fillings { whole, rest: 2735..2736 });
        let whole = vec![filling(5..7, 24), filling(7..8, (1 << 20) + 16)];
        assert_eq!(of(&[Some(1), None, Some(1 << 20), None, Some(65_520)]).whole[..1], whole[..1]);
        assert_eq!(of(&[Some(1), None, Some(1 << 20), Some(1)]), Fillings { whole, rest: 8..9 });
    }
}
