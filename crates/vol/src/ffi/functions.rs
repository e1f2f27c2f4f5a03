//! The functions of a libhdf5 that the plug-in calls.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::caller::Image;
use super::types::{Arguments, ConnectorClass, Handle, Herr, Hid, Location, Request, Text};

/// Declares the functions that the plug-in uses, and finds them by their names.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($argument:ty),* $(,)?) -> $result:ty;)*) => {
        /// Functions of one libhdf5.
        #[derive(Debug)]
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            /// Finds the functions, or returns the name of one that is missing.
            pub(super) fn find(image: &Image) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($field: {
                        let found = image.symbol($symbol);
                        if found.is_null() {
                            return Err($symbol);
                        }
                        // SAFETY: the function has this type in every libhdf5 whose connectors have a
                        // class of version 3 (`H5VLconnector_passthru.h` and the other public headers).
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) -> $result,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    attribute_create = c"H5VLattr_create": fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Hid, Request) -> Handle;
    attribute_open = c"H5VLattr_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    attribute_read = c"H5VLattr_read": fn(Handle, Hid, Hid, *mut c_void, Hid, Request) -> Herr;
    attribute_write = c"H5VLattr_write": fn(Handle, Hid, Hid, *const c_void, Hid, Request) -> Herr;
    attribute_get = c"H5VLattr_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    attribute_specific = c"H5VLattr_specific": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    attribute_optional = c"H5VLattr_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    attribute_close = c"H5VLattr_close": fn(Handle, Hid, Hid, Request) -> Herr;

    dataset_create = c"H5VLdataset_create":
        fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Hid, Hid, Request) -> Handle;
    dataset_open = c"H5VLdataset_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    dataset_read = c"H5VLdataset_read":
        fn(usize, *const Handle, Hid, *const Hid, *const Hid, *const Hid, Hid, *const *mut c_void, Request) -> Herr;
    dataset_write = c"H5VLdataset_write":
        fn(usize, *const Handle, Hid, *const Hid, *const Hid, *const Hid, Hid, *const *mut c_void, Request) -> Herr;
    dataset_get = c"H5VLdataset_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    dataset_specific = c"H5VLdataset_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    dataset_optional = c"H5VLdataset_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    dataset_close = c"H5VLdataset_close": fn(Handle, Hid, Hid, Request) -> Herr;

    datatype_commit = c"H5VLdatatype_commit":
        fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Hid, Request) -> Handle;
    datatype_open = c"H5VLdatatype_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    datatype_get = c"H5VLdatatype_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    datatype_specific = c"H5VLdatatype_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    datatype_optional = c"H5VLdatatype_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    datatype_close = c"H5VLdatatype_close": fn(Handle, Hid, Hid, Request) -> Herr;

    file_create = c"H5VLfile_create": fn(Text, c_uint, Hid, Hid, Hid, Request) -> Handle;
    file_open = c"H5VLfile_open": fn(Text, c_uint, Hid, Hid, Request) -> Handle;
    file_get = c"H5VLfile_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    file_specific = c"H5VLfile_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    file_optional = c"H5VLfile_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    file_close = c"H5VLfile_close": fn(Handle, Hid, Hid, Request) -> Herr;

    group_create = c"H5VLgroup_create": fn(Handle, Location, Hid, Text, Hid, Hid, Hid, Hid, Request) -> Handle;
    group_open = c"H5VLgroup_open": fn(Handle, Location, Hid, Text, Hid, Hid, Request) -> Handle;
    group_get = c"H5VLgroup_get": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    group_specific = c"H5VLgroup_specific": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    group_optional = c"H5VLgroup_optional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;
    group_close = c"H5VLgroup_close": fn(Handle, Hid, Hid, Request) -> Herr;

    link_create = c"H5VLlink_create": fn(Arguments, Handle, Location, Hid, Hid, Hid, Hid, Request) -> Herr;
    link_copy = c"H5VLlink_copy": fn(Handle, Location, Handle, Location, Hid, Hid, Hid, Hid, Request) -> Herr;
    link_move = c"H5VLlink_move": fn(Handle, Location, Handle, Location, Hid, Hid, Hid, Hid, Request) -> Herr;
    link_get = c"H5VLlink_get": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    link_specific = c"H5VLlink_specific": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    link_optional = c"H5VLlink_optional": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;

    object_open = c"H5VLobject_open": fn(Handle, Location, Hid, *mut c_int, Hid, Request) -> Handle;
    object_copy = c"H5VLobject_copy":
        fn(Handle, Location, Text, Handle, Location, Text, Hid, Hid, Hid, Hid, Request) -> Herr;
    object_get = c"H5VLobject_get": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    object_specific = c"H5VLobject_specific": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;
    object_optional = c"H5VLobject_optional": fn(Handle, Location, Hid, Arguments, Hid, Request) -> Herr;

    introspect_class = c"H5VLintrospect_get_conn_cls": fn(Handle, Hid, c_int, *mut *const ConnectorClass) -> Herr;
    introspect_flags = c"H5VLintrospect_get_cap_flags": fn(*const c_void, Hid, *mut u64) -> Herr;
    introspect_optional = c"H5VLintrospect_opt_query": fn(Handle, Hid, c_int, c_int, *mut u64) -> Herr;

    blob_put = c"H5VLblob_put": fn(Handle, Hid, *const c_void, usize, *mut c_void, *mut c_void) -> Herr;
    blob_get = c"H5VLblob_get": fn(Handle, Hid, *const c_void, *mut c_void, usize, *mut c_void) -> Herr;
    blob_specific = c"H5VLblob_specific": fn(Handle, Hid, *mut c_void, Arguments) -> Herr;
    blob_optional = c"H5VLblob_optional": fn(Handle, Hid, *mut c_void, Arguments) -> Herr;

    token_compare = c"H5VLtoken_cmp": fn(Handle, Hid, *const c_void, *const c_void, *mut c_int) -> Herr;
    token_to_text = c"H5VLtoken_to_str": fn(Handle, c_int, Hid, *const c_void, *mut *mut c_char) -> Herr;
    token_from_text = c"H5VLtoken_from_str": fn(Handle, c_int, Hid, Text, *mut c_void) -> Herr;

    optional = c"H5VLoptional": fn(Handle, Hid, Arguments, Hid, Request) -> Herr;

    connector_by_value = c"H5VLget_connector_id_by_value": fn(c_int) -> Hid;

    list_copy = c"H5Pcopy": fn(Hid) -> Hid;
    list_close = c"H5Pclose": fn(Hid) -> Herr;
    list_get = c"H5Pget": fn(Hid, Text, *mut c_void) -> Herr;
    list_set_connector = c"H5Pset_vol": fn(Hid, Hid, *const c_void) -> Herr;
    list_driver = c"H5Pget_driver": fn(Hid) -> Hid;
    list_close_degree = c"H5Pget_fclose_degree": fn(Hid, *mut c_int) -> Herr;
    transform = c"H5Pget_data_transform": fn(Hid, *mut c_char, usize) -> isize;
    conversion_callback = c"H5Pget_type_conv_cb": fn(Hid, *mut *mut c_void, *mut *mut c_void) -> Herr;
    checks_errors = c"H5Pget_edc_check": fn(Hid) -> c_int;

    layout = c"H5Pget_layout": fn(Hid) -> c_int;
    chunk = c"H5Pget_chunk": fn(Hid, c_int, *mut u64) -> c_int;
    chunk_options = c"H5Pget_chunk_opts": fn(Hid, *mut c_uint) -> Herr;
    filter_count = c"H5Pget_nfilters": fn(Hid) -> c_int;
    filter = c"H5Pget_filter2":
        fn(Hid, c_uint, *mut c_uint, *mut usize, *mut c_uint, usize, *mut c_char, *mut c_uint) -> c_int;
    filter_available = c"H5Zfilter_avail": fn(c_int) -> c_int;
    fill_status = c"H5Pfill_value_defined": fn(Hid, *mut c_int) -> Herr;
    fill_value = c"H5Pget_fill_value": fn(Hid, Hid, *mut c_void) -> Herr;

    space_extent = c"H5Sget_simple_extent_dims": fn(Hid, *mut u64, *mut u64) -> c_int;
    space_kind = c"H5Sget_simple_extent_type": fn(Hid) -> c_int;
    space_selection = c"H5Sget_select_type": fn(Hid) -> c_int;
    space_count = c"H5Sget_select_npoints": fn(Hid) -> i64;
    space_is_regular = c"H5Sis_regular_hyperslab": fn(Hid) -> c_int;
    space_hyperslab = c"H5Sget_regular_hyperslab": fn(Hid, *mut u64, *mut u64, *mut u64, *mut u64) -> Herr;
    space_bounds = c"H5Sget_select_bounds": fn(Hid, *mut u64, *mut u64) -> Herr;
    space_create = c"H5Screate_simple": fn(c_int, *const u64, *const u64) -> Hid;
    space_select = c"H5Sselect_hyperslab":
        fn(Hid, c_int, *const u64, *const u64, *const u64, *const u64) -> Herr;
    space_close = c"H5Sclose": fn(Hid) -> Herr;

    type_encode = c"H5Tencode": fn(Hid, *mut c_void, *mut usize) -> Herr;
    type_find = c"H5Tfind": fn(Hid, Hid, *mut *mut c_void) -> *const c_void;
    type_size = c"H5Tget_size": fn(Hid) -> usize;
    type_close = c"H5Tclose": fn(Hid) -> Herr;

    errors_take = c"H5Eget_current_stack": fn() -> Hid;
    errors_set = c"H5Eset_current_stack": fn(Hid) -> Herr;
    errors_close = c"H5Eclose_stack": fn(Hid) -> Herr;
    errors_count = c"H5Eget_num": fn(Hid) -> isize;
    errors_pop = c"H5Epop": fn(Hid, usize) -> Herr;
    errors_is_new_printer = c"H5Eauto_is_v2": fn(Hid, *mut c_uint) -> Herr;
    errors_get_printer = c"H5Eget_auto2": fn(Hid, *mut *mut c_void, *mut *mut c_void) -> Herr;
    errors_set_printer = c"H5Eset_auto2": fn(Hid, *mut c_void, *mut c_void) -> Herr;
}
