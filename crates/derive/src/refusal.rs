//! Types that the macro refuses.

use proc_macro2::TokenStream;
use quote::ToTokens;

/// Why a type is refused, and the tokens at which the compiler says so.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) at: TokenStream,
    pub(crate) why: String,
}

impl Refusal {
    pub(crate) fn compile_error(&self) -> TokenStream {
        syn::Error::new_spanned(&self.at, &self.why).into_compile_error()
    }
}

/// Refuses a type for what `at` says.
pub(crate) fn refuse<T>(at: impl ToTokens, why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { at: at.into_token_stream(), why: why.into() })
}
