//! The chunks that a scan leaves out: the smallest and the largest value of each column, noted with a chunk,
//! show that no row satisfies the condition (decision 0014).

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::Bounds;

use super::Query;
use super::columns::Operand;
use super::plan::Need;
use crate::error::Result;

/// The largest number of chunks whose notes `explain` reads.
const EXPLAINED: u64 = 1 << 14;

impl Need {
    /// Returns whether a row of a chunk with these bounds may satisfy the need.
    fn may_hold(&self, operands: &[Operand], bounds: &Bounds<'_>) -> bool {
        match self {
            Self::Unknown => true,
            Self::All(needs) => needs.iter().all(|need| need.may_hold(operands, bounds)),
            Self::Any(needs) => needs.iter().any(|need| need.may_hold(operands, bounds)),
            Self::Column { path, interval, .. } => {
                let Some(operand) = operands.iter().find(|operand| operand.path == *path) else {
                    return true;
                };
                let Some(bound) = bounds.column(operand.bytes.clone()) else { return true };
                // A chunk without extremes has NaN only, for which no comparison holds.
                let Some((low, high)) = bound.extremes else { return false };
                match (operand.key(low), operand.key(high)) {
                    (Some(low), Some(high)) => interval.meets(&low, &high),
                    _ => true,
                }
            }
        }
    }
}

impl Query {
    /// Returns whether a row of a chunk with these bounds may satisfy the condition.
    pub(super) fn may_hold(&self, bounds: &Bounds<'_>) -> bool {
        self.need.may_hold(&self.operands, bounds)
    }

    /// Returns the number of chunks that a scan of `rows` leaves out, and the number of chunks that were
    /// looked at: the first ones, if there are very many.
    pub(super) fn chunks_left_out(&self, rows: &Range<u64>) -> Result<(u64, u64)> {
        let dataset = self.table.dataset();
        let Some(&[length]) = dataset.chunk_shape().as_deref().filter(|_| self.need != Need::Unknown) else {
            return Ok((0, 0));
        };
        let first = rows.start / length;
        let count = rows.end.div_ceil(length).saturating_sub(first).min(EXPLAINED);
        let rows = rows.start..rows.end.min((first + count).saturating_mul(length));
        let scanned = AtomicU64::new(0);
        // One byte of a row shows that a chunk is passed on.
        let byte = std::slice::from_ref(&(0..1));
        let keep = |bounds: &Bounds<'_>| self.may_hold(bounds);
        dataset.blocks_where(rows.clone(), byte, &keep, None, &|block| {
            let start = block.piece.first().map_or(0, |&piece| rows.start.saturating_sub(piece));
            if block.first as u64 == start {
                scanned.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        })?;
        Ok((count.saturating_sub(scanned.into_inner()), count))
    }
}
