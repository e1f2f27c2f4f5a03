//! The dataspace that a plug-in is given (H5S): that of a chunk.

use std::ffi::c_int;

use super::state::{self, DATASPACE};

/// `H5S_SIMPLE`.
const SIMPLE: c_int = 1;

/// Returns the shape of a chunk.
fn shape(space: i64) -> Option<Vec<u64>> {
    (space & 0xffff_ffff == DATASPACE).then(|| state::creation(|creation| creation.chunk.clone())).flatten()
}

/// `H5Sis_simple`.
pub(super) extern "C" fn is_simple(space: i64) -> c_int {
    shape(space).map_or(-1, |_| 1)
}

/// `H5Sget_simple_extent_type`.
pub(super) extern "C" fn class(space: i64) -> c_int {
    shape(space).map_or(-1, |_| SIMPLE)
}

/// `H5Sget_simple_extent_ndims`.
pub(super) extern "C" fn rank(space: i64) -> c_int {
    shape(space).and_then(|shape| c_int::try_from(shape.len()).ok()).unwrap_or(-1)
}

/// `H5Sget_simple_extent_npoints`.
pub(super) extern "C" fn elements(space: i64) -> i64 {
    let product = |shape: Vec<u64>| shape.iter().try_fold(1_u64, |all, &side| all.checked_mul(side));
    shape(space).and_then(product).and_then(|all| i64::try_from(all).ok()).unwrap_or(-1)
}

/// `H5Sget_simple_extent_dims`.
pub(super) extern "C" fn dims(space: i64, dims: *mut u64, max_dims: *mut u64) -> c_int {
    let Some(shape) = shape(space) else { return -1 };
    for place in [dims, max_dims] {
        if !place.is_null() {
            // SAFETY: each place is null or has room for the rank, by the rules of the function.
            unsafe { std::slice::from_raw_parts_mut(place, shape.len()) }.copy_from_slice(&shape);
        }
    }
    c_int::try_from(shape.len()).unwrap_or(-1)
}
