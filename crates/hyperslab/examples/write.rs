//! Creates a file, writes a dataset in parts, and lets it grow: `cargo run --example write -- climate.h5`.

use hyperslab::filter::{Shuffle, Zstd};
use hyperslab::{Durability, File, Selection};

fn main() -> hyperslab::Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| std::env::temp_dir().join("climate.h5"), Into::into);
    // The file survives a loss of power at every flush.
    let file = File::options().create(true).truncate(true).durability(Durability::Power).open(&path)?;
    let days = file
        .root()
        .new_dataset::<f32>("surface/t2m")
        .shape([0, 20, 10])
        .max_shape([None, Some(20), Some(10)])
        .chunks([1, 20, 10])
        .filter(Shuffle)
        .filter(Zstd::default().level(6))
        .fill_value(f32::NAN)
        .create()?;
    for day in 0..30_u16 {
        let values = [270.0 + f32::from(day); 200];
        let day = u64::from(day);
        days.resize([day + 1, 20, 10])?;
        days.write([day..day + 1, 0..20, 0..10], &values)?;
        if day % 10 == 9 {
            file.flush()?;
        }
    }
    file.close()?;

    let file = File::open(&path)?;
    let days = file.dataset("surface/t2m")?;
    assert_eq!(days.read::<f32>(Selection::All)?.len(), 30 * 200);
    println!("{}: {} bytes of {} stored", path.display(), days.storage_bytes()?, days.len_bytes());
    Ok(())
}
