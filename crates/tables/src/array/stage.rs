//! Expressions without reductions: the results of a part of the arrays.

use hyperslab_expr::{Expression, Operand as Given, Program, Reduction, Type};

use super::buffers::Buffers;
use super::operand::Array;
use super::parts::Part;
use super::shape::broadcast;
use crate::error::Result;

/// An expression without reductions, and its operands.
pub(super) struct Stage<'a> {
    expression: Expression,
    arrays: Vec<(String, Array<'a>)>,
    scalars: Vec<(String, Given)>,
}

/// Reduces the results of a stage to an array.
pub(super) type Reduce<'r, 'a> = dyn Fn(&Stage<'a>, Reduction) -> Result<Array<'a>> + 'r;

impl<'a> Stage<'a> {
    /// Returns a stage with the operands that its expression names.
    pub(super) fn new(
        expression: Expression,
        arrays: &[(String, Array<'a>)],
        scalars: &[(String, Given)],
    ) -> Self {
        let arrays = arrays.iter().filter(|(name, _)| expression.names().contains(name)).cloned().collect();
        Self { expression, arrays, scalars: scalars.to_vec() }
    }

    /// Returns the shape of the results.
    pub(super) fn shape(&self) -> Result<Vec<u64>> {
        broadcast(self.arrays.iter().map(|(name, array)| (&**name, &*array.shape)))
    }

    /// Returns the type of the results.
    pub(super) fn kind(&self) -> Result<Type> {
        let given = |(name, array): &'_ (String, Array<'a>)| (name.clone(), Given::Array(array.kind));
        let given: Vec<(String, Given)> = self.arrays.iter().map(given).collect();
        Ok(self.compile(&given, None)?.result())
    }

    pub(super) fn arrays(&self) -> impl Iterator<Item = (&str, &Array<'a>)> {
        self.arrays.iter().map(|(name, array)| (&**name, array))
    }

    /// Returns the shape of the largest chunks of the arrays that have this shape.
    pub(super) fn chunk_shape(&self, shape: &[u64]) -> Option<Vec<u64>> {
        let chunks = self.arrays.iter().filter(|(_, array)| array.shape == shape);
        let chunks = chunks.filter_map(|(_, array)| array.chunk_shape());
        chunks.max_by_key(|chunk| chunk.iter().fold(1, |all: u64, len| all.saturating_mul(*len)))
    }

    /// Returns the size of the widest element.
    pub(super) fn widest(&self) -> usize {
        self.arrays.iter().map(|(_, array)| array.kind.size()).max().unwrap_or(1).max(1)
    }

    /// Returns the program that computes results of a type. Arrays of one element are read now.
    pub(super) fn ready(&self, to: Type) -> Result<Ready<'_, 'a>> {
        let mut given = Vec::new();
        for (name, array) in &self.arrays {
            let operand = if array.shape.iter().all(|len| *len == 1) {
                let first = Part::whole(&array.shape);
                let mut buffer = Vec::new();
                Given::Typed(array.kind, array.read(&first, &mut buffer)?.to_vec())
            } else {
                Given::Array(array.kind)
            };
            given.push((name.clone(), operand));
        }
        let program = self.compile(&given, Some(to))?;
        let named = |name: &String| self.arrays.iter().find(|(known, _)| known == name);
        let arrays = program.arrays().iter().filter_map(named).map(|(_, array)| array).collect();
        Ok(Ready { program, arrays })
    }

    fn compile(&self, arrays: &[(String, Given)], to: Option<Type>) -> Result<Program> {
        let all = arrays.iter().chain(&self.scalars);
        let operands: Vec<(&str, Given)> = all.map(|(name, given)| (&**name, given.clone())).collect();
        Ok(match to {
            Some(to) => self.expression.compile_as(&operands, to)?,
            None => self.expression.compile(&operands)?,
        })
    }
}

/// A compiled stage.
pub(super) struct Ready<'s, 'a> {
    program: Program,
    /// The arrays that the program takes, in its order.
    arrays: Vec<&'s Array<'a>>,
}

impl Ready<'_, '_> {
    /// Computes the results of a part.
    pub(super) fn compute(&self, part: &Part, buffers: &mut Buffers) -> Result<()> {
        let mut results = std::mem::take(&mut buffers.results);
        results.resize(part.len() * self.program.result().size(), 0);
        let done = self.compute_into(part, &mut results, buffers);
        buffers.results = results;
        done
    }

    /// Computes the results of a part into `out`, which is as long as they are.
    pub(super) fn compute_into(&self, part: &Part, out: &mut [u8], buffers: &mut Buffers) -> Result<()> {
        let Buffers { values, registers, .. } = buffers;
        let read = self.read(part, values)?;
        Ok(self.program.run(&read, part.len(), out, registers)?)
    }

    /// Calls `take` with the results of a part, a few at a time, and with the number of the first of them.
    pub(super) fn each(
        &self,
        part: &Part,
        buffers: &mut Buffers,
        take: &mut dyn FnMut(&[u8], usize),
    ) -> Result<()> {
        let Buffers { values, results, registers } = buffers;
        let read = self.read(part, values)?;
        let size = self.program.result().size();
        let mut at = 0;
        while at < part.len() {
            let count = PASS.min(part.len() - at);
            let pass: Vec<&[u8]> = self
                .arrays
                .iter()
                .zip(&read)
                .map(|(array, bytes)| &bytes[at * array.kind.size()..(at + count) * array.kind.size()])
                .collect();
            results.resize(count * size, 0);
            self.program.run(&pass, count, results, registers)?;
            take(results, at);
            at += count;
        }
        Ok(())
    }

    fn read<'b>(&'b self, part: &Part, values: &'b mut Vec<Vec<u8>>) -> Result<Vec<&'b [u8]>> {
        values.resize_with(self.arrays.len(), Vec::new);
        self.arrays.iter().zip(values).map(|(array, buffer)| array.read(part, buffer)).collect()
    }
}

/// The results that are reduced at a time: they stay in the cache of the processor.
const PASS: usize = 8192;
