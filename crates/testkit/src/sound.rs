//! Checks that files written by tests are sound. Every test that writes a file calls one of these functions
//! at its end, and `crates/hyperslab/tests/check/everywhere.rs` enforces this.

use std::ops::RangeInclusive;
use std::sync::Arc;

use hyperslab::File;
use hyperslab::driver::Driver;
use hyperslab_check::{CheckOptions, Finding, Report, Severity, check};

use crate::crash_members::driver_of;

/// Checks a file, or a split file, including all of its data.
///
/// # Panics
/// If the file is not sound.
#[track_caller]
pub fn assert_sound(image: &[u8]) -> Report {
    assert_sound_on(driver_of(image))
}

/// Checks the file on `driver`, including all of its data.
///
/// # Panics
/// If the file is not sound.
#[track_caller]
pub fn assert_sound_on(driver: Arc<dyn Driver>) -> Report {
    let mut options = CheckOptions::default();
    options.data = true;
    let report = check(driver, &options, &mut |_| {}).expect("a written file can be opened");
    let errors: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "a written file is not sound: {errors:#?}");
    report
}

/// Flushes a file that is open for writing, and checks it. The bytes that no structure reaches must be
/// exactly the known free bytes and `unknown` more bytes, which were already unreachable when the file was
/// opened.
///
/// # Panics
/// If the file is not sound, has lost a byte, or counts as free a byte that is in use.
#[track_caller]
pub fn assert_accounted(file: &File, unknown: u64) -> Report {
    assert_accounted_within(file, unknown..=unknown)
}

/// As [`assert_accounted`], for a file that may have found some of the bytes that were lost when it was
/// opened.
pub fn assert_accounted_within(file: &File, unknown: RangeInclusive<u64>) -> Report {
    file.flush().expect("the file can be flushed");
    let driver = Arc::clone(&*file.store().driver().expect("the file is open"));
    let report = assert_sound_on(driver);
    // A file that keeps its free space still names it while nothing was changed.
    let free = if file.store().is_untouched() { 0 } else { file.store().free_bytes() };
    let lost = report.totals.lost_bytes;
    assert!(
        lost.checked_sub(free).is_some_and(|left| unknown.contains(&left)),
        "{lost} lost: {free} free bytes, {unknown:?} unknown: {report:?}"
    );
    report
}
