//! Numbers of bytes as they are written on the command line: `512MiB`, `2GB`, `4096`.

/// Bytes, in decimal or binary units; without a unit, bytes.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" | "k" => 1000,
        "mb" | "m" => 1_000_000,
        "gb" | "g" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => 0,
    };
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    size.filter(|&size| size > 0).ok_or_else(|| format!("{text:?} is no size such as 512MiB or 2GB"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse("512MiB"), Ok(512 << 20));
        assert_eq!(parse("2GB"), Ok(2_000_000_000));
        assert_eq!(parse("4096"), Ok(4096));
        for bad in ["", "0", "MiB", "5 parsecs", "99999999999GiB", "-1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
