//! Accesses: the part of a dataset that one read takes, and how often such reads occur relative to others.

use fastrand::Rng;
use hyperslab::Selection;
use hyperslab_select::{Axis, Dim, Slab};
use hyperslab_terminal::text::shape as tuple;

use crate::error::WrongArgument;

/// Reads of one shape, at any position in a dataset.
#[derive(Debug, Clone)]
pub struct Access {
    /// The name, as given by the user.
    pub name: String,
    /// The frequency, relative to the other accesses.
    pub weight: f64,
    /// The indices that a read takes along each axis.
    pub(crate) axes: Vec<Along>,
}

/// The indices that a read takes along one axis, relative to the first. The first may be any index for which
/// all others are in bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Along {
    /// `count` indices at distance `step`.
    Range { count: u64, step: u64 },
    /// These indices, of which the least is 0.
    List(Vec<u64>),
}

impl Along {
    /// One index.
    pub(crate) const ONE: Self = Self::Range { count: 1, step: 1 };

    /// Returns all indices of an axis.
    pub(crate) const fn all(len: u64) -> Self {
        Self::Range { count: len, step: 1 }
    }

    /// Returns the number of indices.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Range { count, .. } => *count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// Returns the length from the first index to the last, inclusive.
    pub(crate) fn reach(&self) -> u64 {
        match self {
            Self::Range { count, step } => (count.saturating_sub(1)).saturating_mul(*step).saturating_add(1),
            Self::List(list) => list.iter().max().map_or(0, |last| last.saturating_add(1)),
        }
    }

    /// Returns the same indices on an axis that is cut from `len` to `part` indices. All indices remain all,
    /// and indices out of bounds are dropped.
    fn within(&self, len: u64, part: u64) -> Self {
        match self {
            _ if *self == Self::all(len) => Self::all(part),
            Self::Range { count, step } => {
                Self::Range { count: (*count).min((part.saturating_sub(1)) / step + 1), step: *step }
            }
            Self::List(list) => Self::List(list.iter().copied().filter(|index| *index < part).collect()),
        }
    }

    /// Returns the indices with `start` added.
    fn from(&self, start: u64) -> Axis {
        match self {
            Self::Range { count, step } => Axis::Range(Dim { start, step: *step, count: *count }),
            Self::List(list) => {
                Axis::from_indices(list.iter().map(|index| start + index).collect::<Vec<_>>())
            }
        }
    }
}

impl Access {
    /// Returns the number of elements of a read.
    pub fn elements(&self) -> u64 {
        self.axes.iter().map(Along::count).fold(1, u64::saturating_mul)
    }

    /// Returns the same access to a box of the shape `part`, cut from a dataset of this shape.
    pub(crate) fn within(&self, shape: &[u64], part: &[u64]) -> Self {
        let sides = self.axes.iter().zip(shape.iter().zip(part));
        Self { axes: sides.map(|(along, (&len, &part))| along.within(len, part)).collect(), ..self.clone() }
    }

    /// Returns a read at a random position in a dataset of this shape.
    pub(crate) fn somewhere(&self, shape: &[u64], rng: &mut Rng) -> Selection {
        let axes: Vec<Axis> = self
            .axes
            .iter()
            .zip(shape)
            .map(|(along, &len)| along.from(rng.u64(0..=len.saturating_sub(along.reach()))))
            .collect();
        Selection::from_axes(axes)
    }
}

/// Parses the accesses to a dataset of this shape. `names` are the names of its axes, some of which have
/// none. Each text is a list of `NAME:WEIGHT` and `[SELECTION]:WEIGHT`. Without texts, the accesses are one
/// plane across each axis.
pub fn accesses(
    texts: &[String],
    shape: &[u64],
    names: &[Option<String>],
) -> Result<Vec<Access>, WrongArgument> {
    let mut found = Vec::new();
    for text in texts {
        for item in items(text) {
            found.push(one(item.trim(), shape, names)?);
        }
    }
    if found.is_empty() {
        found.extend((0..shape.len()).map(|axis| plane(&label(axis, shape.len(), names), axis, 1.0, shape)));
    }
    Ok(found)
}

/// Returns the access of a plane across an axis.
pub(crate) fn plane(name: &str, axis: usize, weight: f64, shape: &[u64]) -> Access {
    let along = |(number, &len)| if number == axis { Along::ONE } else { Along::all(len) };
    Access { name: name.to_owned(), weight, axes: shape.iter().enumerate().map(along).collect() }
}

/// Splits a list at its commas, except those in brackets.
fn items(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .collect()
}

fn one(item: &str, shape: &[u64], names: &[Option<String>]) -> Result<Access, WrongArgument> {
    let (what, weight) = match item.rsplit_once(':') {
        // The last colon of `[0:10]` is part of the selection.
        Some((what, weight)) if !weight.contains(']') => (what.trim(), self::weight(item, weight)?),
        _ => (item, 1.0),
    };
    if what.starts_with('[') {
        return Ok(Access { name: what.to_owned(), weight, axes: axes(what, shape)? });
    }
    match axis(what, shape.len(), names) {
        Some(axis) => Ok(plane(what, axis, weight, shape)),
        None => Err(WrongArgument(format!(
            "--access {item}: there is no axis {what:?}; the axes are {}; write a selection in brackets, as in '[0, :, 10:20]'",
            known(shape.len(), names).join(", ")
        ))),
    }
}

fn weight(item: &str, text: &str) -> Result<f64, WrongArgument> {
    let weight = text.trim().parse().ok().filter(|weight: &f64| weight.is_finite() && *weight > 0.0);
    weight.ok_or_else(|| {
        WrongArgument(format!(
            "--access {item}: the weight {text:?} is not a positive number; omit accesses that never occur"
        ))
    })
}

/// Parses a selection into the indices along each axis.
fn axes(text: &str, shape: &[u64]) -> Result<Vec<Along>, WrongArgument> {
    let wrong = |why: String| {
        WrongArgument(format!("--access '{text}' of an array of shape {}: {why}", tuple(shape)))
    };
    let parsed = hyperslab_select::parse(text, shape).map_err(|error| wrong(error.to_string()))?;
    let range = |dim: &Dim| Along::Range { count: dim.count, step: dim.step.max(1) };
    let axes: Vec<Along> = match &parsed.selection {
        Selection::Slab(Slab(dims)) => dims.iter().map(range).collect(),
        Selection::Grid(axes) => axes
            .iter()
            .map(|axis| match axis {
                Axis::Range(dim) => range(dim),
                Axis::List(list) => {
                    let least = list.iter().min().copied().unwrap_or_default();
                    Along::List(list.iter().map(|index| index - least).collect())
                }
            })
            .collect(),
        _ => shape.iter().map(|&len| Along::all(len)).collect(),
    };
    if axes.iter().any(|along| along.count() == 0) {
        return Err(wrong("it selects nothing; select at least one element".to_owned()));
    }
    Ok(axes)
}

/// Returns the axis with this name.
fn axis(name: &str, rank: usize, names: &[Option<String>]) -> Option<usize> {
    let named = names.iter().position(|known| known.as_deref() == Some(name));
    let numbered = || name.strip_prefix("axis")?.parse().ok().filter(|axis| *axis < rank);
    named.or_else(numbered).or_else(|| (name == LAST).then(|| rank.checked_sub(1)).flatten())
}

/// Returns the name of an axis, or `axis` with its number.
fn label(axis: usize, rank: usize, names: &[Option<String>]) -> String {
    let named = names.get(axis).cloned().flatten();
    debug_assert!(axis < rank);
    named.unwrap_or_else(|| format!("axis{axis}"))
}

/// Returns all names of all axes.
fn known(rank: usize, names: &[Option<String>]) -> Vec<String> {
    let named = names.iter().flatten().cloned();
    let numbered = (0..rank).map(|axis| format!("axis{axis}"));
    named.chain(numbered).chain([format!("{LAST} (the last)")]).collect()
}

/// A name that the last axis always has. In a seismic cube, a plane across that axis is a slice.
const LAST: &str = "slice";

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<Option<String>> {
        vec![Some("inline".to_owned()), None, Some("twt".to_owned())]
    }

    fn parsed(texts: &[&str]) -> Result<Vec<(String, f64, Vec<Along>)>, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let accesses = accesses(&texts, &[10, 20, 30], &names()).map_err(|error| error.to_string())?;
        Ok(accesses.into_iter().map(|access| (access.name, access.weight, access.axes)).collect())
    }

    #[test]
    fn names_numbers_and_selections_are_parsed_as_accesses() {
        let [whole0, whole1, whole2] = [10, 20, 30].map(Along::all);
        let inline = vec![Along::ONE, whole1.clone(), whole2.clone()];
        let slice = vec![whole0.clone(), whole1.clone(), Along::ONE];
        let block = vec![Along::Range { count: 4, step: 2 }, Along::ONE, whole2.clone()];
        let list = vec![Along::List(vec![3, 0, 4]), whole1, Along::Range { count: 3, step: 1 }];
        let expected = vec![
            ("inline".to_owned(), 1.0, inline.clone()),
            ("twt".to_owned(), 2.5, slice.clone()),
            ("slice".to_owned(), 1.0, slice),
            ("axis0".to_owned(), 3.0, inline),
            ("[1:9:2, 5]".to_owned(), 5.0, block),
            ("[[4, 1, 5], :, 0:3]".to_owned(), 1.0, list),
        ];
        let texts = ["inline:1,twt: 2.5", "slice", "axis0:3,[1:9:2, 5]:5, [[4, 1, 5], :, 0:3]"];
        assert_eq!(parsed(&texts), Ok(expected));
    }

    #[test]
    fn without_accesses_every_axis_is_crossed_once() {
        let all = parsed(&[]).unwrap();
        let named: Vec<(&str, f64)> = all.iter().map(|(name, weight, _)| (name.as_str(), *weight)).collect();
        assert_eq!(named, [("inline", 1.0), ("axis1", 1.0), ("twt", 1.0)]);
    }

    #[test]
    fn errors_of_wrong_accesses_say_what_is_right() {
        let cases = [
            ("depth:1", "the axes are inline, twt, axis0, axis1, axis2, slice (the last)"),
            ("axis3", "there is no axis \"axis3\""),
            ("inline:0", "is not a positive number"),
            ("inline:-1", "is not a positive number"),
            ("inline:nan", "is not a positive number"),
            ("inline:", "is not a positive number"),
            ("", "there is no axis \"\""),
            ("[10]:1", "index 10 is out of bounds for axis 0 with size 10"),
            ("[3:3]", "selects nothing"),
            ("[1, 2", "there is no axis"),
        ];
        for (text, message) in cases {
            match parsed(&[text]) {
                Err(error) if error.contains(message) => {}
                Err(error) if text == "[1, 2" => assert!(error.contains("[1, 2"), "{error}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_read_is_in_bounds_at_every_position() {
        let mut rng = Rng::with_seed(1);
        let accesses = accesses(&["[1:9:2, 5, [7, 3]]".to_owned()], &[10, 20, 30], &[]).unwrap();
        let mut firsts = std::collections::HashSet::new();
        for _ in 0..200 {
            let selection = accesses[0].somewhere(&[10, 20, 30], &mut rng);
            selection.check(&[10, 20, 30]).unwrap();
            assert_eq!(selection.count(&[10, 20, 30]), Ok(accesses[0].elements()));
            let Selection::Grid(axes) = selection else { panic!("a list must become a grid") };
            let Axis::Range(dim) = &axes[0] else { panic!("a range must stay a range") };
            firsts.insert(dim.start);
        }
        assert_eq!(firsts.len(), 4, "every first index from 0 to 3 must occur");
    }

    #[test]
    fn an_access_to_a_part_is_in_bounds_and_whole_axes_stay_whole() {
        let access = &accesses(&["[1:9:2, :, [7, 3, 29]]".to_owned()], &[10, 20, 30], &[]).unwrap()[0];
        let part = access.within(&[10, 20, 30], &[4, 5, 6]);
        let expected = [Along::Range { count: 2, step: 2 }, Along::all(5), Along::List(vec![4, 0])];
        assert_eq!(part.axes, expected);
    }
}
