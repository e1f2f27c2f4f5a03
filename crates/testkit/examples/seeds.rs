//! Writes the seeds of the fuzz targets for libFuzzer:
//! `cargo run -p hyperslab-testkit --example seeds -- fuzz/corpus`.

use std::path::PathBuf;

use hyperslab_testkit::fuzz::{self, Random};

fn main() -> std::io::Result<()> {
    let corpus = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("fuzz/corpus"), PathBuf::from);
    for target in [fuzz::DECODE, fuzz::OPEN, fuzz::FILTERS, fuzz::SELECT] {
        let folder = corpus.join(target.name);
        std::fs::create_dir_all(&folder)?;
        let seeds = (target.seeds)();
        for seed in &seeds {
            std::fs::write(folder.join(format!("{:016x}", Random::of(seed).u64())), seed)?;
        }
        println!("{}: {} seeds", folder.display(), seeds.len());
    }
    Ok(())
}
