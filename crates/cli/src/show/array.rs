//! Writes elements as a nested array, like NumPy's text or as JSON. The elements are given one after another.

use std::io::{self, Write};

use super::value::Value;

/// A writer of an array, whose elements come in row-major order.
pub(crate) struct ArrayWriter<'w> {
    out: &'w mut dyn Write,
    shape: Vec<u64>,
    /// The number of elements of the whole array.
    total: u64,
    style: Style,
    /// The number of elements written.
    count: u64,
    /// The number of columns written in the current line.
    column: usize,
    /// The width of the widest number so far.
    width: usize,
    /// Whether elements are records, each on its own line.
    records: bool,
    /// The most items that are shown of a list inside an element.
    most: usize,
}

/// The style of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Like NumPy, in lines of about 100 columns.
    Lines,
    /// Like NumPy, in one line.
    OneLine,
    /// JSON.
    Json,
}

/// A line is broken before an element that would extend past this column.
const LINE: usize = 100;

impl<'w> ArrayWriter<'w> {
    /// Creates a writer for an array of `shape`. Lists inside elements are cut after `most` items, except in
    /// JSON.
    pub(crate) fn new(out: &'w mut dyn Write, shape: &[u64], style: Style, most: usize) -> Self {
        let total = shape.iter().fold(1_u64, |product, &len| product.saturating_mul(len));
        Self { out, shape: shape.to_vec(), total, style, count: 0, column: 0, width: 0, records: false, most }
    }

    /// Writes the next elements.
    pub(crate) fn push(&mut self, values: &[Value]) -> io::Result<()> {
        let text =
            |value: &Value| if self.style == Style::Json { value.json() } else { value.text(self.most) };
        let cells: Vec<String> = values.iter().map(text).collect();
        if self.style == Style::Lines {
            let numbers = cells.iter().zip(values).filter(|(_, value)| value.is_numeric());
            self.width = numbers.map(|(cell, _)| cell.len()).max().unwrap_or(0).max(self.width);
        }
        self.records |= matches!(values, [Value::Record(_), ..]);
        for (cell, value) in cells.iter().zip(values) {
            self.cell(cell, value)?;
        }
        Ok(())
    }

    fn cell(&mut self, cell: &str, value: &Value) -> io::Result<()> {
        let rank = self.shape.len();
        let opened = self.edges(self.count);
        let letters = cell.chars().count();
        let pad = if value.is_numeric() && rank > 0 { self.width.saturating_sub(letters) } else { 0 };
        if self.count > 0 {
            self.separate(opened, pad + letters)?;
        }
        for _ in 0..opened {
            write!(self.out, "[")?;
        }
        write!(self.out, "{:pad$}{cell}", "")?;
        self.column += opened + pad + letters;
        self.count += 1;
        if self.count < self.total {
            let closed = self.edges(self.count);
            self.close(closed)?;
        }
        Ok(())
    }

    /// Writes the separator before the next element, which starts `opened` axes and takes `columns` columns.
    fn separate(&mut self, opened: usize, columns: usize) -> io::Result<()> {
        let rank = self.shape.len();
        match self.style {
            Style::Json => write!(self.out, ","),
            Style::OneLine => write!(self.out, " "),
            Style::Lines if opened > 0 || self.records || self.column + columns > LINE => {
                let lines = opened.max(1);
                let indent = rank - opened;
                self.column = indent;
                write!(self.out, "{}{:indent$}", "\n".repeat(lines), "")
            }
            Style::Lines => {
                self.column += 1;
                write!(self.out, " ")
            }
        }
    }

    /// Returns how many axes start at element `count`, and end before it.
    fn edges(&self, count: u64) -> usize {
        let mut inner = 1_u64;
        let begins = self.shape.iter().rev().take_while(|&&len| {
            inner = inner.saturating_mul(len);
            count.is_multiple_of(inner)
        });
        begins.count()
    }

    fn close(&mut self, count: usize) -> io::Result<()> {
        write!(self.out, "{}", "]".repeat(count))
    }

    /// Closes all open brackets. If elements are missing, text shows an ellipsis.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let rank = self.shape.len();
        if self.count == 0 {
            return write!(self.out, "{}", if rank == 0 { "" } else { "[]" });
        }
        let left_out = self.count < self.total;
        let just_closed = if left_out { self.edges(self.count) } else { 0 };
        if left_out && self.style != Style::Json {
            if self.style == Style::Lines && (just_closed > 0 || self.records) {
                write!(self.out, "\n{:indent$}…", "", indent = rank - just_closed)?;
            } else {
                write!(self.out, " …")?;
            }
        }
        self.close(rank - just_closed)
    }
}

/// Returns an array in one line of text.
pub(crate) fn one_line(shape: &[u64], values: &[Value], most: usize) -> String {
    let mut text = Vec::new();
    let mut writer = ArrayWriter::new(&mut text, shape, Style::OneLine, most);
    // Writing to memory does not fail.
    let _ = writer.push(values);
    let _ = writer.finish();
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shape: &[u64], style: Style, count: u64) -> String {
        let mut text = Vec::new();
        let mut writer = ArrayWriter::new(&mut text, shape, style, 9);
        let values: Vec<Value> = (0..count).map(|k| Value::Number(k.to_string())).collect();
        let (first, rest) = values.split_at(values.len().min(4));
        writer.push(first).unwrap();
        writer.push(rest).unwrap();
        writer.finish().unwrap();
        String::from_utf8(text).unwrap()
    }

    /// The expected texts are `str(numpy.arange(n).reshape(shape))`.
    #[test]
    fn whole_arrays_look_like_numpy() {
        assert_eq!(written(&[3], Style::Lines, 3), "[0 1 2]");
        assert_eq!(written(&[2, 3], Style::Lines, 6), "[[0 1 2]\n [3 4 5]]");
        assert_eq!(written(&[2, 2, 2], Style::Lines, 8), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
        assert_eq!(written(&[], Style::Lines, 1), "0");
        assert_eq!(written(&[0, 3], Style::Lines, 0), "[]");
    }

    #[test]
    fn json_is_valid_even_if_the_array_is_incomplete() {
        assert_eq!(written(&[2, 3], Style::Json, 6), "[[0,1,2],[3,4,5]]");
        assert_eq!(written(&[2, 3], Style::Json, 3), "[[0,1,2]]");
        assert_eq!(written(&[2, 2, 2], Style::Json, 5), "[[[0,1],[2,3]],[[4]]]");
    }

    #[test]
    fn missing_elements_are_shown_as_an_ellipsis_in_their_place() {
        assert_eq!(written(&[9], Style::Lines, 2), "[0 1 …]");
        assert_eq!(written(&[3, 2], Style::Lines, 3), "[[0 1]\n [2 …]]");
        assert_eq!(written(&[3, 2], Style::Lines, 2), "[[0 1]\n …]");
        assert_eq!(written(&[3, 2], Style::OneLine, 2), "[[0 1] …]");
    }

    #[test]
    fn long_rows_are_broken_with_numbers_in_columns() {
        let text = written(&[60], Style::Lines, 60);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() <= LINE + 1), "{text}");
        assert!(lines[1].starts_with(' '));
    }
}
