//! Changed chunks, of which others ask without a lock whether there are any.

use hyperslab_format::Addr;
use hyperslab_select::Coord;
use loom::sync::Arc;
use loom::thread;

use crate::engine::chunks::dirty::DirtyChunks;
use crate::explore;

/// Changes a chunk of a dataset, finds it, and gives it up.
fn change(chunks: &DirtyChunks, dataset: u64, bytes: usize) {
    let (dataset, at) = (Addr::new(dataset), Coord::from_slice(&[0]));
    chunks.get_or_load(dataset, &at, || Ok(vec![0; bytes])).unwrap();
    assert_eq!(chunks.get(dataset, &at).expect("the chunk is held").read().len(), bytes);
    chunks.forget(dataset, &at);
    assert!(chunks.get(dataset, &at).is_none(), "the chunk is not held any more");
}

#[test]
fn a_thread_finds_its_chunk_whatever_others_change() {
    explore(5, || {
        let chunks = Arc::new(DirtyChunks::default());
        let other = {
            let chunks = Arc::clone(&chunks);
            thread::spawn(move || change(&chunks, 1, 8))
        };
        change(&chunks, 2, 4);
        other.join().unwrap();
        assert_eq!(chunks.bytes(), 0, "nothing is counted that is not held");
    });
}
