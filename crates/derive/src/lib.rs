//! `#[derive(Element)]`, which the crate `hyperslab` exports and documents: structs as compounds, and enums
//! as enumerations.

mod enumeration;
mod name;
mod record;
mod refusal;
mod setting;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Meta, Path, Token};

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
    let hyperslab = &crate_path(input)?;
    let fixed_size = match &input.data {
        Data::Struct(data) => record::fixed_size(input, data, hyperslab)?,
        Data::Enum(data) => enumeration::fixed_size(input, data, hyperslab)?,
        Data::Union(data) => {
            return refuse(
                data.union_token.to_token_stream(),
                "derive(Element) needs a struct or an enum, not a union",
            );
        }
    };
    let ident = &input.ident;
    let allow = allows_deprecated(input).then(|| quote!(#[allow(deprecated)]));
    let [name, file, datatype, stored, elements] = locals(["name", "file", "datatype", "stored", "elements"]);
    Ok(quote! {
        #[automatically_derived]
        #allow
        impl #hyperslab::FixedSize for #ident {
            #fixed_size
        }

        #[automatically_derived]
        #allow
        impl #hyperslab::AttributeValue for #ident {
            fn attribute(
                &self,
                #name: &str,
                #file: &#hyperslab::File,
            ) -> #hyperslab::Result<#hyperslab::Attribute> {
                #hyperslab::derive_support::scalar_attribute(#name, #file, ::core::slice::from_ref(self))
            }
        }

        #[automatically_derived]
        #allow
        impl #hyperslab::Element for #ident {
            fn datatype() -> #hyperslab::datatype::Datatype {
                <Self as #hyperslab::FixedSize>::datatype()
            }

            fn decode(
                #file: &#hyperslab::File,
                #datatype: &#hyperslab::datatype::Datatype,
                #stored: &[u8],
            ) -> #hyperslab::Result<::std::vec::Vec<Self>> {
                #hyperslab::derive_support::decode(#file, #datatype, #stored)
            }

            fn encode(_: &#hyperslab::File, #elements: &[Self]) -> #hyperslab::Result<::std::vec::Vec<u8>> {
                ::core::result::Result::Ok(#hyperslab::derive_support::packed(#elements))
            }
        }
    })
}

/// Returns the path in `#[hyperslab(crate = "...")]`, or else `::hyperslab`.
fn crate_path(input: &DeriveInput) -> Result<TokenStream, Refusal> {
    let form = "must be #[hyperslab(crate = \"path of hyperslab\")] on a type";
    let Some(text) = setting::setting(&input.attrs, "crate", form)? else { return Ok(quote!(::hyperslab)) };
    match text.parse_with(Path::parse_mod_style) {
        Ok(path) => Ok(path.into_token_stream()),
        Err(_) => refuse(text, "must be the path of hyperslab, such as \"h5\" or \"::other::hyperslab\""),
    }
}

/// Returns identifiers for local variables that no constant of the user has: a pattern with the name of a
/// constant is that constant, and hygiene does not keep the two apart.
fn locals<const N: usize>(names: [&str; N]) -> [Ident; N] {
    names.map(|name| format_ident!("__hyperslab_{name}", span = Span::mixed_site()))
}

/// Returns whether the type or a part of it is deprecated, or may use what is.
fn allows_deprecated(input: &DeriveInput) -> bool {
    let here = |attributes: &[Attribute]| {
        attributes.iter().any(|attribute| attribute.path().is_ident("deprecated"))
            || ["allow", "expect"].iter().any(|lint| words(attributes, lint).any(|word| word == "deprecated"))
    };
    here(&input.attrs)
        || match &input.data {
            Data::Struct(data) => data.fields.iter().any(|field| here(&field.attrs)),
            Data::Enum(data) => data.variants.iter().any(|variant| here(&variant.attrs)),
            Data::Union(_) => false,
        }
}

/// Returns the words of `#[repr(...)]`, or of another attribute that is a list. The compiler says what is
/// wrong with one that has another form.
fn words(attributes: &[Attribute], of: &str) -> impl Iterator<Item = Ident> {
    let lists = attributes.iter().filter(move |attribute| attribute.path().is_ident(of));
    let lists =
        lists.filter_map(|list| list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok());
    lists.flatten().filter_map(|item| item.path().get_ident().cloned())
}
