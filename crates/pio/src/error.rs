//! The error of what the user has asked for.

use std::fmt;

/// An argument that does not fit the others or this system, as a text for the user.
#[derive(Debug)]
pub struct WrongArgument(pub String);

impl fmt::Display for WrongArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongArgument {}
