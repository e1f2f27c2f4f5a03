//! Group info message, type 10 (spec IV.A.2.k): when a new-style group changes between compact and dense
//! storage of its links, and its expected size.

use crate::bytes::{Reader, Writer};
use crate::error::Result;
use crate::structure::{Structure, fields};

/// Storage parameters of a new-style group. Absent ones have the library's defaults. Fields in disk order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupInfo {
    /// When links move between messages and the fractal heap.
    pub phase_change: Option<PhaseChange>,
    /// The size that the group was expected to reach.
    pub estimate: Option<Estimate>,
}

/// When links or attributes change between compact and dense storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseChange {
    /// The largest number that compact storage keeps as messages.
    pub max_compact: u16,
    /// The smallest number that dense storage keeps in a fractal heap.
    pub min_dense: u16,
}

impl PhaseChange {
    /// The values for an object that stores none.
    pub const DEFAULT: Self = Self { max_compact: 8, min_dense: 6 };
}

/// The expected size of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The number of links.
    pub entries: u16,
    /// The length of a name in bytes.
    pub name_len: u16,
}

fields!(PhaseChange { max_compact: u16, min_dense: u16 });
fields!(Estimate { entries: u16, name_len: u16 });

const PHASE_CHANGE: u8 = 1;
const ESTIMATE: u8 = 2;

impl Structure for GroupInfo {
    const NAME: &'static str = "group info message";
    const SPEC: &'static str = "IV.A.2.k";
    type Context = ();

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        let flags = r.flags(PHASE_CHANGE | ESTIMATE, "only bits 0 and 1")?;
        Ok(Self {
            phase_change: r.when(flags & PHASE_CHANGE != 0, PhaseChange::decode_fields)?,
            estimate: r.when(flags & ESTIMATE != 0, Estimate::decode_fields)?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        let phase_change = if self.phase_change.is_some() { PHASE_CHANGE } else { 0 };
        let estimate = if self.estimate.is_some() { ESTIMATE } else { 0 };
        w.u8(phase_change | estimate);
        if let Some(phase_change) = self.phase_change {
            phase_change.encode_fields(w);
        }
        if let Some(estimate) = self.estimate {
            estimate.encode_fields(w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    #[test]
    fn phase_change_and_estimate_are_each_optional() {
        let neither: GroupInfo = golden::golden("00 00", &());
        assert_eq!(neither, GroupInfo { phase_change: None, estimate: None });
        let both: GroupInfo = golden::golden("00 03 0800 0600 0400 0900", &());
        assert_eq!(both.phase_change, Some(PhaseChange { max_compact: 8, min_dense: 6 }));
        assert_eq!(both.estimate, Some(Estimate { entries: 4, name_len: 9 }));
    }
}
