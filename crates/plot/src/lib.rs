//! Figures as PNG or SVG, depending on the extension of the file. Fonts are part of the program, and no
//! system libraries are needed. Without the feature `draw`, figures are only described.

#![forbid(unsafe_code)]

#[cfg(feature = "draw")]
mod draw;
#[cfg(not(feature = "draw"))]
#[path = "none.rs"]
mod draw;
mod lines;
mod plane;

use std::path::Path;

use anyhow::bail;

pub use lines::{Line, Lines, Panel};
pub use plane::{Plane, PlaneAxis, plane};

/// The size of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
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
pub fn check(path: &Path, size: Size) -> anyhow::Result<()> {
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
#[derive(Debug, Clone, Copy)]
pub enum Picture<'a> {
    /// Lines in panels.
    Lines(&'a Lines),
    /// A plane of an array.
    Plane(&'a Plane<'a>),
}

/// Draws a picture to the file at `path`, replacing an existing file.
pub fn save(path: &Path, size: Size, picture: Picture<'_>) -> anyhow::Result<()> {
    check(path, size)?;
    draw::save(path, size, is_svg(path)?, picture)
}

/// The least length of a side, which leaves room for an axis.
const LEAST_SIDE: u32 = 200;
/// The greatest length of a side, beyond any screen.
const MOST_SIDE: u32 = 16_384;

#[cfg(all(test, feature = "draw"))]
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
