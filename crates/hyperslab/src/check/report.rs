//! What a check found, as data.

use std::fmt;

use hyperslab_format::Addr;

use crate::store::recovery::Action;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something that was not checked, or that is good to know.
    Note,
    /// Nothing is wrong with what the file holds, but it is not as tidy as it could be: lost space, a count that is too large.
    Warning,
    /// The file breaks the specification: something in it cannot be read, or will be damaged when it is changed.
    Error,
}

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The structure's name in the specification.
    pub structure: &'static str,
    /// The section of the HDF5 File Format Specification 4.0 that defines it.
    pub spec: &'static str,
    /// Where it is, counted from the base address; undefined where the finding is of no one place.
    pub at: Addr,
    /// The path of the object that it belongs to; empty where it belongs to none.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What opening the file for writing would do first: a file that a crash left half-way was checked as it is after that.
    pub recovery: Action,
    /// What was found, in the order of the walk; at most [`MAX_FINDINGS`](Report::MAX_FINDINGS).
    pub findings: Vec<Finding>,
    /// How many findings there were of each severity: notes, warnings, errors.
    counts: [u64; 3],
    /// What was checked.
    pub totals: Totals,
}

/// What was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
    /// Chunks that are stored.
    pub chunks: u64,
    /// Chunks and contiguous data whose elements were looked at.
    pub decoded: u64,
    /// Structures of metadata.
    pub structures: u64,
    /// Bytes from the base address to the End of File Address.
    pub bytes: u64,
    /// Bytes of them that free-space managers of the file have.
    pub free_bytes: u64,
    /// Bytes of them that nothing reaches.
    pub lost_bytes: u64,
    /// In how many pieces those are.
    pub holes: u64,
}

impl Report {
    /// The most findings that are kept; others are only counted.
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

    /// How many findings there are of this severity, kept or not.
    pub fn count(&self, severity: Severity) -> u64 {
        self.counts[severity as usize]
    }

    /// The worst severity that was found; none where there is nothing to say.
    pub fn worst(&self) -> Option<Severity> {
        [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .find(|&severity| self.count(severity) > 0)
    }

    /// Whether there is no error.
    pub fn is_sound(&self) -> bool {
        self.count(Severity::Error) == 0
    }

    /// How many findings were counted and not kept.
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
