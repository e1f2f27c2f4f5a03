//! A number, or a range of numbers, each twice the one before: `1..4`, `256K..4M`.

use hyperslab_pio::doublings;

/// The numbers of a range, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doublings(pub(super) Vec<u64>);

impl Doublings {
    fn parse(text: &str, number: impl Fn(&str) -> Result<u64, String>) -> Result<Self, String> {
        let Some((first, last)) = text.split_once("..") else { return Ok(Self(vec![number(text)?])) };
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("{text:?} begins with the larger number"));
        }
        Ok(Self(doublings(first, last)))
    }
}

/// Parses sizes in bytes.
pub(super) fn bytes(text: &str) -> Result<Doublings, String> {
    Doublings::parse(text, crate::units::binary)
}

/// Parses numbers of processes.
pub(super) fn processes(text: &str) -> Result<Doublings, String> {
    let number = |text: &str| match text.trim().parse() {
        Ok(number @ 1..=MOST_PROCESSES) => Ok(number),
        _ => Err(format!("{text:?} is not a number of processes from 1 to {MOST_PROCESSES}")),
    };
    Doublings::parse(text, number)
}

/// The most processes: each of them is connected with every other.
const MOST_PROCESSES: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_doubles_up_to_its_end() {
        let numbers = |text| processes(text).map(|Doublings(numbers)| numbers);
        assert_eq!(numbers("1..4"), Ok(vec![1, 2, 4]));
        assert_eq!(numbers("3"), Ok(vec![3]));
        assert_eq!(numbers("2..2"), Ok(vec![2]));
        assert_eq!(numbers("1..6"), Ok(vec![1, 2, 4, 6]));
        for wrong in ["", "0", "0..4", "4..1", "1..", "..4", "a", "1..2..3", "-1", "1025", "1..5000"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(bytes("256K..1M"), Ok(Doublings(vec![256 << 10, 512 << 10, 1 << 20])));
        assert_eq!(bytes("1.5KiB..2K"), Ok(Doublings(vec![1536, 2048])));
        assert_eq!(bytes("100"), Ok(Doublings(vec![100])));
        for wrong in ["", "0", "4M..1M", "1X", "..", "1M.2M"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
