//! Checks the links of groups (spec IV.A.2.c, g, r), which are messages, dense, or in symbol tables.

use std::collections::{HashMap, HashSet};

use hyperslab_format::Addr;
use hyperslab_format::btree2::dense::{DenseItem, Ordered};
use hyperslab_format::btree2::header::BTree2Header;
use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::message::dense_info::{DenseInfo, LinkInfo};
use hyperslab_format::message::link::{Link, LinkTarget};
use hyperslab_format::message::shared::SharedLocation;
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::message::{MessageBody as _, kind};
use hyperslab_format::name;

use super::{Check, Name, name_of};

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
            self.dense(&info, "link", &mut |check, link, _| check.link(&link, info.heap));
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
            self.creation_order(&link, link.creation_order, info, message.at);
            if link.creation_order.is_some_and(|order| !orders.insert(order)) {
                let text = format!("{:?} has the same creation order as another link", link.name);
                self.wrong(name, message.at, text);
            }
            if !names.insert(link.name.clone()) {
                self.wrong(name, message.at, format_args!("two links are named {:?}", link.name));
            }
        }
        if info.name_index.is_defined() || info.creation_order_index.is_some_and(Addr::is_defined) {
            self.wrong(name_of::<LinkInfo>(), at, "has an index, but no heap of links");
        }
    }

    /// Checks dense links or attributes, each with `f`, and the trees over them. `f` also gets whether the
    /// item is in the object's own heap, not in that of shared messages.
    pub(super) fn dense<T: DenseItem>(
        &mut self,
        info: &DenseInfo<T::Order>,
        what: &str,
        f: &mut dyn FnMut(&mut Self, T, bool),
    ) {
        let Some(mut heap) = self.fractal_heap(info.heap) else { return };
        // The creation order of each by its heap id, if known.
        let mut orders: HashMap<Vec<u8>, Option<u64>> = HashMap::new();
        let mut last: Option<(u32, String)> = None;
        let (tree, [names, by_order]) = (info.name_index, T::TREES);
        let visited = self.btree2(tree, &[names], &mut |check, record| {
            let Some(named) = T::by_name(record) else { return };
            let before = orders.insert(named.id.to_vec(), named.order);
            let value = if named.is_shared {
                let mut id = [0; 8];
                id.iter_mut().zip(named.id).for_each(|(to, from)| *to = *from);
                check.shared(SharedLocation::Heap(id), T::KIND);
                check.shared_body::<T>(id)
            } else {
                check.heap_object::<T>(&mut heap, named.id)
            };
            let Some(value) = value else { return };
            check.record_of_name(tree, value.name(), named.hash, &mut last);
            let order = value.order(named.order);
            check.creation_order(&value, order, info, info.heap);
            orders.insert(named.id.to_vec(), order);
            if before.is_some() {
                let text = format!("two records lead to {:?}", value.name());
                check.wrong(name_of::<BTree2Header>(), tree, text);
            }
            f(check, value, !named.is_shared);
        });
        if matches!(visited, Some((_, true))) {
            self.heap_statistics(&heap);
        }
        let Some(index) = info.creation_order_index.and_then(Addr::defined) else { return };
        let found = self.btree2(index, &[by_order], &mut |check, record| {
            let Some(Ordered { order, id, .. }) = T::by_order(record) else { return };
            if orders.remove(id).flatten() != Some(order) {
                let text = format!("the record of creation order {order} matches no {what}");
                check.wrong(name_of::<BTree2Header>(), index, text);
            }
        });
        if matches!((visited, found), (Some((_, true)), Some((_, true)))) && !orders.is_empty() {
            let text = format!("{} {what}s have no record", orders.len());
            self.wrong(name_of::<BTree2Header>(), index, text);
        }
    }

    /// Checks a record of the tree at `tree`: its hash and, for equal hashes, the order of the names.
    pub(super) fn record_of_name(
        &mut self,
        tree: Addr,
        name: &str,
        hash: u32,
        last: &mut Option<(u32, String)>,
    ) {
        let of_tree = name_of::<BTree2Header>();
        if lookup3(&name::to_bytes(name)) != hash {
            self.wrong(of_tree, tree, format_args!("the record of {name:?} has the hash of another name"));
        }
        if last.as_ref().is_some_and(|(known, before)| *known == hash && name::order(before, name).is_ge()) {
            let text = format!("the record of {name:?} is out of order among names with the same hash");
            self.wrong(of_tree, tree, text);
        }
        *last = Some((hash, name.to_owned()));
    }

    /// Checks the name of a link or an attribute, which is at `at`.
    pub(super) fn name(&mut self, structure: Name, name: &str, at: Addr) {
        if name.is_empty() || name.contains('\0') {
            let text = format!("the name {name:?} cannot be read by libhdf5: delete the link or attribute");
            self.wrong(structure, at, text);
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

    fn creation_order<T: DenseItem>(
        &mut self,
        value: &T,
        order: Option<u64>,
        info: &DenseInfo<T::Order>,
        at: Addr,
    ) {
        let name = value.name();
        let text = match (order, info.max_creation_order.map(Into::<u64>::into)) {
            (None, Some(_)) => format!("{name:?} has no creation order, but the object tracks it"),
            (Some(order), Some(next)) if order >= next => {
                format!("{name:?} has creation order {order}, but the next free one is {next}")
            }
            _ => return,
        };
        self.wrong(name_of::<T>(), at, text);
    }
}
