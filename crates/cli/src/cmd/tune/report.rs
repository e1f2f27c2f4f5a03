//! The report, for people and for programs.

use std::io::Write;

use hyperslab_tune::{Access, Medium, Origin, Report, Row, SampleFacts, Times};
use serde_json::{Value, json};

use crate::show::table::Table;
use crate::show::{bytes, plain, shape as tuple};
use crate::units::shown;

/// What was found, and what the command line says of it.
pub(super) struct TuneReport {
    pub(super) file: String,
    /// The path of the dataset.
    pub(super) path: String,
    /// The names of the requested filters.
    pub(super) filters: Vec<String>,
    pub(super) found: Report,
}

/// Returns the sides of a chunk in the notation of the command line.
fn name(row: &Row) -> String {
    match row.candidate.origin {
        Origin::Contiguous => "contiguous".to_owned(),
        _ => by(&row.candidate.chunk),
    }
}

fn note(row: &Row) -> &'static str {
    match row.candidate.origin {
        Origin::Present | Origin::Contiguous => "present",
        Origin::Cube | Origin::Search => "",
    }
}

impl TuneReport {
    /// Returns the command that applies a row.
    fn command(&self, row: &Row) -> String {
        let filters = self.filters.iter().flat_map(|filter| [" --filter ", filter]).collect::<String>();
        format!("hyperslab repack {} OUT --chunks {}{filters}", quoted(&self.file), name(row))
    }

    pub(super) fn as_text(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let size = self
            .found
            .array
            .shape
            .iter()
            .fold(self.found.array.element_size, |all, &len| all.saturating_mul(len));
        writeln!(
            out,
            "{}  {}  {}, {}",
            plain(&self.file),
            plain(&self.path),
            tuple(&self.found.array.shape),
            bytes(size)
        )?;
        let medium = |medium: &Medium| {
            let rate = bytes(whole(medium.bandwidth));
            format!("{} a request, {:.1} at a time, {rate}/s", shown(medium.latency), medium.parallelism)
        };
        let given = if self.found.is_given { " (given)" } else { "" };
        writeln!(out, "cold    {}{given}", medium(&self.found.machine.cold))?;
        writeln!(out, "warm    {}", medium(&self.found.machine.warm))?;
        if let Some(ratio) = self.found.ratio {
            let rate = bytes(whole(self.found.machine.decode));
            let stored =
                |(size, ratio)| format!("{:.1} % in chunks of {}", 100.0 * ratio, bytes(whole(size)));
            writeln!(
                out,
                "filters compress to {}, to {}, and decode {rate}/s",
                stored(ratio.small),
                stored(ratio.large)
            )?;
        }
        match &self.found.sample {
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
        if !self.found.is_dropped {
            writeln!(
                out,
                "note    the file's pages cannot be dropped from memory here, so cold times are much like warm times"
            )?;
        }
        if self.found.is_given && self.found.sample.is_some() {
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
        let is_measured = self.found.sample.is_some();
        // A single access needs no mean.
        let is_weighted = self.found.accesses.len() > 1;
        let mut names: Vec<String> = self.found.accesses.iter().map(|access| plain(&access.name)).collect();
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
        let best = self.found.best().map(|row| &row.candidate);
        for row in &self.found.rows {
            let mut cells = vec![name(row), bytes(row.candidate.bytes(self.found.array.element_size))];
            let with_mean = |times: &[Times]| -> Vec<String> {
                let mean = self.found.weighted(times);
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
                [mark, note(row)].into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>().join(", "),
            );
            table.row(cells)?;
        }
        Ok(table.finish()?)
    }

    /// Writes the recommendation, in a sentence, and the command that applies it.
    fn advice(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let Some(best) = self.found.best() else { return Ok(()) };
        let times = self.found.mean(best);
        let weighted =
            if self.found.accesses.len() > 1 { "the weighted mean of the reads" } else { "a read" };
        let takes = format!("{weighted} takes {} cold and {} warm", shown(times.cold), shown(times.warm));
        let present = self.found.present();
        if present.is_some_and(|present| present.candidate == best.candidate) {
            if best.candidate.origin == Origin::Contiguous || self.filters.is_empty() {
                let found = "and nothing that was tried is better";
                writeln!(out, "Leave it as it is ({}): {takes}, {found}.", name(best))?;
                return Ok(());
            }
            writeln!(
                out,
                "Keep chunks of {}: {takes}, and no other shape that was tried is better.",
                name(best)
            )?;
        } else if let Some(present) = present {
            let now = self.found.mean(present);
            let (cold, warm) = (now.cold / times.cold, now.warm / times.warm);
            let gain = format!("{cold:.1} and {warm:.1} times as fast as {}", self.as_now(present));
            writeln!(out, "Use chunks of {}: {takes}, {gain}.", name(best))?;
        } else {
            writeln!(out, "Use chunks of {}: {takes}.", name(best))?;
        }
        writeln!(out, "  {}", self.command(best))?;
        Ok(())
    }

    /// Describes what the gain is relative to: the present chunks, but with the requested filters.
    fn as_now(&self, present: &Row) -> String {
        match present.candidate.origin {
            Origin::Contiguous => "it is now (contiguous)".to_owned(),
            _ if self.filters.is_empty() => format!("it is now ({})", name(present)),
            _ => format!("with the present chunks ({})", name(present)),
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
        let accesses = self.found.accesses.iter();
        let sample = self.found.sample.as_ref();
        let best = self.found.best();
        let report = json!({
            "file": self.file,
            "dataset": self.path,
            "shape": self.found.array.shape,
            "element_bytes": self.found.array.element_size,
            "accesses": accesses
                .map(|access| json!({ "name": access.name, "weight": access.weight, "elements": access.elements() }))
                .collect::<Vec<_>>(),
            "machine": {
                "cold": medium(&self.found.machine.cold),
                "warm": medium(&self.found.machine.warm),
                "is_given": self.found.is_given,
                "pages_dropped": self.found.is_dropped,
                "chunk_seconds": self.found.machine.chunk,
                "decoded_bytes_per_second": self.found.ratio.map(|_| self.found.machine.decode),
                "stored_ratio": self.found.ratio.map(|ratio| [ratio.small, ratio.large].map(|(bytes, ratio)| json!({ "chunk_bytes": bytes, "ratio": ratio }))),
            },
            "sample": sample.map(|sample| json!({ "shape": sample.shape, "is_all": sample.is_all, "rounds": sample.rounds })),
            "candidates": self.found.rows.iter().map(|row| self.row_as_json(row)).collect::<Vec<_>>(),
            "recommended": best.map(|row| json!({
                "chunks": chunks(row),
                "command": (row.candidate.origin != Origin::Contiguous).then(|| self.command(row)),
                "is_present": self.found.present().is_some_and(|present| present.candidate == row.candidate),
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
        let mean = |all: &[Times]| times(&self.found.weighted(all));
        json!({
            "chunks": chunks(row),
            "origin": match row.candidate.origin {
                Origin::Present => "present",
                Origin::Contiguous => "contiguous",
                Origin::Cube => "cube",
                Origin::Search => "search",
            },
            "chunk_bytes": row.candidate.bytes(self.found.array.element_size),
            "file_bytes": row.file_bytes,
            "accesses": self.found.accesses.iter().enumerate().map(|(number, access)| of(number, access)).collect::<Vec<_>>(),
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

#[expect(clippy::cast_precision_loss, reason = "shown with few digits")]
pub(super) fn real(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shown with two digits")]
fn whole(value: f64) -> u64 {
    value.clamp(0.0, real(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use hyperslab_tune::{ArrayFacts, Candidate, Machine, accesses};

    use super::*;

    /// Returns a report of shapes with the same times for every access. The first shape is the present one.
    fn report(all: &[(u64, f64, f64)]) -> TuneReport {
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
        let found = Report {
            accesses: accesses(&[], &shape, &["a", "b"].map(|name| Some(name.to_owned()))).unwrap(),
            array: ArrayFacts { shape: shape.clone(), element_size: 4 },
            machine: Machine { cold: medium, warm: medium, chunk: 1e-6, decode: 1e9 },
            ratio: None,
            is_dropped: true,
            is_given: false,
            sample: Some(SampleFacts { shape, is_all: true, rounds: 5 }),
            rows: all.iter().enumerate().map(row).collect(),
        };
        TuneReport { file: "it's.h5".to_owned(), path: "/d".to_owned(), filters: Vec::new(), found }
    }

    fn text(report: &TuneReport) -> String {
        let mut out = Vec::new();
        report.as_text(&mut out).unwrap();
        String::from_utf8(out).unwrap()
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

    #[test]
    fn with_a_given_medium_the_advice_follows_the_prediction() {
        let mut found = report(&[(5, 1.0, 1.0), (10, 3.0, 3.0)]);
        found.found.rows[1].predicted = vec![Times { cold: 0.1, warm: 0.1 }; 2];
        assert_eq!(found.found.best().unwrap().candidate.chunk, [5, 5]);
        found.found.is_given = true;
        assert_eq!(found.found.best().unwrap().candidate.chunk, [10, 10]);
        assert!(text(&found).contains("the advice follows the prediction"));
    }
}
