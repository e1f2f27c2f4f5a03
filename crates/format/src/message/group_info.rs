//! Group info message, type 10 (spec IV.A.2.k): when a new-style group changes how it stores links.

use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// Wishes of a new-style group's creator; absent ones have the library's defaults. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// When links move between messages and the fractal heap.
    pub phase_change: Option<PhaseChange>,
    /// How large the group was expected to become.
    pub estimate: Option<Estimate>,
}

/// When links or attributes change between compact and dense storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseChange {
    /// The most that are kept as messages.
    pub max_compact: u16,
    /// The fewest that are kept in a fractal heap.
    pub min_dense: u16,
}

impl PhaseChange {
    /// What holds where nothing is said.
    pub const DEFAULT: Self = Self { max_compact: 8, min_dense: 6 };
}

/// The expected size of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Links.
    pub entries: u16,
    /// Bytes of a name.
    pub name_len: u16,
}

const PHASE_CHANGE: u8 = 1;
const ESTIMATE: u8 = 2;

impl Structure for GroupInfo {
    const NAME: &'static str = "group info message";
    const SPEC: &'static str = "IV.A.2.k";
    type Context = ();

    fn read_len(_: Widths, (): &()) -> usize {
        10
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        let flags = r.u8()?;
        if flags & !(PHASE_CHANGE | ESTIMATE) != 0 {
            return Err(r.bad_value("Flags", flags.into(), "bits 0 and 1 alone"));
        }
        let phase_change = if flags & PHASE_CHANGE != 0 {
            Some(PhaseChange { max_compact: r.u16()?, min_dense: r.u16()? })
        } else {
            None
        };
        let estimate = if flags & ESTIMATE != 0 {
            Some(Estimate { entries: r.u16()?, name_len: r.u16()? })
        } else {
            None
        };
        Ok(Self { phase_change, estimate })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        let phase_change = if self.phase_change.is_some() { PHASE_CHANGE } else { 0 };
        let estimate = if self.estimate.is_some() { ESTIMATE } else { 0 };
        w.u8(phase_change | estimate);
        if let Some(phase_change) = self.phase_change {
            w.u16(phase_change.max_compact);
            w.u16(phase_change.min_dense);
        }
        if let Some(estimate) = self.estimate {
            w.u16(estimate.entries);
            w.u16(estimate.name_len);
        }
    }

    fn encoded_len(&self, _: Widths, (): &()) -> usize {
        2 + 4 * usize::from(self.phase_change.is_some()) + 4 * usize::from(self.estimate.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    #[test]
    fn phase_change_and_estimate_are_both_optional() {
        let neither: GroupInfo = golden::golden("00 00", &());
        assert_eq!(neither, GroupInfo { phase_change: None, estimate: None });
        let both: GroupInfo = golden::golden("00 03 0800 0600 0400 0900", &());
        assert_eq!(both.phase_change, Some(PhaseChange { max_compact: 8, min_dense: 6 }));
        assert_eq!(both.estimate, Some(Estimate { entries: 4, name_len: 9 }));
    }
}
