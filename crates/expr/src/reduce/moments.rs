//! Variances: the mean and the sum of the squared distances from it, of each part, merged exactly.

use num_complex::Complex;

use super::Cell;

/// The variance of floats, or its root.
#[derive(Clone)]
pub(super) struct Moments<const ROOT: bool> {
    count: f64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
}

/// The mean of this many elements is found before their distances from it.
const BLOCK: usize = 1024;

impl<const ROOT: bool> Cell for Moments<ROOT> {
    type Element = f64;
    type Result = f64;
    const START: Self = Self { count: 0.0, mean: 0.0, squares: 0.0 };

    #[inline]
    fn one(&mut self, element: f64, _: u64) {
        self.count += 1.0;
        let before = element - self.mean;
        self.mean += before / self.count;
        self.squares += before * (element - self.mean);
    }

    #[expect(clippy::cast_precision_loss, reason = "a block has few elements")]
    fn run(&mut self, elements: &[f64], _: u64) {
        for block in elements.chunks(BLOCK) {
            let count = block.len() as f64;
            let mean = sum(block, |element| element) / count;
            let squares = sum(block, |element| (element - mean) * (element - mean));
            self.merge(&Self { count, mean, squares });
        }
    }

    fn merge(&mut self, other: &Self) {
        let count = self.count + other.count;
        if other.count == 0.0 {
            return;
        }
        let distance = other.mean - self.mean;
        self.squares += other.squares + distance * distance * (self.count * other.count / count);
        self.mean += distance * (other.count / count);
        self.count = count;
    }

    fn result(&self, _: u64, ddof: u32) -> f64 {
        // With no more elements than degrees of freedom, NumPy divides by zero.
        let variance = self.squares / (self.count - f64::from(ddof)).max(0.0);
        if ROOT { variance.sqrt() } else { variance }
    }
}

/// Returns the sum of a function of the elements, in eight sums side by side.
fn sum(elements: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let (eights, rest) = elements.as_chunks::<8>();
    let mut sums = [0.0_f64; 8];
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, &element)| *sum += f(element));
    }
    sums.iter().sum::<f64>() + rest.iter().map(|&element| f(element)).sum::<f64>()
}

/// The variance of complex numbers: the sum of those of their parts.
#[derive(Clone)]
pub(super) struct ComplexMoments<const ROOT: bool> {
    re: Moments<false>,
    im: Moments<false>,
}

impl<const ROOT: bool> Cell for ComplexMoments<ROOT> {
    type Element = Complex<f64>;
    type Result = f64;
    const START: Self = Self { re: Moments::START, im: Moments::START };

    fn one(&mut self, element: Complex<f64>, at: u64) {
        self.re.one(element.re, at);
        self.im.one(element.im, at);
    }

    fn merge(&mut self, other: &Self) {
        self.re.merge(&other.re);
        self.im.merge(&other.im);
    }

    fn result(&self, count: u64, ddof: u32) -> f64 {
        let variance = self.re.result(count, ddof) + self.im.result(count, ddof);
        if ROOT { variance.sqrt() } else { variance }
    }
}
