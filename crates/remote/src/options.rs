//! Options for files on servers.

use std::collections::BTreeMap;

/// How a file on a server is reached and read.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteOptions {
    /// Settings of the store, by their names; see [`set`](Self::set).
    pub(crate) storage: BTreeMap<String, String>,
    pub(crate) queue_depth: usize,
    pub(crate) cache_bytes: u64,
    pub(crate) front_bytes: u64,
}

impl std::fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The values may be secrets.
        f.debug_struct("RemoteOptions").field("storage", &self.storage.keys()).finish_non_exhaustive()
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self { storage: BTreeMap::new(), queue_depth: 64, cache_bytes: 32 << 20, front_bytes: 1 << 20 }
    }
}

impl RemoteOptions {
    /// Sets one setting of the store: an option of the crate `object_store` for this protocol, such as
    /// `aws_region`, `endpoint`, `skip_signature`, `allow_http` or `timeout`; `max_retries` (5) or
    /// `retry_timeout` (60 seconds); or, for HTTP, `bearer_token`. Settings count more than the variables of
    /// the environment.
    ///
    /// ```
    /// let options = hyperslab_remote::RemoteOptions::default().set("aws_region", "eu-central-1");
    /// ```
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.storage.insert(name.into(), value.into());
        self
    }

    /// Sets the most requests in progress at a time, at least 1. The default is 64.
    #[must_use]
    pub fn queue_depth(mut self, requests: usize) -> Self {
        self.queue_depth = requests.max(1);
        self
    }

    /// Sets the memory in bytes for blocks of the file that are kept for metadata and small reads. The
    /// default is 32 MiB.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// Sets the number of bytes that are read and kept when the file is opened, at least 1. The default is 1
    /// MiB.
    #[must_use]
    pub fn front_bytes(mut self, bytes: u64) -> Self {
        self.front_bytes = bytes.max(1);
        self
    }
}
