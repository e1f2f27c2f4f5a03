//! A build that draws no pictures.

use std::path::Path;

use anyhow::bail;

use super::{Picture, Size};

/// Says that this build draws no pictures, and how to get one that does.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    bail!(
        "{}: this build draws no pictures; `cargo install hyperslab-cli` installs one that does",
        path.display()
    )
}

/// Says the same.
pub(super) fn save(path: &Path, _size: Size, _is_svg: bool, _picture: Picture<'_>) -> anyhow::Result<()> {
    check(path)
}
