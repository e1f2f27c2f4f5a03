//! The result of a check, as data.

use std::fmt;

use hyperslab_format::Addr;

use hyperslab_store::commit::recovery::Action;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something was not checked, or is good to know.
    Note,
    /// The content of the file is correct, but the file is not as tidy as it could be: lost space, a count
    /// that is too large.
    Warning,
    /// The file violates the specification: a part of it cannot be read, or a change would damage it.
    Error,
}

/// One finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The structure's name in the specification.
    pub structure: &'static str,
    /// The section of the HDF5 File Format Specification 4.0 that defines it.
    pub spec: &'static str,
    /// The address, relative to the base address. Undefined if the finding has no single place.
    pub at: Addr,
    /// The path of the object with the fault. Empty if no object has it.
    pub path: String,
    /// The description of the fault.
    pub message: String,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The recovery that opening the file for writing would do first. The check sees the file as it is after
    /// the recovery.
    pub recovery: Action,
    /// The findings in the order of the walk; at most [`MAX_FINDINGS`](Report::MAX_FINDINGS).
    pub findings: Vec<Finding>,
    /// The number of findings of each severity: notes, warnings, errors.
    counts: [u64; 3],
    /// The totals of what was checked.
    pub totals: Totals,
}

/// The totals of what was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Totals {
    /// Groups.
    pub groups: u64,
    /// Datasets.
    pub datasets: u64,
    /// Committed datatypes.
    pub datatypes: u64,
    /// Links of all kinds.
    pub links: u64,
    /// Attributes.
    pub attributes: u64,
    /// Stored chunks.
    pub chunks: u64,
    /// Chunks and contiguous data whose elements were checked.
    pub decoded: u64,
    /// Structures of metadata.
    pub structures: u64,
    /// Bytes from the base address to the End of File Address.
    pub bytes: u64,
    /// Bytes of free space that free-space managers of the file list.
    pub free_bytes: u64,
    /// Bytes that nothing uses or lists as free. From 4096 on they are also a finding.
    pub lost_bytes: u64,
    /// The number of pieces that the lost bytes form.
    pub holes: u64,
}

impl Totals {
    /// Returns what the check has done so far: about 4 µs are 1.
    pub(super) fn work(&self) -> u64 {
        self.structures + self.chunks / 16 + (self.links + self.attributes) / 4
    }
}

impl Report {
    /// The largest number of findings that a report keeps. Further ones are only counted.
    pub const MAX_FINDINGS: usize = 10_000;

    pub(super) fn new(recovery: Action) -> Self {
        Self { recovery, findings: Vec::new(), counts: [0; 3], totals: Totals::default() }
    }

    pub(super) fn push(&mut self, finding: Finding) {
        self.counts[finding.severity as usize] += 1;
        if self.findings.len() < Self::MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// Returns the number of findings of this severity, kept or not.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts[severity as usize]
    }

    /// Returns the worst severity found, or `None` if there is no finding.
    pub fn worst(&self) -> Option<Severity> {
        [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .find(|&severity| self.count(severity) > 0)
    }

    /// Whether there is no error.
    pub fn is_sound(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// Returns the number of findings that were counted but not kept.
    pub fn left_out(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.findings.len() as u64
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, structure, spec, at, path, message } = self;
        write!(f, "{severity}: {message}, {structure}")?;
        if at.is_defined() {
            write!(f, " at {at}")?;
        }
        if !path.is_empty() {
            write!(f, " ({path})")?;
        }
        write!(f, ", HDF5 spec {spec}")
    }
}
