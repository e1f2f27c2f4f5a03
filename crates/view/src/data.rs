//! `/data`: the selected elements of a dataset, as bytes, JSON, NPY, CSV or TIFF.

use std::sync::Arc;

use axum::http::HeaderValue;
use hyperslab::{Dataset, Dataspace, Destination, File, Node, ReadOptions, Selection};
use hyperslab_format::datatype::Datatype;
use hyperslab_select::{axes, batches};

use crate::answer::{Answered, Cancelled, Limited, Refusal};
use crate::encode::{csv, npy, tiff};
use crate::limits::{MOST_BYTES, MOST_JSON};
use crate::links;
use crate::number::{Form, Numbers};
use crate::query::Query;
use crate::value::{Nest, Values};

/// A format of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Bin,
    Npy,
    Csv,
    Tiff,
}

/// The elements that a request selects, before they are read.
#[derive(Debug)]
pub(crate) struct Elements {
    dataset: Dataset,
    what: Selection,
    /// The shape of the result, without the axes of single indices.
    shape: Vec<u64>,
    count: u64,
}

/// A request whose arguments are checked.
#[derive(Debug)]
pub(crate) struct Reading {
    elements: Elements,
    format: Format,
    numbers: Option<Numbers>,
    is_flat: bool,
}

/// The headers of an answer: its type, and how it is saved.
pub(crate) type Headers = (HeaderValue, Option<HeaderValue>);

impl Elements {
    pub(crate) fn of(file: &File, name: &str, query: &Query) -> Answered<Self> {
        let path = query.path();
        let Node::Dataset(dataset) = links::object(file, name, path)? else {
            return Err(Refusal::argument(format!("{path} is not a dataset")));
        };
        let extent = dataset.shape();
        let text = query.one("selection").unwrap_or("...");
        let selected = hyperslab_select::parse(text, &extent)
            .map_err(|error| Refusal::argument(format!("selection {text:?}: {error}")))?;
        let (shape, count) = (selected.shape(&extent), selected.selection.count(&extent)?);
        Ok(Self { dataset, what: selected.selection, shape, count })
    }

    pub(crate) fn is_null(&self) -> bool {
        self.dataset.dataspace() == Dataspace::Null
    }

    pub(crate) fn datatype(&self) -> Arc<Datatype> {
        self.dataset.datatype()
    }

    pub(crate) fn numbers(&self, form: Form) -> Option<Numbers> {
        Numbers::of(&self.dataset.datatype(), form)
    }

    /// Returns the bytes of all elements, of `size` bytes each, if that is no more than an answer may have.
    pub(crate) fn bytes(&self, size: u64) -> Answered<u64> {
        let bytes = self.count.checked_mul(size).filter(|bytes| *bytes <= MOST_BYTES);
        bytes.ok_or_else(|| Refusal::too_large(MOST_BYTES))
    }

    /// Reads the elements in the datatype `memory`, with room for `head` bytes before and `tail` bytes after.
    fn read(&self, memory: Option<&Datatype>, size: u64, head: &[u8], tail: usize) -> Answered<Vec<u8>> {
        let len = usize::try_from(self.bytes(size)?).map_err(|_| Refusal::too_large(MOST_BYTES))?;
        let mut bytes = vec![0; head.len() + len];
        bytes.reserve_exact(tail);
        bytes[..head.len()].copy_from_slice(head);
        self.read_into(&self.what, memory, &mut bytes[head.len()..])?;
        Ok(bytes)
    }

    fn read_into(&self, what: &Selection, memory: Option<&Datatype>, to: &mut [u8]) -> Answered<()> {
        let options = ReadOptions::default().datatype(memory.cloned());
        Ok(self.dataset.read_with(what.clone(), &mut Destination::contiguous(to), &options)?)
    }

    /// Calls `f` with the bytes of one part after another, in row-major order. Elements are read in the
    /// datatype `memory`, of `size` bytes.
    pub(crate) fn each_part(
        &self,
        memory: &Datatype,
        size: u64,
        cancelled: &Cancelled,
        f: &mut dyn FnMut(&[u8]) -> Answered<()>,
    ) -> Answered<()> {
        self.parts(size, cancelled, &mut |what, bytes| {
            self.read_into(what, Some(memory), bytes)?;
            f(bytes)
        })
    }

    /// Calls `f` with the selection of one part after another, and with memory for its elements.
    fn parts(
        &self,
        size: u64,
        cancelled: &Cancelled,
        f: &mut dyn FnMut(&Selection, &mut [u8]) -> Answered<()>,
    ) -> Answered<()> {
        let extent = self.dataset.shape();
        let Some(axes) = axes(&self.what, &extent).filter(|_| self.count > 0) else { return Ok(()) };
        // One element is read at once, whatever its size.
        if size > MOST_JSON {
            return Err(Refusal::argument(format!("an element has {size} bytes: use `hyperslab dump`")));
        }
        let most = (PART_BYTES / size.max(1)).max(1);
        let mut bytes = Vec::new();
        for part in batches(axes, most) {
            cancelled.check()?;
            let len = part.count(&extent)?.saturating_mul(size);
            bytes.resize(usize::try_from(len).map_err(|_| Refusal::too_large(MOST_BYTES))?, 0);
            f(&part, &mut bytes)?;
        }
        Ok(())
    }
}

/// The bytes that are read at a time if elements are not sent as they are read.
const PART_BYTES: u64 = 4 << 20;

impl Reading {
    pub(crate) fn of(file: &File, name: &str, query: &Query) -> Answered<Self> {
        let elements = Elements::of(file, name, query)?;
        let format = match query.one("format") {
            None | Some("json") => Format::Json,
            Some("bin") => Format::Bin,
            Some("npy") => Format::Npy,
            Some("csv") => Format::Csv,
            Some("tiff") => Format::Tiff,
            Some(other) => return Err(Refusal::argument(format!("Unsupported encoding {other}"))),
        };
        let form = match query.one("dtype") {
            None | Some("origin") if format == Format::Tiff => Form::Little,
            None | Some("origin") => Form::Origin,
            Some("safe") => Form::Safe,
            Some(other) => return Err(Refusal::argument(format!("Unsupported dtype {other}"))),
        };
        let numbers = elements.numbers(form).filter(|_| !elements.is_null());
        let is_flat = matches!(query.one("flatten"), Some("true" | "True" | "1" | "yes" | "on"));
        let reading = Self { elements, format, numbers, is_flat };
        reading.check(form)?;
        Ok(reading)
    }

    fn check(&self, form: Form) -> Answered<()> {
        let refuse = |why: String| Err(Refusal::argument(why));
        let word = match self.format {
            Format::Json => "json",
            Format::Bin => "bin",
            Format::Npy => "npy",
            Format::Csv => "csv",
            Format::Tiff => "tiff",
        };
        if self.numbers.is_none() && form == Form::Safe {
            return refuse("Unsupported dtype safe for non-numeric data".to_owned());
        }
        let is_binary = match &*self.elements.datatype() {
            Datatype::Opaque(_) | Datatype::Text(_) => true,
            Datatype::Compound(_) => !self.elements.datatype().has_variable_parts(),
            _ => false,
        };
        match (self.format, &self.numbers) {
            (Format::Json, _) => Ok(()),
            (Format::Bin, None) if is_binary && !self.elements.is_null() => Ok(()),
            (_, None) => refuse(format!("Unsupported encoding {word} for non-numeric content")),
            (Format::Csv | Format::Tiff, Some(_)) if self.shape().is_empty() => {
                refuse(format!("Unsupported encoding {word} for empty and scalar datasets"))
            }
            (Format::Csv, Some(_)) if self.shape().len() > 2 => {
                refuse("Unsupported encoding csv for more than 2 dimensions: select fewer".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Returns the shape of the result, with the axes inside elements.
    fn shape(&self) -> Vec<u64> {
        let inner = self.numbers.iter().flat_map(|numbers| numbers.axes.iter().copied());
        self.elements.shape.iter().copied().chain(inner).collect()
    }

    fn element_size(&self) -> u64 {
        match &self.numbers {
            Some(numbers) => numbers.element_size(),
            None => self.elements.dataset.element_size() as u64,
        }
    }

    /// Returns the memory that the answer needs, or `None` for a text, whose length is not known yet.
    pub(crate) fn memory(&self) -> Answered<Option<u64>> {
        let beside = match self.format {
            Format::Json | Format::Csv => return Ok(None),
            Format::Bin => 0,
            Format::Npy => npy::MOST_HEAD,
            Format::Tiff => tiff::most_head(&self.shape())?,
        };
        Ok(Some(self.elements.bytes(self.element_size())? + beside))
    }

    pub(crate) fn headers(&self) -> Headers {
        let fixed = HeaderValue::from_static;
        match self.format {
            Format::Json => (fixed("application/json"), None),
            Format::Bin => (fixed("application/octet-stream"), None),
            Format::Npy => {
                (fixed("application/octet-stream"), Some(fixed(r#"attachment; filename="data.npy""#)))
            }
            Format::Csv => (fixed("text/csv"), Some(fixed(r#"attachment; filename="data.csv""#))),
            Format::Tiff => (fixed("image/tiff"), Some(fixed(r#"attachment; filename="data.tiff""#))),
        }
    }

    /// Reads the elements.
    pub(crate) fn run(&self, cancelled: &Cancelled) -> Answered<Vec<u8>> {
        let (memory, size) = (self.numbers.as_ref().map(|numbers| &numbers.memory), self.element_size());
        match (self.format, &self.numbers) {
            (Format::Npy, Some(numbers)) => {
                self.elements.read(memory, size, &npy::head(&numbers.dtype(), &self.shape()), 0)
            }
            (Format::Tiff, Some(numbers)) => {
                let picture = tiff::Picture::new(numbers, &self.shape())?;
                let mut bytes = self.elements.read(memory, size, &picture.head(), picture.tail_len())?;
                picture.finish(&mut bytes);
                Ok(bytes)
            }
            (Format::Csv, Some(_)) => self.csv(cancelled),
            (Format::Json, _) => self.json(cancelled),
            _ => self.elements.read(memory, size, &[], 0),
        }
    }

    fn csv(&self, cancelled: &Cancelled) -> Answered<Vec<u8>> {
        let Some(numbers) = self.elements.numbers(Form::Little) else { return Ok(Vec::new()) };
        let mut out = Limited::new(MOST_JSON);
        let mut table = csv::Table::new(&numbers, &self.shape());
        let push = &mut |bytes: &[u8]| table.push(bytes, &mut out);
        self.elements.each_part(&numbers.memory, numbers.element_size(), cancelled, push)?;
        Ok(out.into_bytes())
    }

    fn json(&self, cancelled: &Cancelled) -> Answered<Vec<u8>> {
        let mut out = Limited::new(MOST_JSON);
        let elements = &self.elements;
        if elements.is_null() {
            return Ok(b"null".to_vec());
        }
        let dataset = &elements.dataset;
        // An array inside elements is part of the result, as in NumPy.
        let (whole, mut shape) = (dataset.datatype(), elements.shape.clone());
        let mut inside = &*whole;
        while let Datatype::Array(array) = inside {
            shape.extend(array.shape.iter().map(|&len| u64::from(len)));
            inside = &array.base;
        }
        if self.is_flat && !shape.is_empty() {
            shape = vec![shape.iter().product()];
        }
        let mut nest = Nest::new(&shape);
        // The data of variable length stay in the file until they are written.
        let _kept = dataset.file().reading_vlen();
        elements.parts(dataset.element_size() as u64, cancelled, &mut |what, bytes| {
            let mut destination = Destination::contiguous(bytes);
            let heap = dataset.read_with_heap(None, what, &mut destination, &ReadOptions::default())?;
            let values = Values::new(&heap);
            for (at, item) in bytes.chunks_exact(values.size(inside)?.max(1)).enumerate() {
                if at % CHECKED_EVERY == 0 {
                    cancelled.check()?;
                }
                nest.next(&mut out)?;
                values.write(inside, item, &mut out)?;
            }
            Ok(())
        })?;
        nest.finish(&mut out)?;
        Ok(out.into_bytes())
    }
}

/// The elements after which the work looks whether its reader has gone.
const CHECKED_EVERY: usize = 1024;
