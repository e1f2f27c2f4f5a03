//! The extents in use: finds overlaps, and space that nothing uses.

use std::sync::Arc;

use hyperslab_format::{Addr, Extent};

/// The extents that were met.
#[derive(Debug, Default)]
pub(super) struct Extents {
    entries: Vec<Entry>,
    owners: Vec<Owner>,
    /// The bytes of all extents together. Those of an overlap count twice.
    bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u64,
    end: u64,
    owner: u32,
}

/// The user of an extent.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    /// The structure's name and spec section.
    pub name: (&'static str, &'static str),
    /// The path of the object.
    pub path: Arc<str>,
}

/// A result of comparing the extents.
#[derive(Debug)]
pub(super) enum Coverage<'e> {
    /// Two extents share these bytes.
    Overlap { shared: Extent, first: &'e Owner, second: &'e Owner },
    /// Nothing uses these bytes.
    Hole(Extent),
}

impl Extents {
    /// Adds an extent, which must not overflow.
    pub(super) fn add(&mut self, extent: Extent, name: (&'static str, &'static str), path: &Arc<str>) {
        let (start, end) = (extent.addr.get(), extent.addr.get().saturating_add(extent.len));
        let owner = self.owner(name, path);
        self.bytes = self.bytes.saturating_add(extent.len);
        // Adjacent extents of one owner become one entry, so chunks in file order take no memory.
        match self.entries.last_mut() {
            Some(last) if last.owner == owner && last.end == start => last.end = end,
            _ if start < end => self.entries.push(Entry { start, end, owner }),
            _ => {}
        }
    }

    /// Returns the bytes of all extents together.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of an owner. Extents of one object are added together, so a known owner is among
    /// the last ones.
    fn owner(&mut self, name: (&'static str, &'static str), path: &Arc<str>) -> u32 {
        let of_object =
            self.owners.iter().enumerate().rev().take_while(|(_, owner)| Arc::ptr_eq(&owner.path, path));
        let known = of_object.into_iter().find(|(_, owner)| owner.name == name).map(|(number, _)| number);
        let number = known.unwrap_or_else(|| {
            self.owners.push(Owner { name, path: Arc::clone(path) });
            self.owners.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Calls `f` with every overlap, and with every hole from 0 to `end`, in the order of addresses.
    pub(super) fn sweep(mut self, end: u64, f: &mut dyn FnMut(Coverage<'_>)) {
        self.entries.sort_unstable_by_key(|entry| (entry.start, entry.end));
        let extent = |start: u64, end: u64| Extent::new(Addr::new(start), end - start);
        // The entry with the greatest end so far.
        let mut reach = 0;
        let mut furthest: Option<Entry> = None;
        for entry in &self.entries {
            if entry.start > reach && reach < end {
                f(Coverage::Hole(extent(reach, entry.start.min(end))));
            }
            let owner = |entry: Entry| self.owners.get(entry.owner as usize);
            if entry.start < reach
                && let (Some(first), Some(second)) = (furthest.and_then(owner), owner(*entry))
            {
                f(Coverage::Overlap { shared: extent(entry.start, entry.end.min(reach)), first, second });
            }
            if entry.end > reach {
                (reach, furthest) = (entry.end, Some(*entry));
            }
        }
        if reach < end {
            f(Coverage::Hole(extent(reach, end)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept(extents: &[(u64, u64)], end: u64) -> Vec<(char, u64, u64)> {
        let mut all = Extents::default();
        for (number, &(start, end)) in extents.iter().enumerate() {
            // Each extent has a different owner.
            all.add(Extent::new(Addr::new(start), end - start), ("x", "I"), &number.to_string().into());
        }
        let mut found = Vec::new();
        all.sweep(end, &mut |coverage| {
            let (letter, extent) = match coverage {
                Coverage::Overlap { shared, .. } => ('o', shared),
                Coverage::Hole(hole) => ('h', hole),
            };
            found.push((letter, extent.addr.get(), extent.addr.get() + extent.len));
        });
        found
    }

    #[test]
    fn holes_and_overlaps_are_found_in_any_order() {
        assert_eq!(swept(&[], 10), [('h', 0, 10)]);
        assert_eq!(swept(&[(5, 10), (0, 5)], 10), []);
        assert_eq!(swept(&[(6, 10), (0, 5)], 12), [('h', 5, 6), ('h', 10, 12)]);
        assert_eq!(swept(&[(0, 8), (2, 3), (4, 10)], 10), [('o', 2, 3), ('o', 4, 8)]);
        assert_eq!(swept(&[(0, 5), (8, 20)], 7), [('h', 5, 7)]);
        assert_eq!(swept(&[(0, 5), (0, 5), (3, 3)], 5), [('o', 0, 5)]);
    }

    #[test]
    fn holes_and_overlaps_match_a_count_of_every_byte() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let extents: Vec<(u64, u64)> = (0..random(8))
                .map(|_| (random(30), random(10)))
                .map(|(start, len)| (start, start + len))
                .collect();
            let uses =
                |byte: u64| extents.iter().filter(|(start, end)| (*start..*end).contains(&byte)).count();
            let found = swept(&extents, 32);
            for byte in 0..32 {
                let is =
                    |letter| found.iter().any(|&(l, start, end)| l == letter && (start..end).contains(&byte));
                assert_eq!((is('h'), is('o')), (uses(byte) == 0, uses(byte) > 1), "{byte} of {extents:?}");
            }
        }
    }
}
