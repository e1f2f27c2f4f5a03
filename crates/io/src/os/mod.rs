//! What systems do differently with files, behind the same functions. What one system only does better, such
//! as asking about the page cache, is with the driver that does it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{
    LIST_SEPARATOR, LOCKS_ARE_MANDATORY, SEPARATORS, bytes_of, identity, identity_at, identity_of_link,
    path_from, read_exact_at, sync_folder, write_all_at,
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::ErrorKind;
    use std::path::Path;

    #[test]
    fn a_file_has_one_identity_under_all_its_names_and_no_other_file_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let [path, hard, copy] = ["a", "hard", "copy"].map(|name| folder.path().join(name));
        fs::write(&path, b"bytes").unwrap();
        fs::hard_link(&path, &hard).unwrap();
        fs::copy(&path, &copy).unwrap();
        let here = identity(&File::open(&path).unwrap()).unwrap();
        assert!([&path, &hard].iter().all(|path| identity_at(path).unwrap() == here));
        assert!(identity_at(&copy).unwrap() != here && identity_at(folder.path()).unwrap() != here);
        assert_eq!(identity_of_link(&hard).unwrap(), here);
        assert_eq!(identity_at(&folder.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn reads_and_writes_at_an_offset_are_whole_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        write_all_at(&file, 3, b"defg").unwrap();
        write_all_at(&file, 0, b"abc").unwrap();
        let mut found = [0; 5];
        read_exact_at(&file, 1, &mut found).unwrap();
        assert_eq!(&found, b"bcdef");
        assert_eq!(read_exact_at(&file, 3, &mut found).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(read_exact_at(&file, 99, &mut found).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        read_exact_at(&file, 99, &mut []).unwrap();
    }

    #[test]
    fn a_path_leads_back_from_its_bytes() {
        let path = Path::new("f\u{e9}.h5");
        let bytes = bytes_of(path.as_os_str()).unwrap();
        assert_eq!(bytes, "f\u{e9}.h5".as_bytes());
        assert_eq!(path_from(bytes.to_vec()), path);
    }
}
