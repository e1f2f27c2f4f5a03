//! Tests `hyperslab repack` with `hyperslab check`, `hyperslab diff` and the stored bytes.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::collections::BTreeMap;

use hyperslab_format::datatype::{Datatype, Reference, ReferenceKind};
use hyperslab_format::message::dataspace::Dataspace;

use crate::common::{Scratch, dataset, sample, samples};
use hyperslab::Dim;
use hyperslab::Slab;
use hyperslab::{Attribute, File, Selection};

#[test]
fn every_sample_is_unchanged_after_every_kind_of_repacking() {
    let scratch = Scratch::new("repack-samples");
    let ways: [&[&str]; 4] = [
        &[],
        &["--filter", "zstd:3", "--shuffle", "--chunks", "auto"],
        &["--filter", "none", "--libver", "latest"],
        &["--chunks", "3x2", "--libver", "earliest"],
    ];
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut repacked = 0;
    for name in samples() {
        let from = format!("@{name}");
        for way in ways {
            let (code, _, err) = scratch.run(&[&["repack", &from, "%out.h5", "--overwrite"], way].concat());
            if code != 0 {
                assert!(err.contains("not supported yet") || err.contains("is not available"), "{err}");
                *refused.entry(name.clone()).or_default() += 1;
                continue;
            }
            repacked += 1;
            let (code, out, err) = scratch.run(&["diff", &from, "%out.h5"]);
            let is_unread = code == 2 && out.lines().all(|line| line.contains(": not compared: "));
            assert!(code == 0 || is_unread, "{name} {way:?}: {out}{err}");
            let (code, out, err) = scratch.run(&["check", "--data", "%out.h5"]);
            assert!(code == 0 || err.contains("is not available"), "{name} {way:?}: {out}{err}");
        }
    }
    assert!(repacked > 350, "{repacked}");
    let kinds: Vec<&str> = refused.keys().map(|name| name.split('_').next().unwrap()).collect();
    let known = ["external", "refused", "shared", "sizes"];
    assert!(kinds.iter().all(|kind| known.contains(kind)), "{refused:?}");
}

/// Makes a file with a chunked, a contiguous, a small and a one-dimensional dataset.
fn file_of_datasets(scratch: &Scratch) -> Vec<i32> {
    let values: Vec<i32> = (0..6000).map(|k| k * 7 % 1001).collect();
    scratch.make("in.h5", |root| {
        dataset(root, "chunked", &[60, 100], Some(&[7, 30]), &values);
        dataset(root, "contiguous", &[60, 100], None, &values);
        dataset(root, "small", &[10], None, &values[..10]);
        dataset(root, "row", &[6000], Some(&[1000]), &values);
    });
    values
}

fn stored(scratch: &Scratch, more: &[&str]) -> Vec<(Option<Vec<u64>>, Vec<u16>)> {
    let said = scratch.printed(&[&["repack", "%in.h5", "%out.h5", "--overwrite"], more].concat());
    assert!(said.contains(" -> ") && said.contains('%'), "{said}");
    let file = File::open(scratch.path("out.h5")).unwrap();
    let storage = ["chunked", "contiguous", "small", "row"].map(|name| {
        let dataset = file.dataset(name).unwrap();
        let filters = dataset.filters().filters.iter().map(|filter| filter.id).collect();
        (dataset.chunk_shape(), filters)
    });
    assert_eq!(scratch.printed(&["diff", "%in.h5", "%out.h5"]), "");
    storage.to_vec()
}

#[test]
fn filters_and_chunks_are_those_of_the_options() {
    let scratch = Scratch::new("repack-storage");
    file_of_datasets(&scratch);
    let chunks = |shape: &[u64], filters: &[u16]| (Some(shape.to_vec()), filters.to_vec());
    let plain = (None, Vec::new());
    let old = [chunks(&[7, 30], &[]), plain.clone(), plain.clone(), chunks(&[1000], &[])];
    assert_eq!(stored(&scratch, &[]), old);
    let zstd = &[2, 32015];
    assert_eq!(
        stored(&scratch, &["--filter", "zstd:1", "--shuffle"]),
        [chunks(&[7, 30], zstd), chunks(&[60, 100], zstd), plain.clone(), chunks(&[1000], zstd)]
    );
    assert_eq!(
        stored(&scratch, &["--filter", "shuffle", "--filter", "gzip:9", "--chunks", "keep"]),
        [chunks(&[7, 30], &[2, 1]), plain.clone(), plain.clone(), chunks(&[1000], &[2, 1])]
    );
    assert_eq!(
        stored(&scratch, &["--filter", "blosc2:lz4:5:bitshuffle", "--chunks", "16x200"]),
        [
            chunks(&[16, 100], &[32026]),
            chunks(&[16, 100], &[32026]),
            plain.clone(),
            chunks(&[1000], &[32026])
        ]
    );
    assert_eq!(
        stored(&scratch, &["--chunks", "auto"]),
        [chunks(&[60, 100], &[]), chunks(&[60, 100], &[]), plain, chunks(&[6000], &[])]
    );
}

#[test]
fn datasets_that_the_chunk_shape_does_not_fit_are_named() {
    let scratch = Scratch::new("repack-misfits");
    file_of_datasets(&scratch);
    let repacked = |chunks: &str| {
        let (code, out, err) =
            scratch.run(&["repack", "%in.h5", "%out.h5", "--overwrite", "--chunks", chunks]);
        assert_eq!(code, 0, "{err}");
        (out, err)
    };
    // Some datasets have this rank, so the others are mentioned in the output.
    let (out, err) = repacked("9x9");
    assert!(out.contains("--chunks 9x9 does not fit row (rank 1): stored as before"), "{out}");
    assert_eq!(err, "");
    // No dataset has this rank, which is a warning.
    let (out, err) = repacked("1x2x3");
    assert!(!out.contains("--chunks"), "{out}");
    for name in ["chunked (rank 2)", "contiguous (rank 2)", "row (rank 1)"] {
        assert!(err.contains("--chunks 1x2x3 does not fit") && err.contains(name), "{err}");
    }
    assert!(!err.contains("small"), "{err}");
    let json = scratch.printed(&["repack", "%in.h5", "%out.h5", "--overwrite", "--chunks", "9x9", "--json"]);
    assert!(json.contains(r#""other_rank":["row"]"#), "{json}");
}

#[test]
fn filters_that_store_the_chunk_size_are_adapted_to_a_new_one() {
    let scratch = Scratch::new("repack-fitted");
    file_of_datasets(&scratch);
    for filter in ["lzf", "blosc:zstd", "blosc2:zlib:3"] {
        scratch.printed(&["repack", "%in.h5", "%first.h5", "--overwrite", "--filter", filter]);
        scratch.printed(&["repack", "%first.h5", "%second.h5", "--overwrite", "--chunks", "9x9"]);
        scratch.printed(&[
            "repack",
            "%in.h5",
            "%at_once.h5",
            "--overwrite",
            "--chunks",
            "9x9",
            "--filter",
            filter,
        ]);
        assert_eq!(scratch.printed(&["diff", "%in.h5", "%second.h5"]), "");
        let [second, at_once] = ["second.h5", "at_once.h5"].map(|name| {
            File::open(scratch.path(name)).unwrap().dataset("chunked").unwrap().filters().filters.clone()
        });
        assert_eq!(second, at_once, "{filter}");
    }
}

#[test]
fn chunks_that_keep_their_filters_are_not_decoded() {
    let scratch = Scratch::new("repack-stored");
    // The filter SZ3 is not available here.
    let name = "refused_filters_latest.h5";
    scratch.printed(&["repack", &format!("@{name}"), "%out.h5"]);
    let [before, after] = [sample(name), scratch.path("out.h5")].map(|path| {
        let dataset = File::open(path).unwrap().dataset("sz3").unwrap();
        let mut chunks = BTreeMap::new();
        dataset
            .visit_chunks(&mut |coord, record| {
                chunks.insert(coord.to_vec(), record);
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        chunks
            .into_iter()
            .map(|(coord, record)| (coord, dataset.read_stored_chunk(record).unwrap()))
            .collect::<Vec<_>>()
    });
    assert!(!before.is_empty() && before == after);
}

#[test]
fn chunks_that_were_never_written_stay_unwritten() {
    let scratch = Scratch::new("repack-sparse");
    scratch.make("in.h5", |root| {
        let sparse = dataset::<i16>(root, "sparse", &[1 << 20, 1 << 20], Some(&[64, 64]), &[]);
        for start in [0, 1 << 19, (1 << 20) - 64] {
            let dim = Dim { start, step: 1, count: 64 };
            sparse.write(Selection::Slab(Slab([dim, dim].into_iter().collect())), &[7_i16; 64 * 64]).unwrap();
        }
    });
    for (way, expected) in [("keep", 3), ("32x128", 6), ("128x64", 3)] {
        scratch.printed(&["repack", "%in.h5", "%out.h5", "--overwrite", "--filter", "lz4", "--chunks", way]);
        let sparse = File::open(scratch.path("out.h5")).unwrap().dataset("sparse").unwrap();
        assert_eq!(sparse.stored_chunks().unwrap(), expected, "{way}");
        let dim = Dim { start: (1 << 19) + 63, step: 1, count: 2 };
        let corner: Vec<i16> = sparse.read(Selection::Slab(Slab([dim, dim].into_iter().collect()))).unwrap();
        assert_eq!(corner, [7, 0, 0, 0], "{way}");
    }
}

#[test]
fn a_selection_includes_the_objects_below_and_the_groups_on_its_path() {
    let scratch = Scratch::new("repack-select");
    scratch.make("in.h5", |root| {
        dataset(root, "a/b/inside", &[3], None, &[1_i32, 2, 3]);
        dataset(root, "a/outside", &[1], None, &[1_i32]);
        dataset(root, "ab", &[1], None, &[1_i32]);
        root.link_soft("a/b/soft", "/nowhere").unwrap();
        root.link_soft("shortcut", "/a/b").unwrap();
        let reference = |path: &str| root.file().object_reference(&root.file().get(path).unwrap()).unwrap();
        let both = [reference("/a/outside"), reference("/a/b/inside"), reference("/a")].concat();
        root.group("a/b")
            .unwrap()
            .put_attribute(&Attribute {
                name: "references".to_owned(),
                datatype: Datatype::Reference(Reference { size: 8, kind: ReferenceKind::Object1 }),
                dataspace: Dataspace::Simple { shape: vec![3], max_shape: None },
                data: both,
            })
            .unwrap();
    });
    for path in ["/a/b", "a/b/", "/shortcut"] {
        scratch.printed(&["repack", "%in.h5", "%out.h5", "--overwrite", "--select", path]);
        let listed = scratch.printed(&["ls", "-r", "%out.h5"]);
        let names: Vec<&str> = listed.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
        assert_eq!(names, ["a/", "a/b/", "a/b/inside", "a/b/soft"], "{path}");
        let shown = scratch.printed(&["ls", "-l", "%out.h5", "/a"]);
        assert!(shown.contains("[null -> /a/b/inside -> /a]"), "{shown}");
    }
    let (code, _, err) = scratch.run(&["repack", "%in.h5", "%none.h5", "--select", "/none"]);
    assert!(code == 1 && err.contains("no object named"), "{err}");
}

#[test]
fn references_to_deleted_objects_become_null() {
    let scratch = Scratch::new("repack-dangling");
    scratch.make("in.h5", |root| {
        let gone = dataset(root, "gone", &[3], None, &[1_i32, 2, 3]);
        root.put_attribute(&Attribute {
            name: "reference".to_owned(),
            datatype: Datatype::Reference(Reference { size: 8, kind: ReferenceKind::Object1 }),
            dataspace: Dataspace::Scalar,
            data: root.file().object_reference(&gone).unwrap(),
        })
        .unwrap();
        root.remove("gone").unwrap();
    });
    scratch.printed(&["repack", "%in.h5", "%out.h5"]);
    let out = File::open(scratch.path("out.h5")).unwrap();
    assert_eq!(out.root().attribute("reference").unwrap().data, [0; 8]);
}

#[test]
fn the_user_block_and_the_creation_order_are_kept() {
    let scratch = Scratch::new("repack-root");
    let file = File::options()
        .user_block(1024)
        .track_order(true)
        .create(true)
        .truncate(true)
        .open(scratch.path("in.h5"))
        .unwrap();
    for name in ["z", "a", "m"] {
        file.root().create_group(name).unwrap();
    }
    file.close().unwrap();
    let mut image = std::fs::read(scratch.path("in.h5")).unwrap();
    image[..1024].iter_mut().zip(0_u8..=255).for_each(|(byte, value)| *byte = value);
    std::fs::write(scratch.path("in.h5"), &image).unwrap();
    scratch.printed(&["repack", "%in.h5", "%out.h5"]);
    assert_eq!(std::fs::read(scratch.path("out.h5")).unwrap()[..1024], image[..1024]);
    let names = File::open(scratch.path("out.h5")).unwrap().root().names().unwrap();
    assert_eq!(names, ["z", "a", "m"]);
}

#[test]
fn the_new_file_appears_when_complete_and_replaces_another_only_with_overwrite() {
    let scratch = Scratch::new("repack-whole");
    file_of_datasets(&scratch);
    scratch.printed(&["repack", "%in.h5", "%packed.h5", "--filter", "gzip"]);
    scratch.write_damaged("there.h5", b"mine");
    let (code, _, err) = scratch.run(&["repack", "%packed.h5", "%there.h5"]);
    assert!(code == 1 && err.contains("there.h5"), "{err}");
    // A chunk that cannot be decoded.
    let row = File::open(scratch.path("packed.h5")).unwrap().dataset("row").unwrap();
    let record = row.chunk_at(&[3]).unwrap().unwrap();
    drop(row);
    let mut image = std::fs::read(scratch.path("packed.h5")).unwrap();
    let at = usize::try_from(record.extent.addr.get()).unwrap();
    image[at..at + 8].fill(0xff);
    scratch.write_damaged("packed.h5", &image);
    for to in ["%there.h5", "%new.h5"] {
        let (code, out, err) = scratch.run(&["repack", "%packed.h5", to, "--overwrite", "--filter", "zstd"]);
        assert!(code == 1 && out.is_empty() && err.contains("/row"), "{err}");
    }
    assert_eq!(scratch.names(), ["in.h5", "packed.h5", "there.h5"]);
    assert_eq!(std::fs::read(scratch.path("there.h5")).unwrap(), b"mine");
    scratch.printed(&["repack", "%in.h5", "%in.h5", "--overwrite", "--filter", "gzip"]);
    assert_eq!(
        scratch.printed(&["check", "--data", "%in.h5"]).lines().next_back().map(str::is_empty),
        Some(false)
    );
}

#[test]
fn invalid_options_are_refused() {
    let scratch = Scratch::new("repack-usage");
    for args in [
        &["--filter", "zip"][..],
        &["--filter", "gzip:x"],
        &["--filter", "gzip:10"],
        &["--chunks", "0x3"],
        &["--chunks", "big"],
        &["--shuffle"],
        &["--filter", "none", "--filter", "gzip"],
        &["--libver", "v1"],
    ] {
        let (code, out, err) = scratch.run(&[&["repack", "@btree1.h5", "%out.h5"], args].concat());
        assert!(code == 2 && out.is_empty() && !err.is_empty(), "{args:?}: {err}");
    }
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[test]
fn a_larger_file_is_reported_with_advice() {
    let scratch = Scratch::new("repack-larger");
    let values: Vec<f32> = (0..60_000_u16).map(|k| 1e4 + f32::from(k % 977).sin()).collect();
    scratch.make("plain.h5", |root| {
        dataset(root, "x", &[60_000], Some(&[10_000]), &values);
    });
    scratch.printed(&["repack", "%plain.h5", "%in.h5", "--filter", "gzip:9", "--shuffle"]);
    for (args, advice) in [
        (&["--filter", "zstd:-5"][..], "out.h5 is larger than "),
        (&["--filter", "zstd:-5", "--json"], "in.h5: add --shuffle\n"),
        (&["--filter", "lz4", "--shuffle"], "in.h5: try another filter\n"),
    ] {
        let (code, out, err) = scratch.run(&[&["repack", "%in.h5", "%out.h5", "--overwrite"], args].concat());
        assert!(code == 0 && err.starts_with("hyperslab: ") && err.contains(advice), "{args:?}: {out}{err}");
    }
    scratch.printed(&["repack", "%in.h5", "%out.h5", "--overwrite", "--filter", "none"]);
    scratch.printed(&["repack", "%plain.h5", "%out.h5", "--overwrite", "--filter", "zstd:-5"]);
}
