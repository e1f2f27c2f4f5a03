//! Parses the text of an expression by the precedence of Python's operators.

use crate::error::{Error, Result};
use crate::token::{Token, tokens};
use crate::tree::{Binary, Function, MATHS, Node, NodeKind, PAIRS, REDUCTIONS, Reduction, Unary};
use crate::value::Value;

/// Deeper trees are refused, because functions that walk a tree call themselves.
const DEEPEST: usize = 400;

/// The binary operators, from those that bind least to those that bind most. All group from the left.
const LEVELS: [&[(&str, Binary)]; 7] = [
    &[
        ("<", Binary::Less),
        ("<=", Binary::LessEqual),
        (">", Binary::Greater),
        (">=", Binary::GreaterEqual),
        ("==", Binary::Equal),
        ("!=", Binary::NotEqual),
    ],
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("//", Binary::FloorDivide), ("%", Binary::Modulo)],
];

/// Returns the tree of an expression and its names in order of first appearance. Names that are `records`
/// lead to longer ones, as [`tokens`] says.
pub(crate) fn parse(text: &str, records: &dyn Fn(&str) -> bool) -> Result<(Node, Vec<String>)> {
    let mut parser = Parser { text, tokens: tokens(text, records)?, at: 0, names: Vec::new(), nesting: 0 };
    let node = parser.level(0)?;
    match parser.token() {
        Token::End => Ok((node, parser.names)),
        Token::Sign("=") => parser.error("to compare, write == instead of ="),
        Token::Sign(",") => parser.error("a comma is allowed only between the arguments of a function"),
        Token::Sign(sign) => parser.error(format!("{sign:?} has no meaning here")),
        Token::Literal(_) | Token::Name(_) => parser.error("an operator is missing"),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    names: Vec<String>,
    nesting: usize,
}

/// The options of a reduction.
#[derive(Debug, Default, Clone, Copy)]
struct Options {
    axis: Option<i32>,
    ddof: u32,
    keepdims: bool,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(_, token)| token)
    }

    fn error<T>(&self, why: impl Into<String>) -> Result<T> {
        let position = self.tokens.get(self.at).map_or(0, |(position, _)| *position);
        Err(Error::Syntax { position, why: why.into(), text: self.text.to_owned() })
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.token(), Token::Sign(next) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn node(&self, kind: NodeKind) -> Result<Node> {
        let node = Node::new(kind);
        if node.depth > DEEPEST { self.error("the expression is nested too deeply") } else { Ok(node) }
    }

    /// Parses a chain of the operators of a level.
    fn level(&mut self, level: usize) -> Result<Node> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        let mut count = 0;
        while let Token::Sign(sign) = *self.token()
            && let Some((_, operator)) = operators.iter().find(|(known, _)| *known == sign)
        {
            count += 1;
            if operator.is_comparison() && count > 1 {
                return self.error(
                    "comparisons cannot be chained; put each one in parentheses, as in (a < b) & (b < c)",
                );
            }
            self.at += 1;
            let right = self.level(level + 1)?;
            left = self.node(NodeKind::Binary(*operator, Box::new([left, right])))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node> {
        let operator = match self.token() {
            Token::Sign("-") => Unary::Negative,
            Token::Sign("+") => Unary::Positive,
            Token::Sign("~") => Unary::Invert,
            _ => return self.power(),
        };
        self.at += 1;
        self.deeper()?;
        let inner = self.unary()?;
        self.nesting -= 1;
        if let (Unary::Negative, NodeKind::Literal(value)) = (operator, &inner.kind)
            && let Some(negated) = value.negated()
        {
            return self.node(NodeKind::Literal(negated));
        }
        self.node(NodeKind::Unary(operator, Box::new(inner)))
    }

    fn power(&mut self) -> Result<Node> {
        let base = self.primary()?;
        if !self.take("**") {
            return Ok(base);
        }
        self.deeper()?;
        // The exponent may have a sign, and groups from the right.
        let exponent = self.unary()?;
        self.nesting -= 1;
        self.node(NodeKind::Binary(Binary::Power, Box::new([base, exponent])))
    }

    fn deeper(&mut self) -> Result<()> {
        self.nesting += 1;
        if self.nesting > DEEPEST / 4 { self.error("the expression is nested too deeply") } else { Ok(()) }
    }

    fn primary(&mut self) -> Result<Node> {
        let token = self.token().clone();
        match token {
            Token::Literal(value) => {
                self.at += 1;
                self.node(NodeKind::Literal(value))
            }
            Token::Name(name) => {
                self.at += 1;
                if self.take("(") { self.call(&name) } else { self.name(name) }
            }
            Token::Sign("(") => {
                self.at += 1;
                self.deeper()?;
                let inner = self.level(0)?;
                self.nesting -= 1;
                if self.take(")") { Ok(inner) } else { self.error("a closing parenthesis is missing") }
            }
            Token::End => self.error("an operand is missing at the end"),
            Token::Sign(sign) => self.error(format!("an operand is missing before {sign:?}")),
        }
    }

    fn name(&mut self, name: String) -> Result<Node> {
        let number = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        self.node(NodeKind::Name(number))
    }

    /// Parses the arguments of a function, after its opening parenthesis.
    fn call(&mut self, name: &str) -> Result<Node> {
        self.at -= 1;
        let place = self.at;
        self.at += 1;
        self.deeper()?;
        let mut arguments = Vec::new();
        let is_reduction = REDUCTIONS.iter().any(|(known, _)| *known == name);
        let mut options = Options::default();
        while !self.take(")") {
            if let Some(keyword) = self.keyword() {
                let value = self.level(0)?;
                if !is_reduction {
                    return self.error(format!("{name} has no argument {keyword}"));
                }
                self.option(&keyword, &value, &mut options)?;
            } else if self.take("(") {
                // A parenthesis with commas is a list of values, which only `isin` takes.
                arguments.extend(self.list(name)?);
            } else if is_reduction && arguments.len() == 1 {
                let value = self.level(0)?;
                self.option("axis", &value, &mut options)?;
            } else {
                arguments.push(self.level(0)?);
            }
            if !self.take(",") && !matches!(self.token(), Token::Sign(")")) {
                return self.error("a comma or a closing parenthesis is missing");
            }
        }
        self.nesting -= 1;
        self.at -= 1;
        let made = self.function(name, arguments, options);
        self.at += 1;
        made.map_err(|error| match error {
            Error::Syntax { why, text, .. } => {
                let position = self.tokens.get(place).map_or(0, |(position, _)| *position);
                Error::Syntax { position, why, text }
            }
            error => error,
        })
    }

    /// Takes an option of a reduction.
    fn option(&mut self, keyword: &str, value: &Node, options: &mut Options) -> Result<()> {
        match (keyword, &value.kind) {
            ("axis", NodeKind::Literal(Value::Int(number))) => match i32::try_from(*number) {
                Ok(number) => options.axis = Some(number),
                Err(_) => return self.error("an array has no such axis"),
            },
            ("axis", NodeKind::Name(number))
                if self.names.get(*number).is_some_and(|name| name == "None") =>
            {
                if *number + 1 == self.names.len() {
                    self.names.pop();
                }
            }
            ("ddof", NodeKind::Literal(Value::Int(number))) => match u32::try_from(*number) {
                Ok(number) => options.ddof = number,
                Err(_) => return self.error("ddof must be 0 or more"),
            },
            ("keepdims", NodeKind::Literal(Value::Bool(value))) => options.keepdims = *value,
            ("keepdims", _) => return self.error("keepdims must be True or False"),
            ("axis" | "ddof", _) => return self.error(format!("{keyword} must be an integer")),
            _ => return self.error(format!("a reduction has no argument {keyword}")),
        }
        Ok(())
    }

    /// Parses the rest of an argument that starts with a parenthesis.
    fn list(&mut self, name: &str) -> Result<Vec<Node>> {
        self.at -= 1;
        let start = self.at;
        let first = self.level(0);
        if first.is_ok() && matches!(self.token(), Token::Sign("," | ")")) {
            return Ok(vec![first?]);
        }
        if name != "isin" {
            return Ok(vec![first?]);
        }
        self.at = start + 1;
        let mut values = Vec::new();
        while !self.take(")") {
            values.push(self.level(0)?);
            if !self.take(",") && !matches!(self.token(), Token::Sign(")")) {
                return self.error("a comma or a closing parenthesis is missing");
            }
        }
        Ok(values)
    }

    /// Takes the name of a keyword argument and its `=`.
    fn keyword(&mut self) -> Option<String> {
        let Token::Name(name) = self.token() else { return None };
        let name = name.clone();
        if !matches!(self.tokens.get(self.at + 1), Some((_, Token::Sign("=")))) {
            return None;
        }
        self.at += 2;
        Some(name)
    }

    fn function(&self, name: &str, arguments: Vec<Node>, options: Options) -> Result<Node> {
        let count = arguments.len();
        let takes = |expected: usize| {
            if count == expected {
                return Ok(());
            }
            self.error(format!("{name} takes {expected} arguments, not {count}"))
        };
        let kind = if let Some((_, math)) = MATHS.iter().find(|(known, _)| *known == name) {
            takes(1)?;
            NodeKind::Call(Function::Math(*math), arguments)
        } else if let Some((_, operator)) = PAIRS.iter().find(|(known, _)| *known == name) {
            takes(2)?;
            let mut arguments = arguments.into_iter();
            let (Some(left), Some(right)) = (arguments.next(), arguments.next()) else {
                return self.error(format!("{name} takes 2 arguments"));
            };
            NodeKind::Binary(*operator, Box::new([left, right]))
        } else if let Some((_, reduction)) = REDUCTIONS.iter().find(|(known, _)| *known == name) {
            takes(1)?;
            let Some(inner) = arguments.into_iter().next() else {
                return self.error(format!("{name} takes an argument"));
            };
            let Options { axis, ddof, keepdims } = options;
            NodeKind::Reduction(Reduction { kind: *reduction, axis, ddof, keepdims }, Box::new(inner))
        } else {
            let (function, expected) = match name {
                "where" => (Function::Where, 3),
                "contains" => (Function::Contains, 2),
                "complex" => (Function::Complex, 2),
                "isin" if count > 1 => (Function::IsIn, count),
                "isin" => return self.error("isin needs a value and at least one other to compare it with"),
                _ => return self.error(format!("the function {name} is not known")),
            };
            takes(expected)?;
            NodeKind::Call(function, arguments)
        };
        self.node(kind)
    }
}
