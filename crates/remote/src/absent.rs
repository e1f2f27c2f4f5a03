//! The driver in a build without servers: opening a URL is an error that says so.

use std::convert::Infallible;
use std::io;

use hyperslab::driver::{Capabilities, Driver, ReadQueue};
use hyperslab::internals::absent;

use crate::address::Address;
use crate::options::RemoteOptions;

/// A file on a server, which this build cannot open.
#[derive(Debug)]
pub struct Remote(Infallible);

impl Remote {
    /// Fails: `InvalidInput` if the URL is wrong, else `Unsupported`.
    pub fn open(url: &str, _: &RemoteOptions) -> io::Result<Self> {
        Address::parse(url)?;
        let why = absent("does not read files on servers", "servers");
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }
}

impl Driver for Remote {
    fn len(&self) -> io::Result<u64> {
        match self.0 {}
    }

    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        match self.0 {}
    }

    fn flush(&self, _: bool) -> io::Result<()> {
        match self.0 {}
    }

    fn read_many(&self, _: &mut dyn ReadQueue) -> io::Result<()> {
        match self.0 {}
    }

    fn capabilities(&self) -> Capabilities<'_> {
        match self.0 {}
    }
}
