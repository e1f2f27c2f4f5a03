//! Queries: the rows of a table for which a condition is true.

mod columns;
mod scan;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hyperslab_expr::{Expression, Operand as Given, Program, Registers, Type};

use self::columns::Operand;
use self::scan::marked;
use crate::error::{Error, Result};
use crate::table::Table;

/// A condition over the columns of a table.
///
/// ```
/// use hyperslab::{File, record};
/// use hyperslab_tables::{Query, Table};
///
/// record! {
///     struct Reading { time: i64, temperature: f32 }
/// }
///
/// # fn main() -> hyperslab_tables::Result<()> {
/// let file = File::in_memory()?;
/// let dataset = file.root().new_dataset::<Reading>("readings").shape([3]).max_shape([None]).chunks([1024]);
/// let rows = [(0, 288.0), (60, 289.5), (120, 290.0)];
/// let rows = rows.map(|(time, temperature)| Reading { time, temperature });
/// let table = Table::create(dataset.create_with(&rows)?, "Readings of a station", None)?;
/// let query = Query::new(&table, "(temperature > 289) & (time < 100)", &[])?;
/// assert_eq!(query.rows(0..table.len(), None)?, [1]);
/// assert_eq!(query.count(0..table.len())?, 1);
/// # Ok(()) }
/// ```
pub struct Query {
    table: Table,
    program: Program,
    /// The columns that the program takes, in its order.
    operands: Vec<Operand>,
}

/// What a name of a condition stands for, if not for the column of this name.
#[derive(Debug, Clone)]
pub enum Variable {
    /// The column at a path.
    Column(String),
    /// A number, a string or another scalar.
    Scalar(Given),
}

/// The rows of the first step of a search for a few rows. Each step is twice as long as the one before.
const FIRST_STEP: u64 = 1 << 16;

impl Query {
    /// Makes a query. A name of the condition is one of `variables`, or a column.
    ///
    /// Errors: `Expression` if the condition has an error, or is not a truth value; `Argument` if a name is
    /// unknown, or a condition cannot use its column.
    pub fn new(table: &Table, condition: &str, variables: &[(String, Variable)]) -> Result<Self> {
        let expression = Expression::parse(condition)?;
        let mut found: Vec<(&str, Operand)> = Vec::new();
        let mut given: Vec<(&str, Given)> = Vec::new();
        for name in expression.names() {
            let variable = variables.iter().find(|(known, _)| known == name).map(|(_, variable)| variable);
            let path = match variable {
                Some(Variable::Scalar(scalar)) => {
                    given.push((name, scalar.clone()));
                    continue;
                }
                Some(Variable::Column(path)) => path,
                None => name,
            };
            let operand = Operand::of(table.column(path)?)?;
            given.push((name, Given::Array(operand.kind)));
            found.push((name, operand));
        }
        let program = expression.compile(&given)?;
        if program.result() != Type::Bool {
            let why = "its values are no truth values: compare them, as in \"temp > 310\"".to_owned();
            return Err(Error::Argument { what: format!("condition {condition:?}"), why });
        }
        let mut operands = Vec::new();
        for name in program.arrays() {
            let at = found.iter().position(|(known, _)| known == name);
            operands.extend(at.map(|at| found.swap_remove(at).1));
        }
        Ok(Self { table: table.clone(), program, operands })
    }

    /// Returns the numbers of the rows of `rows` for which the condition is true, in ascending order: all of
    /// them, or the first `limit`.
    ///
    /// Errors: those of [`hyperslab::Dataset::blocks`].
    pub fn rows(&self, rows: Range<u64>, limit: Option<u64>) -> Result<Vec<u64>> {
        let rows = rows.start..rows.end.min(self.table.len());
        let Some(limit) = limit else { return self.all_rows(rows) };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut found, mut start, mut step) = (Vec::new(), rows.start, FIRST_STEP);
        while start < rows.end && found.len() < limit {
            let end = rows.end.min(start.saturating_add(step));
            found.extend(self.all_rows(start..end)?);
            (start, step) = (end, step.saturating_mul(2));
        }
        found.truncate(limit);
        Ok(found)
    }

    fn all_rows(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        if self.operands.is_empty() {
            return Ok(if self.is_always_true()? { rows.collect() } else { Vec::new() });
        }
        let parts: Mutex<Vec<Vec<u64>>> = Mutex::default();
        self.scan(rows, &|first, mask| {
            let found = marked(first, mask);
            if !found.is_empty() {
                parts.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            }
        })?;
        let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_unstable_by_key(|part| part.first().copied());
        Ok(parts.concat())
    }

    /// Returns the number of rows of `rows` for which the condition is true.
    ///
    /// Errors: those of [`hyperslab::Dataset::blocks`].
    pub fn count(&self, rows: Range<u64>) -> Result<u64> {
        let rows = rows.start..rows.end.min(self.table.len());
        if rows.is_empty() {
            return Ok(0);
        }
        if self.operands.is_empty() {
            return Ok(if self.is_always_true()? { rows.end - rows.start } else { 0 });
        }
        let count = AtomicU64::new(0);
        self.scan(rows, &|_, mask| {
            count.fetch_add(mask.iter().map(|&mark| u64::from(mark)).sum(), Ordering::Relaxed);
        })?;
        Ok(count.into_inner())
    }

    /// Returns the value of a condition that names no column.
    fn is_always_true(&self) -> Result<bool> {
        let mut mask = [0];
        self.program.run(&[], 1, &mut mask, &mut Registers::default())?;
        Ok(mask != [0])
    }
}
