//! What `#[hyperslab(...)]` on a type, a field or a variant sets.

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, MetaNameValue, Token};

use super::refusal::{Refusal, refuse};

/// Returns the string in `#[hyperslab(key = "...")]`, if there is one. `form` says what the attribute must
/// be.
pub(crate) fn setting(attributes: &[Attribute], key: &str, form: &str) -> Result<Option<LitStr>, Refusal> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("hyperslab")) {
        let list = Punctuated::<MetaNameValue, Token![,]>::parse_terminated;
        let Ok(settings) = attribute.parse_args_with(list) else { return refuse(attribute, form) };
        if settings.is_empty() {
            return refuse(attribute, form);
        }
        for setting in settings {
            if !setting.path.is_ident(key) {
                return refuse(&setting.path, form);
            }
            if found.is_some() {
                return refuse(setting, format!("`{key}` must be given once"));
            }
            found = match setting.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
                other => return refuse(other, form),
            };
        }
    }
    Ok(found)
}
