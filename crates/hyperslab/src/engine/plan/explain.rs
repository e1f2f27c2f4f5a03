//! What a read will do, as data: printed by `hyperslab explain`, compared by tests.

use std::fmt::{self, Write};

use super::pieces::{Pieces, Source};
use super::place::{Cut, User, Users};
use super::route::Route;
use crate::engine::dst::Destination;
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
    /// Stored bytes of the pieces touched.
    pub stored_bytes: u64,
    /// Bytes that will be read: of unfiltered pieces those wanted, of large Blosc chunks at least the front, of what is in
    /// memory none; with the gaps between neighbours that are read together, more.
    pub read_bytes: u64,
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
    /// How many requests it makes; small neighbours share one.
    pub requests: u64,
    /// Bytes that these ask for; of a Blosc chunk that is read in part, the first of them.
    pub bytes: u64,
}

impl Reading<'_> {
    /// The plan of reading `what` into a dense array of the stored datatype. Reads no data.
    pub fn plan(&self, what: &Selection) -> Result<ReadPlan> {
        let array = self.array;
        let pieces = Pieces::of(array);
        let size = array.element_size;
        // Where the elements go matters as far as rows are whole: into a dense array.
        let mut nowhere = Destination::contiguous(&mut []);
        let (dst, _) = nowhere.share(&[0], size)?;
        let tiling = what.tiling(&array.shape, &pieces.shape)?;
        let strides = tiling.strides().iter().map(|stride| stride * size as u64).collect();
        let tiling = tiling.with_strides(strides);
        let mut run = self.run(&pieces, None, size)?;
        run.is_alone = tiling.len() == 1;
        let users = [User { cut: Cut::Tiling(&tiling), dst }];
        let mut plan = ReadPlan {
            shape: what.shape(&array.shape).to_vec(),
            piece_shape: pieces.shape.to_vec(),
            tasks: Vec::new(),
            result_bytes: what.count(&array.shape)? * size as u64,
            stored_bytes: 0,
            read_bytes: 0,
            threads: 1,
        };
        for task in pieces.tasks(self.store, self.cache, &tiling, 0..tiling.len())? {
            let (route, requests, bytes) = run.forecast(&task, Users::of(&task, &[0], &users));
            let mut elements = 0;
            tiling.parts(&task.coord, |part| elements += part.count());
            // What a damaged file says of its chunks may add up to anything.
            let stored = task.extent().map_or(0, |extent| extent.len);
            plan.stored_bytes = plan.stored_bytes.saturating_add(stored);
            plan.read_bytes = plan.read_bytes.saturating_add(bytes);
            let first = first_element(&task.coord, &pieces.shape).to_vec();
            plan.tasks.push(PlannedTask { first, source: task.source, route, elements, requests, bytes });
        }
        plan.threads = workers(self.store, plan.tasks.len(), run.piece_bytes as u64, None);
        Ok(plan)
    }
}

impl fmt::Display for ReadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "result     {:?}, {} bytes", self.shape, self.result_bytes)?;
        writeln!(
            f,
            "pieces     {} of {:?}, {} bytes stored, {} to read",
            self.tasks.len(),
            self.piece_shape,
            self.stored_bytes,
            self.read_bytes
        )?;
        writeln!(f, "threads    {}", self.threads)?;
        for route in Route::ALL {
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
            r#"{{"shape":{:?},"piece_shape":{:?},"result_bytes":{},"stored_bytes":{},"read_bytes":{},"threads":{},"tasks":["#,
            self.shape, self.piece_shape, self.result_bytes, self.stored_bytes, self.read_bytes, self.threads
        );
        for (number, task) in self.tasks.iter().enumerate() {
            let (addr, len) = task.place();
            let addr = addr.map_or_else(|| "null".to_owned(), |addr| addr.to_string());
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(
                json,
                r#"{comma}{{"first":{:?},"route":"{}","elements":{},"address":{addr},"bytes":{len},"requests":{},"read_bytes":{}}}"#,
                task.first,
                task.route.name(),
                task.elements,
                task.requests,
                task.bytes
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
