//! Sums, products and truth values.
//!
//! A sum of floats is kept in two parts: the rounded sum, and what rounding took away. So it is exact to a
//! few units in the last place, however many elements there are.

use num_complex::Complex;

use super::Cell;

/// Not a time.
const NAT: i64 = i64::MIN;

/// A sum, or a product, of integers of 64 bits, signed or not, that wraps around as NumPy's.
#[derive(Clone)]
pub(super) struct IntegerFold<const PRODUCT: bool>(i64);

impl<const PRODUCT: bool> Cell for IntegerFold<PRODUCT> {
    type Element = i64;
    type Result = i64;
    const START: Self = Self(PRODUCT as i64);

    fn one(&mut self, element: i64, _: u64) {
        self.0 = if PRODUCT { self.0.wrapping_mul(element) } else { self.0.wrapping_add(element) };
    }

    fn merge(&mut self, other: &Self) {
        self.one(other.0, 0);
    }

    fn result(&self, _: u64, _: u32) -> i64 {
        self.0
    }
}

/// A sum of durations: no time if one is none.
#[derive(Clone)]
pub(super) struct DurationSum(i64);

impl Cell for DurationSum {
    type Element = i64;
    type Result = i64;
    const START: Self = Self(0);

    fn one(&mut self, element: i64, _: u64) {
        self.0 = if self.0 == NAT || element == NAT { NAT } else { self.0.wrapping_add(element) };
    }

    fn merge(&mut self, other: &Self) {
        self.one(other.0, 0);
    }

    fn result(&self, _: u64, _: u32) -> i64 {
        self.0
    }
}

/// A sum, or a mean, of floats.
#[derive(Clone)]
pub(super) struct FloatSum<const MEAN: bool> {
    sum: f64,
    lost: f64,
}

/// Sums of this many elements are simple: eight sums side by side.
const BLOCK: usize = 128;

impl<const MEAN: bool> Cell for FloatSum<MEAN> {
    type Element = f64;
    type Result = f64;
    const START: Self = Self { sum: 0.0, lost: 0.0 };

    #[inline]
    fn one(&mut self, element: f64, _: u64) {
        let sum = self.sum + element;
        let there = sum - self.sum;
        self.lost += (self.sum - (sum - there)) + (element - there);
        self.sum = sum;
    }

    fn run(&mut self, elements: &[f64], at: u64) {
        for block in elements.chunks(BLOCK) {
            let (eights, rest) = block.as_chunks::<8>();
            let mut sums = [0.0_f64; 8];
            for eight in eights {
                sums.iter_mut().zip(eight).for_each(|(sum, element)| *sum += element);
            }
            let [a, b, c, d, e, f, g, h] = sums;
            self.one(((a + b) + (c + d)) + ((e + f) + (g + h)), at);
            for &element in rest {
                self.one(element, at);
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.one(other.sum, 0);
        self.lost += other.lost;
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of elements in memory are far below 2^53")]
    fn result(&self, count: u64, _: u32) -> f64 {
        // Beside an infinity, nothing was lost.
        let sum = if self.sum.is_finite() { self.sum + self.lost } else { self.sum };
        if MEAN { sum / count as f64 } else { sum }
    }
}

/// A sum, or a mean, of complex numbers.
#[derive(Clone)]
pub(super) struct ComplexSum<const MEAN: bool> {
    re: FloatSum<MEAN>,
    im: FloatSum<MEAN>,
}

impl<const MEAN: bool> Cell for ComplexSum<MEAN> {
    type Element = Complex<f64>;
    type Result = Complex<f64>;
    const START: Self = Self { re: FloatSum::START, im: FloatSum::START };

    #[inline]
    fn one(&mut self, element: Complex<f64>, at: u64) {
        self.re.one(element.re, at);
        self.im.one(element.im, at);
    }

    fn merge(&mut self, other: &Self) {
        self.re.merge(&other.re);
        self.im.merge(&other.im);
    }

    fn result(&self, count: u64, ddof: u32) -> Complex<f64> {
        Complex::new(self.re.result(count, ddof), self.im.result(count, ddof))
    }
}

/// A product of floats.
#[derive(Clone)]
pub(super) struct FloatProduct(f64);

impl Cell for FloatProduct {
    type Element = f64;
    type Result = f64;
    const START: Self = Self(1.0);

    fn one(&mut self, element: f64, _: u64) {
        self.0 *= element;
    }

    fn merge(&mut self, other: &Self) {
        self.0 *= other.0;
    }

    fn result(&self, _: u64, _: u32) -> f64 {
        self.0
    }
}

/// A product of complex numbers.
#[derive(Clone)]
pub(super) struct ComplexProduct(Complex<f64>);

impl Cell for ComplexProduct {
    type Element = Complex<f64>;
    type Result = Complex<f64>;
    const START: Self = Self(Complex::new(1.0, 0.0));

    fn one(&mut self, element: Complex<f64>, _: u64) {
        self.0 *= element;
    }

    fn merge(&mut self, other: &Self) {
        self.0 *= other.0;
    }

    fn result(&self, _: u64, _: u32) -> Complex<f64> {
        self.0
    }
}

/// Whether one element is true, or `ALL` are.
#[derive(Clone)]
pub(super) struct Truth<const ALL: bool>(bool);

impl<const ALL: bool> Cell for Truth<ALL> {
    type Element = u8;
    type Result = u8;
    const START: Self = Self(ALL);

    fn one(&mut self, element: u8, _: u64) {
        self.0 = if ALL { self.0 && element != 0 } else { self.0 || element != 0 };
    }

    fn merge(&mut self, other: &Self) {
        self.one(other.0.into(), 0);
    }

    fn result(&self, _: u64, _: u32) -> u8 {
        self.0.into()
    }
}
