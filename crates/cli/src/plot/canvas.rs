//! The canvas of a picture, and its text style.

use std::path::Path;

use anyhow::{anyhow, bail};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontTransform, TextStyle};

use super::letters::{self, Letters};

/// The size of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

/// Something that can be drawn with any backend.
pub(crate) trait Picture {
    /// Draws the picture on all of `area`.
    fn draw<B: DrawingBackend>(&self, area: &Area<'_, B>) -> Drawn<B>;
}

/// A part of a canvas.
pub(crate) type Area<'a, B> = DrawingArea<B, Shift>;
/// The result of drawing.
pub(crate) type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

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

/// Draws a picture to the file at `path`, replacing an existing file.
pub(crate) fn save(path: &Path, size: Size, picture: &impl Picture) -> anyhow::Result<()> {
    check(path, size)?;
    let sides = (size.width, size.height);
    let failed = |error: String| anyhow!("{}: {error}", path.display());
    if is_svg(path)? {
        let area = SVGBackend::new(path, sides).into_drawing_area();
        return fill_and_draw(&area, picture).map_err(|error| failed(error.to_string()));
    }
    let area = Letters(BitMapBackend::new(path, sides)).into_drawing_area();
    fill_and_draw(&area, picture).map_err(|error| failed(error.to_string()))
}

fn fill_and_draw<B: DrawingBackend>(area: &Area<'_, B>, picture: &impl Picture) -> Drawn<B> {
    area.fill(&WHITE)?;
    picture.draw(area)?;
    area.present()
}

/// Returns the style of text of this height in pixels.
pub(crate) fn text(height: u32) -> TextStyle<'static> {
    (FONT, height).into_font().color(&INK)
}

/// Returns the same style for text that runs upwards.
pub(crate) fn upwards(height: u32) -> TextStyle<'static> {
    text(height).transform(FontTransform::Rotate270)
}

/// Returns the width of a text in pixels, which is approximate for SVG.
pub(crate) fn width_of(words: &str, height: u32) -> i32 {
    letters::size(words, f64::from(height)).0.cast_signed()
}

/// For SVG, the font of this family in the program that shows the file.
const FONT: &str = "sans-serif";
/// The colour of text.
pub(crate) const INK: RGBColor = RGBColor(38, 38, 38);
/// The colour of frames and ticks.
pub(crate) const FRAME: RGBColor = RGBColor(150, 150, 150);
/// The colour of a grid.
pub(crate) const GRID: RGBColor = RGBColor(228, 228, 228);
/// The least length of a side, which leaves room for an axis.
const LEAST_SIDE: u32 = 200;
/// The greatest length of a side, beyond any screen.
const MOST_SIDE: u32 = 16_384;

#[cfg(test)]
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
