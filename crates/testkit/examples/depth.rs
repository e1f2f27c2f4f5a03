//! Reads 1,000 chunks from a medium that takes 2 ms for each request. For each line on standard input, it
//! prints the seconds that the read took. A line has the number of requests that the medium serves at once,
//! and the number of threads that read: one reads all chunks by one call, several read them one by one. The
//! benchmark `depth` runs it.

use std::error::Error;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use hyperslab::{Dataset, Destination, File, ReadOptions, Result, Selection};
use hyperslab_testkit::build;
use hyperslab_testkit::deep::Deep;

const CHUNKS: u32 = 1000;
const CHUNK_BYTES: u16 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let values: Vec<u8> =
        (0..CHUNKS * u32::from(CHUNK_BYTES)).map(|n| (n ^ n >> 8).to_le_bytes()[0]).collect();
    let image = build::chunked(&values, u64::from(CHUNK_BYTES));
    for line in io::stdin().lines() {
        let line = line?;
        let (at_once, threads) = line.split_once(' ').ok_or("a line has two numbers")?;
        let (at_once, threads) = (at_once.parse()?, threads.parse()?);
        let file = File::options().open_on(Arc::new(Deep::new(image.clone()).serving(at_once)))?;
        let dataset = file.dataset("values")?;
        // Finds the chunks.
        dataset.plan(..)?;
        let start = Instant::now();
        let read = if threads == 1 { dataset.read(..)? } else { read_one_by_one(&dataset, threads)? };
        let seconds = start.elapsed().as_secs_f64();
        if read != values {
            return Err("the elements read are not those written".into());
        }
        println!("{seconds}");
        io::stdout().flush()?;
    }
    Ok(())
}

/// Returns the elements, of which each thread reads an equal part, one chunk in a call.
fn read_one_by_one(dataset: &Dataset, threads: usize) -> Result<Vec<u8>> {
    let chunk = usize::from(CHUNK_BYTES);
    let mut values = vec![0; CHUNKS as usize * chunk];
    let part = (CHUNKS as usize).div_ceil(threads) * chunk;
    let options = ReadOptions::default().threads(NonZeroUsize::new(1));
    std::thread::scope(|scope| {
        let parts = values.chunks_mut(part).zip((0..).step_by(part));
        let readers: Vec<_> = parts
            .map(|(part, start)| {
                let options = &options;
                scope.spawn(move || -> Result<()> {
                    for (elements, first) in part.chunks_mut(chunk).zip((start..).step_by(chunk)) {
                        let selection = Selection::from(first..first + chunk as u64);
                        dataset.read_with(&selection, &mut Destination::contiguous(elements), options)?;
                    }
                    Ok(())
                })
            })
            .collect();
        readers.into_iter().try_for_each(|reader| reader.join().expect("a reader does not panic"))
    })?;
    Ok(values)
}
