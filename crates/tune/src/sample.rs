//! The part of a dataset that is written in other chunk shapes.

use anyhow::{Context as _, bail};
use hyperslab::{Dataset, Selection};
use hyperslab::{Dim, Slab};

/// A box from the middle of a dataset, and its elements.
#[derive(Debug)]
pub(crate) struct Sample {
    /// The shape of the box.
    pub(crate) shape: Vec<u64>,
    /// The elements, as they are stored.
    pub(crate) bytes: Vec<u8>,
}

impl Sample {
    /// Reads a box of this shape from the middle of the dataset.
    pub(crate) fn read(dataset: &Dataset, shape: Vec<u64>) -> anyhow::Result<Self> {
        let extent = dataset.shape();
        let dims = extent.iter().zip(&shape);
        let middle =
            dims.map(|(&len, &side)| Dim { start: (len - side) / 2, step: 1, count: side }).collect();
        let what = Selection::Slab(Slab(middle));
        let len = usize::try_from(what.count(&extent)?).ok();
        let len = len.and_then(|count| count.checked_mul(dataset.element_size()));
        let mut bytes = Vec::new();
        if len.is_none_or(|len| bytes.try_reserve_exact(len).is_err()) {
            bail!("the sample does not fit in memory; ask for a smaller one with --sample");
        }
        bytes.resize(len.unwrap_or_default(), 0);
        dataset.read_into(&what, &mut bytes).context("reading the sample")?;
        Ok(Self { shape, bytes })
    }

    /// Returns whether the sample is all of a dataset of this shape.
    pub(crate) fn is_all(&self, shape: &[u64]) -> bool {
        self.shape == shape
    }
}

/// Returns the shape of a box of at most `most` elements, with about the proportions of `shape`. Along each
/// axis the box has at least the length in `least` (or the whole axis), if such a box fits.
pub(crate) fn proportional(shape: &[u64], least: &[u64], most: u64) -> Vec<u64> {
    let floor: Vec<u64> = shape.iter().zip(least).map(|(&len, &least)| least.clamp(1, len.max(1))).collect();
    let count = |sides: &[u64]| sides.iter().fold(1_u64, |all, &side| all.saturating_mul(side));
    let scaled = |scale: f64, floor: &[u64]| -> Vec<u64> {
        let side = |(&len, &floor): (&u64, &u64)| part(len, scale).max(floor).min(len.max(1));
        shape.iter().zip(floor).map(side).collect()
    };
    if count(shape) <= most {
        return shape.to_vec();
    }
    // If the least lengths do not fit, only the proportions count.
    let ones = vec![1; shape.len()];
    let floor = if count(&floor) <= most { floor } else { ones };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if count(&scaled(middle, &floor)) <= most { low = middle } else { high = middle }
    }
    scaled(low, &floor)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of the number, about"
)]
fn part(len: u64, scale: f64) -> u64 {
    (len as f64 * scale) as u64
}

/// The number of bisections, which determines a scale more precisely than a side has digits.
const BISECTIONS: u32 = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_proportions_of_the_dataset_and_fits() {
        assert_eq!(proportional(&[100, 200, 400], &[1; 3], 8_000_000), [100, 200, 400]);
        let half = proportional(&[1000, 2000, 4000], &[1; 3], 1_000_000_000);
        assert!(
            half.iter().zip([500, 1000, 2000]).all(|(side, expected)| side.abs_diff(expected) <= 1),
            "{half:?}"
        );
        let thin = proportional(&[4, 100_000, 100_000], &[4, 256, 256], 1_000_000);
        assert_eq!(thin, [4, 500, 500]);
        let long = proportional(&[10_000, 300, 300], &[256; 3], 30_000_000);
        assert!(
            long[1] >= 256 && long[2] >= 256 && long[0] > 256 && long.iter().product::<u64>() <= 30_000_000,
            "{long:?}"
        );
        let too_long = proportional(&[10_000; 3], &[5_000; 3], 1_000_000);
        assert!(too_long.iter().all(|side| (99..=100).contains(side)), "{too_long:?}");
    }
}
