//! The report, for people and for programs.

use std::io::Write;

use serde_json::{Value, json};

use super::access::Access;
use super::measure::Measured;
use super::model::{ArrayFacts, Machine, Medium, Ratio, Times, real};
use super::search::{Candidate, Judge, Origin, weighted};
use crate::show::table::Table;
use crate::show::{bytes, plain, shape as tuple};
use crate::units::shown;

/// The results of all predictions and measurements.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) file: String,
    /// The path of the dataset.
    pub(super) path: String,
    pub(super) array: ArrayFacts,
    pub(super) accesses: Vec<Access>,
    pub(super) machine: Machine,
    /// How small filters make chunks, if there are filters.
    pub(super) ratio: Option<Ratio>,
    /// Whether cold reads can be measured.
    pub(super) is_dropped: bool,
    /// Whether the speed of the medium was given by the user.
    pub(super) is_given: bool,
    /// The names of the requested filters.
    pub(super) filters: Vec<String>,
    /// The sample, if times were measured.
    pub(super) sample: Option<SampleFacts>,
    pub(super) rows: Vec<Row>,
}

/// The conditions of the measured times.
#[derive(Debug)]
pub(super) struct SampleFacts {
    pub(super) shape: Vec<u64>,
    /// Whether the sample is the whole dataset.
    pub(super) is_all: bool,
    pub(super) rounds: u16,
}

/// One storage of the elements, with the time of each access to the whole dataset.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) candidate: Candidate,
    /// The predicted times of each access.
    pub(super) predicted: Vec<Times>,
    /// The measured times of each access. If a part of the dataset was measured, the model scales them to the
    /// whole dataset.
    pub(super) measured: Option<Vec<Times>>,
    /// The bytes of the file with the sample.
    file_bytes: Option<u64>,
}

impl Row {
    /// Creates a row without measurements.
    pub(super) fn predicted(candidate: Candidate, judge: &Judge<'_>) -> Self {
        let predicted = judge.times(&candidate);
        Self { candidate, predicted, measured: None, file_bytes: None }
    }

    /// Returns the sides of a chunk in the notation of the command line.
    fn name(&self) -> String {
        match self.candidate.origin {
            Origin::Contiguous => "contiguous".to_owned(),
            _ => by(&self.candidate.chunk),
        }
    }

    fn note(&self) -> &'static str {
        match self.candidate.origin {
            Origin::Present | Origin::Contiguous => "present",
            Origin::Cube | Origin::Search => "",
        }
    }
}

impl Report {
    /// Adds the measurements of a part of the dataset to each row. `whole` and `part` give the factor for the
    /// whole dataset.
    pub(super) fn add_measured(&mut self, measured: Vec<Measured>, whole: &Judge<'_>, part: &Judge<'_>) {
        for (row, measured) in self.rows.iter_mut().zip(measured) {
            let sides = row.candidate.chunk.iter().zip(&part.array.shape).map(|(&side, &len)| side.min(len));
            let cut = Candidate { chunk: sides.collect(), origin: row.candidate.origin };
            let factors = whole.times(&row.candidate).into_iter().zip(part.times(&cut));
            let times = measured.times.iter().zip(factors).map(|(times, (whole, part))| Times {
                cold: times.cold * whole.cold / part.cold,
                warm: times.warm * whole.warm / part.warm,
            });
            row.measured = Some(times.collect());
            row.file_bytes = Some(measured.file_bytes);
        }
    }

    /// Returns the times by which a row is judged: the measured ones, unless the user gave the speed of the
    /// medium.
    pub(super) fn judged<'r>(&self, row: &'r Row) -> &'r [Times] {
        row.measured.as_deref().filter(|_| !self.is_given).unwrap_or(&row.predicted)
    }

    fn mean(&self, row: &Row) -> Times {
        weighted(&self.accesses, self.judged(row))
    }

    /// Returns the recommended row. Among the rows whose cold time is close to the best, it is the one with
    /// the best warm time. The present storage is recommended if no row is better by more than the tolerance.
    pub(super) fn best(&self) -> Option<&Row> {
        let fastest = self.rows.iter().map(|row| self.mean(row).cold).fold(f64::INFINITY, f64::min);
        let is_near = |row: &&Row| self.mean(row).cold <= fastest * ALIKE;
        let near = self.rows.iter().filter(is_near);
        let best = near.min_by(|a, b| self.mean(a).warm.total_cmp(&self.mean(b).warm))?;
        let is_good = |row: &&Row| self.mean(row).warm <= self.mean(best).warm * ALIKE;
        Some(self.present().filter(is_near).filter(is_good).unwrap_or(best))
    }

    /// Returns the row of the present storage.
    fn present(&self) -> Option<&Row> {
        self.rows.iter().find(|row| matches!(row.candidate.origin, Origin::Present | Origin::Contiguous))
    }

    /// Returns the command that applies a row.
    fn command(&self, row: &Row) -> String {
        let filters = self.filters.iter().flat_map(|filter| [" --filter ", filter]).collect::<String>();
        format!("hyperslab repack {} OUT --chunks {}{filters}", quoted(&self.file), row.name())
    }

    pub(super) fn as_text(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let size = self.array.shape.iter().fold(self.array.element_size, |all, &len| all.saturating_mul(len));
        writeln!(
            out,
            "{}  {}  {}, {}",
            plain(&self.file),
            plain(&self.path),
            tuple(&self.array.shape),
            bytes(size)
        )?;
        let medium = |medium: &Medium| {
            let rate = bytes(whole(medium.bandwidth));
            format!("{} a request, {:.1} at a time, {rate}/s", shown(medium.latency), medium.parallelism)
        };
        let given = if self.is_given { " (given)" } else { "" };
        writeln!(out, "cold    {}{given}", medium(&self.machine.cold))?;
        writeln!(out, "warm    {}", medium(&self.machine.warm))?;
        if let Some(ratio) = self.ratio {
            let rate = bytes(whole(self.machine.decode));
            let stored =
                |(size, ratio)| format!("{:.1} % in chunks of {}", 100.0 * ratio, bytes(whole(size)));
            writeln!(
                out,
                "filters compress to {}, to {}, and decode {rate}/s",
                stored(ratio.small),
                stored(ratio.large)
            )?;
        }
        match &self.sample {
            None => writeln!(out, "times   of one read, predicted; nothing was measured")?,
            Some(SampleFacts { is_all: true, rounds, .. }) => {
                writeln!(
                    out,
                    "times   of one read: medians of {rounds}, beside the prediction of the model"
                )?;
            }
            Some(SampleFacts { shape, rounds, .. }) => {
                writeln!(
                    out,
                    "times   of one read: medians of {rounds} on a sample {}, scaled by the model to the whole dataset, beside its prediction",
                    tuple(shape)
                )?;
            }
        }
        if !self.is_dropped {
            writeln!(
                out,
                "note    the file's pages cannot be dropped from memory here, so cold times are much like warm times"
            )?;
        }
        if self.is_given && self.sample.is_some() {
            writeln!(
                out,
                "note    measured times are for the medium of this file; the advice follows the prediction for the given medium"
            )?;
        }
        for (title, time) in [("cold", (|times| times.cold) as Time), ("warm", |times: &Times| times.warm)] {
            writeln!(out)?;
            self.table(title, time, out)?;
        }
        writeln!(out)?;
        self.advice(out)
    }

    fn table(&self, title: &str, time: Time, out: &mut dyn Write) -> anyhow::Result<()> {
        let is_measured = self.sample.is_some();
        // A single access needs no mean.
        let is_weighted = self.accesses.len() > 1;
        let mut names: Vec<String> = self.accesses.iter().map(|access| plain(&access.name)).collect();
        names.extend(is_weighted.then(|| "weighted".to_owned()));
        let mut heads = vec![title.to_owned(), "chunk".to_owned()];
        for name in &names {
            heads.push(name.clone());
            heads.extend(is_measured.then(|| "predicted".to_owned()));
        }
        heads.extend(is_measured.then(|| "file".to_owned()));
        let right: Vec<usize> = (1..heads.len()).collect();
        let mut table = Table::new(out, &right);
        table.row(heads)?;
        let best = self.best().map(|row| &row.candidate);
        for row in &self.rows {
            let mut cells = vec![row.name(), bytes(row.candidate.bytes(self.array.element_size))];
            let with_mean = |times: &[Times]| -> Vec<String> {
                let mean = weighted(&self.accesses, times);
                times.iter().chain(is_weighted.then_some(&mean)).map(|times| shown(time(times))).collect()
            };
            let predicted = with_mean(&row.predicted);
            match &row.measured {
                None => cells.extend(predicted),
                Some(measured) => {
                    let pairs = with_mean(measured).into_iter().zip(predicted);
                    cells.extend(pairs.flat_map(|(measured, predicted)| [measured, predicted]));
                }
            }
            cells.extend(row.file_bytes.map(bytes));
            let mark = if best == Some(&row.candidate) { "best" } else { "" };
            cells.push(
                [mark, row.note()].into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join(", "),
            );
            table.row(cells)?;
        }
        Ok(table.finish()?)
    }

    /// Writes the recommendation, in a sentence, and the command that applies it.
    fn advice(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(best) = self.best() else { return Ok(()) };
        let times = self.mean(best);
        let weighted = if self.accesses.len() > 1 { "the weighted mean of the reads" } else { "a read" };
        let takes = format!("{weighted} takes {} cold and {} warm", shown(times.cold), shown(times.warm));
        let present = self.present();
        if present.is_some_and(|present| present.candidate == best.candidate) {
            if best.candidate.origin == Origin::Contiguous || self.filters.is_empty() {
                let found = "and nothing that was tried is better";
                writeln!(out, "Leave it as it is ({}): {takes}, {found}.", best.name())?;
                return Ok(());
            }
            writeln!(
                out,
                "Keep chunks of {}: {takes}, and no other shape that was tried is better.",
                best.name()
            )?;
        } else if let Some(present) = present {
            let now = self.mean(present);
            let (cold, warm) = (now.cold / times.cold, now.warm / times.warm);
            let gain = format!("{cold:.1} and {warm:.1} times as fast as {}", self.as_now(present));
            writeln!(out, "Use chunks of {}: {takes}, {gain}.", best.name())?;
        } else {
            writeln!(out, "Use chunks of {}: {takes}.", best.name())?;
        }
        writeln!(out, "  {}", self.command(best))?;
        Ok(())
    }

    /// Describes what the gain is relative to: the present chunks, but with the requested filters.
    fn as_now(&self, present: &Row) -> String {
        match present.candidate.origin {
            Origin::Contiguous => "it is now (contiguous)".to_owned(),
            _ if self.filters.is_empty() => format!("it is now ({})", present.name()),
            _ => format!("with the present chunks ({})", present.name()),
        }
    }

    pub(super) fn as_json(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let medium = |medium: &Medium| {
            json!({
                "latency_seconds": medium.latency,
                "bytes_per_second": medium.bandwidth,
                "parallelism": medium.parallelism,
            })
        };
        let accesses = self.accesses.iter();
        let sample = self.sample.as_ref();
        let best = self.best();
        let report = json!({
            "file": self.file,
            "dataset": self.path,
            "shape": self.array.shape,
            "element_bytes": self.array.element_size,
            "accesses": accesses
                .map(|access| json!({ "name": access.name, "weight": access.weight, "elements": access.elements() }))
                .collect::<Vec<_>>(),
            "machine": {
                "cold": medium(&self.machine.cold),
                "warm": medium(&self.machine.warm),
                "is_given": self.is_given,
                "pages_dropped": self.is_dropped,
                "chunk_seconds": self.machine.chunk,
                "decoded_bytes_per_second": self.ratio.map(|_| self.machine.decode),
                "stored_ratio": self.ratio.map(|ratio| [ratio.small, ratio.large].map(|(bytes, ratio)| json!({ "chunk_bytes": bytes, "ratio": ratio }))),
            },
            "sample": sample.map(|sample| json!({ "shape": sample.shape, "is_all": sample.is_all, "rounds": sample.rounds })),
            "candidates": self.rows.iter().map(|row| self.row_as_json(row)).collect::<Vec<_>>(),
            "recommended": best.map(|row| json!({
                "chunks": chunks(row),
                "command": (row.candidate.origin != Origin::Contiguous).then(|| self.command(row)),
                "is_present": self.present().is_some_and(|present| present.candidate == row.candidate),
            })),
        });
        writeln!(out, "{report}")?;
        Ok(())
    }

    fn row_as_json(&self, row: &Row) -> Value {
        let times = |times: &Times| json!({ "cold_seconds": times.cold, "warm_seconds": times.warm });
        let of = |number: usize, access: &Access| {
            let measured = row.measured.as_ref().map(|measured| times(&measured[number]));
            json!({ "name": access.name, "predicted": times(&row.predicted[number]), "measured": measured })
        };
        let mean = |all: &[Times]| times(&weighted(&self.accesses, all));
        json!({
            "chunks": chunks(row),
            "origin": match row.candidate.origin {
                Origin::Present => "present",
                Origin::Contiguous => "contiguous",
                Origin::Cube => "cube",
                Origin::Search => "search",
            },
            "chunk_bytes": row.candidate.bytes(self.array.element_size),
            "file_bytes": row.file_bytes,
            "accesses": self.accesses.iter().enumerate().map(|(number, access)| of(number, access)).collect::<Vec<_>>(),
            "weighted": { "predicted": mean(&row.predicted), "measured": row.measured.as_deref().map(mean) },
        })
    }
}

type Time = fn(&Times) -> f64;

/// Returns the shape of a chunk; `None` if the dataset is contiguous.
fn chunks(row: &Row) -> Option<&[u64]> {
    (row.candidate.origin != Origin::Contiguous).then_some(&row.candidate.chunk)
}

/// Returns a shape in the notation of `repack --chunks`.
pub(super) fn by(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// Returns the name of a file, quoted for a shell.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+".contains(letter);
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", plain(name).replace('\'', "'\\''"))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown with two digits")]
fn whole(value: f64) -> u64 {
    value.clamp(0.0, real(u64::MAX)) as u64
}

/// Times whose ratio is at most this are considered equal, because the medians of two runs differ as much.
const ALIKE: f64 = 1.1;

#[cfg(test)]
mod tests {
    use hyperslab::driver::Hints;

    use super::*;
    use crate::cmd::tune::access::plane;
    use crate::cmd::tune::model::Engine;

    /// Returns a report of shapes with the same times for every access. The first shape is the present one.
    fn report(all: &[(u64, f64, f64)]) -> Report {
        let shape = vec![100, 100];
        let medium = Medium { latency: 1e-4, bandwidth: 1e9, parallelism: 1.0 };
        let row = |(number, &(edge, cold, warm)): (usize, &(u64, f64, f64))| Row {
            candidate: Candidate {
                chunk: vec![edge; 2],
                origin: if number == 0 { Origin::Present } else { Origin::Cube },
            },
            predicted: vec![Times { cold: 1.0, warm: 1.0 }; 2],
            measured: Some(vec![Times { cold, warm }; 2]),
            file_bytes: Some(40_000),
        };
        Report {
            file: "it's.h5".to_owned(),
            path: "/d".to_owned(),
            accesses: vec![plane("a", 0, 1.0, &shape), plane("b", 1, 1.0, &shape)],
            array: ArrayFacts { shape: shape.clone(), element_size: 4 },
            machine: Machine { cold: medium, warm: medium, chunk: 1e-6, decode: 1e9 },
            ratio: None,
            is_dropped: true,
            is_given: false,
            filters: Vec::new(),
            sample: Some(SampleFacts { shape, is_all: true, rounds: 5 }),
            rows: all.iter().enumerate().map(row).collect(),
        }
    }

    fn text(report: &Report) -> String {
        let mut out = Vec::new();
        report.as_text(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_best_cold_time_wins_and_among_similar_ones_the_best_warm_time() {
        let best = |all: &[(u64, f64, f64)]| report(all).best().unwrap().candidate.chunk[0];
        assert_eq!(best(&[(5, 9.0, 9.0), (10, 2.0, 5.0), (20, 1.0, 6.0), (40, 3.0, 1.0)]), 20);
        assert_eq!(best(&[(5, 9.0, 9.0), (10, 1.05, 5.0), (20, 1.0, 6.0), (40, 3.0, 1.0)]), 10);
        assert_eq!(best(&[(5, 1.05, 5.2), (10, 1.05, 5.0), (20, 1.0, 6.0)]), 5, "not worth a change");
    }

    #[test]
    fn the_advice_gives_the_shape_the_gain_and_the_command() {
        let mut found = report(&[(5, 4.0, 3.0), (10, 1.0, 2.0)]);
        let said = text(&found);
        assert!(said.contains("Use chunks of 10x10: the weighted mean of the reads takes 1.00 s cold and 2.00 s warm, 4.0 and 1.5 times as fast as it is now (5x5).\n"), "{said}");
        assert!(said.ends_with("  hyperslab repack 'it'\\''s.h5' OUT --chunks 10x10\n"), "{said}");
        found.filters = vec!["shuffle".to_owned(), "zstd:3".to_owned()];
        assert!(text(&found).ends_with(" --chunks 10x10 --filter shuffle --filter zstd:3\n"));
        let mut good = report(&[(5, 1.0, 1.0), (10, 1.0, 2.0)]);
        assert!(text(&good).contains("Leave it as it is (5x5): "));
        good.filters = vec!["lz4".to_owned()];
        assert!(text(&good).ends_with("  hyperslab repack 'it'\\''s.h5' OUT --chunks 5x5 --filter lz4\n"));
    }

    /// Every chunk costs a second, cold and warm. A plane of the whole touches 10 chunks, and a plane of the
    /// part 5.
    #[test]
    fn measurements_of_a_part_are_scaled_by_the_touched_chunks_of_the_whole() {
        let mut found = report(&[(10, 0.0, 0.0)]);
        let medium = Medium { latency: 0.0, bandwidth: f64::INFINITY, parallelism: 1.0 };
        let machine = Machine { cold: medium, warm: medium, chunk: 1.0, decode: 1.0 };
        let hints = Hints { coalesce_gap: 0, max_span: 1 << 20, queue_depth: 1, concurrent: true };
        let engine = Engine { hints, threads: 1 };
        let part = ArrayFacts { shape: vec![50, 50], element_size: 4 };
        let (array, accesses) = (found.array.clone(), found.accesses.clone());
        let within: Vec<Access> =
            accesses.iter().map(|access| access.within(&[100, 100], &[50, 50])).collect();
        let whole = Judge { array: &array, accesses: &accesses, machine: &machine, engine, ratio: None };
        let of_part = Judge { array: &part, accesses: &within, ..whole };
        let times = vec![Times { cold: 3.0, warm: 1.0 }; 2];
        found.add_measured(vec![Measured { times, file_bytes: 17 }], &whole, &of_part);
        assert_eq!(found.rows[0].measured, Some(vec![Times { cold: 6.0, warm: 2.0 }; 2]));
        assert_eq!(found.rows[0].file_bytes, Some(17));
    }

    #[test]
    fn with_a_given_medium_the_advice_follows_the_prediction() {
        let mut found = report(&[(5, 1.0, 1.0), (10, 3.0, 3.0)]);
        found.rows[1].predicted = vec![Times { cold: 0.1, warm: 0.1 }; 2];
        assert_eq!(found.best().unwrap().candidate.chunk, [5, 5]);
        found.is_given = true;
        assert_eq!(found.best().unwrap().candidate.chunk, [10, 10]);
        assert!(text(&found).contains("the advice follows the prediction"));
    }
}
