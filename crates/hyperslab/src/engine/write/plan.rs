//! The plan of one write: the pieces that it touches, and the elements of each. A plan depends on the shape
//! of the array and not on the file. So it is made before any lock is taken, and answers every question about
//! the write.

use std::borrow::Cow;
use std::ops::Range;

use hyperslab_error::{RequestError, Result};
use hyperslab_format::Widths;
use hyperslab_select::{Coord, Part, Selection, Tiling, inside};
use smallvec::{SmallVec, smallvec};

use super::input::Input;
use super::{Write, WriteOptions};
use crate::engine::array::{Storage, StoredArray};
use crate::engine::codec::{ChunkCodec, StoredElements};
use crate::engine::fill::fill_outside;
use crate::engine::plan::pieces::{Pieces, ReadTask};
use crate::engine::scratch::{self, sized};
use crate::engine::task_queue::worked;

/// A write, divided by pieces.
#[derive(Debug)]
pub struct WritePlan<'a> {
    pub(super) input: Input<'a>,
    tiles: Tiles,
    /// The shape of the array that the plan was made for, and of its pieces.
    shape: Coord,
    piece: Coord,
    is_whole: bool,
}

/// The touched pieces.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a write has one of them, and a small write the large one")]
enum Tiles {
    /// A box in one piece.
    One {
        coord: Coord,
        part: Part,
    },
    Many(Box<Tiling>),
}

/// The written elements of one piece.
#[derive(Debug)]
pub(super) struct Cut<'p> {
    /// The size of the piece's box inside the array.
    pub(super) used: Coord,
    /// Whether one part covers that box.
    pub(super) is_whole: bool,
    /// The part, if only one is written.
    pub(super) part: Option<Cow<'p, Part>>,
}

/// What a write is planned for.
pub(super) struct PlanTarget<'t> {
    pub(super) elements: &'t StoredElements,
    pub(super) widths: Widths,
    /// The shape of the array.
    pub(super) shape: Coord,
    /// The shape of its pieces.
    pub(super) piece: Coord,
    /// Whether the pieces are chunks.
    pub(super) is_chunked: bool,
}

impl Write<'_> {
    /// Plans the write of `bytes`, the elements of `what` in row-major order.
    pub fn plan<'a>(
        &self,
        what: &Selection,
        bytes: &'a [u8],
        options: &WriteOptions,
    ) -> Result<WritePlan<'a>> {
        let target = PlanTarget {
            elements: &self.array.elements,
            widths: self.store.widths(),
            shape: Coord::from_slice(&self.array.shape),
            piece: Pieces::of(self.array).shape,
            is_chunked: matches!(self.array.storage, Storage::Chunked(_)),
        };
        WritePlan::of(target, what, bytes, options)
    }
}

impl<'a> WritePlan<'a> {
    /// Plans the write of `bytes`, the elements of `what` in row-major order.
    pub(super) fn of(
        target: PlanTarget<'_>,
        what: &Selection,
        bytes: &'a [u8],
        options: &WriteOptions,
    ) -> Result<Self> {
        let PlanTarget { elements, widths, shape, piece, is_chunked } = target;
        let input = Input::of(elements, widths, &piece, bytes, options)?;
        let in_one = if options.by_chunks { None } else { what.in_one_chunk(&shape, &piece)? };
        let (tiles, is_whole) = if let Some((coord, within)) = in_one {
            input.check_count(within.0.iter().map(|dim| dim.count).product())?;
            let part = Part { dst_strides: input.strides(&what.shape(&shape)), within: within.0, dst: 0 };
            let is_whole = part.covers(&inside(&coord, &piece, &shape));
            (Tiles::One { coord, part }, is_whole)
        } else {
            let worked = &mut |bytes| worked("write", bytes);
            let tiling = what.tiling_in_steps(&shape, &piece, worked)?;
            input.check_count(what.count(&shape)?)?;
            let tiling = if options.by_chunks {
                let why = "elements in chunk order need a box of neighbouring elements of a chunked dataset";
                let by_chunks = if is_chunked { tiling.by_chunks(input.memory_size as u64) } else { None };
                by_chunks.ok_or_else(|| RequestError::Argument { what: "selection".to_owned(), why })?
            } else {
                let strides = input.strides(&what.shape(&shape));
                tiling.with_strides(strides)
            };
            let is_whole = tiling.covers_all(&shape);
            (Tiles::Many(Box::new(tiling)), is_whole)
        };
        Ok(WritePlan { input, tiles, shape, piece, is_whole })
    }
}

impl WritePlan<'_> {
    /// Returns whether the array still has the shape for which the write was planned.
    pub fn fits(&self, array: &StoredArray) -> bool {
        self.shape.as_slice() == array.shape.as_slice()
    }

    /// Returns whether every touched piece is written whole.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns whether every element of the array is written.
    pub fn is_everything(&self) -> bool {
        let pieces = self.shape.iter().zip(&self.piece).map(|(len, piece)| len.div_ceil(*piece));
        self.is_whole && self.len() == pieces.product()
    }

    /// Returns whether no piece is touched.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of touched pieces.
    pub(super) fn len(&self) -> u64 {
        match &self.tiles {
            Tiles::One { .. } => 1,
            Tiles::Many(tiling) => tiling.len(),
        }
    }

    /// Returns the tasks for those touched pieces whose number is in `range`, in file order.
    pub(super) fn tasks(
        &self,
        write: &Write<'_>,
        pieces: &Pieces<'_>,
        range: Range<u64>,
    ) -> Result<SmallVec<[ReadTask; 1]>> {
        let _reading = write.store.reading();
        match &self.tiles {
            Tiles::One { coord, .. } => {
                Ok(smallvec![pieces.task(write.store, write.cache, coord.clone())?])
            }
            Tiles::Many(tiling) => pieces.tasks(write.store, write.cache, tiling, range).map(Into::into),
        }
    }

    /// Returns the piece and the box, if the write is a box in one piece.
    pub(super) fn only(&self) -> Option<(&Coord, &Part)> {
        match &self.tiles {
            Tiles::One { coord, part } => Some((coord, part)),
            Tiles::Many(_) => None,
        }
    }

    /// Returns the written elements of the piece at `coord`, which must be touched.
    pub(super) fn cut(&self, coord: &Coord) -> Cut<'_> {
        let used = inside(coord, &self.piece, &self.shape);
        let tiling = match &self.tiles {
            Tiles::One { part, .. } => {
                return Cut { used, is_whole: self.is_whole, part: Some(Cow::Borrowed(part)) };
            }
            Tiles::Many(tiling) => tiling,
        };
        let (mut parts, mut last, mut is_whole) = (0, None, false);
        tiling.parts(coord, |part| {
            parts += 1;
            is_whole |= part.covers(&used);
            last = Some(Cow::Owned(part));
        });
        Cut { used, is_whole, part: last.filter(|_| parts == 1) }
    }

    /// Returns the positions of the touched pieces.
    pub(super) fn touched(&self) -> Vec<Coord> {
        match &self.tiles {
            Tiles::One { coord, .. } => vec![coord.clone()],
            Tiles::Many(tiling) => tiling.touched().collect(),
        }
    }

    /// Returns the elements of a chunk that is written whole: the caller's own, if they are together.
    /// Otherwise assembles the chunk, with the fill value outside the array.
    pub(super) fn whole<'s>(
        &'s self,
        codec: &ChunkCodec,
        coord: &Coord,
        cut: &Cut<'_>,
        chunk: &'s mut Vec<u8>,
        convert: &mut [Vec<u8>; 2],
    ) -> Result<&'s [u8]> {
        if let Some(given) = cut.part.as_ref().and_then(|part| self.input.whole(part)) {
            return Ok(given);
        }
        let elements = sized(chunk, codec.chunk_bytes())?;
        fill_outside(elements, codec.shape(), &cut.used, &codec.elements().fill);
        self.place(coord, elements, convert)?;
        Ok(elements)
    }

    /// Calls `f` with every written part of the piece at `coord`.
    pub(super) fn each(&self, coord: &Coord, mut f: impl FnMut(&Part)) {
        match &self.tiles {
            Tiles::One { coord: only, part } if only == coord => f(part),
            Tiles::One { .. } => {}
            Tiles::Many(tiling) => tiling.parts(coord, |part| f(&part)),
        }
    }

    /// Copies the caller's elements of one piece to their places in it.
    pub(super) fn place(&self, coord: &Coord, piece: &mut [u8], scratch: &mut [Vec<u8>; 2]) -> Result<()> {
        let mut result = Ok(());
        self.each(coord, |part| {
            if result.is_ok() {
                result = self.input.place(part, piece, scratch);
            }
        });
        result
    }

    /// Copies the caller's elements to their places in `data`, which holds all elements of an array that is
    /// one piece.
    pub fn place_in(&self, data: &mut [u8]) -> Result<()> {
        let first = Coord::from_elem(0, self.piece.len());
        scratch::with(|scratch| self.place(&first, data, &mut scratch.convert))
    }
}
