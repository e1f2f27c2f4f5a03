//! Why a call is left to the native connector. Each rule is a [`Reason`]; decision 0037 explains them, and
//! `crates/vol/tests` has a test for each that fails without the rule.

use std::fmt;
use std::sync::OnceLock;

/// Why a read or write is not done by the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    /// Little work, which the native connector begins sooner.
    Small,
    /// The file is open for writing: libhdf5 holds changes that are not in the file yet.
    Writable,
    /// Another program may write the file meanwhile (SWMR), or the program refreshes objects of it.
    Swmr,
    /// The file is not opened by the driver for plain files.
    Driver,
    /// The engine cannot open the file, or the program has closed it.
    File,
    /// The object is in another file than the one that was opened: behind an external link, or mounted.
    OtherFile,
    /// The elements are in the object header, in other files, or in other datasets.
    Layout,
    /// Elements of variable length, and references.
    Datatype,
    /// Elements that were never written, in a dataset without a fill value: libhdf5 leaves the memory as
    /// it is.
    Unwritten,
    /// Chunks whose filters leave the size as it is: nothing is gained, and libhdf5 does not note the
    /// filters of a chunk that replaces one of the same size.
    Uncompressed,
    /// Filters that change values: until a flush, libhdf5 gives back those that were written.
    Lossy,
    /// A part of a chunk is written in another type than the file's, or of very large chunks.
    PartOfChunk,
    /// A filter that the engine or the library does not have, several filters that compress, or Blosc2 blocks
    /// whose order versions of c-blosc2 take differently.
    Filter,
    /// A conversion that may give another result than libhdf5's.
    Conversion,
    /// A conversion that the program has registered.
    RegisteredConversion,
    /// A data transform, a callback for conversions or filters, or checksums that are not checked.
    Transfer,
    /// A selection of points, or of irregular blocks.
    Selection,
    /// A selection in memory that is no box of the same shape.
    Memory,
    /// Parts of chunks that were written before could not be stored: an error of the call.
    Unstored,
    /// The engine cannot do it. The native connector does it, or reports the error.
    Engine,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Small => "small",
            Self::Writable => "open for writing",
            Self::Swmr => "SWMR",
            Self::Driver => "file driver",
            Self::File => "file",
            Self::OtherFile => "other file",
            Self::Layout => "layout",
            Self::Datatype => "variable length or references",
            Self::Unwritten => "elements without a value",
            Self::Uncompressed => "no compression",
            Self::Lossy => "lossy filter",
            Self::PartOfChunk => "part of a chunk",
            Self::Filter => "filter",
            Self::Conversion => "conversion",
            Self::RegisteredConversion => "registered conversion",
            Self::Transfer => "transfer properties",
            Self::Selection => "irregular selection",
            Self::Memory => "shape in memory",
            Self::Unstored => "earlier parts not stored",
            Self::Engine => "not possible",
        })
    }
}

/// What is done, or why not.
pub(crate) type Ruled<T> = Result<T, Reason>;

/// The fewest elements of a call that is looked at. A smaller one costs the native connector less than
/// the look.
const FEWEST_ELEMENTS: u64 = 2048;
/// The fewest bytes of elements that have filters.
const FEWEST_FILTERED: u64 = 16 << 10;
/// The fewest bytes of elements without filters, which the native connector reads straight into memory.
const FEWEST_PLAIN: u64 = 1 << 20;

/// The environment variable that replaces all of these, in bytes: for tests, and for measuring.
const VARIABLE: &str = "HYPERSLAB_VOL_LEAST";

/// The least work that the engine does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Least {
    /// The fewest elements.
    pub(crate) elements: u64,
    /// The fewest bytes of elements that have filters.
    pub(crate) filtered: u64,
    /// The fewest bytes of elements without filters.
    pub(crate) plain: u64,
}

impl Least {
    /// Returns what holds for this process.
    pub(crate) fn work() -> Self {
        static LEAST: OnceLock<Least> = OnceLock::new();
        *LEAST.get_or_init(|| {
            let given = std::env::var(VARIABLE).ok().and_then(|value| value.parse().ok());
            given.map_or(
                Self { elements: FEWEST_ELEMENTS, filtered: FEWEST_FILTERED, plain: FEWEST_PLAIN },
                |bytes| Self { elements: 0, filtered: bytes, plain: bytes },
            )
        })
    }
}
