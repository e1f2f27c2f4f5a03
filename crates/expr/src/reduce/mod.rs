//! Reductions: the elements of an array, or those along an axis, become one value each.
//!
//! An [`Accumulator`] takes the elements of a part of the array, in parts of any length. Accumulators of
//! several parts are merged.

mod best;
mod moments;
mod sums;

use std::any::Any;

use bytemuck::Pod;

use self::best::{Complexes, Floats, Largest, PlaceOf, Signed, Smallest, Times, Unsigned};
use self::moments::{ComplexMoments, Moments};
use self::sums::{ComplexProduct, ComplexSum, DurationSum, FloatProduct, FloatSum, IntegerFold, Truth};
use crate::error::{Result, no_meaning};
use crate::kernels::{self, In};
use crate::tree::{Reduction, ReductionKind};
use crate::types::{Class, Type};
use crate::typing::part_of;

/// What a reduction has seen of one result.
trait Cell: Clone + Send + 'static {
    type Element: Pod;
    type Result: Pod;
    const START: Self;

    /// Takes an element with this position among those of the result.
    fn one(&mut self, element: Self::Element, at: u64);

    /// Takes elements, the first of which has this position.
    fn run(&mut self, elements: &[Self::Element], at: u64) {
        (at..).zip(elements).for_each(|(at, &element)| self.one(element, at));
    }

    fn merge(&mut self, other: &Self);

    /// Changes the position that a cell remembers, if it remembers one.
    fn relocate(&mut self, _place: &dyn Fn(u64) -> u64) {}

    /// Returns the result of `count` elements.
    fn result(&self, count: u64, ddof: u32) -> Self::Result;
}

/// The cells of all results, whatever their type is.
trait Cells: Send {
    fn add(&mut self, elements: &[u8], place: usize, along: usize, inner: usize);
    fn merge(&mut self, other: &dyn Cells, cell: &dyn Fn(usize) -> usize);
    fn relocate(&mut self, place: &dyn Fn(u64) -> u64);
    fn results(&self, count: u64, ddof: u32) -> Vec<u8>;
    fn as_any(&self) -> &dyn Any;
}

impl<C: Cell> Cells for Vec<C> {
    fn add(&mut self, elements: &[u8], mut place: usize, along: usize, inner: usize) {
        let elements = In { bytes: elements, is_one: false }.typed::<C::Element>();
        let mut left = &*elements;
        while !left.is_empty() {
            let (outer, at, within) = (place / (along * inner), place / inner % along, place % inner);
            let len = left.len().min(if inner == 1 { along - at } else { inner - within });
            let (now, rest) = left.split_at(len);
            let first = outer * inner + within;
            if inner == 1 {
                self[first].run(now, at as u64);
            } else {
                self[first..].iter_mut().zip(now).for_each(|(cell, &element)| cell.one(element, at as u64));
            }
            (left, place) = (rest, place + len);
        }
    }

    fn merge(&mut self, other: &dyn Cells, cell: &dyn Fn(usize) -> usize) {
        let others = other.as_any().downcast_ref::<Self>().into_iter().flatten();
        others.enumerate().for_each(|(number, other)| self[cell(number)].merge(other));
    }

    fn relocate(&mut self, place: &dyn Fn(u64) -> u64) {
        for cell in self {
            cell.relocate(place);
        }
    }

    fn results(&self, count: u64, ddof: u32) -> Vec<u8> {
        let results: Vec<C::Result> = self.iter().map(|cell| cell.result(count, ddof)).collect();
        bytemuck::cast_slice(&results).to_vec()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// What a reduction has seen of the elements of an array, or of a part of it.
///
/// ```
/// use hyperslab_expr::{Accumulator, Reduction, ReductionKind, Type};
///
/// let reduction = Reduction { kind: ReductionKind::Sum, axis: Some(1), ddof: 0, keepdims: false };
/// // The sums of the rows of two arrays of shape (2, 3): one array has the elements left of the other's.
/// let mut left = Accumulator::new(reduction, Type::U64, [2, 3, 1])?;
/// let mut right = Accumulator::new(reduction, Type::U64, [2, 3, 1])?;
/// let bytes = |values: [u64; 6]| values.map(u64::to_ne_bytes).concat();
/// left.add(&bytes([1, 2, 3, 4, 5, 6]), 0);
/// right.add(&bytes([10, 20, 30, 40, 50, 60]), 0);
/// left.merge(&right, &|cell| cell);
/// assert_eq!(left.results(6), [66_u64, 165].map(u64::to_ne_bytes).concat());
/// # Ok::<(), hyperslab_expr::Error>(())
/// ```
pub struct Accumulator {
    cells: Box<dyn Cells>,
    along: usize,
    inner: usize,
    ddof: u32,
    /// The type of the cells' results, and that of the reduction's.
    wide: Type,
    result: Type,
}

impl Accumulator {
    /// Returns an accumulator for elements of type `of`, in an array of shape `[outer, along, inner]` in
    /// row-major order. It has `outer * inner` results.
    ///
    /// Errors: `Type` if such elements have no such reduction.
    pub fn new(reduction: Reduction, of: Type, [outer, along, inner]: [usize; 3]) -> Result<Self> {
        let Types { wide, result, .. } = types(reduction.kind, of)?;
        let cells = cells(reduction.kind, of, outer * inner)?;
        Ok(Self { cells, along: along.max(1), inner: inner.max(1), ddof: reduction.ddof, wide, result })
    }

    /// Takes elements of the [element type](element_type), the first of which has the number `place` in the
    /// array.
    pub fn add(&mut self, elements: &[u8], place: usize) {
        self.cells.add(elements, place, self.along, self.inner);
    }

    /// Takes what another accumulator of the same reduction has seen. `cell` returns the number of the result
    /// here that a result of the other one belongs to.
    pub fn merge(&mut self, other: &Self, cell: &dyn Fn(usize) -> usize) {
        self.cells.merge(&*other.cells, cell);
    }

    /// Changes the positions that `argmin` and `argmax` return. They are those along the axis at first.
    /// The new ones must have the same order.
    pub fn relocate(&mut self, place: &dyn Fn(u64) -> u64) {
        self.cells.relocate(place);
    }

    /// Returns the results, each of `count` elements.
    #[must_use]
    pub fn results(&self, count: u64) -> Vec<u8> {
        let wide = self.cells.results(count, self.ddof);
        if self.wide.size() == self.result.size() {
            return wide;
        }
        let len = wide.len() / self.wide.size() * self.result.size();
        let mut words = vec![0_u64; len.div_ceil(8)];
        let out = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..len];
        kernels::cast(self.wide, self.result, In { bytes: &wide, is_one: false }, out);
        out.to_vec()
    }
}

/// Returns the type of the elements that an [`Accumulator`] takes, for elements of type `of`.
///
/// Errors: `Type` if such elements have no such reduction.
pub fn element_type(kind: ReductionKind, of: Type) -> Result<Type> {
    types(kind, of).map(|types| types.element)
}

/// Returns the type of the results, as NumPy has it.
///
/// Errors: `Type` if elements of type `of` have no such reduction.
pub fn result_type(kind: ReductionKind, of: Type) -> Result<Type> {
    types(kind, of).map(|types| types.result)
}

/// Returns whether a reduction has a result for no elements.
#[must_use]
pub fn has_identity(kind: ReductionKind) -> bool {
    use ReductionKind::{ArgMax, ArgMin, Max, Min};
    !matches!(kind, Min | Max | ArgMin | ArgMax)
}

/// The types of a reduction.
struct Types {
    element: Type,
    /// The type of a cell's result.
    wide: Type,
    result: Type,
}

fn types(kind: ReductionKind, of: Type) -> Result<Types> {
    use ReductionKind as K;
    let class = of.class();
    let refused = |why: &str| no_meaning(format!("{} of {of}", kind.name()), why);
    let is_time = matches!(class, Class::Datetime | Class::Timedelta);
    let of_times = matches!(kind, K::Min | K::Max | K::ArgMin | K::ArgMax)
        || (kind == K::Sum && class == Class::Timedelta);
    if (is_time && !of_times) || (!is_time && !of.is_number()) {
        return refused("its elements must be numbers");
    }
    let wide = match class {
        Class::Float => Type::F64,
        Class::Complex => Type::C128,
        Class::Unsigned => Type::U64,
        _ => Type::I64,
    };
    let real = if class <= Class::Unsigned { Type::F64 } else { of };
    let float = if class == Class::Complex { Type::C128 } else { Type::F64 };
    let (element, wide, result) = match kind {
        K::Sum | K::Prod if class <= Class::Unsigned => (wide, wide, wide),
        K::Sum | K::Prod | K::Min | K::Max => (wide, wide, of),
        K::ArgMin | K::ArgMax => (wide, Type::I64, Type::I64),
        K::Mean => (float, float, real),
        K::Std | K::Var => (float, Type::F64, part_of(real)),
        K::Any | K::All => (Type::Bool, Type::Bool, Type::Bool),
    };
    Ok(Types { element, wide, result })
}

fn cells(kind: ReductionKind, of: Type, count: usize) -> Result<Box<dyn Cells>> {
    use ReductionKind as K;
    fn start<C: Cell>(count: usize) -> Result<Box<dyn Cells>> {
        let mut cells = Vec::new();
        if cells.try_reserve_exact(count).is_err() {
            return no_meaning(format!("a reduction with {count} results"), "they must fit into memory");
        }
        cells.resize(count, C::START);
        Ok(Box::new(cells))
    }
    let class = of.class();
    let is_complex = class == Class::Complex;
    match (kind, class) {
        (K::Sum, Class::Timedelta) => start::<DurationSum>(count),
        (K::Sum, Class::Bool | Class::Signed | Class::Unsigned) => start::<IntegerFold<false>>(count),
        (K::Prod, Class::Bool | Class::Signed | Class::Unsigned) => start::<IntegerFold<true>>(count),
        (K::Sum, _) if is_complex => start::<ComplexSum<false>>(count),
        (K::Mean, _) if is_complex => start::<ComplexSum<true>>(count),
        (K::Prod, _) if is_complex => start::<ComplexProduct>(count),
        (K::Sum, _) => start::<FloatSum<false>>(count),
        (K::Mean, _) => start::<FloatSum<true>>(count),
        (K::Prod, _) => start::<FloatProduct>(count),
        (K::Any, _) => start::<Truth<false>>(count),
        (K::All, _) => start::<Truth<true>>(count),
        (K::Var, _) if is_complex => start::<ComplexMoments<false>>(count),
        (K::Std, _) if is_complex => start::<ComplexMoments<true>>(count),
        (K::Var, _) => start::<Moments<false>>(count),
        (K::Std, _) => start::<Moments<true>>(count),
        (K::Min, Class::Bool | Class::Signed) => start::<Smallest<Signed>>(count),
        (K::Min, Class::Unsigned) => start::<Smallest<Unsigned>>(count),
        (K::Min, Class::Float) => start::<Smallest<Floats>>(count),
        (K::Min, Class::Complex) => start::<Smallest<Complexes>>(count),
        (K::Min, _) => start::<Smallest<Times>>(count),
        (K::Max, Class::Bool | Class::Signed) => start::<Largest<Signed>>(count),
        (K::Max, Class::Unsigned) => start::<Largest<Unsigned>>(count),
        (K::Max, Class::Float) => start::<Largest<Floats>>(count),
        (K::Max, Class::Complex) => start::<Largest<Complexes>>(count),
        (K::Max, _) => start::<Largest<Times>>(count),
        (K::ArgMin, Class::Bool | Class::Signed) => start::<PlaceOf<Smallest<Signed>>>(count),
        (K::ArgMin, Class::Unsigned) => start::<PlaceOf<Smallest<Unsigned>>>(count),
        (K::ArgMin, Class::Float) => start::<PlaceOf<Smallest<Floats>>>(count),
        (K::ArgMin, Class::Complex) => start::<PlaceOf<Smallest<Complexes>>>(count),
        (K::ArgMin, _) => start::<PlaceOf<Smallest<Times>>>(count),
        (K::ArgMax, Class::Bool | Class::Signed) => start::<PlaceOf<Largest<Signed>>>(count),
        (K::ArgMax, Class::Unsigned) => start::<PlaceOf<Largest<Unsigned>>>(count),
        (K::ArgMax, Class::Float) => start::<PlaceOf<Largest<Floats>>>(count),
        (K::ArgMax, Class::Complex) => start::<PlaceOf<Largest<Complexes>>>(count),
        (K::ArgMax, _) => start::<PlaceOf<Largest<Times>>>(count),
    }
}
