//! Reports of the library on the standard error, for programs without a logger of their own.
//!
//! The library prints nothing. What no caller is left to learn goes to the logger of the crate `log`, with
//! the target [`TARGET`]. The command and the libraries for other languages are programs in this respect:
//! they call [`to_stderr`].

use std::io::Write;
use std::sync::Once;

use log::{LevelFilter, Log, Metadata, Record};

/// The target of all records of the library.
pub const TARGET: &str = "hyperslab";

/// The least important records that are shown.
pub const LEVEL: LevelFilter = LevelFilter::Warn;

/// A logger that prints the records of the library, and no others, to the standard error.
#[derive(Debug)]
pub struct StandardError;

impl Log for StandardError {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET && metadata.level() <= LEVEL
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            // If the standard error is closed, there is no place for the record.
            let _ = writeln!(std::io::stderr(), "{TARGET}: {}", record.args());
        }
    }

    fn flush(&self) {}
}

/// Prints the records of the library to the standard error from now on, unless the program has a logger.
pub fn to_stderr() {
    static TRIED: Once = Once::new();
    TRIED.call_once(|| {
        if log::set_logger(&StandardError).is_ok() {
            log::set_max_level(LEVEL);
        }
    });
}

#[cfg(test)]
mod tests {
    use log::Level;

    use super::*;

    #[test]
    fn only_warnings_and_errors_of_the_library_are_printed() {
        let is_shown =
            |target, level| StandardError.enabled(&Metadata::builder().target(target).level(level).build());
        assert!(is_shown("hyperslab", Level::Error) && is_shown("hyperslab", Level::Warn));
        assert!(!is_shown("hyperslab", Level::Info) && !is_shown("rustls", Level::Error));
    }
}
