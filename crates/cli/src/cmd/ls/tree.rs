//! Rows of members, flat or drawn as a tree.

use std::io;

use crate::show::table::{Cell, Table};

/// Hands rows on to a table. A tree keeps its rows until all are known, because a branch is drawn past the
/// rows below it.
pub(super) struct Tree {
    rows: Option<Vec<TreeRow>>,
}

struct TreeRow {
    depth: usize,
    content: Content,
}

enum Content {
    Cells(Vec<Cell>),
    /// A line that belongs to the row before it.
    Line(Cell),
}

impl Tree {
    pub(super) fn new(draws: bool) -> Self {
        Self { rows: draws.then(Vec::new) }
    }

    /// Adds a row. `depth` is 0 for the first object, and 1 for its members.
    pub(super) fn push(&mut self, table: &mut Table<'_>, depth: usize, cells: Vec<Cell>) -> io::Result<()> {
        match &mut self.rows {
            Some(rows) => rows.push(TreeRow { depth, content: Content::Cells(cells) }),
            None => table.row(cells)?,
        }
        Ok(())
    }

    /// Adds a line that belongs to the row before it.
    pub(super) fn line(&mut self, table: &mut Table<'_>, line: Cell) -> io::Result<()> {
        match &mut self.rows {
            Some(rows) => {
                let depth = rows.last().map_or(0, |row| row.depth);
                rows.push(TreeRow { depth, content: Content::Line(line) });
            }
            None => table.line(line.after("    "))?,
        }
        Ok(())
    }

    /// Writes the rows of a tree.
    pub(super) fn finish(self, table: &mut Table<'_>) -> io::Result<()> {
        let Some(rows) = self.rows else { return Ok(()) };
        let continues = continues(&rows);
        for (number, row) in rows.into_iter().enumerate() {
            // The branches that pass by, and the one to this row.
            let past: String = (1..row.depth)
                .map(|depth| if continues[number].at(depth) { "│   " } else { "    " })
                .collect();
            let more = row.depth > 0 && continues[number].at(row.depth);
            match row.content {
                Content::Cells(mut cells) => {
                    let branch = if more { "├── " } else { "└── " };
                    let branch = if row.depth > 0 { branch } else { "" };
                    if let Some(name) = cells.first_mut() {
                        *name = name.clone().after(&format!("{past}{branch}"));
                    }
                    table.row(cells)?;
                }
                Content::Line(line) => {
                    let below = match (row.depth, more) {
                        (0, _) => "",
                        (_, true) => "│   ",
                        (_, false) => "    ",
                    };
                    table.line(line.after(&format!("{past}{below}  ")))?;
                }
            }
        }
        Ok(())
    }
}

/// The depths at which another member follows below a row.
#[derive(Debug, Clone, Default)]
struct Open(Vec<bool>);

impl Open {
    fn at(&self, depth: usize) -> bool {
        self.0.get(depth).copied().unwrap_or(false)
    }
}

/// Returns for each row the depths at which its group, or a group on the way to it, has more members.
fn continues(rows: &[TreeRow]) -> Vec<Open> {
    let mut open = Open::default();
    let mut found: Vec<Open> = rows
        .iter()
        .rev()
        .map(|row| {
            let here = Open(open.0[..open.0.len().min(row.depth + 1)].to_vec());
            if matches!(row.content, Content::Cells(_)) {
                open.0.resize(row.depth, false);
                open.0.push(true);
            }
            here
        })
        .collect();
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_reach_to_the_last_member_of_each_group() {
        let mut out = Vec::new();
        let mut table = Table::new(&mut out, &[]);
        let mut tree = Tree::new(true);
        let cells = |name: &str| vec![Cell::from(name), Cell::from("x")];
        for (depth, name) in [(0, "/"), (1, "a"), (2, "b"), (3, "c"), (2, "d"), (1, "e"), (2, "f")] {
            tree.push(&mut table, depth, cells(name)).unwrap();
            tree.line(&mut table, Cell::from(format!("@{name}"))).unwrap();
        }
        tree.finish(&mut table).unwrap();
        table.finish().unwrap();
        let expected = "\
/              x
  @/
├── a          x
│     @a
│   ├── b      x
│   │     @b
│   │   └── c  x
│   │         @c
│   └── d      x
│         @d
└── e          x
      @e
    └── f      x
          @f
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
