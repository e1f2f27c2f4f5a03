//! The selected elements of a chunk, and their places in the caller's memory.

use std::ops::ControlFlow;

use hyperslab_error::Result;
use hyperslab_filters::gather::Axis;
use hyperslab_select::{Coord, Part, Tiling, inside};

use super::elements::{Axes, Goal, PieceElements, axes};
use super::pieces::ReadTask;
use crate::engine::destination::{Region, Shared};

/// A selection and its destination.
#[derive(Clone, Copy)]
pub(in crate::engine) struct User<'a> {
    pub(in crate::engine) cut: Cut<'a>,
    pub(in crate::engine) dst: Shared<'a>,
}

/// The users of a read that touch one chunk.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Users<'a> {
    /// All users of the read.
    all: &'a [User<'a>],
    /// The indices in `all` of the users that touch the chunk.
    touching: &'a [usize],
}

/// A selection, cut by chunks.
#[derive(Clone, Copy)]
pub(in crate::engine) enum Cut<'a> {
    /// A selection of any number of chunks.
    Tiling(&'a Tiling),
    /// A part of the only chunk that the read touches: a small read needs no tiling.
    Part(&'a Part),
}

impl User<'_> {
    /// Calls `f` with each selected part of the chunk at `coord`.
    pub(in crate::engine) fn parts(&self, coord: &[u64], mut f: impl FnMut(&Part)) {
        match self.cut {
            Cut::Tiling(tiling) => tiling.parts(coord, |part| f(&part)),
            Cut::Part(part) => f(part),
        }
    }

    /// Returns selected part number `number` of the chunk at `coord`.
    pub(in crate::engine) fn part(&self, coord: &[u64], number: usize) -> Option<Part> {
        let mut found = None;
        match self.cut {
            Cut::Tiling(tiling) => tiling.parts_from(coord, number, |part| {
                found = Some(part);
                ControlFlow::Break(())
            }),
            Cut::Part(part) => found = (number == 0).then(|| part.clone()),
        }
        found
    }

    /// Returns whether the selection of the chunk at `coord` is a list of several points.
    fn wants_points(&self, coord: &[u64]) -> bool {
        match self.cut {
            Cut::Tiling(tiling) => tiling.points(coord).is_some_and(|points| points.len() > 1),
            Cut::Part(_) => false,
        }
    }
}

impl<'a> Users<'a> {
    /// Returns the users of `all` that touch the chunk of a task; `touches` lists the users of all tasks.
    pub(in crate::engine) fn of(task: &ReadTask, touches: &'a [usize], all: &'a [User<'a>]) -> Self {
        Self { all, touching: &touches[task.users.clone()] }
    }

    pub(in crate::engine) fn iter(self) -> impl Iterator<Item = User<'a>> {
        self.touching.iter().map(move |&number| self.all[number])
    }

    /// Returns user number `number`.
    pub(in crate::engine) fn get(self, number: usize) -> Option<User<'a>> {
        self.touching.get(number).map(|&number| self.all[number])
    }

    /// Returns the user if there is only one.
    pub(in crate::engine) fn only(self) -> Option<User<'a>> {
        match self.touching {
            &[number] => Some(self.all[number]),
            _ => None,
        }
    }
}

/// Calls `f` with each selected box of the chunk at `coord`, its offset in the destination, and the
/// destination.
pub(in crate::engine) fn each_place(
    users: Users<'_>,
    coord: &[u64],
    mut f: impl FnMut(&[Axis], usize, &mut Region<'_>) -> Result<()>,
) -> Result<()> {
    let mut result = Ok(());
    for user in users.iter() {
        let mut region = user.dst.region();
        user.parts(coord, |part| {
            if result.is_ok() {
                result = f(&axes(part), destination_offset(part), &mut region);
            }
        });
    }
    result
}

/// The selection of one chunk.
#[derive(Debug)]
pub(in crate::engine) enum Wanted {
    /// The whole chunk, unconverted, into one run of the destination.
    Dense { offset: usize },
    /// One box; `is_all` if the box has all elements that the array has of the chunk.
    Box { axes: Axes, offset: usize, elements: usize, is_all: bool },
    /// Several boxes along the only dimension, by one user.
    Listed { elements: usize },
    /// Several boxes or points, by several users or one.
    Several { by_one: bool },
}

impl Wanted {
    /// Returns the selection by `users` of the chunk at `coord`, in an array of shape `extent`.
    pub(in crate::engine) fn of(
        users: Users<'_>,
        coord: &[u64],
        elements: &PieceElements,
        extent: &[u64],
    ) -> Self {
        let Some(user) = users.only() else { return Self::Several { by_one: false } };
        if user.wants_points(coord) {
            return Self::Several { by_one: true };
        }
        let (mut wanted, mut count) = (None, 0);
        user.parts(coord, |part| {
            count += part.count();
            wanted = Some(match &wanted {
                None => Self::part(part, coord, elements, extent),
                Some(_) if coord.len() == 1 => Self::Listed { elements: 0 },
                Some(_) => Self::Several { by_one: true },
            });
        });
        match wanted {
            // They are in a chunk in memory, so their number fits.
            Some(Self::Listed { .. }) => {
                Self::Listed { elements: usize::try_from(count).unwrap_or(usize::MAX) }
            }
            Some(wanted) => wanted,
            None => Self::Several { by_one: true },
        }
    }

    fn part(part: &Part, coord: &[u64], piece: &PieceElements, extent: &[u64]) -> Self {
        let axes = axes(part);
        let offset = destination_offset(part);
        let mut run = piece.memory_size;
        let dense = axes.iter().zip(&piece.shape).rev().all(|(axis, &len)| {
            let whole = axis.count == len && (len == 1 || axis.stride.unsigned_abs() == run);
            run = run.saturating_mul(len);
            whole
        });
        if dense && piece.goal == Goal::Copy {
            return Self::Dense { offset };
        }
        let shape: Coord = piece.shape.iter().map(|&len| len as u64).collect();
        let is_all = part.covers(&inside(coord, &shape, extent));
        Self::Box { offset, elements: axes.iter().map(|axis| axis.count).product(), axes, is_all }
    }
}

pub(in crate::engine) fn destination_offset(part: &Part) -> usize {
    // The offset is inside the destination, so it fits; `Region::run` checks it again.
    usize::try_from(part.dst).unwrap_or(usize::MAX)
}
