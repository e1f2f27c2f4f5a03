//! The functions and variables of libhdf5 that plug-ins use, for the chunks of hyperslab. A plug-in finds
//! them by their addresses (`image`); no other library does, since their names are not exported.
//!
//! Property lists, datatypes and dataspaces are those of the dataset that is being created on this thread
//! (`state`). A function of libhdf5 that is not here fails, and its caller says so.

mod errors;
mod library;
mod lookup;
mod properties;
mod spaces;
pub(super) mod state;
mod types;

use std::ffi::CStr;

use super::memory;

/// The name by which a plug-in's `dlopen` knows these functions.
pub(super) const SELF: &CStr = c"hyperslab's libhdf5";

/// Makes a function that returns the addresses of functions by their names.
macro_rules! addresses {
    ($($name:literal => $function:expr,)*) => {
        fn function(name: &str) -> Option<u64> {
            match name {
                $($name => Some($function as *const () as u64),)*
                _ => None,
            }
        }
    };
}

addresses! {
    "malloc" => memory::allocate,
    "calloc" => memory::allocate_zeros,
    "realloc" => memory::resize,
    "free" => memory::free,
    "dlopen" => lookup::open,
    "dlsym" => lookup::symbol,
    "dlclose" => lookup::close,
    "H5open" => library::succeed,
    "H5close" => library::succeed,
    "H5garbage_collect" => library::succeed,
    "H5check_version" => library::succeed,
    "H5get_libversion" => library::version,
    "H5is_library_threadsafe" => library::is_threadsafe,
    "H5allocate_memory" => library::allocate,
    "H5resize_memory" => memory::resize,
    "H5free_memory" => library::free,
    "H5Zregister" => library::succeed,
    "H5Zunregister" => library::succeed,
    "H5Zfilter_avail" => library::is_filter_available,
    "H5Zget_filter_info" => library::filter_info,
    "H5Epush1" => errors::push_old,
    "H5Epush2" => errors::push,
    "H5Eprint1" => library::succeed,
    "H5Eprint2" => library::succeed,
    "H5Eclear1" => library::succeed,
    "H5Eclear2" => library::succeed,
    "H5Eget_auto1" => errors::automatic_old,
    "H5Eget_auto2" => errors::automatic,
    "H5Eset_auto1" => library::succeed,
    "H5Eset_auto2" => library::succeed,
    "H5Eregister_class" => errors::register,
    "H5Ecreate_msg" => errors::register,
    "H5Eunregister_class" => library::succeed,
    "H5Eclose_msg" => library::succeed,
    "H5Pexist" => properties::exists,
    "H5Pisa_class" => properties::is_class,
    "H5Pget_chunk" => properties::chunk,
    "H5Pget_layout" => properties::layout,
    "H5Pget_nfilters" => properties::filters,
    "H5Pget_filter1" => properties::filter_old,
    "H5Pget_filter2" => properties::filter,
    "H5Pget_filter_by_id1" => properties::filter_by_id_old,
    "H5Pget_filter_by_id2" => properties::filter_by_id,
    "H5Pmodify_filter" => properties::modify,
    "H5Pset_filter" => properties::modify,
    "H5Pclose" => library::succeed,
    "H5Sis_simple" => spaces::is_simple,
    "H5Sget_simple_extent_type" => spaces::class,
    "H5Sget_simple_extent_dims" => spaces::dims,
    "H5Sget_simple_extent_ndims" => spaces::rank,
    "H5Sget_simple_extent_npoints" => spaces::elements,
    "H5Sclose" => library::succeed,
    "H5Tget_class" => types::class,
    "H5Tget_size" => types::size,
    "H5Tget_order" => types::order,
    "H5Tget_sign" => types::sign,
    "H5Tget_precision" => types::precision,
    "H5Tget_offset" => types::offset,
    "H5Tget_super" => types::base,
    "H5Tget_native_type" => types::native,
    "H5Tequal" => types::are_equal,
    "H5Tcopy" => types::copy,
    "H5Tis_variable_str" => types::is_variable_text,
    "H5Tconvert" => types::convert,
    "H5Tclose" => library::succeed,
}

/// Returns the address for a symbol of a plug-in, or `None` if the system is to find it.
pub(super) fn address(name: &str) -> Option<u64> {
    if let Some(address) = function(name) {
        return Some(address);
    }
    let family = name.strip_prefix("H5")?;
    // Names of a plug-in's own, such as `H5Z_jpegls_encode`, have an underscore.
    let is_ours =
        family.starts_with(|letter: char| letter.is_ascii_alphabetic()) && !family.starts_with("Z_");
    if name.ends_with("_g") {
        return Some(variable(name));
    }
    is_ours.then_some(library::missing as *const () as u64)
}

/// Returns the address of a variable, which holds an id.
fn variable(name: &str) -> u64 {
    let id = match name {
        "H5P_CLS_DATASET_CREATE_ID_g" => state::PROPERTY_CLASS,
        // `H5open` was called.
        "H5_libinit_g" => 1,
        "H5_libterm_g" => 0,
        _ => types::predefined(name).unwrap_or(state::OTHER),
    };
    // A few bytes for each name that a library uses, which stays loaded.
    let place: &'static i64 = Box::leak(Box::new(id));
    std::ptr::from_ref(place).addr() as u64
}
