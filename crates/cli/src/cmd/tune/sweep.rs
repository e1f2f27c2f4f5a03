//! The picture of a sweep: time per element against the edge of chunks.

use hyperslab_plot::{Line, Lines, Panel};
use hyperslab_tune::{Origin, Report, Row, Times};

use super::report::{TuneReport, by, real};

/// Returns the picture of a report.
pub(super) fn sweep(shown: &TuneReport) -> Lines {
    let report = &shown.found;
    let panel = |title: &str, time: fn(&Times) -> f64| Panel {
        title: title.to_owned(),
        lines: (0..=report.accesses.len()).map(|number| line(report, number, time)).collect(),
    };
    let best = report.best().filter(|row| row.candidate.origin != Origin::Contiguous);
    let names = report.accesses.iter().map(|access| access.name.clone()).chain(["weighted".to_owned()]);
    let shape = by(&report.array.shape);
    let times = if report.sample.is_some() && !report.is_given {
        "measured; thin lines: predicted"
    } else {
        "predicted"
    };
    let shapes =
        "circles: shapes other than cubes, at the geometric mean of their edges; large dots: recommended";
    Lines {
        title: format!("{} {}, {shape}: time per element read", shown.file, shown.path),
        subtitle: format!("{times}; {shapes}"),
        x: "edge of a chunk (elements)".to_owned(),
        y: "ns per element".to_owned(),
        panels: vec![panel("cold", |times| times.cold), panel("warm", |times| times.warm)],
        names: names.collect(),
        mark: best.map(|row| (edge(row), by(&row.candidate.chunk))),
    }
}

/// Returns the line of an access. The number after the last access gives the line of the weighted mean.
fn line(report: &Report, number: usize, time: fn(&Times) -> f64) -> Line {
    let elements = report.accesses.iter().map(|access| (access.weight, real(access.elements().max(1))));
    let weights: f64 = report.accesses.iter().map(|access| access.weight).sum();
    let mean = elements.map(|(weight, elements)| weight * elements).sum::<f64>() / weights;
    let value = |times: &[Times]| match times.get(number) {
        Some(times) => time(times) / real(report.accesses[number].elements().max(1)),
        None => time(&report.weighted(times)) / mean,
    };
    let point = |row: &Row| (edge(row), value(report.judged(row)) * 1e9);
    let chunked = || report.rows.iter().filter(|row| row.candidate.origin != Origin::Contiguous);
    let (mut cubes, others): (Vec<&Row>, Vec<&Row>) = chunked().partition(|row| is_cube(row));
    cubes.sort_by(|a, b| edge(a).total_cmp(&edge(b)));
    let is_compared = report.sample.is_some() && !report.is_given;
    let predicted = cubes.iter().map(|row| (edge(row), value(&row.predicted) * 1e9));
    Line {
        thin: if is_compared { predicted.collect() } else { Vec::new() },
        joined: cubes.iter().map(|row| point(row)).collect(),
        alone: others.iter().map(|row| point(row)).collect(),
        marked: report.best().filter(|row| row.candidate.origin != Origin::Contiguous).map(point),
    }
}

fn is_cube(row: &Row) -> bool {
    row.candidate.origin == Origin::Cube || row.candidate.chunk.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns the geometric mean of the edges of a chunk.
fn edge(row: &Row) -> f64 {
    let logs = row.candidate.chunk.iter().map(|&side| real(side.max(1)).ln());
    (logs.sum::<f64>() / real(row.candidate.chunk.len().max(1) as u64)).exp()
}
