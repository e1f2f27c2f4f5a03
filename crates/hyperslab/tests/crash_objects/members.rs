//! What the tests of families and of split files do alike.

use hyperslab::Durability;
use hyperslab_testkit::crash::{Failure, Written};
use hyperslab_testkit::crash_members::RecordedMembers;
use hyperslab_testkit::sound::assert_sound;

use super::operations::Operation;
use super::state::{Change, State};
use super::{PLENTY, options};

/// Runs and commits an operation.
pub(super) fn run(
    members: &RecordedMembers,
    operation: &Operation,
    durability: Durability,
    dirty_bytes: u64,
) -> hyperslab::Result<()> {
    let file = options(durability, dirty_bytes).clone().write(true).open_on(members.open())?;
    if dirty_bytes == PLENTY || operation.is_transaction {
        operation.run(&file)?;
    } else {
        // In a transaction only new blocks are written early.
        file.begin_transaction()?;
        operation.run(&file)?;
        file.end_transaction(true)?;
    }
    file.flush()
}

/// Runs an operation on the members that `new` returns, with a failure at every change, and with every room
/// of `rooms` on the medium. The file is then in the old or in the new state of `change`. Returns how many
/// runs failed, and how many found the medium full.
pub(super) fn fail_everywhere(
    new: &dyn Fn() -> RecordedMembers,
    operation: &Operation,
    change: &Change,
    rooms: impl Iterator<Item = usize>,
) -> (usize, usize) {
    let change = &Change { in_place: true, ..change.clone() };
    let judged = |members: &RecordedMembers, is_done: bool| {
        let image = members.image();
        assert_sound(&image);
        let found = State::of_image(&image).unwrap_or_else(|error| panic!("{}: {error}", operation.name));
        let state = change.which(&found).unwrap_or_else(|why| panic!("{}: {why}", operation.name));
        assert!(!is_done || state == 1, "{}: a flushed change was lost", operation.name);
    };
    let (mut failed, mut full) = (0, 0);
    for at in 0.. {
        let (stays, written) =
            (at % 2 == 0, [Written::Nothing, Written::HalfOfItsSectors, Written::All][at % 3]);
        let members = new().failing(Failure { at, stays, written });
        let done = run(&members, operation, [Durability::Kill, Durability::Power][at / 2 % 2], PLENTY);
        judged(&members, done.is_ok());
        failed += usize::from(done.is_err());
        if !members.has_failed() {
            break;
        }
    }
    for room in rooms {
        let members = new();
        members.set_room(room);
        let file = options(Durability::Kill, PLENTY).clone().write(true).open_on(members.open()).unwrap();
        let mut done = operation.run(&file).and_then(|()| file.flush());
        full += usize::from(done.is_err());
        // When the disk has space again, nothing is lost.
        members.set_room(usize::MAX);
        if done.is_err() {
            let again = State::of(&file).unwrap();
            done = if again == change.new { Ok(()) } else { operation.run(&file) };
            done = done.and_then(|()| file.flush());
            done.as_ref().unwrap_or_else(|error| panic!("{}, again: {error}", operation.name));
        }
        drop(file);
        judged(&members, done.is_ok());
    }
    (failed, full)
}
