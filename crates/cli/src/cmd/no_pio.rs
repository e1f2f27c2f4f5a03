//! `hyperslab pio` on a system without the sockets of Unix, through which its processes find each other.

use std::ffi::OsString;
use std::io::Write;

use crate::error::Usage;

/// Measure how fast processes write and read a file together (not on this system)
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _given: Vec<OsString>,
}

impl Args {
    /// Returns that this process makes no files.
    #[expect(clippy::unused_self, reason = "where there is `pio`, the arguments say it")]
    pub(super) fn has_own_files(&self) -> bool {
        false
    }
}

pub(super) fn run(
    _args: &Args,
    _given: &[OsString],
    _program: Option<&[OsString]>,
    _out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let why = "pio is not there on this system, since its processes find each other through sockets of Unix: use \
               Linux or macOS, for example in WSL";
    Err(Usage(why.to_owned()).into())
}
