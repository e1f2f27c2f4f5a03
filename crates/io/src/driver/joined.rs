//! Parts of several files, one after another, as one medium. Used for datasets with external raw data.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Capabilities, Create, Driver, Hints, Posix};

/// The joined parts. A file is opened when it is first used, and a write creates it if it does not exist.
/// Bytes beyond its end read as zeros, as in libhdf5.
#[derive(Debug)]
pub struct Joined {
    parts: Vec<OpenedPart>,
    len: u64,
}

/// A part of a file.
#[derive(Debug, Clone)]
pub struct FilePart {
    /// The possible paths of the file. The first that exists is used.
    pub candidates: Vec<PathBuf>,
    /// The offset of the part in its file.
    pub offset: u64,
    /// The length of the part in bytes.
    pub len: u64,
}

#[derive(Debug)]
struct OpenedPart {
    part: FilePart,
    /// The offset of the part in the joined medium.
    start: u64,
    /// The file, opened for reading.
    reading: OnceLock<Posix>,
    /// The file, opened for writing.
    writing: OnceLock<Posix>,
}

impl Joined {
    /// Joins the parts. Fails if their total length does not fit a `u64`.
    pub fn new(parts: Vec<FilePart>) -> io::Result<Self> {
        let mut len = 0_u64;
        let mut placed = Vec::with_capacity(parts.len());
        for part in parts {
            let start = len;
            let end = part.offset.checked_add(part.len).and_then(|_| len.checked_add(part.len));
            len = end.ok_or(io::ErrorKind::FileTooLarge)?;
            placed.push(OpenedPart { part, start, reading: OnceLock::new(), writing: OnceLock::new() });
        }
        Ok(Self { parts: placed, len })
    }
}

impl OpenedPart {
    /// Returns the file, opened for reading.
    fn reading(&self) -> io::Result<&Posix> {
        if let Some(file) = self.reading.get() {
            return Ok(file);
        }
        // libhdf5 does not lock the file either.
        let opened = self.open(Posix::open_unlocked)?;
        Ok(self.reading.get_or_init(|| opened))
    }

    /// Returns the file, opened for writing. A missing file is created.
    fn writing(&self) -> io::Result<&Posix> {
        if let Some(file) = self.writing.get() {
            return Ok(file);
        }
        let opened = self.open(|path| Posix::open_writable_unlocked(path, Create::IfMissing))?;
        Ok(self.writing.get_or_init(|| opened))
    }

    /// Opens the first candidate that exists, or the first of all.
    fn open(&self, open: impl FnOnce(&Path) -> io::Result<Posix>) -> io::Result<Posix> {
        let candidates = &self.part.candidates;
        let path = candidates.iter().find(|path| path.exists()).or(candidates.first());
        let opened = path.map_or(Err(io::ErrorKind::NotFound.into()), |path| {
            super::posix::check_regular(path)?;
            open(path)
        });
        opened.map_err(|error| {
            let named: Vec<String> = candidates.iter().map(|path| path.display().to_string()).collect();
            let why = format!("the external raw data file {}: {error}", named.join(" or "));
            io::Error::new(error.kind(), why)
        })
    }

    /// Fills `dst` with the bytes of the part at offset `at`.
    fn read(&self, at: u64, dst: &mut [u8]) -> io::Result<()> {
        let file = self.reading()?;
        let from = self.part.offset + at;
        let there = usize::try_from(file.len()?.saturating_sub(from)).unwrap_or(usize::MAX).min(dst.len());
        let (read, beyond) = dst.split_at_mut(there);
        beyond.fill(0);
        file.read_at(from, read)
    }

    fn write(&self, at: u64, src: &[u8]) -> io::Result<()> {
        self.writing()?.write_at(self.part.offset + at, src)
    }
}

impl Joined {
    /// Calls `f` for each part that has some of the `len` bytes at `offset`: with the part, the offset in it,
    /// and the number of bytes.
    fn each(
        &self,
        offset: u64,
        len: usize,
        mut f: impl FnMut(&OpenedPart, u64, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        if offset.checked_add(len as u64).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (mut at, mut left) = (offset, len);
        let first = self.parts.partition_point(|opened| opened.start + opened.part.len <= offset);
        for opened in &self.parts[first..] {
            if left == 0 {
                break;
            }
            let rest = opened.start + opened.part.len - at;
            let now = usize::try_from(rest).unwrap_or(usize::MAX).min(left);
            f(opened, at - opened.start, now)?;
            at += now as u64;
            left -= now;
        }
        Ok(())
    }
}

impl Driver for Joined {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, mut dst: &mut [u8]) -> io::Result<()> {
        self.each(offset, dst.len(), |opened, at, len| {
            let (now, later) = std::mem::take(&mut dst).split_at_mut(len);
            dst = later;
            opened.read(at, now)
        })
    }

    fn write_at(&self, offset: u64, mut src: &[u8]) -> io::Result<()> {
        self.each(offset, src.len(), |opened, at, len| {
            let (now, later) = src.split_at(len);
            src = later;
            opened.write(at, now)
        })
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.parts.iter().filter_map(|opened| opened.writing.get()).try_for_each(|file| file.flush(closing))
    }

    fn capabilities(&self) -> Capabilities<'_> {
        // Requests are served one at a time.
        Capabilities::new("custom", Hints { queue_depth: 1, ..Posix::HINTS })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn part(path: PathBuf, offset: u64, len: u64) -> FilePart {
        FilePart { candidates: vec![path], offset, len }
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
    fn a_write_reaches_the_parts_of_its_bytes_and_creates_missing_files() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, b"________").unwrap();
        let joined = Joined::new(vec![part(a.clone(), 2, 3), part(b.clone(), 1, 4)]).unwrap();
        let mut whole = *b"___\0\0\0\0";
        // The first write creates the missing file: until then, reading its part is an error.
        for (start, src) in [(2, &b"zab"[..]), (0, b"xy"), (6, b"d"), (7, b"")] {
            joined.write_at(start as u64, src).unwrap();
            whole[start..start + src.len()].copy_from_slice(src);
            let mut read = [0; 7];
            joined.read_at(0, &mut read).unwrap();
            assert_eq!(read, whole);
        }
        assert_eq!((fs::read(a).unwrap(), fs::read(b).unwrap()), (b"__xyz___".to_vec(), b"\0ab\0d".to_vec()));
        assert_eq!(joined.write_at(6, b"ef").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
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
