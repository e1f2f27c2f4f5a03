//! The messages of ranks.

use std::io::ErrorKind;
use std::thread;

use hyperslab::Ranks;
use hyperslab_mpio::mpi::Threading;
use hyperslab_mpio::mpi::topology::{Color, SimpleCommunicator};
use hyperslab_mpio::mpi::traits::{Communicator as _, Destination as _, Source as _};
use hyperslab_mpio::{Communicator, MpiFile};

use crate::World;
use crate::native::{calls, two_groups};

/// Returns the message of a rank to another: of another length, and with other bytes, for each pair.
fn message(from: usize, to: usize, scale: usize) -> Vec<u8> {
    (0..(from * 3 + to * 5) % 11 * scale).map(|n| (n + 7 * from + 13 * to).to_le_bytes()[0]).collect()
}

fn exchange_and_gather(ranks: &dyn Ranks, scale: usize) {
    let (mine, all) = (ranks.rank(), 0..ranks.size());
    let to: Vec<_> = all.clone().map(|rank| message(mine, rank, scale)).collect();
    let expected: Vec<_> = all.clone().map(|rank| message(rank, mine, scale)).collect();
    assert!(ranks.exchange(&to).unwrap() == expected, "scale {scale}");
    let gathered = ranks.all_gather(&message(mine, 1, scale)).unwrap();
    assert!(gathered == all.map(|rank| message(rank, 1, scale)).collect::<Vec<_>>(), "scale {scale}");
}

pub(crate) fn messages_of_any_length_arrive(test: &World) {
    for scale in [0, 1, 1000, 300_000] {
        exchange_and_gather(&*test.ranks, scale);
    }
}

/// A rank that has nothing to send still takes part.
pub(crate) fn ranks_without_a_message_get_those_of_others(test: &World) {
    let expected = |from: usize| if from == 0 { vec![5; 70] } else { Vec::new() };
    let all: Vec<_> = (0..test.size()).map(expected).collect();
    assert_eq!(test.ranks.all_gather(&expected(test.rank())).unwrap(), all);
    // Only rank 0 sends, and only to the last.
    let is_last = |rank: usize| rank + 1 == test.size();
    let to = |rank: usize| if is_last(rank) { expected(test.rank()) } else { Vec::new() };
    let came = test.ranks.exchange(&(0..test.size()).map(to).collect::<Vec<_>>()).unwrap();
    let nothing = vec![Vec::new(); test.size()];
    assert_eq!(came, if is_last(test.rank()) { all } else { nothing });
}

pub(crate) fn messages_arrive_in_several_rounds(test: &World) {
    for bytes in [1, 7, 64, 4096] {
        let ranks = Communicator::new(&test.comm).unwrap().with_round_bytes(bytes);
        for scale in [0, 1, 30] {
            exchange_and_gather(&ranks, scale);
        }
    }
}

pub(crate) fn a_wrong_number_of_messages_is_an_error_on_all(test: &World) {
    let count = if test.rank() == test.size() - 1 { test.size() + 1 } else { test.size() };
    let error = test.ranks.exchange(&vec![vec![1]; count]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().starts_with(&format!("rank {} has not", test.size() - 1)), "{error}");
    // The ranks are together still.
    exchange_and_gather(&*test.ranks, 3);
}

pub(crate) fn messages_do_not_mix_with_the_programs(test: &World) {
    let (rank, size) = (test.comm.rank(), test.comm.size());
    // A message of the program is on its way while the file's are exchanged.
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let sent = [rank; 5];
    hyperslab_mpio::mpi::request::scope(|scope| {
        let sending = test.comm.process_at_rank(next).immediate_send(scope, &sent[..]);
        exchange_and_gather(&*test.ranks, 100);
        let (came, _) = test.comm.process_at_rank(previous).receive_vec::<i32>();
        assert_eq!(came, [previous; 5]);
        sending.wait();
    });
}

pub(crate) fn a_communicator_is_freed_when_it_is_dropped(test: &World) {
    let own = Communicator::new(&test.comm).unwrap();
    assert_eq!(calls(|| drop(own)).frees, 1);
}

pub(crate) fn a_part_of_the_ranks_has_numbers_of_its_own(test: &World) {
    let half = test.comm.split_by_color(Color::with_value(test.comm.rank() % 2)).unwrap();
    let ranks = Communicator::new(&half).unwrap();
    assert_eq!(ranks.rank(), test.rank() / 2);
    exchange_and_gather(&ranks, 10);
}

pub(crate) fn a_communicator_of_two_groups_is_refused(test: &World) {
    if test.size() < 2 {
        return;
    }
    let error = Communicator::new(&two_groups(&test.comm)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("merge it first"), "{error}");
}

pub(crate) fn other_threads_may_call_as_the_level_says(test: &World) {
    let own = Communicator::new(&SimpleCommunicator::self_comm()).unwrap();
    let path = test.own("threads");
    std::fs::write(&path, "0123").unwrap();
    let answers = thread::scope(|scope| {
        let asks = |_| scope.spawn(|| (own.all_gather(b"a"), MpiFile::open(&path)));
        let threads: Vec<_> = (0..3).map(asks).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for (gathered, opened) in answers {
        if test.level >= Threading::Serialized {
            assert_eq!(gathered.unwrap(), [b"a"]);
            opened.unwrap();
        } else {
            for error in [gathered.unwrap_err(), opened.unwrap_err()] {
                assert!(error.to_string().contains("initialize_with_threading"), "{error}");
            }
        }
    }
}

/// Runs before MPI does.
pub(crate) fn nothing_works_before_mpi() {
    let error = MpiFile::open("any").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotConnected);
    assert!(error.to_string().contains("initialize it"), "{error}");
}
