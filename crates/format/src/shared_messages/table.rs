//! Shared message table, `SMTB` (spec III.I): the indexes of a file.

use crate::addr::Addr;
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::message::kind;
use crate::structure::Structure;

/// The largest number of indexes in a file. Each has a type of message of its own, or several.
pub const MAX_INDEXES: u8 = 8;

/// The table of a file's indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMessageTable {
    /// The indexes.
    pub indexes: Vec<SharedMessageIndex>,
}

/// One index of shared messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMessageIndex {
    /// The structure of the index.
    pub form: IndexForm,
    /// Bit `n`: messages of type `n` are in this index.
    pub message_types: u16,
    /// The size in bytes from which messages are shared.
    pub min_message_size: u32,
    /// The largest number of records in a list.
    pub list_max: u16,
    /// The smallest number of records in a B-tree.
    pub btree_min: u16,
    /// The number of records.
    pub messages: u16,
    /// The address of the list or of the B-tree. Undefined if there are no records.
    pub at: Addr,
    /// The fractal heap of the messages.
    pub heap: Addr,
}

/// The structure of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexForm {
    /// A list, `SMLI`.
    List,
    /// A version 2 B-tree of type 7.
    BTree,
}

impl SharedMessageTable {
    /// Returns the number of the index for messages of type `kind`, if there is one.
    pub fn index_of(&self, kind: u16) -> Option<usize> {
        self.indexes.iter().position(|index| index.has(kind))
    }
}

impl SharedMessageIndex {
    /// Returns whether this is the index for messages of type `kind`.
    pub fn has(&self, kind: u16) -> bool {
        // An old fill value is in the index of new ones.
        let kind = if kind == kind::OLD_FILL_VALUE { kind::FILL_VALUE } else { kind };
        1_u16.checked_shl(kind.into()).is_some_and(|bit| self.message_types & bit != 0)
    }
}

impl Structure for SharedMessageTable {
    const NAME: &'static str = "shared message table";
    const SPEC: &'static str = "III.I";
    /// The number of indexes, from the shared message table message.
    type Context = u8;
    const FIXED: bool = true;

    fn read_len(widths: Widths, indexes: &u8) -> usize {
        4 + usize::from(*indexes) * SharedMessageIndex::read_len(widths, &()) + 4
    }

    fn decode(r: &mut Reader<'_>, indexes: &u8) -> Result<Self> {
        r.signature(b"SMTB")?;
        let indexes = (0..*indexes).map(|_| r.structure(&())).collect::<Result<_>>()?;
        r.checksum()?;
        Ok(Self { indexes })
    }

    fn encode(&self, w: &mut Writer<'_>, _: &u8) {
        w.signature(b"SMTB");
        for index in &self.indexes {
            w.structure(index, &());
        }
        w.checksum();
    }
}

impl Structure for SharedMessageIndex {
    const NAME: &'static str = "shared message index";
    const SPEC: &'static str = "III.I";
    type Context = ();
    const FIXED: bool = true;

    fn read_len(widths: Widths, (): &()) -> usize {
        14 + 2 * widths.offset.bytes()
    }

    fn decode(r: &mut Reader<'_>, (): &()) -> Result<Self> {
        r.version(0)?;
        let form = match r.u8()? {
            0 => IndexForm::List,
            1 => IndexForm::BTree,
            other => return Err(r.bad_value("Index Type", other.into(), "0 (a list) or 1 (a B-tree)")),
        };
        let index = Self {
            form,
            message_types: r.u16()?,
            min_message_size: r.u32()?,
            list_max: r.u16()?,
            btree_min: r.u16()?,
            messages: r.u16()?,
            at: r.addr()?,
            heap: r.addr()?,
        };
        if form == IndexForm::List && index.messages > index.list_max {
            return Err(r.bad_value("Number of Messages", index.messages.into(), "at most the List Cutoff"));
        }
        Ok(index)
    }

    fn encode(&self, w: &mut Writer<'_>, (): &()) {
        w.u8(0); // version
        w.u8(match self.form {
            IndexForm::List => 0,
            IndexForm::BTree => 1,
        });
        w.u16(self.message_types);
        w.u32(self.min_message_size);
        w.u16(self.list_max);
        w.u16(self.btree_min);
        w.u16(self.messages);
        w.addr(self.at);
        w.addr(self.heap);
    }
}
