//! What a test has tried, said to whoever runs the tests.

use std::fmt;
use std::io::{self, Write};

/// Says how much a test has tried. Past the harness, which keeps to itself what tests say that pass.
pub fn say_counts(counts: fmt::Arguments<'_>) {
    // A closed standard error is no fault of the test's.
    let _ = writeln!(io::stderr().lock(), "{counts}");
}
