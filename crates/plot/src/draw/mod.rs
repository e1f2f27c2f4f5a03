//! Drawing pictures: the canvas, and the style of its text.

mod colour;
mod letters;
mod lines;
mod plane;

use std::path::Path;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontTransform, TextStyle};

use self::letters::Letters;
use self::plane::Image;
use super::{Picture, Size};

/// Something that can be drawn with any backend.
trait Draw {
    /// Draws the picture on all of `area`.
    fn draw<B: DrawingBackend>(&self, area: &Area<'_, B>) -> Drawn<B>;
}

/// A part of a canvas.
type Area<'a, B> = DrawingArea<B, Shift>;
/// The result of drawing.
type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

/// Checks that pictures can be drawn: in this build, they can.
#[expect(clippy::unnecessary_wraps, reason = "a build without drawing returns an error")]
pub(super) fn check(_path: &Path) -> anyhow::Result<()> {
    Ok(())
}

/// Draws a picture to the file at `path`, as SVG or as PNG.
pub(super) fn save(path: &Path, size: Size, is_svg: bool, picture: Picture<'_>) -> anyhow::Result<()> {
    match picture {
        Picture::Lines(lines) => draw(path, size, is_svg, lines),
        Picture::Plane(plane) => draw(path, size, is_svg, &Image::new(plane)),
    }
}

fn draw(path: &Path, size: Size, is_svg: bool, picture: &impl Draw) -> anyhow::Result<()> {
    let sides = (size.width, size.height);
    let failed = |error: String| anyhow!("{}: {error}", path.display());
    if is_svg {
        let area = SVGBackend::new(path, sides).into_drawing_area();
        return fill_and_draw(&area, picture).map_err(|error| failed(error.to_string()));
    }
    let area = Letters(BitMapBackend::new(path, sides)).into_drawing_area();
    fill_and_draw(&area, picture).map_err(|error| failed(error.to_string()))
}

fn fill_and_draw<B: DrawingBackend>(area: &Area<'_, B>, picture: &impl Draw) -> Drawn<B> {
    area.fill(&WHITE)?;
    picture.draw(area)?;
    area.present()
}

/// Returns the style of text of this height in pixels.
fn text(height: u32) -> TextStyle<'static> {
    (FONT, height).into_font().color(&INK)
}

/// Returns the same style for text that runs upwards.
fn upwards(height: u32) -> TextStyle<'static> {
    text(height).transform(FontTransform::Rotate270)
}

/// Returns the width of a text in pixels, which is approximate for SVG.
fn width_of(words: &str, height: u32) -> i32 {
    letters::size(words, f64::from(height)).0.cast_signed()
}

/// For SVG, the font of this family in the program that shows the file.
const FONT: &str = "sans-serif";
/// The colour of text.
const INK: RGBColor = RGBColor(38, 38, 38);
/// The colour of frames and ticks.
const FRAME: RGBColor = RGBColor(150, 150, 150);
/// The colour of a grid.
const GRID: RGBColor = RGBColor(228, 228, 228);
