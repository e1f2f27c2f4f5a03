//! A command that this build lacks: it is listed, takes any arguments, and says how to get it.

use std::ffi::OsString;

use hyperslab::internals::absent;

use crate::error::Usage;

/// Arguments that nothing reads.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _given: Vec<OsString>,
}

/// Fails, and names the missing part and the feature of Cargo that brings it.
pub(super) fn run(what: &str, feature: &str) -> anyhow::Result<()> {
    Err(Usage(absent(&format!("does not have {what}"), feature)).into())
}
