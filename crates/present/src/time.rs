//! Dates and durations of NumPy, which h5py and hyperslab store as opaque elements: 8 bytes, and a tag such
//! as `NUMPY:<M8[us]` or `NUMPY:<m8[25s]`.

use std::fmt;

/// The units of dates, each with its name, the number of it in the next longer one, and the digits after
/// the point of a second.
const UNITS: [(&str, Unit); 13] = [
    ("Y", Unit::Months(12)),
    ("M", Unit::Months(1)),
    ("W", Unit::Days(7)),
    ("D", Unit::Days(1)),
    ("h", Unit::Seconds(3600)),
    ("m", Unit::Seconds(60)),
    ("s", Unit::Seconds(1)),
    ("ms", Unit::Digits(3)),
    ("us", Unit::Digits(6)),
    ("ns", Unit::Digits(9)),
    ("ps", Unit::Digits(12)),
    ("fs", Unit::Digits(15)),
    ("as", Unit::Digits(18)),
];

/// A unit of dates.
#[derive(Debug, Clone, Copy)]
enum Unit {
    /// This many months.
    Months(i128),
    /// This many days.
    Days(i128),
    /// This many seconds.
    Seconds(i128),
    /// A part of a second, with this many digits after the point.
    Digits(u32),
}

/// What the tag of an opaque datatype says of dates or durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeTag {
    /// Whether the elements are big-endian.
    pub is_big: bool,
    /// Whether the elements are durations.
    pub is_duration: bool,
    /// The number of units from one value to the next.
    pub step: i64,
    /// NumPy's name of the unit, from `Y` to `as`.
    pub unit: &'static str,
}

/// A date or a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeValue {
    /// NumPy's "not a time".
    NotATime,
    /// A date, as NumPy writes it, with the digits of its unit.
    Date(String),
    /// A duration, as the number of its units.
    Duration(i64),
}

impl fmt::Display for TimeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATime => f.write_str("NaT"),
            Self::Date(date) => f.write_str(date),
            Self::Duration(number) => number.fmt(f),
        }
    }
}

impl TimeTag {
    /// Parses a tag. `None` if it is of something else.
    pub fn of(tag: &str) -> Option<Self> {
        let name = tag.trim_end_matches('\0').strip_prefix("NUMPY:")?;
        let (order, code) = name.split_at_checked(1)?;
        let is_big = matches!(order, "<" | ">").then_some(order == ">")?;
        let (is_duration, unit) = match code.split_at_checked(3)? {
            ("M8[", unit) => (false, unit.strip_suffix(']')?),
            ("m8[", unit) => (true, unit.strip_suffix(']')?),
            _ => return None,
        };
        let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
        let step = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
        let (unit, _) = UNITS.into_iter().find(|(name, _)| *name == &unit[digits..])?;
        Some(Self { is_big, is_duration, step, unit })
    }

    /// Decodes an element. `None` if it does not have 8 bytes.
    pub fn value(self, stored: &[u8]) -> Option<TimeValue> {
        let bytes: [u8; 8] = stored.try_into().ok()?;
        let number = if self.is_big { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) };
        let (name, unit) = UNITS.into_iter().find(|(name, _)| *name == self.unit)?;
        Some(match number {
            i64::MIN => TimeValue::NotATime,
            number if self.is_duration => TimeValue::Duration(number),
            number => TimeValue::Date(date(i128::from(number) * i128::from(self.step), name, unit)),
        })
    }
}

/// Returns the date that is `number` units after the start of 1970.
fn date(number: i128, name: &str, unit: Unit) -> String {
    match unit {
        Unit::Months(months) => {
            let months = number * months;
            let (year, month) = (1970 + months.div_euclid(12), months.rem_euclid(12) + 1);
            if name == "Y" { year_name(year) } else { format!("{}-{month:02}", year_name(year)) }
        }
        Unit::Days(days) => day(number * days),
        Unit::Seconds(seconds) => {
            let seconds = number * seconds;
            let shown = match name {
                "h" => 2,
                "m" => 5,
                _ => 8,
            };
            format!("{}T{}", day(seconds.div_euclid(DAY)), &time(seconds.rem_euclid(DAY))[..shown])
        }
        Unit::Digits(digits) => {
            let per_second = 10_i128.pow(digits);
            let (seconds, rest) = (number.div_euclid(per_second), number.rem_euclid(per_second));
            let (day, time) = (day(seconds.div_euclid(DAY)), time(seconds.rem_euclid(DAY)));
            format!("{day}T{time}.{rest:0digits$}", digits = digits as usize)
        }
    }
}

/// The seconds of a day.
const DAY: i128 = 24 * 60 * 60;

/// Returns a time of day.
fn time(seconds: i128) -> String {
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns the date of a day, counted from the start of 1970, in the Gregorian calendar.
///
/// Years are counted from March, so that a leap day is the last day of its year.
fn day(number: i128) -> String {
    /// The lengths of the months from March on.
    const MONTHS: [i128; 12] = [31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 29];
    const YEAR: i128 = 365;
    const FOUR_YEARS: i128 = 4 * YEAR + 1;
    const CENTURY: i128 = 25 * FOUR_YEARS - 1;
    const FOUR_CENTURIES: i128 = 4 * CENTURY + 1;
    /// The days from the start of March of the year 0 to the start of 1970.
    const FROM_YEAR_0: i128 = 719_468;
    let days = number + FROM_YEAR_0;
    let (cycles, days) = (days.div_euclid(FOUR_CENTURIES), days.rem_euclid(FOUR_CENTURIES));
    // The last century, and the last year of four, have a day more.
    let centuries = (days / CENTURY).min(3);
    let days = days - centuries * CENTURY;
    let (fours, days) = (days / FOUR_YEARS, days % FOUR_YEARS);
    let years = (days / YEAR).min(3);
    let mut left = days - years * YEAR;
    let mut month = 0;
    while month < 11 && left >= MONTHS[month] {
        left -= MONTHS[month];
        month += 1;
    }
    let year = 400 * cycles + 100 * centuries + 4 * fours + years + i128::from(month >= 10);
    format!("{}-{:02}-{:02}", year_name(year), (month + 2) % 12 + 1, left + 1)
}

/// Returns a year with four characters at least, as NumPy writes it.
fn year_name(year: i128) -> String {
    format!("{year:04}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tag: &str, number: i64) -> Option<String> {
        let stored = if tag.contains('>') { number.to_be_bytes() } else { number.to_le_bytes() };
        Some(TimeTag::of(tag)?.value(&stored)?.to_string())
    }

    /// The expected texts are those of `str(np.datetime64(number, unit))`, NumPy 2.4.
    #[test]
    fn dates_are_written_as_numpy_writes_them() {
        for (tag, number, expected) in [
            ("<M8[us]", 1_704_067_200_123_456, "2024-01-01T00:00:00.123456"),
            ("<M8[ns]", -1, "1969-12-31T23:59:59.999999999"),
            (">M8[D]", 11_016, "2000-02-29"),
            ("<M8[D]", -25_509, "1900-02-28"),
            ("<M8[D]", -25_508, "1900-03-01"),
            ("<M8[D]", -719_529, "-001-12-31"),
            ("<M8[W]", 1, "1970-01-08"),
            ("<M8[Y]", -1970, "0000"),
            ("<M8[M]", -1, "1969-12"),
            ("<M8[h]", 30, "1970-01-02T06"),
            ("<M8[m]", -1, "1969-12-31T23:59"),
            ("<M8[25s]", 4, "1970-01-01T00:01:40"),
            ("<M8[us]", i64::MIN + 1, "-290308-12-21T19:59:05.224193"),
            ("<M8[ns]", i64::MIN, "NaT"),
            ("<m8[us]", 5, "5"),
            (">m8[h]", -3, "-3"),
            ("<m8[h]", i64::MIN, "NaT"),
        ] {
            assert_eq!(shown(&format!("NUMPY:{tag}"), number).as_deref(), Some(expected), "{tag} {number}");
        }
        for tag in
            ["", "<", "é8[us]", "M8[us]", "<M8", "<M8[]", "<M8[us", "<M8[lightyear]", "<i8", "JPEG", "é"]
        {
            assert_eq!(shown(&format!("NUMPY:{tag}"), 1), None, "{tag}");
        }
        assert_eq!(shown("<M8[us]", 1), None, "h5py reads such elements as bytes");
        assert_eq!(TimeTag::of("NUMPY:<M8[us]").unwrap().value(&[0; 4]), None);
    }
}
