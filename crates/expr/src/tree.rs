//! The tree of an expression.

use crate::value::Value;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The number of nodes from here to the deepest leaf.
    pub(crate) depth: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    Literal(Value),
    /// The number of a name in the list of names.
    Name(usize),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<[Node; 2]>),
    Call(Function, Vec<Node>),
    Reduction(Reduction, Box<Node>),
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Negative,
    Positive,
    Invert,
}

/// An operator, or a function, of two operands of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Minimum,
    Maximum,
    Fmod,
    Arctan2,
    Hypot,
    Copysign,
    Nextafter,
}

impl Binary {
    /// Returns the sign or name that users write.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Modulo => "%",
            Self::Power => "**",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Fmod => "fmod",
            Self::Arctan2 => "arctan2",
            Self::Hypot => "hypot",
            Self::Copysign => "copysign",
            Self::Nextafter => "nextafter",
        }
    }

    pub(crate) fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
    }
}

/// A function that is no binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    /// A function of one number.
    Math(Math),
    Where,
    IsIn,
    Contains,
    /// A complex number of two parts.
    Complex,
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Math {
    Abs,
    Sign,
    Conj,
    Real,
    Imag,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Arcsin,
    Arccos,
    Arctan,
    Sinh,
    Cosh,
    Tanh,
    Arcsinh,
    Arccosh,
    Arctanh,
    Log,
    Log10,
    Log1p,
    Log2,
    Exp,
    Expm1,
    Floor,
    Ceil,
    Trunc,
    Rint,
    IsNan,
    IsInf,
    IsFinite,
    SignBit,
    OnesLike,
}

/// A reduction of all elements, or of those along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    /// What becomes of the elements.
    pub kind: ReductionKind,
    /// The axis, from the last one if it is negative. `None` stands for all elements.
    pub axis: Option<i32>,
    /// What is subtracted from the number of elements in `std` and `var`.
    pub ddof: u32,
    /// Whether a reduced axis remains, with length one.
    pub keepdims: bool,
}

/// What a reduction makes of its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReductionKind {
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The smallest element; NaN if there is one.
    Min,
    /// The largest element; NaN if there is one.
    Max,
    /// The product.
    Prod,
    /// Whether one element is true.
    Any,
    /// Whether all elements are true.
    All,
    /// The standard deviation.
    Std,
    /// The variance.
    Var,
    /// The position of the first smallest element.
    ArgMin,
    /// The position of the first largest element.
    ArgMax,
}

impl ReductionKind {
    /// Returns the name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        REDUCTIONS.iter().find(|(_, known)| *known == self).map_or("reduction", |(name, _)| name)
    }
}

/// The functions of one number, by their names.
pub(crate) const MATHS: [(&str, Math); 36] = [
    ("abs", Math::Abs),
    ("absolute", Math::Abs),
    ("sign", Math::Sign),
    ("conj", Math::Conj),
    ("real", Math::Real),
    ("imag", Math::Imag),
    ("sqrt", Math::Sqrt),
    ("sin", Math::Sin),
    ("cos", Math::Cos),
    ("tan", Math::Tan),
    ("arcsin", Math::Arcsin),
    ("arccos", Math::Arccos),
    ("arctan", Math::Arctan),
    ("sinh", Math::Sinh),
    ("cosh", Math::Cosh),
    ("tanh", Math::Tanh),
    ("arcsinh", Math::Arcsinh),
    ("arccosh", Math::Arccosh),
    ("arctanh", Math::Arctanh),
    ("log", Math::Log),
    ("log10", Math::Log10),
    ("log1p", Math::Log1p),
    ("log2", Math::Log2),
    ("exp", Math::Exp),
    ("expm1", Math::Expm1),
    ("floor", Math::Floor),
    ("ceil", Math::Ceil),
    ("trunc", Math::Trunc),
    ("rint", Math::Rint),
    ("round", Math::Rint),
    ("isnan", Math::IsNan),
    ("isinf", Math::IsInf),
    ("isfinite", Math::IsFinite),
    ("signbit", Math::SignBit),
    ("ones_like", Math::OnesLike),
    ("conjugate", Math::Conj),
];

/// The functions of two numbers, by their names.
pub(crate) const PAIRS: [(&str, Binary); 9] = [
    ("minimum", Binary::Minimum),
    ("maximum", Binary::Maximum),
    ("fmod", Binary::Fmod),
    ("arctan2", Binary::Arctan2),
    ("hypot", Binary::Hypot),
    ("copysign", Binary::Copysign),
    ("nextafter", Binary::Nextafter),
    ("pow", Binary::Power),
    ("div", Binary::Divide),
];

/// The reductions, by their names.
pub(crate) const REDUCTIONS: [(&str, ReductionKind); 11] = [
    ("sum", ReductionKind::Sum),
    ("mean", ReductionKind::Mean),
    ("min", ReductionKind::Min),
    ("max", ReductionKind::Max),
    ("prod", ReductionKind::Prod),
    ("any", ReductionKind::Any),
    ("all", ReductionKind::All),
    ("std", ReductionKind::Std),
    ("var", ReductionKind::Var),
    ("argmin", ReductionKind::ArgMin),
    ("argmax", ReductionKind::ArgMax),
];

impl Node {
    pub(crate) fn new(kind: NodeKind) -> Self {
        let depth = 1 + match &kind {
            NodeKind::Literal(_) | NodeKind::Name(_) => 0,
            NodeKind::Unary(_, inner) | NodeKind::Reduction(_, inner) => inner.depth,
            NodeKind::Binary(_, both) => both[0].depth.max(both[1].depth),
            NodeKind::Call(_, arguments) => arguments.iter().map(|one| one.depth).max().unwrap_or(0),
        };
        Self { kind, depth }
    }
}
