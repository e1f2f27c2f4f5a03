//! Progress on a terminal. If standard error is not a terminal, only [`Steps`] are shown.

use std::io::{IsTerminal as _, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A spinner with a message.
pub const SPINNER: &str = "{spinner} {msg}";
/// A bar of the bytes that are done, out of a total.
pub const BYTES: &str = "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Returns a progress bar with the format `template`, and a total if it is known.
pub fn bar(template: &str, total: Option<u64>) -> anyhow::Result<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let bar = bar.with_style(ProgressStyle::with_template(template)?);
    bar.enable_steady_tick(Duration::from_millis(200));
    Ok(bar)
}

/// The steps of a command that takes minutes: on a terminal a bar, else a line for each step.
pub struct Steps<'e> {
    bar: ProgressBar,
    err: Option<&'e mut dyn Write>,
}

impl<'e> Steps<'e> {
    /// Shows steps. `err`, if it is given, gets the lines.
    pub fn new(err: Option<&'e mut dyn Write>) -> anyhow::Result<Self> {
        let bar = bar("{bar:40} {pos} of {len}, {msg}, {eta} left", Some(0))?;
        let err = err.filter(|_| !std::io::stderr().is_terminal());
        Ok(Self { bar, err })
    }

    /// Says what the command does now.
    pub fn say(&mut self, message: String) {
        if let Some(err) = &mut self.err {
            // If standard error is closed, the command still has its result to print.
            let _ = writeln!(err, "hyperslab: {message}");
        }
        self.bar.set_message(message);
    }

    /// Sets how often [`advance`](Self::advance) is called.
    pub fn set_length(&self, length: u64) {
        self.bar.set_length(length);
    }

    /// Moves the bar.
    pub fn advance(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A spinner with the time that has passed, which is shown until this value is dropped.
pub struct Busy(ProgressBar);

/// Shows what a command does that cannot tell how far it is.
pub fn busy(message: &str) -> anyhow::Result<Busy> {
    let bar = bar("{spinner} {msg}, {elapsed}", None)?;
    bar.set_message(message.to_owned());
    Ok(Busy(bar))
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
