//! The program `hyperslab`. Everything is in the library, which the Python package's command uses too.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = hyperslab_cli::run(std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr());
    ExitCode::from(code)
}
