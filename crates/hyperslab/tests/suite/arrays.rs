//! Arrays of the crate `ndarray` are read and written with any layout (feature `ndarray`).

#![cfg(feature = "ndarray")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use hyperslab::{Dataset, Error, File, RequestError, Result};
use hyperslab_testkit::sound::assert_accounted;
use ndarray::{Array1, Array2, Array3, ArrayView2, ShapeBuilder, array, s};

fn grid(file: &File) -> Dataset {
    let values: Vec<i32> = (0..24).collect();
    file.root().new_dataset::<i32>("grid").shape([4, 6]).chunks([3, 4]).create_with(&values).unwrap()
}

fn expected() -> Array2<i32> {
    Array1::from_iter(0..24).into_shape_with_order((4, 6)).unwrap()
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(result: Result<T>) {
    let error = result.unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::Argument { .. })), "{error}");
}

#[test]
fn an_array_of_any_layout_receives_the_elements() {
    let file = File::in_memory().unwrap();
    let grid = grid(&file);
    let mut rows = Array2::<i64>::zeros((4, 6));
    grid.read_array_into(.., rows.view_mut()).unwrap();
    assert_eq!(rows, expected().mapv(i64::from));

    let mut columns = Array2::<i32>::zeros((4, 6).f());
    grid.read_array_into(.., columns.view_mut()).unwrap();
    assert_eq!(columns, expected());

    let mut reversed = Array2::<i32>::zeros((4, 6));
    grid.read_array_into(.., reversed.slice_mut(s![..;-1, ..;-1])).unwrap();
    assert_eq!(reversed.slice(s![..;-1, ..;-1]), expected());

    let mut wide = Array2::<i64>::from_elem((8, 18), -1);
    grid.read_array_into(.., wide.slice_mut(s![..;2, 1..;3])).unwrap();
    assert_eq!(wide.slice(s![..;2, 1..;3]), expected().mapv(i64::from));
    assert_eq!(wide.iter().filter(|&&value| value == -1).count(), 8 * 18 - 24);

    let mut nothing = Array2::<i32>::zeros((0, 6));
    grid.read_array_into([2..2, 0..6], nothing.view_mut()).unwrap();
}

#[test]
fn an_array_of_any_layout_is_written() {
    let file = File::in_memory().unwrap();
    let grid = grid(&file);
    let source = Array1::range(0.0, 24.0, 1.0).into_shape_with_order((6, 4)).unwrap();
    let layouts: [ArrayView2<'_, f64>; 3] = [
        source.t(),
        source.slice(s![..;-1, ..]).reversed_axes(),
        source.slice(s![.., ..;-1]).reversed_axes(),
    ];
    for layout in layouts {
        grid.write_array(.., &layout).unwrap();
        assert_eq!(grid.read_array::<f64, _>(..).unwrap(), layout);
    }
    grid.write_array([1..3, 2..4], &array![[-1, -2], [-3, -4]]).unwrap();
    assert_eq!(grid.read_array::<i32, _>([1..3, 2..4]).unwrap(), array![[-1, -2], [-3, -4]]);
    assert_accounted(&file, 0);
}

#[test]
fn an_array_of_another_shape_is_refused_and_nothing_is_written() {
    let file = File::in_memory().unwrap();
    let grid = grid(&file);
    assert_refused(grid.write_array(.., &Array2::<i32>::zeros((6, 4))));
    assert_refused(grid.write_array(.., &Array1::<i32>::zeros(24)));
    assert_refused(grid.write_array(.., &Array3::<i32>::zeros((1, 4, 6))));
    assert_refused(grid.read_array_into(.., Array2::<i32>::zeros((6, 4)).view_mut()));
    assert_refused(grid.read_array::<i32, ndarray::Ix1>(..));
    assert_eq!(grid.read_array::<i32, _>(..).unwrap(), expected());
}
