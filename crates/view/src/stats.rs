//! `/stats`: the smallest and largest number, mean and standard deviation of the selected elements.

use serde_json::{Value, json};

use crate::answer::{Answered, Limited, Refusal};
use crate::data::Elements;
use crate::limits::MOST_BYTES;
use crate::number::{Form, Kind};
use crate::request::Asked;

/// The statistics of the numbers so far. NaN and infinities do not count.
#[derive(Debug, Default)]
struct Statistics {
    count: f64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
    range: Option<(Number, Number)>,
    positive_min: Option<Number>,
    strict_positive_min: Option<Number>,
}

/// A number, exactly.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    fn of(kind: Kind, bytes: &[u8]) -> Self {
        match (kind, bytes) {
            (Kind::Float, &[a, b, c, d]) => Self::Float(f32::from_le_bytes([a, b, c, d]).into()),
            (Kind::Float, bytes) => Self::Float(f64::from_le_bytes(extended(bytes, 0))),
            (Kind::Signed, bytes) => {
                let is_negative = bytes.last().is_some_and(|byte| byte >> 7 == 1);
                Self::Whole(i64::from_le_bytes(extended(bytes, if is_negative { 0xff } else { 0 })).into())
            }
            (_, bytes) => Self::Whole(u64::from_le_bytes(extended(bytes, 0)).into()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "for the mean, as in NumPy")]
    fn value(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Whole(number) => i64::try_from(number)
                .map_or_else(|_| u64::try_from(number).map_or(Value::Null, Value::from), Value::from),
            Self::Float(number) => json!(number),
        }
    }
}

/// Returns an integer of at most 8 bytes in 8 bytes.
fn extended(bytes: &[u8], fill: u8) -> [u8; 8] {
    let mut extended = [fill; 8];
    extended.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    extended
}

/// Returns the smaller of `known`, if there is one, and `number`.
fn smaller(known: Option<Number>, number: Number) -> Number {
    known.filter(|known| *known <= number).unwrap_or(number)
}

impl Statistics {
    fn push(&mut self, number: Number) {
        let value = number.value();
        if !value.is_finite() {
            return;
        }
        self.count += 1.0;
        let distance = value - self.mean;
        self.mean += distance / self.count;
        self.squares += distance * (value - self.mean);
        self.range = Some(match self.range {
            None => (number, number),
            Some((least, most)) => {
                (if number < least { number } else { least }, if number > most { number } else { most })
            }
        });
        if value >= 0.0 {
            self.positive_min = Some(smaller(self.positive_min, number));
        }
        if value > 0.0 {
            self.strict_positive_min = Some(smaller(self.strict_positive_min, number));
        }
    }

    fn json(&self) -> Value {
        let is_any = self.count > 0.0;
        let number = |number: Option<Number>| number.map_or(Value::Null, Number::json);
        json!({
            "strict_positive_min": number(self.strict_positive_min),
            "positive_min": number(self.positive_min),
            "min": number(self.range.map(|(least, _)| least)),
            "max": number(self.range.map(|(_, most)| most)),
            "mean": is_any.then_some(self.mean),
            "std": is_any.then(|| (self.squares / self.count).sqrt()),
        })
    }
}

/// Writes the statistics of the selected elements.
pub(crate) fn stats(asked: &Asked<'_>, out: &mut Limited) -> Answered<()> {
    let elements = Elements::of(asked.file, asked.name, asked.query)?;
    let numbers = elements.numbers(Form::Safe).filter(|numbers| numbers.kind != Kind::Complex);
    let Some(numbers) = numbers.filter(|_| !elements.is_null()) else {
        return Err(Refusal::argument("statistics are of real numbers"));
    };
    let size = numbers.element_size();
    // So that no request reads for hours.
    elements.bytes(size).map_err(|_| {
        let most = MOST_BYTES >> 20;
        Refusal::argument(format!("statistics are of at most {most} MiB of numbers: select fewer"))
    })?;
    let mut statistics = Statistics::default();
    elements.each_part(&numbers.memory, size, asked.cancelled, &mut |bytes| {
        let all = bytes.chunks_exact(numbers.size as usize);
        all.for_each(|bytes| statistics.push(Number::of(numbers.kind, bytes)));
        Ok(())
    })?;
    out.json(&statistics.json())
}
