//! Aligned columns of text.

use std::io::{self, Write};

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::paint::Paint;

/// A table of cells. Each column has the width of its widest cell.
pub struct Table<'w> {
    out: &'w mut dyn Write,
    rows: Vec<Row>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
    widths: Vec<usize>,
    paint: Paint,
}

/// A text in a table.
#[derive(Debug, Clone)]
pub struct Cell {
    /// A text before the text, without the style.
    before: String,
    text: String,
    style: Style,
}

impl Cell {
    /// Creates a cell with a style, which is shown if the table is painted.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, before: String::new() }
    }

    /// Returns the cell with a text before it that has no style.
    #[must_use]
    pub fn after(self, before: &str) -> Self {
        Self { before: format!("{before}{}", self.before), ..self }
    }

    fn width(&self) -> usize {
        self.before.width() + self.text.width()
    }

    fn painted(&self, paint: Paint) -> String {
        format!("{}{}", self.before, paint.styled(self.style, &self.text))
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

enum Row {
    Cells(Vec<Cell>),
    /// A line that belongs to the row before it.
    Line(Cell),
}

/// The most rows that are held back for alignment. A longer table is aligned in parts, so that its first
/// lines appear soon.
const ROWS: usize = 1000;

/// A cell wider than this only shifts the rest of its own row.
const WIDEST: usize = 48;

impl<'w> Table<'w> {
    /// Creates a table whose columns in `right` are aligned to the right.
    pub fn new(out: &'w mut dyn Write, right: &[usize]) -> Self {
        Self { out, rows: Vec::new(), right: right.to_vec(), widths: Vec::new(), paint: Paint(false) }
    }

    /// Returns the table with colours, or without.
    #[must_use]
    pub fn painted(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }

    /// Adds a row. Its last cell may run over the columns after it.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) -> io::Result<()> {
        let cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        self.widths.resize(self.widths.len().max(cells.len()), 0);
        let last = cells.len().saturating_sub(1);
        for (column, (width, cell)) in self.widths.iter_mut().zip(&cells).enumerate() {
            let columns = cell.width();
            if columns <= WIDEST && (column < last || self.right.contains(&column)) {
                *width = (*width).max(columns);
            }
        }
        self.push(Row::Cells(cells))
    }

    /// Adds a line outside the columns.
    pub fn line(&mut self, line: impl Into<Cell>) -> io::Result<()> {
        self.push(Row::Line(line.into()))
    }

    fn push(&mut self, row: Row) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() >= ROWS { self.finish() } else { Ok(()) }
    }

    /// Writes all rows that are held back.
    pub fn finish(&mut self) -> io::Result<()> {
        for row in self.rows.drain(..) {
            let cells = match row {
                Row::Cells(cells) => cells,
                Row::Line(line) => {
                    writeln!(self.out, "{}", line.painted(self.paint))?;
                    continue;
                }
            };
            let mut line = String::new();
            // The spaces before the next letter: a line does not end with them.
            let mut gap = 0;
            for (column, (cell, &width)) in cells.iter().zip(&self.widths).enumerate() {
                let pad = width.saturating_sub(cell.width());
                let (before, after) = if self.right.contains(&column) { (pad, 0) } else { (0, pad) };
                gap += if column == 0 { before } else { before + 2 };
                if cell.width() > 0 {
                    line.extend(std::iter::repeat_n(' ', gap));
                    line.push_str(&cell.painted(self.paint));
                    gap = 0;
                }
                gap += after;
            }
            writeln!(self.out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::HEAD;

    fn printed(fill: impl FnOnce(&mut Table<'_>), right: &[usize], paint: bool) -> String {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, right).painted(Paint(paint));
        fill(&mut table);
        table.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let fill = |table: &mut Table<'_>| {
            table.row(["a", "1", "x"]).unwrap();
            table.line("  between").unwrap();
            table.row(["größe", "100", ""]).unwrap();
            table.row(["日本", "20", "y"]).unwrap();
        };
        let expected = "a        1  x\n  between\ngröße  100\n日本    20  y\n";
        assert_eq!(printed(fill, &[1], false), expected);
    }

    #[test]
    fn a_very_wide_cell_shifts_only_its_own_row() {
        let fill = |table: &mut Table<'_>| {
            table.row([&*"x".repeat(WIDEST + 1), "1"]).unwrap();
            table.row(["ab", "2"]).unwrap();
        };
        assert!(printed(fill, &[], false).ends_with("x  1\nab  2\n"));
    }

    #[test]
    fn the_last_cell_of_a_short_row_runs_over_the_columns_after_it() {
        let fill = |table: &mut Table<'_>| {
            table.row(["link", "-> somewhere"]).unwrap();
            table.row(["data", "int8", "(3,)"]).unwrap();
        };
        assert_eq!(printed(fill, &[], false), "link  -> somewhere\ndata  int8  (3,)\n");
    }

    #[test]
    fn colours_do_not_change_the_columns() {
        let fill = |table: &mut Table<'_>| {
            table.row([Cell::styled("ab", HEAD), "x".into()]).unwrap();
            table.row(["c", "y"]).unwrap();
        };
        assert_eq!(printed(fill, &[], false), "ab  x\nc   y\n");
        assert_eq!(printed(fill, &[], true), "\u{1b}[1mab\u{1b}[0m  x\nc   y\n");
    }
}
