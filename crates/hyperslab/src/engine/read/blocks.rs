//! Passes elements to a callback while they are in the cache, for computations that need no array of them.

use std::num::NonZeroUsize;
use std::ops::Range;

use hyperslab_error::{RequestError, Result};
use hyperslab_filters::{ByteMap, Convert, Handed};
use hyperslab_select::{Coord, Selection, first_element};

use super::decode::ReadRun;
use super::sink::{Block, Sink};
use crate::engine::bounds::Columns;
use crate::engine::destination::Destination;
use crate::engine::plan::chunk_filter::{ChunkFilter, Keep};
use crate::engine::plan::context::ReadContext;
use crate::engine::plan::elements::{Goal, PieceElements};
use crate::engine::plan::pieces::Pieces;
use crate::engine::plan::place::{Cut, User};
use crate::engine::plan::reading::Reading;
use crate::engine::task_queue::worked;

impl Reading<'_> {
    /// Calls `sink` with the elements of `what`, block by block while they are in the cache. The blocks of
    /// one chunk come in order; those of different chunks come in any order and concurrently. `columns` are
    /// byte ranges of an element, whose bytes are joined in this order; if empty, the whole element is
    /// passed. Chunks whose bounds `keep` refuses are left out; chunks without bounds are not.
    pub fn blocks(
        &self,
        what: &Selection,
        columns: &[Range<usize>],
        keep: Option<&Keep<'_>>,
        threads: Option<NonZeroUsize>,
        sink: &Sink<'_>,
    ) -> Result<()> {
        let size = self.array.elements.size;
        let map = if columns.is_empty() { None } else { Some(ByteMap::columns(size, columns)) };
        let map = map.map(|map| {
            let why = "each must be a non-empty range of bytes of an element";
            map.ok_or_else(|| RequestError::Argument { what: format!("columns {columns:?}"), why })
        });
        let map = map.transpose()?;
        let convert = map.as_ref().map(|map| map as &dyn Convert);
        let pieces = Pieces::converted(self.array);
        let mut nowhere = Destination::contiguous(&mut []);
        let (dst, _) = nowhere.share(&[0], size)?;
        let worked = &mut |bytes| worked("read", bytes);
        let tiling = what.tiling_in_steps(&self.array.shape, &pieces.shape, worked)?;
        let users = [User { cut: Cut::Tiling(&tiling), dst }];
        let memory_size = map.as_ref().map_or(size, Convert::size);
        let elements = PieceElements::of(&pieces, size, memory_size, Goal::PassOn);
        let mut context = ReadContext::new(*self, elements, &users, &[0], tiling.len())?;
        context.filter = keep.and_then(|keep| {
            Some(ChunkFilter { columns: Columns::of_array(&self.array.shape, &self.array.elements)?, keep })
        });
        let _data = self.store.reading_data();
        ReadRun::new(context, convert, Some(sink)).all(&pieces, &tiling, threads)
    }
}

impl ReadRun<'_> {
    /// Calls `decode` with a function that passes elements of the piece at `coord` on to `sink`.
    pub(super) fn hand_on(
        &self,
        sink: &Sink<'_>,
        coord: &[u64],
        decode: impl FnOnce(&mut dyn FnMut(Handed<'_>)),
    ) -> Result<()> {
        let own = &self.context.elements;
        let shape: Coord = own.shape.iter().map(|&len| len as u64).collect();
        let piece = first_element(coord, &shape);
        let mut taken = Ok(());
        decode(&mut |Handed { at, count, elements }| {
            if taken.is_ok() {
                let (first, size) = (at / own.stored_size.max(1), own.memory_size);
                let piece_shape = &own.shape;
                taken = sink(Block { piece: &piece, piece_shape, first, count, elements, size });
            }
        });
        taken
    }
}
