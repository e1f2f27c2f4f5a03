//! Shared message record list, `SMLI` (spec III.I): the records of a small index, in no order.

use crate::btree2::record::{RecordForm, Records};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::{ErrorKind, Result};
use crate::structure::Structure;

/// A list of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessageList {
    /// The records, all of type 7.
    pub records: Records,
}

/// The values from the index that are needed to decode its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageListContext {
    /// The number of records.
    pub messages: u16,
    /// The largest number of records, for which the list has space.
    pub list_max: u16,
}

impl SharedMessageList {
    /// The type of the records, also in a B-tree.
    pub const KIND: u8 = 7;

    /// Returns the form of the records in files with these widths.
    pub fn record_form(widths: Widths) -> Option<RecordForm> {
        let location = (4 + 8).max(1 + 1 + 2 + widths.offset.bytes());
        RecordForm::new(Self::KIND, u16::try_from(1 + 4 + location).ok()?, widths)
    }

    fn record_size(widths: Widths) -> usize {
        Self::record_form(widths).map_or(0, |form| form.size().into())
    }
}

impl Structure for SharedMessageList {
    const NAME: &'static str = "shared message record list";
    const SPEC: &'static str = "III.I";
    type Context = SharedMessageListContext;
    const FIXED: bool = true;

    fn read_len(widths: Widths, context: &SharedMessageListContext) -> usize {
        4 + usize::from(context.list_max) * Self::record_size(widths) + 4
    }

    fn decode(r: &mut Reader<'_>, context: &SharedMessageListContext) -> Result<Self> {
        let start = r.position();
        r.signature(b"SMLI")?;
        let Some(form) = Self::record_form(r.widths()) else {
            return Err(r.error(ErrorKind::Missing { what: "a form of records for this width of addresses" }));
        };
        let records = Records::decode(r, form.kind(), form.size(), context.messages)?;
        // The checksum follows the last record; the space for further records is behind it.
        r.checksum()?;
        r.skip(Self::read_len(r.widths(), context).saturating_sub(r.position() - start))?;
        Ok(Self { records })
    }

    fn encode(&self, w: &mut Writer<'_>, context: &SharedMessageListContext) {
        let start = w.written();
        w.signature(b"SMLI");
        self.records.encode(w);
        w.checksum();
        w.zeros(Self::read_len(w.widths(), context).saturating_sub(w.written() - start));
    }
}
