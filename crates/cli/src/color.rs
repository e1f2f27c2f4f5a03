//! When the output has colours.

use hyperslab_terminal::paint::Paint;

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
