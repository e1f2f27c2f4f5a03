//! Prints how much a test has tried.

use std::fmt;
use std::io::{self, Write};

/// Prints how much a test has tried. Writes to standard error directly, because the test harness hides the
/// output of passing tests.
pub fn say_counts(counts: fmt::Arguments<'_>) {
    // A closed standard error must not fail the test.
    let _ = writeln!(io::stderr().lock(), "{counts}");
}
