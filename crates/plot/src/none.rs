//! A build that draws no figures.

use std::path::Path;

use anyhow::bail;
use hyperslab::internals::absent_in_wheels;

use super::{Picture, Size};

/// Fails, and says how to get a build that draws figures.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    bail!("{}: {}", path.display(), absent_in_wheels("does not draw figures", "plot"))
}

/// Fails as [`check`] does.
pub(super) fn save(path: &Path, _size: Size, _is_svg: bool, _picture: Picture<'_>) -> anyhow::Result<()> {
    check(path)
}
