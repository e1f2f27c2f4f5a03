//! Amounts with units on the command line: `256MB`, `500MB/s`, `100us`.

/// Parses a number of bytes, with a decimal unit (`kB`, `MB`, `GB`, `TB`), a binary unit (`KiB`, ...) or
/// none.
pub fn bytes(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "" | "B" => 1.0,
        "k" | "kB" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("unknown unit {unit:?}: use B, kB, MB, GB, TB, KiB, MiB or GiB")),
    };
    let bytes = number * factor;
    if (1.0..1e18).contains(&bytes) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of that range")]
        Ok(bytes as u64)
    } else {
        Err("a size is from 1 byte to less than 10^18 bytes".to_owned())
    }
}

/// Does the same as [`bytes`], but a single letter is a binary unit, as in `256K`: the notation of programs
/// that measure files.
pub fn binary(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text)?;
    match unit {
        "k" | "K" | "M" | "G" => bytes(&format!("{number}{}iB", unit.to_uppercase())),
        _ => bytes(text),
    }
}

/// Parses bytes per second. The `/s` may be omitted.
pub fn bandwidth(text: &str) -> Result<u64, String> {
    bytes(text.strip_suffix("/s").unwrap_or(text))
}

/// Parses a time with the unit `ns`, `us`, `ms` or `s`, and returns seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(format!("unknown unit {unit:?}: use ns, us, ms or s")),
    };
    let seconds = number * factor;
    if seconds <= 3600.0 { Ok(seconds) } else { Err("a time is at most an hour".to_owned()) }
}

/// Returns a time for people, with three digits.
pub fn shown(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        _ if seconds < 1e-6 => (seconds * 1e9, "ns"),
        _ if seconds < 1e-3 => (seconds * 1e6, "us"),
        _ if seconds < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    let digits = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    format!("{scaled:.digits$} {unit}")
}

fn split(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.parse().map_err(|_| format!("{text:?} does not begin with a number"))?;
    Ok((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parsed_with_their_units() {
        assert_eq!(bytes("256MB"), Ok(256_000_000));
        assert_eq!(bytes("1.5 KiB"), Ok(1536));
        assert_eq!(bytes("17"), Ok(17));
        assert_eq!([binary("256K"), binary("1.5M"), binary("2kB")], [Ok(256 << 10), Ok(3 << 19), Ok(2000)]);
        assert!(binary("1T2").is_err() && binary("K").is_err());
        assert_eq!(bandwidth("500MB/s"), Ok(500_000_000));
        assert_eq!(bandwidth("2G"), Ok(2_000_000_000));
        assert_eq!(seconds("100us"), Ok(100.0 * 1e-6));
        assert_eq!(seconds("0ms"), Ok(0.0));
        for wrong in ["", "MB", "1XB", "0", "1e9", "1.2.3MB", "-1MB", "99999999TB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "100", "1h", "7200s"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_shown_with_three_digits() {
        let all = [0.0, 1.234e-7, 2.5e-5, 0.0123, 0.456, 7.891, 123.4].map(shown);
        assert_eq!(all, ["0.00 ns", "123 ns", "25.0 us", "12.3 ms", "456 ms", "7.89 s", "123 s"]);
    }
}
