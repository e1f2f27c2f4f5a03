//! What was found: the times of all shapes, and the one that is recommended.

use crate::access::Access;
use crate::measure::Measured;
use crate::model::{ArrayFacts, Machine, Ratio, Times};
use crate::search::{Candidate, Judge, Origin, weighted};

/// The results of all predictions and measurements.
#[derive(Debug, Clone)]
pub struct Report {
    /// The dataset.
    pub array: ArrayFacts,
    /// The reads.
    pub accesses: Vec<Access>,
    /// The speed of the machine.
    pub machine: Machine,
    /// How small filters make chunks, if there are filters.
    pub ratio: Option<Ratio>,
    /// Whether cold reads can be measured.
    pub is_dropped: bool,
    /// Whether the speed of the medium was given by the user.
    pub is_given: bool,
    /// The sample, if times were measured.
    pub sample: Option<SampleFacts>,
    /// The shapes that were tried, first the present one.
    pub rows: Vec<Row>,
}

/// The conditions of the measured times.
#[derive(Debug, Clone)]
pub struct SampleFacts {
    /// The elements along each axis.
    pub shape: Vec<u64>,
    /// Whether the sample is the whole dataset.
    pub is_all: bool,
    /// How often each read was timed.
    pub rounds: u16,
}

/// One storage of the elements, with the time of each access to the whole dataset.
#[derive(Debug, Clone)]
pub struct Row {
    /// The storage.
    pub candidate: Candidate,
    /// The predicted times of each access.
    pub predicted: Vec<Times>,
    /// The measured times of each access. If a part of the dataset was measured, the model scales them to the
    /// whole dataset.
    pub measured: Option<Vec<Times>>,
    /// The bytes of the file with the sample.
    pub file_bytes: Option<u64>,
}

impl Row {
    /// Creates a row without measurements.
    pub(crate) fn predicted(candidate: Candidate, judge: &Judge<'_>) -> Self {
        let predicted = judge.times(&candidate);
        Self { candidate, predicted, measured: None, file_bytes: None }
    }
}

impl Report {
    /// Adds the measurements of a part of the dataset to each row. `whole` and `part` give the factor for the
    /// whole dataset.
    pub(crate) fn add_measured(&mut self, measured: Vec<Measured>, whole: &Judge<'_>, part: &Judge<'_>) {
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
    pub fn judged<'r>(&self, row: &'r Row) -> &'r [Times] {
        row.measured.as_deref().filter(|_| !self.is_given).unwrap_or(&row.predicted)
    }

    /// Returns the mean of the times by which a row is judged, weighted by the accesses.
    pub fn mean(&self, row: &Row) -> Times {
        self.weighted(self.judged(row))
    }

    /// Returns the mean of the times of each access, weighted by the accesses.
    pub fn weighted(&self, times: &[Times]) -> Times {
        weighted(&self.accesses, times)
    }

    /// Returns the recommended row. Among the rows whose cold time is close to the best, it is the one with
    /// the best warm time. The present storage is recommended if no row is better by more than the tolerance.
    pub fn best(&self) -> Option<&Row> {
        let fastest = self.rows.iter().map(|row| self.mean(row).cold).fold(f64::INFINITY, f64::min);
        let is_near = |row: &&Row| self.mean(row).cold <= fastest * ALIKE;
        let near = self.rows.iter().filter(is_near);
        let best = near.min_by(|a, b| self.mean(a).warm.total_cmp(&self.mean(b).warm))?;
        let is_good = |row: &&Row| self.mean(row).warm <= self.mean(best).warm * ALIKE;
        Some(self.present().filter(is_near).filter(is_good).unwrap_or(best))
    }

    /// Returns the row of the present storage.
    pub fn present(&self) -> Option<&Row> {
        self.rows.iter().find(|row| matches!(row.candidate.origin, Origin::Present | Origin::Contiguous))
    }
}

/// Times whose ratio is at most this are considered equal, because the medians of two runs differ as much.
const ALIKE: f64 = 1.1;

#[cfg(test)]
mod tests {
    use hyperslab::driver::Hints;

    use super::*;
    use crate::access::plane;
    use crate::model::{Engine, Medium};

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
            accesses: vec![plane("a", 0, 1.0, &shape), plane("b", 1, 1.0, &shape)],
            array: ArrayFacts { shape: shape.clone(), element_size: 4 },
            machine: Machine { cold: medium, warm: medium, chunk: 1e-6, decode: 1e9 },
            ratio: None,
            is_dropped: true,
            is_given: false,
            sample: Some(SampleFacts { shape, is_all: true, rounds: 5 }),
            rows: all.iter().enumerate().map(row).collect(),
        }
    }

    #[test]
    fn the_best_cold_time_wins_and_among_similar_ones_the_best_warm_time() {
        let best = |all: &[(u64, f64, f64)]| report(all).best().unwrap().candidate.chunk[0];
        assert_eq!(best(&[(5, 9.0, 9.0), (10, 2.0, 5.0), (20, 1.0, 6.0), (40, 3.0, 1.0)]), 20);
        assert_eq!(best(&[(5, 9.0, 9.0), (10, 1.05, 5.0), (20, 1.0, 6.0), (40, 3.0, 1.0)]), 10);
        assert_eq!(best(&[(5, 1.05, 5.2), (10, 1.05, 5.0), (20, 1.0, 6.0)]), 5, "not worth a change");
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
}
