//! What is shown on a terminal while a command works; nothing elsewhere.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A spinner with a message.
pub(crate) const SPINNER: &str = "{spinner} {msg}";
/// Bytes of how many there are.
pub(crate) const BYTES: &str =
    "{bar:40} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Progress that looks as `template` says, towards `total` if that is known.
pub(crate) fn bar(template: &str, total: Option<u64>) -> anyhow::Result<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
    let bar = bar.with_style(ProgressStyle::with_template(template)?);
    bar.enable_steady_tick(Duration::from_millis(200));
    Ok(bar)
}
