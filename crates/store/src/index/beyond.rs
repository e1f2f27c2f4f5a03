//! Visits the chunks at the far end of a dataset, which change when the dataset shrinks.

use std::ops::ControlFlow;

use hyperslab_error::Result;
use hyperslab_select::Coord;

use super::{ChunkIndex, Visitor};
use crate::Store;

impl ChunkIndex {
    /// Calls `f` with every stored chunk at or beyond `from` (counted in chunks) along any dimension, until
    /// `f` breaks. If only a few chunks can be there, only they are looked up.
    pub fn visit_beyond(&self, store: &Store, from: &[u64], f: &mut Visitor<'_>) -> Result<()> {
        let counts = &self.grid.current;
        let near =
            from.iter().zip(counts).fold(1_u64, |all, (&from, &count)| all.saturating_mul(from.min(count)));
        if self.grid.len().saturating_sub(near) > LOOKUPS {
            return self.visit(store, &mut |coord, record| {
                let is_beyond = coord.iter().zip(from).any(|(at, from)| at >= from);
                if is_beyond { f(coord, record) } else { ControlFlow::Continue(()) }
            });
        }
        let mut cursor = self.cursor(store);
        // For each axis: the chunks at or beyond `from` along it, and before `from` along the earlier axes.
        for axis in 0..counts.len() {
            let first: Coord =
                (0..counts.len()).map(|other| if other == axis { from[axis] } else { 0 }).collect();
            let end: Coord = (0..counts.len())
                .map(|other| if other < axis { from[other].min(counts[other]) } else { counts[other] })
                .collect();
            let mut coord = first.clone();
            let mut is_left = first.iter().zip(&end).all(|(first, end)| first < end);
            while is_left {
                if let Some(record) = cursor.lookup(&coord)?
                    && f(&coord, record).is_break()
                {
                    return Ok(());
                }
                is_left = advance(&mut coord, &first, &end);
            }
        }
        Ok(())
    }
}

/// Moves to the next coordinate of a box, row by row. Returns `false` after the last coordinate.
fn advance(coord: &mut [u64], first: &[u64], end: &[u64]) -> bool {
    for axis in (0..coord.len()).rev() {
        coord[axis] += 1;
        if coord[axis] < end[axis] {
            return true;
        }
        coord[axis] = first[axis];
    }
    false
}

/// The most chunks to look up one by one. For more chunks the whole index is read.
const LOOKUPS: u64 = 16_384;
