//! Names of the members of compounds and enumerations.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::Attribute;
use syn::ext::IdentExt;

use super::refusal::{Refusal, refuse};
use super::setting::setting;

/// The name of a member in the file, and the tokens that it is from.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    at: TokenStream,
}

impl Name {
    /// Returns the name in `#[hyperslab(rename = "...")]`, or else the identifier of the field or variant.
    pub(crate) fn of(ident: &Ident, attributes: &[Attribute]) -> Result<Self, Refusal> {
        let Some(text) = setting(attributes, "rename", FORM)? else {
            return Ok(Self { text: ident.unraw().to_string(), at: ident.to_token_stream() });
        };
        let name = Self { text: text.value(), at: text.to_token_stream() };
        if name.text.is_empty() || name.text.contains('\0') {
            return refuse(text, "the name of a member in HDF5 must have a character, and no zero byte");
        }
        Ok(name)
    }

    /// Refuses a name that another member has.
    pub(crate) fn check_distinct(names: &[Self]) -> Result<(), Refusal> {
        for (number, name) in names.iter().enumerate() {
            if names[..number].iter().any(|other| other.text == name.text) {
                return refuse(&name.at, format!("another member has the name {:?}: rename one", name.text));
            }
        }
        Ok(())
    }
}

const FORM: &str = "must be #[hyperslab(rename = \"name in the file\")]";
