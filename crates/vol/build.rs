//! Keeps the plug-in in memory until the process ends: libhdf5 unloads plug-ins when it closes, while threads of
//! the plug-in still exist.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
