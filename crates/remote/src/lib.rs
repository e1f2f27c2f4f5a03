//! HDF5 files on web servers and in object stores: a driver for [`hyperslab`] that reads `http://`, `https://`,
//! `s3://`, `gs://` and `az://`.
//!
//! ```no_run
//! use hyperslab::File;
//! use hyperslab_remote::{Location, RemoteOptions};
//!
//! let remote = RemoteOptions::default().set("skip_signature", "true");
//! let file = Location::named("s3://public-bucket/climate.h5").open(&File::options(), &remote)?;
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
mod location;
mod options;
#[cfg(feature = "servers")]
mod ranges;
#[cfg(feature = "servers")]
mod runtime;

#[cfg(not(feature = "servers"))]
pub use absent::Remote;
pub use address::{is_url, unknown_scheme, without_secrets};
#[cfg(feature = "servers")]
pub use driver::Remote;
pub use location::Location;
pub use options::RemoteOptions;
