//! The arguments of a request.

use crate::answer::{Answered, Refusal};

/// The arguments, decoded.
#[derive(Debug, Clone)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn new(text: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(text.unwrap_or_default().as_bytes());
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns the value of an argument. Of several, the last counts, as in h5grove.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Returns all values of an argument.
    pub(crate) fn all<'q>(&'q self, name: &str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(found, _)| found == name).map(|(_, value)| &**value)
    }

    /// Returns the name of the file.
    pub(crate) fn file(&self) -> Answered<&str> {
        self.one("file").ok_or_else(|| Refusal::argument("`file` is missing: /files lists the names"))
    }

    /// Returns the path of the object in the file.
    pub(crate) fn path(&self) -> &str {
        self.one("path").unwrap_or("/")
    }
}
