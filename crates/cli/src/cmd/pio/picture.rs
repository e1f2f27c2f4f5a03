//! The picture of a run: rates against the size of transfers.

use hyperslab_pio::{Api, TransferCase};
use hyperslab_plot::{Line, Lines, Panel};

use super::report::{Operation, RunReport, real};
use crate::show::{bytes, counted};

/// Returns the picture of a report. Each number of processes has a line for each API.
pub(super) fn rates(report: &RunReport<'_>) -> Lines {
    let plan = report.plan;
    let of = |&processes: &u64| plan.apis.iter().map(move |&api| (processes, api));
    let all: Vec<(u64, Api)> = plan.processes.iter().flat_map(of).collect();
    let panel = |operation: Operation| Panel {
        title: operation.name().to_owned(),
        lines: all.iter().map(|&(processes, api)| line(report, processes, api, operation)).collect(),
    };
    let mut panels = vec![panel(Operation::Write)];
    panels.extend(plan.reads.then(|| panel(Operation::Read)));
    Lines {
        title: format!("{} of each process in a dataset: average rates", bytes(plan.bytes)),
        subtitle: format!("{}; {}", report.ranks, counted(plan.iterations, "iteration")),
        x: "transfer (KiB)".to_owned(),
        y: "MB/s".to_owned(),
        panels,
        names: all.iter().map(|(processes, api)| format!("{} x{processes}", api.name())).collect(),
        mark: None,
    }
}

fn line(report: &RunReport<'_>, processes: u64, api: Api, operation: Operation) -> Line {
    let point = |&transfer: &u64| {
        let rates = report.rates(TransferCase { processes, transfer }, api, operation)?;
        Some((real(transfer) / 1024.0, rates.average / 1e6))
    };
    Line { joined: report.plan.transfers.iter().filter_map(point).collect(), ..Line::default() }
}
