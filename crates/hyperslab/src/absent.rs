//! What the programs of this project say about a part that their build leaves out.

/// Returns the message for a part of the feature of Cargo with this name: what the build `lacks`, and how to
/// get it.
pub fn absent(lacks: &str, feature: &str) -> String {
    format!("this build of hyperslab {lacks} (feature `{feature}`): run `make develop`, or install a wheel")
}

/// Returns the message for a part that wheels leave out, and that only a command built by cargo has.
pub fn absent_in_wheels(lacks: &str, feature: &str) -> String {
    format!(
        "this build of hyperslab {lacks} (feature `{feature}`): build a command that does, in a clone of the \
         repository, with `cargo install --path crates/cli --features {feature}`"
    )
}
