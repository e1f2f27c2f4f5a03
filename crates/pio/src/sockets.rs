//! Ranks without MPI: processes of this machine, each connected with every other by a socket.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;

use hyperslab::Ranks;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// The ranks of processes that are connected by sockets. One thread uses them at a time.
pub(crate) struct Sockets {
    rank: usize,
    /// The socket to each rank but this one, in the order of the ranks.
    links: Vec<UnixStream>,
}

impl Sockets {
    /// Returns the ranks for sockets to all others.
    pub(crate) fn new(rank: usize, links: Vec<UnixStream>) -> Self {
        Self { rank, links }
    }

    /// Returns the other ranks and their sockets.
    fn others(&self) -> impl Iterator<Item = (usize, &UnixStream)> {
        let numbers = (0..self.size()).filter(|&rank| rank != self.rank);
        numbers.zip(&self.links)
    }

    /// Sends a message to each rank, and returns those that came.
    fn swap<'m>(&self, to: impl Fn(usize) -> &'m [u8] + Sync) -> io::Result<Vec<Vec<u8>>> {
        let send = || self.others().try_for_each(|(rank, link)| write(link, to(rank)).map_err(ended(rank)));
        if (0..self.size()).all(|rank| to(rank).len() <= BUFFERED) {
            send()?;
            return self.receive(to(self.rank));
        }
        // The others may send as much before they receive.
        thread::scope(|scope| {
            let sending = scope.spawn(send);
            let came = self.receive(to(self.rank));
            let sent = sending.join().unwrap_or_else(|_| Err(io::Error::other("sending a message failed")));
            came.and_then(|came| sent.map(|()| came))
        })
    }

    fn receive(&self, own: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let mut came = vec![Vec::new(); self.size()];
        came[self.rank] = own.to_vec();
        for (rank, link) in self.others() {
            came[rank] = read(link).map_err(ended(rank))?;
        }
        Ok(came)
    }
}

impl fmt::Debug for Sockets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size())
    }
}

impl Ranks for Sockets {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.links.len() + 1
    }

    fn all_gather(&self, mine: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.swap(|_| mine)
    }

    fn exchange(&self, to: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
        if to.len() != self.size() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not one message for each rank"));
        }
        self.swap(|rank| &to[rank])
    }
}

/// Writes a message: its length and its bytes.
fn write(mut link: &UnixStream, message: &[u8]) -> io::Result<()> {
    let len = (message.len() as u64).to_le_bytes();
    if message.len() <= BUFFERED {
        return link.write_all(&[len.as_slice(), message].concat());
    }
    link.write_all(&len)?;
    link.write_all(message)
}

fn read(mut link: &UnixStream) -> io::Result<Vec<u8>> {
    let mut len = [0; 8];
    link.read_exact(&mut len)?;
    let len = usize::try_from(u64::from_le_bytes(len)).map_err(|_| io::ErrorKind::InvalidData)?;
    let mut message = Vec::new();
    message.try_reserve_exact(len)?;
    message.resize(len, 0);
    link.read_exact(&mut message)?;
    Ok(message)
}

/// Says whose process has ended.
fn ended(rank: usize) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("rank {rank} does not answer: {error}"))
}

/// Connects all pairs of processes, through a socket to each of them.
pub(crate) fn connect(controls: &[&UnixStream]) -> io::Result<()> {
    for (number, one) in controls.iter().enumerate() {
        for other in &controls[number + 1..] {
            let ends = UnixStream::pair()?;
            pass(one, &ends.0)?;
            pass(other, &ends.1)?;
        }
    }
    Ok(())
}

/// Receives the sockets to `others` other ranks, in the order of the ranks.
pub(crate) fn connected(control: &UnixStream, others: usize) -> io::Result<Vec<UnixStream>> {
    (0..others).map(|_| passed(control).map(UnixStream::from)).collect()
}

/// Passes a descriptor to the process at the other end of a socket.
fn pass(control: &UnixStream, passed: impl AsFd) -> io::Result<()> {
    let passed = [passed.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    // There is room for one.
    beside.push(SendAncillaryMessage::ScmRights(&passed));
    retry_on_intr(|| rustix::net::sendmsg(control, &[IoSlice::new(&[0])], &mut beside, SendFlags::empty()))?;
    Ok(())
}

fn passed(control: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    retry_on_intr(|| {
        rustix::net::recvmsg(control, &mut [IoSliceMut::new(&mut [0])], &mut beside, RECEIVING)
    })?;
    let found = beside.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut passed) => passed.next(),
        _ => None,
    });
    found.ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "no socket to another process came"))
}

/// A descriptor that comes is not for programs that this one starts.
#[cfg(target_os = "linux")]
const RECEIVING: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVING: RecvFlags = RecvFlags::empty();

/// The bytes of a message that can be sent before the other side receives. A socket has room for two such
/// messages on any system, and a rank that is ahead has sent no more than two.
const BUFFERED: usize = 2 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `work` as each of `size` ranks.
    fn run<R: Send>(size: usize, work: impl Fn(&Sockets) -> R + Sync) -> Vec<R> {
        let (here, there): (Vec<_>, Vec<_>) = (0..size).map(|_| UnixStream::pair().unwrap()).unzip();
        connect(&here.iter().collect::<Vec<_>>()).unwrap();
        thread::scope(|scope| {
            let work = &work;
            let run = |(rank, control): (usize, UnixStream)| {
                scope.spawn(move || work(&Sockets::new(rank, connected(&control, size - 1).unwrap())))
            };
            let threads: Vec<_> = there.into_iter().enumerate().map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn message(from: usize, to: usize, len: usize) -> Vec<u8> {
        (0..len * (from + 2 * to)).map(|n| (n + from).to_le_bytes()[0]).collect()
    }

    #[test]
    fn messages_of_any_length_arrive_whole_and_in_order() {
        for size in 1..=4 {
            run(size, |ranks| {
                let (mine, all) = (ranks.rank(), 0..ranks.size());
                for len in [0, 1, BUFFERED / 8, BUFFERED, 300_000] {
                    let to: Vec<_> = all.clone().map(|rank| message(mine, rank, len)).collect();
                    let expected: Vec<_> = all.clone().map(|rank| message(rank, mine, len)).collect();
                    assert!(ranks.exchange(&to).unwrap() == expected, "{len}");
                    let gathered = ranks.all_gather(&message(mine, 1, len)).unwrap();
                    assert!(gathered == all.clone().map(|rank| message(rank, 1, len)).collect::<Vec<_>>());
                }
                assert!(ranks.exchange(&[]).is_err());
            });
        }
    }

    #[test]
    fn many_short_messages_in_a_row_arrive() {
        run(3, |ranks| {
            for round in 0..2000_u32 {
                let gathered = ranks.all_gather(&round.to_le_bytes()).unwrap();
                assert_eq!(gathered, vec![round.to_le_bytes().to_vec(); 3]);
            }
        });
    }

    #[test]
    fn a_rank_that_has_ended_is_an_error_on_the_others() {
        let errors = run(3, |ranks| match ranks.rank() {
            1 => None,
            _ => Some(ranks.all_gather(&vec![0; 100_000]).unwrap_err().to_string()),
        });
        let errors: Vec<_> = errors.into_iter().flatten().collect();
        assert!(errors.iter().all(|error| error.contains("does not answer")), "{errors:?}");
        assert!(errors.iter().any(|error| error.contains("rank 1")), "{errors:?}");
    }
}
