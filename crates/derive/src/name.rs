//! Names of the members of compounds and enumerations.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, MetaNameValue, Token};

use super::refusal::{Refusal, refuse};

/// The name of a member in the file, and the tokens that it is from.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    at: TokenStream,
}

impl Name {
    /// Returns the name in `#[hyperslab(rename = "...")]`, or else the identifier of the field or variant.
    pub(crate) fn of(ident: &Ident, attributes: &[Attribute]) -> Result<Self, Refusal> {
        let mut found = None;
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("hyperslab")) {
            let list = Punctuated::<MetaNameValue, Token![,]>::parse_terminated;
            let Ok(settings) = attribute.parse_args_with(list) else { return refuse(attribute, FORM) };
            for setting in settings {
                let name = renamed(&setting)?;
                if found.replace(name).is_some() {
                    return refuse(setting, "`rename` must be given once");
                }
            }
        }
        let own = || Self { text: ident.unraw().to_string(), at: ident.to_token_stream() };
        Ok(found.unwrap_or_else(own))
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

fn renamed(setting: &MetaNameValue) -> Result<Name, Refusal> {
    if !setting.path.is_ident("rename") {
        return refuse(&setting.path, FORM);
    }
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &setting.value else {
        return refuse(&setting.value, FORM);
    };
    let name = Name { text: text.value(), at: text.to_token_stream() };
    if name.text.is_empty() || name.text.contains('\0') {
        return refuse(text, "the name of a member in HDF5 must have a character, and no zero byte");
    }
    Ok(name)
}

const FORM: &str = "must be #[hyperslab(rename = \"name in the file\")]";
