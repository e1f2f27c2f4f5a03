//! The processes that keep others from locking a file, as Linux lists them.

use std::fs;
use std::path::Path;

use crate::os;

/// Returns the names of the other processes that have the file at this device and inode open for writing, of
/// those that the system lets this one see. A writer of SWMR holds no lock. Only Linux lists open files.
pub(super) fn writers(identity: (u64, u64)) -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let processes =
        fs::read_dir("/proc").ok()?.filter_map(|found| found.ok()?.file_name().to_str()?.parse().ok());
    let writers: Vec<String> = processes
        .filter(|&process| process != std::process::id() && writes(process, identity))
        .map(named)
        .collect();
    (!writers.is_empty()).then(|| writers.join(", "))
}

fn writes(process: u32, identity: (u64, u64)) -> bool {
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    files.into_iter().any(|file| {
        let is_it = os::identity_at(&file.path()).is_ok_and(|found| found == identity);
        is_it && is_writable(&Path::new(&format!("/proc/{process}/fdinfo")).join(file.file_name()))
    })
}

/// Returns whether an open file can be written, from what Linux says of it: `flags:\t0100002`.
fn is_writable(about: &Path) -> bool {
    let about = fs::read_to_string(about).unwrap_or_default();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // The access mode: 0 is for reading.
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// Returns the names of the processes that hold a lock on the file at this device and inode.
pub(super) fn names((device, inode): (u64, u64)) -> String {
    let table = if cfg!(target_os = "linux") { fs::read_to_string("/proc/locks") } else { Ok(String::new()) };
    let mut holders = holders(&table.unwrap_or_default(), device, inode);
    holders.dedup();
    match &holders[..] {
        [] => "another process".to_owned(),
        holders => holders.iter().map(|&process| named(process)).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the processes that hold a lock on a file, from a table in the format of `/proc/locks`:
/// `1: FLOCK  ADVISORY  WRITE 708 00:13:9527 0 EOF`. Lines of waiting processes contain an arrow.
fn holders(table: &str, device: u64, inode: u64) -> Vec<u32> {
    let held = table.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().filter(|_| !line.contains("->"));
        let (process, place) = (fields.nth(4)?.parse().ok()?, fields.next()?);
        place.ends_with(&format!(":{inode}")).then_some((process, place))
    });
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00);
    let exact = format!("{major:02x}:{minor:02x}:{inode}");
    // Some file systems report device numbers that the table does not contain.
    let all: Vec<(u32, &str)> = held.collect();
    let is_known = all.iter().any(|(_, place)| *place == exact);
    all.into_iter().filter(|(_, place)| !is_known || *place == exact).map(|(process, _)| process).collect()
}

fn named(process: u32) -> String {
    if process == std::process::id() {
        return "this process itself".to_owned();
    }
    let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    match (process, name.trim()) {
        // The process belongs to another container.
        (0, _) => "a process of another container".to_owned(),
        // The process has ended, and one that it forked still has the file open.
        (_, "") => format!("process {process}, or one that it started,"),
        (_, name) => format!("process {process} ({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holders_of_a_lock_are_found_by_the_inode() {
        let table = "1: FLOCK  ADVISORY  WRITE 708 00:13:9527 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 709 00:13:9527 0 EOF\n\
                     2: OFDLCK ADVISORY  READ 17 fe:01:27 128 128\n\
                     3: POSIX  ADVISORY  READ 18 fe:01:9527 0 EOF\n\nnonsense\n";
        assert_eq!(holders(table, 0x13, 9527), [708]);
        assert_eq!(holders(table, 0xfe01, 9527), [18]);
        assert_eq!(holders(table, 5, 9527), [708, 18]);
        assert_eq!(holders(table, 5, 27), [17]);
        assert_eq!(holders(table, 0x13, 1), []);
    }
}
