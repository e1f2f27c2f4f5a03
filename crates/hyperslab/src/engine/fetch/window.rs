//! The tasks that one worker has in progress, and their requests. This module reads no byte: the driver takes
//! requests while it can serve more of them, and a task is finished when its last byte has arrived.

use std::io;

use hyperslab_error::{Error, Result};
use hyperslab_filters::blosc::Spans as Needed;
use hyperslab_filters::gather::Target;
use hyperslab_format::{Addr, Extent};
use hyperslab_io::driver::{Driver, ReadQueue, Request};
use hyperslab_io::interrupt;
use smallvec::SmallVec;

use super::Finish;
use super::blosc_ranges::BloscRanges;
use crate::engine::claims::Claims;
use crate::engine::destination::Region;
use crate::engine::in_flight::{Claim, Held, Share};
use crate::engine::plan::context::ReadContext;
use crate::engine::plan::elements::axes;
use crate::engine::plan::pieces::ReadTask;
use crate::engine::plan::place::{Wanted, destination_offset};
use crate::engine::plan::spans::{Spans, moved};
use crate::engine::plan::step::{ChunkStep, Purpose, Way};
use crate::engine::raw_data::RawData;
use crate::engine::scratch::{WorkerScratch, sized};
use crate::engine::task_queue::worked;

/// The reads of one worker.
pub(in crate::engine) struct Window<'w> {
    context: &'w ReadContext<'w>,
    finish: &'w dyn Finish,
    raw: RawData<'w>,
    /// Added to every address.
    base: u64,
    claims: &'w Claims<'w, ReadTask>,
    /// The tasks that are claimed and not begun.
    tasks: &'w [ReadTask],
    /// What the first of these needs, if it is known.
    step: Option<ChunkStep>,
    /// The unfiltered piece whose boxes are being requested.
    boxes: Option<Boxes<'w>>,
    jobs: SmallVec<[Option<Job<'w>>; 1]>,
    /// The indices of jobs with requests left, the next one last.
    asking: SmallVec<[usize; 2]>,
    /// The indices of `jobs` that are empty.
    free: SmallVec<[usize; 2]>,
    /// A request that was taken from the queue and that the queue must return again.
    again: Option<Request>,
    /// Buffers, each with the key of the request that it is lent to.
    lent: SmallVec<[(u64, Vec<u8>); 1]>,
    /// The last request whose buffer the driver asked for. A failed read is a read of this request.
    last: u64,
    /// The memory of the requests in progress, as the file counts it.
    held: Held<'w>,
    /// The claim that was not admitted, if the last `next` returned no request because of it.
    refused: Option<Claim>,
    scratch: &'w mut WorkerScratch,
    error: Option<Error>,
}

/// The boxes of an unfiltered piece, one after another.
struct Boxes<'w> {
    task: &'w ReadTask,
    extent: Extent,
    /// The number of the next user, and of the next part of that user.
    next: (usize, usize),
}

/// The requests of one task or of several.
struct Job<'w> {
    /// The number of requests, of those that the driver has taken, and of those that have arrived.
    count: u64,
    asked: u64,
    arrived: u64,
    /// What must be claimed before the next request.
    due: Claim,
    /// The bytes that are claimed, of each share.
    claimed: [u64; 2],
    kind: RequestKind<'w>,
}

enum RequestKind<'w> {
    /// Neighbouring tasks whose stored bytes are one range, and the way of the first task if it is known.
    Whole { tasks: &'w [ReadTask], extent: Extent, way: Option<Way> },
    /// A box of the unfiltered piece at `at`.
    Spans { at: Addr, spans: Spans, region: Region<'w> },
    /// Blocks of a Blosc chunk. The bytes before `known` have arrived.
    Blocks { task: &'w ReadTask, wanted: Wanted, extent: Extent, known: usize, ranges: BloscRanges },
}

impl<'w> Window<'w> {
    pub(in crate::engine) fn new(
        context: &'w ReadContext<'w>,
        finish: &'w dyn Finish,
        claims: &'w Claims<'w, ReadTask>,
        scratch: &'w mut WorkerScratch,
    ) -> Self {
        let raw = context.reading.raw();
        let is_nested = context.is_nested || scratch.is_nested;
        Self {
            held: Held::new((!is_nested).then_some(&context.reading.cache.in_flight)),
            refused: None,
            context,
            finish,
            raw,
            base: raw.base(),
            claims,
            tasks: &[],
            step: None,
            boxes: None,
            jobs: SmallVec::new(),
            asking: SmallVec::new(),
            free: SmallVec::new(),
            again: None,
            lent: SmallVec::new(),
            last: 0,
            scratch,
            error: None,
        }
    }

    /// Reads and finishes all tasks.
    pub(in crate::engine) fn drive(mut self) -> Result<()> {
        let driver = self.raw.driver()?;
        let read = match driver.bytes() {
            Ok(None) => loop {
                let read = driver.read_many(&mut self);
                if read.is_err() || !self.waits() {
                    break read;
                }
            },
            in_memory => in_memory.map(|file| self.finish_in_memory(file.unwrap_or_default())),
        };
        self.end(read)
    }

    /// Reads and finishes a single task, which needs `step`. A request that is the only one needs no queue.
    pub(in crate::engine) fn drive_one(mut self, step: ChunkStep) -> Result<()> {
        self.step = Some(step);
        let driver = self.raw.driver()?;
        let read = match driver.bytes() {
            Ok(None) => {
                self.tasks = self.claims.take(0);
                self.error = self.begin().err();
                self.read(&*driver)
            }
            in_memory => in_memory.map(|file| self.finish_in_memory(file.unwrap_or_default())),
        };
        self.end(read)
    }

    /// Returns what the first of the tasks needs.
    fn next_step(&mut self, task: &ReadTask) -> ChunkStep {
        self.step.take().unwrap_or_else(|| self.context.step(task, Purpose::Read))
    }

    /// Finishes all tasks with the bytes of the file where they are.
    fn finish_in_memory(&mut self, file: &[u8]) {
        while self.error.is_none() {
            if self.tasks.is_empty() {
                self.tasks = self.claims.take(0);
            }
            let Some((task, rest)) = self.tasks.split_first() else { break };
            self.tasks = rest;
            let step = self.next_step(task);
            let stored = stored_in(file, self.raw, &step);
            let done = stored.and_then(|stored| self.finish.finish(task, step, stored, self.scratch));
            self.error = done.and_then(|()| worked("read", self.context.piece_bytes)).err();
        }
    }

    /// Waits for memory if the last request was refused for lack of it. Returns whether it was.
    fn waits(&mut self) -> bool {
        let refused = self.refused.take().filter(|_| self.error.is_none());
        if let Some(claim) = refused {
            self.error = self.held.wait(claim).err();
        }
        refused.is_some()
    }

    fn read(&mut self, driver: &dyn Driver) -> io::Result<()> {
        loop {
            let Some(request) = self.next() else {
                if self.waits() {
                    continue;
                }
                return Ok(());
            };
            if self.boxes.is_none() && self.asking.is_empty() {
                driver.read_at(request.offset, self.place(request.id)?)?;
                self.arrived(request.id);
            } else {
                self.again = Some(request);
                driver.read_many(self)?;
            }
        }
    }

    fn end(mut self, read: io::Result<()>) -> Result<()> {
        self.lent.drain(..).for_each(|(_, buffer)| self.scratch.put_back(buffer));
        let (index, number) = split(self.last);
        let job = self.jobs.get(index).and_then(Option::as_ref);
        let (at, len) = job.map_or((Addr::new(0), 0), |job| job.range(number));
        self.error.map_or(Ok(()), Err)?;
        read.map_err(Error::io("read", self.base.saturating_add(at.get()), len as u64))
    }

    /// Returns the next request that does not depend on one in progress.
    fn advance(&mut self) -> Result<Option<Request>> {
        loop {
            if !self.asking.is_empty() {
                return Ok(self.ask());
            }
            if let Some(boxes) = &mut self.boxes {
                match boxes.next(self.context)? {
                    Some(job) => self.push(job),
                    None => self.boxes = None,
                }
                continue;
            }
            if self.tasks.is_empty() {
                self.tasks = self.claims.take(self.jobs.len() - self.free.len());
            }
            if self.tasks.is_empty() || self.jobs.len() - self.free.len() >= MOST_JOBS {
                return Ok(None);
            }
            self.begin()?;
        }
    }

    /// Returns the next request of the last job for which there is memory.
    fn ask(&mut self) -> Option<Request> {
        let Self { jobs, asking, held, refused, .. } = self;
        for place in (0..asking.len()).rev() {
            let index = asking[place];
            let Some(Some(job)) = jobs.get_mut(index) else { continue };
            if job.due.1 > 0 && !job.claim(held, refused) {
                continue;
            }
            let number = job.asked;
            job.asked += 1;
            let (at, len) = job.range(number);
            if job.asked == job.count {
                asking.remove(place);
            }
            *refused = None;
            let offset = self.base.saturating_add(at.get());
            return Some(Request { id: number << JOB_BITS | index as u64, offset, len });
        }
        None
    }

    /// Begins the next task, together with the neighbours that are read in the same request.
    fn begin(&mut self) -> Result<()> {
        let Some((task, rest)) = self.tasks.split_first() else { return Ok(()) };
        let (context, raw) = (self.context, self.raw);
        let step = self.next_step(task);
        let all = std::mem::replace(&mut self.tasks, rest);
        let kind = match step {
            ChunkStep::Spans(extent) => {
                self.boxes = Some(Boxes { task, extent, next: (0, 0) });
                return Ok(());
            }
            ChunkStep::Front { extent, front: known, wanted } => {
                raw.check(extent)?;
                let ranges = BloscRanges::new(known, size(extent), context.is_alone);
                RequestKind::Blocks { task, wanted, extent, known, ranges }
            }
            ChunkStep::Whole(mut extent, way) => {
                raw.check(extent)?;
                let mut count = 1;
                while let Some(next) = all.get(count) {
                    let step = context.step(next, Purpose::Read);
                    let neighbour = step.neighbour();
                    let joined = neighbour.and_then(|neighbour| context.join(extent, neighbour));
                    let (Some(neighbour), Some(joined)) = (neighbour, joined) else {
                        self.step = Some(step);
                        break;
                    };
                    raw.check(neighbour)?;
                    extent = joined;
                    count += 1;
                }
                self.tasks = &all[count..];
                RequestKind::Whole { tasks: &all[..count], extent, way }
            }
            step => {
                self.finish.finish(task, step, &[], self.scratch)?;
                return worked("read", context.piece_bytes);
            }
        };
        self.push(Job::new(1, kind));
        Ok(())
    }

    fn push(&mut self, job: Job<'w>) {
        let index = self.free.pop().unwrap_or(self.jobs.len());
        match self.jobs.get_mut(index) {
            Some(place) => *place = Some(job),
            None => self.jobs.push(Some(job)),
        }
        self.asking.push(index);
    }

    /// Uses the bytes of a request that arrived. Returns whether its job is finished.
    fn finish(&mut self, id: u64) -> Result<bool> {
        let (index, number) = split(id);
        let Some(job) = self.jobs.get_mut(index).and_then(Option::as_mut) else { return Ok(false) };
        job.arrived += 1;
        let is_last = job.arrived == job.count;
        match &mut job.kind {
            RequestKind::Spans { spans, .. } if spans.is_direct => worked("read", spans.len)?,
            RequestKind::Spans { spans, region, .. } => {
                let (key, buffer) = lent_to(&mut self.lent, id, spans.len)?;
                let (bytes, target) = (&buffer[..spans.len], spans.at(number).1);
                self.finish.copy_span(spans, bytes, target, region);
                *key = NOBODY;
                free(&mut self.lent);
                job.claimed[job.due.0 as usize] -= job.due.1;
                self.held.give_back(job.due);
                worked("read", spans.len)?;
            }
            RequestKind::Whole { tasks, extent, way } => {
                let (key, buffer) = lent_to(&mut self.lent, id, size(*extent))?;
                for task in *tasks {
                    let own = task.extent().unwrap_or(*extent);
                    let step = ChunkStep::Whole(own, way.take());
                    let bytes = task.stored_in(*extent, buffer);
                    self.finish.finish(task, step, bytes, self.scratch)?;
                    worked("read", self.context.piece_bytes)?;
                }
                *key = NOBODY;
                free(&mut self.lent);
            }
            RequestKind::Blocks { task, wanted, extent, known, ranges } if is_last => {
                let len = size(*extent);
                if *known < len {
                    let more = &mut self.scratch.ranges;
                    more.clear();
                    let needed = self.context.blocks(task, wanted, ranges.front(*known)?, len, more)?;
                    match needed {
                        Needed::More(longer) => more.push(*known..longer.clamp(*known + 1, len)),
                        Needed::Whole => more.push(*known..len),
                        Needed::Parts => {
                            for range in more.iter_mut() {
                                range.start = range.start.max(*known);
                            }
                            more.retain(|range| !range.is_empty());
                        }
                    }
                    let before = *known;
                    // After `Parts`, all needed ranges are known.
                    *known = if matches!(needed, Needed::Parts) {
                        len
                    } else {
                        more.last().map_or(len, |last| last.end)
                    };
                    let added = ranges.add(more.drain(..));
                    if job.claimed[Share::Rest as usize] == 0 {
                        // More may be found to be needed later, but no claim may follow this one.
                        let most = if *known < len { len - before } else { added };
                        job.due = (Share::Rest, most as u64);
                    }
                    job.count = ranges.list.len() as u64;
                    if job.asked < job.count {
                        self.asking.push(index);
                        return Ok(false);
                    }
                }
                let wanted = std::mem::replace(wanted, Wanted::Several { by_one: true });
                let step = ChunkStep::Front { extent: *extent, front: *known, wanted };
                let stored = ranges.assemble(len, self.scratch)?;
                let finished = self.finish.finish(task, step, &stored[..len], self.scratch);
                self.scratch.keep(stored);
                finished?;
                worked("read", self.context.piece_bytes)?;
            }
            RequestKind::Blocks { .. } => {}
        }
        Ok(is_last)
    }
}

impl<'w> Job<'w> {
    fn new(count: u64, kind: RequestKind<'w>) -> Self {
        let due = match &kind {
            RequestKind::Spans { spans, .. } if spans.is_direct => (Share::Rest, 0),
            RequestKind::Spans { spans, .. } => (Share::Rest, spans.len as u64),
            RequestKind::Whole { extent, .. } => (Share::Rest, extent.len),
            RequestKind::Blocks { extent, known, ranges, .. } => ranges.due(*known, extent.len),
        };
        Self { count, asked: 0, arrived: 0, due, claimed: [0; 2], kind }
    }

    /// Claims the memory of the next request. Returns whether there is any; if not, the claim is refused.
    fn claim(&mut self, held: &mut Held<'_>, refused: &mut Option<Claim>) -> bool {
        // After a refusal only a job that needs no more memory may go on.
        if refused.is_some() || !held.take(self.due) {
            refused.get_or_insert(self.due);
            return false;
        }
        self.claimed[self.due.0 as usize] += self.due.1;
        if !matches!(self.kind, RequestKind::Spans { .. }) {
            self.due.1 = 0;
        }
        true
    }

    /// Returns the address and length of request number `number`.
    #[inline]
    fn range(&self, number: u64) -> (Addr, usize) {
        match &self.kind {
            RequestKind::Spans { at, spans, .. } => (moved(*at, spans.at(number).0), spans.len),
            RequestKind::Whole { extent, .. } => (extent.addr, size(*extent)),
            RequestKind::Blocks { extent, ranges, .. } => {
                let range = ranges.range(number);
                (moved(extent.addr, range.start), range.len())
            }
        }
    }
}

impl<'w> Boxes<'w> {
    /// Returns the job of the next box.
    fn next(&mut self, context: &'w ReadContext<'w>) -> Result<Option<Job<'w>>> {
        while let Some(user) = context.users(self.task).get(self.next.0) {
            let Some(part) = user.part(&self.task.coord, self.next.1) else {
                self.next = (self.next.0 + 1, 0);
                continue;
            };
            self.next.1 += 1;
            let offset = destination_offset(&part);
            let spans = Spans::new(&context.elements, &axes(&part), offset, context.hints);
            let Some(last) = spans.count.checked_sub(1) else { continue };
            // Spans ascend, so the whole box is inside the file if both ends are.
            let first = moved(self.extent.addr, spans.at(0).0);
            let end = moved(self.extent.addr, spans.at(last).0 + spans.len);
            context.reading.raw().check(Extent::new(first, end.get() - first.get()))?;
            let (count, region) = (spans.count, user.dst.region());
            let kind = RequestKind::Spans { at: self.extent.addr, spans, region };
            return Ok(Some(Job::new(count, kind)));
        }
        Ok(None)
    }
}

impl ReadQueue for Window<'_> {
    fn next(&mut self) -> Option<Request> {
        self.refused = None;
        if !self.asking.is_empty() && self.again.is_none() && self.error.is_none() {
            return self.ask();
        }
        if self.again.is_some() {
            return self.again.take();
        }
        if self.error.is_some() {
            return None;
        }
        self.advance().unwrap_or_else(|error| {
            self.error = Some(error);
            None
        })
    }

    fn place(&mut self, id: u64) -> io::Result<&mut [u8]> {
        let (index, number) = split(id);
        let job = self.jobs.get_mut(index).and_then(Option::as_mut);
        let job = job.ok_or_else(|| io::Error::other("the driver read an unknown request"))?;
        self.last = id;
        let len = match &mut job.kind {
            RequestKind::Spans { spans, region, .. } if spans.is_direct => {
                return Ok(region.run(spans.at(number).1, spans.len));
            }
            RequestKind::Spans { spans, .. } => spans.len,
            RequestKind::Whole { extent, .. } => size(*extent),
            RequestKind::Blocks { extent, ranges, .. } => {
                return ranges.place(number, size(*extent), self.scratch);
            }
        };
        let of = |key| self.lent.iter().position(|(other, _)| *other == key);
        let lent = of(id).or_else(|| of(NOBODY)).unwrap_or_else(|| {
            self.lent.push((id, self.scratch.take()));
            self.lent.len() - 1
        });
        let (to, buffer) = &mut self.lent[lent];
        *to = id;
        Ok(sized(buffer, len).map_err(|_| io::ErrorKind::OutOfMemory)?)
    }

    fn arrived(&mut self, id: u64) {
        let (index, _) = split(id);
        // The usual case: one of many spans, read directly into the destination.
        if let Some(Some(Job { count, arrived, kind: RequestKind::Spans { spans, .. }, .. })) =
            self.jobs.get_mut(index)
            && spans.is_direct
            && *arrived + 1 < *count
        {
            *arrived += 1;
            // Short spans are counted together: counting takes as long as a few of their bytes.
            let counted = if spans.len < SHORT { SHORT_COUNTED } else { 1 };
            if arrived.is_multiple_of(counted as u64) && self.error.is_none() {
                let asked = interrupt::after(counted, spans.len * counted);
                self.error = asked.map_err(Error::io("read", 0, 0)).err();
            }
            return;
        }
        if self.error.is_some() {
            // After an error no task is finished.
            return;
        }
        match self.finish(id) {
            Ok(false) => {}
            Ok(true) => {
                if let Some(Job { claimed: [first, rest], .. }) = self.jobs[index].take() {
                    self.held.give_back((Share::First, first));
                    self.held.give_back((Share::Rest, rest));
                }
                self.free.push(index);
            }
            Err(error) => self.error = Some(error),
        }
    }

    fn upcoming(&mut self, most: usize, f: &mut dyn FnMut(u64, u64)) {
        for task in self.claims.untold(most) {
            let step = self.context.step(task, Purpose::Tell);
            step.each_range(self.context, task, |at, len| f(self.base.saturating_add(at.get()), len));
        }
    }
}

/// Returns the bytes that a step needs from a file that is in memory.
fn stored_in<'f>(file: &'f [u8], raw: RawData<'_>, step: &ChunkStep) -> Result<&'f [u8]> {
    let Some(extent) = step.extent() else { return Ok(&[]) };
    let len = raw.check(extent)?;
    let offset = raw.base().saturating_add(extent.addr.get());
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let stored = file.get(start..start.saturating_add(len));
    stored.ok_or_else(|| Error::io("read", offset, extent.len)(io::ErrorKind::UnexpectedEof.into()))
}

/// Returns the index of a request's job, and the number of the request in its job.
fn split(id: u64) -> (usize, u64) {
    ((id & ((1 << JOB_BITS) - 1)) as usize, id >> JOB_BITS)
}

/// Returns the length of an extent, which was checked to fit in a `usize`.
fn size(extent: Extent) -> usize {
    usize::try_from(extent.len).unwrap_or(usize::MAX)
}

/// Returns the buffer of `len` bytes that is lent to a request that has arrived.
fn lent_to(lent: &mut [(u64, Vec<u8>)], key: u64, len: usize) -> Result<&mut (u64, Vec<u8>)> {
    let found = lent.iter_mut().find(|(other, buffer)| *other == key && buffer.len() >= len);
    let unasked = || Error::io("read", 0, len as u64)(io::Error::other("the driver delivered no bytes"));
    found.ok_or_else(unasked)
}

/// Frees buffers that are not lent, except for a few: they are no longer counted.
fn free(lent: &mut SmallVec<[(u64, Vec<u8>); 1]>) {
    if lent.len() > 1 {
        let (mut kept, mut is_first) = (0, true);
        lent.retain(|(key, buffer)| {
            if *key != NOBODY {
                return true;
            }
            kept += buffer.capacity();
            std::mem::take(&mut is_first) || kept <= FREE_BYTES
        });
    }
}

/// The bits of a request's id that hold the index of its job.
const JOB_BITS: u32 = 16;
/// The key of a buffer that is not lent.
const NOBODY: u64 = !0;
/// The most bytes of buffers that are not lent, if there are several.
const FREE_BYTES: usize = 4 << 20;
/// The bytes of a span that is not counted on its own, and the number that are counted together.
const SHORT: usize = 4 << 10;
const SHORT_COUNTED: usize = 16;
/// The most jobs of one worker; no driver has as many requests in progress.
const MOST_JOBS: usize = 1 << 12;
