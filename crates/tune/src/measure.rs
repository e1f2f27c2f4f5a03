//! Measurement of read times, cold and warm. Each round measures every candidate in turn.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use fastrand::Rng;

use crate::access::Access;
use crate::model::Times;
use crate::sample::Sample;
use crate::search::Candidate;
use crate::specimen::{Recipe, Specimen};
use hyperslab_terminal::progress::Steps;
use hyperslab_terminal::text::bytes;

/// The measurement of a candidate.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// The median times of each access.
    pub(crate) times: Vec<Times>,
    /// The bytes of the file with the sample.
    pub(crate) file_bytes: u64,
}

/// Writes the sample in every candidate's shape into the folder `scratch` and times the accesses to it. The
/// progress advances by one for each file and each read.
pub(crate) fn measure(
    recipe: &Recipe<'_>,
    sample: &Sample,
    candidates: &[Candidate],
    accesses: &[Access],
    scratch: &Path,
    rounds: usize,
    steps: &mut Steps<'_>,
) -> anyhow::Result<Vec<Measured>> {
    check_room(scratch, sample.bytes.len() as u64, candidates.len() as u64)?;
    steps.set_length((candidates.len() * (1 + rounds * accesses.len())) as u64);
    let mut specimens = Vec::with_capacity(candidates.len());
    let size = bytes(sample.bytes.len() as u64);
    for (number, candidate) in (1..).zip(candidates) {
        steps.say(format!("writing sample {number} of {}, {size}", candidates.len()));
        specimens.push(Specimen::write(recipe, sample, candidate, scratch)?);
        steps.advance();
    }
    let times = time(&specimens, sample, accesses, rounds, steps)?;
    let measured = specimens.iter().zip(times);
    Ok(measured.map(|(specimen, times)| Measured { times, file_bytes: specimen.bytes }).collect())
}

/// Checks that the samples fit on the medium.
fn check_room(scratch: &Path, each: u64, count: u64) -> anyhow::Result<()> {
    let free = fs4::available_space(scratch).with_context(|| scratch.display().to_string())?;
    let wanted = each.saturating_mul(count);
    if free < wanted.saturating_add(wanted / 20) {
        bail!(
            "{} has {} free, but {count} samples of {} need more; choose another folder with --scratch, a smaller --sample, or --predict",
            scratch.display(),
            bytes(free),
            bytes(each)
        );
    }
    Ok(())
}

/// Reads every specimen at the same positions, in an order that is rotated and reversed from round to round.
/// Returns the medians of each specimen and access.
fn time(
    specimens: &[Specimen],
    sample: &Sample,
    accesses: &[Access],
    rounds: usize,
    steps: &mut Steps<'_>,
) -> anyhow::Result<Vec<Vec<Times>>> {
    let mut rng = Rng::with_seed(SEED);
    let elements: u64 = sample.shape.iter().product();
    let element_size = sample.bytes.len() / usize::try_from(elements.max(1))?;
    let lens: Vec<usize> = accesses
        .iter()
        .map(|access| Ok(usize::try_from(access.elements())? * element_size))
        .collect::<anyhow::Result<_>>()?;
    // Writing the buffer here maps its pages, so that no read pays for them.
    let mut buffer = vec![1_u8; lens.iter().copied().max().unwrap_or_default()];
    steps.say("reading every sample once".to_owned());
    let mut taken: Vec<Vec<Vec<Times>>> =
        vec![vec![Vec::with_capacity(rounds); accesses.len()]; specimens.len()];
    // The first read loads the chunk index, which then stays in memory.
    for specimen in specimens {
        for (access, len) in accesses.iter().zip(&lens) {
            specimen.read(&access.somewhere(&sample.shape, &mut rng), &mut buffer[..*len])?;
        }
    }
    for round in 0..rounds {
        steps.say(format!("timing reads, round {} of {rounds}", round + 1));
        let mut order: Vec<usize> = (0..specimens.len()).collect();
        order.rotate_left(round % specimens.len().max(1));
        if round % 2 == 1 {
            order.reverse();
        }
        for (number, (access, len)) in accesses.iter().zip(&lens).enumerate() {
            let what = access.somewhere(&sample.shape, &mut rng);
            for &at in &order {
                let specimen = &specimens[at];
                specimen.drop_pages()?;
                let mut seconds = || {
                    let begun = Instant::now();
                    specimen.read(&what, &mut buffer[..*len])?;
                    anyhow::Ok(begun.elapsed().as_secs_f64())
                };
                let (cold, warm) = (seconds()?, seconds()?);
                taken[at][number].push(Times { cold, warm });
                steps.advance();
            }
        }
    }
    let of_specimen = |accesses: &Vec<Vec<Times>>| accesses.iter().map(|all| median(all)).collect();
    Ok(taken.iter().map(of_specimen).collect())
}

/// Returns the medians of the cold and of the warm times.
fn median(all: &[Times]) -> Times {
    let of = |time: fn(&Times) -> f64| {
        let mut sorted: Vec<f64> = all.iter().map(time).collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = ((sorted.len().saturating_sub(1)) / 2, sorted.len() / 2);
        match (sorted.get(low), sorted.get(high)) {
            (Some(low), Some(high)) => f64::midpoint(*low, *high),
            _ => 0.0,
        }
    };
    Times { cold: of(|times| times.cold), warm: of(|times| times.warm) }
}

/// A fixed seed, so that every run reads the same positions.
const SEED: u64 = 7;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_time_or_the_mean_of_the_two_middle_times() {
        let times = |all: &[f64]| all.iter().map(|&cold| Times { cold, warm: -cold }).collect::<Vec<_>>();
        assert_eq!(median(&times(&[5.0, 1.0, 3.0])), Times { cold: 3.0, warm: -3.0 });
        assert_eq!(median(&times(&[4.0, 1.0, 3.0, 9.0])), Times { cold: 3.5, warm: -3.5 });
    }
}
