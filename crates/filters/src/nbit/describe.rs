//! The client data that describe a datatype.

use crate::error::Result;
use crate::facts::{Element, Number, Order};

use super::layout::class;
use super::wrong;

/// The client data of a datatype.
pub(super) struct Description {
    pub(super) data: Vec<u32>,
    /// Whether all bits so far are significant.
    pub(super) is_whole: bool,
}

impl Description {
    /// Appends a datatype.
    pub(super) fn element(&mut self, element: &Element) -> Result<()> {
        match element {
            Element::Number(number) if number.kind.is_number() => self.number(*number),
            Element::Array { size, base } => {
                self.sized(class::ARRAY, *size)?;
                if let Element::Variable { size } = **base {
                    return Err(wrong(
                        "size of an item",
                        size as u64,
                        "a fixed size: the items vary in length",
                    ));
                }
                self.element(base)
            }
            Element::Compound { size, members } => {
                self.sized(class::COMPOUND, *size)?;
                self.push(members.len())?;
                for (place, (at, member)) in members.iter().enumerate() {
                    self.push(*at)?;
                    if let Element::Variable { .. } = member {
                        // libhdf5 takes the space up to the next member.
                        let end = members.get(place + 1).map_or(*size, |(next, _)| *next);
                        self.sized(class::BYTES, end.saturating_sub(*at))?;
                    } else {
                        self.element(member)?;
                    }
                }
                Ok(())
            }
            other => self.sized(class::BYTES, other.size()),
        }
    }

    fn number(&mut self, Number { size, order, precision, offset, .. }: Number) -> Result<()> {
        let order = match order {
            Order::Little => 0,
            Order::Big => 1,
            Order::Other => return Err(wrong("byte order", 2, "little-endian or big-endian")),
        };
        let bits = size as u64 * 8;
        if precision == 0 || u64::from(precision) + u64::from(offset) > bits {
            return Err(wrong(
                "precision",
                precision.into(),
                "at least 1, and at most the bits of the number",
            ));
        }
        self.is_whole &= u64::from(precision) == bits;
        self.sized(class::NUMBER, size)?;
        self.data.extend([order, precision, offset]);
        Ok(())
    }

    fn sized(&mut self, class: u32, size: usize) -> Result<()> {
        self.data.push(class);
        self.push(size)
    }

    fn push(&mut self, value: usize) -> Result<()> {
        let number = u32::try_from(value).map_err(|_| wrong("size", value as u64, "less than 4 GiB"))?;
        self.data.push(number);
        Ok(())
    }
}
