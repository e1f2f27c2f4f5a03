//! The program `hyperslab`. All code is in the library, which the command of the Python package uses, too.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = hyperslab_cli::run(std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr());
    ExitCode::from(code)
}
