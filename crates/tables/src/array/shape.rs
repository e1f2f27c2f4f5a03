//! Shapes: broadcasting, and copies between row-major arrays.

use super::parts::Part;
use crate::error::{Error, Result};

/// Returns the size of an array in bytes.
pub(super) fn len(shape: &[u64], size: usize) -> Option<usize> {
    let bytes = shape.iter().try_fold(size as u64, |bytes, len| bytes.checked_mul(*len))?;
    usize::try_from(bytes).ok()
}

/// Returns the shape to which arrays are broadcast by NumPy's rules.
///
/// Errors: `Argument` if the shapes do not fit.
pub(super) fn broadcast<'s>(shapes: impl Iterator<Item = (&'s str, &'s [u64])>) -> Result<Vec<u64>> {
    let shapes: Vec<(&str, &[u64])> = shapes.collect();
    let mut all: Vec<u64> = Vec::new();
    for (_, shape) in &shapes {
        if shape.len() > all.len() {
            all.splice(0..0, vec![1; shape.len() - all.len()]);
        }
        let skipped = all.len() - shape.len();
        for (common, len) in all[skipped..].iter_mut().zip(*shape) {
            if *common == 1 {
                *common = *len;
            } else if *len != 1 && len != common {
                let shapes: Vec<String> =
                    shapes.iter().map(|(name, shape)| format!("{name} {}", written(shape))).collect();
                let why = format!("their shapes cannot be broadcast together: {}", shapes.join(", "));
                return Err(Error::Argument { what: "the operands".to_owned(), why });
            }
        }
    }
    Ok(all)
}

/// Returns a shape as Python writes it.
pub(super) fn written(shape: &[u64]) -> String {
    match shape {
        [len] => format!("({len},)"),
        shape => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Appends the elements of a part of an array of this shape to `out`.
pub(super) fn gather(bytes: &[u8], shape: &[u64], part: &Part, size: usize, out: &mut Vec<u8>) {
    match (part.0.split_first(), part.run_in(shape)) {
        (_, Some(start)) => out.extend_from_slice(&bytes[start * size..(start + part.len()) * size]),
        (Some((dim, rest)), None) => {
            let (rest, inner) = (Part(rest.to_vec()), &shape[1..]);
            let row = len(inner, size).unwrap_or(usize::MAX);
            for at in dim.iter() {
                // The index is inside the array, which is in memory.
                let start = usize::try_from(at).unwrap_or(usize::MAX) * row;
                gather(&bytes[start..start + row], inner, &rest, size, out);
            }
        }
        (None, None) => {}
    }
}

/// Copies the elements of a row-major array of shape `have` to one of shape `want`. Axes of length one are
/// repeated.
pub(super) fn spread(from: &[u8], have: &[usize], want: &[usize], size: usize, out: &mut [u8]) {
    let (Some((&own, have_inner)), Some((&count, want_inner))) = (have.split_first(), want.split_first())
    else {
        out[..size].copy_from_slice(&from[..size]);
        return;
    };
    if have == want {
        let len = size * want.iter().product::<usize>();
        out[..len].copy_from_slice(&from[..len]);
        return;
    }
    let from_row = size * have_inner.iter().product::<usize>();
    let row = size * want_inner.iter().product::<usize>();
    if own == count {
        for at in 0..count {
            spread(&from[at * from_row..], have_inner, want_inner, size, &mut out[at * row..(at + 1) * row]);
        }
        return;
    }
    if count == 0 {
        return;
    }
    spread(from, have_inner, want_inner, size, &mut out[..row]);
    let (mut done, all) = (row, count * row);
    while done < all {
        let next = done.min(all - done);
        out.copy_within(..next, done);
        done += next;
    }
}

/// Copies the elements of a part to their places in an array of this shape.
pub(super) fn scatter(from: &[u8], part: &Part, shape: &[u64], size: usize, out: &mut [u8]) {
    match (part.0.split_first(), part.run_in(shape)) {
        (_, Some(start)) => {
            out[start * size..(start + part.len()) * size].copy_from_slice(from);
        }
        (Some((dim, rest)), None) => {
            let (rest, inner) = (Part(rest.to_vec()), &shape[1..]);
            let row = len(inner, size).unwrap_or(usize::MAX);
            let own = rest.len() * size;
            for (at, from) in dim.iter().zip(from.chunks_exact(own.max(1))) {
                let start = usize::try_from(at).unwrap_or(usize::MAX) * row;
                scatter(from, &rest, inner, size, &mut out[start..start + row]);
            }
        }
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use hyperslab::Dim;

    use super::*;

    fn part(dims: &[(u64, u64, u64)]) -> Part {
        Part(dims.iter().map(|&(start, step, count)| Dim { start, step, count }).collect())
    }

    #[test]
    fn gathered_elements_come_back_to_their_places() {
        let bytes: Vec<u8> = (0..60).collect();
        let chosen = part(&[(0, 2, 2), (1, 1, 2), (1, 3, 2)]);
        let mut gathered = Vec::new();
        gather(&bytes, &[3, 4, 5], &chosen, 1, &mut gathered);
        assert_eq!(gathered, [6, 9, 11, 14, 46, 49, 51, 54]);
        let mut again = vec![0; 60];
        scatter(&gathered, &chosen, &[3, 4, 5], 1, &mut again);
        assert!((0..60).all(|at| again[at] == if gathered.contains(&bytes[at]) { bytes[at] } else { 0 }));
    }

    #[test]
    fn axes_of_length_one_are_repeated() {
        let mut out = vec![0; 12];
        spread(&[1, 2], &[2, 1], &[2, 6], 1, &mut out);
        assert_eq!(out, [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        spread(&[1, 2, 3], &[1, 1, 3], &[2, 2, 3], 1, &mut out);
        assert_eq!(out, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    }
}
