//! Operators on times and durations.

use super::{Lowered, Lowering};
use crate::error::{Result, no_meaning};
use crate::kernels::Op;
use crate::program::OperandSource;
use crate::tree::Binary as B;
use crate::tree::Binary;
use crate::types::Class::{self, Datetime, Timedelta};
use crate::types::{Type, Unit};
use crate::typing::promote;

impl Lowering<'_> {
    pub(super) fn times(&mut self, operator: Binary, a: &Lowered, b: &Lowered) -> Result<Lowered> {
        let refused =
            |why: &str| no_meaning(format!("{} {} {}", a.describe(), operator.sign(), b.describe()), why);
        let (source_a, one) = self.strong(a.clone(), None)?;
        let (source_b, other) = self.strong(b.clone(), None)?;
        let as_duration = |kind: Type| if kind.is_integer() { Type::Timedelta(Unit::Generic) } else { kind };
        let strings = "compare it with a NumPy scalar such as np.datetime64('2024-01-01')";
        match (one.class(), other.class()) {
            (Class::Bytes | Class::Text, _) | (_, Class::Bytes | Class::Text) => refused(strings),
            (Timedelta, class)
                if class <= Class::Float
                    && (operator == B::Multiply
                        || class != Class::Bool && matches!(operator, B::Divide | B::FloorDivide)) =>
            {
                self.durations_by(operator, (source_a, one), (source_b, other))
            }
            (class, Timedelta) if class <= Class::Float && operator == B::Multiply => {
                self.durations_by(operator, (source_b, other), (source_a, one))
            }
            _ => {
                let (one, other) = (as_duration(one), as_duration(other));
                let times = (one.class(), other.class());
                let unit = |kind: Type| match kind {
                    Type::Datetime(unit) | Type::Timedelta(unit) => Type::Timedelta(unit),
                    kind => kind,
                };
                let Some(duration @ Type::Timedelta(common)) = promote(unit(one), unit(other)) else {
                    return refused("they must have a common unit");
                };
                let result = match (operator, times) {
                    (B::Add, (Datetime, Timedelta) | (Timedelta, Datetime))
                    | (B::Subtract, (Datetime, Timedelta))
                    | (B::Minimum | B::Maximum, (Datetime, Datetime)) => Type::Datetime(common),
                    (B::Subtract, (Datetime, Datetime))
                    | (B::Add | B::Subtract | B::Modulo | B::Minimum | B::Maximum, (Timedelta, Timedelta)) => {
                        duration
                    }
                    (B::Divide, (Timedelta, Timedelta)) => Type::F64,
                    (B::FloorDivide, (Timedelta, Timedelta)) => Type::I64,
                    (_, (Datetime, Datetime) | (Timedelta, Timedelta)) if operator.is_comparison() => {
                        Type::Bool
                    }
                    _ => return refused("the operator is not defined for times"),
                };
                let source_a = self.cast((source_a, unit(one)), duration)?;
                let source_b = self.cast((source_b, unit(other)), duration)?;
                Ok(Lowered::Strong(self.push(Op::Time(operator), &[source_a, source_b], result)?, result))
            }
        }
    }

    fn durations_by(
        &mut self,
        operator: Binary,
        (duration, kind): (OperandSource, Type),
        (number, by): (OperandSource, Type),
    ) -> Result<Lowered> {
        let (op, with) = match by.class() {
            Class::Float => (Op::TimeByFloat(operator), Type::F64),
            _ => (Op::TimeByInteger(operator), Type::I64),
        };
        let number = self.cast((number, by), with)?;
        Ok(Lowered::Strong(self.push(op, &[duration, number], kind)?, kind))
    }
}
