//! Parts of several files, one after another, as one read-only medium. Used for datasets with external raw
//! data.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::{Driver, Hints, Posix};

/// The joined parts. A file is opened at its first read. Bytes beyond its end read as zeros, as in libhdf5.
#[derive(Debug)]
pub struct Joined {
    parts: Vec<Opened>,
    len: u64,
}

/// A part of a file.
#[derive(Debug, Clone)]
pub struct Part {
    /// The possible paths of the file. The first that exists is used.
    pub candidates: Vec<PathBuf>,
    /// The offset of the part in its file.
    pub offset: u64,
    /// The length of the part in bytes.
    pub len: u64,
}

#[derive(Debug)]
struct Opened {
    part: Part,
    /// The offset of the part in the joined medium.
    start: u64,
    /// The file and its length.
    file: OnceLock<(Posix, u64)>,
}

impl Joined {
    /// Joins the parts. Fails if their total length does not fit a `u64`.
    pub fn new(parts: Vec<Part>) -> io::Result<Self> {
        let mut len = 0_u64;
        let mut placed = Vec::with_capacity(parts.len());
        for part in parts {
            let start = len;
            let end = part.offset.checked_add(part.len).and_then(|_| len.checked_add(part.len));
            len = end.ok_or(io::ErrorKind::FileTooLarge)?;
            placed.push(Opened { part, start, file: OnceLock::new() });
        }
        Ok(Self { parts: placed, len })
    }
}

impl Opened {
    fn file(&self) -> io::Result<&(Posix, u64)> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        let candidates = &self.part.candidates;
        let path = candidates.iter().find(|path| path.exists()).or(candidates.first());
        let opened = path.map_or(Err(io::ErrorKind::NotFound.into()), |path| {
            // Check before opening: opening a pipe would wait for a writer.
            let metadata = fs::metadata(path)?;
            if !metadata.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
            }
            // libhdf5 does not lock the file either.
            Ok((Posix::open_unlocked(path)?, metadata.len()))
        });
        let opened = opened.map_err(|error| {
            let named: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
            let why = format!("the external raw data file {}: {error}", named.join(" or "));
            io::Error::new(error.kind(), why)
        })?;
        Ok(self.file.get_or_init(|| opened))
    }

    /// Fills `dst` with the bytes of the part at offset `at`.
    fn read(&self, at: u64, dst: &mut [u8]) -> io::Result<()> {
        let (file, len) = self.file()?;
        let from = self.part.offset + at;
        let there = usize::try_from(len.saturating_sub(from)).unwrap_or(usize::MAX).min(dst.len());
        let (read, beyond) = dst.split_at_mut(there);
        beyond.fill(0);
        file.read_at(from, read)
    }
}

impl Driver for Joined {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, mut dst: &mut [u8]) -> io::Result<()> {
        let end = offset.checked_add(dst.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut at = offset;
        let first = self.parts.partition_point(|opened| opened.start + opened.part.len <= offset);
        for opened in &self.parts[first..] {
            let rest = opened.start + opened.part.len - at;
            let (now, later) = dst.split_at_mut(usize::try_from(rest).unwrap_or(usize::MAX).min(dst.len()));
            opened.read(at - opened.start, now)?;
            at += now.len() as u64;
            dst = later;
            if dst.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn hints(&self) -> Hints {
        // Requests are served one at a time.
        Hints { queue_depth: 1, ..Posix::HINTS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(path: PathBuf, offset: u64, len: u64) -> Part {
        Part { candidates: vec![path], offset, len }
    }

    #[test]
    fn parts_follow_each_other_and_end_in_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, b"__abcd__").unwrap();
        fs::write(&b, b"ef").unwrap();
        let joined =
            Joined::new(vec![part(a.clone(), 2, 4), part(a, 0, 0), part(b.clone(), 0, 5), part(b, 9, 1)])
                .unwrap();
        let whole = b"abcdef\0\0\0\0";
        for start in 0..whole.len() {
            for end in start..=whole.len() {
                let mut read = vec![0xEE; end - start];
                joined.read_at(start as u64, &mut read).unwrap();
                assert_eq!(read, whole[start..end]);
            }
        }
        assert_eq!(joined.read_at(8, &mut [0; 3]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_missing_file_is_named_and_affects_only_its_own_part() {
        let folder = tempfile::tempdir().unwrap();
        let (here, gone) = (folder.path().join("here"), folder.path().join("gone"));
        fs::write(&here, b"ab").unwrap();
        let joined = Joined::new(vec![part(here, 0, 2), part(gone, 0, 2)]).unwrap();
        joined.read_at(0, &mut [0; 2]).unwrap();
        let error = joined.read_at(1, &mut [0; 2]).unwrap_err();
        assert!(error.to_string().contains("gone"), "{error}");
    }

    #[test]
    fn parts_longer_than_any_file_are_refused() {
        let endless = part("x".into(), 0, u64::MAX);
        assert!(Joined::new(vec![endless.clone(), endless]).is_err());
        assert!(Joined::new(vec![part("x".into(), 2, u64::MAX)]).is_err());
    }
}
