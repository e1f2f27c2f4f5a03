//! Secrets that cannot be guessed.

use std::fmt::Write as _;
use std::io;

/// A random text of 32 hexadecimal digits: 128 bits.
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    /// Compares in a time that does not depend on the place of the first difference.
    pub(crate) fn is(&self, given: &str) -> bool {
        let pairs = self.0.bytes().zip(given.bytes());
        given.len() == self.0.len() && pairs.fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Without the secret.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_accepted() {
        let (secret, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        let text = secret.text().to_owned();
        assert_eq!(text.len(), 32);
        assert!(secret.is(&text));
        let longer = format!("{text}0");
        for wrong in [
            "",
            &text[..31],
            &longer,
            &text.to_uppercase().replace(|c: char| c.is_ascii_digit(), "G"),
            other.text(),
        ] {
            assert!(!secret.is(wrong), "{wrong}");
        }
        assert!(!format!("{secret:?}").contains(&text));
    }
}
