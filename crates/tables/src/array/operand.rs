//! The operands of a calculation: datasets, fields of records, arrays in memory, scalars.

use std::num::NonZeroUsize;

use hyperslab::datatype::{Compound, Datatype, Member};
use hyperslab::{Dataset, Destination, Dim, ReadOptions, Selection, Slab};
use hyperslab_expr::{Operand as Given, Type};

use super::parts::Part;
use super::shape;
use crate::error::{Error, Result};
use crate::query::native;

/// What a name of an expression stands for.
#[derive(Clone)]
pub enum Operand<'a> {
    /// The elements of a dataset.
    Dataset(Dataset),
    /// A field of the elements of a dataset: the names from the outermost one, joined by `/`.
    Field(Dataset, String),
    /// An array in memory, row-major and in native byte order.
    Memory {
        /// The type of the elements.
        kind: Type,
        /// The shape.
        shape: Vec<u64>,
        /// The elements.
        bytes: &'a [u8],
    },
    /// A scalar.
    Scalar(Given),
}

/// An array that a calculation reads part by part.
#[derive(Clone)]
pub(super) struct Array<'a> {
    pub(super) kind: Type,
    /// The shape of the rows that the calculation uses.
    pub(super) shape: Vec<u64>,
    /// The used rows of the first axis.
    rows: Option<Dim>,
    source: OperandSource<'a>,
}

#[derive(Clone)]
enum OperandSource<'a> {
    Dataset {
        dataset: Dataset,
        /// The native datatype of the elements. `None` if the stored elements are already native.
        memory: Option<Datatype>,
    },
    Memory(&'a [u8]),
    /// The results of a reduction.
    Results(Vec<u8>),
}

impl<'a> Array<'a> {
    /// Returns the array that an operand is. A scalar is none.
    ///
    /// Errors: `Argument` if there is no such field, or an expression cannot compute with its elements.
    pub(super) fn of(name: &str, operand: &Operand<'a>) -> Result<Option<Self>> {
        let unusable = |why: &str| Error::Argument { what: format!("operand {name:?}"), why: why.to_owned() };
        let array = match operand {
            Operand::Scalar(_) => return Ok(None),
            Operand::Memory { kind, shape, bytes } => {
                if shape::len(shape, kind.size()) != Some(bytes.len()) {
                    return Err(unusable("its bytes are not those of its shape"));
                }
                Self { kind: *kind, shape: shape.clone(), rows: None, source: OperandSource::Memory(bytes) }
            }
            Operand::Dataset(dataset) => {
                let stored = dataset.datatype();
                let Some((kind, memory)) = native(&stored) else {
                    let why = "an expression cannot compute with values of its datatype";
                    let of_records = "its elements are records: name a field, as in table.cols.temp";
                    let is_record = matches!(&*stored, Datatype::Compound(_));
                    return Err(unusable(if is_record { of_records } else { why }));
                };
                let memory = (memory != *stored).then_some(memory);
                let source = OperandSource::Dataset { dataset: dataset.clone(), memory };
                Self { kind, shape: dataset.shape(), rows: None, source }
            }
            Operand::Field(dataset, path) => {
                let stored = dataset.datatype();
                let Some((kind, memory)) = field(&stored, path.split('/')) else {
                    return Err(unusable(&format!("an expression cannot compute with a field {path:?}")));
                };
                let source = OperandSource::Dataset { dataset: dataset.clone(), memory: Some(memory) };
                Self { kind, shape: dataset.shape(), rows: None, source }
            }
        };
        Ok(Some(array))
    }

    /// Returns the array of the results of a reduction.
    pub(super) fn results(kind: Type, shape: Vec<u64>, bytes: Vec<u8>) -> Self {
        Self { kind, shape, rows: None, source: OperandSource::Results(bytes) }
    }

    /// Leaves only these rows of the first axis.
    pub(super) fn use_rows(&mut self, rows: Dim) {
        if let Some(len) = self.shape.first_mut() {
            *len = rows.count;
            self.rows = Some(rows);
        }
    }

    /// Returns the shape of the chunks, if each row of the array is used.
    pub(super) fn chunk_shape(&self) -> Option<Vec<u64>> {
        match (&self.source, self.rows) {
            (OperandSource::Dataset { dataset, .. }, None | Some(Dim { start: 0, step: 1, .. })) => {
                dataset.chunk_shape()
            }
            _ => None,
        }
    }

    /// Returns whether the elements are those of a dataset.
    pub(super) fn is_of(&self, dataset: &Dataset) -> bool {
        let OperandSource::Dataset { dataset: own, .. } = &self.source else { return false };
        own.address() == dataset.address() && std::ptr::eq(own.file().store(), dataset.file().store())
    }

    /// Returns whether the array has this shape and consists of these rows.
    pub(super) fn has_rows(&self, shape: &[u64], rows: Option<Dim>) -> bool {
        let own = self.rows.filter(|own| (own.start, own.step) != (0, 1));
        let rows = rows.filter(|rows| (rows.start, rows.step) != (0, 1));
        self.shape == shape
            && own.map(|own| (own.start, own.step)) == rows.map(|rows| (rows.start, rows.step))
    }

    /// Returns the elements of a part, which `part` selects in an array that this one is broadcast to. They
    /// are in `buffer`, unless they lie side by side in memory.
    pub(super) fn read<'b>(&'b self, part: &Part, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let own = part.of_broadcast(&self.shape);
        let size = self.kind.size();
        let wanted = part.len() * size;
        let have = own.len() * size;
        match &self.source {
            OperandSource::Memory(bytes) => return Ok(self.in_memory(bytes, &own, part, buffer)),
            OperandSource::Results(bytes) => return Ok(self.in_memory(bytes, &own, part, buffer)),
            OperandSource::Dataset { dataset, memory } => {
                buffer.resize(wanted.max(have), 0);
                let what = if own.rank() == 0 { Selection::All } else { own.selection(self.rows) };
                let options = ReadOptions::default().threads(NonZeroUsize::MIN).datatype(memory.clone());
                dataset.read_with(what, &mut Destination::contiguous(&mut buffer[..have]), &options)?;
                if self.kind == Type::Bool {
                    // Any value but 0 is true.
                    buffer[..have].iter_mut().for_each(|value| *value = (*value != 0).into());
                }
            }
        }
        if have != wanted {
            let read = buffer[..have].to_vec();
            shape::spread(&read, &own.counts_in(part.rank()), &part.counts(), size, buffer);
        }
        Ok(&buffer[..wanted])
    }

    fn in_memory<'b>(&self, bytes: &'b [u8], own: &Part, part: &Part, buffer: &'b mut Vec<u8>) -> &'b [u8] {
        let size = self.kind.size();
        let (own_len, wanted) = (own.len() * size, part.len() * size);
        let whole = self.rows.map_or(self.shape.clone(), |rows| {
            let mut whole = self.shape.clone();
            whole[0] = rows.end();
            whole
        });
        let own_place = own.with_rows(self.rows);
        if own_len == wanted
            && let Some(start) = own_place.run_in(&whole)
        {
            return &bytes[start * size..start * size + wanted];
        }
        let mut gathered = Vec::with_capacity(own_len);
        shape::gather(bytes, &whole, &own_place, size, &mut gathered);
        buffer.resize(wanted, 0);
        shape::spread(&gathered, &own.counts_in(part.rank()), &part.counts(), size, buffer);
        &buffer[..wanted]
    }
}

/// Returns the type of a field, and the datatype of records that have this field only.
fn field<'p>(datatype: &Datatype, mut path: impl Iterator<Item = &'p str>) -> Option<(Type, Datatype)> {
    let Some(name) = path.next() else { return native(datatype) };
    let Datatype::Compound(compound) = datatype else { return None };
    let member = compound.members.iter().find(|member| member.name == name)?;
    let (kind, inner) = field(&member.datatype, path)?;
    let size = u32::try_from(kind.size()).ok()?;
    let members = vec![Member { name: name.to_owned(), offset: 0, datatype: inner }];
    Some((kind, Datatype::Compound(Compound { size, members })))
}

impl Part {
    /// Returns the selection of the part in a dataset of which only some rows are used.
    fn selection(&self, rows: Option<Dim>) -> Selection {
        Selection::Slab(Slab(self.with_rows(rows).0.into_iter().collect()))
    }
}
