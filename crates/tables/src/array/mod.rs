//! Calculations: an expression over arrays, which may be larger than memory. Parts of the arrays are read,
//! computed and written by all threads, so that no array of the size of an operand is made on the way.

mod buffers;
mod operand;
mod output;
mod parts;
mod reduce;
mod shape;
mod stage;

use hyperslab::Dim;
use hyperslab_expr::{Expression, Operand as Given, Type};

use self::operand::Array;
pub use self::operand::Operand;
use self::stage::Stage;
use crate::error::Result;

/// An expression with its operands, which are broadcast by NumPy's rules.
///
/// ```
/// use hyperslab::File;
/// use hyperslab_expr::Type;
/// use hyperslab_tables::{Calculation, Operand};
///
/// # fn main() -> hyperslab_tables::Result<()> {
/// let file = File::in_memory()?;
/// let a = file.root().new_dataset::<f64>("a").shape([2, 3]).create_with(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let r = file.root().new_dataset::<f64>("r").shape([2, 3]).create()?;
/// let weights: Vec<u8> = [1.0_f64, 10.0, 100.0].iter().flat_map(|one| one.to_ne_bytes()).collect();
/// let weights = Operand::Memory { kind: Type::F64, shape: vec![3], bytes: &weights };
/// let operands = [("a".to_owned(), Operand::Dataset(a)), ("w".to_owned(), weights)];
/// let calculation = Calculation::new("(a - mean(a)) * w", &operands, None)?;
/// assert_eq!(calculation.outline()?, (vec![2, 3], Type::F64));
/// calculation.run_to(&r, None)?;
/// assert_eq!(r.read::<f64>([1..2, 0..3])?, [0.5, 15.0, 250.0]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Calculation<'a> {
    expression: Expression,
    arrays: Vec<(String, Array<'a>)>,
    scalars: Vec<(String, Given)>,
}

impl<'a> Calculation<'a> {
    /// Makes a calculation. With `rows`, it uses only these rows of the first axis of the operands. An
    /// operand that is broadcast along this axis keeps its only row.
    ///
    /// Errors: `Expression` if the text has an error or a name is unknown; `Argument` if an expression cannot
    /// compute with an operand, if the shapes of the operands do not fit, or if there are no such rows.
    pub fn new(text: &str, operands: &[(String, Operand<'a>)], rows: Option<Dim>) -> Result<Self> {
        let expression = Expression::parse(text)?;
        let mut made = Self { expression, arrays: Vec::new(), scalars: Vec::new() };
        for (name, operand) in operands.iter().filter(|(name, _)| made.expression.names().contains(name)) {
            match (Array::of(name, operand)?, operand) {
                (Some(array), _) => made.arrays.push((name.clone(), array)),
                (None, Operand::Scalar(scalar)) => made.scalars.push((name.clone(), scalar.clone())),
                (None, _) => {}
            }
        }
        if let Some(rows) = rows {
            made.use_rows(rows)?;
        }
        Ok(made)
    }

    fn use_rows(&mut self, rows: Dim) -> Result<()> {
        let whole = shape::broadcast(self.arrays.iter().map(|(name, array)| (&**name, &*array.shape)))?;
        let len = whole.first().copied().unwrap_or(0);
        if rows.end() > len || rows.step == 0 {
            let what = format!("rows {} to {}", rows.start, rows.end());
            let why = format!("the operands have {len} rows");
            return Err(crate::Error::Argument { what, why });
        }
        for (_, array) in &mut self.arrays {
            if array.shape.len() == whole.len() && array.shape.first() == Some(&len) {
                array.use_rows(rows);
            }
        }
        Ok(())
    }

    /// Returns the shape and the type of the result.
    ///
    /// Errors: `Expression` if an operation has no meaning for its operands; `Argument` if their shapes do
    /// not fit, or a reduction has no such axis.
    pub fn outline(&self) -> Result<(Vec<u64>, Type)> {
        let stage = self.stage(&|stage, reduction| {
            let (shape, kind) = reduce::outline(stage, reduction)?;
            Ok(Array::results(kind, shape, Vec::new()))
        })?;
        Ok((stage.shape()?, stage.kind()?))
    }

    /// Returns the calculation with the results of its reductions in their places.
    fn reduced(&self) -> Result<Stage<'a>> {
        self.stage(&reduce::run)
    }

    fn stage(&self, reduce: &stage::Reduce<'_, 'a>) -> Result<Stage<'a>> {
        let mut arrays = self.arrays.clone();
        let mut expression = self.expression.clone();
        while let Some(split) = expression.split() {
            let stage = Stage::new(split.inner, &arrays, &self.scalars);
            arrays.push((split.name, reduce(&stage, split.reduction)?));
            expression = split.outer;
        }
        Ok(Stage::new(expression, &arrays, &self.scalars))
    }
}
