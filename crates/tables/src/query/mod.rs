//! Queries: the rows of a table for which a condition is true.

mod bounds;
mod chunks;
mod columns;
mod plan;
mod scan;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hyperslab::internals::counted;
use hyperslab::{Axis, RequestError, Selection};
use hyperslab_expr::{Expression, Operand as Given, Program, Registers, Scalar, Type};

use self::columns::{Operand, value_of};
pub use self::columns::{gather, native};
use self::plan::{ConditionColumn, Need, Plan};
use self::scan::marked;
use crate::error::{Error, Result};
use crate::table::Table;

/// A condition over the columns of a table.
///
/// ```
/// use hyperslab::{Element, File};
/// use hyperslab_tables::{Query, Table};
///
/// #[derive(Element)]
/// struct Reading { time: i64, temperature: f32 }
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
    /// The columns of the condition, for the plan.
    paths: Vec<String>,
    need: Need,
}

/// What a name of a condition stands for, if not for the column of this name.
#[derive(Debug, Clone)]
pub enum Variable {
    /// The column at a path.
    Column(String),
    /// A number, a string or another scalar.
    Scalar(Given),
}

/// The largest number of single rows that one read looks at.
const LISTED: u64 = 1 << 20;

/// The rows of the first step of a search for a few rows. Each step is twice as long as the one before.
const FIRST_STEP: u64 = 1 << 16;

impl Query {
    /// Makes a query. A name of the condition is one of `variables`, or a column. Nested names are joined
    /// by `.` or by `/`.
    ///
    /// Errors: `Expression` if the condition has an error, or is not a truth value; `Argument` if a name is
    /// unknown, or a condition cannot use its column.
    pub fn new(table: &Table, condition: &str, variables: &[(String, Variable)]) -> Result<Self> {
        let is_record = |name: &str| {
            let start = format!("{}/", name.replace('.', "/"));
            variables.iter().all(|(known, _)| known != name)
                && table.columns().iter().any(|column| column.path.starts_with(&start))
        };
        let expression = Expression::parse_with_records(condition, &is_record)?;
        let mut found: Vec<(&str, Operand)> = Vec::new();
        let mut paths: Vec<(&str, String)> = Vec::new();
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
            let column = table.column(path)?;
            let operand = Operand::of(column)?;
            paths.push((name, column.path.clone()));
            given.push((name, Given::Array(operand.kind)));
            found.push((name, operand));
        }
        let program = expression.compile(&given)?;
        if program.result() != Type::Bool {
            let why =
                format!("must be a comparison, not {}; write, for example, \"temp > 310\"", program.result());
            return Err(Error::Argument { what: format!("condition {condition:?}"), why });
        }
        let scalar = |name: &str| match given.iter().find(|(known, _)| *known == name)? {
            (_, Given::Scalar(value)) => Some(Scalar { value: value.clone(), is_typed: false }),
            (_, Given::Typed(kind, bytes)) => Some(Scalar { value: value_of(*kind, bytes)?, is_typed: true }),
            (_, Given::Array(_)) => None,
        };
        let need = Need::of(&expression.demand(&scalar), &|name| {
            let (_, operand) = found.iter().find(|(known, _)| *known == name)?;
            Some(ConditionColumn {
                path: operand.path.clone(),
                kind: operand.kind,
                is_plain: operand.is_plain,
            })
        });
        let mut operands = Vec::new();
        for name in program.arrays() {
            let at = found.iter().position(|(known, _)| known == name);
            operands.extend(at.map(|at| found.swap_remove(at).1));
        }
        let paths = paths.into_iter().map(|(_, path)| path).collect();
        Ok(Self { table: table.clone(), program, operands, paths, need })
    }

    /// Returns the numbers of the rows of `rows` for which the condition is true, in ascending order: all of
    /// them, or the first `limit`.
    ///
    /// Errors: those of [`hyperslab::Dataset::blocks`].
    pub fn rows(&self, rows: Range<u64>, limit: Option<u64>) -> Result<Vec<u64>> {
        self.keeping(rows, |rows| {
            let Some(limit) = limit else { return self.all_rows(rows) };
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let (mut found, mut start, mut step) = (Vec::new(), rows.start, FIRST_STEP);
            while start < rows.end && found.len() < limit {
                let end = rows.end.min(start.saturating_add(step));
                let more = self.all_rows(start..end)?;
                found.try_reserve(more.len()).map_err(|_| too_many())?;
                found.extend(more);
                (start, step) = (end, step.saturating_mul(2));
            }
            found.truncate(limit);
            Ok(found)
        })
    }

    /// Calls `f` with those rows that the table has, while no other thread changes them.
    fn keeping<T>(&self, rows: Range<u64>, f: impl FnOnce(Range<u64>) -> Result<T>) -> Result<T> {
        self.table.dataset().keeping_rows(|| f(rows.start..rows.end.min(self.table.len())))
    }

    fn all_rows(&self, rows: Range<u64>) -> Result<Vec<u64>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        if self.operands.is_empty() {
            return if self.is_always_true()? { numbers(&[rows]) } else { Ok(Vec::new()) };
        }
        let plan = Plan::new(&self.table, &self.need, rows);
        if plan.is_exact {
            return numbers(&plan.rows);
        }
        let parts: Mutex<Vec<Vec<u64>>> = Mutex::default();
        self.look(plan, &|first, mask| {
            let found = marked(first, mask);
            if !found.is_empty() {
                parts.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            }
        })?;
        let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_unstable_by_key(|part| part.first().copied());
        let mut all = with_room(parts.iter().map(|part| part.len() as u64).sum())?;
        for part in &parts {
            all.extend_from_slice(part);
        }
        Ok(all)
    }

    /// Calls `found` with the masks of the rows that a plan names; see [`scan`](Self::scan).
    fn look(&self, plan: Plan, found: &(dyn Fn(u64, &[u8]) + Sync)) -> Result<()> {
        let count = plan.count();
        if plan.rows.len() > 1 && count <= LISTED {
            let listed = Selection::from_axes([Axis::from_indices(numbers(&plan.rows)?)]);
            return self.scan(&listed, false, found);
        }
        let by_bounds = plan.indexes.is_empty() && self.need != Need::Unknown;
        plan.rows.into_iter().try_for_each(|rows| self.scan(&Selection::from(rows), by_bounds, found))
    }

    /// Returns how the query finds the rows of `rows`: the indexes that it uses, and the rows that it looks
    /// at.
    ///
    /// Errors: those of [`Query::rows`].
    pub fn explain(&self, rows: Range<u64>) -> Result<String> {
        let (plan, left_out) = self.keeping(rows, |rows| {
            let plan = Plan::new(&self.table, &self.need, rows.clone());
            let left_out = if plan.indexes.is_empty() { self.chunks_left_out(&rows)? } else { (0, 0) };
            Ok((plan, left_out))
        })?;
        let (width, row) = (self.width(), self.table.dataset().element_size());
        let left_out = match left_out {
            (0, _) => String::new(),
            (chunks, of) => format!("\nleft out by minima and maxima: {chunks} of {}", counted(of, "chunk")),
        };
        let names = if self.paths.is_empty() { "none".to_owned() } else { self.paths.join(", ") };
        Ok(format!("{plan}{left_out}\ncolumns of the condition: {names} ({width} of {row} bytes of a row)"))
    }

    /// Returns the paths of the columns whose indexes the query uses for `rows`.
    ///
    /// Errors: those of [`Query::rows`].
    pub fn indexes(&self, rows: Range<u64>) -> Result<Vec<String>> {
        let mut indexes = self.keeping(rows, |rows| Ok(Plan::new(&self.table, &self.need, rows)))?.indexes;
        indexes.sort_unstable();
        indexes.dedup();
        Ok(indexes)
    }

    /// Returns the number of rows of `rows` for which the condition is true.
    ///
    /// Errors: those of [`hyperslab::Dataset::blocks`].
    pub fn count(&self, rows: Range<u64>) -> Result<u64> {
        self.keeping(rows, |rows| self.count_in(rows))
    }

    fn count_in(&self, rows: Range<u64>) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        if self.operands.is_empty() {
            return Ok(if self.is_always_true()? { rows.end - rows.start } else { 0 });
        }
        let plan = Plan::new(&self.table, &self.need, rows);
        if plan.is_exact {
            return Ok(plan.count());
        }
        let count = AtomicU64::new(0);
        self.look(plan, &|_, mask| {
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

/// Returns the numbers of rows in ascending order.
fn numbers(ranges: &[Range<u64>]) -> Result<Vec<u64>> {
    let mut all = with_room(ranges.iter().map(|rows| rows.end - rows.start).sum())?;
    all.extend(ranges.iter().cloned().flatten());
    Ok(all)
}

/// Returns an empty list with room for the numbers of `count` rows.
fn with_room(count: u64) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    all.try_reserve_exact(usize::try_from(count).map_err(|_| too_many())?).map_err(|_| too_many())?;
    Ok(all)
}

fn too_many() -> Error {
    let what = "the numbers of the rows do not fit into memory: ask for fewer rows";
    let limit = isize::MAX.unsigned_abs() as u64 / 8;
    hyperslab::Error::from(RequestError::TooMany { what, limit }).into()
}
