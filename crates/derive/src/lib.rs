//! `#[derive(Element)]`, which the crate `hyperslab` exports and documents: structs as compounds, and enums
//! as enumerations.

mod enumeration;
mod name;
mod record;
mod refusal;
mod setting;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Meta, Token};

use refusal::{Refusal, refuse};

/// Makes a struct, or an enum without data, a type of elements. `hyperslab::Element` has the documentation.
#[proc_macro_derive(Element, attributes(hyperslab))]
pub fn element(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(|refusal| refusal.compile_error()).into()
}

/// Returns the implementations of `FixedSize`, `AttributeValue` and `Element`.
fn expand(input: &DeriveInput) -> Result<TokenStream, Refusal> {
    if !input.generics.params.is_empty() {
        return refuse(
            &input.generics,
            "derive(Element) needs a type without parameters: declare one for each use",
        );
    }
    if let Some(attribute) = input.attrs.iter().find(|attribute| attribute.path().is_ident("hyperslab")) {
        return refuse(attribute, "#[hyperslab] must be on a field or a variant, not on the type");
    }
    let fixed_size = match &input.data {
        Data::Struct(data) => record::fixed_size(input, data)?,
        Data::Enum(data) => enumeration::fixed_size(input, data)?,
        Data::Union(data) => {
            return refuse(
                data.union_token.to_token_stream(),
                "derive(Element) needs a struct or an enum, not a union",
            );
        }
    };
    let ident = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::hyperslab::FixedSize for #ident {
            #fixed_size
        }

        #[automatically_derived]
        impl ::hyperslab::AttributeValue for #ident {
            fn attribute(
                &self,
                name: &str,
                file: &::hyperslab::File,
            ) -> ::hyperslab::Result<::hyperslab::Attribute> {
                ::hyperslab::derive_support::scalar_attribute(name, file, ::core::slice::from_ref(self))
            }
        }

        #[automatically_derived]
        impl ::hyperslab::Element for #ident {
            fn datatype() -> ::hyperslab::datatype::Datatype {
                <Self as ::hyperslab::FixedSize>::datatype()
            }

            fn decode(
                file: &::hyperslab::File,
                datatype: &::hyperslab::datatype::Datatype,
                stored: &[u8],
            ) -> ::hyperslab::Result<::std::vec::Vec<Self>> {
                ::hyperslab::derive_support::decode(file, datatype, stored)
            }

            fn encode(_: &::hyperslab::File, elements: &[Self]) -> ::hyperslab::Result<::std::vec::Vec<u8>> {
                ::core::result::Result::Ok(::hyperslab::derive_support::packed(elements))
            }
        }
    })
}

/// Returns the words of `#[repr(...)]`. The compiler says what is wrong with one that has another form.
fn layout_words(attributes: &[Attribute]) -> impl Iterator<Item = Ident> {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident("repr"));
    let lists =
        lists.filter_map(|list| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok());
    lists.flatten().filter_map(|item| item.path().get_ident().cloned())
}
