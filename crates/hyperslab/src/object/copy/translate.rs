//! Translates elements that hold addresses to those of the copy: strings and sequences of variable length,
//! and references.

use hyperslab_format::datatype::{Datatype, Reference};
use hyperslab_format::heap::global::VariableElement;
use hyperslab_format::{Addr, Reader, Structure, Writer};

use super::Copy;
use crate::error::{Error, Result};
use crate::object::{CopyOptions, File, Node, ReferenceTarget};

/// Whether elements of `datatype` must be translated when they are copied. With `keeps_references`,
/// references mean the same in the copy.
pub(super) fn holds_addresses(datatype: &Datatype, keeps_references: bool) -> bool {
    datatype.has_variable_parts() || (!keeps_references && datatype.has_references())
}

/// The places of the elements of one datatype in a buffer: the offset of the first, and the distance from
/// each to the next.
#[derive(Clone, Copy)]
struct Places {
    first: usize,
    pitch: usize,
}

/// Copies the strings and sequences that `elements` of a file refer to, and makes `elements` refer to the
/// copies.
pub(in crate::object) fn of_variable_parts(
    file: &File,
    datatype: &Datatype,
    elements: &mut [u8],
) -> Result<()> {
    Copy::new(file, CopyOptions::default()).translate(file, datatype, elements)
}

impl Copy<'_> {
    /// Translates elements of `datatype` in the file `from` to elements of the copy.
    pub(super) fn translate(&mut self, from: &File, datatype: &Datatype, bytes: &mut [u8]) -> Result<()> {
        let pitch = self.size(datatype);
        if bytes.len() < pitch {
            return Ok(());
        }
        self.translate_at(from, datatype, bytes, Places { first: 0, pitch })
    }

    fn translate_at(&mut self, from: &File, datatype: &Datatype, bytes: &mut [u8], at: Places) -> Result<()> {
        if !holds_addresses(datatype, self.keeps_references(from)) {
            return Ok(());
        }
        match datatype {
            Datatype::VariableText(_) => self.sequences(from, None, bytes, at),
            Datatype::Sequence(base) => self.sequences(from, Some(base), bytes, at),
            Datatype::Compound(compound) => compound.members.iter().try_for_each(|member| {
                let first = at.first.saturating_add(usize::try_from(member.offset).unwrap_or(usize::MAX));
                self.translate_at(from, &member.datatype, bytes, Places { first, ..at })
            }),
            Datatype::Array(array) => {
                let size = self.size(&array.base);
                let count = self.size(datatype) / size;
                (0..count).try_for_each(|i| {
                    self.translate_at(from, &array.base, bytes, Places { first: at.first + i * size, ..at })
                })
            }
            Datatype::Reference(reference) => {
                let size = usize::try_from(reference.size).unwrap_or(usize::MAX);
                let mut first = at.first;
                while let Some(stored) = first.checked_add(size).and_then(|end| bytes.get_mut(first..end)) {
                    self.reference(from, *reference, stored)?;
                    first += at.pitch;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Copies strings, or sequences of elements of `base`, to the heap of the copy.
    fn sequences(
        &mut self,
        from: &File,
        base: Option<&Datatype>,
        bytes: &mut [u8],
        at: Places,
    ) -> Result<()> {
        let widths = self.to.store().widths();
        let len = VariableElement::read_len(widths, &());
        let starts: Vec<usize> =
            (at.first..bytes.len()).step_by(at.pitch).filter(|start| start + len <= bytes.len()).collect();
        let mut ids = Vec::with_capacity(starts.len());
        for &start in &starts {
            let mut r = Reader::new(&bytes[start..start + len], widths, Addr::UNDEFINED);
            ids.push(r.structure::<VariableElement>(&())?);
        }
        let size = base.map_or(1, |base| self.size(base));
        let mut items = from.vlen_many(&ids, size)?;
        if let Some(base) = base {
            items.iter_mut().try_for_each(|item| self.translate(from, base, item))?;
        }
        let ids = if base.is_some() {
            self.to.put_vlen(&items, size)?
        } else {
            // A null string has no heap object, and stays null.
            let is_text = |(id, _): &(&VariableElement, &Vec<u8>)| !id.id.is_null();
            let texts: Vec<&Vec<u8>> = ids.iter().zip(&items).filter(is_text).map(|(_, text)| text).collect();
            let mut copies = self.to.put_text(&texts)?.into_iter();
            let copy = |id: &VariableElement| if id.id.is_null() { None } else { copies.next() };
            ids.iter().map(copy).map(|copy| copy.unwrap_or(VariableElement::EMPTY)).collect()
        };
        let mut stored = Vec::with_capacity(len);
        for (start, id) in starts.into_iter().zip(ids) {
            stored.clear();
            Writer::new(&mut stored, widths).structure(&id, &());
            bytes[start..start + len].copy_from_slice(&stored);
        }
        Ok(())
    }

    /// Makes a reference lead to the copy of its target, or makes it null.
    fn reference(&mut self, from: &File, reference: Reference, stored: &mut [u8]) -> Result<()> {
        let target = if self.options.expand_refs { from.reference_target(&reference, stored)? } else { None };
        let copy = match target {
            // It leads to the other file from the copy, too.
            Some(target) if target.file.is_some() => Some(target),
            Some(target) => match self.referenced(from, &target)? {
                Some(node) => Some(ReferenceTarget { object: self.object(&node, 1)?, ..target }),
                None => None,
            },
            None => None,
        };
        match copy {
            Some(copy) => {
                let new = self.to.stored_reference(&reference, &copy)?;
                stored.iter_mut().zip(new).for_each(|(slot, byte)| *slot = byte);
            }
            None => stored.fill(0),
        }
        Ok(())
    }

    /// Returns the object that a reference leads to, or `None` if the reference is null in the copy.
    fn referenced(&self, from: &File, target: &ReferenceTarget) -> Result<Option<Node>> {
        let Some(renewal) = &self.renewal else { return from.object_at(target.object).map(Some) };
        if renewal.members.as_ref().is_some_and(|members| !members.contains(&target.object)) {
            return Ok(None);
        }
        match from.object_at(target.object) {
            Ok(node) => Ok(Some(node)),
            // The object may have been deleted, and its space reused.
            Err(error) if matches!(error.root(), Error::Format(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the size of an element in bytes, at least 1.
    fn size(&self, datatype: &Datatype) -> usize {
        let size = datatype.size(self.to.store().widths());
        usize::try_from(size).unwrap_or(usize::MAX).max(1)
    }
}
