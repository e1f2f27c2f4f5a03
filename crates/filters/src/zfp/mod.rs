//! ZFP, filter 32013: numbers of 4 or 8 bytes, in blocks of 4 along each dimension, in all modes. The client
//! data hold the version of the plugin, and then ZFP's own header: datatype, shape and mode.
//!
//! The plugin writes streams of bytes, the codec here streams of 8 bytes. A stream is cut after its last byte
//! with bits, so that both store the same.

mod mode;

#[cfg(not(feature = "zfp"))]
mod absent;
#[cfg(feature = "zfp")]
mod codec;

#[cfg(not(feature = "zfp"))]
pub use self::absent::Zfp;
#[cfg(feature = "zfp")]
pub use self::codec::Zfp;
pub use self::mode::ZfpMode;
