#![allow(clippy::all, clippy::pedantic, clippy::unwrap_used, missing_docs)]
use hyperslab::driver::Memory;
use hyperslab::select::{Dim, Slab};
use hyperslab::types::Element;
use hyperslab::{CreateOptions, DatasetOptions, File, NewStorage, Selection};
use hyperslab_format::message::dataspace::Dataspace;
use hyperslab_format::message::filters::FilterSpec;
use std::sync::Arc;

fn dataset(
    shape: &[u64],
    max: Option<Vec<Option<u64>>>,
    storage: NewStorage,
    gzip: bool,
) -> (File, hyperslab::Dataset) {
    let driver = Arc::new(Memory::default());
    let file = File::create_on(driver, None, &CreateOptions::default()).unwrap();
    let mut options =
        DatasetOptions::new(Dataspace::Simple { shape: shape.to_vec(), max_shape: max }, i64::datatype());
    options.storage = storage;
    if gzip {
        options.filters = vec![FilterSpec { id: 1, name: None, flags: 0, client_data: vec![1] }];
    }
    let d = file.root().create_dataset("d", &options).unwrap();
    (file, d)
}
fn slab(dims: &[(u64, u64, u64)]) -> Selection {
    Selection::Slab(Slab(dims.iter().map(|&(start, step, count)| Dim { start, step, count }).collect()))
}
fn main() {
    let mut args = std::env::args().skip(1);
    let mode = args.next().unwrap();
    let n: u64 = args.next().unwrap().parse().unwrap();
    match mode.as_str() {
        "append" => {
            let (f, d) = dataset(&[0], Some(vec![None]), NewStorage::Chunked(vec![4096]), false);
            for i in 0..n {
                d.resize(&[i + 1]).unwrap();
                d.write([i..i + 1], &[i as i64]).unwrap();
            }
            f.close().unwrap();
        }
        "held" => {
            let (_f, d) = dataset(&[4096 * 4], None, NewStorage::Chunked(vec![4096]), false);
            for i in 0..n {
                let at = i % 4096;
                d.write([at..at + 1], &[i as i64]).unwrap();
            }
        }
        "contig" => {
            let (_f, d) = dataset(&[4096], None, NewStorage::Contiguous, false);
            for i in 0..n {
                let at = i % 4096;
                d.write([at..at + 1], &[i as i64]).unwrap();
            }
        }
        "strided" => {
            let (_f, d) = dataset(&[1 << 16], None, NewStorage::Contiguous, false);
            let v = vec![3i64; 1 << 14];
            for _ in 0..n {
                d.write(slab(&[(0, 4, 1 << 14)]), &v).unwrap();
            }
        }
        "wholechunk" => {
            let (_f, d) = dataset(&[4096 * 64], None, NewStorage::Chunked(vec![64]), false);
            let v = vec![3i64; 64];
            for i in 0..n {
                let at = i % 4096 * 64;
                d.write([at..at + 64], &v).unwrap();
            }
        }
        "smallgzip" | "smallraw" => {
            let (_f, d) = dataset(&[64 * 1024], None, NewStorage::Chunked(vec![64]), mode == "smallgzip");
            let v: Vec<i64> = (0..64 * 1024).collect();
            for _ in 0..n {
                d.write_with(
                    &Selection::All,
                    i64::bytes(&v),
                    &hyperslab::engine::WriteOptions {
                        threads: std::num::NonZeroUsize::new(1),
                        ..Default::default()
                    },
                )
                .unwrap();
            }
        }
        "boxes" => {
            let (_f, d) = dataset(&[64, 64, 64], None, NewStorage::Chunked(vec![16, 16, 16]), true);
            let v = vec![3i64; 20 * 20 * 20];
            for i in 0..n {
                let at = i % 40;
                d.write([at..at + 20, at..at + 20, at..at + 20], &v).unwrap();
            }
        }
        _ => panic!(),
    }
}
