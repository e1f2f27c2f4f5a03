//! The mappings of a virtual dataset, an object of the global heap (spec III.F).

use std::collections::HashMap;
use std::sync::Arc;

use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::selection::StoredSelection;
use crate::structure::Structure;

/// The mappings of a virtual dataset, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualMappings {
    /// 0, or 1, which stores a name that occurs several times only once.
    pub version: u8,
    /// The mappings.
    pub mappings: Vec<VirtualMapping>,
}

/// Elements of a virtual dataset, and the elements of another dataset that they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualMapping {
    /// The name of the source file; "." is the file of the virtual dataset. Names may contain `%b`, which
    /// stands for the number of a block, and `%%`, which stands for `%`.
    pub file: Arc<str>,
    /// The path of the source dataset in its file.
    pub dataset: Arc<str>,
    /// The elements of the source dataset.
    pub source: StoredSelection,
    /// The elements of the virtual dataset.
    pub target: StoredSelection,
}

/// The name of the file of the virtual dataset itself.
pub const SAME_FILE: &str = ".";

/// Flags, bit 0: the name of the file is that of an earlier mapping.
const SHARED_FILE: u8 = 1;
/// Flags, bit 1: the name of the dataset is that of an earlier mapping.
const SHARED_DATASET: u8 = 2;
/// Flags, bit 2: the file is that of the virtual dataset.
const IS_SAME_FILE: u8 = 4;

impl VirtualMappings {
    /// Returns mappings in the version that libhdf5 chooses: version 1 in a file for HDF5 2.0 and later, if
    /// it is not longer.
    pub fn new(mappings: Vec<VirtualMapping>, may_share: bool, widths: Widths) -> Self {
        let first = Self { version: 0, mappings };
        if !may_share {
            return first;
        }
        let len = first.encoded_len(widths, &());
        let second = Self { version: 1, ..first };
        let is_longer = second.encoded_len(widths, &()) > len;
        Self { version: u8::from(!is_longer), ..second }
    }
}

/// Reads a name that is stored here, or the number of an earlier mapping that has it.
fn name(
    r: &mut Reader<'_>,
    is_shared: bool,
    field: &'static str,
    earlier: &[VirtualMapping],
    name_of: impl Fn(&VirtualMapping) -> &Arc<str>,
) -> Result<Arc<str>> {
    if !is_shared {
        return r.zero_terminated_text(field).map(Arc::from);
    }
    let number = r.length()?;
    let mapping = usize::try_from(number).ok().and_then(|number| earlier.get(number));
    mapping.map(|mapping| Arc::clone(name_of(mapping))).ok_or_else(|| {
        let kind = ErrorKind::Value { field, value: number, expected: "the number of an earlier mapping" };
        r.error_back(r.widths().length.bytes(), kind)
    })
}

/// The first mapping that has a name, for each name that is long enough to be shared.
struct SharedNames<'m> {
    first: HashMap<&'m str, u64>,
    /// The shortest name that takes at least as many bytes as the number of a mapping.
    shortest: usize,
}

impl<'m> SharedNames<'m> {
    /// Returns the number of the first mapping with this name, if that is an earlier one.
    fn find(&mut self, name: &'m str, number: u64) -> Option<u64> {
        if name.len() < self.shortest {
            return None;
        }
        let first = *self.first.entry(name).or_insert(number);
        (first < number).then_some(first)
    }
}

fn put_name(w: &mut Writer<'_>, name: &str, shared: Option<u64>) {
    if let Some(number) = shared {
        return w.length(number);
    }
    w.bytes(name.as_bytes());
    w.u8(0);
}

impl Structure for VirtualMappings {
    const NAME: &'static str = "mappings of a virtual dataset";
    const SPEC: &'static str = "III.F";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        let version = r.version_in(0..=1, "0 or 1")?;
        let count = r.length()?;
        let mut mappings: Vec<VirtualMapping> = Vec::new();
        for _ in 0..count {
            let known = SHARED_FILE | SHARED_DATASET | IS_SAME_FILE;
            let flags = if version == 0 { 0 } else { r.flags(known, "only bits 0 to 2")? };
            let file = if flags & IS_SAME_FILE != 0 {
                SAME_FILE.into()
            } else {
                name(r, flags & SHARED_FILE != 0, "Source Filename", &mappings, |mapping| &mapping.file)?
            };
            let is_shared = flags & SHARED_DATASET != 0;
            let dataset = name(r, is_shared, "Source Dataset", &mappings, |mapping| &mapping.dataset)?;
            let (source, target) = (r.structure(&())?, r.structure(&())?);
            mappings.push(VirtualMapping { file, dataset, source, target });
        }
        r.checksum()?;
        Ok(Self { version, mappings })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        let names = || SharedNames { first: HashMap::new(), shortest: w.widths().length.bytes() - 1 };
        let (mut files, mut datasets) = (names(), names());
        w.u8(self.version);
        w.length(self.mappings.len() as u64);
        for (mapping, number) in self.mappings.iter().zip(0..) {
            let (mut file, mut dataset, mut is_same) = (None, None, false);
            if self.version > 0 {
                is_same = &*mapping.file == SAME_FILE;
                file = files.find(&mapping.file, number);
                dataset = datasets.find(&mapping.dataset, number);
                let flag = |is_set: bool, flag| if is_set { flag } else { 0 };
                w.u8(flag(file.is_some() && !is_same, SHARED_FILE)
                    | flag(dataset.is_some(), SHARED_DATASET)
                    | flag(is_same, IS_SAME_FILE));
            }
            if !is_same {
                put_name(w, &mapping.file, file);
            }
            put_name(w, &mapping.dataset, dataset);
            w.structure(&mapping.source, &());
            w.structure(&mapping.target, &());
        }
        w.checksum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{error, golden};
    use crate::selection::RegularAxis;

    fn slab(start: u64, len: u64, is_compact: bool) -> StoredSelection {
        let axis = RegularAxis { start, stride: 1, count: Some(1), block: Some(len) };
        StoredSelection::regular(vec![axis], is_compact)
    }

    fn mapping(
        file: &str,
        dataset: &str,
        source: StoredSelection,
        target: StoredSelection,
    ) -> VirtualMapping {
        VirtualMapping { file: file.into(), dataset: dataset.into(), source, target }
    }

    /// h5py 3.16 (HDF5 2.0), `libver="earliest"`.
    #[test]
    fn version_0_stores_every_name() {
        let block: VirtualMappings = golden(
            "00 0100000000000000 612e6835 00 64 00 02000000 01000000 00000000 10000000 01000000 01000000 \
             00000000 02000000 02000000 01000000 00000000 10000000 01000000 01000000 02000000 04000000 faeaf4ce",
            &(),
        );
        let expected = vec![mapping("a.h5", "d", slab(0, 3, false), slab(2, 3, false))];
        assert_eq!(block, VirtualMappings::new(expected, false, Widths::EIGHT));
    }

    /// h5py 3.16 (HDF5 2.0), `libver="latest"`.
    #[test]
    fn version_1_stores_a_long_name_once_and_this_file_by_a_flag() {
        let all = || StoredSelection::All;
        let long = "averyveryverylong";
        let shared: VirtualMappings = golden(
            "01 0300000000000000 \
             00 612e6835 00 617665727976657279766572796c6f6e67 00 \
             03000000 01000000 00*8 02000000 03000000 01 02 01000000 0200 0100 0100 0300 \
             02 6c6f6e676c6f6e676c6f6e67612e6835 00 00*8 \
             03000000 01000000 00*8 02000000 03000000 01 02 01000000 0500 0100 0100 0300 \
             03 0100000000000000 00*8 \
             03000000 01000000 00*8 02000000 03000000 01 02 01000000 0800 0100 0100 0200 9d331548",
            &(),
        );
        let expected = vec![
            mapping("a.h5", long, all(), slab(2, 3, true)),
            mapping("longlonglonga.h5", long, all(), slab(5, 3, true)),
            mapping("longlonglonga.h5", long, all(), slab(8, 2, true)),
        ];
        assert_eq!(shared, VirtualMappings::new(expected, true, Widths::EIGHT));
        let same: VirtualMappings = golden(
            "01 0100000000000000 04 64 00 03000000 01000000 00*8 03000000 01000000 00*8 c4fad3f1",
            &(),
        );
        assert_eq!(same, VirtualMappings::new(vec![mapping(".", "d", all(), all())], true, Widths::EIGHT));
    }

    #[test]
    fn version_1_is_chosen_if_it_is_not_longer() {
        let version = |files: &[&str]| {
            let all = |file: &&str| mapping(file, "d", StoredSelection::All, StoredSelection::All);
            VirtualMappings::new(files.iter().map(all).collect(), true, Widths::EIGHT).version
        };
        assert_eq!(version(&["."]), 1);
        assert_eq!(version(&["a"]), 0);
        assert_eq!(version(&[".", "a"]), 1, "the same length");
        assert_eq!(version(&["123456", "123456", ".", "."]), 1);
        assert_eq!(
            version(&["12345678", "12345678", "12345678"]),
            0,
            "three flags cost more than one byte each saves"
        );
    }

    #[test]
    fn a_shared_name_must_be_that_of_an_earlier_mapping() {
        let kind = error::<VirtualMappings>("01 0100000000000000 01 0000000000000000 64 00 00*40", &());
        assert!(matches!(kind, ErrorKind::Value { field: "Source Filename", value: 0, .. }), "{kind:?}");
        let kind = error::<VirtualMappings>("00 ffffffffffffffff 61 00 64 00 00*40", &());
        assert!(matches!(kind, ErrorKind::Version { .. }), "a selection of version 0: {kind:?}");
    }
}
