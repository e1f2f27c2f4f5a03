//! Colours on a terminal.

use anstyle::{AnsiColor, Style};

/// Whether text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    /// Returns text in a style, if text has colours.
    pub(crate) fn styled(self, style: Style, text: &str) -> String {
        if self.0 && style != Style::new() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// When text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl When {
    /// Returns whether text to `stream` has colours. If this process is not only the command's, its streams
    /// say nothing about where the text goes.
    pub(crate) fn paint(self, stream: &impl anstream::stream::RawStream, is_program: bool) -> Paint {
        Paint(match self {
            Self::Auto => is_program && anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
            Self::Always => true,
            Self::Never => false,
        })
    }
}

/// The heads of columns and files.
pub(crate) const HEAD: Style = Style::new().bold();
/// Groups.
pub(crate) const GROUP: Style = AnsiColor::Blue.on_default().bold();
/// Links.
pub(crate) const LINK: Style = AnsiColor::Cyan.on_default();
/// Datatypes.
pub(crate) const DATATYPE: Style = AnsiColor::Green.on_default();
/// Facts that matter less.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Errors, and parts of a file that cannot be read.
pub(crate) const BROKEN: Style = AnsiColor::Red.on_default().bold();
