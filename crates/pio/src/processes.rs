//! Starts processes of this program as the ranks, hears what they measure, and ends all if one fails.
//!
//! Each process has a socket to this one as its standard input. Processes see that this one has ended when
//! the socket ends. They are in groups of their own, so that Ctrl-C ends only this process at once, and they
//! remove the files.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::measure::{Failed, Timed};
use crate::message::Message;
use crate::sockets;
use crate::worker::Seat;

/// What starts this program again, and what it is told.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The program, and arguments before those of the command.
    pub start: &'a [OsString],
    /// The arguments of this run. The first is the name of the program, the second is `pio`.
    pub args: &'a [OsString],
}

/// Measures with this number of processes, and calls `told` with the times.
pub(crate) fn measure(
    program: Program<'_>,
    folder: &Path,
    size: usize,
    mut told: impl FnMut(Timed),
) -> anyhow::Result<()> {
    let (sender, receiver) = mpsc::channel();
    let mut workers = Workers { all: Vec::with_capacity(size) };
    for rank in 0..size {
        let seat = Seat { rank, size, folder: folder.to_owned() };
        workers.all.push(Worker::start(program, &seat, sender.clone())?);
    }
    drop(sender);
    let controls: Vec<&UnixStream> = workers.all.iter().map(|worker| &worker.control).collect();
    if let Err(error) = sockets::connect(&controls) {
        // It may be because one of them has ended.
        let ended = workers.ended()?.map(RunFailure::error);
        return Err(ended.unwrap_or_else(|| anyhow::Error::new(error).context("connecting the processes")));
    }
    workers.listen(&receiver, &mut told)?.map_or(Ok(()), |failure| Err(failure.error()))
}

/// Why a run has failed, from the most telling reason on.
#[derive(Debug, PartialEq, Eq)]
enum RunFailure {
    /// The error of a rank.
    Told(Failed),
    /// A process has ended without a word.
    Ended { rank: usize, how: String },
    /// A process cannot go on.
    Lost { rank: usize, why: String },
}

impl RunFailure {
    fn order(&self) -> (u8, usize) {
        match self {
            Self::Told(failed) => (0, failed.rank),
            Self::Ended { rank, .. } => (1, *rank),
            Self::Lost { rank, .. } => (2, *rank),
        }
    }

    fn error(self) -> anyhow::Error {
        match self {
            Self::Told(failed) => failed.into(),
            Self::Ended { rank, how } => anyhow::anyhow!("rank {rank} has ended: {how}"),
            Self::Lost { rank, why } => anyhow::anyhow!("rank {rank}: {why}"),
        }
    }
}

/// One process.
struct Worker {
    child: Child,
    control: UnixStream,
    is_done: bool,
}

impl Worker {
    fn start(program: Program<'_>, seat: &Seat, sender: Sender<(usize, Heard)>) -> anyhow::Result<Self> {
        let [name, before @ ..] = program.start else { bail!("no program is named") };
        let (control, theirs) = UnixStream::pair().context("a socket")?;
        let child = Command::new(name)
            .args(before)
            .args(program.args.get(1))
            .arg("--worker")
            .args(seat.args())
            .args(program.args.iter().skip(2))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", name.display()))?;
        let worker = Self { child, control, is_done: false };
        let (rank, lines) = (seat.rank, worker.control.try_clone().context("a socket")?);
        thread::spawn(move || hear(rank, lines, &sender));
        Ok(worker)
    }
}

/// What came from a process.
enum Heard {
    Message(Message),
    End,
}

/// Passes on the messages of a process, until it has ended.
fn hear(rank: usize, lines: UnixStream, sender: &Sender<(usize, Heard)>) {
    let lines = BufReader::new(lines).lines().map_while(Result::ok);
    for message in lines.filter_map(|line| Message::parse(&line)) {
        // The receiver has ended if the run has failed.
        let _ = sender.send((rank, Heard::Message(message)));
    }
    let _ = sender.send((rank, Heard::End));
}

/// All processes. They are ended when this value is dropped.
struct Workers {
    all: Vec<Worker>,
}

impl Workers {
    /// Hears all processes until they have ended. Returns why they failed, if they did.
    fn listen(
        &mut self,
        receiver: &Receiver<(usize, Heard)>,
        told: &mut impl FnMut(Timed),
    ) -> anyhow::Result<Option<RunFailure>> {
        let mut failures = Vec::new();
        let mut patience: Option<Instant> = None;
        let mut is_killed = false;
        let mut running = self.all.len();
        while running > 0 {
            let left = patience.map_or(FOREVER, |until| until.saturating_duration_since(Instant::now()));
            let (rank, heard) = match receiver.recv_timeout(left) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout) => {
                    // One that waits for a process that has ended, or for the disk.
                    self.kill();
                    (is_killed, patience) = (true, None);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match heard {
                Heard::Message(Message::Timed(timed)) => told(timed),
                Heard::Message(Message::Done) => self.all[rank].is_done = true,
                Heard::Message(Message::Failed { rank: failed, why }) => {
                    failures.push(RunFailure::Told(Failed { rank: failed, why }));
                    self.all[rank].is_done = true;
                }
                Heard::Message(Message::Lost { why }) => {
                    failures.push(RunFailure::Lost { rank, why });
                    self.all[rank].is_done = true;
                }
                Heard::End => {
                    running -= 1;
                    let worker = &mut self.all[rank];
                    let status = worker.child.wait().context("a process that ends")?;
                    if !worker.is_done && !is_killed {
                        failures.push(RunFailure::Ended { rank, how: how(status) });
                    }
                }
            }
            if !failures.is_empty() && !is_killed {
                patience.get_or_insert_with(|| Instant::now() + PATIENCE);
            }
        }
        Ok(failures.into_iter().min_by_key(RunFailure::order))
    }

    /// Returns a process that has ended already.
    fn ended(&mut self) -> anyhow::Result<Option<RunFailure>> {
        for (rank, worker) in self.all.iter_mut().enumerate() {
            if let Some(status) = worker.child.try_wait().context("a process")? {
                return Ok(Some(RunFailure::Ended { rank, how: how(status) }));
            }
        }
        Ok(None)
    }

    fn kill(&mut self) {
        for worker in &mut self.all {
            // One that has ended already cannot be killed.
            let _ = worker.child.kill();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.kill();
        for worker in &mut self.all {
            let _ = worker.child.wait();
        }
    }
}

fn how(status: ExitStatus) -> String {
    if status.success() { "it left before its work was done".to_owned() } else { status.to_string() }
}

/// How long the other processes may take to end after one has failed.
const PATIENCE: Duration = Duration::from_secs(3);
/// Longer than any run.
const FOREVER: Duration = Duration::from_secs(1 << 32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_failure_is_reported() {
        let told = || RunFailure::Told(Failed { rank: 2, why: "full".to_owned() });
        let ended = || RunFailure::Ended { rank: 1, how: "signal".to_owned() };
        let lost = || RunFailure::Lost { rank: 0, why: "no answer".to_owned() };
        let first =
            |all: Vec<RunFailure>| all.into_iter().min_by_key(RunFailure::order).unwrap().error().to_string();
        assert_eq!(first(vec![lost(), ended(), told()]), "rank 2: full");
        assert_eq!(first(vec![lost(), ended()]), "rank 1 has ended: signal");
        assert_eq!(first(vec![lost()]), "rank 0: no answer");
    }
}
