//! The links of groups (spec IV.A.2.c, g, r): as messages, dense, or in symbol tables.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use hyperslab_format::Addr;
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::btree2::record::Record;
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::message::dense_info::LinkInfo;
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::message::{MessageBody as _, kind};

use super::{Check, Name, name_of};

/// Types of the trees of links: by name and by creation order.
const NAMES: u8 = 5;
const ORDERS: u8 = 6;

impl Check<'_> {
    /// Checks the links of a group.
    pub(super) fn group(&mut self, header: &ObjectHeader) {
        let at = header.chunks.first().map_or(Addr::UNDEFINED, |chunk| chunk.extent.addr);
        if header.find(kind::LINK_INFO).is_none() {
            if let Some(table) = self.message::<SymbolTable>(header) {
                self.symbol_table(at, &table);
            }
            return;
        }
        let Some(info) = self.message::<LinkInfo>(header) else { return };
        if info.is_dense() {
            self.dense_links(&info);
        } else {
            self.compact_links(header, &info, at);
        }
    }

    fn compact_links(&mut self, header: &ObjectHeader, info: &LinkInfo, at: Addr) {
        let name = name_of::<Link>();
        let (mut names, mut orders) = (HashSet::new(), HashSet::new());
        for message in header.messages().filter(|message| message.kind == Link::KIND) {
            let Ok(link) = message.decode_here::<Link>(self.store.widths()) else { continue };
            self.link(&link, message.at);
            self.link_order(&link, info, message.at);
            if link.creation_order.is_some_and(|order| !orders.insert(order)) {
                self.wrong(
                    name,
                    message.at,
                    format_args!("{:?} has the creation order of another link", link.name),
                );
            }
            if !names.insert(link.name.clone()) {
                self.wrong(name, message.at, format_args!("there are two links named {:?}", link.name));
            }
        }
        if info.name_index.is_defined() || info.creation_order_index.is_some_and(Addr::is_defined) {
            self.wrong(name_of::<LinkInfo>(), at, "there is an index, and no heap of links");
        }
    }

    fn dense_links(&mut self, info: &LinkInfo) {
        let Some(mut heap) = self.fractal_heap(info.heap) else { return };
        // The creation order of each link by its heap id.
        let mut orders: HashMap<[u8; 7], Option<u64>> = HashMap::new();
        let mut last: Option<(u32, String)> = None;
        let tree = info.name_index;
        let visited = self.btree2(tree, &[NAMES], &mut |check, record| {
            let Record::LinkName { hash, id } = record else { return };
            let Some(link) = check.heap_object::<Link>(&mut heap, id) else { return };
            check.record_of_name(tree, &link.name, *hash, &mut last);
            check.link(&link, info.heap);
            check.link_order(&link, info, info.heap);
            if orders.insert(*id, link.creation_order).is_some() {
                check.wrong(
                    name_of::<BTree2Header>(),
                    tree,
                    format_args!("two records lead to {:?}", link.name),
                );
            }
        });
        if matches!(visited, Some((_, true))) {
            self.heap_statistics(&heap);
        }
        if let Some(index) = info.creation_order_index.and_then(Addr::defined) {
            let found = self.btree2(index, &[ORDERS], &mut |check, record| {
                let Record::LinkOrder { order, id } = record else { return };
                let known = orders.remove(id);
                if known.flatten().is_none_or(|known| i64::try_from(known) != Ok(*order)) {
                    let message = format!("the record of creation order {order} is of no link that has it");
                    check.wrong(name_of::<BTree2Header>(), index, message);
                }
            });
            if matches!((visited, found), (Some((_, true)), Some((_, true)))) && !orders.is_empty() {
                let message = format!("{} links have no record", orders.len());
                self.wrong(name_of::<BTree2Header>(), index, message);
            }
        }
    }

    /// Checks a record of the tree at `tree`: its hash, and where hashes are equal the order of the names.
    pub(super) fn record_of_name(
        &mut self,
        tree: Addr,
        name: &str,
        hash: u32,
        last: &mut Option<(u32, String)>,
    ) {
        let of_tree = name_of::<BTree2Header>();
        if lookup3(name.as_bytes()) != hash {
            self.wrong(of_tree, tree, format_args!("the record of {name:?} has the hash of another name"));
        }
        if last.as_ref().is_some_and(|(known, before)| *known == hash && before.as_str() >= name) {
            self.wrong(
                of_tree,
                tree,
                format_args!("the record of {name:?} is not after one of the same hash"),
            );
        }
        *last = Some((hash, name.to_owned()));
    }

    /// Checks the name of a link or an attribute, which stands at `at`.
    pub(super) fn name(&mut self, structure: Name, name: &str, at: Addr) {
        if name.is_empty() || name.contains('\0') {
            self.wrong(
                structure,
                at,
                format_args!("{name:?} is no name that libhdf5 reads: delete what has it"),
            );
        }
    }

    fn link(&mut self, link: &Link, at: Addr) {
        self.report.totals.links += 1;
        self.name(name_of::<Link>(), &link.name, at);
        if let LinkTarget::Hard(target) = link.target {
            let path = self.member(&link.name);
            self.link_to(target, path);
        }
    }

    fn link_order(&mut self, link: &Link, info: &LinkInfo, at: Addr) {
        let name = &link.name;
        let mut wrong =
            |what: &dyn Display| self.wrong(name_of::<Link>(), at, format_args!("{name:?} {what}"));
        match (link.creation_order, info.max_creation_order) {
            (None, Some(_)) => wrong(&"has no creation order, in a group that tracks it"),
            (Some(order), Some(next)) if order >= next => {
                wrong(&format_args!("has creation order {order}, and the next to be given out is {next}"));
            }
            _ => {}
        }
    }
}
