//! Names of sources with `%b`, which stands for the number of a block (spec III.F, as libhdf5 reads them).

use hyperslab_error::{RequestError, Result};

/// Returns whether the name contains `%b`.
pub(super) fn has_block(name: &str) -> bool {
    name.replace("%%", "").contains("%b")
}

/// Returns the name of block `number`: `%b` becomes the number, and `%%` becomes `%`.
pub(super) fn of_block(name: &str, number: u64) -> Result<String> {
    let mut parts = name.split('%');
    let mut found = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        if let Some(rest) = part.strip_prefix('b') {
            found.push_str(&number.to_string());
            found.push_str(rest);
        } else if let ("", Some(next)) = (part, parts.next()) {
            found.push('%');
            found.push_str(next);
        } else {
            let why = "in the name of a source, % must be followed by b or %";
            return Err(RequestError::Argument { what: format!("name {name:?}"), why }.into());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_percent_signs_are_put_in_place() {
        let name = |name, number| of_block(name, number).unwrap();
        assert_eq!(name("f-%b.h5", 12), "f-12.h5");
        assert_eq!(name("%b%b", 3), "33");
        assert_eq!(name("100%%", 3), "100%");
        assert_eq!(name("%%b%b%%", 3), "%b3%");
        assert_eq!(name("plain", 3), "plain");
        assert!(of_block("%d", 0).is_err());
        assert!(of_block("end%", 0).is_err());
    }

    #[test]
    fn an_escaped_percent_sign_begins_no_number() {
        assert!(has_block("a%b"));
        assert!(has_block("a%%%b"));
        assert!(!has_block("a%%b"));
        assert!(!has_block("a"));
    }
}
