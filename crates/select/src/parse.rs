//! Parses the text of a selection, as in `[0:10, ::2, 5, ...]`: NumPy's syntax.

use hyperslab_error::RequestError;

use super::axis_index::{AxisIndex, IndexNumber, Item};
use super::{Indices, Select, Selected};

/// Parses a selection of an array of the shape `extent`. The brackets around it are optional.
pub fn parse(text: &str, extent: &[u64]) -> Result<Selected, RequestError> {
    let (indices, columns) = Parser { text: text.as_bytes(), at: 0 }.indices()?;
    if let Some(column) = columns.get(extent.len()) {
        let what = format!("{} indices for an array of {} dimensions", columns.len(), extent.len());
        return Err(syntax(*column, what));
    }
    indices.select(|| extent.to_vec())
}

/// Returns a syntax error. `column` counts from 1.
fn syntax(column: usize, what: impl Into<String>) -> RequestError {
    RequestError::Syntax { column, what: what.into() }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    /// Parses all indices, and returns the column of each.
    fn indices(mut self) -> Result<(Indices, Vec<usize>), RequestError> {
        // In `[[1, 2]]` the outer brackets enclose a list; `[1, 2], :` begins with a list.
        let bracketed = self.peek() == Some(b'[') && self.closing_bracket() == Some(self.last());
        if bracketed {
            self.at += 1;
        }
        let ends = |next: Option<u8>| next.is_none() || (bracketed && next == Some(b']'));
        let (mut leading, mut trailing, mut columns) = (Vec::new(), None, Vec::new());
        while !ends(self.peek()) {
            let column = self.at + 1;
            if !self.text[self.at..].starts_with(b"...") {
                trailing.as_mut().unwrap_or(&mut leading).push(AxisIndex(self.item()?));
                columns.push(column);
            } else if trailing.replace(Vec::new()).is_some() {
                return Err(syntax(column, "`...` may occur only once"));
            } else {
                self.at += 3;
            }
            match self.peek() {
                Some(b',') => self.at += 1,
                next if ends(next) => {}
                _ => return Err(self.unexpected("`,`")),
            }
        }
        if bracketed {
            self.at += 1;
        }
        match self.peek() {
            None => Ok((Indices::new(leading, trailing.unwrap_or_default()), columns)),
            Some(_) => Err(self.unexpected("the end")),
        }
    }

    fn item(&mut self) -> Result<Item, RequestError> {
        if self.peek() == Some(b'[') {
            return self.list();
        }
        let start = self.number()?;
        let stop = match (self.peek(), start) {
            (Some(b':'), _) => {
                self.at += 1;
                self.number()?
            }
            (_, Some(index)) => return Ok(Item::At(index)),
            _ => return Err(self.unexpected("an index, a slice, a list or `...`")),
        };
        let step = if self.peek() == Some(b':') {
            self.at += 1;
            self.number()?
        } else {
            None
        };
        Ok(Item::Slice { start, stop, step: step.unwrap_or(1.into()) })
    }

    fn list(&mut self) -> Result<Item, RequestError> {
        self.at += 1;
        let mut list = Vec::new();
        while self.peek() != Some(b']') {
            list.push(self.number()?.ok_or_else(|| self.unexpected("an index"))?);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {}
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
        self.at += 1;
        Ok(Item::List(list))
    }

    fn number(&mut self) -> Result<Option<IndexNumber>, RequestError> {
        let negative = self.peek() == Some(b'-');
        let column = self.at + 1;
        let digits_from = self.at + usize::from(negative);
        let digits = self.text[digits_from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return if negative { Err(syntax(column + 1, "digits expected after `-`")) } else { Ok(None) };
        }
        self.at = digits_from + digits;
        let mut value = 0u64;
        for digit in &self.text[digits_from..self.at] {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(u64::from(digit - b'0')))
                .ok_or_else(|| syntax(column, "number too large"))?;
        }
        Ok(Some(IndexNumber { value: if negative { -i128::from(value) } else { value.into() }, column }))
    }

    /// Skips blanks and returns the next byte.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Returns the offset of the bracket that closes the one at the current position.
    fn closing_bracket(&self) -> Option<usize> {
        let mut depth = 0usize;
        for (at, byte) in self.text.iter().enumerate().skip(self.at) {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Returns the offset of the last byte that is not blank.
    fn last(&self) -> usize {
        self.text.iter().rposition(|byte| !byte.is_ascii_whitespace()).unwrap_or(0)
    }

    fn unexpected(&mut self, expected: &str) -> RequestError {
        if self.peek().is_none() {
            return syntax(self.at + 1, format!("{expected} expected, found the end"));
        }
        let rest = String::from_utf8_lossy(&self.text[self.at..]);
        let found = rest.chars().next().unwrap_or(' ');
        syntax(self.at + 1, format!("{expected} expected, found `{found}`"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Axis, Dim, Selection};

    fn dims(text: &str, extent: &[u64]) -> (Vec<(u64, u64, u64)>, Vec<usize>) {
        let parsed = parse(text, extent).unwrap_or_else(|error| panic!("{text}: {error}"));
        let Selection::Slab(slab) = parsed.selection else { panic!("{text}: {:?}", parsed.selection) };
        (slab.0.iter().map(|dim| (dim.start, dim.step, dim.count)).collect(), parsed.dropped.to_vec())
    }

    /// The counts equal `len(range(n)[slice])` in Python.
    #[test]
    fn slices_select_the_same_elements_as_in_numpy() {
        let cases = [
            ("", vec![(0, 1, 10), (0, 1, 6)], vec![]),
            ("[]", vec![(0, 1, 10), (0, 1, 6)], vec![]),
            ("[...]", vec![(0, 1, 10), (0, 1, 6)], vec![]),
            ("[2:5, ::2]", vec![(2, 1, 3), (0, 2, 3)], vec![]),
            ("3", vec![(3, 1, 1), (0, 1, 6)], vec![0]),
            ("[..., -1]", vec![(0, 1, 10), (5, 1, 1)], vec![1]),
            (" [ -3: , 1 : 99 : 4 ] ", vec![(7, 1, 3), (1, 4, 2)], vec![]),
            ("[8:2, 9:]", vec![(8, 1, 0), (6, 1, 0)], vec![]),
            ("[:-2, :-9]", vec![(0, 1, 8), (0, 1, 0)], vec![]),
            ("[1, ..., 2,]", vec![(1, 1, 1), (2, 1, 1)], vec![0, 1]),
            ("[[1, 3, 5]]", vec![(1, 2, 3), (0, 1, 6)], vec![]),
            ("[4], [-1]", vec![(4, 1, 1), (5, 1, 1)], vec![]),
        ];
        for (text, expected, dropped) in cases {
            assert_eq!(dims(text, &[10, 6]), (expected, dropped), "{text}");
        }
    }

    #[test]
    fn a_list_is_kept_in_its_order() {
        let parsed = parse("[[4, 1, -1], 2:4]", &[10, 6]).unwrap();
        let expected = vec![Axis::List([4, 1, 9].into()), Axis::Range(Dim::range(2, 4))];
        assert_eq!(parsed.selection, Selection::Grid(expected));
    }

    #[test]
    fn errors_point_at_the_column() {
        let cases = [
            ("[0:2, x]", 7, "found `x`"),
            ("[0:2, 6]", 7, "index 6 is out of bounds for axis 1 with size 6"),
            ("[-11]", 2, "index -11 is out of bounds"),
            ("[::0]", 4, "step 0"),
            ("[::-1]", 4, "step -1"),
            ("[1, 2, 3]", 8, "3 indices for an array of 2 dimensions"),
            ("[..., ...]", 7, "once"),
            ("[1 2]", 4, "`,` expected"),
            ("[1", 1, ""),
            ("[1]]", 1, ""),
            ("[1, [2, 3]", 1, ""),
            ("[[1, a]]", 6, "an index expected, found `a`"),
            ("[99999999999999999999]", 2, "too large"),
            ("[-]", 3, "digits"),
            ("[:, é]", 5, "found `é`"),
        ];
        for (text, expected, message) in cases {
            match parse(text, &[10, 6]) {
                Err(RequestError::Syntax { column, what }) => {
                    assert!(what.contains(message), "{text}: {what}");
                    assert!(message.is_empty() || column == expected, "{text}: column {column}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn every_parsed_selection_is_in_bounds(text in r"[\[\]0-9:,.\- é]{0,24}", extent in proptest::collection::vec(0u64..9, 0..4)) {
            if let Ok(parsed) = parse(&text, &extent) {
                prop_assert_eq!(parsed.selection.check(&extent), Ok(()));
                prop_assert_eq!(parsed.selection.shape(&extent).len(), extent.len());
            }
        }
    }
}
