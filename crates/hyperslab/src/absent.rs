//! What the programs of this project say about a part that their build leaves out.

/// Returns the message for a part of the feature of Cargo with this name: what the build `lacks`, and how to
/// get it.
pub fn absent(lacks: &str, feature: &str) -> String {
    format!("this build of hyperslab {lacks} (feature `{feature}`): run `make develop`, or install a wheel")
}
