//! Checks the attributes of objects (spec IV.A.2.m, v), which are messages or dense.

use std::collections::HashSet;

use hyperslab_format::Addr;
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::message::MessageBody as _;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::shared::MaybeShared;

use super::{Check, Severity, name_of};

impl Check<'_> {
    /// Checks the attributes of an object.
    pub(super) fn attributes(&mut self, header: &ObjectHeader) {
        let mut names = HashSet::new();
        for message in header.messages().filter(|message| message.kind == Attribute::KIND) {
            let Ok(found) = message.decode::<Attribute>(self.store.widths()) else { continue };
            let is_own = matches!(found, MaybeShared::Here(_));
            let Some(attribute) = self.resolved(found) else { continue };
            let name = attribute.name.clone();
            self.attribute(attribute, is_own, message.at);
            if !names.insert(name.clone()) {
                let text = format!("two attributes are named {name:?}");
                self.wrong(name_of::<Attribute>(), message.at, text);
            }
        }
        let info = self.message::<AttributeInfo>(header);
        let Some(info) = info.filter(AttributeInfo::is_dense) else { return };
        if !names.is_empty() {
            let text = format!("{} attributes are messages, but others are in a heap", names.len());
            self.wrong(name_of::<AttributeInfo>(), info.heap, text);
        }
        let mut each = |check: &mut Self, attribute, is_own| check.attribute(attribute, is_own, info.heap);
        self.dense(&info, "attribute", &mut each);
    }

    /// Checks one attribute, which is at `at`. The parts of a shared one were recorded with the heap.
    fn attribute(&mut self, attribute: Attribute, is_own: bool, at: Addr) {
        self.report.totals.attributes += 1;
        if is_own {
            self.shared_parts(&attribute);
        }
        let Attribute { name, datatype, dataspace, data, .. } = attribute;
        self.name(name_of::<Attribute>(), &name, at);
        let (Some(datatype), Some(dataspace)) = (self.resolved(datatype), self.resolved(dataspace)) else {
            return;
        };
        let needed =
            dataspace.elements().and_then(|count| count.checked_mul(datatype.size(self.store.widths())));
        let Some(value) = needed.and_then(|needed| data.get(..usize::try_from(needed).ok()?)) else {
            let text = format!("{name:?} has {} bytes, too few for its elements", data.len());
            return self.wrong(name_of::<Attribute>(), at, text);
        };
        let nulls = std::mem::take(&mut self.nulls);
        self.values(&datatype, value);
        if self.nulls > 0 && matches!(&*name, "DIMENSION_LIST" | "REFERENCE_LIST") {
            let text = format!("{name:?} has {} null references, as copies of a dataset have", self.nulls);
            self.find(Severity::Warning, name_of::<Attribute>(), at, text);
        }
        self.nulls += nulls;
    }
}
