//! What stands in for ZFP without its feature: a filter without values.

use super::ZfpMode;
use crate::codec::External;
use crate::error::{FilterError, Result};
use crate::facts::ChunkFacts;
use crate::filter::{Encoded, Filter, FilterId, Scratch};

/// The filter for one dataset. Needs the feature `zfp`.
#[derive(Debug)]
pub enum Zfp {}

impl Zfp {
    const NAME: &'static str = "zfp";

    /// Returns an error that names the feature.
    pub fn new(_: &[u32]) -> Result<Self> {
        Err(Self::absence())
    }

    pub(crate) fn client_data(_: ZfpMode, _: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        Err(Self::absence())
    }

    /// Returns `None`: ZFP's header is not decoded.
    pub fn refitted(_: &[u32], _: usize, _: &[usize]) -> Option<Vec<u32>> {
        None
    }

    /// Returns `None`: ZFP's header is not decoded.
    pub fn mode(_: &[u32]) -> Option<ZfpMode> {
        None
    }

    fn absence() -> FilterError {
        External::Zfp.absence(Self::NAME)
    }
}

impl Filter for Zfp {
    fn id(&self) -> FilterId {
        match *self {}
    }

    fn decode_into(&self, _: &[u8], _: &mut [u8], _: &mut Scratch) -> Result<usize> {
        match *self {}
    }

    fn encode_into(&self, _: &[u8], _: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        match *self {}
    }
}
