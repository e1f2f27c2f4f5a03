//! Files that ranks of MPI change together. Every rank runs every test:
//!
//!     mpirun -n 4 PROGRAM
//!
//! The variable `RANKS_THREADS` selects the level of threads: `funneled`, `serialized` or `multiple`.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod files;
mod media;
mod messages;
mod native;

use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyperslab::Ranks;
use hyperslab_mpio::Communicator;
use hyperslab_mpio::mpi::topology::SimpleCommunicator;
use hyperslab_mpio::mpi::traits::{Communicator as _, CommunicatorCollectives as _};
use hyperslab_mpio::mpi::{self, Threading};

/// What a test has.
struct World {
    comm: SimpleCommunicator,
    ranks: Arc<dyn Ranks>,
    /// A folder that all ranks see, and a name in it that only this rank uses.
    folder: PathBuf,
    level: Threading,
}

impl World {
    fn rank(&self) -> usize {
        self.ranks.rank()
    }

    fn size(&self) -> usize {
        self.ranks.size()
    }

    /// Returns the path of a file of all ranks.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the path of a file of this rank alone.
    fn own(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{}", self.rank()))
    }
}

type Test = (&'static str, fn(&World));

const TESTS: &[Test] = &[
    ("messages_of_any_length_arrive", messages::messages_of_any_length_arrive),
    ("ranks_without_a_message_get_those_of_others", messages::ranks_without_a_message_get_those_of_others),
    ("messages_arrive_in_several_rounds", messages::messages_arrive_in_several_rounds),
    (
        "a_wrong_number_of_messages_is_an_error_on_all",
        messages::a_wrong_number_of_messages_is_an_error_on_all,
    ),
    ("messages_do_not_mix_with_the_program's", messages::messages_do_not_mix_with_the_programs),
    ("a_communicator_is_freed_when_it_is_dropped", messages::a_communicator_is_freed_when_it_is_dropped),
    ("a_part_of_the_ranks_has_numbers_of_its_own", messages::a_part_of_the_ranks_has_numbers_of_its_own),
    ("a_communicator_of_two_groups_is_refused", messages::a_communicator_of_two_groups_is_refused),
    ("other_threads_may_call_as_the_level_says", messages::other_threads_may_call_as_the_level_says),
    ("a_file_of_mpi_keeps_the_contract", media::a_file_of_mpi_keeps_the_contract),
    (
        "a_transfer_is_divided_into_calls_that_mpi_can_count",
        media::a_transfer_is_divided_into_calls_that_mpi_can_count,
    ),
    ("errors_have_the_words_of_mpi", media::errors_have_the_words_of_mpi),
    ("a_full_medium_is_an_error", media::a_full_medium_is_an_error),
    ("a_close_does_not_wait_for_the_disk", media::a_close_does_not_wait_for_the_disk),
    ("a_file_is_opened_by_all_or_by_none", media::a_file_is_opened_by_all_or_by_none),
    ("a_common_file_has_the_bytes_of_all", media::a_common_file_has_the_bytes_of_all),
    ("all_ranks_write_extend_and_read", files::all_ranks_write_extend_and_read),
    ("a_write_that_one_rank_cannot_make_fails_on_all", files::a_write_that_one_rank_cannot_make_fails_on_all),
    ("a_rank_that_gives_up_ends_the_file_on_all", files::a_rank_that_gives_up_ends_the_file_on_all),
    ("a_whole_file_is_closed_without_a_sync", files::a_whole_file_is_closed_without_a_sync),
];

fn main() {
    let wanted = match std::env::var("RANKS_THREADS").as_deref() {
        Ok("funneled") => Threading::Funneled,
        Ok("serialized") => Threading::Serialized,
        _ => Threading::Multiple,
    };
    messages::nothing_works_before_mpi();
    let (universe, level) = mpi::initialize_with_threading(wanted).expect("MPI runs already");
    assert!(level >= wanted, "this MPI has no level {wanted:?}");
    let world = universe.world();
    let ranks = Arc::new(Communicator::new(&world).unwrap());
    let folder = shared_folder(&*ranks);
    let test = World { comm: universe.world(), ranks, folder, level };
    for (name, run) in TESTS {
        // A rank that panics would leave the others waiting for it.
        if panic::catch_unwind(AssertUnwindSafe(|| run(&test))).is_err() {
            eprintln!("test {name} ... FAILED on rank {}", test.rank());
            test.comm.abort(101);
        }
        test.comm.barrier();
        if test.rank() == 0 {
            println!("test {name} ... ok");
            std::io::stdout().flush().unwrap();
        }
    }
    if test.rank() == 0 {
        std::fs::remove_dir_all(&test.folder).unwrap();
        println!("{} passed, 0 failed", TESTS.len());
    }
    let World { ranks, .. } = test;
    // What outlives MPI is left alone.
    drop(universe);
    drop(ranks);
}

/// Creates a folder for the files of all ranks.
fn shared_folder(ranks: &dyn Ranks) -> PathBuf {
    let mut name = Vec::new();
    if ranks.rank() == 0 {
        let folder = std::env::temp_dir().join(format!("hyperslab-mpio-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        name = folder.into_os_string().into_encoded_bytes();
    }
    let told = ranks.all_gather(&name).unwrap();
    Path::new(std::str::from_utf8(&told[0]).unwrap()).to_owned()
}
