//! What must hold of single names for an expression to be true. An index or the bounds of a chunk answer that
//! without the rows.

use crate::lower::{fold, mirrored};
use crate::tree::{Binary, Node, NodeKind, Unary};
use crate::value::Value;

/// A condition that holds wherever the expression is true. It holds elsewhere, too, if a part of it is
/// unknown.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// Nothing is known: it holds everywhere.
    Unknown,
    /// All of these hold.
    All(Vec<Demand>),
    /// One of these holds.
    Any(Vec<Demand>),
    /// A name compares with a value in this way. No element does if the value is NaN.
    Compare {
        /// The name.
        name: String,
        /// The comparison, with the name on its left.
        op: Comparison,
        /// The value.
        value: Value,
    },
    /// A name is true.
    Is(String),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
}

/// The value of a name that is a scalar.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// The value.
    pub value: Value,
    /// Whether the scalar has a type of its own, as those of NumPy have: the results of its operators wrap
    /// and are rounded, which those of Python's numbers do not.
    pub is_typed: bool,
}

/// Returns the demand of a tree. `scalars` returns the values of the names that are scalars.
pub(crate) fn demand(tree: &Node, names: &[String], scalars: &dyn Fn(&str) -> Option<Scalar>) -> Demand {
    match &tree.kind {
        NodeKind::Binary(Binary::And, both) => {
            let both = both.iter().map(|one| demand(one, names, scalars));
            let both: Vec<Demand> = both.flat_map(all).collect();
            let is_known = both.iter().any(|one| *one != Demand::Unknown);
            if is_known { Demand::All(both) } else { Demand::Unknown }
        }
        NodeKind::Binary(Binary::Or, both) => {
            let both: Vec<Demand> =
                both.iter().map(|one| demand(one, names, scalars)).flat_map(any).collect();
            if both.contains(&Demand::Unknown) { Demand::Unknown } else { Demand::Any(both) }
        }
        NodeKind::Binary(operator, both) => {
            let (name, value, operator) =
                match (column(&both[0], names, scalars), column(&both[1], names, scalars)) {
                    (Some(name), None) => (name, constant(&both[1], names, scalars), *operator),
                    (None, Some(name)) => (name, constant(&both[0], names, scalars), mirrored(*operator)),
                    _ => return Demand::Unknown,
                };
            let op = match operator {
                Binary::Less => Comparison::Less,
                Binary::LessEqual => Comparison::LessEqual,
                Binary::Greater => Comparison::Greater,
                Binary::GreaterEqual => Comparison::GreaterEqual,
                Binary::Equal => Comparison::Equal,
                _ => return Demand::Unknown,
            };
            value.map_or(Demand::Unknown, |value| Demand::Compare { name, op, value })
        }
        NodeKind::Name(_) => column(tree, names, scalars).map_or(Demand::Unknown, Demand::Is),
        _ => Demand::Unknown,
    }
}

/// Returns the demands of an `All`, or the demand itself.
fn all(demand: Demand) -> Vec<Demand> {
    if let Demand::All(inner) = demand { inner } else { vec![demand] }
}

/// Returns the demands of an `Any`, or the demand itself.
fn any(demand: Demand) -> Vec<Demand> {
    if let Demand::Any(inner) = demand { inner } else { vec![demand] }
}

/// Returns the name of a node that is a name without a known value.
fn column(node: &Node, names: &[String], scalars: &dyn Fn(&str) -> Option<Scalar>) -> Option<String> {
    let NodeKind::Name(number) = node.kind else { return None };
    let name = names.get(number)?;
    scalars(name).is_none().then(|| name.clone())
}

/// Returns the value of a node that is a known name, or consists of scalars without a type. The program
/// computes those in the same way, with [`fold`].
fn constant(node: &Node, names: &[String], scalars: &dyn Fn(&str) -> Option<Scalar>) -> Option<Value> {
    let weak = |node: &Node| match &node.kind {
        NodeKind::Name(number) => {
            scalars(names.get(*number)?).filter(|scalar| !scalar.is_typed).map(|it| it.value)
        }
        _ => constant(node, names, scalars),
    };
    match &node.kind {
        NodeKind::Literal(value) => Some(value.clone()),
        NodeKind::Name(number) => Some(scalars(names.get(*number)?)?.value),
        NodeKind::Unary(Unary::Negative, inner) => weak(inner)?.negated(),
        NodeKind::Binary(operator, both) => fold(*operator, &weak(&both[0])?, &weak(&both[1])?),
        _ => None,
    }
}
