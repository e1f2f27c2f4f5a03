//! Plans reads and runs them: threads, buffers, routes.

mod array;
mod chunk_cache;
mod dst;
mod emit;
mod explain;
mod fetch;
mod place;
mod plan_read;
mod pool;
mod raw;
mod read;
mod run;
mod scratch;

pub use array::{ChunkedStorage, Fill, Storage, StoredArray};
pub use chunk_cache::ChunkCache;
pub use dst::Destination;
pub use explain::{PlannedTask, ReadPlan, Route};
pub use plan_read::{ReadTask, Source};
pub use pool::{set_threads, threads};
pub use read::{ReadOptions, Reading};
