//! `hyperslab man`: man pages.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::error::Usage;
use crate::reference;
use crate::show::counted;

/// Print the man page of a command, or write the pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab man repack | man -l -
  hyperslab man --out ~/.local/share/man/man1

Afterwards `man hyperslab` and `man hyperslab-repack` show the pages.")]
pub(crate) struct Args {
    /// The command, as in `repack` or `segy ingest` [default: the page of all commands]
    #[arg(value_name = "COMMAND", conflicts_with = "folder")]
    command: Vec<String>,
    /// Write all pages to files in DIR, which is created if it does not exist
    #[arg(long = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<()> {
    let pages = reference::pages();
    let Some(folder) = &args.folder else {
        let name = std::iter::once("hyperslab").chain(args.command.iter().map(String::as_str));
        let name = name.collect::<Vec<_>>().join(" ");
        let Some(page) = pages.iter().find(|page| page.name == name) else {
            let why = "`hyperslab --help` lists the commands";
            return Err(Usage(format!("there is no command `{name}`: {why}")).into());
        };
        return Ok(out.write_all(&page.man()?)?);
    };
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for page in &pages {
        let path = folder.join(format!("{}.1", page.file_name()));
        fs::write(&path, page.man()?).with_context(|| path.display().to_string())?;
    }
    writeln!(out, "{}: {}", folder.display(), counted(pages.len() as u64, "page"))?;
    Ok(())
}
