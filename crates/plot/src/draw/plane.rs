//! Drawing a plane of an array as an image, with colours for values, two axes, and a colour bar.

use plotters::coord::Shift;
use plotters::element::BitMapElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::colour;
use super::lines::draw_upwards;
use super::{Area, Draw, Drawn, FRAME, text};
use crate::Plane;

/// Returns the absolute value that `percent` percent of the numbers do not exceed. It is always more than 0.
fn percentile(values: &[f32], percent: f64) -> f32 {
    let mut sizes: Vec<f32> =
        values.iter().filter(|value| value.is_finite()).map(|value| value.abs()).collect();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in the list"
    )]
    let place = ((percent / 100.0) * sizes.len().saturating_sub(1) as f64).round() as usize;
    if place >= sizes.len() {
        return 1.0;
    }
    let (_, found, more) = sizes.select_nth_unstable_by(place, f32::total_cmp);
    // If most values are 0, the others still get a colour.
    if *found > 0.0 { *found } else { more.iter().copied().fold(0.0, f32::max) }.max(f32::MIN_POSITIVE)
}

pub(super) struct Image<'a> {
    plane: &'a Plane<'a>,
    strongest: f32,
}

impl Draw for Image<'_> {
    fn draw<B: DrawingBackend>(&self, area: &Area<'_, B>) -> Drawn<B> {
        let (width, height) = area.dim_in_pixel();
        let [width, height] = [width, height].map(u32::cast_signed);
        let frame = Frame { left: LEFT, top: TOP, right: width - RIGHT, bottom: height - BOTTOM };
        let middle = frame.left.midpoint(frame.right);
        let centred = text(TITLE).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw_text(self.plane.title, &centred, (middle, TOP / 2))?;
        self.image(area, frame)?;
        self.axes(area, frame)?;
        self.bar(area, Frame { left: frame.right + 24, right: frame.right + 42, ..frame })
    }
}

/// A rectangle of pixels. Its right and bottom edges are exclusive.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Frame {
    fn size(self) -> (u32, u32) {
        ((self.right - self.left).cast_unsigned(), (self.bottom - self.top).cast_unsigned())
    }

    /// Fills the rectangle with pixels, row by row.
    fn fill<B: DrawingBackend>(
        self,
        area: &DrawingArea<B, Shift>,
        colours: impl Iterator<Item = RGBColor>,
    ) -> Drawn<B> {
        let pixels = colours.flat_map(|RGBColor(red, green, blue)| [red, green, blue]).collect();
        let image = BitMapElement::with_owned_buffer((self.left, self.top), self.size(), pixels);
        image.map_or(Ok(()), |image| area.draw(&image))
    }

    fn outline<B: DrawingBackend>(self, area: &DrawingArea<B, Shift>) -> Drawn<B> {
        area.draw(&Rectangle::new([(self.left - 1, self.top - 1), (self.right, self.bottom)], FRAME))
    }
}

impl<'a> Image<'a> {
    /// Returns the image of a plane.
    pub(super) fn new(plane: &'a Plane<'a>) -> Self {
        Self { plane, strongest: percentile(plane.values, plane.clip) }
    }
}

impl Image<'_> {
    fn image<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, frame: Frame) -> Drawn<B> {
        let (width, height) = frame.size();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let colours = pixels.map(|(x, y)| {
            let (rows, columns) =
                (covered(y, height, self.plane.rows), covered(x, width, self.plane.columns));
            colour::diverging(self.mean(rows, columns) / self.strongest)
        });
        frame.fill(area, colours)?;
        frame.outline(area)
    }

    /// Returns the mean of the finite numbers in a box, or NaN if there are none.
    fn mean(&self, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> f32 {
        let (mut sum, mut count) = (0.0, 0.0);
        for row in rows {
            let first = row * self.plane.columns;
            for value in &self.plane.values[first + columns.start..first + columns.end] {
                if value.is_finite() {
                    sum += value;
                    count += 1.0;
                }
            }
        }
        sum / count
    }

    fn axes<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, frame: Frame) -> Drawn<B> {
        let (rows, columns) = (&self.plane.row_axis, &self.plane.column_axis);
        for (value, share) in ticks(columns.first, columns.last, 8) {
            let x = along(frame.left, frame.right, centred(share, self.plane.columns));
            area.draw(&PathElement::new([(x, frame.bottom), (x, frame.bottom + 5)], FRAME))?;
            let style = text(SMALL).pos(Pos::new(HPos::Center, VPos::Top));
            area.draw_text(&shown(value), &style, (x, frame.bottom + 9))?;
        }
        for (value, share) in ticks(rows.first, rows.last, 8) {
            let y = along(frame.top, frame.bottom, centred(share, self.plane.rows));
            area.draw(&PathElement::new([(frame.left - 6, y), (frame.left - 1, y)], FRAME))?;
            let style = text(SMALL).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw_text(&shown(value), &style, (frame.left - 10, y))?;
        }
        let style = text(LABEL).pos(Pos::new(HPos::Center, VPos::Center));
        area.draw_text(columns.label, &style, (frame.left.midpoint(frame.right), frame.bottom + 40))?;
        draw_upwards(area, rows.label, (18, frame.top.midpoint(frame.bottom)))
    }

    /// Draws the colour bar.
    #[expect(clippy::cast_precision_loss, reason = "pixels")]
    fn bar<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>, frame: Frame) -> Drawn<B> {
        let (width, height) = frame.size();
        let rows = (0..height).map(|y| colour::diverging(1.0 - 2.0 * (y as f32 + 0.5) / height as f32));
        frame.fill(area, rows.flat_map(|colour| std::iter::repeat_n(colour, width as usize)))?;
        frame.outline(area)?;
        let strongest = f64::from(self.strongest);
        for (value, share) in ticks(strongest, -strongest, 10) {
            let y = along(frame.top, frame.bottom, share);
            area.draw(&PathElement::new([(frame.right, y), (frame.right + 5, y)], FRAME))?;
            let style = text(SMALL).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw_text(&shown(value), &style, (frame.right + 9, y))?;
        }
        Ok(())
    }
}

/// Returns the rows or columns that a pixel shows, at least one.
fn covered(pixel: u32, pixels: u32, count: usize) -> std::ops::Range<usize> {
    let at = |pixel: u32| {
        let place = u64::from(pixel) * count as u64 / u64::from(pixels.max(1));
        usize::try_from(place).unwrap_or(count)
    };
    let first = at(pixel).min(count - 1);
    first..at(pixel + 1).clamp(first + 1, count)
}

/// Converts a position from 0 (first row or column) to 1 (last) to a position in the image. The first and the
/// last row or column are centred half of their width away from the edges.
#[expect(clippy::cast_precision_loss, reason = "rows of a picture")]
fn centred(share: f64, count: usize) -> f64 {
    let count = count as f64;
    (share * (count - 1.0) + 0.5) / count
}

/// Returns the pixel at a position from 0 to 1.
fn along(from: i32, to: i32, share: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a pixel")]
    let pixel = (f64::from(from) + share * f64::from(to - from)).round() as i32;
    pixel.min(to - 1)
}

/// Returns about `most` round values from one end of an axis to the other, each with its position from 0 to
/// 1.
fn ticks(first: f64, last: f64, most: u32) -> Vec<(f64, f64)> {
    let length = (last - first).abs();
    if !length.is_normal() {
        return vec![(first, 0.5)];
    }
    let rough = length / f64::from(most);
    let ten = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * ten).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * ten);
    let (low, high) = (first.min(last), first.max(last));
    let mut found = Vec::new();
    let mut number = (low / step - 1e-9).ceil();
    while number * step <= high + 1e-9 * step && found.len() <= 2 * most as usize {
        // Adding zero turns -0 into 0.
        let value = number * step + 0.0;
        found.push((value, (value - first) / (last - first)));
        number += 1.0;
    }
    found
}

/// Returns the text of a value at a tick.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The margins around the image, in pixels.
const LEFT: i32 = 86;
const TOP: i32 = 48;
const RIGHT: i32 = 122;
const BOTTOM: i32 = 62;
/// The heights of letters.
const TITLE: u32 = 25;
const LABEL: u32 = 20;
const SMALL: u32 = 17;

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values that are taken, not calculated")]
mod tests {
    use super::*;

    #[test]
    fn the_clip_ignores_values_that_are_not_finite_and_is_never_zero() {
        let values: Vec<f32> =
            (0..=100_u8).map(|k| f32::from(k) * if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(
            [percentile(&values, 100.0), percentile(&values, 99.0), percentile(&values, 50.0)],
            [100.0, 99.0, 50.0]
        );
        assert_eq!(percentile(&[f32::NAN, 3.0, f32::INFINITY], 99.0), 3.0);
        assert_eq!(percentile(&[0.0, 0.0, 0.0, 5.0], 50.0), 5.0);
        assert!(percentile(&[0.0; 4], 99.0) > 0.0);
        assert_eq!(percentile(&[f32::NAN], 99.0), 1.0);
    }

    #[test]
    fn ticks_of_the_first_and_last_row_are_at_their_centres() {
        assert_eq!([centred(0.0, 4), centred(1.0, 4), centred(0.5, 4)], [0.125, 0.875, 0.5]);
    }

    #[test]
    fn every_row_is_shown_by_a_pixel_and_every_pixel_shows_a_row() {
        for (pixels, count) in [(7, 3), (3, 7), (5, 5), (1, 9), (200, 1)] {
            let all: Vec<_> = (0..pixels).map(|pixel| covered(pixel, pixels, count)).collect();
            assert!(all.iter().all(|rows| !rows.is_empty() && rows.end <= count), "{all:?}");
            let met: std::collections::BTreeSet<usize> = all.into_iter().flatten().collect();
            assert_eq!(met.len(), count);
        }
    }

    #[test]
    fn ticks_are_round_and_at_the_positions_of_their_values() {
        assert_eq!(
            ticks(0.0, 10.0, 5),
            [(0.0, 0.0), (2.0, 0.2), (4.0, 0.4), (6.0, 0.6), (8.0, 0.8), (10.0, 1.0)]
        );
        assert_eq!(ticks(1.0, -1.0, 2), [(-1.0, 1.0), (0.0, 0.5), (1.0, 0.0)]);
        assert_eq!(ticks(5.0, 5.0, 4), [(5.0, 0.5)]);
        assert_eq!([0.0, 1200.0, -0.25, 1e-7, 2.5e9].map(shown), ["0", "1200", "-0.25", "1.0e-7", "2.5e9"]);
    }
}
