//! Checks elements that refer to other data: those of variable length, and references (spec IV.A.2.d, III.E).

use hyperslab_error::Error;
use hyperslab_format::datatype::{Datatype, Reference, ReferenceKind};
use hyperslab_format::header::ObjectHeader;
use hyperslab_format::heap::global::{GlobalHeapCollection, GlobalHeapId, VariableElement};
use hyperslab_format::{Addr, Reader, Structure as _};

use super::dataset::Described;
use super::{Check, Name, Severity, name_of};

impl Check<'_> {
    /// Follows the references and heap ids in `bytes`, which are elements of `datatype`.
    pub(super) fn values(&mut self, datatype: &Datatype, bytes: &[u8]) {
        if !leads_elsewhere(datatype) {
            return;
        }
        let size = usize::try_from(datatype.size(self.store.widths())).unwrap_or(usize::MAX);
        for element in bytes.chunks_exact(size.max(1)) {
            self.value(datatype, element);
        }
    }

    /// The recursion is limited by the nesting of the datatype, which the decoder limits.
    fn value(&mut self, datatype: &Datatype, bytes: &[u8]) {
        match datatype {
            Datatype::Compound(compound) => {
                for member in &compound.members {
                    let start = usize::try_from(member.offset).unwrap_or(usize::MAX);
                    let size =
                        usize::try_from(member.datatype.size(self.store.widths())).unwrap_or(usize::MAX);
                    let value = bytes.get(start..start.saturating_add(size)).unwrap_or_default();
                    if leads_elsewhere(&member.datatype) && !value.is_empty() {
                        self.value(&member.datatype, value);
                    }
                }
            }
            Datatype::Array(array) => self.values(&array.base, bytes),
            Datatype::Sequence(base) => self.sequence(Some(base), bytes),
            Datatype::VariableText(_) => self.sequence(None, bytes),
            Datatype::Reference(reference) => self.reference(*reference, bytes),
            _ => {}
        }
    }

    /// Checks a sequence of elements of `base`, or a string.
    fn sequence(&mut self, base: Option<&Datatype>, bytes: &[u8]) {
        let widths = self.store.widths();
        let decoded = Reader::new(bytes, widths, Addr::UNDEFINED).structure::<VariableElement>(&());
        let decoded = decoded.map_err(Error::from);
        let Some(VariableElement { count, id }) = self.noted(decoded, Addr::UNDEFINED) else { return };
        if id.is_null() || (count == 0 && !self.is_text_object(base, id)) {
            return;
        }
        let size = base.map_or(1, |base| base.size(widths));
        let Some(collection) = self.global_object(id) else { return };
        let object = collection.object(id.index).unwrap_or_default();
        let needed = u64::from(count).saturating_mul(size);
        let Some(elements) = usize::try_from(needed).ok().and_then(|needed| object.get(..needed)) else {
            let message =
                format!("object {} has {} bytes, but an element needs {needed}", id.index, object.len());
            return self.wrong(name_of::<GlobalHeapCollection>(), id.collection, message);
        };
        // Sequences with elements that refer to other data are followed once, even if several elements name
        // them.
        if let Some(base) = base.filter(|base| leads_elsewhere(base))
            && self.followed.insert(id)
        {
            self.values(base, elements);
        }
    }

    /// Whether `id` names an object for an empty string. libhdf5 looks at no id of an empty element.
    fn is_text_object(&self, base: Option<&Datatype>, id: GlobalHeapId) -> bool {
        let collection = || self.store.get::<GlobalHeapCollection>(id.collection, &());
        base.is_none() && collection().is_ok_and(|collection| collection.object(id.index).is_some())
    }

    fn reference(&mut self, reference: Reference, bytes: &[u8]) {
        self.small_work += 1;
        if self.is_over() {
            return;
        }
        if let Some(id) = id_in(reference, bytes, self)
            && !id.is_null()
            && self.global_object(id).is_none()
        {
            return;
        }
        let Some(file) = self.file() else {
            self.passes_over = true;
            return;
        };
        let target = file.reference_target(&reference, bytes);
        match self.noted(target, Addr::UNDEFINED) {
            Some(Some(target)) if target.file.is_none() => {
                let path = &self.path;
                self.referenced.entry(target.object).or_insert_with(|| path.clone());
            }
            Some(None) => self.nulls += 1,
            _ => {}
        }
    }

    /// Adds a finding for each reference to an object without hard links, or to no object.
    pub(super) fn referenced_objects(&mut self) {
        for (at, path) in std::mem::take(&mut self.referenced) {
            if self.objects.contains_key(&at) {
                continue;
            }
            self.path = path;
            let message = match self.store.read::<ObjectHeader>(at, &()) {
                Ok(_) => "a reference leads to an object without links",
                Err(_) => "a reference leads to no object",
            };
            self.find(Severity::Warning, REFERENCE, at, message);
        }
    }

    /// Returns whether the elements of a dataset are read. References may be all that leads to an object.
    pub(super) fn reads_elements(&self, dataset: &Described) -> bool {
        let are_few = dataset.bytes <= self.options.reference_bytes;
        self.options.data || are_few && dataset.datatype.has_references()
    }

    /// Records that data were not read that may name collections of the global heap.
    pub(super) fn not_followed(&mut self, datatype: &Datatype) {
        self.passes_over |= datatype.has_references();
        if leads_elsewhere(datatype) {
            self.unseen = Some("some may belong to the global heap: check the data too to find out");
        }
    }
}

/// Whether elements of a datatype refer to other data.
pub(super) fn leads_elsewhere(datatype: &Datatype) -> bool {
    datatype.has_variable_parts() || datatype.has_references()
}

/// Returns the object of the global heap that a stored reference names, or `None` if a reference of this kind
/// names none.
fn id_in(reference: Reference, bytes: &[u8], check: &Check<'_>) -> Option<GlobalHeapId> {
    let mut r = Reader::new(bytes, check.store.widths(), Addr::UNDEFINED);
    match reference.kind {
        ReferenceKind::Object1 => return None,
        ReferenceKind::Region1 => {}
        ReferenceKind::Object2 | ReferenceKind::Region2 | ReferenceKind::Attribute => {
            let kind = r.u8().ok()?;
            // Flags, and the size of the part in the heap. References to objects have no part in the heap.
            r.skip(1 + 4).ok().filter(|()| matches!(kind, REGION | ATTRIBUTE))?;
        }
    }
    GlobalHeapId::decode(&mut r, &()).ok()
}

/// The types of encoded references with a part in the global heap.
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;
const REFERENCE: Name = ("reference", "IV.A.2.d");
