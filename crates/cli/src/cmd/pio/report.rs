//! The results: rates over the iterations, as a table and as JSON.

use std::io::Write;

use hyperslab_pio::{Api, Plan, Timed, TransferCase};
use serde_json::{Value, json};

use crate::show::table::Table;
use crate::show::{bytes, counted};

/// What is measured of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Write,
    WriteOpenClose,
    Read,
    ReadOpenClose,
}

pub(super) const OPERATIONS: [Operation; 4] =
    [Operation::Write, Operation::WriteOpenClose, Operation::Read, Operation::ReadOpenClose];

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::WriteOpenClose => "write open-close",
            Self::Read => "read",
            Self::ReadOpenClose => "read open-close",
        }
    }

    /// Returns the seconds of an iteration, if it has this operation.
    fn seconds(self, timed: &Timed) -> Option<f64> {
        Some(match self {
            Self::Write => timed.write.moving,
            Self::WriteOpenClose => timed.write.whole(),
            Self::Read => timed.read?.moving,
            Self::ReadOpenClose => timed.read?.whole(),
        })
    }
}

/// The rates of an operation over the iterations, in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    pub(super) least: f64,
    pub(super) average: f64,
    pub(super) most: f64,
}

impl Rates {
    /// Returns the rates of `total` bytes in each of these times.
    fn of(total: u64, seconds: &[f64]) -> Option<Self> {
        // A clock may not see the shortest time.
        let rates = seconds.iter().map(|seconds| real(total) / seconds.max(1e-9));
        let (mut least, mut most, mut sum) = (f64::INFINITY, 0.0_f64, 0.0);
        for rate in rates {
            (least, most, sum) = (least.min(rate), most.max(rate), sum + rate);
        }
        (!seconds.is_empty()).then(|| Self { least, average: sum / real(seconds.len() as u64), most })
    }
}

/// All results of a run.
pub(super) struct RunReport<'a> {
    pub(super) plan: &'a Plan,
    /// The filters, as the command line has them.
    pub(super) filters: Vec<String>,
    /// The folder of the files.
    pub(super) folder: String,
    /// How the ranks are connected.
    pub(super) ranks: &'static str,
    pub(super) threads: usize,
    pub(super) timed: &'a [Timed],
}

impl RunReport<'_> {
    /// Returns the seconds of an operation in each iteration.
    fn seconds(&self, case: TransferCase, api: Api, operation: Operation) -> Vec<f64> {
        let of_case = self.timed.iter().filter(|timed| timed.case == case && timed.api == api);
        of_case.filter_map(|timed| operation.seconds(timed)).collect()
    }

    /// Returns the rates of an operation, if it was measured.
    pub(super) fn rates(&self, case: TransferCase, api: Api, operation: Operation) -> Option<Rates> {
        Rates::of(self.plan.total(case.processes)?, &self.seconds(case, api, operation))
    }

    fn cases(&self) -> impl Iterator<Item = TransferCase> {
        let plan = self.plan;
        let of = |&processes: &u64| {
            plan.transfers.iter().map(move |&transfer| TransferCase { processes, transfer })
        };
        plan.processes.iter().flat_map(of)
    }

    /// Returns what datasets and transfers are like.
    fn manner(&self) -> String {
        let plan = self.plan;
        let mut storage = match plan.chunk {
            None => "contiguous datasets".to_owned(),
            Some(chunk) => format!("chunks of {}", bytes(chunk)),
        };
        if !self.filters.is_empty() {
            storage = format!("{storage} with {}", self.filters.join(", "));
        }
        let transfers = match (plan.is_collective, plan.chunk) {
            (true, _) => "collective",
            (false, None) => "independent",
            (false, Some(_)) => "independent (chunks are always written collectively)",
        };
        let order = if plan.is_interleaved { ", interleaved" } else { "" };
        format!("{storage}, {transfers}{order}")
    }

    pub(super) fn as_text(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let plan = self.plan;
        let size = bytes(plan.bytes);
        let parts = format!("{}, {}", counted(plan.files, "file"), counted(plan.datasets, "dataset"));
        writeln!(out, "files   {parts} in each, {size} of each process in a dataset")?;
        writeln!(out, "        {}", self.manner())?;
        writeln!(out, "folder  {}", crate::show::plain(&self.folder))?;
        let threads = counted(self.threads as u64, "thread");
        writeln!(out, "ranks   {}, {threads} in each", self.ranks)?;
        writeln!(
            out,
            "rates   of {}, in MB/s (10^6 bytes); the slowest process counts",
            counted(plan.iterations, "iteration")
        )?;
        writeln!(out, "note    {CACHE}")?;
        writeln!(out)?;
        let raw = plan.apis.iter().copied().find(|api| api.is_raw());
        let compares = raw.is_some() && plan.apis.len() > 1;
        let mut heads = ["processes", "transfer", "operation", "api", "min", "average", "max"]
            .map(str::to_owned)
            .to_vec();
        heads.extend(raw.filter(|_| compares).map(|raw| format!("of {}", raw.name())));
        let mut table = Table::new(out, &[0, 1, 4, 5, 6, 7]);
        table.row(heads)?;
        for case in self.cases() {
            for operation in OPERATIONS {
                for &api in &plan.apis {
                    let Some(rates) = self.rates(case, api, operation) else { continue };
                    let mut cells = vec![case.processes.to_string(), bytes(case.transfer)];
                    cells.extend([operation.name(), api.name()].map(str::to_owned));
                    cells.extend([rates.least, rates.average, rates.most].map(megabytes));
                    let compared = raw.filter(|&raw| raw != api);
                    let compared = compared.and_then(|raw| self.rates(case, raw, operation));
                    cells.extend(compared.map(|raw| format!("{:.2}", rates.average / raw.average)));
                    table.row(cells)?;
                }
            }
        }
        Ok(table.finish()?)
    }

    pub(super) fn as_json(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let plan = self.plan;
        let names = |apis: &[Api]| apis.iter().map(|api| api.name()).collect::<Vec<_>>();
        let report = json!({
            "folder": self.folder,
            "ranks": self.ranks,
            "threads": self.threads,
            "files": plan.files,
            "datasets": plan.datasets,
            "process_bytes": plan.bytes,
            "chunk_bytes": plan.chunk,
            "filters": self.filters,
            "is_collective": plan.is_collective,
            "is_interleaved": plan.is_interleaved,
            "is_verified": plan.verifies,
            "iterations": plan.iterations,
            "apis": names(&plan.apis),
            "page_cache": CACHE,
            "results": self.cases().flat_map(|case| self.case_as_json(case)).collect::<Vec<_>>(),
        });
        writeln!(out, "{report}")?;
        Ok(())
    }

    fn case_as_json(&self, case: TransferCase) -> Vec<Value> {
        let mut all = Vec::new();
        for operation in OPERATIONS {
            for &api in &self.plan.apis {
                let Some(rates) = self.rates(case, api, operation) else { continue };
                all.push(json!({
                    "processes": case.processes,
                    "transfer_bytes": case.transfer,
                    "operation": operation.name(),
                    "api": api.name(),
                    "bytes": self.plan.total(case.processes),
                    "seconds": self.seconds(case, api, operation),
                    "bytes_per_second": { "min": rates.least, "average": rates.average, "max": rates.most },
                }));
            }
        }
        all
    }
}

/// Returns a rate in MB/s, with three digits or more.
fn megabytes(rate: f64) -> String {
    let rate = rate / 1e6;
    let digits = if rate < 10.0 { 2 } else { usize::from(rate < 100.0) };
    format!("{rate:.digits$}")
}

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
pub(super) fn real(number: u64) -> f64 {
    number as f64
}

/// What the times are of.
const CACHE: &str = "writes end in the page cache, and reads come from it: nothing waits for the disk";

#[cfg(test)]
mod tests {
    use hyperslab_pio::Phases;

    use super::*;

    fn plan() -> Plan {
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

    /// Returns the times of one case: 1 process, transfers of 4 bytes, of 60 bytes in all.
    fn timed() -> [Timed; 4] {
        let case = TransferCase { processes: 1, transfer: 4 };
        let phases = |moving| Phases { open: 1e-6, moving, close: 2e-6 };
        let timed = |api, write, read| Timed { case, api, write: phases(write), read: Some(phases(read)) };
        [
            timed(Api::Posix, 1e-6, 3e-6),
            timed(Api::Hyperslab, 2e-6, 3e-6),
            timed(Api::Posix, 3e-6, 3e-6),
            timed(Api::Hyperslab, 4e-6, 6e-6),
        ]
    }

    fn report<'a>(plan: &'a Plan, timed: &'a [Timed]) -> RunReport<'a> {
        RunReport {
            plan,
            filters: Vec::new(),
            folder: "/data".to_owned(),
            ranks: "processes",
            threads: 1,
            timed,
        }
    }

    #[test]
    fn rates_are_the_extremes_and_the_mean_of_the_iterations() {
        let rates = Rates::of(60, &[1.0, 2.0]).unwrap();
        assert_eq!(rates, Rates { least: 30.0, average: 45.0, most: 60.0 });
        assert_eq!(Rates::of(60, &[]), None);
        assert!(Rates::of(60, &[0.0]).unwrap().most.is_finite());
    }

    #[test]
    fn the_table_has_a_row_for_each_operation_and_api() {
        let plan = plan();
        let mut out = Vec::new();
        report(&plan, &timed()).as_text(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (_, table) = text.split_once("\n\n").unwrap();
        let expected = "\
processes  transfer  operation         api         min  average   max  of posix
        1       4 B  write             posix      20.0     40.0  60.0
        1       4 B  write             hyperslab  15.0     22.5  30.0      0.56
        1       4 B  write open-close  posix      10.0     12.5  15.0
        1       4 B  write open-close  hyperslab  8.57     10.3  12.0      0.82
        1       4 B  read              posix      20.0     20.0  20.0
        1       4 B  read              hyperslab  10.0     15.0  20.0      0.75
        1       4 B  read open-close   posix      10.0     10.0  10.0
        1       4 B  read open-close   hyperslab  6.67     8.33  10.0      0.83
";
        assert_eq!(table, expected);
        assert!(text.contains("2 files, 3 datasets in each, 10 B of each process"), "{text}");
        assert!(text.contains("contiguous datasets, independent\n"), "{text}");
        assert!(text.contains("page cache"), "{text}");
    }

    #[test]
    fn chunks_are_said_to_be_written_collectively() {
        let plan = Plan { chunk: Some(2048), is_interleaved: true, ..plan() };
        let report = RunReport { filters: vec!["shuffle".into(), "zstd:3".into()], ..report(&plan, &[]) };
        let expected = "chunks of 2.0 KiB with shuffle, zstd:3, independent (chunks are always written \
                        collectively), interleaved";
        assert_eq!(report.manner(), expected);
    }

    #[test]
    fn json_has_the_seconds_of_each_iteration() {
        let plan = plan();
        let mut out = Vec::new();
        report(&plan, &timed()).as_json(&mut out).unwrap();
        let value: Value = serde_json::from_slice(&out).unwrap();
        let results = value["results"].as_array().unwrap();
        assert_eq!(results.len(), 8, "only one case was measured");
        assert_eq!(results[1]["seconds"], json!([2e-6, 4e-6]));
        assert_eq!(results[1]["api"], "hyperslab");
        assert_eq!(results[1]["bytes"], 60);
    }
}
