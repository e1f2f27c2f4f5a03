//! The native library of hyperslab for Java: the functions of the C API behind few entries.
//!
//! Java calls it in two ways. From Java 22 on, `java.lang.foreign` calls `hyperslab_java_call` and
//! `hyperslab_java_call_with`; on older versions, JNI calls the functions whose names begin with `Java_`. All
//! of them lead to `dispatch`. What the arguments mean, arrays, datatypes and the life of handles are in
//! `java/`, once for both.

mod dispatch;

use std::ffi::c_void;

use jni_sys::{JNIEnv, jclass, jint, jlong, jobject};

/// Calls function `function` of `dispatch` for `java.lang.foreign`.
///
/// # Safety
///
/// The arguments are those of the function, whose pointers are valid for what the C API does with them.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "as many as the C function with the most")]
pub unsafe extern "C" fn hyperslab_java_call(
    function: i32,
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
    g: i64,
    h: i64,
    i: i64,
) -> i64 {
    // SAFETY: as the caller says.
    unsafe { dispatch::call(function, [a, b, c, d, e, f, g, h, i]) }
}

/// Does the same with a pointer as the fourth argument: Java keeps the memory alive during the call.
///
/// # Safety
///
/// As for [`hyperslab_java_call`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hyperslab_java_call_with(
    function: i32,
    a: i64,
    b: i64,
    c: i64,
    memory: *mut c_void,
    e: i64,
) -> i64 {
    // SAFETY: as the caller says.
    unsafe { dispatch::call(function, [a, b, c, dispatch::number(memory), e, 0, 0, 0, 0]) }
}

/// `JniNative.invoke`.
///
/// # Safety
///
/// As for [`hyperslab_java_call`].
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "as many as the C function with the most")]
pub unsafe extern "system" fn Java_io_github_hyperslab_internal_JniNative_invoke(
    _: *mut JNIEnv,
    _: jclass,
    function: jint,
    a: jlong,
    b: jlong,
    c: jlong,
    d: jlong,
    e: jlong,
    f: jlong,
    g: jlong,
    h: jlong,
    i: jlong,
) -> jlong {
    // SAFETY: as the caller says.
    unsafe { dispatch::call(function, [a, b, c, d, e, f, g, h, i]) }
}

/// `JniNative.invokeWith`. The buffer is an argument, so Java keeps it alive during the call.
///
/// # Safety
///
/// As for [`hyperslab_java_call`]; `memory` is a direct buffer.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "as JNI passes them")]
pub unsafe extern "system" fn Java_io_github_hyperslab_internal_JniNative_invokeWith(
    env: *mut JNIEnv,
    _: jclass,
    function: jint,
    a: jlong,
    b: jlong,
    c: jlong,
    memory: jobject,
    e: jlong,
) -> jlong {
    // SAFETY: as the caller says.
    unsafe { dispatch::call(function, [a, b, c, address(env, memory), e, 0, 0, 0, 0]) }
}

/// `JniNative.addressOf`.
///
/// # Safety
///
/// `env` is that of this thread, and `buffer` a direct buffer.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_io_github_hyperslab_internal_JniNative_addressOf(
    env: *mut JNIEnv,
    _: jclass,
    buffer: jobject,
) -> jlong {
    // SAFETY: as the caller says.
    unsafe { address(env, buffer) }
}

/// `JniNative.viewOf`.
///
/// # Safety
///
/// `env` is that of this thread, and the `size` bytes at `address` are valid as long as the buffer is used.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Java_io_github_hyperslab_internal_JniNative_viewOf(
    env: *mut JNIEnv,
    _: jclass,
    address: jlong,
    size: jlong,
) -> jobject {
    // SAFETY: as the caller says; every version of the table has what JNI 1.4 added.
    unsafe { ((**env).v1_4.NewDirectByteBuffer)(env, dispatch::pointer(address), size) }
}

unsafe fn address(env: *mut JNIEnv, buffer: jobject) -> i64 {
    // SAFETY: as the caller says; every version of the table has what JNI 1.4 added.
    dispatch::number(unsafe { ((**env).v1_4.GetDirectBufferAddress)(env, buffer) })
}
