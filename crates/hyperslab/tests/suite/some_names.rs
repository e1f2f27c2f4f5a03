//! The first names of large groups and of objects with many attributes. All names are the oracle.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::sync::Arc;

use hyperslab::driver::Memory;
use hyperslab::{File, LibVersion};
use hyperslab_testkit::sound;

/// Numbers of members of each storage: in the header, in a heap, and in several nodes of its tree.
const COUNTS: [u64; 4] = [0, 5, 40, 900];

#[test]
fn some_names_of_a_group_are_its_first_ones_where_an_index_has_its_order() {
    for version in [LibVersion::Earliest, LibVersion::V110] {
        for is_tracked in [false, true] {
            let file =
                File::options().create(true).version(version).open_on(Arc::new(Memory::default())).unwrap();
            for count in COUNTS {
                let group = file.root().create_group_with(&format!("g{count}"), is_tracked).unwrap();
                for number in 0..count {
                    // The order of names is not that of creation.
                    group.link_soft(&format!("m{:03}", number * 7 % 1000), "/nothing").unwrap();
                }
                let all = group.names().unwrap();
                for most in [0, 1, 5, 39, 40, 50, 2000] {
                    let (some, stated) = group.some_names(most).unwrap();
                    let what = format!("{version:?} {is_tracked} {count} {most}");
                    assert_eq!(some.len(), all.len().min(most), "{what}");
                    assert!(stated.is_none_or(|stated| stated == count), "{what}");
                    let is_old = version == LibVersion::Earliest && !is_tracked;
                    assert!(stated.is_some() || (is_old && count > most as u64), "{what}");
                    let has_order = is_old || is_tracked || count <= 8 || count <= most as u64;
                    if has_order {
                        assert_eq!(some, all[..some.len()], "{what}");
                    } else {
                        assert!(some.is_sorted() && some.iter().all(|name| all.contains(name)), "{what}");
                    }
                }
            }
            sound::assert_accounted(&file, 0);
        }
    }
}

#[test]
fn some_names_of_attributes_are_attributes_of_the_object() {
    for is_tracked in [false, true] {
        let file = File::in_memory().unwrap();
        for count in COUNTS {
            let group = file.root().create_group_with(&format!("g{count}"), is_tracked).unwrap();
            for number in 0..count {
                group.set_attribute(&format!("a{:03}", number * 7 % 1000), number).unwrap();
            }
            let all = group.attribute_names().unwrap();
            for most in [0, 1, 5, 40, 50, 2000] {
                let (some, stated) = group.some_attribute_names(most).unwrap();
                assert_eq!((some.len(), stated), (all.len().min(most), count));
                if is_tracked || count <= 8 || count <= most as u64 {
                    assert_eq!(some, all[..some.len()], "{is_tracked} {count} {most}");
                } else {
                    assert!(some.is_sorted() && some.iter().all(|name| all.contains(name)));
                }
            }
        }
        sound::assert_accounted(&file, 0);
    }
}
