//! Writing through a virtual dataset into its sources, as libhdf5 does.

use std::collections::BTreeMap;

use hyperslab_convert::Conversion;
use hyperslab_error::{Error, RequestError, Result};
use hyperslab_select::{Mapping, Piece, Place, Points, Selection};

use super::read::{Chain, points_of, selection};
use super::sources::named;
use super::view::View;
use crate::engine::WriteOptions;
use crate::object::Dataset;
use crate::object::dataset::write::Given;

impl Dataset {
    /// Writes elements of `what` into the sources. Every element must have a source.
    pub(in crate::object) fn write_sources(&self, given: Given<'_>, up: Option<&Chain<'_>>) -> Result<()> {
        let Given { shape, what, bytes, options } = given;
        let chain = self.chain(up)?;
        let view = self.view()?;
        if shape.is_some_and(|shape| *shape != view.shape) {
            return Err(RequestError::Reshaped.into());
        }
        what.check(&view.shape)?;
        let properties = self.properties()?;
        let datatype = options.datatype.as_ref().unwrap_or(&properties.datatype);
        if datatype.has_variable_parts() {
            return Err(Error::unsupported("writing data of variable length to a virtual dataset", "III.F"));
        }
        let conversion = Conversion::needed(&properties.datatype, datatype, self.store().widths())?;
        let size = conversion.as_ref().map_or(properties.element_size, |conversion| conversion.dst_size());
        let result = what.shape(&view.shape);
        let total = what.count(&view.shape)?;
        if total.checked_mul(size as u64) != Some(bytes.len() as u64) {
            let expected = total.saturating_mul(size as u64);
            return Err(RequestError::SourceSize { expected, found: bytes.len() as u64 }.into());
        }
        // Sources that are open for reading are opened anew.
        self.sources.clear();
        let options = WriteOptions::default().threads(options.threads).datatype(datatype.clone());
        let Some(axes) = what.axes(&view.shape) else {
            let Selection::Points(points) = what else { return Ok(()) };
            return self.write_points(&view, points, bytes, size, &options, &chain);
        };
        let mut writes: Vec<(Self, Vec<Piece>)> = Vec::new();
        let mut mapped = 0_u64;
        for part in view.touched(&axes) {
            let Some(source) = self.source_to_change(&part.file, &part.dataset)? else { continue };
            let mapping = Mapping::new(&part.target, &part.source, &source.shape(), part.slices);
            let mapping = mapping.map_err(|error| named(error.into(), &part.file, &part.dataset))?;
            let mut pieces = Vec::new();
            mapping.pieces(&axes, &mut |piece| {
                mapped = mapped.saturating_add(piece.place.result.iter().map(|dim| dim.count).product());
                pieces.push(piece);
                Ok::<(), Error>(())
            })?;
            writes.push((source, pieces));
        }
        if mapped < total {
            return Err(unmapped());
        }
        for (source, pieces) in writes {
            for piece in pieces {
                let elements = gather(bytes, &result, size, &piece.place);
                source.write_in_chain(&selection(&piece), &elements, &options, &chain)?;
            }
            self.flush_source(&source)?;
        }
        Ok(())
    }

    /// Writes single elements.
    fn write_points(
        &self,
        view: &View,
        points: &Points,
        bytes: &[u8],
        size: usize,
        options: &WriteOptions,
        chain: &Chain<'_>,
    ) -> Result<()> {
        let mut by_part: BTreeMap<usize, (Vec<u64>, Vec<u8>)> = BTreeMap::new();
        for (coord, element) in points.iter().zip(bytes.chunks_exact(size.max(1))) {
            let (part, at) = view.find(coord).ok_or_else(unmapped)?;
            let (places, elements) = by_part.entry(part).or_default();
            places.push(at);
            elements.extend_from_slice(element);
        }
        let mut writes = Vec::new();
        for (number, (places, elements)) in by_part {
            let part = &view.parts[number];
            let source = self.source_to_change(&part.file, &part.dataset)?.ok_or_else(unmapped)?;
            let what = points_of(part, &source, places.into_iter())?;
            writes.push((source, what, elements));
        }
        for (source, what, elements) in writes {
            source.write_in_chain(&what, &elements, options, chain)?;
            self.flush_source(&source)?;
        }
        Ok(())
    }

    /// Writes as a source of the virtual datasets in `chain`.
    fn write_in_chain(
        &self,
        what: &Selection,
        bytes: &[u8],
        options: &WriteOptions,
        chain: &Chain<'_>,
    ) -> Result<()> {
        if self.has_sources()? {
            return self.write_sources(Given { shape: None, what, bytes, options }, Some(chain));
        }
        self.write_with(what, bytes, options)
    }

    fn flush_source(&self, source: &Self) -> Result<()> {
        if source.file().is_same(self.file()) { Ok(()) } else { source.file().flush() }
    }
}

fn unmapped() -> Error {
    let why = "write requested to unmapped portion of virtual dataset";
    RequestError::Argument { what: "selection".to_owned(), why }.into()
}

/// Returns the elements of a box of row-major `bytes`.
fn gather(bytes: &[u8], shape: &[u64], size: usize, place: &Place) -> Vec<u8> {
    // The axes of the box in its own order; others have one index.
    let order: Vec<usize> = place.axes.iter().flatten().map(|&axis| usize::from(axis)).collect();
    let mut strides = vec![size as u64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    let first: u64 = place.result.iter().zip(&strides).map(|(dim, stride)| dim.start * stride).sum();
    let mut elements = Vec::new();
    let mut at = vec![0; order.len()];
    loop {
        let offset =
            order.iter().zip(&at).map(|(&axis, &number)| place.result[axis].step * number * strides[axis]);
        let offset = usize::try_from(first + offset.sum::<u64>()).unwrap_or(usize::MAX);
        elements.extend_from_slice(bytes.get(offset..offset.saturating_add(size)).unwrap_or_default());
        let next = (0..order.len()).rev().find(|&axis| at[axis] + 1 < place.result[order[axis]].count);
        let Some(next) = next else { return elements };
        at[next] += 1;
        at[next + 1..].fill(0);
    }
}
