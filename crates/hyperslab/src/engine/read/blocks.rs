//! Elements handed on while they are in the cache: for who computes with them, and wants no array of them.

use std::num::NonZeroUsize;
use std::ops::Range;

use hyperslab_filters::{ByteMap, Convert};

use super::Reading;
use super::task::Run;
use crate::engine::dst::Destination;
use crate::engine::plan::pieces::Pieces;
use crate::engine::plan::place::{Cut, User};
use crate::error::{RequestError, Result};
use crate::select::{Selection, first_element};

/// Elements that follow each other in one piece: a chunk, or a run of rows of contiguous data.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The piece's first element in the dataset.
    pub piece: &'a [u64],
    /// Elements of the piece along each dimension, those beyond the edge of the dataset included.
    pub piece_shape: &'a [usize],
    /// Which element of the piece comes first here, counted row by row.
    pub first: usize,
    /// The elements as they are stored, or their columns.
    pub elements: &'a [u8],
}

/// Who takes blocks, on whichever thread decoded them. An error ends the read.
pub type Sink<'a> = dyn Fn(Block<'_>) -> Result<()> + Sync + 'a;

impl Reading<'_> {
    /// Hands the elements of `what` to `sink`, block by block while they are in the cache: those of one chunk in their order, those of
    /// several in any order and at the same time. `columns` are ranges of bytes of an element, one after the other; all of it
    /// if there are none.
    pub fn blocks(
        &self,
        what: &Selection,
        columns: &[Range<usize>],
        threads: Option<NonZeroUsize>,
        sink: &Sink<'_>,
    ) -> Result<()> {
        let size = self.array.element_size;
        let map = if columns.is_empty() { None } else { Some(ByteMap::columns(size, columns)) };
        let map = map.map(|map| {
            let why = "each is a range of bytes of an element, and they are not empty";
            map.ok_or_else(|| RequestError::Argument { what: format!("columns {columns:?}"), why })
        });
        let map = map.transpose()?;
        let convert = map.as_ref().map(|map| map as &dyn Convert);
        let pieces = Pieces::converted(self.array);
        let mut run = self.run(&pieces, convert, map.as_ref().map_or(size, Convert::size))?;
        run.emit.sink = Some(sink);
        let mut nowhere = Destination::contiguous(&mut []);
        let (dst, _) = nowhere.share(&[0], size)?;
        let tiling = what.tiling(&self.array.shape, &pieces.shape)?;
        let _data = self.store.reading_data();
        run.all(&pieces, &tiling, User { cut: Cut::Tiling(&tiling), dst }, threads)
    }
}

impl Run<'_> {
    /// Calls `decode` with a function that hands what it gets to `sink`, as elements of the piece at `coord`.
    pub(super) fn hand_on(
        &self,
        sink: &Sink<'_>,
        coord: &[u64],
        decode: impl FnOnce(&mut dyn FnMut(usize, &[u8])),
    ) -> Result<()> {
        let shape: Vec<u64> = self.emit.piece.iter().map(|&len| len as u64).collect();
        let piece = first_element(coord, &shape);
        let mut taken = Ok(());
        decode(&mut |at, elements| {
            if taken.is_ok() {
                let first = at / self.emit.stored_size.max(1);
                taken = sink(Block { piece: &piece, piece_shape: &self.emit.piece, first, elements });
            }
        });
        taken
    }
}
