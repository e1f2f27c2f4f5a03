//! Enums without data: enumerations with a member for each variant.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{DataEnum, DeriveInput, Fields};

use super::name::Name;
use super::refusal::{Refusal, refuse};
use super::{locals, words};

/// The integers that Rust and the conversions of HDF5 have in common.
pub(crate) const INTEGERS: [&str; 8] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];
/// Integers that no conversion has, or that differ between machines.
const OTHER_INTEGERS: [&str; 4] = ["u128", "i128", "usize", "isize"];

/// Returns the functions of `FixedSize`.
pub(crate) fn fixed_size(
    input: &DeriveInput,
    data: &DataEnum,
    hyperslab: &TokenStream,
) -> Result<TokenStream, Refusal> {
    if data.variants.is_empty() {
        return refuse(&input.ident, "derive(Element) needs an enum with at least one variant");
    }
    let (mut names, mut idents) = (Vec::new(), Vec::new());
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return refuse(
                &variant.fields,
                "derive(Element) needs variants without data: HDF5 has only their numbers",
            );
        }
        names.push(Name::of(&variant.ident, &variant.attrs)?);
        idents.push(&variant.ident);
    }
    Name::check_distinct(&names)?;
    let (integer, ident) = (integer(input)?, input.ident.to_string());
    let names = names.iter().map(|name| &name.text);
    let of_integer = quote!(<#integer as #hyperslab::FixedSize>);
    let [bytes, number] = locals(["bytes", "number"]);
    Ok(quote! {
        fn datatype() -> #hyperslab::datatype::Datatype {
            #hyperslab::derive_support::enumeration(&[#((#names, Self::#idents as #integer)),*])
        }

        #[inline]
        fn size() -> usize {
            #of_integer::size()
        }

        #[inline]
        fn check(#bytes: &[u8]) -> ::core::result::Result<(), ::std::string::String> {
            match #of_integer::get(#bytes) {
                #(#number if #number == Self::#idents as #integer => ::core::result::Result::Ok(()),)*
                #number => ::core::result::Result::Err(#hyperslab::derive_support::no_variant(#number, #ident)),
            }
        }

        #[inline]
        fn get(#bytes: &[u8]) -> Self {
            match #of_integer::get(#bytes) {
                #(#number if #number == Self::#idents as #integer => Self::#idents,)*
                #number => ::core::panic!("{}", #hyperslab::derive_support::no_variant(#number, #ident)),
            }
        }

        fn no_variant(#number: i128, _: usize) -> ::std::string::String {
            #hyperslab::derive_support::no_variant(#number, #ident)
        }

        #[inline]
        fn put(&self, #bytes: &mut [u8]) {
            let #number = match self {
                #(Self::#idents => Self::#idents as #integer,)*
            };
            #hyperslab::FixedSize::put(&#number, #bytes);
        }
    })
}

/// Returns the integer in `#[repr(...)]`.
fn integer(input: &DeriveInput) -> Result<Ident, Refusal> {
    for word in words(&input.attrs, "repr") {
        let is_one_of = |integers: &[&str]| integers.iter().any(|integer| word == integer);
        if is_one_of(&INTEGERS) {
            return Ok(word);
        }
        if is_one_of(&OTHER_INTEGERS) {
            return refuse(&word, format!("derive(Element) needs one of {} here", INTEGERS.join(", ")));
        }
    }
    refuse(&input.ident, "derive(Element) needs #[repr(u8)] or another integer on an enum")
}
