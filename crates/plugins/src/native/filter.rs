//! A plug-in as a filter of hyperslab.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hyperslab_filters::added::Added;
use hyperslab_filters::error::Result;
use hyperslab_filters::{ChunkFacts, Encoded, Failure, Filter, FilterError, FilterId, Parameters, Scratch};

use super::call::{ClientData, Outcome};
use super::h5::state::Creation;
use super::library::Class;
use crate::error::PluginError;

/// A filter of a library.
#[derive(Debug)]
pub(crate) struct Plugin {
    class: Class,
    turns: Turns,
}

/// The turns of threads in a plug-in: plug-ins need not be safe for threads, since libhdf5 calls them under
/// its global lock. No lock of hyperslab is taken under this one. A child process has turns of its own, since
/// a thread of the parent may have been in the plug-in at the fork.
#[derive(Debug)]
struct Turns {
    process: u32,
    running: Mutex<()>,
    child: OnceLock<Box<Self>>,
}

impl Turns {
    fn new() -> Self {
        Self { process: std::process::id(), running: Mutex::new(()), child: OnceLock::new() }
    }

    /// Waits until no other thread is in the plug-in.
    fn wait(&self) -> MutexGuard<'_, ()> {
        if self.process == std::process::id() {
            return self.running.lock().unwrap_or_else(PoisonError::into_inner);
        }
        self.child.get_or_init(|| Box::new(Self::new())).wait()
    }
}

impl Plugin {
    pub(super) fn new(class: Class) -> Self {
        Self { class, turns: Turns::new() }
    }

    pub(crate) fn id(&self) -> u16 {
        self.class.id
    }

    pub(crate) fn name(&self) -> &str {
        &self.class.name
    }

    pub(crate) fn added(this: &Arc<Self>) -> Arc<dyn Added> {
        Arc::new(SharedPlugIn(Arc::clone(this)))
    }

    fn failed(&self, error: PluginError) -> FilterError {
        FilterError::Failed { id: self.class.id, cause: Failure::new(error) }
    }

    fn call(&self, decodes: bool, client_data: &ClientData, src: &[u8], dst: &mut [u8]) -> Result<Outcome> {
        let can = if decodes { self.class.decodes } else { self.class.encodes };
        if !can {
            let what = if decodes { "decode" } else { "encode" };
            return Err(self.failed(PluginError::Lacks { name: self.class.label.clone(), what }));
        }
        let _turn = self.turns.wait();
        self.class.call(decodes, client_data, src, dst).map_err(|error| self.failed(error))
    }
}

/// A plug-in, shared by all datasets.
#[derive(Debug)]
struct SharedPlugIn(Arc<Plugin>);

impl Added for SharedPlugIn {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn encodes(&self) -> bool {
        self.0.class.encodes
    }

    fn decodes(&self) -> bool {
        self.0.class.decodes
    }

    fn filter(&self, parameters: &Parameters<'_>) -> Result<Arc<dyn Filter>> {
        let client_data = ClientData::new(parameters.client_data);
        Ok(Arc::new(Prepared { plugin: Arc::clone(&self.0), client_data }))
    }

    fn client_data(&self, given: &[u32], is_optional: bool, chunk: &ChunkFacts<'_>) -> Result<Vec<u32>> {
        let plugin = &*self.0;
        if !plugin.class.encodes {
            let error = PluginError::Lacks { name: plugin.class.label.clone(), what: "encode" };
            return Err(plugin.failed(error));
        }
        let creation = Creation {
            id: plugin.class.id,
            name: plugin.class.name.clone(),
            flags: u32::from(is_optional),
            client_data: given.to_vec(),
            chunk: chunk.shape.iter().map(|&side| side as u64).collect(),
            element: chunk.element.clone(),
        };
        let _turn = plugin.turns.wait();
        plugin.class.prepare(creation, is_optional).map_err(|error| plugin.failed(error))
    }
}

/// A plug-in with the parameters of a dataset.
#[derive(Debug)]
struct Prepared {
    plugin: Arc<Plugin>,
    client_data: ClientData,
}

impl Filter for Prepared {
    fn id(&self) -> FilterId {
        FilterId(self.plugin.class.id)
    }

    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<usize> {
        match self.plugin.call(true, &self.client_data, src, dst)? {
            Outcome::Stored(len) => Ok(len),
            Outcome::TooLong(len) => {
                let (expected, found) = (dst.len() as u64, len as u64);
                Err(FilterError::Length { filter: "plug-in", expected, found })
            }
            Outcome::Failed(said) => {
                let name = self.plugin.class.label.clone();
                Err(self.plugin.failed(PluginError::Failed { name, what: "decode", said }))
            }
        }
    }

    fn encode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> Result<Encoded> {
        Ok(match self.plugin.call(false, &self.client_data, src, dst)? {
            Outcome::Stored(len) => Encoded::Stored(len),
            // As in libhdf5, a chunk that the filter does not take may be stored without it.
            Outcome::TooLong(_) | Outcome::Failed(_) => Encoded::Skipped,
        })
    }

    fn decode_bound(&self, decoded: usize) -> usize {
        // Headers of plug-ins are larger than small chunks.
        decoded.saturating_mul(2).saturating_add(64 << 10)
    }
}
