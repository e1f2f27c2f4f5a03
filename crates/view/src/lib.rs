//! A viewer of HDF5 files in the browser: a page made of H5Web, and a read-only server on this machine that
//! speaks h5grove's API.
//!
//! ```no_run
//! use hyperslab_view::{View, ViewOptions};
//!
//! let view = View::new(&["climate.h5".into()], &ViewOptions::default())?;
//! println!("{}", view.address());
//! view.run()?;
//! # Ok::<(), hyperslab_view::ViewError>(())
//! ```
//!
//! The security model is decision 0034: only programs of this machine reach the server, only requests with
//! the secret of the address are answered, and only the given files are read, and files that they name in the
//! folder that is allowed for that.

#![forbid(unsafe_code)]

mod answer;
mod data;
mod datatype;
mod encode;
mod entity;
mod files;
mod guard;
mod limits;
mod links;
mod number;
mod page;
mod patient;
mod query;
mod request;
mod routes;
mod secret;
mod server;
mod stats;
mod value;

pub use files::ViewError;
pub use server::{View, ViewOptions};
