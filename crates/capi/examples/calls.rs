//! Reads boxes of a dataset, a call each, by the functions of the crate `hyperslab`. For each line
//! "PATH DATASET SIDE CALLS" of its input it prints the nanoseconds of the calls and the sum of all elements.
//! `bench/capi/calls.c` does the same in C; `make bench BENCH=capi` compares them.

use std::error::Error;
use std::io::{self, BufRead};
use std::time::Instant;

/// Returns the next coordinate from 200 on, so that a box of up to 20 is inside one chunk of 100.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    200 + (*state >> 33) % 80
}

fn main() -> Result<(), Box<dyn Error>> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [path, name, side, calls] = words[..] else { return Err("PATH DATASET SIDE CALLS".into()) };
        let (side, calls): (u64, u64) = (side.parse()?, calls.parse()?);
        let file = hyperslab::File::open(path)?;
        let dataset = file.dataset(name)?;
        let mut bytes = vec![0; 8 * usize::try_from(side * side)?];
        let (mut state, mut sum) = (5, 0.0);
        let began = Instant::now();
        for _ in 0..calls {
            let (i, j) = (next(&mut state), next(&mut state));
            dataset.read_into([i..i + side, j..j + side], &mut bytes)?;
            sum += bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).sum::<f64>();
        }
        println!("{} {sum:.1}", began.elapsed().as_nanos());
        file.close()?;
    }
    Ok(())
}
