//! Chooses the rows that a query looks at: those that an index of a column of the condition names, or all.
//!
//! An index may name too many rows and never too few (decision 0015): every row that it names is looked at. A
//! condition is cut into what single columns must satisfy (`Demand`), so any tree of `&` and `|` can use
//! indexes. An index that is damaged or out of date is not used. Rows of complete indexes are not looked at
//! if the intervals say all of the condition.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Bound, Range};

use hyperslab::internals::counted;
use hyperslab_expr::{Comparison, Demand, Type, Value};

use super::bounds::{Interval, Key};
use crate::error::Result;
use crate::index::{self, Candidates, ColumnIndex};
use crate::table::Table;

/// A scan is faster than an index that names more than this share of the rows.
const SHARE: u64 = 8;

/// What must hold of the columns of a table for a condition to be true.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Need {
    Unknown,
    All(Vec<Need>),
    Any(Vec<Need>),
    Column { path: String, kind: Type, interval: Interval },
}

/// The rows that a query looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The columns whose indexes are used. Without any, all rows are looked at.
    pub(super) indexes: Vec<String>,
    /// Sorted, and not touching.
    pub(super) rows: Vec<Range<u64>>,
    /// Whether all of these rows satisfy the condition.
    pub(super) is_exact: bool,
    /// Why indexes of columns of the condition are not used.
    pub(super) refused: Vec<String>,
}

/// A column of a condition.
#[derive(Debug, Clone)]
pub(super) struct ConditionColumn {
    pub(super) path: String,
    pub(super) kind: Type,
    /// Whether an index has the values of the column as the condition gets them.
    pub(super) is_plain: bool,
}

impl Need {
    /// Returns the need of a demand. `column` returns the column that a name stands for.
    pub(super) fn of(demand: &Demand, column: &dyn Fn(&str) -> Option<ConditionColumn>) -> Self {
        let each = |demands: &[Demand]| demands.iter().map(|demand| Self::of(demand, column)).collect();
        match demand {
            Demand::Unknown => Self::Unknown,
            Demand::All(demands) => Self::All(each(demands)),
            Demand::Any(demands) => Self::Any(each(demands)),
            Demand::Compare { name, op, value } => Self::compared(column(name), *op, value),
            // The bits of integers may be joined as truth values are.
            Demand::Is(name) => {
                let column = column(name).filter(|column| column.kind == Type::Bool);
                Self::compared(column, Comparison::Equal, &Value::Bool(true))
            }
        }
    }

    fn compared(column: Option<ConditionColumn>, op: Comparison, value: &Value) -> Self {
        let Some(ConditionColumn { path, kind, is_plain }) = column else { return Self::Unknown };
        match Interval::of(kind, op, value) {
            Interval::Unknown => Self::Unknown,
            interval if is_plain => Self::Column { path, kind, interval },
            interval => Self::Column { path, kind, interval: interval.and(Interval::Unknown) },
        }
    }
}

impl Plan {
    /// Returns the number of rows.
    pub(super) fn count(&self) -> u64 {
        self.rows.iter().map(|rows| rows.end - rows.start).sum()
    }

    /// Returns the plan that looks at all of `rows`.
    pub(super) fn scan(rows: Range<u64>) -> Self {
        Self { indexes: Vec::new(), rows: vec![rows], is_exact: false, refused: Vec::new() }
    }

    /// Returns the plan for a need: that of the index that names the fewest rows, or a scan.
    pub(super) fn new(table: &Table, need: &Need, rows: Range<u64>) -> Self {
        let mut plan = Self::scan(rows.clone());
        let mut planning = Planning { table, most: (rows.end - rows.start) / SHARE, plan: &mut plan };
        if let Some(found) = planning.need(need) {
            plan.rows = clipped(found.rows, &rows);
            plan.is_exact = found.is_exact;
        } else {
            plan.indexes.clear();
        }
        plan
    }
}

struct Planning<'a> {
    table: &'a Table,
    /// The number of rows from which on a scan is faster.
    most: u64,
    plan: &'a mut Plan,
}

/// Rows that hold all rows that satisfy a need.
struct FoundRows {
    rows: Vec<Range<u64>>,
    /// Whether all of these rows satisfy it.
    is_exact: bool,
}

impl FoundRows {
    fn count(&self) -> u64 {
        self.rows.iter().map(|rows| rows.end - rows.start).sum()
    }
}

impl Planning<'_> {
    fn need(&mut self, need: &Need) -> Option<FoundRows> {
        match need {
            Need::Unknown => None,
            Need::Column { path, kind, interval } => self.column(path, *kind, interval),
            Need::All(needs) => self.all(needs),
            Need::Any(needs) => {
                let (mut count, mut rows, mut is_exact) = (0, Vec::new(), true);
                for need in needs {
                    let found = self.need(need)?;
                    count += found.count();
                    rows.extend(found.rows);
                    is_exact &= found.is_exact;
                }
                (count <= self.most).then(|| FoundRows { rows: joined(rows), is_exact })
            }
        }
    }

    /// All rows of the result satisfy all needs, so the rows of any of them will do.
    fn all(&mut self, needs: &[Need]) -> Option<FoundRows> {
        let mut columns: BTreeMap<&str, (Type, Interval)> = BTreeMap::new();
        for need in needs {
            if let Need::Column { path, kind, interval } = need {
                let interval = match columns.remove(&**path) {
                    Some((_, known)) => known.and(interval.clone()),
                    None => interval.clone(),
                };
                columns.insert(path, (*kind, interval));
            }
        }
        let others: Vec<&Need> = needs.iter().filter(|need| !matches!(need, Need::Column { .. })).collect();
        let is_one = columns.len() + others.len() == 1;
        let mut best: Option<(Vec<String>, FoundRows)> = None;
        let before = self.plan.indexes.clone();
        let mut keep = |this: &mut Self, found: Option<FoundRows>| {
            let indexes = std::mem::replace(&mut this.plan.indexes, before.clone());
            if let Some(found) = found
                && best.as_ref().is_none_or(|(_, known)| found.count() < known.count())
            {
                best = Some((indexes, found));
            }
        };
        for (path, (kind, interval)) in &columns {
            let found = self.column(path, *kind, interval);
            keep(self, found);
        }
        for need in others {
            let found = self.need(need);
            keep(self, found);
        }
        best.map(|(indexes, found)| {
            self.plan.indexes = indexes;
            FoundRows { is_exact: found.is_exact && is_one, ..found }
        })
    }

    fn column(&mut self, path: &str, kind: Type, interval: &Interval) -> Option<FoundRows> {
        let (low, high) = match interval {
            Interval::Unknown => return None,
            Interval::Empty => return Some(FoundRows { rows: Vec::new(), is_exact: true }),
            Interval::Between { low, high, .. } => (low, high),
        };
        let bytes = |key: &Key| key.bytes(kind);
        let (low, high) = (low.as_ref().map(bytes), high.as_ref().map(bytes));
        match self.searched(path, low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice)) {
            Ok(Some(found)) => {
                self.plan.indexes.push(path.to_owned());
                Some(FoundRows { is_exact: found.is_exact && interval.is_exact(), ..found })
            }
            Ok(None) => None,
            // What cannot be used is not used: a scan gives the answer, or the error of the table.
            Err(error) => {
                self.plan.refused.push(error.to_string());
                None
            }
        }
    }

    /// Returns the rows that an index names, unless they are too many.
    fn searched(&self, path: &str, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Option<FoundRows>> {
        let Some(index) = ColumnIndex::open(self.table.dataset(), path)? else { return Ok(None) };
        if index.count(low, high)? > self.most {
            return Ok(None);
        }
        let found = match index.find(low, high)? {
            Candidates::Ranges(rows) => FoundRows { rows, is_exact: false },
            Candidates::Rows { rows, unknown } => {
                let is_exact = unknown.is_empty();
                let mut ranges: Vec<Range<u64>> = rows.into_iter().map(|row| row..row + 1).collect();
                ranges.push(unknown);
                FoundRows { rows: joined(ranges), is_exact }
            }
        };
        Ok((found.count() <= self.most).then_some(found))
    }
}

/// Returns ranges sorted, and joined where they touch.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    index::joined(ranges.into_iter())
}

/// Returns the parts of ranges that are in `rows`.
fn clipped(ranges: Vec<Range<u64>>, rows: &Range<u64>) -> Vec<Range<u64>> {
    let inside = ranges.into_iter().map(|range| range.start.max(rows.start)..range.end.min(rows.end));
    inside.filter(|range| range.start < range.end).collect()
}

/// The text that `explain` shows.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count();
        match &self.indexes[..] {
            [] => write!(f, "scan of {}", counted(count, "row"))?,
            indexes => {
                let mut indexes = indexes.to_vec();
                indexes.sort_unstable();
                indexes.dedup();
                let word = if indexes.len() == 1 { "index" } else { "indexes" };
                let what = if self.is_exact { "" } else { " to look at" };
                write!(f, "{word} of {}: {}{what}", indexes.join(", "), counted(count, "row"))?;
            }
        }
        for why in &self.refused {
            write!(f, "\nnot used: {why}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn joined_ranges_hold_the_same_rows(ranges in prop::collection::vec((0_u64..50, 0_u64..9), 0..12),
        start in 0_u64..30, len in 0_u64..30) {
            let ranges: Vec<Range<u64>> = ranges.into_iter().map(|(start, len)| start..start + len).collect();
            let rows = start..start + len;
            let found = clipped(joined(ranges.clone()), &rows);
            prop_assert!(found.windows(2).all(|pair| pair[0].end < pair[1].start));
            for row in 0..70 {
                let expected = rows.contains(&row) && ranges.iter().any(|range| range.contains(&row));
                prop_assert_eq!(found.iter().any(|range| range.contains(&row)), expected);
            }
        }
    }
}
