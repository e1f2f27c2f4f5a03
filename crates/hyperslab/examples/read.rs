//! Reads parts of a dataset: `cargo run --example read`.

use hyperslab::{File, Selection, s};

fn main() -> hyperslab::Result<()> {
    let file = sample()?;
    let temperature = file.dataset("surface/t2m")?;
    println!("{:?} of {:?}", temperature.shape(), temperature.datatype());

    // All elements, in row-major order. They are stored as f32, and converted while they are decoded.
    let all: Vec<f64> = temperature.read(Selection::All)?;
    println!("warmest {:.2}", all.iter().copied().fold(f64::MIN, f64::max));

    // A box: the first day, rows 10 to 12, columns 0 to 4.
    let part: Vec<f32> = temperature.read([0..1, 10..12, 0..4])?;
    println!("{part:?}");

    // Every tenth day of one place, and the last row of the first day.
    println!("{:?}", temperature.read::<f32>(s![..;10, 5, 7])?);
    println!("{:?}", temperature.read::<f32>(s![0, -1, ..])?);

    // Single elements, in the order given.
    let places = hyperslab::Points::new(3, vec![29, 0, 0, 0, 19, 9])?;
    println!("{:?}", temperature.read::<f32>(places)?);
    Ok(())
}

/// Returns a file in memory with 30 days of temperatures.
fn sample() -> hyperslab::Result<File> {
    let file = File::in_memory()?;
    let values: Vec<f32> = (0..30 * 20 * 10_u16).map(|i| 270.0 + f32::from(i % 97) / 10.0).collect();
    let dataset = file.root().new_dataset::<f32>("surface/t2m").shape([30, 20, 10]).chunks([1, 20, 10]);
    dataset.create_with(&values)?;
    Ok(file)
}
