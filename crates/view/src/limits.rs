//! The limits of the server: the memory of answers, and the reads at a time.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most bytes of one answer with numbers.
pub(crate) const MOST_BYTES: u64 = 256 << 20;
/// The most bytes of one answer in JSON, whose length is known only when it is written.
pub(crate) const MOST_JSON: u64 = 64 << 20;
/// The most bytes of all answers with numbers that are made or sent at a time.
const NUMBERS_TOGETHER: u64 = 512 << 20;
/// The same for answers in JSON, so that trees and attributes do not wait for planes.
const JSON_TOGETHER: u64 = 256 << 20;
/// The most requests that are read from files at a time. Each read uses all threads of the engine.
pub(crate) const READS: usize = 8;
/// The bytes of one permit.
const UNIT: u64 = 4096;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Limits {
    numbers: Arc<Semaphore>,
    json: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

impl Default for Limits {
    fn default() -> Self {
        let units = |bytes| Arc::new(Semaphore::new(units(bytes) as usize));
        let (numbers, json) = (units(NUMBERS_TOGETHER), units(JSON_TOGETHER));
        Self { numbers, json, reads: Arc::new(Semaphore::new(READS)) }
    }
}

impl Limits {
    /// Waits for a place among the reads.
    pub(crate) async fn read(&self) -> OwnedSemaphorePermit {
        take(&self.reads, 1).await
    }

    /// Waits for the memory of numbers of at most `bytes`, no more than [`MOST_BYTES`] and a header. Requests
    /// are served in their order, so that a large one does not wait forever.
    pub(crate) async fn numbers(&self, bytes: u64) -> Memory {
        Memory(take(&self.numbers, units(bytes)).await)
    }

    /// Waits for the memory of an answer in JSON.
    pub(crate) async fn json(&self) -> Memory {
        Memory(take(&self.json, units(MOST_JSON)).await)
    }
}

async fn take(semaphore: &Arc<Semaphore>, permits: u32) -> OwnedSemaphorePermit {
    let permit = Arc::clone(semaphore).acquire_many_owned(permits).await;
    // Invariant: the semaphores are never closed.
    permit.expect("an open semaphore")
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.min(NUMBERS_TOGETHER).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

/// A share of the memory.
#[derive(Debug)]
pub(crate) struct Memory(OwnedSemaphorePermit);

impl Memory {
    /// Returns `answer`, which holds as much of the memory as it needs until it is sent, and gives back the
    /// rest.
    pub(crate) fn hold(self, answer: Vec<u8>) -> Bytes {
        let Self(mut permit) = self;
        let unused = permit.num_permits().saturating_sub(units(answer.capacity() as u64) as usize);
        drop(permit.split(unused));
        Bytes::from_owner(HeldAnswer { answer, _permit: permit })
    }
}

/// The bytes of an answer, and their share of the memory.
struct HeldAnswer {
    answer: Vec<u8>,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_holds_its_memory_until_its_last_copy_is_dropped() {
        let limits = Limits::default();
        let all = limits.json.available_permits();
        let answer = limits.json().await.hold(vec![0; 5000]);
        assert_eq!(limits.json.available_permits(), all - 2);
        let part = answer.slice(10..20);
        drop(answer);
        assert_eq!(limits.json.available_permits(), all - 2);
        drop(part);
        assert_eq!(limits.json.available_permits(), all);
    }
}
