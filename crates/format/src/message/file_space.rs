//! File Space Info message, type 23 (spec IV.A.2.x): how a file manages its free space. The message is in the
//! superblock extension.

use std::ops::RangeInclusive;

use crate::addr::Addr;
use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// How a file manages its free space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSpaceInfo {
    /// Version 0, which only HDF5 1.10.0 writes.
    V0 {
        /// 1: managers and aggregators, kept when the file is closed; 2: managers and aggregators; 3:
        /// aggregators; 4: only the end of the file.
        strategy: u8,
        /// The size of the smallest tracked free space, in bytes.
        threshold: u64,
        /// The free-space managers, if they are kept when the file is closed.
        managers: Option<[Addr; 6]>,
    },
    /// Version 1.
    V1 {
        /// 0: managers and aggregators; 1: pages; 2: aggregators; 3: only the end of the file.
        strategy: u8,
        /// The size of the smallest tracked free space, in bytes.
        threshold: u64,
        /// The size of a page in bytes.
        page_size: u64,
        /// The size of the smallest tracked free space at the end of a metadata page, in bytes.
        page_end_threshold: u16,
        /// The end of the file before the managers' own structures were allocated.
        end_before_managers: Addr,
        /// The free-space managers, if kept when the file is closed: six for small and six for large
        /// sections.
        managers: Option<[Addr; 12]>,
    },
}

/// The strategy of version 0 that keeps the managers when the file is closed.
const ALL_PERSIST: u8 = 1;

/// The strategy of version 1 that allocates in pages.
const PAGES: u8 = 1;

/// The sizes of pages in bytes that libhdf5 accepts. Space is allocated by whole pages, so a size from a
/// damaged file would make the file as long.
pub const PAGE_SIZES: RangeInclusive<u64> = 512..=1 << 30;

impl FileSpaceInfo {
    /// Returns the size of a page in bytes if the file allocates space in pages.
    pub fn page_size(&self) -> Option<u64> {
        match self {
            Self::V1 { strategy: PAGES, page_size, .. } => Some(*page_size),
            Self::V0 { .. } | Self::V1 { .. } => None,
        }
    }
}

impl Structure for FileSpaceInfo {
    const NAME: &'static str = "file space info message";
    const SPEC: &'static str = "IV.A.2.x";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        if r.version_in(0..=1, "0 and 1")? == 0 {
            let strategy = r.u8()?;
            if !(1..=4).contains(&strategy) {
                return Err(r.bad_value("Strategy", strategy.into(), "1 to 4"));
            }
            let threshold = r.length()?;
            let managers = if strategy == ALL_PERSIST { Some(addresses(r)?) } else { None };
            return Ok(Self::V0 { strategy, threshold, managers });
        }
        let strategy = r.u8()?;
        if strategy > 3 {
            return Err(r.bad_value("Strategy", strategy.into(), "0 to 3"));
        }
        let persist = r.u8()? != 0;
        let threshold = r.length()?;
        let page_size = r.length()?;
        if page_size == 0 || strategy == PAGES && !PAGE_SIZES.contains(&page_size) {
            return Err(r.bad_value("File Space Page Size", page_size, "512 to 1 GiB"));
        }
        Ok(Self::V1 {
            strategy,
            threshold,
            page_size,
            page_end_threshold: r.u16()?,
            end_before_managers: r.addr()?,
            managers: if persist { Some(addresses(r)?) } else { None },
        })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        match self {
            Self::V0 { strategy, threshold, managers } => {
                w.u8(0); // version
                w.u8(*strategy);
                w.length(*threshold);
                managers.iter().flatten().for_each(|&manager| w.addr(manager));
            }
            Self::V1 {
                strategy,
                threshold,
                page_size,
                page_end_threshold,
                end_before_managers,
                managers,
            } => {
                w.u8(1); // version
                w.u8(*strategy);
                w.u8(managers.is_some().into());
                w.length(*threshold);
                w.length(*page_size);
                w.u16(*page_end_threshold);
                w.addr(*end_before_managers);
                managers.iter().flatten().for_each(|&manager| w.addr(manager));
            }
        }
    }
}

fn addresses<const N: usize>(r: &mut Reader<'_>) -> Result<[Addr; N]> {
    let mut addresses = [Addr::UNDEFINED; N];
    for address in &mut addresses {
        *address = r.addr()?;
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Widths, golden};

    /// From a superblock extension, written by h5py 3.16 with `fs_strategy="page"` and `fs_persist=True`.
    #[test]
    fn the_page_size_of_a_paged_file_is_read() {
        let info: FileSpaceInfo = golden::golden(
            "01 01 01 0100000000000000 0010000000000000 0000 0050000000000000 5845000000000000 ff*8 0645000000000000 ff*72",
            &(),
        );
        assert_eq!(info.page_size(), Some(4096));
    }

    #[test]
    fn pages_of_other_sizes_are_refused() {
        for (page_size, is_valid) in [(511_u64, false), (512, true), (1 << 30, true), ((1 << 30) + 1, false)]
        {
            let mut bytes = vec![1, PAGES, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            bytes.extend(page_size.to_le_bytes());
            bytes.resize(bytes.len() + 10, 0);
            let info = Reader::new(&bytes, Widths::EIGHT, Addr::new(0)).structure::<FileSpaceInfo>(&());
            assert_eq!(info.is_ok(), is_valid, "{page_size}");
        }
    }
}
