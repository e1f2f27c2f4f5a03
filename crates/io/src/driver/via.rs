//! The ways to reach the bytes of a file that is opened by its path.

use std::io;
use std::sync::Arc;

use super::{Driver, Mapped, Posix, Unchanged};

/// How the bytes of a file that is opened by its path are read.
///
/// ```
/// use hyperslab::{File, driver::Via};
///
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("climate.h5");
/// File::create(&path)?.close()?;
/// let file = File::options().via(Via::Rings { direct: false }).open(&path)?;
/// assert!(file.root().is_empty()?);
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
    /// The memory of the process: [`Mapped`]. The file can only be read. The caller promises that no
    /// program changes it.
    Map(Unchanged),
}

impl Via {
    /// Returns the driver for an open file, with `depth` requests in progress at a time.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "only rings take the depth"))]
    pub fn over(self, file: Arc<Posix>, depth: Option<usize>) -> io::Result<Arc<dyn Driver>> {
        Ok(match self {
            Self::Map(unchanged) => Arc::new(Mapped::new(file, unchanged)?),
            #[cfg(target_os = "linux")]
            Self::Rings { direct } => {
                use super::Uring;
                Arc::new(Uring::new(file, depth.unwrap_or(Uring::DEPTH), direct))
            }
            _ => file,
        })
    }
}
