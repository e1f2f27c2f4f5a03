//! What a read will do, as data: printed by `hyperslab explain`, compared by tests.

use std::fmt::{self, Write};

use smallvec::SmallVec;

use super::pieces::{Pieces, Source};
use super::place::Wanted;
use crate::engine::array::Storage;
use crate::engine::read::emit::Emit;
use crate::engine::read::{Reading, workers};
use crate::error::Result;
use crate::select::{Selection, first_element};

/// What a read will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPlan {
    /// Elements of the result along each dimension.
    pub shape: Vec<u64>,
    /// Elements along each dimension of the pieces that are read: chunks, or runs of rows of contiguous data.
    pub piece_shape: Vec<u64>,
    /// One for each piece, in the order of the file.
    pub tasks: Vec<PlannedTask>,
    /// Bytes of the result.
    pub result_bytes: u64,
    /// Stored bytes of the pieces touched; of unfiltered pieces and Blosc chunks less may be read.
    pub stored_bytes: u64,
    /// How many threads will work.
    pub threads: usize,
}

/// What will be done for one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTask {
    /// The piece's first element in the dataset.
    pub first: Vec<u64>,
    /// Where it is.
    pub source: Source,
    /// How its elements reach the result.
    pub route: Route,
    /// How many of them are wanted.
    pub elements: u64,
}

/// How elements get from the file to the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Never written: the fill value goes to the destination.
    Fill,
    /// Read by the driver, straight into the destination where spans are contiguous.
    Direct,
    /// Decoded straight into the destination.
    DecodeInto,
    /// Of a Blosc chunk, the blocks that are touched are decoded straight into the destination.
    Blocks,
    /// Decoded into a worker's buffer, then copied.
    Scatter,
}

impl Route {
    /// Its name, as `explain` prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Direct => "direct",
            Self::DecodeInto => "decode into",
            Self::Blocks => "blocks",
            Self::Scatter => "scatter",
        }
    }
}

impl Reading<'_> {
    /// The plan of reading `what` into a dense array of the stored datatype. Reads no data.
    pub fn plan(&self, what: &Selection) -> Result<ReadPlan> {
        let array = self.array;
        let pieces = Pieces::of(array);
        let tiling = what.tiling(&array.shape, &pieces.shape)?;
        let size = array.element_size as u64;
        let emit = Emit {
            conversion: None,
            stored_size: array.element_size,
            memory_size: array.element_size,
            piece: pieces.shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect(),
        };
        let elements = what.count(&array.shape)?;
        let strides = tiling.strides().iter().map(|stride| stride * size).collect();
        let tiling = tiling.with_strides(strides);
        let mut plan = ReadPlan {
            shape: what.shape(&array.shape).to_vec(),
            piece_shape: pieces.shape.to_vec(),
            tasks: Vec::new(),
            result_bytes: elements * size,
            stored_bytes: 0,
            threads: 1,
        };
        for task in pieces.tasks(self.store, self.cache, &tiling, 0..tiling.len())? {
            let mut wanted: SmallVec<[Wanted; 1]> = SmallVec::new();
            let mut elements = 0;
            tiling.parts(&task.coord, |part| {
                elements += part.count();
                if wanted.len() < 2 {
                    wanted.push(Wanted::part(&part, &emit));
                }
            });
            let route = match (task.source, &array.storage, &wanted[..]) {
                (Source::Fill, ..) => Route::Fill,
                (Source::Raw(_), ..) => Route::Direct,
                (Source::Chunk(_), _, [Wanted::Dense { .. }]) => Route::DecodeInto,
                (Source::Chunk(record), Storage::Chunked(chunked), [Wanted::Box { .. }])
                    if chunked.pipeline.as_blosc(record.mask).is_some() =>
                {
                    Route::Blocks
                }
                (Source::Compact | Source::Chunk(_), ..) => Route::Scatter,
            };
            let stored = match task.source {
                Source::Fill | Source::Compact => 0,
                Source::Raw(extent) => extent.len,
                Source::Chunk(record) => record.extent.len,
            };
            // What a damaged file says of its chunks may add up to anything.
            plan.stored_bytes = plan.stored_bytes.saturating_add(stored);
            let first = first_element(&task.coord, &pieces.shape).to_vec();
            plan.tasks.push(PlannedTask { first, source: task.source, route, elements });
        }
        let piece_bytes = pieces.elements().saturating_mul(size);
        plan.threads = workers(self.store, plan.tasks.len(), piece_bytes, None);
        Ok(plan)
    }
}

impl fmt::Display for ReadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "result     {:?}, {} bytes", self.shape, self.result_bytes)?;
        writeln!(
            f,
            "pieces     {} of {:?}, {} bytes stored",
            self.tasks.len(),
            self.piece_shape,
            self.stored_bytes
        )?;
        writeln!(f, "threads    {}", self.threads)?;
        for route in [Route::Fill, Route::Direct, Route::DecodeInto, Route::Blocks, Route::Scatter] {
            let count = self.tasks.iter().filter(|task| task.route == route).count();
            if count > 0 {
                writeln!(f, "route      {count} {}", route.name())?;
            }
        }
        for task in self.tasks.iter().take(SHOWN_TASKS) {
            let (addr, len) = task.place();
            write!(f, "  {:?}: {}, {} elements", task.first, task.route.name(), task.elements)?;
            match addr {
                Some(addr) => writeln!(f, ", {len} bytes at {addr:#x}")?,
                None => writeln!(f)?,
            }
        }
        match self.tasks.len().saturating_sub(SHOWN_TASKS) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

impl ReadPlan {
    /// The whole plan as JSON.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        // Writing to a string does not fail, and nothing here needs escaping.
        let _ = write!(
            json,
            r#"{{"shape":{:?},"piece_shape":{:?},"result_bytes":{},"stored_bytes":{},"threads":{},"tasks":["#,
            self.shape, self.piece_shape, self.result_bytes, self.stored_bytes, self.threads
        );
        for (number, task) in self.tasks.iter().enumerate() {
            let (addr, len) = task.place();
            let addr = addr.map_or_else(|| "null".to_owned(), |addr| addr.to_string());
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(
                json,
                r#"{comma}{{"first":{:?},"route":"{}","elements":{},"address":{addr},"bytes":{len}}}"#,
                task.first,
                task.route.name(),
                task.elements
            );
        }
        json.push_str("]}");
        json
    }
}

impl PlannedTask {
    /// The address and length of the stored bytes.
    fn place(&self) -> (Option<u64>, u64) {
        match self.source {
            Source::Fill | Source::Compact => (None, 0),
            Source::Raw(extent) => (Some(extent.addr.get()), extent.len),
            Source::Chunk(record) => (Some(record.extent.addr.get()), record.extent.len),
        }
    }
}

/// Tasks that the text shows one by one.
const SHOWN_TASKS: usize = 20;
