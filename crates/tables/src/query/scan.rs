//! A scan: the condition is computed block by block, on the threads that decode the blocks, from the columns
//! that it names and no other bytes.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use hyperslab::{Block, RequestError, Selection};
use hyperslab_expr::Registers;

use super::Query;
use crate::error::{Error, Result};

/// The buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    values: Vec<Vec<u8>>,
    stored: Vec<u8>,
    mask: Vec<u8>,
    registers: Registers,
}

impl Query {
    /// Calls `found` with the first row and the mask of every block of `rows`: one byte for each row, 1 if
    /// the condition is true. Blocks come in any order and concurrently. Chunks whose minima and maxima show
    /// that they have no such row are left out if `by_bounds` is set. The first error of the condition ends
    /// the scan.
    pub(super) fn scan(
        &self,
        rows: &Selection,
        by_bounds: bool,
        found: &(dyn Fn(u64, &[u8]) + Sync),
    ) -> Result<()> {
        let columns: Vec<Range<usize>> = self.operands.iter().map(|operand| operand.bytes.clone()).collect();
        let pool: Mutex<Vec<Buffers>> = Mutex::default();
        let failed: Mutex<Option<Error>> = Mutex::default();
        let lock = || pool.lock().unwrap_or_else(PoisonError::into_inner);
        let sink = |block: Block<'_>| {
            let mut buffers = lock().pop().unwrap_or_default();
            let first = block.piece.first().copied().unwrap_or(0) + block.first as u64;
            match self.mask(block.elements, &mut buffers) {
                // No row of a block of equal elements, as in a chunk that was never written.
                Ok(()) if block.is_repeated() && buffers.mask == [0] => {}
                Ok(()) => {
                    if block.is_repeated() {
                        // The condition was computed for the element that stands for all.
                        let is_found = buffers.mask.first().copied().unwrap_or(0);
                        buffers.mask.resize(block.count, is_found);
                    }
                    found(first, &buffers.mask);
                }
                Err(error) => {
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return Err(stopped());
                }
            }
            lock().push(buffers);
            Ok(())
        };
        let dataset = self.table.dataset();
        let scanned = if by_bounds {
            dataset.blocks_where(rows, &columns, &|bounds| self.may_hold(bounds), None, &sink)
        } else {
            dataset.blocks(rows, &columns, None, &sink)
        };
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(scanned?),
        }
    }

    /// Computes the condition for rows that have the columns of the condition and nothing else.
    pub(super) fn mask(&self, rows: &[u8], buffers: &mut Buffers) -> Result<()> {
        let width = self.width();
        let count = rows.len() / width.max(1);
        let Buffers { values, stored, mask, registers } = buffers;
        values.resize_with(self.operands.len(), Vec::new);
        let mut at = 0;
        for (operand, values) in self.operands.iter().zip(values.iter_mut()) {
            operand.take(rows, (at, width), count, values, stored)?;
            at += operand.bytes.len();
        }
        mask.clear();
        mask.resize(count, 0);
        let arrays: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        Ok(self.program.run(&arrays, count, mask, registers)?)
    }

    /// Returns the bytes of the columns of the condition in a row.
    pub(super) fn width(&self) -> usize {
        self.operands.iter().map(|operand| operand.bytes.len()).sum()
    }
}

/// Returns the error that ends a read when the condition has failed. The error of the condition takes its
/// place.
fn stopped() -> hyperslab::Error {
    RequestError::Argument { what: "condition".to_owned(), why: "it cannot be computed" }.into()
}

/// Returns the numbers of the rows that a mask marks. The first byte of the mask is that of row `first`.
pub(super) fn marked(first: u64, mask: &[u8]) -> Vec<u64> {
    let mut rows = Vec::new();
    let mut start = first;
    for part in mask.chunks(64) {
        // Most parts of most masks have no row.
        if part.iter().fold(0, |all, mark| all | mark) != 0 {
            let numbers = (start..).zip(part);
            rows.extend(numbers.filter(|(_, mark)| **mark != 0).map(|(row, _)| row));
        }
        start += part.len() as u64;
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hyperslab::driver::{Memory, Operation, Trace};
    use hyperslab::{Element, File};

    use super::*;
    use crate::Table;

    #[derive(Element, Clone, Copy)]
    struct Row {
        a: i64,
        b: i64,
    }

    #[test]
    fn an_error_of_the_condition_ends_the_scan() {
        const ROWS: u64 = 1 << 20;
        let memory = Arc::new(Memory::default());
        let file = File::options().create(true).open_on(memory.clone()).unwrap();
        let new = file.root().new_dataset::<Row>("t").shape([ROWS]).chunks([1 << 12]);
        new.create_with(&vec![Row { a: 2, b: -1 }; 1 << 20]).unwrap();
        file.close().unwrap();

        let driver = Arc::new(Trace::new(Memory::new(memory.bytes())));
        let file = File::options().in_flight_bytes(1 << 17).open_on(driver.clone()).unwrap();
        let query = Query::new(&Table::new(file.dataset("t").unwrap()).unwrap(), "a ** b > 0", &[]).unwrap();
        driver.take();
        let error = query.count(0..ROWS).unwrap_err();
        assert!(matches!(error, Error::Expression(_)), "{error}");
        let read: u64 = driver
            .take()
            .iter()
            .map(|call| match call {
                Operation::Read { len, .. } => *len,
                _ => 0,
            })
            .sum();
        assert!(read < ROWS * 16 / 4, "{read} of {} bytes read", ROWS * 16);
    }
}
