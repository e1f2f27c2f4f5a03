//! Aligned columns of text.

use std::io::{self, Write};

/// A table of cells. Each column has the width of its widest cell.
pub(crate) struct Table<'w> {
    out: &'w mut dyn Write,
    rows: Vec<Row>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
    widths: Vec<usize>,
}

enum Row {
    Cells(Vec<String>),
    /// A line that belongs to the row before it.
    Line(String),
}

/// The most rows that are held back for alignment. A longer table is aligned in parts, so that its first
/// lines appear soon.
const ROWS: usize = 1000;

/// A cell wider than this only shifts the rest of its own row.
const WIDEST: usize = 48;

impl<'w> Table<'w> {
    /// Creates a table whose columns in `right` are aligned to the right.
    pub(crate) fn new(out: &'w mut dyn Write, right: &[usize]) -> Self {
        Self { out, rows: Vec::new(), right: right.to_vec(), widths: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<String>) -> io::Result<()> {
        self.widths.resize(self.widths.len().max(cells.len()), 0);
        for (width, cell) in self.widths.iter_mut().zip(&cells) {
            let letters = cell.chars().count();
            if letters <= WIDEST {
                *width = (*width).max(letters);
            }
        }
        self.push(Row::Cells(cells))
    }

    /// Adds a line outside the columns.
    pub(crate) fn line(&mut self, line: String) -> io::Result<()> {
        self.push(Row::Line(line))
    }

    fn push(&mut self, row: Row) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() >= ROWS { self.finish() } else { Ok(()) }
    }

    /// Writes all rows that are held back.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        for row in self.rows.drain(..) {
            let cells = match row {
                Row::Cells(cells) => cells,
                Row::Line(line) => {
                    writeln!(self.out, "{line}")?;
                    continue;
                }
            };
            let mut line = String::new();
            for (column, (cell, &width)) in cells.iter().zip(&self.widths).enumerate() {
                let pad = width.saturating_sub(cell.chars().count());
                let (before, after) = if self.right.contains(&column) { (pad, 0) } else { (0, pad) };
                line.push_str(if column == 0 { "" } else { "  " });
                line.extend(std::iter::repeat_n(' ', before));
                line.push_str(cell);
                line.extend(std::iter::repeat_n(' ', after));
            }
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &[1]);
        table.row(vec!["a".into(), "1".into(), "x".into()]).unwrap();
        table.line("  between".into()).unwrap();
        table.row(vec!["größe".into(), "100".into(), String::new()]).unwrap();
        table.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a        1  x\n  between\ngröße  100\n");
    }

    #[test]
    fn a_very_wide_cell_shifts_only_its_own_row() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &[]);
        table.row(vec!["x".repeat(WIDEST + 1), "1".into()]).unwrap();
        table.row(vec!["ab".into(), "2".into()]).unwrap();
        table.finish().unwrap();
        assert!(String::from_utf8(out).unwrap().ends_with("x  1\nab  2\n"));
    }
}
