//! Extraction of some traces of a survey as a SEG-Y file.

use std::path::Path;

use hyperslab::Selection;

use crate::cube::{self, Cube};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::export::new_file;
use crate::field::ByteOrder;
use crate::textual::TEXT_BYTES;
use crate::{io, plane};

/// The position of the number of traces, and of the number of trailer stanzas, in the binary header of
/// revision 2.
const COUNT: std::ops::Range<usize> = 312..320;
const TRAILERS: std::ops::Range<usize> = 328..332;

/// Writes the traces at one index of an axis to a SEG-Y file at `to`, which must not exist. The traces are in
/// the order of the survey, with their headers and with the file headers of the original file. The file gets
/// its name only when it is complete.
pub fn extract(cube: &Cube, axis: usize, index: u64, to: impl AsRef<Path>) -> Result<()> {
    if axis >= cube.axes.len() {
        return Err(Error::argument(
            "a slice of samples",
            "a SEG-Y file holds traces: write the slice as .npy or as a picture, or name a line",
        ));
    }
    new_file(to.as_ref(), |out, name| {
        let bytes = bytes(cube, axis, index)?;
        out.write_at(0, &bytes).map_err(io(name))
    })
}

/// Returns the bytes of the extracted file.
fn bytes(cube: &Cube, axis: usize, index: u64) -> Result<Vec<u8>> {
    let encoder = Encoder::new(cube)?;
    let shape = cube.data.shape();
    let traces = cube.file.dataset(cube::TRACE)?;
    let traces: Vec<i64> = traces.read(plane(&shape[..shape.len() - 1], axis, index))?;
    let source = &cube.source;
    let row = shape[shape.len() - 1] * source.format.stored().size() as u64;
    let row = usize::try_from(row).unwrap_or(0);
    let mut values = vec![0; traces.len() * row];
    cube.data.read_into(cube.plane(axis, index), &mut values)?;
    let mut bytes: Vec<u8> = cube.file.dataset(cube::FILE_HEADER)?.read(Selection::All)?;
    let found = traces.iter().filter(|&&trace| trace >= 0).count() as u64;
    recount(cube, &mut bytes, found);
    for (&trace, values) in traces.iter().zip(values.chunks(row.max(1))) {
        let Ok(trace) = u64::try_from(trace) else { continue };
        let headers = encoder.headers(trace..trace + 1)?;
        let samples = if source.padded { encoder.own_samples(trace, &headers)? } else { encoder.samples() };
        let samples = usize::try_from(samples).unwrap_or(0);
        let mut data = vec![0; samples * source.format.size()];
        encoder.encode(trace, &values[..samples * source.format.stored().size()], 0, &mut data)?;
        bytes.extend(headers);
        bytes.extend(data);
    }
    Ok(bytes)
}

/// Stores the number of traces in the file header, if the file has revision 2.
fn recount(cube: &Cube, header: &mut [u8], traces: u64) {
    if !cube.source.revision.starts_with('2') {
        return;
    }
    let label = if header.get(4..6) == Some(b"SY") { crate::file::LABEL_BYTES } else { 0 };
    let Some(binary) = header.get_mut(label + TEXT_BYTES..label + TEXT_BYTES + crate::BINARY_HEADER_BYTES)
    else {
        return;
    };
    let count = match cube.source.order {
        ByteOrder::Big => traces.to_be_bytes(),
        ByteOrder::Little => traces.to_le_bytes(),
    };
    binary[COUNT].copy_from_slice(&count);
    binary[TRAILERS].fill(0);
}
