//! Finds the space of a file that nothing uses, for a writer that needs space (decision 0039).

use std::sync::Arc;

use hyperslab_format::superblock::Superblock;
use hyperslab_format::{Extent, Structure as _};

use super::{CheckOptions, FILE_SPACE, Report, Severity, walk};
use crate::driver::Driver;
use crate::store::recovery::Action;

/// Returns the extents of a file that nothing uses, relative to the base address. There are none if the file
/// has a fault, or anything that a check does not follow, or more structures than can be walked in a moment.
///
/// ```
/// use hyperslab::{File, check};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// // What this opening needs is taken from what was deleted before.
/// let file = File::options().write(true).find_free_space(Some(check::holes)).open(&path)?;
/// file.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn holes(driver: Arc<dyn Driver>) -> Vec<Extent> {
    let mut holes = Vec::new();
    let report = walk(
        driver,
        &CheckOptions::default(),
        &mut |progress| {
            if progress.totals.structures > MOST_STRUCTURES || progress.totals.chunks > MOST_CHUNKS {
                progress.stop();
            }
        },
        &mut |hole| holes.push(hole),
    );
    if report.is_ok_and(|report| is_certain(&report)) { holes } else { Vec::new() }
}

/// Returns whether the check has followed everything and found no fault.
fn is_certain(report: &Report) -> bool {
    // The space itself, and new elements after the end of the file, which are not committed yet.
    let is_known = |structure| structure == FILE_SPACE.0 || structure == Superblock::NAME;
    report.recovery == Action::Nothing
        && report.left_out() == 0
        && report
            .findings
            .iter()
            .all(|finding| finding.severity == Severity::Warning && is_known(finding.structure))
}

/// The number of structures of metadata from which on a file is not walked.
const MOST_STRUCTURES: u64 = 4096;
/// The number of chunks from which on a file is not walked.
const MOST_CHUNKS: u64 = 1 << 16;
