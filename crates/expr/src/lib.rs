//! Expressions over blocks of typed elements: parsed from text with Python's operators, typed by NumPy's
//! rules, and computed pass by pass in the cache of the processor.
//!
//! ```
//! use hyperslab_expr::{Expression, Operand, Registers, Type};
//!
//! let expression = Expression::parse("(temp > 310) & (level < 4)")?;
//! assert_eq!(expression.names(), ["temp", "level"]);
//! let operands = [("temp", Operand::Array(Type::F32)), ("level", Operand::Array(Type::U8))];
//! let program = expression.compile(&operands)?;
//! assert_eq!(program.result(), Type::Bool);
//! let temp: Vec<u8> = [311_f32, 312.0, 290.0].iter().flat_map(|one| one.to_ne_bytes()).collect();
//! let mut mask = [0; 3];
//! program.run(&[&temp, &[3, 9, 3]], 3, &mut mask, &mut Registers::default())?;
//! assert_eq!(mask, [1, 0, 0]);
//! # Ok::<(), hyperslab_expr::Error>(())
//! ```

#![forbid(unsafe_code)]

mod demand;
mod error;
mod kernels;
mod lower;
mod parse;
mod program;
mod reduce;
mod split;
mod token;
mod tree;
mod types;
mod typing;
mod value;

pub use demand::{Comparison, Demand, Scalar};
pub use error::{Error, Result};
pub use lower::Operand;
pub use program::{Program, Registers};
pub use reduce::{Accumulator, element_type, has_identity, result_type};
pub use split::Split;
pub use tree::{Reduction, ReductionKind};
pub use types::{Type, Unit};
pub use value::Value;

use tree::Node;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    tree: Node,
    names: Vec<String>,
    /// The number of reductions that were taken out.
    splits: usize,
}

impl Expression {
    /// Parses a text.
    ///
    /// Errors: `Syntax` with the position of the error and what to write instead.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with_records(text, &|_| false)
    }

    /// Parses a text in which the names that are `records` have members: `a/b` is the member `b` of the
    /// record `a`, as `a.b` is, and not a quotient.
    ///
    /// Errors: those of [`parse`](Self::parse).
    pub fn parse_with_records(text: &str, records: &dyn Fn(&str) -> bool) -> Result<Self> {
        let (tree, names) = parse::parse(text, records)?;
        Ok(Self { tree, names, splits: 0 })
    }

    /// Returns the names without a meaning of their own, in the order of their first appearance.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Compiles the expression for operands, which need to have all names.
    ///
    /// Errors: `UnknownName`; `Type` if an operation has no meaning for its operands.
    pub fn compile(&self, operands: &[(&str, Operand)]) -> Result<Program> {
        lower::lower(&self.tree, &self.names, operands, None)
    }

    /// Does the same as [`compile`](Self::compile), and casts the elements to a type, as NumPy's `astype`.
    ///
    /// Errors: those of `compile`; `Type` if there is no such cast.
    pub fn compile_as(&self, operands: &[(&str, Operand)], to: Type) -> Result<Program> {
        lower::lower(&self.tree, &self.names, operands, Some(to))
    }

    /// Returns the first reduction of the expression that contains no other one, and what is around it.
    /// `None` if there is no reduction: then the expression can be compiled.
    #[must_use]
    pub fn split(&self) -> Option<Split> {
        split::split(self)
    }

    /// Returns what must hold of single names for the expression to be true. `scalars` returns the values
    /// of the names that are scalars.
    #[must_use]
    pub fn demand(&self, scalars: &dyn Fn(&str) -> Option<Scalar>) -> Demand {
        demand::demand(&self.tree, &self.names, scalars)
    }
}
