//! A build that draws no figures.

use std::path::Path;

use anyhow::bail;

use super::{Picture, Size};

/// Fails, and names the feature that draws.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    bail!("{}: this build of hyperslab-plot does not draw figures (feature `draw`)", path.display())
}

/// Fails as [`check`] does.
pub(super) fn save(path: &Path, _size: Size, _is_svg: bool, _picture: Picture<'_>) -> anyhow::Result<()> {
    check(path)
}
