//! Copies elements to chunks of another shape, in boxes of whole chunks, each read and written on all
//! threads.

use std::collections::BTreeMap;

use hyperslab_error::{Error, Result};
use hyperslab_format::layout::Layout;
use hyperslab_select::{Boxes, Coord, Selection, first_element};

use super::data::stored_chunks;
use super::meter::Meter;
use crate::engine::WriteOptions;
use crate::object::dataset::{self, Properties};
use crate::object::{Dataset, Node};

/// Copies the stored elements of `source` to the chunks of the copy. Chunks that were never written are not
/// created.
pub(super) fn rechunk(
    source: &Dataset,
    properties: &Properties,
    copy: &Node,
    meter: &Meter<'_>,
) -> Result<()> {
    let Node::Dataset(copy) = copy else { return Ok(()) };
    let Some(chunk) = copy.chunk_shape() else { return Ok(()) };
    let mut bytes = Vec::new();
    for what in boxes(source, properties, &chunk, BLOCK_BYTES)? {
        let count = usize::try_from(what.count(properties.dataspace.shape())?).ok();
        let len = count.and_then(|count| count.checked_mul(properties.element_size));
        let len = len.ok_or_else(|| Error::unsupported("a chunk larger than memory", "IV.A.2.i"))?;
        if bytes.len() < len {
            bytes.resize(len, 0);
        }
        source.read_into(&what, &mut bytes[..len])?;
        copy.write_with(&what, &bytes[..len], &WriteOptions::default())?;
        meter.add(len as u64);
    }
    Ok(())
}

/// Returns the selections to copy to chunks of shape `chunk`. Each covers whole chunks and has at most `most`
/// bytes, unless a single chunk has more.
pub(super) fn boxes(
    source: &Dataset,
    properties: &Properties,
    chunk: &[u64],
    most: u64,
) -> Result<Vec<Selection>> {
    let shape = properties.dataspace.shape();
    if properties.elements == 0 {
        return Ok(Vec::new());
    }
    let old = match &properties.layout {
        Layout::Chunked(chunked) => Some(chunked),
        Layout::Contiguous(extent) if extent.addr.is_undefined() => return Ok(Vec::new()),
        Layout::Virtual { .. } => return Ok(Vec::new()),
        _ if shape.is_empty() => return Ok(vec![Selection::All]),
        _ => None,
    };
    let size = properties.element_size.max(1) as u64;
    let blocks = Boxes::new(shape, chunk, old.map(|old| old.chunk_shape.as_slice()), most / size);
    let Some(old) = old else {
        return Ok((0..blocks.len()).map(|number| blocks.nth(number)).collect());
    };
    // Finds the new chunks that receive data, by the box that contains them.
    let index = dataset::chunk_index(properties.header(), source.store(), old)?;
    let mut wanted: BTreeMap<Coord, Vec<Coord>> = BTreeMap::new();
    for (coord, _) in stored_chunks(source.store(), &index)? {
        // A damaged index may name chunks out of bounds; they give no box.
        let first = first_element(&coord, &old.chunk_shape);
        let starts: Coord = first.iter().zip(chunk).map(|(at, side)| at / side).collect();
        let ends: Coord = (0..coord.len())
            .map(|axis| {
                first[axis].saturating_add(old.chunk_shape[axis]).min(shape[axis]).div_ceil(chunk[axis])
            })
            .collect();
        each(&starts, &ends, &mut |new| {
            let first = first_element(new, chunk);
            let place = first.iter().zip(blocks.side()).map(|(at, side)| at / side);
            wanted.entry(place.collect()).or_default().push(Coord::from_slice(new));
        });
    }
    let single = Boxes::new(shape, chunk, None, 0);
    let mut all = Vec::new();
    for (place, mut chunks) in wanted {
        chunks.sort_unstable();
        chunks.dedup();
        let whole = blocks.at(&place);
        let there: u64 =
            whole.shape(shape).iter().zip(chunk).map(|(side, len)| side.div_ceil(*len)).product();
        if chunks.len() as u64 == there {
            all.push(whole);
        } else {
            all.extend(chunks.iter().map(|coord| single.at(coord)));
        }
    }
    Ok(all)
}

/// Calls `f` with every coordinate from `starts` up to, not including, `ends`, in row-major order.
fn each(starts: &[u64], ends: &[u64], f: &mut dyn FnMut(&[u64])) {
    if starts.iter().zip(ends).any(|(start, end)| start >= end) {
        return;
    }
    let mut at = starts.to_vec();
    loop {
        f(&at);
        let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < ends[axis]) else { return };
        at[axis] += 1;
        at[axis + 1..].copy_from_slice(&starts[axis + 1..]);
    }
}

/// The number of bytes of elements that are in memory at a time.
const BLOCK_BYTES: u64 = 128 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_visits_every_coordinate_once_in_row_major_order() {
        let mut met = Vec::new();
        each(&[1, 2], &[3, 4], &mut |at| met.push(at.to_vec()));
        assert_eq!(met, [[1, 2], [1, 3], [2, 2], [2, 3]]);
        each(&[1, 2], &[3, 2], &mut |_| panic!("the range is empty"));
    }
}
