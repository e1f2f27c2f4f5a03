//! Compiles calls: functions of numbers, `where`, and tests of strings.

use super::{Lowered, Lowering};
use crate::error::{Error, Result, no_meaning};
use crate::kernels::{Op, TimeMath};
use crate::tree::{Binary, Function, Math};
use crate::types::{Class, Type};
use crate::typing::{float_of, part_of, promote};

impl Lowering<'_> {
    pub(super) fn call(&mut self, function: Function, arguments: Vec<Lowered>) -> Result<Lowered> {
        let mut arguments = arguments.into_iter();
        let mut next = || {
            arguments.next().ok_or(Error::Type { what: "a call".into(), why: "arguments are missing".into() })
        };
        match function {
            Function::Math(math) => {
                let argument = next()?;
                self.math(math, argument)
            }
            Function::Where => {
                let (condition, a, b) = (next()?, next()?, next()?);
                self.select(condition, a, b)
            }
            Function::IsIn => {
                let value = next()?;
                let mut found = None;
                for other in arguments {
                    let equal = self.binary(Binary::Equal, &value, &other)?;
                    found = Some(match found {
                        None => equal,
                        Some(found) => self.binary(Binary::Or, &found, &equal)?,
                    });
                }
                found.ok_or(Error::Type {
                    what: "isin".into(),
                    why: "values to compare with are missing".into(),
                })
            }
            Function::Contains => {
                let (text, part) = (next()?, next()?);
                let is_bytes = |one: &Lowered| matches!(one.kind(), Some(Type::Bytes(_)));
                let beside = is_bytes(&text) || is_bytes(&part);
                let (one, other) = (self.string(text, beside)?, self.string(part, beside)?);
                if one.1.class() != other.1.class() || !matches!(one.1.class(), Class::Bytes | Class::Text) {
                    return no_meaning(
                        format!("contains({}, {})", one.1, other.1),
                        "both must be strings, or both bytes",
                    );
                }
                let op = Op::Contains(one.1, other.1);
                Ok(Lowered::Strong(self.push(op, &[one.0, other.0], Type::Bool)?, Type::Bool))
            }
            Function::Complex => {
                let (re, im) = (next()?, next()?);
                let (kind_re, kind_im) = (re.kind(), im.kind());
                let (re, im) = (self.strong(re, kind_im)?, self.strong(im, kind_re)?);
                let part = if (re.1, im.1) == (Type::F32, Type::F32) { Type::F32 } else { Type::F64 };
                if re.1.class() > Class::Float || im.1.class() > Class::Float {
                    return no_meaning(
                        format!("complex({}, {})", re.1, im.1),
                        "both parts must be real numbers",
                    );
                }
                let parts = [self.cast(re, part)?, self.cast(im, part)?];
                let kind = if part == Type::F32 { Type::C64 } else { Type::C128 };
                Ok(Lowered::Strong(self.push(Op::Complex(kind), &parts, kind)?, kind))
            }
        }
    }

    fn select(&mut self, condition: Lowered, a: Lowered, b: Lowered) -> Result<Lowered> {
        let (mask, kind) = self.strong(condition, None)?;
        if !kind.is_number() || kind.class() == Class::Complex {
            return no_meaning(format!("where({kind}, ...)"), "its first argument must be a condition");
        }
        let mask = self.cast((mask, kind), Type::Bool)?;
        let (kind_a, kind_b) = (a.kind(), b.kind());
        let (a, b) = (self.strong(a, kind_b)?, self.strong(b, kind_a)?);
        let common = promote(a.1, b.1).filter(|kind| !matches!(kind.class(), Class::Bytes | Class::Text));
        let Some(common) = common else {
            return no_meaning(
                format!("where(..., {}, {})", a.1, b.1),
                "they must have a common type of numbers",
            );
        };
        let inputs = [mask, self.cast(a, common)?, self.cast(b, common)?];
        Ok(Lowered::Strong(self.push(Op::Where(common.size()), &inputs, common)?, common))
    }

    fn math(&mut self, math: Math, argument: Lowered) -> Result<Lowered> {
        let (source, kind) = self.strong(argument, None)?;
        let refused = |why: &str| no_meaning(format!("{} of {kind}", name(math)), why);
        let class = kind.class();
        if matches!(class, Class::Datetime | Class::Timedelta) {
            let (op, result) = match math {
                Math::Abs if class == Class::Timedelta => (TimeMath::Abs, kind),
                Math::IsNan => (TimeMath::IsNat, Type::Bool),
                _ => return refused("the function is not defined for times"),
            };
            return Ok(Lowered::Strong(self.push(Op::TimeMath(op), &[source], result)?, result));
        }
        if !kind.is_number() {
            return refused("it must be a number");
        }
        let is_exact = class <= Class::Unsigned;
        let (work, result) = match math {
            Math::SignBit if class == Class::Complex => return refused("it must be a real number"),
            Math::IsNan | Math::IsInf | Math::IsFinite | Math::SignBit => (kind, Type::Bool),
            Math::Abs | Math::Real | Math::Imag if class == Class::Complex => (kind, part_of(kind)),
            Math::Sign if class == Class::Bool => return refused("it must be a number, not a condition"),
            Math::Floor | Math::Ceil | Math::Trunc if class == Class::Complex => {
                return refused("it must be a real number");
            }
            Math::Conj if class == Class::Bool => (Type::I8, Type::I8),
            Math::Abs | Math::Sign | Math::Conj | Math::Real | Math::Imag | Math::OnesLike => (kind, kind),
            Math::Floor | Math::Ceil | Math::Trunc if is_exact => (kind, kind),
            _ => (float_of(kind), float_of(kind)),
        };
        let wide = if work == Type::F16 { Type::F32 } else { work };
        let source = self.cast((source, kind), wide)?;
        let made_kind = if result == Type::F16 { Type::F32 } else { result };
        let made = self.push(Op::Math(math, wide), &[source], made_kind)?;
        Ok(Lowered::Strong(self.cast((made, made_kind), result)?, result))
    }
}

fn name(math: Math) -> &'static str {
    let known = crate::tree::MATHS.iter().find(|(_, known)| *known == math);
    known.map_or("a function", |(name, _)| name)
}
