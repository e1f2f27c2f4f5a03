//! Arrays of the crate `ndarray`: `cargo run --features ndarray --example arrays`.

use hyperslab::File;
use ndarray::{Array1, Array2, Array3, ShapeBuilder, s};

fn main() -> hyperslab::Result<()> {
    let file = File::in_memory()?;
    let cube = Array3::from_shape_vec((4, 5, 6), (0..120_u8).map(f32::from).collect()).expect("120 elements");
    let dataset = file.root().new_dataset::<f32>("cube").shape([4, 5, 6]).chunks([1, 5, 6]).create()?;
    // A view of any layout can be written.
    dataset.write_array(.., &cube)?;
    dataset.write_array([3..4, 0..5, 0..6], &cube.slice(s![..1, .., ..]))?;

    // A new array, whose number of dimensions its type says. hyperslab has an `s!` of its own.
    let row: Array1<f64> = dataset.read_array(hyperslab::s![2, -1, ..])?;
    println!("{row}");

    // The caller's own array: here with the first axis fastest, as Fortran and MATLAB have it.
    let mut columns = Array3::<f32>::zeros((4, 5, 6).f());
    dataset.read_array_into(.., columns.view_mut())?;
    assert_eq!(columns.slice(s![..3, .., ..]), cube.slice(s![..3, .., ..]));
    let plane: Array2<f32> = columns.slice(s![3, .., ..]).to_owned();
    println!("{plane}");
    Ok(())
}
