//! Translates elements that hold addresses to those of the copy: strings and sequences of variable length,
//! and references.

use hyperslab_error::{Error, RequestError, Result};
use hyperslab_format::datatype::{Datatype, Reference};
use hyperslab_format::heap::global::VariableElement;
use hyperslab_format::{Addr, Reader, Structure, Writer};

use super::Copy;
use crate::object::{CopyOptions, File, Node, ReferenceTarget};

/// Whether elements of `datatype` must be translated when they are copied. With `keeps_references`,
/// references mean the same in the copy.
pub(super) fn holds_addresses(datatype: &Datatype, keeps_references: bool) -> bool {
    datatype.has_variable_parts() || (!keeps_references && datatype.has_references())
}

/// The places of the elements of one datatype in a buffer: the offset of the first, and the distance from
/// each to the next.
#[derive(Clone, Copy)]
struct ElementPlaces {
    first: usize,
    pitch: usize,
}

impl ElementPlaces {
    fn of(self, element: usize) -> Option<usize> {
        element.checked_mul(self.pitch)?.checked_add(self.first)
    }

    /// The places of a part of each element.
    fn part(self, offset: usize) -> Self {
        Self { first: self.first.saturating_add(offset), ..self }
    }
}

/// Elements of the source, and their places in the copy.
struct CopiedElements<'b> {
    source: &'b [u8],
    copy: &'b mut [u8],
    count: usize,
}

impl CopiedElements<'_> {
    /// Returns `len` bytes of an element of the source.
    fn stored(&self, at: ElementPlaces, element: usize, len: usize) -> Result<&[u8]> {
        let start = at.of(element).unwrap_or(usize::MAX);
        start.checked_add(len).and_then(|end| self.source.get(start..end)).ok_or_else(outside)
    }

    /// Returns the place of `len` bytes of an element of the copy.
    fn place(&mut self, at: ElementPlaces, element: usize, len: usize) -> Result<&mut [u8]> {
        let start = at.of(element).unwrap_or(usize::MAX);
        start.checked_add(len).and_then(|end| self.copy.get_mut(start..end)).ok_or_else(outside)
    }
}

/// The error for a member that is not inside its element.
fn outside() -> Error {
    RequestError::Argument { what: "datatype".to_owned(), why: "a member is outside of its compound" }.into()
}

/// Copies the strings and sequences that `elements` of the file `from` refer to, and makes `elements` refer
/// to the copies in the file `to`.
pub(in crate::object) fn of_variable_parts(
    to: &File,
    from: &File,
    datatype: &Datatype,
    elements: &mut Vec<u8>,
) -> Result<()> {
    Copy::new(to, CopyOptions::default()).translate(from, datatype, elements)
}

impl Copy<'_> {
    /// Translates elements of `datatype` in the file `from` to elements of the copy, which may have another
    /// size.
    pub(super) fn translate(&mut self, from: &File, datatype: &Datatype, bytes: &mut Vec<u8>) -> Result<()> {
        if !holds_addresses(datatype, self.keeps_references(from)) {
            return Ok(());
        }
        let relaid = self.relaid(from.store().widths(), datatype)?;
        let (pitch, new_pitch) = (size(datatype, from), size(&relaid, &self.to));
        let count = bytes.len() / pitch;
        let len = count.checked_mul(new_pitch).ok_or_else(outside)?;
        // Parts that hold no addresses stay as they are if their places do.
        let mut copy = if self.same_widths(from) { bytes.clone() } else { vec![0; len] };
        let mut elements = CopiedElements { source: bytes, copy: &mut copy, count };
        let (at, to) = (ElementPlaces { first: 0, pitch }, ElementPlaces { first: 0, pitch: new_pitch });
        self.translate_at(from, (datatype, &relaid), &mut elements, (at, to))?;
        *bytes = copy;
        Ok(())
    }

    fn same_widths(&self, from: &File) -> bool {
        from.store().widths() == self.to.store().widths()
    }

    fn translate_at(
        &mut self,
        from: &File,
        (datatype, relaid): (&Datatype, &Datatype),
        elements: &mut CopiedElements<'_>,
        (at, to): (ElementPlaces, ElementPlaces),
    ) -> Result<()> {
        if !holds_addresses(datatype, self.keeps_references(from)) {
            return if self.same_widths(from) {
                Ok(())
            } else {
                moved(size(datatype, from), elements, at, to)
            };
        }
        match (datatype, relaid) {
            (Datatype::VariableText(_), _) => self.sequences(from, None, elements, (at, to)),
            (Datatype::Sequence(base), _) => self.sequences(from, Some(base), elements, (at, to)),
            (Datatype::Compound(old), Datatype::Compound(new)) => {
                old.members.iter().zip(&new.members).try_for_each(|(old, new)| {
                    let places = (at.part(old.offset as usize), to.part(new.offset as usize));
                    self.translate_at(from, (&old.datatype, &new.datatype), elements, places)
                })
            }
            (Datatype::Array(old), Datatype::Array(new)) => {
                let sizes = (size(&old.base, from), size(&new.base, &self.to));
                let count = size(datatype, from) / sizes.0;
                (0..count).try_for_each(|i| {
                    let places = (at.part(i * sizes.0), to.part(i.saturating_mul(sizes.1)));
                    self.translate_at(from, (&old.base, &new.base), elements, places)
                })
            }
            (Datatype::Reference(old), Datatype::Reference(new)) => {
                (0..elements.count).try_for_each(|element| {
                    let stored = elements.stored(at, element, old.size as usize)?;
                    let copy = self.reference(from, (*old, *new), stored)?;
                    elements.place(to, element, copy.len())?.copy_from_slice(&copy);
                    Ok(())
                })
            }
            _ => Ok(()),
        }
    }

    /// Copies strings, or sequences of elements of `base`, to the heap of the copy.
    fn sequences(
        &mut self,
        from: &File,
        base: Option<&Datatype>,
        elements: &mut CopiedElements<'_>,
        (at, to): (ElementPlaces, ElementPlaces),
    ) -> Result<()> {
        let (widths, new_widths) = (from.store().widths(), self.to.store().widths());
        let len = VariableElement::read_len(widths, &());
        let mut ids = Vec::with_capacity(elements.count);
        for element in 0..elements.count {
            let mut r = Reader::new(elements.stored(at, element, len)?, widths, Addr::UNDEFINED);
            ids.push(r.structure::<VariableElement>(&())?);
        }
        let mut items = from.vlen_many(&ids, base.map_or(1, |base| size(base, from)))?;
        if let Some(base) = base {
            items.iter_mut().try_for_each(|item| self.translate(from, base, item))?;
        }
        let ids = if let Some(base) = base {
            let relaid = self.relaid(from.store().widths(), base)?;
            self.to.put_vlen(&items, size(&relaid, &self.to))?
        } else {
            // A null string has no heap object, and stays null.
            let is_text = |(id, _): &(&VariableElement, &Vec<u8>)| !id.id.is_null();
            let texts: Vec<&Vec<u8>> = ids.iter().zip(&items).filter(is_text).map(|(_, text)| text).collect();
            let mut copies = self.to.put_text(&texts)?.into_iter();
            let copy = |id: &VariableElement| if id.id.is_null() { None } else { copies.next() };
            ids.iter().map(copy).map(|copy| copy.unwrap_or(VariableElement::EMPTY)).collect()
        };
        let mut stored = Vec::with_capacity(VariableElement::read_len(new_widths, &()));
        for (element, id) in ids.into_iter().enumerate() {
            stored.clear();
            Writer::new(&mut stored, new_widths).structure(&id, &());
            elements.place(to, element, stored.len())?.copy_from_slice(&stored);
        }
        Ok(())
    }

    /// Returns a reference to the copy of the target of `stored`, or a null reference. `new` is the datatype
    /// of references in the copy.
    fn reference(
        &mut self,
        from: &File,
        (old, new): (Reference, Reference),
        stored: &[u8],
    ) -> Result<Vec<u8>> {
        let target = if self.options.expand_refs { from.reference_target(&old, stored)? } else { None };
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
            Some(copy) => self.to.stored_reference(&new, &copy),
            None => Ok(vec![0; new.size as usize]),
        }
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
}

/// Copies elements of `len` bytes that mean the same in any file.
fn moved(len: usize, elements: &mut CopiedElements<'_>, at: ElementPlaces, to: ElementPlaces) -> Result<()> {
    for element in 0..elements.count {
        let start = at.of(element).unwrap_or(usize::MAX);
        let stored =
            start.checked_add(len).and_then(|end| elements.source.get(start..end)).ok_or_else(outside)?;
        elements.place(to, element, len)?.copy_from_slice(stored);
    }
    Ok(())
}

/// Returns the size of an element of a file in bytes, at least 1.
fn size(datatype: &Datatype, file: &File) -> usize {
    usize::try_from(datatype.size(file.store().widths())).unwrap_or(usize::MAX).max(1)
}
