//! The program `hyperslab`. All code is in the library, which the command of the Python package uses, too.

use std::io;
use std::process::ExitCode;

use hyperslab_cli::Libraries;

fn main() -> ExitCode {
    hyperslab_io::report::to_stderr();
    let program = std::env::current_exe().map(|program| [program.into_os_string()]);
    let program = program.as_ref().ok().map(|program| &program[..]);
    let libraries = Libraries { program, is_program: true, ..Libraries::default() };
    let args = std::env::args_os();
    let code = hyperslab_cli::run_with(args, &mut io::stdout().lock(), &mut io::stderr(), &libraries);
    ExitCode::from(code)
}
