//! Version 1 B-tree nodes, `TREE` (spec III.A.1).
