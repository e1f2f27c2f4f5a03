//! Structs: compounds with a member for each field, one after another.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataStruct, DeriveInput, Fields, Ident};

use super::layout_words;
use super::name::Name;
use super::refusal::{Refusal, refuse};

/// Returns the functions of `FixedSize`.
pub(crate) fn fixed_size(input: &DeriveInput, data: &DataStruct) -> Result<TokenStream, Refusal> {
    if let Some(packed) = layout_words(&input.attrs).find(|word| word == "packed") {
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
    let names = names.iter().map(|name| &name.text);
    // An error about the type of a field points at the field.
    let members = kinds.iter().zip(names.clone()).map(|(kind, name)| {
        quote_spanned! {kind.span()=>
            (#name, <#kind as ::hyperslab::FixedSize>::datatype(), <#kind as ::hyperslab::FixedSize>::size())
        }
    });
    Ok(quote! {
        fn datatype() -> ::hyperslab::datatype::Datatype {
            ::hyperslab::derive_support::compound([#(#members),*])
        }

        fn size() -> usize {
            0 #(+ <#kinds as ::hyperslab::FixedSize>::size())*
        }

        #[inline]
        fn check(mut bytes: &[u8]) -> ::core::result::Result<(), ::std::string::String> {
            #(::hyperslab::derive_support::check_member::<#kinds>(&mut bytes, #names)?;)*
            ::core::result::Result::Ok(())
        }

        #[inline]
        fn get(mut bytes: &[u8]) -> Self {
            Self { #(#idents: ::hyperslab::derive_support::get_member(&mut bytes),)* }
        }

        #[inline]
        fn put(&self, mut bytes: &mut [u8]) {
            #(::hyperslab::derive_support::put_member(&self.#idents, &mut bytes);)*
        }
    })
}
