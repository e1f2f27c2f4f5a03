//! The server: its address, its connections and their time limits.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{interval, sleep};

use crate::files::{Served, ViewError};
use crate::limits::{Limits, READS};
use crate::page;
use crate::patient::Patient;
use crate::request::{ONCE, Shared};
use crate::routes::router;
use crate::secret::Secret;

/// How files are served.
#[derive(Debug, Clone, Default)]
pub struct ViewOptions {
    /// The port, or 0 for any that is free.
    pub port: u16,
    /// The folder in which files may be that the given files name. By default, it is the folder of each given
    /// file, and a file at a URL may name none.
    pub links: Option<PathBuf>,
}

/// A server that is ready to run.
#[derive(Debug)]
pub struct View {
    listener: StdListener,
    port: u16,
    shared: Arc<Shared>,
}

impl View {
    /// Opens the files, which are paths or URLs, and the port.
    ///
    /// Errors: a file cannot be opened; the port is in use.
    pub fn new(files: &[OsString], options: &ViewOptions) -> Result<Self, ViewError> {
        let files = Served::all(files, options.links.as_deref())?;
        let failed = |cause| ViewError::Server { port: options.port, cause };
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let shared = Shared {
            secret: Secret::new().map_err(failed)?,
            code: Secret::new().map_err(failed)?,
            code_until: Mutex::default(),
            files,
            limits: Limits::default(),
        };
        Ok(Self { listener, port, shared: Arc::new(shared) })
    }

    /// Returns the address of the page. Programs that know it can read the files.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.shared.secret.text())
    }

    /// Returns an address that leads to the page once, within a minute, for the command line of a browser,
    /// which other users of the machine can see.
    pub fn address_for_once(&self) -> String {
        *self.shared.code_until.lock() = Some(Instant::now() + ONCE_WITHIN);
        format!("http://127.0.0.1:{}/{ONCE}/{}", self.port, self.shared.code.text())
    }

    /// Returns what to do if this build has no page, and `None` if it has one.
    pub fn missing_page() -> Option<&'static str> {
        (!page::is_built()).then_some(page::MISSING)
    }

    /// Answers requests until the process is interrupted (Ctrl-C).
    ///
    /// Errors: the system starts no thread, or has no more handles for signals.
    pub fn run(self) -> Result<(), ViewError> {
        let port = self.port;
        let failed = |cause| ViewError::Server { port, cause };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(READS + 1)
            .thread_name("hyperslab-view")
            .enable_all()
            .build()
            .map_err(failed)?;
        let served = runtime.block_on(async {
            tokio::select! {
                served = serve(self.listener, self.shared) => served,
                interrupted = tokio::signal::ctrl_c() => interrupted,
            }
        });
        // A read in progress does not delay the end.
        runtime.shutdown_timeout(Duration::from_millis(100));
        served.map_err(failed)
    }
}

/// The time in which a browser starts.
const ONCE_WITHIN: Duration = Duration::from_secs(60);
/// The threads that talk to browsers. Files are read by others.
const THREADS: usize = 2;
/// The most connections at a time. Others wait.
const CONNECTIONS: usize = 256;
/// The time for the headers of a request, and for the next request on a connection.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// The time in which the other side takes the next part of an answer.
const WRITE_WITHIN: Duration = Duration::from_secs(10);
/// The most bytes of the headers of a request.
const HEADER_BYTES: usize = 64 << 10;

async fn serve(listener: StdListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    tokio::spawn(close_idle(Arc::clone(&shared)));
    let router = router(shared);
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let Ok((stream, _)) = listener.accept().await else {
            // The process may have no descriptor left for now.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Without it, small answers are only slower.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_WITHIN)
                .max_buf_size(HEADER_BYTES)
                .serve_connection(TokioIo::new(Patient::new(stream, WRITE_WITHIN)), service);
            // An error is the other side's: it has gone, or does not speak HTTP.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// Closes files that no request uses, so that other programs may change them.
async fn close_idle(shared: Arc<Shared>) {
    let mut every = interval(Duration::from_secs(1));
    loop {
        every.tick().await;
        let shared = Arc::clone(&shared);
        let closed = tokio::task::spawn_blocking(move || {
            let now = Instant::now();
            shared.files.iter().for_each(|file| file.close_idle(now));
        });
        // A file that fails to close is closed all the same.
        let _ = closed.await;
    }
}
