//! Indices select what NumPy selects, and a single index drops its axis. The model is `ndarray`'s slicing.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use hyperslab::{Axis, Dataset, Destination, Error, File, Indices, ReadOptions, RequestError, Result, s};

/// A dataset of this shape, whose elements count from 0.
fn counted(file: &File, shape: &[u64]) -> Dataset {
    let values: Vec<i32> = (0..).take(usize::try_from(shape.iter().product::<u64>()).unwrap()).collect();
    file.root().new_dataset::<i32>("counted").shape(shape).create_with(&values).unwrap()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T>) -> RequestError {
    match result.unwrap_err().root() {
        Error::Request(error) => error.clone(),
        error => panic!("{error}"),
    }
}

#[test]
fn every_kind_of_index_selects_what_numpy_selects() {
    let file = File::in_memory().unwrap();
    let dataset = counted(&file, &[3, 4, 5]);
    let read = |what: Indices| dataset.read::<i32>(what).unwrap();
    let (last, row, length) = (-1_i64, 2_u8, 4_usize);
    assert_eq!(read(s![last, row, length]), [54]);
    assert_eq!(read(s![0, -1, ..;2]), [15, 17, 19]);
    assert_eq!(read(s![0, 0, -4..-1;2_u64]), [1, 3]);
    assert_eq!(read(s![0, ..=-4, 3..]), [3, 4], "up to and with the first index");
    assert_eq!(read(s![0, 0, 1..=-1]), [1, 2, 3, 4], "up to and with the last index");
    assert_eq!(read(s![0, 0, -99..99]), [0, 1, 2, 3, 4], "bounds are clamped");
    assert_eq!(read(s![0, 0, 3..1]), []);
    assert_eq!(read(s![0, 0, [4, 0, -1]]), [4, 0, 4]);
    assert_eq!(read(s![0, Axis::from_indices([3, 1]), 0,]), [15, 5]);
    assert_eq!(read(s![..., 0]), read(s![.., .., 0]));
    assert_eq!(read(s![1, ..., -1]), read(s![1, .., 4]));
    assert_eq!(read(s![1, ...]), read(s![1]));
    assert_eq!(read(s![0, 0, ..., 0]), [0], "`...` may stand for no axes");
    assert_eq!(read(s![]).len(), 60);
}

#[test]
fn a_single_index_drops_its_axis() {
    let file = File::in_memory().unwrap();
    let dataset = counted(&file, &[2, 3, 4]);
    assert_eq!(dataset.plan(s![0, .., -1]).unwrap().shape, [3]);
    assert_eq!(dataset.plan(s![0..1, .., 1]).unwrap().shape, [1, 3], "a range keeps its axis");

    let mut bytes = [0_u8; 5 * 4];
    let options = ReadOptions::default();
    let mut every_second = Destination::strided(&mut bytes, &[3], &[8], 4).unwrap();
    dataset.read_with(s![1, .., 3], &mut every_second, &options).unwrap();
    let error = refused(dataset.read_with(s![1, .., ..2], &mut every_second, &options));
    assert!(matches!(error, RequestError::DestinationSize { .. }), "{error}");
    assert_eq!(bytemuck::cast::<_, [i32; 5]>(bytes), [15, 0, 19, 0, 23]);

    let mut scalar = [0; 4];
    let mut scalar = Destination::strided(&mut scalar, &[], &[], 4).unwrap();
    dataset.read_with(s![1, 1, 1], &mut scalar, &options).unwrap();
    let error = refused(dataset.read_with(s![.., 1, 1], &mut scalar, &options));
    assert!(matches!(error, RequestError::DestinationSize { .. }), "{error}");
}

#[test]
fn indices_that_do_not_fit_the_dataset_are_refused() {
    let file = File::in_memory().unwrap();
    let dataset = counted(&file, &[3, 4]);
    let error = |what: Indices| refused(dataset.read::<i32>(what));
    assert_eq!(error(s![0, -5]), RequestError::OutOfBounds { axis: 1, index: -5, len: 4 });
    assert_eq!(error(s![u64::MAX]), RequestError::OutOfBounds { axis: 0, index: u64::MAX.into(), len: 3 });
    assert_eq!(error(s![.., [0, 4]]), RequestError::OutOfBounds { axis: 1, index: 4, len: 4 });
    assert_eq!(error(s![..;0]), RequestError::Step { axis: 0, step: 0 });
    assert_eq!(error(s![.., ..;-2]), RequestError::Step { axis: 1, step: -2 });
    assert_eq!(error(s![0, ..., 0, 0]), RequestError::Rank { given: 3, rank: 2 });
    let given = Axis::from_indices([0, 9]);
    assert_eq!(error(s![given]), RequestError::OutOfBounds { axis: 0, index: 9, len: 3 });
}

#[cfg(feature = "ndarray")]
mod model {
    use hyperslab::{AxisIndex, File, Indices, s};
    use hyperslab_testkit::sound::assert_accounted;
    use ndarray::{ArrayD, Axis, Ix0, Ix1, SliceInfoElem, array};
    use proptest::prelude::*;

    /// The index of an axis, in both notations. A list has none in `ndarray`.
    #[derive(Debug, Clone)]
    enum Along {
        Both(AxisIndex, SliceInfoElem),
        List(Vec<usize>),
    }

    const WHOLE: SliceInfoElem = SliceInfoElem::Slice { start: 0, end: None, step: 1 };

    fn along(len: usize) -> impl Strategy<Value = Along> {
        let most = isize::try_from(len).unwrap();
        let bound = -most..=most;
        let slice = (bound.clone(), proptest::option::of(bound), 1..4_isize);
        let slice = slice.prop_map(|(start, end, step)| {
            let index = match end {
                Some(end) => AxisIndex::stepped(start..end, step),
                None => AxisIndex::stepped(start.., step),
            };
            Along::Both(index, SliceInfoElem::Slice { start, end, step })
        });
        if len == 0 {
            return slice.boxed();
        }
        let index = (-most..most).prop_map(|index| Along::Both(index.into(), SliceInfoElem::Index(index)));
        let list = proptest::collection::vec(0..len, 0..4).prop_map(Along::List);
        prop_oneof![3 => slice, 3 => index, 1 => list].boxed()
    }

    /// A shape, the index of each axis, and the axes for which `...` stands.
    fn cases() -> impl Strategy<Value = (Vec<usize>, Vec<Along>, std::ops::Range<usize>)> {
        proptest::collection::vec(0..7_usize, 1..5).prop_flat_map(|shape| {
            let indices: Vec<_> = shape.iter().map(|&len| along(len)).collect();
            let ends = 0..=shape.len();
            (Just(shape), indices, ends.clone(), ends).prop_map(|(shape, indices, a, b)| {
                // Twice the same place is a `...` for no axes.
                (shape, indices, a.min(b)..a.max(b))
            })
        })
    }

    proptest! {
        #[test]
        fn arrays_are_those_that_slicing_in_memory_makes((shape, mut axes, all) in cases()) {
            axes[all.clone()].fill(Along::Both((..).into(), WHOLE));
            let count: usize = shape.iter().product();
            let values: Vec<i32> = (0..).take(count).collect();
            let mut array = ArrayD::from_shape_vec(shape.clone(), values.clone()).unwrap();
            let file = File::in_memory().unwrap();
            let lens = shape.iter().map(|&len| len as u64).collect::<Vec<_>>();
            let dataset = file.root().new_dataset::<i32>("d").shape(lens).chunks(vec![2; shape.len()]);
            // Without limits, the chunks may be longer than the axes.
            let dataset = dataset.max_shape(vec![None; shape.len()]).create_with(&values).unwrap();

            let index = |axis: &Along| match axis {
                Along::Both(index, _) => index.clone(),
                Along::List(list) => hyperslab::Axis::from_indices(
                    list.iter().map(|&index| index as u64).collect::<Vec<_>>()
                ).into(),
            };
            let leading = axes[..all.start].iter().map(index).collect();
            let indices = Indices::new(leading, axes[all.end..].iter().map(index).collect());

            let has_lists = axes.iter().any(|axis| matches!(axis, Along::List(_)));
            let mut expected = array.clone();
            let mut slices = Vec::new();
            for (number, axis) in axes.iter().enumerate() {
                match axis {
                    Along::Both(_, slice) => slices.push(*slice),
                    Along::List(list) => {
                        expected = expected.select(Axis(number), list);
                        slices.push(WHOLE);
                    }
                }
            }
            let expected = expected.slice(&slices[..]).to_owned();
            prop_assert_eq!(&dataset.read_array::<i32, ndarray::IxDyn>(&indices).unwrap(), &expected);
            let mut columns = ArrayD::<i64>::zeros(expected.t().raw_dim());
            dataset.read_array_into(&indices, columns.view_mut().reversed_axes()).unwrap();
            prop_assert_eq!(columns.t(), expected.mapv(i64::from));

            if !has_lists {
                let negative = expected.mapv(|value| -1 - value);
                dataset.write_array(&indices, &negative).unwrap();
                array.slice_mut(&slices[..]).assign(&negative);
                prop_assert_eq!(dataset.read_array::<i32, ndarray::IxDyn>(..).unwrap(), array);
                assert_accounted(&file, 0);
            }
        }
    }

    #[test]
    fn the_number_of_dimensions_is_known_to_the_caller() {
        let file = File::in_memory().unwrap();
        let dataset =
            file.root().new_dataset::<i32>("d").shape([2, 3]).create_with(&[1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(dataset.read_array::<i32, Ix1>(s![-1, ..]).unwrap(), array![4, 5, 6]);
        assert_eq!(dataset.read_array::<i32, Ix0>(s![0, 1]).unwrap().into_scalar(), 2);
        dataset.write_array(s![.., 1], &array![-2, -5]).unwrap();
        assert_eq!(dataset.read::<i32>(..).unwrap(), [1, -2, 3, 4, -5, 6]);
        assert!(dataset.read_array::<i32, Ix1>(s![-1.., ..]).is_err(), "a range keeps its axis");
        assert!(dataset.write_array(s![.., 1], &array![[7], [8]]).is_err());
        assert_accounted(&file, 0);
    }
}
