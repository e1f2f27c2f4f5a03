//! The attributes of objects (spec IV.A.2.m, v): as messages, or dense.

use std::collections::{HashMap, HashSet};

use hyperslab_format::Addr;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::record::Record;
use hyperslab_format::header::{ObjectHeader, RawMessage};
use hyperslab_format::message::MessageBody as _;
use hyperslab_format::message::attribute::Attribute;
use hyperslab_format::message::dense_info::AttributeInfo;
use hyperslab_format::message::shared::MaybeShared;

use super::{Check, Severity, name_of};

/// Types of the trees of attributes: by name and by creation order.
const NAMES: u8 = 8;
const ORDERS: u8 = 9;

impl Check<'_> {
    /// Checks the attributes of an object.
    pub(super) fn attributes(&mut self, header: &ObjectHeader) {
        let mut names = HashSet::new();
        for message in header.messages().filter(|message| message.kind == Attribute::KIND) {
            let Ok(MaybeShared::Here(attribute)) = message.decode::<Attribute>(self.store.widths()) else {
                continue;
            };
            let name = attribute.name.clone();
            self.attribute(attribute, message.at);
            if !names.insert(name.clone()) {
                let text = format!("there are two attributes named {name:?}");
                self.wrong(name_of::<Attribute>(), message.at, text);
            }
        }
        let info = self.message::<AttributeInfo>(header);
        let Some(info) = info.filter(AttributeInfo::is_dense) else { return };
        if !names.is_empty() {
            let text = format!("{} attributes are messages, beside others in a heap", names.len());
            self.wrong(name_of::<AttributeInfo>(), info.heap, text);
        }
        self.dense_attributes(&info);
    }

    fn dense_attributes(&mut self, info: &AttributeInfo) {
        let Some(mut heap) = self.fractal_heap(info.heap) else { return };
        // The creation order that the tree of names has of each heap id.
        let mut orders: HashMap<[u8; 8], u32> = HashMap::new();
        let mut last: Option<(u32, String)> = None;
        let mut is_shared = false;
        let tree = info.name_index;
        let visited = self.btree2(tree, &[NAMES], &mut |check, record| {
            let Record::AttributeName { id, flags, order, hash } = record else { return };
            orders.insert(*id, *order);
            if flags & RawMessage::SHARED != 0 {
                is_shared = true;
                return;
            }
            let Some(attribute) = check.heap_object::<Attribute>(&mut heap, id) else { return };
            check.record_of_name(tree, &attribute.name, *hash, &mut last);
            check.attribute(attribute, info.heap);
            let next = info.max_creation_order.map(u32::from);
            if next.is_some_and(|next| *order >= next) {
                let text =
                    format!("a record has creation order {order}, and the next to be given out is lower");
                check.wrong(name_of::<BTree2Header>(), tree, text);
            }
        });
        if is_shared {
            let text = "attributes in the shared message heap are not checked";
            self.find(Severity::Note, name_of::<AttributeInfo>(), info.heap, text);
        } else if matches!(visited, Some((_, true))) {
            self.heap_statistics(&heap);
        }
        if let Some(index) = info.creation_order_index.and_then(Addr::defined) {
            let found = self.btree2(index, &[ORDERS], &mut |check, record| {
                let Record::AttributeOrder { id, order, .. } = record else { return };
                if orders.remove(id) != Some(*order) {
                    let text = format!("the record of creation order {order} is of no attribute that has it");
                    check.wrong(name_of::<BTree2Header>(), index, text);
                }
            });
            if matches!((visited, found), (Some((_, true)), Some((_, true)))) && !orders.is_empty() {
                let text = format!("{} attributes have no record", orders.len());
                self.wrong(name_of::<BTree2Header>(), index, text);
            }
        }
    }

    /// Checks one attribute, which stands at `at`.
    fn attribute(&mut self, attribute: Attribute, at: Addr) {
        self.report.totals.attributes += 1;
        let Attribute { name, datatype, dataspace, data, .. } = attribute;
        self.name(name_of::<Attribute>(), &name, at);
        if let MaybeShared::Shared(location) = datatype {
            self.shared(location, "datatype");
        }
        let (Some(datatype), Some(dataspace)) = (self.resolved(datatype), self.resolved(dataspace)) else {
            return;
        };
        let needed =
            dataspace.elements().and_then(|count| count.checked_mul(datatype.size(self.store.widths())));
        let Some(value) = needed.and_then(|needed| data.get(..usize::try_from(needed).ok()?)) else {
            let text = format!("{name:?} has {} bytes, fewer than its elements need", data.len());
            return self.wrong(name_of::<Attribute>(), at, text);
        };
        self.values(&datatype, value);
    }
}
