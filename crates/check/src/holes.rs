//! Finds the space of a file that nothing uses, for a writer that needs space (decision 0039).

use std::sync::Arc;

use hyperslab_error::{Error, RequestError};
use hyperslab_format::Structure as _;
use hyperslab_format::superblock::Superblock;
use hyperslab_io::driver::Driver;
use hyperslab_store::Found;
use hyperslab_store::commit::recovery::Action;

use super::{CheckOptions, FILE_SPACE, Report, Severity, walk};

/// Finds the extents of a file that nothing uses, relative to the base address. They are unknown if the file
/// has a fault, or anything that a check does not follow. Gives up when it has done the work of
/// `most_structures` structures.
///
/// ```
/// use hyperslab::File;
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// // What this opening needs is taken from what was deleted before.
/// let file = File::options().write(true).find_free_space(Some(hyperslab_check::holes)).open(&path)?;
/// file.close()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn holes(driver: Arc<dyn Driver>, most_structures: u64) -> Found {
    let mut extents = Vec::new();
    let options = CheckOptions {
        reference_bytes: MOST_REFERENCE_BYTES,
        max_chunk_bytes: MOST_CHUNK_BYTES,
        most_work: most_structures,
        ..CheckOptions::default()
    };
    match walk(driver, &options, &mut |_| {}, &mut |hole| extents.push(hole)) {
        Err(Error::Request(RequestError::Stopped)) => Found::TooMany,
        Ok((report, follows_all)) if follows_all && is_certain(&report) => {
            // Not all elements are read.
            let may_be_collections = report.findings.iter().any(|finding| finding.severity == Severity::Note);
            Found::Free { extents, may_be_collections }
        }
        _ => Found::Unknown,
    }
}

/// Returns whether the check has followed everything but elements, and found no fault.
fn is_certain(report: &Report) -> bool {
    report.recovery == Action::Nothing
        && report.left_out() == 0
        && report.findings.iter().all(|finding| match finding.severity {
            // The space itself, and new elements after the end of the file, which are not committed yet.
            Severity::Warning => [FILE_SPACE.0, Superblock::NAME].contains(&finding.structure),
            // Elements may name collections of the global heap.
            Severity::Note => finding.structure == FILE_SPACE.0,
            Severity::Error => false,
        })
}

/// The most bytes of a dataset of references that is read. A file with a longer one is not searched.
const MOST_REFERENCE_BYTES: u64 = 1 << 16;
/// The largest chunk of references that is decoded.
const MOST_CHUNK_BYTES: u64 = 1 << 20;
