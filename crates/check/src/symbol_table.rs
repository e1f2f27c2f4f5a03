//! Checks the links of old-style groups (spec III.B, III.C, III.D): the local heap of names, the tree, and
//! its symbol table nodes.

use hyperslab_format::btree1::{BTree1Context, BTree1Kind, BTree1Node};
use hyperslab_format::group::symbol::{EntryCache, SymbolTableContext, SymbolTableEntry, SymbolTableNode};
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::heap::local::{LocalHeapData, LocalHeapHeader};
use hyperslab_format::message::small::SymbolTable;
use hyperslab_format::{Addr, Extent, Reader, Structure};

use super::btree1::{Key, Owner};
use super::{Check, name_of};

/// The heap of names of a group, and the name met last.
struct HeapNames {
    heap: Option<LocalHeapData>,
    /// The first byte and the end of each name, path and free block.
    parts: Vec<(u64, u64)>,
    /// The same for the keys of the tree, most of which are names of links.
    keys: Vec<(u64, u64)>,
    /// The most recent name.
    last: Option<Vec<u8>>,
}

impl Check<'_> {
    /// Checks the links of an old-style group.
    pub(super) fn symbol_table(&mut self, header: Addr, table: &SymbolTable) {
        self.root_table(header, table);
        let heap = self.local_heap(table.heap);
        let (heap, parts) = heap.map_or((None, Vec::new()), |(heap, free)| (Some(heap), free));
        let k = self.store.btree_k().group_internal_k;
        let context = BTree1Context { kind: BTree1Kind::Group, k };
        let mut names = HeapNames { heap, parts, keys: Vec::new(), last: None };
        self.btree1(table.btree, &context, &mut names);
        if let Some((one, next)) = names.overlap() {
            let text = format!("the name or free block at {one} extends over that at {next}");
            self.wrong(name_of::<LocalHeapData>(), table.heap, text);
        }
    }

    /// Checks a local heap. Returns its data, and the first byte and the end of each free block.
    pub(super) fn local_heap(&mut self, at: Addr) -> Option<(LocalHeapData, Vec<(u64, u64)>)> {
        let header = self.block::<LocalHeapHeader>(at, &())?;
        let extent = Extent::new(header.data, header.data_size);
        // Checked before the data are read, because a damaged header may claim any size.
        let checked = self.store.check(extent, name_of::<LocalHeapData>());
        self.noted(checked, header.data)?;
        let data = self.block::<LocalHeapData>(header.data, &header)?;
        let free = self.free_list(&header, &data);
        Some((data, free))
    }

    /// Checks the list of free blocks: each names the next, and has room for its own two fields.
    fn free_list(&mut self, header: &LocalHeapHeader, data: &LocalHeapData) -> Vec<(u64, u64)> {
        let mut free = Vec::new();
        let name = name_of::<LocalHeapData>();
        let widths = self.store.widths();
        let mut next = header.free_list;
        let mut left = data.bytes.len() / (2 * widths.length.bytes());
        while let Some(offset) = next {
            let head = usize::try_from(offset).ok().and_then(|at| data.bytes.get(at..)).unwrap_or_default();
            let mut r = Reader::new(head, widths, header.data);
            let (Ok(following), Ok(size)) = (r.length(), r.length()) else {
                let text = format!("the free block at {offset} is not in the heap");
                self.wrong(name, header.data, text);
                break;
            };
            if size > head.len() as u64 || size < 2 * widths.length.bytes() as u64 {
                let left = head.len();
                let text = format!(
                    "the free block at {offset} has {size} bytes, but only {left} are left in the heap"
                );
                self.wrong(name, header.data, text);
                break;
            }
            let Some(fewer) = left.checked_sub(1) else {
                self.wrong(name, header.data, "the list of free blocks has no end");
                break;
            };
            left = fewer;
            free.push((offset, offset.saturating_add(size)));
            // The value 1 ends the list: blocks begin at multiples of eight.
            next = Some(following).filter(|&following| following != 1);
        }
        free
    }
}

impl<'c> Owner<'c> for HeapNames {
    fn name(&mut self, _: &mut Check<'c>, offset: u64) -> Option<Vec<u8>> {
        let name = self.text(offset)?;
        self.keys.push((offset, end_of(offset, &name)));
        Some(name)
    }

    fn child(&mut self, check: &mut Check<'c>, leaf: &BTree1Node, index: usize, [low, high]: [&Key; 2]) {
        let Some(at) = leaf.entries.child(index) else { return };
        let context = SymbolTableContext { k: check.store.btree_k().group_leaf_k };
        let Some(node) = check.block::<SymbolTableNode>(at, &context) else { return };
        for entry in &node.entries {
            if check.is_over() {
                return;
            }
            check.report.totals.links += 1;
            let Some(name) = self.text(entry.name_offset) else {
                let message = format!("no name at offset {} of the local heap", entry.name_offset);
                check.wrong(name_of::<SymbolTableEntry>(), at, message);
                continue;
            };
            self.takes(entry.name_offset, &name);
            if self.last.as_ref().is_some_and(|last| *last >= name) {
                let message = format!("{} is not after the name before it", name.escape_ascii());
                check.wrong(name_of::<SymbolTableNode>(), at, message);
            }
            // A name is greater than the key on its left, and not greater than the key on its right.
            let key = Key::Name(name.clone());
            if key <= *low || key > *high {
                let message = format!("{} is not between the keys around its node", name.escape_ascii());
                check.wrong(name_of::<SymbolTableNode>(), at, message);
            }
            self.entry(check, at, entry, &name);
            self.last = Some(name);
        }
    }
}

impl HeapNames {
    /// Returns the text at an offset of the heap.
    fn text(&self, offset: u64) -> Option<Vec<u8>> {
        let rest = self.heap.as_ref()?.bytes.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().take(MAX_NAME).position(|&byte| byte == 0)?;
        rest.get(..end).map(<[u8]>::to_vec)
    }

    /// Notes the place of a text.
    fn takes(&mut self, offset: u64, text: &[u8]) {
        self.parts.push((offset, end_of(offset, text)));
    }

    /// Returns the offsets of two parts of the heap that overlap. A change of one would alter the other.
    fn overlap(&mut self) -> Option<(u64, u64)> {
        self.parts.append(&mut self.keys);
        self.parts.sort_unstable();
        self.parts.dedup();
        let mut pairs = self.parts.iter().zip(self.parts.iter().skip(1));
        pairs.find(|(one, next)| one.1 > next.0).map(|(one, next)| (one.0, next.0))
    }

    /// Checks the target of a link, and the cached addresses of a group.
    fn entry(&mut self, check: &mut Check<'_>, at: Addr, entry: &SymbolTableEntry, name: &[u8]) {
        if let EntryCache::SoftLink { path_offset } = entry.cache {
            let path = self.heap.as_ref().map(|heap| heap.bytes_at(path_offset.into()).map(<[u8]>::to_vec));
            match path {
                Some(Ok(path)) => self.takes(path_offset.into(), &path),
                Some(Err(_)) => {
                    let message = format!("no path at offset {path_offset} of the local heap");
                    check.wrong(name_of::<SymbolTableEntry>(), at, message);
                }
                None => {}
            }
            return;
        }
        if entry.header.is_undefined() {
            let message = format!("{} has no object header address", name.escape_ascii());
            return check.wrong(name_of::<SymbolTableEntry>(), at, message);
        }
        let path = check.member(&String::from_utf8_lossy(name));
        check.link_to(entry.header, path);
        let EntryCache::Group { btree, heap } = entry.cache else { return };
        let header = check.store.read::<ObjectHeader>(entry.header, &()).ok();
        let stated = header.and_then(|header| check.message::<SymbolTable>(&header));
        if stated.is_some_and(|stated| stated != SymbolTable { btree, heap }) {
            let message = format!(
                "{} caches addresses that differ from those in the group's header",
                name.escape_ascii()
            );
            check.wrong((SymbolTableEntry::NAME, SymbolTableEntry::SPEC), at, message);
        }
    }
}

/// Returns the end of a text at an offset, after its zero byte.
fn end_of(offset: u64, text: &[u8]) -> u64 {
    offset.saturating_add(text.len() as u64 + 1)
}

/// The longest name that is searched for, in bytes. Without a limit, a heap without zero bytes would be
/// searched to its end for each of its names.
const MAX_NAME: usize = 64 << 10;
