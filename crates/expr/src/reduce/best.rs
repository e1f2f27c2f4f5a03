//! The smallest and the largest element, and their positions. An element that is no number, or no time, is
//! both; of equal elements the first counts.

use std::marker::PhantomData;

use bytemuck::Pod;
use num_complex::Complex;

use super::Cell;

/// An order of elements.
pub(super) trait ElementOrder: Clone + Send + 'static {
    type Element: Pod + Send;
    /// The element of a cell that has seen none.
    const NONE: Self::Element;
    fn less(a: &Self::Element, b: &Self::Element) -> bool;
    /// Whether the element is no number, or no time.
    fn is_none(_: &Self::Element) -> bool {
        false
    }
}

#[derive(Clone)]
pub(super) struct Signed;

impl ElementOrder for Signed {
    type Element = i64;
    const NONE: i64 = 0;
    fn less(a: &i64, b: &i64) -> bool {
        a < b
    }
}

#[derive(Clone)]
pub(super) struct Unsigned;

impl ElementOrder for Unsigned {
    type Element = u64;
    const NONE: u64 = 0;
    fn less(a: &u64, b: &u64) -> bool {
        a < b
    }
}

#[derive(Clone)]
pub(super) struct Floats;

impl ElementOrder for Floats {
    type Element = f64;
    const NONE: f64 = 0.0;
    fn less(a: &f64, b: &f64) -> bool {
        a < b
    }
    fn is_none(element: &f64) -> bool {
        element.is_nan()
    }
}

/// Complex numbers by their real parts, then by their imaginary ones.
#[derive(Clone)]
pub(super) struct Complexes;

impl ElementOrder for Complexes {
    type Element = Complex<f64>;
    const NONE: Complex<f64> = Complex::new(0.0, 0.0);
    #[expect(clippy::float_cmp, reason = "only equal real parts leave the decision to the imaginary ones")]
    fn less(a: &Complex<f64>, b: &Complex<f64>) -> bool {
        a.re < b.re || (a.re == b.re && a.im < b.im)
    }
    fn is_none(element: &Complex<f64>) -> bool {
        element.re.is_nan() || element.im.is_nan()
    }
}

/// Times and durations, whose smallest integer is no time.
#[derive(Clone)]
pub(super) struct Times;

impl ElementOrder for Times {
    type Element = i64;
    const NONE: i64 = 0;
    fn less(a: &i64, b: &i64) -> bool {
        a < b
    }
    fn is_none(element: &i64) -> bool {
        *element == i64::MIN
    }
}

/// The smallest element.
pub(super) type Smallest<O> = Best<O, false>;
/// The largest element.
pub(super) type Largest<O> = Best<O, true>;

/// The smallest or the largest element.
#[derive(Clone)]
pub(super) struct Best<O: ElementOrder, const LARGEST: bool> {
    element: O::Element,
    /// The position of the element. Without an element it is the largest integer.
    at: u64,
    order: PhantomData<O>,
}

impl<O: ElementOrder, const LARGEST: bool> Best<O, LARGEST> {
    /// Returns whether an element replaces this one. One at an earlier position replaces an equal one.
    #[inline]
    fn gives_way(&self, element: &O::Element, at: u64) -> bool {
        if self.at == u64::MAX {
            return true;
        }
        let (one, other) = if LARGEST { (&self.element, element) } else { (element, &self.element) };
        match (O::is_none(&self.element), O::is_none(element)) {
            (false, false) => O::less(one, other) || (at < self.at && !O::less(other, one)),
            (true, true) => at < self.at,
            (_, is_none) => is_none,
        }
    }
}

impl<O: ElementOrder, const LARGEST: bool> Cell for Best<O, LARGEST> {
    type Element = O::Element;
    type Result = O::Element;
    const START: Self = Self { element: O::NONE, at: u64::MAX, order: PhantomData };

    #[inline]
    fn one(&mut self, element: O::Element, at: u64) {
        if self.gives_way(&element, at) {
            (self.element, self.at) = (element, at);
        }
    }

    fn run(&mut self, elements: &[O::Element], at: u64) {
        // Most elements are neither: a loop without positions finds the blocks that matter.
        const BLOCK: usize = 64;
        for (number, block) in (0..).zip(elements.chunks(BLOCK)) {
            let matters = self.at == u64::MAX
                || block.iter().fold(false, |any, element| {
                    let (one, other) =
                        if LARGEST { (&self.element, element) } else { (element, &self.element) };
                    any | O::less(one, other) | O::is_none(element)
                });
            if matters {
                let first = at + number * BLOCK as u64;
                (first..).zip(block).for_each(|(at, &element)| self.one(element, at));
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        if other.at != u64::MAX {
            self.one(other.element, other.at);
        }
    }

    fn relocate(&mut self, place: &dyn Fn(u64) -> u64) {
        if self.at != u64::MAX {
            self.at = place(self.at);
        }
    }

    fn result(&self, _: u64, _: u32) -> O::Element {
        self.element
    }
}

/// The position of the smallest or the largest element.
#[derive(Clone)]
pub(super) struct PlaceOf<B>(B);

impl<O: ElementOrder, const LARGEST: bool> Cell for PlaceOf<Best<O, LARGEST>> {
    type Element = O::Element;
    type Result = i64;
    const START: Self = Self(Best::START);

    #[inline]
    fn one(&mut self, element: O::Element, at: u64) {
        self.0.one(element, at);
    }

    fn run(&mut self, elements: &[O::Element], at: u64) {
        self.0.run(elements, at);
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }

    fn relocate(&mut self, place: &dyn Fn(u64) -> u64) {
        self.0.relocate(place);
    }

    fn result(&self, _: u64, _: u32) -> i64 {
        i64::try_from(self.0.at).unwrap_or(i64::MAX)
    }
}
