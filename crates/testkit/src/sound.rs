//! Whether the files that tests write are sound: every test that writes one says so at its end, and
//! `crates/hyperslab/tests/check/everywhere.rs` holds them to it.

use std::sync::Arc;

use hyperslab::File;
use hyperslab::check::{CheckOptions, Finding, Report, Severity, check};
use hyperslab::driver::{Driver, Memory};

/// Checks a file with all its data.
///
/// # Panics
/// If it is not sound.
#[track_caller]
pub fn assert_sound(image: &[u8]) -> Report {
    assert_sound_on(Arc::new(Memory::new(image.to_vec())))
}

/// Checks the file that a driver has, with all its data.
///
/// # Panics
/// If it is not sound.
#[track_caller]
pub fn assert_sound_on(driver: Arc<dyn Driver>) -> Report {
    let mut options = CheckOptions::default();
    options.data = true;
    let report = check(driver, &options, &mut |_| {}).expect("a file that was written can be opened");
    let errors: Vec<&Finding> =
        report.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "a file that was written is not sound: {errors:#?}");
    report
}

/// Flushes a file that is open for writing, and checks it: of its bytes nothing reaches those that are known to be free, and
/// `unknown` more, which nothing reached already when it was opened.
///
/// # Panics
/// If the file is not sound, has lost a byte, or would give out one that is in use.
#[track_caller]
pub fn assert_accounted(file: &File, unknown: u64) -> Report {
    file.flush().expect("the file can be flushed");
    let driver = Arc::clone(&*file.store().driver().expect("the file is open"));
    let report = assert_sound_on(driver);
    let free = file.store().free_bytes();
    assert_eq!(
        report.totals.lost_bytes,
        free + unknown,
        "of {free} free bytes, {unknown} unknown: {report:?}"
    );
    report
}
