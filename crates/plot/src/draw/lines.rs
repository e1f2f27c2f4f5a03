//! Drawing lines over two logarithmic axes, in panels side by side.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::colour;
use super::{Area, Draw, Drawn, FRAME, GRID, INK, text, upwards, width_of};
use crate::{Lines, Panel};

impl Draw for Lines {
    fn draw<B: DrawingBackend>(&self, area: &Area<'_, B>) -> Drawn<B> {
        let (head, rest) = area.split_vertically(HEAD);
        head.draw_text(&self.title, &text(TITLE), (MARGIN, 10))?;
        head.draw_text(&self.subtitle, &text(SMALL).color(&INK.mix(0.7)), (MARGIN, 40))?;
        self.legend(&head)?;
        let panels = rest.split_evenly((1, self.panels.len().max(1)));
        let xs = range(self.points().map(|point| point.0));
        let ys = range(self.points().map(|point| point.1));
        for (panel, area) in self.panels.iter().zip(&panels) {
            self.panel(panel, area, xs, ys)?;
        }
        Ok(())
    }
}

impl Lines {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let lines = self.panels.iter().flat_map(|panel| &panel.lines);
        lines.flat_map(|line| line.joined.iter().chain(&line.alone).chain(&line.thin)).copied()
    }

    /// Returns the colour and the width of a line.
    fn style(&self, number: usize) -> (RGBColor, u32) {
        let is_last = number + 1 == self.names.len();
        if is_last { (INK, 3) } else { (colour::LINES[number % colour::LINES.len()], 2) }
    }

    fn legend<B: DrawingBackend>(&self, head: &DrawingArea<B, Shift>) -> Drawn<B> {
        let mut left = MARGIN;
        for (number, name) in self.names.iter().enumerate() {
            let (colour, width) = self.style(number);
            let middle = LEGEND + 8;
            head.draw(&PathElement::new([(left, middle), (left + 26, middle)], colour.stroke_width(width)))?;
            head.draw(&Circle::new((left + 13, middle), 4, colour.filled()))?;
            head.draw_text(name, &text(LABEL), (left + 34, LEGEND))?;
            left += 34 + width_of(name, LABEL) + 28;
        }
        Ok(())
    }

    fn panel<B: DrawingBackend>(
        &self,
        panel: &Panel,
        area: &DrawingArea<B, Shift>,
        (x_low, x_high): (f64, f64),
        (y_low, y_high): (f64, f64),
    ) -> Drawn<B> {
        let (low, high) = (y_low / 1.3, y_high * 1.3);
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .margin_top(4)
            .caption(&panel.title, text(LABEL + 2))
            .x_label_area_size(50)
            .y_label_area_size(70)
            .build_cartesian_2d(
                (x_low / 1.15..x_high * 1.15).log_scale().with_key_points(doublings(x_low, x_high)),
                (low..high).log_scale().with_key_points(decades(low, high)),
            )?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .axis_desc_style(text(LABEL))
            .label_style(text(SMALL))
            .axis_style(FRAME)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        for x in doublings(x_low, x_high) {
            chart.draw_series([PathElement::new([(x, low), (x, high)], GRID)])?;
        }
        for y in decades(low, high) {
            chart.draw_series([PathElement::new([(x_low / 1.15, y), (x_high * 1.15, y)], GRID)])?;
        }
        if let Some((x, words)) = &self.mark {
            chart.draw_series([PathElement::new([(*x, low), (*x, high)], INK.mix(0.45).stroke_width(1))])?;
            let is_right = (x / x_low).ln() > 0.8 * (x_high / x_low).ln();
            let (offset, side) = if is_right { (-6, HPos::Right) } else { (6, HPos::Left) };
            let style = text(SMALL).pos(Pos::new(side, VPos::Top));
            let label = Text::new(words.clone(), (offset, 4), style);
            chart.draw_series([EmptyElement::at((*x, high)) + label])?;
        }
        for (number, line) in panel.lines.iter().enumerate() {
            let (colour, width) = self.style(number);
            chart.draw_series(LineSeries::new(line.thin.iter().copied(), colour.mix(0.35)))?;
            chart.draw_series(LineSeries::new(line.joined.iter().copied(), colour.stroke_width(width)))?;
            chart.draw_series(line.joined.iter().map(|&at| Circle::new(at, 4, colour.filled())))?;
            chart.draw_series(line.alone.iter().map(|&at| Circle::new(at, 4, colour.stroke_width(1))))?;
            chart.draw_series(line.marked.iter().map(|&at| Circle::new(at, 7, colour.filled())))?;
        }
        Ok(())
    }
}

/// Draws text along an upright axis.
pub(super) fn draw_upwards<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    words: &str,
    at: (i32, i32),
) -> Drawn<B> {
    area.draw_text(words, &upwards(LABEL).pos(Pos::new(HPos::Center, VPos::Center)), at)
}

/// Returns the least and the greatest value, widened if they are equal.
fn range(all: impl Iterator<Item = f64>) -> (f64, f64) {
    let found = all.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) =
        found.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    match high > low {
        true => (low, high),
        false if high > 0.0 => (high / 1.5, high * 1.5),
        false => (0.5, 2.0),
    }
}

/// Returns the powers of two in a range.
fn doublings(low: f64, high: f64) -> Vec<f64> {
    powers(2.0, low, high).collect()
}

/// Returns 1, 2 and 5 times the powers of ten in a range, or only the powers if the range is long.
fn decades(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = if high / low > 2e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let tens = powers(10.0, low / 10.0, high).collect::<Vec<_>>();
    let all = tens.into_iter().flat_map(|ten| steps.iter().map(move |step| ten * step));
    all.filter(|value| (low..=high).contains(value)).collect()
}

fn powers(base: f64, low: f64, high: f64) -> impl Iterator<Item = f64> {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let exponent = |value: f64, round: fn(f64) -> f64| round(value.log(base)) as i32;
    (exponent(low * 0.999, f64::ceil)..=exponent(high * 1.001, f64::floor)).map(move |power| base.powi(power))
}

/// Returns a number with as few digits as it needs.
fn short(value: f64) -> String {
    if value >= 1.0 || value <= 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.6}").trim_end_matches('0').to_owned()
    }
}

/// The height of the area above the panels.
const HEAD: i32 = 92;
const MARGIN: i32 = 16;
/// The distance of the legend from the top.
const LEGEND: i32 = 66;
/// The heights of letters.
const TITLE: u32 = 25;
const LABEL: u32 = 19;
const SMALL: u32 = 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_in_the_range() {
        assert_eq!(doublings(16.0, 128.0), [16.0, 32.0, 64.0, 128.0]);
        assert_eq!(decades(0.3, 30.0), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(decades(0.3, 30_000.0), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!([0.05, 0.5, 1.0, 200.0].map(short), ["0.05", "0.5", "1", "200"]);
    }

    #[test]
    fn a_range_of_one_value_or_none_still_has_two_ends() {
        assert_eq!(range([2.0, f64::NAN, 8.0].into_iter()), (2.0, 8.0));
        assert_eq!(range([3.0].into_iter()), (2.0, 4.5));
        assert_eq!(range(std::iter::empty()), (0.5, 2.0));
    }
}
