//! A plane of an array as an image, with colours for values, two axes, and a colour bar.

use std::path::Path;

use anyhow::bail;

use super::{Picture, Size, save};

/// The axis of the rows or of the columns of a plane.
#[derive(Debug, Clone)]
pub struct PlaneAxis<'a> {
    /// The name, with the unit if it has one: `time (ms)`.
    pub label: &'a str,
    /// The coordinate of the first row or column.
    pub first: f64,
    /// The coordinate of the last row or column.
    pub last: f64,
}

/// A plane of an array. Rows go downward, and columns to the right.
#[derive(Debug, Clone)]
pub struct Plane<'a> {
    /// The values, row by row. NaN is grey.
    pub values: &'a [f32],
    /// The number of rows. For seismic data, these are the samples of a trace.
    pub rows: usize,
    /// The number of columns. For seismic data, these are the traces.
    pub columns: usize,
    /// The axis of the rows.
    pub row_axis: PlaneAxis<'a>,
    /// The axis of the columns.
    pub column_axis: PlaneAxis<'a>,
    /// The text above the image.
    pub title: &'a str,
    /// The percentile of absolute values that gets the strongest colour, from 0 to 100. 99 is usual.
    pub clip: f64,
}

/// Draws a plane to the file at `path`, as an image of this size. The extension of the name selects PNG or
/// SVG.
///
/// Colours go from blue (negative) over white to red (positive), and are strongest at the clip and beyond.
///
/// Returns an error if the name has another extension, if the number of values is not rows times columns, or
/// if the file cannot be written.
pub fn plane(path: impl AsRef<Path>, size: Size, plane: &Plane<'_>) -> anyhow::Result<()> {
    if plane.rows == 0
        || plane.columns == 0
        || plane.rows.checked_mul(plane.columns) != Some(plane.values.len())
    {
        bail!("{} values are not {} rows of {} columns", plane.values.len(), plane.rows, plane.columns);
    }
    if !(0.0..=100.0).contains(&plane.clip) {
        bail!("a percentile is from 0 to 100, not {}", plane.clip);
    }
    save(path.as_ref(), size, Picture::Plane(plane))
}
