//! Serves files without the command: `cargo run -p hyperslab-view --example serve -- climate.h5`.

use hyperslab_view::{View, ViewError, ViewOptions};

fn main() -> Result<(), ViewError> {
    let files: Vec<_> = std::env::args_os().skip(1).collect();
    let view = View::new(&files, &ViewOptions::default())?;
    println!("{}", view.address());
    view.run()
}
