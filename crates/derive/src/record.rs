//! Structs: compounds with a member for each field, one after another.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataStruct, DeriveInput, Fields, Ident};

use super::name::Name;
use super::refusal::{Refusal, refuse};
use super::{locals, words};

/// Returns the functions of `FixedSize`.
pub(crate) fn fixed_size(
    input: &DeriveInput,
    data: &DataStruct,
    hyperslab: &TokenStream,
) -> Result<TokenStream, Refusal> {
    if let Some(packed) = words(&input.attrs, "repr").find(|word| word == "packed") {
        return refuse(
            packed,
            "derive(Element) needs no `packed`: members in the file have no gaps between them",
        );
    }
    let fields = match &data.fields {
        Fields::Named(fields) if !fields.named.is_empty() => &fields.named,
        Fields::Unnamed(fields) => {
            return refuse(
                fields,
                "derive(Element) needs named fields, from which the members have their names",
            );
        }
        Fields::Named(_) | Fields::Unit => {
            return refuse(&input.ident, "derive(Element) needs a struct with at least one named field");
        }
    };
    let (mut names, mut idents, mut kinds) = (Vec::new(), Vec::<&Ident>::new(), Vec::new());
    for field in fields {
        let Some(ident) = &field.ident else { return refuse(field, "derive(Element) needs named fields") };
        names.push(Name::of(ident, &field.attrs)?);
        idents.push(ident);
        kinds.push(&field.ty);
    }
    Name::check_distinct(&names)?;
    let names: Vec<_> = names.iter().map(|name| &name.text).collect();
    // All functions are named by the type of the field, so that a type without them is one error, and there.
    let of_kind: Vec<_> = kinds.iter().map(|kind| quote!(<#kind as #hyperslab::FixedSize>)).collect();
    let [bytes, member, number, at] = locals(["bytes", "member", "number", "at"]);
    Ok(quote! {
        fn datatype() -> #hyperslab::datatype::Datatype {
            #hyperslab::derive_support::compound([#((#names, #of_kind::datatype(), #of_kind::size())),*])
        }

        #[inline]
        fn size() -> usize {
            0 #(+ #of_kind::size())*
        }

        #[inline]
        fn check(mut #bytes: &[u8]) -> ::core::result::Result<(), ::std::string::String> {
            #(
                let #member = #hyperslab::derive_support::next(&mut #bytes, #of_kind::size());
                #hyperslab::derive_support::in_member(#names, #of_kind::check(#member))?;
            )*
            ::core::result::Result::Ok(())
        }

        #[inline]
        fn get(mut #bytes: &[u8]) -> Self {
            Self {
                #(#idents: #of_kind::get(#hyperslab::derive_support::next(&mut #bytes, #of_kind::size())),)*
            }
        }

        fn no_variant(#number: i128, #at: usize) -> ::std::string::String {
            let #member: &[(&str, usize, fn(i128, usize) -> ::std::string::String)] =
                &[#((#names, #of_kind::size(), #of_kind::no_variant)),*];
            #hyperslab::derive_support::no_variant_in(#member, #number, #at)
        }

        #[inline]
        fn put(&self, #bytes: &mut [u8]) {
            #(
                let (#member, #bytes) = #bytes.split_at_mut(#of_kind::size());
                #of_kind::put(&self.#idents, #member);
            )*
            ::core::debug_assert!(#bytes.is_empty());
        }
    })
}
