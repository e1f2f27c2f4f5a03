//! The names of members.

use std::path::{Path, PathBuf};

use crate::os::{self, bytes_of, path_from};

/// A path with a place for the number of a member, in the form of C's `printf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbered {
    before: Vec<u8>,
    after: Vec<u8>,
    /// The least number of digits, with what the others are filled.
    width: usize,
    fill: u8,
    radix: Radix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Radix {
    Decimal,
    Hexadecimal,
    HexadecimalUpper,
    Octal,
}

impl Numbered {
    /// Parses a path. Returns the reason if it has no place for a number, or something else to fill in.
    pub(super) fn parse(path: &Path) -> Result<Self, &'static str> {
        let mut found = None;
        let mut before = Vec::new();
        let mut bytes = bytes_of(path.as_os_str()).ok_or("the path is no Unicode")?;
        while let Some(at) = bytes.iter().position(|&byte| byte == b'%') {
            let (literal, rest) = bytes.split_at(at);
            before.extend_from_slice(literal);
            let rest = &rest[1..];
            if let [b'%', rest @ ..] = rest {
                before.push(b'%');
                bytes = rest;
                continue;
            }
            let (fill, rest) = match rest {
                [b'0', rest @ ..] => (b'0', rest),
                rest => (b' ', rest),
            };
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, rest) = rest.split_at(digits);
            let [letter, rest @ ..] = rest else { return Err(NO_NUMBER) };
            let radix = match letter {
                b'd' | b'i' | b'u' => Radix::Decimal,
                b'x' => Radix::Hexadecimal,
                b'X' => Radix::HexadecimalUpper,
                b'o' => Radix::Octal,
                _ => return Err(NO_NUMBER),
            };
            let width = digits.iter().fold(0_usize, |width, digit| {
                width.saturating_mul(10).saturating_add(usize::from(digit - b'0'))
            });
            if found.is_some() {
                return Err("more than one place for the number of a member");
            }
            if width > LONGEST_NUMBER {
                return Err("numbers of members have at most 255 digits");
            }
            found = Some(Self { before: std::mem::take(&mut before), after: Vec::new(), width, fill, radix });
            bytes = rest;
        }
        before.extend_from_slice(bytes);
        found.map(|found| Self { after: before, ..found }).ok_or(NO_NUMBER)
    }

    /// Returns the path of a member.
    pub(super) fn of(&self, number: usize) -> PathBuf {
        let digits = match self.radix {
            Radix::Decimal => number.to_string(),
            Radix::Hexadecimal => format!("{number:x}"),
            Radix::HexadecimalUpper => format!("{number:X}"),
            Radix::Octal => format!("{number:o}"),
        };
        let mut path = self.before.clone();
        path.resize(path.len() + self.width.saturating_sub(digits.len()), self.fill);
        path.extend_from_slice(digits.as_bytes());
        path.extend_from_slice(&self.after);
        path_from(path)
    }

    /// Returns the path with a place for the number that may have given `first` its name, if there is one.
    /// The last zeros of the name are taken as the number.
    pub(super) fn guess(first: &Path) -> Option<PathBuf> {
        let name = bytes_of(first.file_name()?)?;
        let end = name.iter().rposition(|&byte| byte == b'0')? + 1;
        let start = name[..end].iter().rposition(|&byte| byte != b'0').map_or(0, |before| before + 1);
        let escaped = |bytes: &[u8]| {
            bytes
                .iter()
                .flat_map(|&byte| [byte].repeat(if byte == b'%' { 2 } else { 1 }))
                .collect::<Vec<u8>>()
        };
        let place = if end - start == 1 { "%d".to_owned() } else { format!("%0{}d", end - start) };
        let guessed = [escaped(&name[..start]), place.into_bytes(), escaped(&name[end..])].concat();
        Some(first.with_file_name(path_from(guessed)))
    }
}

/// Returns the path of a member whose name is `template`, in which `%s` stands for the path of the file. A
/// template without `%s` follows that path. `None` if the template has anything else to fill in.
pub(super) fn expanded(template: &[u8], path: &Path) -> Option<PathBuf> {
    let path = bytes_of(path.as_os_str())?;
    let mut parts = template.split(|&byte| byte == b'%');
    let mut name = parts.next()?.to_vec();
    let mut has_place = false;
    for part in parts {
        let rest = part.strip_prefix(b"s")?;
        name.extend_from_slice(path);
        name.extend_from_slice(rest);
        has_place = true;
    }
    let name = if has_place { name } else { [path, &name].concat() };
    Some(path_from(name))
}

/// Returns the name of a member as files state it: `%s` stands for the path of the file.
pub(super) fn stating(template: &[u8]) -> Vec<u8> {
    if template.contains(&b'%') { template.to_vec() } else { [b"%s", template].concat() }
}

/// Returns the path of a member whose name the file itself states. `None` if the name leads to another folder
/// than that of the file: only the caller may name such members.
pub(super) fn stated(template: &[u8], path: &Path) -> Option<PathBuf> {
    let rest = template.strip_prefix(b"%s")?;
    let leads_away = rest.iter().any(|byte| *byte == b'%' || os::SEPARATORS.contains(byte));
    if rest.is_empty() || leads_away { None } else { expanded(template, path) }
}

/// Returns the path of the file of which `member` is the member that `template` names.
pub(super) fn unexpanded(template: &[u8], member: &Path) -> Option<PathBuf> {
    let end = template.strip_prefix(b"%s").filter(|end| !end.is_empty() && !end.contains(&b'%'))?;
    let name = bytes_of(member.as_os_str())?.strip_suffix(end)?;
    (!name.is_empty()).then(|| path_from(name.to_vec()))
}

/// The reason why a path is not that of a family.
const NO_NUMBER: &str = "differing member numbers do not produce unique member file names - the name needs a \
                         place for the number of a member, such as %05d";
const LONGEST_NUMBER: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pattern: &str) -> [String; 2] {
        let numbered = Numbered::parse(Path::new(pattern)).unwrap();
        [0, 10].map(|number| numbered.of(number).to_str().unwrap().to_owned())
    }

    #[test]
    fn a_number_has_the_form_that_printf_gives_it() {
        assert_eq!(names("a%d.h5"), ["a0.h5", "a10.h5"]);
        assert_eq!(names("a%05d.h5"), ["a00000.h5", "a00010.h5"]);
        assert_eq!(names("a%3i"), ["a  0", "a 10"]);
        assert_eq!(names("%%%02x%%d"), ["%00%d", "%0a%d"]);
        assert_eq!(names("%X-%%"), ["0-%", "A-%"]);
        assert_eq!(names("%o"), ["0", "12"]);
    }

    #[test]
    fn a_path_without_a_number_or_with_other_places_is_refused() {
        for path in ["a.h5", "a%s", "a%", "a%5", "a%d%d", "a%%", "a%ld", "a%.3d", "a%-3d", "a%256d", "a%n"] {
            assert!(Numbered::parse(Path::new(path)).is_err(), "{path}");
        }
        let huge = format!("%{}d", "9".repeat(99));
        assert!(Numbered::parse(Path::new(&huge)).is_err());
    }

    #[test]
    fn the_first_member_tells_the_name_of_its_family() {
        let guess = |first: &str| Numbered::guess(Path::new(first));
        assert_eq!(guess("d0/a_v16_00000.h5"), Some("d0/a_v16_%05d.h5".into()));
        assert_eq!(guess("part10.h5"), Some("part1%d.h5".into()));
        assert_eq!(guess("100%0"), Some("100%%%d".into()));
        assert_eq!(guess("d0/part.h5"), None);
    }

    #[test]
    fn a_template_takes_the_path_of_the_file() {
        let expanded = |template: &str| expanded(template.as_bytes(), Path::new("d/f"));
        assert_eq!(expanded("%s-m.h5"), Some("d/f-m.h5".into()));
        assert_eq!(expanded("-m.h5"), Some("d/f-m.h5".into()));
        assert_eq!(expanded("/x/%s"), Some("/x/d/f".into()));
        assert_eq!((expanded("%d"), expanded("%s%"), expanded("%%s")), (None, None, None));
    }

    #[test]
    fn a_file_states_the_place_of_its_path() {
        assert_eq!((stating(b"-m.h5"), stating(b"x/%s")), (b"%s-m.h5".to_vec(), b"x/%s".to_vec()));
    }

    #[test]
    fn a_file_names_only_members_beside_it() {
        let stated = |template: &str| stated(template.as_bytes(), Path::new("d/f"));
        assert_eq!(stated("%s-m.h5"), Some("d/f-m.h5".into()));
        for template in ["", "%s", "/etc/passwd", "x%s", "%s/../x", "%s%s", "%s%n", "-m.h5"] {
            assert_eq!(stated(template), None, "{template}");
        }
        // Another folder, and another stream of the file, on Windows.
        for template in [r"%s\x", "%s:x"] {
            assert_eq!(stated(template).is_none(), cfg!(windows), "{template}");
        }
        let unexpanded = |member: &str| unexpanded(b"%s-m.h5", Path::new(member));
        assert_eq!(unexpanded("d/f-m.h5"), Some("d/f".into()));
        assert_eq!((unexpanded("-m.h5"), unexpanded("d/f.h5")), (None, None));
    }
}
