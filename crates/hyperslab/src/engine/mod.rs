//! Plans reads and writes and runs them: threads, buffers, routes.

mod ahead;
mod array;
mod chunk_cache;
mod copy;
mod dirty_chunks;
mod dst;
mod emit;
mod explain;
mod fetch;
mod fill;
mod input;
mod place;
mod plan_read;
mod pool;
mod raw;
mod read;
mod recode;
mod reshape;
mod run;
mod scratch;
mod share;
mod write;

pub use array::{ChunkedStorage, Storage, StoredArray};
pub use chunk_cache::ChunkCache;
pub use copy::{Move, copy_extents};
pub use dirty_chunks::DirtyChunks;
pub use dst::Destination;
pub use explain::{PlannedTask, ReadPlan, Route};
pub use fill::Fill;
pub use plan_read::{ReadTask, Source};
pub use pool::{run as run_on_threads, set_threads, threads};
pub use read::{ReadOptions, Reading};
pub use recode::Recode;
pub use write::{Placed, Write, WriteOptions};
