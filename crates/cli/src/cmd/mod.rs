//! The commands.

mod check;
mod dump;
mod explain;
mod ls;
mod recover;
mod repack;
mod stat;

use std::io::Write;

use hyperslab::select::{self, Parsed};

use crate::error::Usage;

/// A command and its arguments.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    Ls(ls::Args),
    Dump(dump::Args),
    Stat(stat::Args),
    Explain(explain::Args),
    Check(check::Args),
    Recover(recover::Args),
    Repack(repack::Args),
}

impl Command {
    /// Does it.
    pub(crate) fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        match self {
            Self::Ls(args) => ls::run(args, out),
            Self::Dump(args) => dump::run(args, out),
            Self::Stat(args) => stat::run(args, out),
            Self::Explain(args) => explain::run(args, out),
            Self::Check(args) => check::run(args, out),
            Self::Recover(args) => recover::run(args, out),
            Self::Repack(args) => repack::run(args, out),
        }
    }
}

/// Reads the text of `--select`.
fn selected(text: &str, shape: &[u64]) -> anyhow::Result<Parsed> {
    select::parse(text, shape).map_err(|error| {
        let shape = crate::show::shape(shape);
        Usage(format!("--select '{text}' of an array of shape {shape}: {error}")).into()
    })
}
