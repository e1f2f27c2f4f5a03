//! The colours of lines and of values.

use plotters::style::RGBColor;

/// Colours of lines that people with colour blindness can tell apart, after Okabe and Ito.
pub(super) const LINES: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Returns the colour of a value from -1 to 1: blue over white to red; grey for NaN.
pub(super) fn diverging(value: f32) -> RGBColor {
    if value.is_nan() {
        return MISSING;
    }
    let place = f64::from(value.clamp(-1.0, 1.0) + 1.0) / 2.0 * f64::from(LAST);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "less than the number of stops"
    )]
    let stop = (place as u8).min(LAST - 1);
    let (share, below) = (place - f64::from(stop), usize::from(stop));
    let mix = |of: fn(&RGBColor) -> u8| {
        let (low, high) = (f64::from(of(&STOPS[below])), f64::from(of(&STOPS[below + 1])));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
        let mixed = (low + share * (high - low)).round() as u8;
        mixed
    };
    RGBColor(mix(|colour| colour.0), mix(|colour| colour.1), mix(|colour| colour.2))
}

/// The colours from the least value to the greatest, evenly spaced: `RdBu` of `ColorBrewer`, reversed.
const STOPS: [RGBColor; 11] = [
    RGBColor(5, 48, 97),
    RGBColor(33, 102, 172),
    RGBColor(67, 147, 195),
    RGBColor(146, 197, 222),
    RGBColor(209, 229, 240),
    RGBColor(255, 255, 255),
    RGBColor(253, 219, 199),
    RGBColor(244, 165, 130),
    RGBColor(214, 96, 77),
    RGBColor(178, 24, 43),
    RGBColor(103, 0, 31),
];
/// The index of the last stop.
#[expect(clippy::cast_possible_truncation, reason = "there are few")]
const LAST: u8 = STOPS.len() as u8 - 1;
/// The colour of NaN.
const MISSING: RGBColor = RGBColor(170, 170, 170);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_from_blue_over_white_to_red() {
        assert_eq!(diverging(-1.0), RGBColor(5, 48, 97));
        assert_eq!(diverging(-7.0), RGBColor(5, 48, 97));
        assert_eq!(diverging(0.0), RGBColor(255, 255, 255));
        assert_eq!(diverging(0.1), RGBColor(254, 237, 227));
        assert_eq!(diverging(f32::INFINITY), RGBColor(103, 0, 31));
        assert_eq!(diverging(f32::NAN), MISSING);
    }
}
