//! Errors as text.

use std::fmt;

use crate::text::plain;

/// An error of another library, whose text has several lines.
#[derive(Debug)]
pub struct Lines(pub String);

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lines {}

/// Returns the causes of an error in one line, from the outermost to the innermost. Omits a cause that an
/// outer cause already quotes. An error that is [`Lines`] keeps its lines.
pub fn message(error: &anyhow::Error) -> String {
    if let Some(Lines(text)) = error.downcast_ref() {
        return text.lines().map(plain).collect::<Vec<_>>().join("\n");
    }
    let mut message = String::new();
    let mut quoted = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !quoted.contains(&cause) {
            message.push_str(if message.is_empty() { "" } else { ": " });
            message.push_str(&cause);
            quoted = cause;
        }
    }
    plain(&message)
}
