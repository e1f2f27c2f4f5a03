//! Embeds the bundled page, if `make web` has made it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The files of the page, and their types.
const FILES: [(&str, &str); 5] = [
    ("index.html", "text/html; charset=utf-8"),
    ("page.js", "text/javascript; charset=utf-8"),
    ("page.css", "text/css; charset=utf-8"),
    ("page.js.LEGAL.txt", "text/plain; charset=utf-8"),
    ("licences.txt", "text/plain; charset=utf-8"),
];

fn main() {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("web/dist");
    let mut code = String::from("/// The files of the page: name, type, content.\n");
    code.push_str("pub(crate) static FILES: &[(&str, &str, &[u8])] = &[\n");
    // Without one file, there is no page.
    let is_built = FILES.iter().all(|(name, _)| folder.join(name).is_file());
    for (name, kind) in FILES.iter().filter(|_| is_built) {
        let path = folder.join(name).display().to_string();
        // Writing to a string does not fail.
        let _ = writeln!(code, "    ({name:?}, {kind:?}, include_bytes!({path:?})),");
    }
    code.push_str("];\n");
    let target = Path::new(&variable("OUT_DIR")).join("files.rs");
    fs::write(&target, code).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
    // A path that does not exist would run this script at every build.
    println!("cargo::rerun-if-changed={}", if folder.is_dir() { "web/dist" } else { "web" });
    println!("cargo::rerun-if-changed=build.rs");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
