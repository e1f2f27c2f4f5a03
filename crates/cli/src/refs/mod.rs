//! References for the readers of Zarr: where the chunks of HDF5 datasets are, and by which codecs Zarr
//! decodes them. A [`Plan`] decides what can be referenced, from metadata alone, and then gives the chunks
//! one by one to a [`Sink`], which writes them in some format.

mod base64;
mod codecs;
mod dtype;
mod embed;
pub mod kerchunk;
mod mapped;
#[cfg(feature = "parquet")]
pub mod parquet;
mod place;
mod url;
mod values;

use anyhow::Context as _;
use hyperslab::storage::{FillBytes, FillTime};
use hyperslab::{AxisNames, Dataset, Error, Group, Node, Step, Walk};
use hyperslab_format::layout::Layout;
use hyperslab_format::message::dataspace::Dataspace;

use self::dtype::Type;
use self::place::{ChunkSource, Survey};
use self::url::Urls;
use crate::show::value::Decoder;
use crate::show::{json, json_numbers};

/// Options of references.
#[derive(Debug, Clone)]
pub struct Options {
    /// The URL by which readers find the file; by default, its absolute path. Files beside it are found
    /// beside the URL.
    pub url: Option<String>,
    /// Chunks with fewer stored bytes are embedded.
    pub inline: u64,
    /// The most bytes that are embedded for an array whose elements cannot be referenced: of strings of
    /// variable length, and of chunks that were stored without some of the filters.
    pub embed: u64,
    /// Contiguous data with more bytes are split into chunks of about as many.
    pub split: u64,
    /// Whether codecs of the package imagecodecs are used.
    pub imagecodecs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { url: None, inline: 0, embed: 1 << 20, split: 64 << 20, imagecodecs: false }
    }
}

/// An array of Zarr.
#[derive(Debug)]
pub struct Array {
    /// The path, without a slash at its begin.
    pub path: String,
    /// The length of each axis.
    pub shape: Vec<u64>,
    /// The shape of a chunk.
    pub chunks: Vec<u64>,
    /// The number of chunks along each axis.
    pub grid: Vec<u64>,
    /// The metadata `.zarray` of Zarr's version 2, as JSON.
    pub metadata: String,
    /// The attributes `.zattrs`, as JSON.
    pub attributes: String,
    /// Whether the chunks come in row-major order.
    pub is_ordered: bool,
    element_size: u64,
}

impl Array {
    /// Returns the size of a decoded chunk in bytes.
    fn chunk_bytes(&self) -> u64 {
        self.chunks.iter().fold(self.element_size, |size, &len| size.saturating_mul(len))
    }

    /// Returns the number of chunks. Some may not be stored.
    pub fn chunk_count(&self) -> u64 {
        self.grid.iter().fold(1, |count, &len| count.saturating_mul(len))
    }

    /// Returns the keys and the texts of the metadata of the array.
    pub fn entries(&self) -> [(String, &str); 2] {
        [(key(&self.path, ".zarray"), &self.metadata), (key(&self.path, ".zattrs"), &self.attributes)]
    }

    /// Returns the number of a chunk in row-major order.
    pub fn number(&self, coord: &[u64]) -> u64 {
        coord.iter().zip(&self.grid).fold(0, |number, (at, count)| number * count + at)
    }
}

/// Returns the keys and the texts of the metadata of a group.
pub fn group_entries<'t>(path: &str, attributes: &'t str) -> [(String, &'t str); 2] {
    [(key(path, ".zgroup"), r#"{"zarr_format":2}"#), (key(path, ".zattrs"), attributes)]
}

fn key(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// A chunk.
#[derive(Debug, Clone, Copy)]
pub enum Chunk<'a> {
    /// Bytes of a file.
    Stored {
        /// The URL of the file.
        url: &'a str,
        /// The offset in the file.
        offset: u64,
        /// The number of bytes.
        len: u64,
    },
    /// The encoded bytes themselves.
    Bytes(&'a [u8]),
}

/// What takes the references. An error ends the writing.
pub trait Sink {
    /// Takes a group, before its members. `attributes` is JSON.
    fn group(&mut self, path: &str, attributes: &str) -> anyhow::Result<()>;
    /// Takes an array, before its chunks.
    fn array(&mut self, array: &Array) -> anyhow::Result<()>;
    /// Takes a chunk at `coord`, counted in chunks.
    fn chunk(&mut self, array: &Array, coord: &[u64], chunk: Chunk<'_>) -> anyhow::Result<()>;
    /// Takes the end of an array.
    fn end_array(&mut self, _array: &Array) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Why something cannot be referenced.
type Refused = String;

/// A dataset that cannot be referenced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The path of the dataset.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The arrays and groups of an HDF5 file as Zarr has them.
#[derive(Debug)]
pub struct Plan {
    entries: Vec<Entry>,
    left_out: Vec<LeftOut>,
    options: Options,
}

#[derive(Debug)]
enum Entry {
    Group { path: String, attributes: String },
    Array { dataset: Dataset, array: Box<Array>, source: ChunkSource },
}

impl Plan {
    /// Plans references to a group and everything below it. Soft and external links are not followed, and a
    /// dataset with several names has the first.
    ///
    /// Errors: those of the file; a chunk outside the file.
    pub fn new(root: &Group, options: Options) -> anyhow::Result<Self> {
        let urls = Urls::new(root.file(), options.url.as_deref());
        let (decoder, names) = (Decoder::new(root.file()), AxisNames::below(&root.file().root())?);
        let mut planner = Planner { decoder, names, urls, options: &options };
        let mut entries = vec![planner.group("", root)?];
        let mut left_out = Vec::new();
        for step in Walk::new(root) {
            let step = step.map_err(|(path, error)| anyhow::Error::new(error).context(path.to_string()))?;
            let (Some(node), None) = (&step.node, &step.before) else { continue };
            let path = step.path.to_string();
            let refused = match node {
                Ok(Node::Group(group)) => {
                    entries.push(planner.group(&path, group).with_context(|| path.clone())?);
                    continue;
                }
                Ok(Node::Datatype(_)) => continue,
                Ok(Node::Dataset(dataset)) => match planner.dataset(&path, &step, dataset) {
                    Ok(Ok(entry)) => {
                        entries.extend(entry);
                        continue;
                    }
                    Ok(Err(why)) => why,
                    Err(error) => unsupported(error).with_context(|| path.clone())?,
                },
                Err(error) => match error.root() {
                    Error::Unsupported { .. } => error.to_string(),
                    _ => anyhow::bail!("{path}: {error}"),
                },
            };
            left_out.push(LeftOut { path, why: refused });
        }
        Ok(Self { entries, left_out, options })
    }

    /// Returns the datasets that the references leave out.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the number of chunks of all arrays. Some may not be stored.
    pub fn chunks(&self) -> u64 {
        let arrays = self.entries.iter().filter_map(|entry| match entry {
            Entry::Array { array, .. } => Some(array.chunk_count()),
            Entry::Group { .. } => None,
        });
        arrays.fold(0, u64::saturating_add)
    }

    /// Gives all groups, arrays and chunks to `sink`.
    ///
    /// Errors: those of the file and of the sink.
    pub fn write(&self, sink: &mut dyn Sink) -> anyhow::Result<()> {
        for entry in &self.entries {
            match entry {
                Entry::Group { path, attributes } => sink.group(path, attributes)?,
                Entry::Array { dataset, array, source } => {
                    sink.array(array)?;
                    let done = source.write(dataset, array, &self.options, sink);
                    done.with_context(|| array.path.clone())?;
                    sink.end_array(array)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the reason if an error says that something is not supported.
fn unsupported(error: anyhow::Error) -> anyhow::Result<Refused> {
    let cause = error.chain().find_map(|cause| cause.downcast_ref::<Error>());
    match cause.map(Error::root) {
        Some(Error::Unsupported { .. }) => Ok(crate::error::message(&error)),
        _ => Err(error),
    }
}

struct Planner<'f> {
    decoder: Decoder<'f>,
    names: AxisNames,
    urls: Urls,
    options: &'f Options,
}

/// How a dataset is stored, as Zarr has it.
struct ZarrStorage {
    chunks: Vec<u64>,
    codecs: Vec<String>,
    source: ChunkSource,
    /// Whether every element is in some chunk, so that the fill value never shows.
    is_full: bool,
}

impl Planner<'_> {
    fn group(&self, path: &str, group: &Group) -> anyhow::Result<Entry> {
        let attributes = values::attributes(group, &self.decoder)?;
        Ok(Entry::Group { path: path.to_owned(), attributes: format!("{{{}}}", attributes.join(",")) })
    }

    /// Returns the array for a dataset, nothing for a dimension of netCDF without a variable, or why there is
    /// none.
    fn dataset(
        &mut self,
        path: &str,
        step: &Step,
        dataset: &Dataset,
    ) -> anyhow::Result<Result<Option<Entry>, Refused>> {
        if dataset.is_only_a_dimension()? {
            return Ok(Ok(None));
        }
        if dataset.dataspace() == Dataspace::Null {
            return Ok(Err("it has no dataspace".to_owned()));
        }
        let kind = match Type::of(&dataset.datatype(), dataset.file().store().widths()) {
            Ok(kind) => kind,
            Err(why) => return Ok(Err(why)),
        };
        let mut shape = dataset.shape();
        let stored = match self.stored(dataset, &kind)? {
            Ok(stored) => stored,
            Err(why) => return Ok(Err(why)),
        };
        let ZarrStorage { mut chunks, codecs, source, is_full } = stored;
        let Some(dims) = self.names.of(&step.parent, &step.link.name, &kind.axes) else {
            return Ok(Err("it was just created".to_owned()));
        };
        shape.extend(&kind.axes);
        chunks.extend(&kind.axes);
        // Zarr has no chunks without elements.
        for len in &mut chunks {
            *len = (*len).max(1);
        }
        let grid: Vec<u64> = shape.iter().zip(&chunks).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        let fill = self.fill(dataset, &kind, is_full)?;
        let mut attributes = vec![format!("\"_ARRAY_DIMENSIONS\":{}", json_texts(&dims))];
        attributes.extend(values::attributes(dataset, &self.decoder)?);
        let metadata = format!(
            "{{\"chunks\":{},\"compressor\":null,\"dimension_separator\":\".\",\"dtype\":{},\
             \"fill_value\":{fill},\
             \"filters\":{},\"order\":\"C\",\"shape\":{},\"zarr_format\":2}}",
            json_numbers(&chunks),
            kind.dtype,
            if codecs.is_empty() { "null".to_owned() } else { format!("[{}]", codecs.join(",")) },
            json_numbers(&shape),
        );
        let array = Array {
            path: path.to_owned(),
            shape,
            chunks,
            metadata,
            attributes: format!("{{{}}}", attributes.join(",")),
            is_ordered: grid.is_empty() || (place::is_ordered(dataset) && !dataset.is_virtual()),
            grid,
            element_size: self.decoder.size(&kind.element)? as u64,
        };
        let source = if dataset.size() == 0 { ChunkSource::Nothing } else { source };
        Ok(Ok(Some(Entry::Array { dataset: dataset.clone(), array: Box::new(array), source })))
    }

    fn stored(&self, dataset: &Dataset, kind: &Type) -> anyhow::Result<Result<ZarrStorage, Refused>> {
        let shape = dataset.shape();
        let plain =
            |source, is_full| ZarrStorage { chunks: shape.clone(), codecs: Vec::new(), source, is_full };
        if kind.is_text() {
            let Some(bytes) = embed::strings(dataset, self.options.embed)? else {
                let most = self.options.embed;
                return Ok(Err(format!(
                    "its strings are embedded, which they are if they are UTF-8 and have at most {most} bytes"
                )));
            };
            let codecs = vec![r#"{"id":"vlen-utf8"}"#.to_owned()];
            return Ok(Ok(ZarrStorage { codecs, ..plain(ChunkSource::Embedded(bytes), true) }));
        }
        if kind.is_space_padded() {
            let most = self.options.embed;
            if dataset.len_bytes() > most {
                return Ok(Err(format!(
                    "spaces fill its strings, so they are embedded, if they have at most {most} bytes"
                )));
            }
            return Ok(Ok(plain(ChunkSource::Embedded(embed::elements(dataset)?), true)));
        }
        Ok(match dataset.layout() {
            Layout::Compact { .. } => {
                let bytes = embed::elements(dataset)?;
                Ok(plain(ChunkSource::Embedded(bytes), true))
            }
            Layout::Contiguous(extent) => place::contiguous(dataset, extent, &self.urls)?.map(|source| {
                let is_full = !matches!(source, ChunkSource::Nothing);
                let is_here = !dataset.has_external_files();
                let limit = if is_here && is_full { self.options.split } else { u64::MAX };
                let chunks = place::split(&shape, dataset.element_size() as u64, limit);
                ZarrStorage { chunks, ..plain(source, is_full) }
            }),
            Layout::Chunked(layout) => {
                let survey = Survey::of(dataset, &layout)?;
                let embedded = survey.odd.saturating_mul(layout.chunk_len());
                if embedded > self.options.embed || (survey.odd > 0 && !embed::can_encode(&dataset.filters()))
                {
                    let (odd, most) = (survey.odd, self.options.embed);
                    return Ok(Err(format!(
                        "{odd} of its {} chunks were stored without some of the filters; such chunks are \
                         embedded if they have at most {most} bytes, and no filters but gzip, Zstandard, \
                         Blosc, shuffle and Fletcher32",
                        survey.count
                    )));
                }
                let url = match self.urls.of(dataset.file()) {
                    Ok(url) => url,
                    Err(why) => return Ok(Err(why)),
                };
                let is_full = survey.count == place::chunk_count(&shape, &layout.chunk_shape);
                let filters = dataset.filters();
                let codecs = codecs::codecs(&filters.filters, survey.base, self.options.imagecodecs);
                codecs.map(|codecs| ZarrStorage {
                    chunks: layout.chunk_shape,
                    codecs,
                    source: ChunkSource::Chunks { url, base: survey.base },
                    is_full,
                })
            }
            Layout::Virtual { .. } => match mapped::parts(dataset, &self.urls)? {
                Err(why) => Err(why),
                Ok(parts) => {
                    let filters = parts.like.filters();
                    let codecs = codecs::codecs(&filters.filters, parts.skipped, self.options.imagecodecs);
                    codecs.map(|codecs| ZarrStorage {
                        chunks: parts.chunks,
                        codecs,
                        source: ChunkSource::Mapped(parts.mapped),
                        is_full: parts.is_full,
                    })
                }
            },
        })
    }

    /// Returns the fill value.
    ///
    /// Where every element is stored, Zarr's readers need no fill value; xarray takes one as the mark of
    /// missing values, which only the attribute `_FillValue` is.
    fn fill(&self, dataset: &Dataset, kind: &Type, is_full: bool) -> anyhow::Result<String> {
        if kind.is_text() {
            return Ok("null".to_owned());
        }
        let of = |bytes: &[u8]| values::fill(&kind.element, bytes, &self.decoder);
        let size = self.decoder.size(&kind.element)?;
        if !is_full {
            let bytes = fill_bytes(dataset);
            return of(bytes.get(..size).unwrap_or(&vec![0; size]));
        }
        if !dataset.has_attribute(MARK)? {
            return Ok("null".to_owned());
        }
        let mark = dataset.attribute(MARK)?;
        // A mark of another type is left to the reader.
        let is_element = mark.datatype == kind.element && mark.data.len() == size;
        if is_element { of(&mark.data) } else { Ok("null".to_owned()) }
    }
}

/// The attribute of netCDF with the mark of missing values.
const MARK: &str = "_FillValue";

/// Returns the bytes of an element that was never written.
fn fill_bytes(dataset: &Dataset) -> Vec<u8> {
    let fill = dataset.fill_value();
    match fill.value {
        // libhdf5 leaves zeros where it writes no fill value.
        FillBytes::Defined(bytes)
            if fill.write != FillTime::Never && bytes.len() == dataset.element_size() =>
        {
            bytes
        }
        _ => vec![0; dataset.element_size()],
    }
}

/// Returns texts as a JSON array.
fn json_texts(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| json(text)).collect::<Vec<_>>().join(","))
}
