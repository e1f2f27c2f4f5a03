//! Conversions of times to seconds. The specification defines only the size and byte order of a time
//! (IV.A.2.d, class 2), so the values are those of PyTables, the only known writer: 8 bytes hold whole
//! seconds in the upper half and microseconds in the lower half, both signed.

use hyperslab_format::datatype::{ByteOrder, Datatype, Float, Time};

/// The size of a time and of a double in bytes.
const SIZE: usize = 8;
const MICROSECONDS: f64 = 1e6;

/// A conversion between times of 8 bytes and seconds as doubles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    is_time_source: bool,
    time: ByteOrder,
    seconds: ByteOrder,
}

impl Clock {
    /// Returns the conversion, if one datatype is a time of 8 bytes and the other one a double.
    pub(super) fn between(from: &Datatype, to: &Datatype) -> Option<Self> {
        let (is_time_source, time, seconds) = match (from, to) {
            (Datatype::Time(time), Datatype::Float(seconds)) => (true, time, seconds),
            (Datatype::Float(seconds), Datatype::Time(time)) => (false, time, seconds),
            _ => return None,
        };
        let fits = is_plain(*time) && Float::ieee(8, seconds.order) == Some(*seconds);
        fits.then_some(Self { is_time_source, time: time.order, seconds: seconds.order })
    }

    /// Converts every element. `src` and `dst` hold the same number of elements.
    pub(super) fn run(self, src: &[u8], dst: &mut [u8]) {
        let sources = src.as_chunks::<SIZE>().0;
        for (&from, to) in sources.iter().zip(dst.as_chunks_mut::<SIZE>().0) {
            *to = if self.is_time_source {
                in_order(seconds(in_order(from, self.time)).to_le_bytes(), self.seconds)
            } else {
                in_order(time(in_order(from, self.seconds)), self.time)
            };
        }
    }
}

fn is_plain(time: Time) -> bool {
    time.size == 8 && time.precision == 64 && time.order != ByteOrder::Vax
}

/// Turns bytes from little-endian to `order`, or back.
fn in_order(mut bytes: [u8; SIZE], order: ByteOrder) -> [u8; SIZE] {
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes
}

/// Returns the seconds of a time of 8 bytes in little-endian order.
pub fn seconds(time: [u8; SIZE]) -> f64 {
    let [m0, m1, m2, m3, s0, s1, s2, s3] = time;
    let (whole, micro) = (i32::from_le_bytes([s0, s1, s2, s3]), i32::from_le_bytes([m0, m1, m2, m3]));
    f64::from(whole) + f64::from(micro) / MICROSECONDS
}

#[expect(clippy::cast_possible_truncation, reason = "seconds are clamped to 32 bits, as numbers elsewhere")]
fn time(seconds: [u8; SIZE]) -> [u8; SIZE] {
    let seconds = f64::from_le_bytes(seconds);
    let whole = seconds.trunc() as i32;
    let micro = ((seconds - f64::from(whole)) * MICROSECONDS).round() as i32;
    let [m0, m1, m2, m3] = micro.to_le_bytes();
    let [s0, s1, s2, s3] = whole.to_le_bytes();
    [m0, m1, m2, m3, s0, s1, s2, s3]
}

#[cfg(test)]
mod tests {
    use super::super::Conversion;
    use super::*;

    fn stored(whole: i32, micro: i32) -> [u8; 8] {
        let mut time = [0; 8];
        time[..4].copy_from_slice(&micro.to_le_bytes());
        time[4..].copy_from_slice(&whole.to_le_bytes());
        time
    }

    /// Values as PyTables 3.11 writes them.
    #[test]
    fn times_are_those_of_pytables() {
        let datatypes = |order| (Datatype::Time(Time { size: 8, order, precision: 64 }), float(order));
        let cases = [
            (-1.25, stored(-1, -250_000)),
            (1e9 + 0.123_456, stored(1_000_000_000, 123_456)),
            (0.123_456_5, stored(0, 123_457)),
            (0.0, stored(0, 0)),
        ];
        for (seconds, time) in cases {
            let (from, to) = datatypes(ByteOrder::Little);
            let mut found = [0; 8];
            Conversion::between(&to, &from)
                .unwrap()
                .apply(&f64::to_le_bytes(seconds), &mut found, 1)
                .unwrap();
            assert_eq!(found, time);
            Conversion::between(&from, &to).unwrap().apply(&time, &mut found, 1).unwrap();
            assert!((f64::from_le_bytes(found) - seconds).abs() < 1e-6);
            let (from, to) = datatypes(ByteOrder::Big);
            let mut reversed = time;
            reversed.reverse();
            Conversion::between(&from, &to).unwrap().apply(&reversed, &mut found, 1).unwrap();
            assert!((f64::from_be_bytes(found) - seconds).abs() < 1e-6);
        }
    }

    #[test]
    fn seconds_out_of_range_are_clamped_and_nan_is_zero() {
        assert_eq!(time(f64::NAN.to_le_bytes()), stored(0, 0));
        assert_eq!(time(1e300_f64.to_le_bytes()), stored(i32::MAX, i32::MAX));
    }

    fn float(order: ByteOrder) -> Datatype {
        Datatype::Float(Float::ieee(8, order).unwrap())
    }
}
