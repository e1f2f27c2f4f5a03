//! Plans reads and writes, and runs the plans: threads, buffers, routes.

mod array;
mod bounds;
mod budget;
mod chunks;
mod destination;
mod fetch;
mod fill;
mod help;
mod plan;
mod pool;
mod raw_data;
mod read;
mod scratch;
mod task_queue;
mod transfer;
mod write;

pub use array::{ChunkedStorage, Storage, StoredArray};
pub use bounds::{Bound, Bounds, Columns};
pub use chunks::cache::{ChunkCache, IN_FLIGHT_BYTES};
pub use chunks::dirty::DirtyChunks;
pub use destination::Destination;
pub use fill::Fill;
pub use plan::explain::{PlannedTask, ReadPlan};
pub use plan::pieces::{ReadTask, Source};
pub use plan::route::{JOINED_BYTES, Route, is_small};
pub use pool::{run as run_on_threads, set_threads, threads, threads_warning};
pub use read::sink::{Block, Keep, Sink};
pub use read::{ReadOptions, Reading};
pub use task_queue::{CLAIM_BYTES, each_number, worked};
pub use transfer::extents::{Move, copy_extents};
pub use transfer::recode::Recode;
pub(crate) use write::unplaced;
pub use write::{Encoded, Form, Placed, Places, Transfer, Write, WriteOptions, WritePlan, abandon};
