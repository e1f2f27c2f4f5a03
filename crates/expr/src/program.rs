//! Programs: an expression as steps over registers, each of which holds a pass of elements.

use crate::error::Result;
use crate::kernels::{self, In, Op};
use crate::types::Type;

/// The elements of a pass: few enough that the registers of a program stay in the cache of the processor.
const PASS: usize = 4096;

/// An expression that is compiled for operands of certain types. It computes elements of one type.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) result: OperandSource,
    pub(crate) kind: Type,
    /// The arrays that the program reads: their names and types.
    pub(crate) names: Vec<String>,
    pub(crate) types: Vec<Type>,
    pub(crate) constants: Vec<Constant>,
    /// The type of each register.
    pub(crate) registers: Vec<Type>,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) inputs: Vec<OperandSource>,
    /// The number of the register for the results.
    pub(crate) out: usize,
}

/// Where an operand of a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandSource {
    Array(usize),
    Register(usize),
    Constant(usize),
}

/// A scalar of a type, in memory that is aligned for every type.
#[derive(Debug, Clone)]
pub(crate) struct Constant {
    words: Vec<u64>,
    len: usize,
}

impl Constant {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut words = vec![0; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Self { words, len: bytes.len() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

/// The memory of a program, kept from call to call.
#[derive(Debug, Default)]
pub struct Registers(Vec<Vec<u64>>);

impl Program {
    /// Returns the type of the computed elements.
    #[must_use]
    pub fn result(&self) -> Type {
        self.kind
    }

    /// Returns the names of the arrays that the program reads, in the order in which `run` takes them.
    #[must_use]
    pub fn arrays(&self) -> &[String] {
        &self.names
    }

    /// Computes `count` elements into `out`. Each array has `count` elements of its type, and `out` is as
    /// long as the results.
    ///
    /// Errors: `Type` if an integer has a negative exponent.
    pub fn run(
        &self,
        arrays: &[&[u8]],
        count: usize,
        out: &mut [u8],
        registers: &mut Registers,
    ) -> Result<()> {
        registers.0.resize_with(self.registers.len(), Vec::new);
        for (words, kind) in registers.0.iter_mut().zip(&self.registers) {
            words.resize((PASS.min(count) * kind.size()).div_ceil(8), 0);
        }
        let size = self.kind.size();
        let mut start = 0;
        while start < count {
            let len = PASS.min(count - start);
            for step in &self.steps {
                // The register of the results is none of the operands.
                let mut words = std::mem::take(&mut registers.0[step.out]);
                let inputs = self.inputs(&step.inputs, arrays, (start, len), registers);
                let results = bytemuck::cast_slice_mut::<u64, u8>(&mut words);
                let done =
                    kernels::run(step.op, &inputs, &mut results[..len * self.registers[step.out].size()]);
                registers.0[step.out] = words;
                done?;
            }
            let results = self.input(self.result, arrays, (start, len), registers);
            let place = &mut out[start * size..(start + len) * size];
            if results.is_one {
                place.chunks_exact_mut(size.max(1)).for_each(|one| one.copy_from_slice(results.bytes));
            } else {
                place.copy_from_slice(results.bytes);
            }
            start += len;
        }
        Ok(())
    }

    fn inputs<'a>(
        &'a self,
        sources: &[OperandSource],
        arrays: &[&'a [u8]],
        pass: (usize, usize),
        registers: &'a Registers,
    ) -> [In<'a>; 3] {
        let mut inputs = [In { bytes: &[], is_one: true }; 3];
        for (input, source) in inputs.iter_mut().zip(sources) {
            *input = self.input(*source, arrays, pass, registers);
        }
        inputs
    }

    fn input<'a>(
        &'a self,
        source: OperandSource,
        arrays: &[&'a [u8]],
        (start, len): (usize, usize),
        registers: &'a Registers,
    ) -> In<'a> {
        match source {
            OperandSource::Array(number) => {
                let size = self.types[number].size();
                In { bytes: &arrays[number][start * size..(start + len) * size], is_one: false }
            }
            OperandSource::Register(number) => {
                let bytes: &[u8] = bytemuck::cast_slice(&registers.0[number]);
                In { bytes: &bytes[..len * self.registers[number].size()], is_one: false }
            }
            OperandSource::Constant(number) => In { bytes: self.constants[number].bytes(), is_one: true },
        }
    }
}
