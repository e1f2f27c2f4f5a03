//! Pictures as PNG or SVG, depending on the extension of the file. Fonts are part of the program, and no
//! system libraries are needed.
//!
//! The feature `plot` draws them. A build without it says how to get a program that has it.

#[cfg(feature = "plot")]
#[path = "../../plot/src/draw/mod.rs"]
mod draw;
#[cfg(not(feature = "plot"))]
#[path = "../../plot/src/none.rs"]
mod draw;
#[cfg_attr(not(feature = "plot"), expect(dead_code, reason = "only drawing reads a description"))]
#[path = "../../plot/src/lines.rs"]
pub(crate) mod lines;
#[path = "../../plot/src/plane.rs"]
mod plane;

use std::path::Path;

use anyhow::bail;

pub use plane::{Plane, PlaneAxis, plane};

/// The size of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

/// Parses the size of a picture on the command line.
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

/// Returns whether the name of a file asks for an SVG instead of a PNG.
fn is_svg(path: &Path) -> anyhow::Result<bool> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("png") => Ok(false),
        Some("svg") => Ok(true),
        _ => bail!("{}: a picture is a .png or an .svg", path.display()),
    }
}

/// Checks that a picture of this size can be drawn to a file with this name.
pub(crate) fn check(path: &Path, size: Size) -> anyhow::Result<()> {
    is_svg(path)?;
    draw::check(path)?;
    let sides = [size.width, size.height];
    if sides.iter().any(|side| !(LEAST_SIDE..=MOST_SIDE).contains(side)) {
        bail!(
            "a picture has from {LEAST_SIDE} to {MOST_SIDE} pixels along each side, not {} x {}",
            size.width,
            size.height
        );
    }
    Ok(())
}

/// A description of a picture.
#[cfg_attr(not(feature = "plot"), expect(dead_code, reason = "only drawing reads a description"))]
#[derive(Debug, Clone, Copy)]
pub(crate) enum Picture<'a> {
    Lines(&'a lines::Lines),
    Plane(&'a Plane<'a>),
}

/// Draws a picture to the file at `path`, replacing an existing file.
pub(crate) fn save(path: &Path, size: Size, picture: Picture<'_>) -> anyhow::Result<()> {
    check(path, size)?;
    draw::save(path, size, is_svg(path)?, picture)
}

/// The least length of a side, which leaves room for an axis.
const LEAST_SIDE: u32 = 200;
/// The greatest length of a side, beyond any screen.
const MOST_SIDE: u32 = 16_384;

#[cfg(all(test, feature = "plot"))]
mod tests {
    use super::*;

    #[test]
    fn the_file_extension_selects_the_format() {
        let size = Size { width: 640, height: 480 };
        for name in ["a.png", "a.b.PNG", "dir.x/a.svg"] {
            assert!(check(Path::new(name), size).is_ok(), "{name}");
        }
        for name in ["a", "a.pdf", "png", ".png"] {
            let error = check(Path::new(name), size).unwrap_err().to_string();
            assert!(error.contains("a picture is a .png or an .svg"), "{error}");
        }
        let error = check(Path::new("a.png"), Size { width: 10, height: 480 }).unwrap_err();
        assert!(error.to_string().contains("from 200 to 16384 pixels"), "{error}");
    }
}
