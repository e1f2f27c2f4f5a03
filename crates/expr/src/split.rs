//! Takes an expression with reductions apart, so that each part is computed element by element.

use crate::Expression;
use crate::tree::{Node, NodeKind, Reduction};

/// A reduction inside an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The reduced elements, without reductions.
    pub inner: Expression,
    /// The reduction.
    pub reduction: Reduction,
    /// The expression with `name` in place of the reduction.
    pub outer: Expression,
    /// A name that no text can have, and no other reduction of the whole expression.
    pub name: String,
}

/// Returns the first reduction of an expression that contains no other one.
pub(crate) fn split(expression: &Expression) -> Option<Split> {
    // A later reduction may replace this name and be named itself: no two have the same name.
    let name = format!("#{}", expression.splits);
    let mut outer = expression.clone();
    outer.names.push(name.clone());
    let (inner, reduction) = take(&mut outer.tree, outer.names.len() - 1)?;
    let splits = expression.splits + 1;
    let inner = with_own_names(inner, &expression.names, splits);
    let outer = with_own_names(outer.tree, &outer.names, splits);
    Some(Split { inner, reduction, outer, name })
}

/// Replaces the first innermost reduction by a name, and returns it.
fn take(node: &mut Node, name: usize) -> Option<(Node, Reduction)> {
    let found = match &mut node.kind {
        NodeKind::Literal(_) | NodeKind::Name(_) => None,
        NodeKind::Unary(_, inner) | NodeKind::Reduction(_, inner) => take(inner, name),
        NodeKind::Binary(_, both) => both.iter_mut().find_map(|one| take(one, name)),
        NodeKind::Call(_, arguments) => arguments.iter_mut().find_map(|one| take(one, name)),
    };
    let NodeKind::Reduction(reduction, _) = node.kind else { return found };
    if found.is_some() {
        return found;
    }
    match std::mem::replace(&mut node.kind, NodeKind::Name(name)) {
        NodeKind::Reduction(_, inner) => Some((*inner, reduction)),
        _ => None,
    }
}

/// Returns an expression with only the names that its tree uses.
fn with_own_names(mut tree: Node, names: &[String], splits: usize) -> Expression {
    let mut own = Vec::new();
    renumber(&mut tree, &mut |number| {
        let name = names.get(number)?;
        Some(own.iter().position(|known| known == name).unwrap_or_else(|| {
            own.push(name.clone());
            own.len() - 1
        }))
    });
    Expression { tree, names: own, splits }
}

fn renumber(node: &mut Node, new: &mut dyn FnMut(usize) -> Option<usize>) {
    match &mut node.kind {
        NodeKind::Literal(_) => {}
        NodeKind::Name(number) => *number = new(*number).unwrap_or(*number),
        NodeKind::Unary(_, inner) | NodeKind::Reduction(_, inner) => renumber(inner, new),
        NodeKind::Binary(_, both) => both.iter_mut().for_each(|one| renumber(one, new)),
        NodeKind::Call(_, arguments) => arguments.iter_mut().for_each(|one| renumber(one, new)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_are_taken_out_from_the_innermost_one() {
        let whole = Expression::parse("b + sum((a - mean(a))**2, axis=1) / max(b)").unwrap();
        let one = split(&whole).unwrap();
        assert_eq!((one.inner.names(), one.name.as_str()), (&["a".to_owned()][..], "#0"));
        assert_eq!(one.outer.names(), ["b", "a", "#0"]);
        let two = split(&one.outer).unwrap();
        assert_eq!(two.inner.names(), ["a", "#0"]);
        assert_eq!((two.reduction.axis, two.name.as_str()), (Some(1), "#1"));
        let three = split(&two.outer).unwrap();
        assert_eq!((three.inner.names(), three.outer.names().len()), (&["b".to_owned()][..], 3));
        assert_eq!(split(&three.outer), None);
    }

    #[test]
    fn no_two_reductions_have_the_same_name() {
        let mut rest = Expression::parse("max(a - mean(a)) + max(a) * sum(sum(sum(b)))").unwrap();
        let mut names = Vec::new();
        while let Some(one) = split(&rest) {
            assert!(!names.contains(&one.name), "{} again", one.name);
            names.push(one.name);
            rest = one.outer;
        }
        assert_eq!(names.len(), 6);
    }
}
