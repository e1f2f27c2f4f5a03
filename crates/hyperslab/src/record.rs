//! The macro that declares structs as element types.

/// Declares a struct whose values are elements: a compound (spec IV.A.2.d) with a member for each field, of
/// the same name.
///
/// Fields can be of any [`FixedSize`](crate::FixedSize) type, including other records. Members are found by
/// their names. A dataset can therefore be read as the struct even if it has more members, another order of
/// members, or other number types. A dataset that lacks a field of the struct cannot be read, and one that
/// has more members cannot be written.
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

        impl $crate::AttributeValue for $name {
            fn attribute(&self, name: &str, file: &$crate::File) -> $crate::Result<$crate::Attribute> {
                $crate::internals::scalar_attribute(name, file, ::std::slice::from_ref(self))
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
