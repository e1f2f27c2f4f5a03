//! The ways to reach the bytes of a file that is opened by its path.

use std::io;
use std::sync::Arc;

use super::{Driver, Mapped, Posix};

/// How the bytes of a file that is opened by its path are read.
///
/// ```
/// use hyperslab::{File, driver::Via};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// let file = File::options().via(Via::Map).open(&path)?;
/// assert_eq!(file.driver_info()?.name, "mmap");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Via {
    /// Positioned reads: [`Posix`].
    #[default]
    Calls,
    /// Rings of the kernel: [`Uring`](super::Uring). Where there are none, positioned reads.
    Rings {
        /// Whether the page cache is bypassed, if the file system allows it.
        direct: bool,
    },
    /// The memory of the process: [`Mapped`]. The file can only be read.
    Map,
}

impl Via {
    /// Returns the driver for an open file, with `depth` requests in progress at a time.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "only rings take the depth"))]
    pub fn over(self, file: Arc<Posix>, depth: Option<usize>) -> io::Result<Arc<dyn Driver>> {
        Ok(match self {
            Self::Map => Arc::new(Mapped::new(file)?),
            #[cfg(target_os = "linux")]
            Self::Rings { direct } => {
                use super::Uring;
                Arc::new(Uring::new(file, depth.unwrap_or(Uring::DEPTH), direct))
            }
            _ => file,
        })
    }
}
