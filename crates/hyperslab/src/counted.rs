//! Counts in messages.

/// Returns a count with its noun: `1 group`, `2 groups`.
#[must_use]
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
