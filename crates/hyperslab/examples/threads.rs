//! One file, many threads: `cargo run --example threads`.

use std::num::NonZeroUsize;
use std::thread;

use hyperslab::{Destination, File, ReadOptions};

fn main() -> hyperslab::Result<()> {
    let file = File::in_memory()?;
    let dataset = file.root().new_dataset::<u32>("d").shape([64, 1000]).chunks([8, 1000]).create()?;

    // Whole chunks are written side by side.
    thread::scope(|scope| {
        let write = |at: u32| {
            let rows = u64::from(at)..u64::from(at) + 8;
            dataset.write([rows, 0..1000], &vec![at; 8000])
        };
        let threads: Vec<_> = (0..64).step_by(8).map(|at| scope.spawn(move || write(at))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("the thread panicked"))
    })?;

    // A read uses as many threads as the process may; this one uses two.
    let mut values = vec![0_u32; 64 * 1000];
    let mut destination = Destination::contiguous(bytemuck::cast_slice_mut(&mut values));
    let options = ReadOptions::default().threads(NonZeroUsize::new(2));
    dataset.read_with(.., &mut destination, &options)?;
    assert!(
        values.chunks(8000).zip((0..64).step_by(8)).all(|(rows, at)| rows.iter().all(|&value| value == at))
    );

    // Small reads from many threads.
    let sums: Vec<u32> = thread::scope(|scope| {
        let read = |row: u64| dataset.read::<u32>([row..row + 1, 0..10]).map(|row| row.iter().sum());
        let threads: Vec<_> = (0..4).map(|row| scope.spawn(move || read(row * 16))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("the thread panicked"))
            .collect::<hyperslab::Result<_>>()
    })?;
    println!("{sums:?}");
    Ok(())
}
