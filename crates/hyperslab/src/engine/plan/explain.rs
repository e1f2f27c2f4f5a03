//! The plan of a read as data. `hyperslab explain` prints it and tests compare it.

use std::fmt::{self, Write};

use hyperslab_error::Result;
use hyperslab_select::{Selection, first_element};

use super::context::ReadContext;
use super::elements::{Goal, PieceElements};
use super::pieces::{Pieces, Source};
use super::place::{Cut, User};
use super::route::Route;
use super::step::Purpose;
use crate::engine::destination::Destination;
use crate::engine::plan::reading::Reading;
use crate::engine::task_queue::workers_on;

/// The plan of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadPlan {
    /// The number of elements of the result along each dimension.
    pub shape: Vec<u64>,
    /// The number of elements of a piece along each dimension. A piece is a chunk, or a run of rows of
    /// contiguous data.
    pub piece_shape: Vec<u64>,
    /// One task for each piece, in file order.
    pub tasks: Vec<PlannedTask>,
    /// The size of the result in bytes.
    pub result_bytes: u64,
    /// The stored bytes of all touched pieces.
    pub stored_bytes: u64,
    /// The bytes to read: the selected bytes of unfiltered pieces, at least the front of large Blosc chunks,
    /// none of pieces in memory. Gaps between neighbours that are read together add to this number.
    pub read_bytes: u64,
    /// The number of threads.
    pub threads: usize,
}

/// The plan for one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedTask {
    /// The index in the dataset of the piece's first element.
    pub first: Vec<u64>,
    /// Where the piece comes from.
    pub source: Source,
    /// How its elements get to the result.
    pub route: Route,
    /// The number of its selected elements.
    pub elements: u64,
    /// The number of read requests; small neighbours share one.
    pub requests: u64,
    /// The bytes that the requests ask for. Only the first request counts if part of a Blosc chunk is read.
    pub bytes: u64,
}

impl Reading<'_> {
    /// Returns the plan for reading `what` into a dense array of the stored datatype. Reads no data.
    pub fn plan(&self, what: &Selection) -> Result<ReadPlan> {
        let array = self.array;
        let pieces = Pieces::of(array);
        let size = array.elements.size;
        // The destination matters only for whether rows are contiguous, so plan for a dense array.
        let mut nowhere = Destination::contiguous(&mut []);
        let (dst, _) = nowhere.share(&[0], size)?;
        let tiling = what.tiling(&array.shape, &pieces.shape)?;
        let strides = tiling.strides().iter().map(|stride| stride * size as u64).collect();
        let tiling = tiling.with_strides(strides);
        let users = [User { cut: Cut::Tiling(&tiling), dst }];
        let elements = PieceElements::of(&pieces, size, size, Goal::Copy);
        let context = ReadContext::new(*self, elements, &users, &[0], tiling.len())?;
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
            let step = context.step(&task, Purpose::Tell);
            let (route, (requests, bytes)) = (step.route(&context, &task), step.requests(&context, &task));
            let mut elements = 0;
            tiling.parts(&task.coord, |part| elements += part.count());
            // The chunk lengths in a damaged file may add up to anything.
            let stored = task.extent().map_or(0, |extent| extent.len);
            plan.stored_bytes = plan.stored_bytes.saturating_add(stored);
            plan.read_bytes = plan.read_bytes.saturating_add(bytes);
            let first = first_element(&task.coord, &pieces.shape).to_vec();
            plan.tasks.push(PlannedTask { first, source: task.source, route, elements, requests, bytes });
        }
        plan.threads = workers_on(self.store, plan.tasks.len(), context.piece_bytes as u64, None);
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
    /// Returns the whole plan as JSON.
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        // Writing to a string does not fail, and no value here needs escaping.
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
    /// Returns the address and the length of the stored bytes.
    fn place(&self) -> (Option<u64>, u64) {
        match self.source {
            Source::Fill | Source::Compact => (None, 0),
            Source::Raw(extent) => (Some(extent.addr.get()), extent.len),
            Source::Chunk(record) => (Some(record.extent.addr.get()), record.extent.len),
        }
    }
}

/// The number of tasks that the text lists one by one.
const SHOWN_TASKS: usize = 20;
