//! HDF5 files on web servers and in object stores: a driver for [`hyperslab`] that reads `http://`, `https://`,
//! `s3://`, `gs://` and `az://`.
//!
//! ```no_run
//! use hyperslab_remote::{RemoteOptions, open};
//!
//! let options = RemoteOptions::default().set("skip_signature", "true");
//! let file = open("s3://public-bucket/climate.h5", &options)?;
//! let first: Vec<f32> = file.dataset("surface/t2m")?.read([0..1, 0..72, 0..144])?;
//! # Ok::<(), hyperslab::Error>(())
//! ```

#![forbid(unsafe_code)]

#[cfg(not(feature = "servers"))]
mod absent;
#[cfg_attr(not(feature = "servers"), expect(dead_code, reason = "only connections read an address"))]
mod address;
#[cfg(feature = "servers")]
mod blocks;
#[cfg(feature = "servers")]
mod connect;
#[cfg(feature = "servers")]
mod driver;
#[cfg(feature = "servers")]
mod error;
#[cfg(feature = "servers")]
mod fetch;
#[cfg(feature = "servers")]
mod flight;
mod options;
#[cfg(feature = "servers")]
mod ranges;
#[cfg(feature = "servers")]
mod runtime;

use std::sync::Arc;

#[cfg(not(feature = "servers"))]
pub use absent::Remote;
pub use address::{is_url, unknown_scheme, without_secrets};
#[cfg(feature = "servers")]
pub use driver::Remote;
pub use options::RemoteOptions;

/// Opens the HDF5 file at `url` for reading.
///
/// Errors: `Io` if the file cannot be reached (`NotFound`, `PermissionDenied`), if the URL or an option is
/// unknown (`InvalidInput`); `Format` if the file is not HDF5 or is damaged.
pub fn open(url: &str, options: &RemoteOptions) -> hyperslab::Result<hyperslab::File> {
    let remote = Remote::open(url, options).map_err(hyperslab::Error::io("open", 0, 0))?;
    hyperslab::File::options().open_on(Arc::new(remote))
}
