//! Lines over two logarithmic axes, in panels side by side.

/// Panels that share a legend, units and the range of values.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The text above the panels.
    pub title: String,
    /// The text below the title.
    pub subtitle: String,
    /// The label of the horizontal axes.
    pub x: String,
    /// The label of the vertical axes.
    pub y: String,
    /// The panels, from left to right.
    pub panels: Vec<Panel>,
    /// The names of the lines, in the same order in every panel. The last line is drawn in black.
    pub names: Vec<String>,
    /// The marked position along x, and the text of the mark.
    pub mark: Option<(f64, String)>,
}

/// One panel.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The text above it.
    pub title: String,
    /// A line for each name.
    pub lines: Vec<Line>,
}

/// The points and lines of one name.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// Points that are connected, from left to right.
    pub joined: Vec<(f64, f64)>,
    /// Points that are not connected.
    pub alone: Vec<(f64, f64)>,
    /// The point that is marked.
    pub marked: Option<(f64, f64)>,
    /// The points of a thin line.
    pub thin: Vec<(f64, f64)>,
}
