//! Figures, which the feature `plot` draws. A build without it says how to get a program that has it.

use std::path::Path;

use anyhow::bail;
use hyperslab::internals::absent_in_wheels;
use hyperslab_plot::Size;

/// Parses the size of a figure on the command line.
#[cfg(any(feature = "pio", feature = "tune"))]
pub(crate) fn size(text: &str) -> Result<Size, String> {
    let sides =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    sides
        .map(|(width, height)| Size { width, height })
        .ok_or_else(|| "not a size such as 1200x600".to_owned())
}

/// Returns the part of an example that draws a figure, or nothing in a build that does not draw.
pub(crate) const fn example(part: &'static str) -> &'static str {
    if cfg!(feature = "plot") { part } else { "" }
}

/// Checks that a figure of this size can be drawn to a file with this name.
pub(crate) fn check(path: &Path, size: Size) -> anyhow::Result<()> {
    if cfg!(not(feature = "plot")) {
        bail!("{}: {}", path.display(), absent_in_wheels("does not draw figures", "plot"));
    }
    hyperslab_plot::check(path, size)
}
