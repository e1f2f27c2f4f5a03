//! Lines over two logarithmic axes, in panels side by side.

/// Panels that share a legend, units and the range of values.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    pub(crate) title: String,
    /// The text below the title.
    pub(crate) subtitle: String,
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) panels: Vec<Panel>,
    /// The names of the lines, in the same order in every panel. The last line is drawn in black.
    pub(crate) names: Vec<String>,
    /// The marked position along x, and the text of the mark.
    pub(crate) mark: Option<(f64, String)>,
}

/// One panel.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
}

/// The points and lines of one name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    /// Points that are connected, from left to right.
    pub(crate) joined: Vec<(f64, f64)>,
    /// Points that are not connected.
    pub(crate) alone: Vec<(f64, f64)>,
    /// The point that is marked.
    pub(crate) marked: Option<(f64, f64)>,
    /// The points of a thin line.
    pub(crate) thin: Vec<(f64, f64)>,
}
