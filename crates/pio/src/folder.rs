//! The folder of the files of a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hyperslab_terminal::interrupt::Incomplete;

/// A folder that is removed with its files when this value is dropped, unless they are kept.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    pub(crate) path: PathBuf,
    keeps: bool,
    /// An interrupt removes the folder, too.
    _incomplete: Option<Incomplete>,
}

impl ScratchFolder {
    /// Creates a folder in `parent`, with a name of its own.
    pub(crate) fn create(parent: &Path, keeps: bool) -> anyhow::Result<Self> {
        let names = (0..100).map(|number| parent.join(format!("{PREFIX}{}-{number}", std::process::id())));
        for path in names {
            match fs::create_dir(&path) {
                Ok(()) => {
                    let incomplete = (!keeps).then(|| Incomplete::folder(&path));
                    return Ok(Self { path, keeps, _incomplete: incomplete });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("--folder {}", parent.display()));
                }
            }
        }
        anyhow::bail!("--folder {}: remove the folders hyperslab-pio-* in it", parent.display())
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if !self.keeps {
            remove(&self.path);
        }
    }
}

/// Removes a folder of this command with its files, if it can. Other processes may do the same, or still
/// create files in it. A folder with any other name stays.
pub(crate) fn remove(path: &Path) {
    let name = path.file_name().and_then(|name| name.to_str()?.strip_prefix(PREFIX)?.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !name.is_some_and(|(process, number)| is_number(process) && is_number(number)) {
        return;
    }
    for _ in 0..100 {
        // The next look finds the files that remain.
        let _ = fs::remove_dir_all(path);
        if !path.exists() {
            return;
        }
    }
}

/// The names of these folders begin so; the numbers of a process and of a folder follow.
const PREFIX: &str = "hyperslab-pio-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_this_command_are_removed() {
        let parent = std::env::temp_dir().join(format!("hyperslab-pio-names-{}", std::process::id()));
        for (name, is_own) in [("hyperslab-pio-7-0", true), ("hyperslab-pio-7", false), ("a-7-0", false)] {
            let path = parent.join(name);
            fs::create_dir_all(&path).unwrap();
            remove(&path);
            assert_eq!(path.exists(), !is_own, "{name}");
        }
        remove(&parent);
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn a_folder_is_removed_unless_it_is_kept() {
        let parent = std::env::temp_dir().join(format!("hyperslab-pio-folder-{}", std::process::id()));
        let missing = ScratchFolder::create(&parent, false).unwrap_err();
        assert!(format!("{missing:#}").starts_with("--folder "), "{missing:#}");
        fs::create_dir(&parent).unwrap();
        let one = ScratchFolder::create(&parent, false).unwrap();
        let two = ScratchFolder::create(&parent, true).unwrap();
        assert_ne!(one.path, two.path);
        fs::write(one.path.join("a"), "b").unwrap();
        let paths = [one.path.clone(), two.path.clone()];
        drop((one, two));
        assert_eq!(paths.map(|path| path.exists()), [false, true]);
        fs::remove_dir_all(parent).unwrap();
    }
}
