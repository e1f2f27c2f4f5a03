//! Text in bitmaps, with letters placed to a fraction of a pixel.
//!
//! `plotters` itself places every letter at a whole pixel and omits the space before it, which makes words
//! fall apart. Only text is drawn here. Everything else goes to the wrapped backend, pixel by pixel.

use std::sync::OnceLock;

use ab_glyph::{Font as _, FontRef, Glyph, PxScale, ScaleFont as _, point};
use plotters::backend::DrawingBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendTextStyle, DrawingErrorKind};

/// A backend that draws text itself, and everything else with the wrapped backend.
pub(super) struct Letters<B>(pub(super) B);

type Done<B> = Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

impl<B: DrawingBackend> DrawingBackend for Letters<B> {
    type ErrorType = B::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Done<B> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Done<B> {
        self.0.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Done<B> {
        self.0.draw_pixel(at, colour)
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<B::ErrorType>> {
        Ok(size(text, style.size()))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done<B> {
        let Some(laid) = lay(text, style.size()) else { return Ok(()) };
        let (width, height) = (laid.width.round(), laid.height.round());
        let left = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Right => -width,
            HPos::Center => -width / 2.0,
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0.0,
            VPos::Center => -height / 2.0,
            VPos::Bottom => -height,
        };
        #[expect(clippy::cast_possible_truncation, reason = "pixels")]
        let (left, top) = (left.round() as i32, top.round() as i32);
        let (turned, colour) = (style.transform(), style.color());
        let (columns, rows) = self.get_size();
        let inside = |place: i32, end: u32| u32::try_from(place).is_ok_and(|place| place < end);
        let mut done = Ok(());
        for glyph in laid.glyphs {
            let Some(outline) = laid.font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            #[expect(clippy::cast_possible_truncation, reason = "pixels")]
            let (first_x, first_y) = (left + bounds.min.x as i32, top + bounds.min.y as i32);
            outline.draw(|x, y, covered| {
                let (x, y) = turned.transform(first_x + x.cast_signed(), first_y + y.cast_signed());
                let (x, y) = (at.0 + x, at.1 + y);
                if done.is_ok() && covered > 0.0 && inside(x, columns) && inside(y, rows) {
                    // Without this, a thin stroke between two pixels would be paler than one on a pixel.
                    let alpha = colour.alpha * f64::from(covered.min(1.0)).powf(STRENGTH);
                    done = self.0.draw_pixel((x, y), BackendColor { alpha, ..colour });
                }
            });
        }
        done
    }
}

/// A line of text with the positions of its letters.
struct Laid {
    font: &'static FontRef<'static>,
    glyphs: Vec<Glyph>,
    width: f32,
    height: f32,
}

/// Places the letters of a line next to each other. Returns `None` if the font cannot be loaded.
fn lay(text: &str, size: f64) -> Option<Laid> {
    static FONT: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    let font =
        FONT.get_or_init(|| FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT).ok()).as_ref()?;
    // The backend's SVG draws text of this size with this many pixels per em.
    #[expect(clippy::cast_possible_truncation, reason = "a size of letters")]
    let em = (size / 1.24) as f32;
    let scale = PxScale::from(em * font.height_unscaled() / font.units_per_em().unwrap_or(1000.0));
    let scaled = font.as_scaled(scale);
    let (mut glyphs, mut x, mut last) = (Vec::new(), 0.0, None);
    for letter in text.chars() {
        let id = scaled.glyph_id(letter);
        x += last.map_or(0.0, |last| scaled.kern(last, id));
        glyphs.push(id.with_scale_and_position(scale, point(x, scaled.ascent())));
        x += scaled.h_advance(id);
        last = Some(id);
    }
    Some(Laid { font, glyphs, width: x, height: scaled.height() })
}

/// Returns the width and the height of a line of text, in pixels.
pub(super) fn size(text: &str, size: f64) -> (u32, u32) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "pixels")]
    let pixels = |length: f32| length.ceil() as u32;
    lay(text, size).map_or((0, 0), |laid| (pixels(laid.width), pixels(laid.height)))
}

/// The exponent of a pixel's coverage. A smaller exponent makes thin strokes darker.
const STRENGTH: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_wide_as_its_letters() {
        let (one, height) = size("m", 20.0);
        let (three, same) = size("mmm", 20.0);
        assert!(one > 8 && three.abs_diff(3 * one) <= 3 && height == same, "{one} {three} {height}");
        assert_eq!(size("", 20.0), (0, height));
        assert!(size("m", 40.0).0.abs_diff(2 * one) <= 1);
    }
}
