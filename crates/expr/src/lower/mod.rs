//! Compiles a tree to a program: finds the types, casts operands, and computes what is constant.

mod calls;
mod fold;
mod time;

use std::borrow::Cow;

pub(crate) use self::fold::{fold, mirrored};
use crate::error::{Error, Result, no_meaning};
use crate::kernels::{Op, TimeMath};
use crate::program::{Constant, OperandSource, Program, Registers, Step};
use crate::tree::Binary as B;
use crate::tree::Binary;
use crate::tree::{Node, NodeKind, Unary};
use crate::types::{Class, Type};
use crate::typing::{float_of, promote, weak};
use crate::value::Value;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// An array of elements of this type.
    Array(Type),
    /// A scalar of Python, whose type gives way to that of other operands.
    Scalar(Value),
    /// A scalar of NumPy, with its bytes.
    Typed(Type, Vec<u8>),
}

/// Compiles a tree, and casts its elements to a type. `names` are those of the tree.
pub(crate) fn lower(
    tree: &Node,
    names: &[String],
    operands: &[(&str, Operand)],
    to: Option<Type>,
) -> Result<Program> {
    let program = Program {
        steps: Vec::new(),
        result: OperandSource::Constant(0),
        kind: Type::Bool,
        names: Vec::new(),
        types: Vec::new(),
        constants: Vec::new(),
        registers: Vec::new(),
    };
    let mut lowering = Lowering { names, operands, program };
    let lowered = lowering.node(tree)?;
    let (mut source, mut kind) = lowering.strong(lowered, None)?;
    if let Some(to) = to {
        source = lowering.astype((source, kind), to)?;
        kind = to;
    }
    let mut program = lowering.program;
    (program.result, program.kind) = (source, kind);
    Ok(program)
}

struct Lowering<'a> {
    names: &'a [String],
    operands: &'a [(&'a str, Operand)],
    program: Program,
}

/// A compiled node.
#[derive(Debug, Clone)]
enum Lowered {
    /// A scalar without a type of its own.
    Weak(Value),
    Strong(OperandSource, Type),
}

impl Lowered {
    fn describe(&self) -> Cow<'static, str> {
        match self {
            Self::Weak(Value::Bool(_)) => "a truth value".into(),
            Self::Weak(Value::Int(_)) => "an integer".into(),
            Self::Weak(Value::Float(_)) => "a float".into(),
            Self::Weak(Value::Complex(..)) => "a complex number".into(),
            Self::Weak(Value::Bytes(_)) => "bytes".into(),
            Self::Weak(Value::Text(_)) => "a string".into(),
            Self::Strong(_, kind) => kind.to_string().into(),
        }
    }

    fn kind(&self) -> Option<Type> {
        match self {
            Self::Weak(_) => None,
            Self::Strong(_, kind) => Some(*kind),
        }
    }
}

impl Lowering<'_> {
    fn node(&mut self, node: &Node) -> Result<Lowered> {
        match &node.kind {
            NodeKind::Literal(value) => Ok(Lowered::Weak(value.clone())),
            NodeKind::Name(number) => self.name(*number),
            NodeKind::Unary(operator, inner) => {
                let inner = self.node(inner)?;
                self.unary(*operator, inner)
            }
            NodeKind::Binary(operator, both) => {
                let (a, b) = (self.node(&both[0])?, self.node(&both[1])?);
                self.binary(*operator, &a, &b)
            }
            NodeKind::Call(function, arguments) => {
                let arguments = arguments.iter().map(|one| self.node(one)).collect::<Result<Vec<_>>>()?;
                self.call(*function, arguments)
            }
            NodeKind::Reduction(..) => no_meaning(
                "a reduction such as sum(a)",
                "a condition cannot contain reductions; compute them with `Expr`",
            ),
        }
    }

    fn name(&mut self, number: usize) -> Result<Lowered> {
        let name = &self.names[number];
        let Some((_, operand)) = self.operands.iter().find(|(known, _)| known == name) else {
            let known: Vec<&str> = self.operands.iter().map(|(known, _)| *known).collect();
            return Err(Error::UnknownName { name: name.clone(), known: known.join(", ") });
        };
        Ok(match operand {
            Operand::Array(kind) => {
                let program = &mut self.program;
                let number = program.names.iter().position(|known| known == name).unwrap_or_else(|| {
                    program.names.push(name.clone());
                    program.types.push(*kind);
                    program.names.len() - 1
                });
                Lowered::Strong(OperandSource::Array(number), *kind)
            }
            Operand::Scalar(value) => Lowered::Weak(value.clone()),
            Operand::Typed(kind, bytes) if bytes.len() == kind.size() => {
                Lowered::Strong(self.constant(bytes), *kind)
            }
            Operand::Typed(kind, bytes) => {
                let why = format!("a scalar of {kind} must have {} bytes", kind.size());
                return no_meaning(format!("{name} of {} bytes", bytes.len()), why);
            }
        })
    }

    fn constant(&mut self, bytes: &[u8]) -> OperandSource {
        self.program.constants.push(Constant::new(bytes));
        OperandSource::Constant(self.program.constants.len() - 1)
    }

    fn push(&mut self, op: Op, inputs: &[OperandSource], kind: Type) -> Result<OperandSource> {
        if let Some(constant) = self.folded(op, inputs, kind)? {
            return Ok(constant);
        }
        let out = self.register(inputs, kind);
        self.program.steps.push(Step { op, inputs: inputs.to_vec(), out });
        Ok(OperandSource::Register(out))
    }

    /// Computes a step whose operands are all constant.
    fn folded(&mut self, op: Op, inputs: &[OperandSource], kind: Type) -> Result<Option<OperandSource>> {
        if !inputs.iter().all(|input| matches!(input, OperandSource::Constant(_))) {
            return Ok(None);
        }
        let step = Step { op, inputs: inputs.to_vec(), out: 0 };
        let program = Program {
            steps: vec![step],
            result: OperandSource::Register(0),
            kind,
            names: Vec::new(),
            types: Vec::new(),
            constants: self.program.constants.clone(),
            registers: vec![kind],
        };
        let mut result = vec![0; kind.size()];
        program.run(&[], 1, &mut result, &mut Registers::default())?;
        Ok(Some(self.constant(&result)))
    }

    /// Returns a register for results. A register that no later step reads could be taken again, but
    /// expressions are short.
    fn register(&mut self, _inputs: &[OperandSource], kind: Type) -> usize {
        self.program.registers.push(kind);
        self.program.registers.len() - 1
    }

    /// Gives a weak scalar the type that it has beside another type, or alone.
    fn strong(&mut self, lowered: Lowered, beside: Option<Type>) -> Result<(OperandSource, Type)> {
        let value = match lowered {
            Lowered::Strong(source, kind) => return Ok((source, kind)),
            Lowered::Weak(value) => value,
        };
        let Some(kind) = weak(&value, beside) else {
            return no_meaning(format!("{value:?}"), "the integer must fit 64 bits");
        };
        Ok((self.typed(&value, kind)?, kind))
    }

    /// Returns a weak scalar as a constant of a type.
    fn typed(&mut self, value: &Value, kind: Type) -> Result<OperandSource> {
        let cast = |from: Type, bytes: &[u8], this: &mut Self| {
            let source = this.constant(bytes);
            if from == kind { Ok(source) } else { this.cast((source, from), kind) }
        };
        match value {
            Value::Bool(value) => cast(Type::Bool, &[u8::from(*value)], self),
            Value::Int(value) if kind.is_integer() => {
                let Some((low, high)) = kind.range() else { return no_meaning("an integer", "no range") };
                if *value < low || *value > high {
                    let why = format!("{kind} must be from {low} to {high}");
                    return no_meaning(format!("the integer {value}"), why);
                }
                Ok(self.constant(&value.to_le_bytes()[..kind.size()]))
            }
            Value::Int(_) | Value::Float(_) => {
                cast(Type::F64, &value.float().unwrap_or(f64::NAN).to_ne_bytes(), self)
            }
            Value::Complex(re, im) if kind == Type::C64 => {
                #[expect(clippy::cast_possible_truncation, reason = "a scalar of Python gives way")]
                let parts = [*re as f32, *im as f32];
                Ok(self.constant(bytemuck::cast_slice(&parts)))
            }
            Value::Complex(re, im) => Ok(self.constant(bytemuck::cast_slice(&[*re, *im]))),
            Value::Bytes(bytes) => Ok(self.constant(bytes)),
            Value::Text(text) => {
                let units: Vec<u32> = text.chars().map(u32::from).collect();
                Ok(self.constant(bytemuck::cast_slice(&units)))
            }
        }
    }

    fn cast(&mut self, (source, from): (OperandSource, Type), to: Type) -> Result<OperandSource> {
        match (from, to) {
            _ if from == to => Ok(source),
            (Type::Datetime(a) | Type::Timedelta(a), Type::Datetime(b) | Type::Timedelta(b)) => {
                match a.in_units_of(b) {
                    Some(1) => Ok(source),
                    Some(factor) => self.push(Op::ScaleTime(factor), &[source], to),
                    None => no_meaning(format!("{from} as {to}"), "the units have no fixed ratio"),
                }
            }
            // Floats of 16 bits come from and go to 32 bits; complex numbers from their parts.
            (Type::F16, to) if to.class() == Class::Complex => {
                let single = self.push(Op::Cast(Type::F16, Type::F32), &[source], Type::F32)?;
                self.push(Op::Cast(Type::F32, to), &[single], to)
            }
            _ => self.push(Op::Cast(from, to), &[source], to),
        }
    }

    /// Casts to a type that may lack some values.
    fn astype(&mut self, (source, from): (OperandSource, Type), to: Type) -> Result<OperandSource> {
        use Class::{Bool, Complex, Datetime, Signed, Timedelta, Unsigned};
        let (class, other) = (from.class(), to.class());
        let is_cast = match (class, other) {
            _ if from == to => true,
            (Complex, other) => matches!(other, Complex | Bool),
            (class, other) if class < Complex && other <= Complex => true,
            (Datetime, Datetime) | (Timedelta, Timedelta) => true,
            (Signed | Unsigned, Timedelta) | (Datetime | Timedelta, Signed) => to.size() == 8,
            _ => false,
        };
        if !is_cast {
            return no_meaning(format!("{from} as {to}"), "this cast is not supported");
        }
        self.cast((source, from), to)
    }

    fn unary(&mut self, operator: Unary, inner: Lowered) -> Result<Lowered> {
        let refused = |inner: &Lowered, why: &str| {
            no_meaning(format!("{} of {}", sign(operator), inner.describe()), why)
        };
        if let Lowered::Weak(value) = &inner {
            let folded = match (operator, value) {
                (Unary::Negative, value) => value.negated(),
                (Unary::Positive, Value::Int(_) | Value::Float(_) | Value::Complex(..)) => {
                    Some(value.clone())
                }
                (Unary::Invert, Value::Int(value)) => Some(Value::Int(!value)),
                (Unary::Invert, Value::Bool(value)) => Some(Value::Bool(!value)),
                _ => None,
            };
            return match folded {
                Some(value) => Ok(Lowered::Weak(value)),
                None => refused(&inner, "the operator is not defined for it"),
            };
        }
        let (source, kind) = self.strong(inner.clone(), None)?;
        let op = match (operator, kind.class()) {
            (Unary::Negative | Unary::Positive, Class::Bool) => {
                return refused(&inner, "write ~a to negate a condition");
            }
            (Unary::Positive, class) if class <= Class::Complex || class == Class::Timedelta => {
                return Ok(inner);
            }
            (Unary::Negative, Class::Timedelta) => Op::TimeMath(TimeMath::Negative),
            (Unary::Negative, class) if class <= Class::Complex => Op::Negative(kind),
            (Unary::Invert, Class::Bool | Class::Signed | Class::Unsigned) => Op::Invert(kind),
            (Unary::Invert, _) => return refused(&inner, "~ must be applied to a condition or an integer"),
            _ => return refused(&inner, "it must be a number"),
        };
        let made = self.in_wide(
            kind,
            |this, kind, source| {
                let op = if let Op::Negative(_) = op { Op::Negative(kind) } else { op };
                this.push(op, &[source], kind)
            },
            source,
        )?;
        Ok(Lowered::Strong(made, kind))
    }

    /// Computes a function of floats of 16 bits in 32 bits.
    fn in_wide(
        &mut self,
        kind: Type,
        f: impl FnOnce(&mut Self, Type, OperandSource) -> Result<OperandSource>,
        source: OperandSource,
    ) -> Result<OperandSource> {
        if kind != Type::F16 {
            return f(self, kind, source);
        }
        let wide = self.cast((source, Type::F16), Type::F32)?;
        let made = f(self, Type::F32, wide)?;
        self.cast((made, Type::F32), Type::F16)
    }

    fn binary(&mut self, operator: Binary, a: &Lowered, b: &Lowered) -> Result<Lowered> {
        if let (Lowered::Weak(one), Lowered::Weak(other)) = (a, b)
            && let Some(folded) = fold(operator, one, other)
        {
            return Ok(Lowered::Weak(folded));
        }
        let is_timed = |lowered: &Lowered| {
            lowered.kind().is_some_and(|kind| matches!(kind.class(), Class::Datetime | Class::Timedelta))
        };
        if is_timed(a) || is_timed(b) {
            return self.times(operator, a, b);
        }
        let is_string = |lowered: &Lowered| match lowered {
            Lowered::Weak(value) => matches!(value, Value::Bytes(_) | Value::Text(_)),
            Lowered::Strong(_, kind) => matches!(kind.class(), Class::Bytes | Class::Text),
        };
        if is_string(a) || is_string(b) {
            return self.strings(operator, a, b);
        }
        self.numbers(operator, a, b)
    }

    fn numbers(&mut self, operator: Binary, a: &Lowered, b: &Lowered) -> Result<Lowered> {
        if operator.is_comparison()
            && let Some(known) = self.beyond(operator, a, b)
        {
            return Ok(known);
        }
        let refused =
            |why: &str| no_meaning(format!("{} {} {}", a.describe(), operator.sign(), b.describe()), why);
        let (kind_a, kind_b) = (a.kind(), b.kind());
        // Integers are divided as floats, so the range of the other operand is no limit.
        let divided = |given: &Lowered, beside: Option<Type>| match given {
            Lowered::Weak(value @ Value::Int(_))
                if operator == B::Divide && beside.is_some_and(|kind| kind.class() <= Class::Unsigned) =>
            {
                Lowered::Weak(Value::Float(value.float().unwrap_or(f64::NAN)))
            }
            _ => given.clone(),
        };
        let (source_a, one) = self.strong(divided(a, kind_b), kind_b)?;
        let (source_b, other) = self.strong(divided(b, kind_a), kind_a)?;
        if operator.is_comparison() && matches!((one, other), (Type::I64, Type::U64) | (Type::U64, Type::I64))
        {
            let (operator, inputs) = if one == Type::I64 {
                (operator, [source_a, source_b])
            } else {
                (mirrored(operator), [source_b, source_a])
            };
            return Ok(Lowered::Strong(
                self.push(Op::CompareMixed(operator), &inputs, Type::Bool)?,
                Type::Bool,
            ));
        }
        let Some(common) = promote(one, other) else { return refused("they must have a common type") };
        let is_bool = common == Type::Bool;
        let is_integer = common.is_integer();
        let (work, result) = match operator {
            _ if operator.is_comparison() => (common, Type::Bool),
            B::Subtract if is_bool => return refused("conditions cannot be subtracted; use a ^ b or a & ~b"),
            B::Divide if is_bool || is_integer => (Type::F64, Type::F64),
            B::FloorDivide | B::Modulo | B::Fmod | B::Power | B::ShiftLeft | B::ShiftRight if is_bool => {
                (Type::I8, Type::I8)
            }
            B::And | B::Or | B::Xor if !is_bool && !is_integer => {
                return refused(
                    "both must be conditions or integers; put each comparison in parentheses, as in (a > 1) & (b < 2)",
                );
            }
            B::ShiftLeft | B::ShiftRight if !is_integer => {
                return refused("both must be integers");
            }
            B::FloorDivide | B::Modulo | B::Fmod if common.class() == Class::Complex => {
                return refused("complex numbers can be compared only with == and !=");
            }
            B::Arctan2 | B::Hypot | B::Copysign | B::Nextafter => {
                if common.class() == Class::Complex {
                    return refused("both must be real numbers");
                }
                // Each operand becomes a float of its own size first.
                let float = promote(float_of(one), float_of(other)).unwrap_or(Type::F64);
                (float, float)
            }
            _ => (common, common),
        };
        if operator == B::Nextafter && work == Type::F16 {
            let inputs = [self.cast((source_a, one), work)?, self.cast((source_b, other), work)?];
            return Ok(Lowered::Strong(self.push(Op::NextHalf, &inputs, result)?, result));
        }
        let wide = if work == Type::F16 { Type::F32 } else { work };
        let (source_a, source_b) = (self.cast((source_a, one), wide)?, self.cast((source_b, other), wide)?);
        let made_kind = if result == Type::F16 { Type::F32 } else { result };
        let made = self.push(Op::Binary(operator, wide), &[source_a, source_b], made_kind)?;
        Ok(Lowered::Strong(self.cast((made, made_kind), result)?, result))
    }

    /// Compares integers with an integer beyond their range, which is always true or always false.
    fn beyond(&mut self, operator: Binary, a: &Lowered, b: &Lowered) -> Option<Lowered> {
        let (operator, value, kind) = match (a, b) {
            (Lowered::Strong(_, kind), Lowered::Weak(Value::Int(value))) => (operator, *value, *kind),
            (Lowered::Weak(Value::Int(value)), Lowered::Strong(_, kind)) => {
                (mirrored(operator), *value, *kind)
            }
            _ => return None,
        };
        let (low, high) = kind.range()?;
        let is_above = value > high;
        if !is_above && value >= low {
            return None;
        }
        let holds = match operator {
            Binary::Less | Binary::LessEqual => is_above,
            Binary::Greater | Binary::GreaterEqual => !is_above,
            operator => operator == Binary::NotEqual,
        };
        Some(Lowered::Strong(self.constant(&[u8::from(holds)]), Type::Bool))
    }

    fn strings(&mut self, operator: Binary, a: &Lowered, b: &Lowered) -> Result<Lowered> {
        let refused =
            |why: &str| no_meaning(format!("{} {} {}", a.describe(), operator.sign(), b.describe()), why);
        if !operator.is_comparison() {
            return refused("strings can be compared, but not computed with");
        }
        let is_bytes = |lowered: &Lowered| matches!(lowered.kind(), Some(Type::Bytes(_)));
        let (a_is_bytes, b_is_bytes) = (is_bytes(a), is_bytes(b));
        let (source_a, one) = self.string(a.clone(), b_is_bytes)?;
        let (source_b, other) = self.string(b.clone(), a_is_bytes)?;
        if one.class() != other.class() {
            return refused(match (one.class(), other.class()) {
                (Class::Bytes | Class::Text, Class::Bytes | Class::Text) => {
                    "both must be strings, or both bytes, as in b'text'"
                }
                (Class::Bool, _) | (_, Class::Bool) => {
                    "a bool must be compared with True or False, not a string"
                }
                _ => "a number must be compared with a number, not a string",
            });
        }
        let op = Op::CompareStrings(operator, one, other);
        Ok(Lowered::Strong(self.push(op, &[source_a, source_b], Type::Bool)?, Type::Bool))
    }

    /// Returns a string. A text of Python beside bytes is taken in UTF-8.
    fn string(&mut self, lowered: Lowered, beside_bytes: bool) -> Result<(OperandSource, Type)> {
        match lowered {
            Lowered::Weak(Value::Text(text)) if beside_bytes => {
                self.strong(Lowered::Weak(Value::Bytes(text.into_bytes())), None)
            }
            lowered => self.strong(lowered, None),
        }
    }
}

fn sign(operator: Unary) -> &'static str {
    match operator {
        Unary::Negative => "-",
        Unary::Positive => "+",
        Unary::Invert => "~",
    }
}
