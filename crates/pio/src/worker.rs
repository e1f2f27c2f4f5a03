//! A process that `hyperslab pio` has started: one of the ranks.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use hyperslab::Ranks;
use hyperslab_terminal::message::message;

use crate::access::{AtPath, FileAccess, Hdf5, Posix};
use crate::error::WrongArgument;
use crate::folder;
use crate::measure::{Failed, measure};
use crate::message::Message;
use crate::plan::Plan;
use crate::sockets::{self, Sockets};

/// The place of a process among the ranks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) folder: PathBuf,
}

impl Seat {
    /// Returns the arguments that name a seat.
    pub(crate) fn args(&self) -> [OsString; 3] {
        [self.rank.to_string().into(), self.size.to_string().into(), self.folder.clone().into()]
    }

    pub(crate) fn of(args: &[OsString]) -> Result<Self, WrongArgument> {
        let number = |text: &OsString| text.to_str()?.parse().ok();
        let seat = match args {
            [rank, size, folder] => number(rank).zip(number(size)).zip(Some(folder.into())),
            _ => None,
        };
        let seat = seat.map(|((rank, size), folder)| Self { rank, size, folder });
        let wrong = || WrongArgument("--worker is for the processes that this command starts".to_owned());
        seat.filter(|seat| seat.rank < seat.size).ok_or_else(wrong)
    }
}

/// Takes part in the measuring, as the process whose place [`run`](crate::run) has given in these arguments.
/// Returns whether all went well; the process that started this one has been told of an error.
pub fn work(plan: &Plan, place: &[OsString]) -> anyhow::Result<bool> {
    take(plan, &Seat::of(place)?)
}

/// Takes a place among the ranks.
fn take(plan: &Plan, seat: &Seat) -> anyhow::Result<bool> {
    let alone = "--worker is for the processes that this command starts";
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().context(alone)?);
    let links = match sockets::connected(&control, seat.size - 1) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            // The process that started this one has ended.
            folder::remove(&seat.folder);
            return Ok(false);
        }
        links => links.context(alone)?,
    };
    watch(control.try_clone().context(alone)?, seat.folder.clone());
    let ranks: Arc<dyn Ranks> = Arc::new(Sockets::new(seat.rank, links));
    let hdf5 = |ranks: &Arc<dyn Ranks>| Hdf5 { ranks: Arc::clone(ranks), medium: AtPath };
    let known: [Box<dyn FileAccess>; 2] = [Box::new(Posix), Box::new(hdf5(&ranks))];
    let chosen = known.into_iter().filter(|access| plan.apis.contains(&access.api())).collect::<Vec<_>>();
    let tell = |message: &Message| (&control).write_all(message.line().as_bytes());
    let done = measure(plan, &seat.folder, &ranks, &chosen, &mut |timed| {
        if seat.rank == 0 { Ok(tell(&Message::Timed(timed))?) } else { Ok(()) }
    });
    let (last, is_done) = match done {
        Ok(()) => (Message::Done, true),
        Err(error) => (outcome(&error), false),
    };
    if tell(&last).is_err() {
        // As above.
        folder::remove(&seat.folder);
    }
    Ok(is_done)
}

/// Returns the message of an error.
fn outcome(error: &anyhow::Error) -> Message {
    match error.downcast_ref::<Failed>() {
        Some(Failed { rank, why }) => Message::Failed { rank: *rank, why: why.clone() },
        None => Message::Lost { why: message(error) },
    }
}

/// Ends this process when the one that started it has ended, by Ctrl-C or otherwise, and removes the files
/// that are left.
fn watch(mut control: UnixStream, files: PathBuf) {
    thread::spawn(move || {
        // Nothing comes.
        while matches!(control.read(&mut [0]), Ok(1)) {}
        folder::remove(&files);
        std::process::exit(FAILED);
    });
}

/// The exit code of a process that cannot go on.
pub(crate) const FAILED: i32 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_named_by_its_arguments() {
        let seat = Seat { rank: 1, size: 3, folder: "/a b".into() };
        assert_eq!(Seat::of(&seat.args()).unwrap(), seat);
        let args = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
        for wrong in [&["3", "3", "/a"][..], &["x", "3", "/a"], &["0", "", "/a"], &["0", "1"], &[]] {
            assert!(Seat::of(&args(wrong)).is_err(), "{wrong:?}");
        }
    }
}
