//! HDF5 filters and their pipeline.
//!
//! A filter gets its destination from its caller, so the last filter of a chain writes into the caller's
//! array.
//!
//! # Features
//!
//! The codecs from other crates have one feature each: `deflate`, `zstd` and `lz4`, which need a C compiler,
//! and `bzip2`, `snappy` and `zfp`. The default is `codecs`, all of them. A filter whose codec is not built
//! gives [`FilterError::NotBuilt`], also for a chunk of Blosc that uses the codec.

#![cfg_attr(not(feature = "codecs"), allow(dead_code, reason = "some code is for one codec"))]

pub mod added;
mod bits;
mod bitshuffle;
pub mod blosc;
pub mod choice;
pub mod chosen;
mod codec;
pub mod convert;
pub mod error;
mod facts;
#[cfg(feature = "lz4")]
mod ffi;
pub mod filter;
mod fletcher32;
pub mod gather;
mod lz4;
mod lzf;
mod nbit;
mod notation;
mod parameters;
pub mod pipeline;
mod planes;
pub mod registry;
mod repeated;
mod scale_offset;
pub mod scatter;
mod shuffle;
mod simd;
mod sink;
mod snappy;
mod source;
mod stream;
mod szip;
mod walk;
mod zfp;

pub use bitshuffle::Bitshuffle;
pub use choice::{BitshuffleCodec, BloscCodec, BloscFilter, FilterChoice, SzipMethod};
pub use convert::{ByteMap, Convert};
pub use error::{Failure, FilterError};
pub use facts::{ChunkFacts, Element, Kind, Number, Order};
pub use filter::{Encoded, Filter, FilterId, Scratch};
pub use fletcher32::Fletcher32;
pub use gather::{Axis, Gather, Stores, Target};
pub use lz4::Lz4;
pub use lzf::Lzf;
pub use nbit::NBit;
pub use notation::{NOTATION, NotationError};
pub use pipeline::{FilterMask, Pipeline, StageSpec};
pub use registry::{Parameters, Registry};
pub use repeated::repeated;
pub use scale_offset::ScaleOffset;
pub use shuffle::Shuffle;
pub use simd::{instructions, widest};
pub use sink::Handed;
pub use snappy::Snappy;
pub use stream::Stream;
pub use szip::Szip;
pub use zfp::{Zfp, ZfpMode};
