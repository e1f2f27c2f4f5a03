//! Writes in which all ranks take part, each with its own elements.
//!
//! A chunk that several ranks touch belongs to one of them ([`shares`]): the others send it their elements.
//! Each rank encodes its own chunks and tells their sizes. Then every rank allocates the places of all
//! chunks, in the same order, and writes its own. So every rank knows the new index without reading it. All
//! this is done in rounds, which bound the memory of a write.

mod exchange;
mod rounds;

use std::collections::HashMap;
use std::num::NonZeroUsize;

use hyperslab_error::Result;
use hyperslab_filters::FilterMask;
use hyperslab_select::Coord;
use hyperslab_store::index::ChunkRecord;
use hyperslab_store::{Collective, Meeting, SpaceKind};
use parking_lot::Mutex;

use crate::engine::array::{ChunkedStorage, Storage};
use crate::engine::chunks::cache::ChunkKey;
use crate::engine::chunks::stored::load;
use crate::engine::plan::pieces::{Pieces, ReadTask};
use crate::engine::scratch::{WorkerScratch, sized};
use crate::engine::task_queue;
use crate::engine::task_queue::workers_on;
use crate::engine::write::encode::{Encoded, Form};
use crate::engine::write::place::{Placed, abandon, unplaced};
use crate::engine::write::{Write, WritePlan, WriteRun};
use exchange::Sent;
use rounds::Round;

/// What a rank tells of an encoded chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    coord: Coord,
    form: ToldForm,
}

/// The [`Form`] of a chunk whose bytes another rank may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToldForm {
    New { len: u64, mask: FilterMask },
    InPlace,
    Absent,
}

impl Write<'_> {
    /// Runs this rank's part of a write of all ranks. Returns the changes for the index, which are those of
    /// all ranks. If any rank fails, all do, and each element has its old or its new value.
    ///
    /// The data of a dataset without chunks have their place.
    pub fn run_together(
        &self,
        plan: Result<WritePlan<'_>>,
        collective: &Collective,
        threads: Option<NonZeroUsize>,
    ) -> Result<Vec<Placed>> {
        let plan = plan.map_err(|error| collective.fail(Meeting::Touched, error))?;
        let Storage::Chunked(chunked) = &self.array.storage else {
            collective.meet(Meeting::Touched, Ok(Vec::new()))?;
            let written = {
                let _alone = collective.alone();
                self.run(&plan, threads).and_then(|_| self.settle())
            };
            return collective.meet(Meeting::Written, written.map(|()| Vec::new())).map(|_| Vec::new());
        };
        let pieces = Pieces::of(self.array);
        let tasks = self.piece_bytes(&pieces).and_then(|bytes| {
            let tasks = plan.tasks(self, &pieces, 0..plan.len())?;
            Ok((bytes, tasks.into_vec()))
        });
        let (piece_bytes, tasks) = tasks.map_err(|error| collective.fail(Meeting::Touched, error))?;
        let run = WriteRun { write: *self, plan: &plan, piece_bytes };
        let rounds = rounds::divide(collective, &tasks, self.array.shape.len(), piece_bytes)?;
        let workers = workers_on(self.store, tasks.len(), piece_bytes as u64, threads);
        let mut placed = Vec::new();
        for round in rounds {
            match run.round(collective, chunked, &tasks, &round, workers) {
                Ok(more) => placed.extend(more),
                Err(error) => {
                    abandon(self.store, &placed);
                    return Err(error);
                }
            }
        }
        Ok(placed)
    }

    /// Places the encoded chunks of all ranks, and writes those of this rank. Returns the changes for the
    /// index.
    fn place_together(
        &self,
        collective: &Collective,
        encoded: Result<Vec<Encoded<'_>>>,
    ) -> Result<Vec<Placed>> {
        let encoded = encoded.map_err(|error| collective.fail(Meeting::Encoded, error))?;
        let told = collective.meet(Meeting::Encoded, Ok(tell(&encoded)))?;
        let all: Option<Vec<Vec<Told>>> =
            told.iter().map(|bytes| hear(bytes, self.array.shape.len())).collect();
        let all = all.ok_or_else(|| collective.garbled())?;
        let new = all.iter().flatten().filter_map(|told| match told.form {
            ToldForm::New { len, .. } => Some(len),
            ToldForm::InPlace | ToldForm::Absent => None,
        });
        let mut extents = self.store.allocate_all(SpaceKind::Raw, new)?.into_iter();
        let mut placed = Vec::new();
        let mut own = Vec::with_capacity(encoded.len());
        for (rank, chunks) in all.into_iter().enumerate() {
            for Told { coord, form } in chunks {
                let record = match form {
                    ToldForm::New { mask, .. } => {
                        let extent = extents.next().ok_or_else(unplaced)?;
                        Some(ChunkRecord { extent, mask })
                    }
                    ToldForm::InPlace | ToldForm::Absent => None,
                };
                // Drop a cached chunk that had this place before.
                record.inspect(|&record| {
                    self.cache.forget(&ChunkKey::new(self.store, self.array.header, record));
                });
                if rank == collective.rank() {
                    own.push(record.map(|record| record.extent.addr));
                }
                if form != ToldForm::InPlace {
                    placed.push(Placed { coord, record });
                }
            }
        }
        let runs = encoded.iter().zip(own).filter_map(|(chunk, new)| match chunk.form {
            Form::InPlace { extent, .. } => Some((extent.addr, chunk.bytes())),
            Form::New { .. } | Form::Absent => new.map(|addr| (addr, chunk.bytes())),
        });
        let written = {
            let _alone = collective.alone();
            self.store.write_batch(runs)
        };
        match collective.meet(Meeting::Written, written.map(|()| Vec::new())) {
            Ok(_) => Ok(placed),
            Err(error) => {
                abandon(self.store, &placed);
                Err(error)
            }
        }
    }
}

impl<'a> WriteRun<'a> {
    /// Does this rank's part of a round. Returns the changes for the index.
    fn round(
        &self,
        collective: &Collective,
        chunked: &ChunkedStorage,
        tasks: &[ReadTask],
        round: &Round,
        workers: usize,
    ) -> Result<Vec<Placed>> {
        let came = self.exchange(collective, tasks, round)?;
        let own: Vec<&ReadTask> = round.own.iter().map(|&number| &tasks[number]).collect();
        let encoded =
            self.unpack_all(&came, &own).and_then(|sent| self.encode_all(chunked, &own, &sent, workers));
        self.write.place_together(collective, encoded)
    }

    /// Encodes chunks of this rank, with the elements that other ranks have sent.
    fn encode_all(
        &self,
        chunked: &ChunkedStorage,
        tasks: &[&ReadTask],
        sent: &HashMap<Coord, Vec<Sent>>,
        workers: usize,
    ) -> Result<Vec<Encoded<'a>>> {
        let encoded: Vec<Mutex<Option<Encoded<'a>>>> = tasks.iter().map(|_| Mutex::default()).collect();
        let slots: Vec<_> = tasks.iter().zip(&encoded).collect();
        task_queue::run(&slots, workers, self.piece_bytes, &|slots, scratch| {
            slots.iter().try_for_each(|(task, slot)| {
                let sent = sent.get(&task.coord).map_or(&[][..], Vec::as_slice);
                *slot.lock() = self.encode_with(chunked, task, sent, scratch)?;
                Ok(())
            })
        })?;
        Ok(encoded.into_iter().filter_map(Mutex::into_inner).collect())
    }

    fn encode_with(
        &self,
        chunked: &ChunkedStorage,
        task: &ReadTask,
        sent: &[Sent],
        scratch: &mut WorkerScratch,
    ) -> Result<Option<Encoded<'a>>> {
        let cut = self.plan.cut(&task.coord);
        if cut.is_whole && sent.is_empty() {
            // The caller's elements need no copy.
            if self.write.is_raw(chunked, &task.coord)
                && let Some(given) = cut.part.as_ref().and_then(|part| self.plan.input.whole(part))
            {
                return Ok(self.write.encode_raw(chunked, &task.coord, given, task.source.record()));
            }
            return Ok(self.encode(chunked, task, &cut, scratch)?.map(Encoded::into_owned));
        }
        let mut chunk = Vec::new();
        let chunk = sized(&mut chunk, self.piece_bytes)?;
        load(self.write.store, self.write.array, &task.coord, task.source, chunk, scratch)?;
        self.plan.place(&task.coord, chunk, &mut scratch.convert)?;
        sent.iter().try_for_each(|sent| sent.place(&self.plan.input, chunk, &mut scratch.convert))?;
        let known = task.source.record();
        let encoded = self.write.encode(chunked, &task.coord, chunk, known, &mut scratch.filters)?;
        Ok(encoded.map(Encoded::into_owned))
    }
}

/// Returns the message on encoded chunks: the position, form, length and mask of each.
fn tell(encoded: &[Encoded<'_>]) -> Vec<u8> {
    let mut words = Vec::new();
    for chunk in encoded {
        words.extend_from_slice(&chunk.coord);
        words.extend(match &chunk.form {
            Form::New { bytes, mask } => [0, bytes.len() as u64, mask.0.into()],
            Form::InPlace { .. } => [1, 0, 0],
            Form::Absent => [2, 0, 0],
        });
    }
    exchange::bytes_of(&words)
}

/// Returns what [`tell`] has told of an array of this rank. `None` if it is no such message.
fn hear(bytes: &[u8], rank: usize) -> Option<Vec<Told>> {
    let told = exchange::words_of(bytes)?;
    let told = told.chunks(rank + 3).map(|chunk| {
        let (coord, form) = chunk.split_at_checked(rank)?;
        let form = match *form {
            [0, len, mask] => ToldForm::New { len, mask: FilterMask(u32::try_from(mask).ok()?) },
            [1, 0, 0] => ToldForm::InPlace,
            [2, 0, 0] => ToldForm::Absent,
            _ => return None,
        };
        Some(Told { coord: Coord::from_slice(coord), form })
    });
    told.collect()
}
