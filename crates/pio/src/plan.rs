//! What is measured: the cases, and where each process writes.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hyperslab_filters::FilterChoice;
use hyperslab_terminal::text;

use crate::access::Api;
use crate::error::WrongArgument;

/// Everything that is measured, as the command line says.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub struct Plan {
    /// The numbers of processes, in ascending order.
    pub processes: Vec<u64>,
    /// The sizes of a transfer in bytes.
    pub transfers: Vec<u64>,
    /// The bytes of a process in a dataset.
    pub bytes: u64,
    /// The number of files.
    pub files: u64,
    /// The number of datasets in each file.
    pub datasets: u64,
    /// How often each case is measured.
    pub iterations: u64,
    /// How to write and read.
    pub apis: Vec<Api>,
    /// The bytes of a chunk. `None` stands for contiguous datasets.
    pub chunk: Option<u64>,
    /// The filters of chunks.
    pub filters: Vec<FilterChoice>,
    /// Whether all processes make each call together.
    pub is_collective: bool,
    /// Whether the transfers of processes take turns, instead of each process having a contiguous part.
    pub is_interleaved: bool,
    /// Whether files are read.
    pub reads: bool,
    /// Whether they are read again, to compare every byte.
    pub verifies: bool,
    /// Whether the files of the last iterations stay.
    pub keeps: bool,
}

impl Plan {
    /// Returns the plan with numbers of processes: from 1 to `most`, if it has none.
    pub(crate) fn up_to(&self, most: u64) -> Self {
        let mut plan = self.clone();
        if plan.processes.is_empty() {
            plan.processes = doublings(1, most);
        }
        plan
    }

    /// Errors if the sizes do not fit each other.
    pub(crate) fn check(&self) -> Result<(), WrongArgument> {
        let wrong = |text: String| Err(WrongArgument(text));
        let shown = text::bytes;
        if let Some(&transfer) = self.transfers.iter().find(|&&transfer| transfer > self.bytes) {
            return wrong(format!(
                "--transfer: {} is more than a process has in a dataset, which is {} (--bytes)",
                shown(transfer),
                shown(self.bytes)
            ));
        }
        if let Some(&transfer) = self.transfers.iter().find(|&&transfer| transfer > MOST_TRANSFER) {
            let most = shown(MOST_TRANSFER);
            return wrong(format!(
                "--transfer: {} is more than {most}, the most of one call",
                shown(transfer)
            ));
        }
        let Some(total) = self.processes.last().and_then(|&processes| self.total(processes)) else {
            return wrong("--bytes, --datasets, --files: more bytes in all than can be counted".to_owned());
        };
        let least = self.processes.first().map_or(0, |processes| processes * self.bytes);
        if let Some(chunk) = self.chunk.filter(|&chunk| chunk > least) {
            return wrong(format!(
                "--chunk: {} is more than a dataset has, which is {}",
                shown(chunk),
                shown(least)
            ));
        }
        // A chunk of more has no place in the file format.
        if self.chunk.is_some_and(|chunk| chunk > u64::from(u32::MAX)) {
            return wrong("--chunk: a chunk has less than 4 GiB".to_owned());
        }
        if total / self.bytes > MOST_PARTS {
            return wrong(format!("--files, --datasets: more than {MOST_PARTS} parts of processes"));
        }
        Ok(())
    }

    /// Returns the bytes that are written, and read, by an iteration of a case.
    pub fn total(&self, processes: u64) -> Option<u64> {
        [self.datasets, self.files, processes].into_iter().try_fold(self.bytes, u64::checked_mul)
    }

    /// Errors if the medium of the folder has no room for the files that exist at a time.
    pub(crate) fn check_space(&self, folder: &Path) -> anyhow::Result<()> {
        let free = fs4::available_space(folder).with_context(|| folder.display().to_string())?;
        // A chunk is encoded anew by each transfer into it, and the space of before is not used again.
        let rewrites = self.chunk.filter(|_| !self.filters.is_empty()).map_or(1, |chunk| {
            self.transfers.iter().map(|&transfer| chunk.div_ceil(transfer)).max().unwrap_or(1)
        });
        let of =
            |processes: &u64| u128::from(self.total(*processes).unwrap_or(u64::MAX)) * u128::from(rewrites);
        let needed = if self.keeps {
            let cases = self.transfers.len() * self.apis.len();
            self.processes.iter().map(of).sum::<u128>() * cases as u128
        } else {
            self.processes.iter().map(of).max().unwrap_or_default()
        };
        if needed <= u128::from(free) {
            return Ok(());
        }
        let shown = |bytes: u128| text::bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
        anyhow::bail!(
            "{}: the files need {}, and {} are free: choose a smaller --bytes, or another --folder",
            folder.display(),
            shown(needed),
            text::bytes(free)
        )
    }

    /// Returns the number of times that are measured.
    pub(crate) fn steps(&self) -> u64 {
        (self.processes.len() * self.transfers.len() * self.apis.len()) as u64 * self.iterations
    }
}

/// Returns the numbers from `first` to `last`, each twice the one before, and `last` in any case.
pub fn doublings(first: u64, last: u64) -> Vec<u64> {
    let doubled = std::iter::successors(Some(first), |number| number.checked_mul(2));
    let mut all: Vec<u64> = doubled.take_while(|&number| number < last).collect();
    all.push(last);
    all
}

/// A number of processes and a size of transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferCase {
    /// The number of processes.
    pub processes: u64,
    /// The bytes of a transfer.
    pub transfer: u64,
}

impl TransferCase {
    /// Returns the places in a dataset that a process writes and reads, one after another: offsets and
    /// numbers of bytes.
    pub(crate) fn places(self, plan: &Plan, rank: u64) -> impl Iterator<Item = (u64, usize)> + use<> {
        let (bytes, is_interleaved, Self { processes, transfer }) = (plan.bytes, plan.is_interleaved, self);
        (0..bytes.div_ceil(transfer)).map(move |round| {
            let begin = round * transfer;
            let len = transfer.min(bytes - begin);
            let offset = if is_interleaved { begin * processes + rank * len } else { rank * bytes + begin };
            // A transfer is no longer than memory.
            (offset, usize::try_from(len).unwrap_or(usize::MAX))
        })
    }

    /// Returns the path of a file of this case.
    pub(crate) fn path(self, folder: &Path, api: Api, file: u64) -> PathBuf {
        let Self { processes, transfer } = self;
        folder.join(format!("{}-{processes}x{transfer}-{file}.{}", api.name(), api.extension()))
    }
}

/// The most bytes of a transfer, which has a buffer in memory.
const MOST_TRANSFER: u64 = 1 << 30;
/// The most parts of a dataset that a process writes, in all.
const MOST_PARTS: u64 = 10_000_000;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a small plan.
    pub(crate) fn plan() -> Plan {
        Plan {
            processes: vec![1, 3],
            transfers: vec![4, 10],
            bytes: 10,
            files: 2,
            datasets: 3,
            iterations: 2,
            apis: vec![Api::Posix, Api::Hyperslab],
            chunk: None,
            filters: Vec::new(),
            is_collective: false,
            is_interleaved: false,
            reads: true,
            verifies: false,
            keeps: false,
        }
    }

    #[test]
    fn the_places_of_all_processes_are_the_whole_dataset() {
        for is_interleaved in [false, true] {
            let plan = Plan { is_interleaved, ..plan() };
            for (processes, transfer) in [(1, 4), (3, 4), (3, 10), (2, 1)] {
                let case = TransferCase { processes, transfer };
                let mut all: Vec<u64> = (0..processes)
                    .flat_map(|rank| case.places(&plan, rank))
                    .flat_map(|(offset, len)| offset..offset + len as u64)
                    .collect();
                all.sort_unstable();
                assert_eq!(all, (0..10 * processes).collect::<Vec<_>>(), "{case:?}, {is_interleaved}");
            }
        }
    }

    #[test]
    fn interleaved_transfers_take_turns() {
        let plan = Plan { is_interleaved: true, ..plan() };
        let case = TransferCase { processes: 2, transfer: 4 };
        assert_eq!(case.places(&plan, 0).collect::<Vec<_>>(), [(0, 4), (8, 4), (16, 2)]);
        assert_eq!(case.places(&plan, 1).collect::<Vec<_>>(), [(4, 4), (12, 4), (18, 2)]);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(plan().check().is_ok());
        let refused = |plan: Plan| plan.check().unwrap_err().0;
        let text = refused(Plan { transfers: vec![4, 11], ..plan() });
        assert!(text.contains("11 B is more than") && text.contains("--bytes"), "{text}");
        let text = refused(Plan { chunk: Some(11), ..plan() });
        assert!(text.starts_with("--chunk: 11 B is more than a dataset has"), "{text}");
        assert!(Plan { chunk: Some(10), ..plan() }.check().is_ok());
        let text = refused(Plan { bytes: 1 << 62, ..plan() });
        assert!(text.contains("can be counted"), "{text}");
        let text = refused(Plan { bytes: 2 << 30, transfers: vec![2 << 30], ..plan() });
        assert!(text.contains("the most of one call"), "{text}");
        let text = refused(Plan { files: 2_000_000, ..plan() });
        assert!(text.contains("parts of processes"), "{text}");
        let large = Plan { bytes: 8 << 30, chunk: Some(1 << 32), ..plan() };
        assert!(refused(large).contains("less than 4 GiB"));
    }

    #[test]
    fn space_that_the_folder_does_not_have_is_an_error() {
        let folder = std::env::temp_dir();
        assert!(plan().check_space(&folder).is_ok());
        let large = Plan { bytes: 1 << 55, ..plan() };
        let error = large.check_space(&folder).unwrap_err().to_string();
        assert!(error.contains("are free") && error.contains("--bytes"), "{error}");
        // Files that are kept exist at the same time.
        let half = fs4::available_space(&folder).unwrap() / 2 / (3 * 2 * 3);
        let kept = |keeps| Plan { bytes: half, keeps, ..plan() }.check_space(&folder);
        assert!(kept(false).is_ok() && kept(true).is_err());
    }

    #[test]
    fn doubling_ends_below_the_greatest_number() {
        let all = doublings(1, u64::MAX);
        assert_eq!((all.len(), all.last()), (65, Some(&u64::MAX)));
        assert_eq!(
            [plan().up_to(8).processes, Plan { processes: Vec::new(), ..plan() }.up_to(6).processes],
            [vec![1, 3], vec![1, 2, 4, 6]]
        );
    }

    #[test]
    fn the_total_is_that_of_all_files_datasets_and_processes() {
        assert_eq!(plan().total(3), Some(2 * 3 * 10 * 3));
        assert_eq!(plan().steps(), 2 * 2 * 2 * 2);
    }
}
