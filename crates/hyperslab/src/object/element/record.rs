//! Structs as elements: compounds.

use hyperslab_format::datatype::{Compound, Datatype, Member};

use super::FixedSize;
use crate::error::Result;
use crate::object::File;

/// Declares a struct whose values are elements: a compound (spec IV.A.2.d) with a member for each field, under its name.
///
/// Fields are of any [`FixedSize`](crate::FixedSize) type, other records among them. A dataset that has more members, or has
/// them in another order or of other numbers, can be read as the struct: members are found by their names.
///
/// ```
/// hyperslab::record! {
///     #[derive(Debug, Clone, PartialEq)]
///     pub struct Particle {
///         pub id: u64,
///         pub position: [f32; 3],
///     }
/// }
///
/// # fn main() -> hyperslab::Result<()> {
/// # let file = hyperslab::File::in_memory()?;
/// let particles = [Particle { id: 7, position: [1.0, 2.0, 3.0] }];
/// let dataset = file.root().new_dataset::<Particle>("particles").shape([1]).create_with(&particles)?;
/// assert_eq!(dataset.read::<Particle>(hyperslab::Selection::All)?, particles);
/// # Ok(()) }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$of_field:meta])* $of:vis $field:ident: $kind:ty),* $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$of_field])* $of $field: $kind,)*
        }

        impl $crate::FixedSize for $name {
            fn datatype() -> $crate::datatype::Datatype {
                $crate::internals::compound([
                    $((stringify!($field), <$kind as $crate::FixedSize>::datatype(), <$kind as $crate::FixedSize>::size()),)*
                ])
            }

            fn size() -> usize {
                0 $(+ <$kind as $crate::FixedSize>::size())*
            }

            fn get(mut bytes: &[u8]) -> Self {
                Self {
                    $($field: {
                        let (field, rest) = bytes.split_at(<$kind as $crate::FixedSize>::size());
                        bytes = rest;
                        <$kind as $crate::FixedSize>::get(field)
                    },)*
                }
            }

            fn put(&self, mut bytes: &mut [u8]) {
                $({
                    let (field, rest) = bytes.split_at_mut(<$kind as $crate::FixedSize>::size());
                    bytes = rest;
                    $crate::FixedSize::put(&self.$field, field);
                })*
                debug_assert!(bytes.is_empty());
            }
        }

        impl $crate::Element for $name {
            fn datatype() -> $crate::datatype::Datatype {
                <Self as $crate::FixedSize>::datatype()
            }

            fn decode(
                file: &$crate::File,
                datatype: &$crate::datatype::Datatype,
                stored: &[u8],
            ) -> $crate::Result<Vec<Self>> {
                $crate::internals::decode(file, datatype, stored)
            }

            fn encode(_: &$crate::File, elements: &[Self]) -> $crate::Result<Vec<u8>> {
                Ok($crate::internals::packed(elements))
            }
        }
    };
}

/// Returns the compound of members with these names, datatypes and bytes, one after another.
pub fn compound<const N: usize>(members: [(&str, Datatype, usize); N]) -> Datatype {
    let mut size = 0_u32;
    let members = members.map(|(name, datatype, bytes)| {
        let member = Member::new(name, size, datatype);
        size = size.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
        member
    });
    Datatype::Compound(Compound { size, members: members.into() })
}

/// Returns the elements that `stored` holds in `datatype`.
pub fn decode<T: FixedSize>(file: &File, datatype: &Datatype, stored: &[u8]) -> Result<Vec<T>> {
    super::fixed::decode(file, datatype, stored)
}

/// Returns the bytes of elements, one after another.
pub fn packed<T: FixedSize>(elements: &[T]) -> Vec<u8> {
    let mut bytes = vec![0; elements.len() * T::size()];
    elements
        .iter()
        .zip(bytes.chunks_exact_mut(T::size().max(1)))
        .for_each(|(element, bytes)| element.put(bytes));
    bytes
}
