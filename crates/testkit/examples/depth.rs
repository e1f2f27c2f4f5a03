//! Reads 1,000 chunks from a medium that takes 2 ms for each request. For each line on standard input, the
//! number of requests that the medium serves at once, it prints the seconds that the read took. The benchmark
//! `depth` runs it.

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use hyperslab::File;
use hyperslab_testkit::build;
use hyperslab_testkit::deep::Deep;

const CHUNKS: u32 = 1000;
const CHUNK_BYTES: u16 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let values: Vec<u8> =
        (0..CHUNKS * u32::from(CHUNK_BYTES)).map(|n| (n ^ n >> 8).to_le_bytes()[0]).collect();
    let image = build::chunked(&values, u64::from(CHUNK_BYTES));
    for line in io::stdin().lines() {
        let at_once = line?.trim().parse()?;
        let file = File::options().open_on(Arc::new(Deep::new(image.clone()).serving(at_once)))?;
        let dataset = file.dataset("values")?;
        // Finds the chunks.
        dataset.plan(..)?;
        let start = Instant::now();
        let read: Vec<u8> = dataset.read(..)?;
        let seconds = start.elapsed().as_secs_f64();
        if read != values {
            return Err("the elements read are not those written".into());
        }
        println!("{seconds}");
        io::stdout().flush()?;
    }
    Ok(())
}
