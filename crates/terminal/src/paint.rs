//! Colours on a terminal.

use anstyle::{AnsiColor, Style};

/// Whether text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(pub bool);

impl Paint {
    /// Returns text in a style, if text has colours.
    pub fn styled(self, style: Style, text: &str) -> String {
        if self.0 && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// The heads of columns and files.
pub const HEAD: Style = Style::new().bold();
/// Groups.
pub const GROUP: Style = AnsiColor::Blue.on_default().bold();
/// Links.
pub const LINK: Style = AnsiColor::Cyan.on_default();
/// Datatypes.
pub const DATATYPE: Style = AnsiColor::Green.on_default();
/// Facts that matter less.
pub const FAINT: Style = Style::new().dimmed();
/// Errors, and parts of a file that cannot be read.
pub const BROKEN: Style = AnsiColor::Red.on_default().bold();
