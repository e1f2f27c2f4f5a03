//! Reads a dataset whole, a few times, and prints how fast: `read FILE /path [times] [threads]`.

use std::num::NonZeroUsize;
use std::time::Instant;

use hyperslab::{Destination, ReadOptions};
use hyperslab::{File, Selection};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, name, rest @ ..] = arguments.as_slice() else {
        return Err("usage: read FILE /path [times] [threads]".into());
    };
    let times: u32 = rest.first().map_or(Ok(5), |text| text.parse())?;
    let threads: Option<NonZeroUsize> = rest.get(1).map(|text| text.parse()).transpose()?;
    let dataset = File::open(path)?.dataset(name)?;
    let mut bytes = vec![1; usize::try_from(dataset.len_bytes())?];
    for _ in 0..times {
        let begin = Instant::now();
        let options = ReadOptions { threads, ..ReadOptions::default() };
        dataset.read_with(&Selection::All, &mut Destination::contiguous(&mut bytes), &options)?;
        let elapsed = begin.elapsed();
        println!("{elapsed:.2?}, {} MB/s", bytes.len() as u128 / elapsed.as_micros().max(1));
    }
    Ok(())
}
