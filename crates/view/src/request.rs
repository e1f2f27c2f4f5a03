//! A request, and what all requests share.

use std::time::Instant;

use axum::http::StatusCode;
use hyperslab::File;
use parking_lot::Mutex;

use crate::answer::{Answered, Cancelled, Refusal};
use crate::files::Served;
use crate::limits::Limits;
use crate::query::Query;
use crate::secret::Secret;

/// The first part of the address that leads to the page once.
pub(crate) const ONCE: &str = "once";

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) secret: Secret,
    /// The secret that leads to the page once. A browser gets it on its command line, where other users of
    /// the machine can see it.
    pub(crate) code: Secret,
    /// Until when it does. It leads nowhere before a browser is started, and after its first use.
    pub(crate) code_until: Mutex<Option<Instant>>,
    pub(crate) files: Vec<Served>,
    pub(crate) limits: Limits,
}

impl Shared {
    pub(crate) fn served(&self, name: &str) -> Answered<&Served> {
        let found = self.files.iter().find(|file| file.name() == name);
        found.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "File not found!"))
    }
}

/// A request for a part of a file.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) file: &'a File,
    pub(crate) name: &'a str,
    pub(crate) query: &'a Query,
    pub(crate) cancelled: &'a Cancelled,
}
