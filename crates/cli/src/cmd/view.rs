//! `hyperslab view`: shows files in the browser.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use hyperslab_view::{View, ViewError, ViewOptions};

use crate::error;

/// Show files in the browser: trees, attributes, tables, lines, heat maps and images
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hyperslab view climate.h5
  hyperslab view run-*.h5 --port 8000 --no-browser

The page is at an address of this machine with a secret in it: only programs that have the address can read
the files. The files are only read, and are closed while the page does not use them. Files that they
link to (external links, sources of virtual datasets, external raw data) are read only in the folder of the
given file and below. Ctrl-C ends the command.

On another machine, forward the port (`ssh -L 8000:localhost:8000 HOST`) and use `--port 8000 --no-browser`.")]
pub(crate) struct Args {
    /// The HDF5 files, or their URLs
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,
    /// The port on this machine [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Print the address, and do not open a browser
    #[arg(long)]
    no_browser: bool,
    /// Allow linked files in this folder and below [default: the folder of each file]
    #[arg(long, value_name = "FOLDER")]
    links: Option<PathBuf>,
}

pub(super) fn run(args: &Args, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
    let options = ViewOptions { port: args.port, links: args.links.clone() };
    let view = View::new(&args.files, &options).map_err(|failed| match failed {
        ViewError::File { file, cause } => error::opening(file.as_ref(), *cause),
        other => other.into(),
    })?;
    if let Some(missing) = View::missing_page() {
        writeln!(err, "hyperslab: {missing}; until then, the address answers h5grove's API only")?;
    }
    writeln!(out, "{}", view.address())?;
    // The reader needs the address while the command runs.
    out.flush()?;
    if !args.no_browser && View::missing_page().is_none() {
        let address = view.address_for_once();
        // The address is printed, so the command works without a browser. A browser in the terminal does not
        // return before it ends.
        std::thread::spawn(move || webbrowser::open(&address).is_ok());
    }
    Ok(view.run()?)
}
