//! Page of the data block of a Fixed or an Extensible Array (spec VII.C and VII.D, "Data Block Page").
//!
//! A data block with more elements than one page holds is followed by pages. A page has no signature, only
//! elements and a checksum.

use crate::array::element::{ElementFormat, Elements};
use crate::bytes::{Reader, Widths, Writer};
use crate::error::Result;
use crate::structure::Structure;

/// A page of a data block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The elements of the page.
    pub elements: Elements,
}

/// The number of elements in a page, and their format.
pub type PageContext = (usize, ElementFormat);

impl Structure for Page {
    const NAME: &'static str = "Data block page";
    const SPEC: &'static str = "VII.C, VII.D";
    type Context = PageContext;
    const FIXED: bool = true;

    fn read_len(_: Widths, (count, format): &PageContext) -> usize {
        format.bytes(*count).saturating_add(4)
    }

    fn decode(r: &mut Reader<'_>, (count, format): &PageContext) -> Result<Self> {
        let elements = Elements::decode(r, *count, *format)?;
        r.checksum()?;
        Ok(Self { elements })
    }

    fn encode(&self, w: &mut Writer<'_>, (_, format): &PageContext) {
        self.elements.encode(w, *format);
        w.checksum();
    }
}
