//! Writes `docs/reference/command-line.md`.
//!
//!     cargo run -p hyperslab-cli --example reference

use std::path::Path;

fn main() -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/command-line.md");
    std::fs::create_dir_all(path.with_file_name(""))?;
    std::fs::write(path, hyperslab_cli::reference::markdown())
}
