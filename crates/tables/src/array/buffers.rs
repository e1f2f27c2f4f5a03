//! Memory that one thread uses for part after part.

use hyperslab_expr::Registers;

/// The memory of one thread.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) values: Vec<Vec<u8>>,
    pub(super) results: Vec<u8>,
    pub(super) registers: Registers,
}
