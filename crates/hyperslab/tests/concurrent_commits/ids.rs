//! Ids of strings are not overwritten where the committed state of the file has them: it lacks the strings of
//! new ids.

use super::*;

/// The bytes of two ids.
const IDS: usize = 32;

/// One thread has read the old ids when another one commits them, and goes on during the commit.
#[test]
fn ids_that_a_commit_refers_to_are_not_overwritten_in_place() {
    let driver = hooked(CrashDriver::new(image(LibVersion::V110)));
    let file = options(Durability::Power).open_on(driver.clone()).unwrap();
    let [old, new] = [["one", "two"], ["three", "four"]].map(|names| names.map(str::to_owned));
    let names = file.root().new_dataset::<String>("names").shape([2]).create_with(&old).unwrap();
    let (reads, has_read) = channel();
    let (go_on, may_go_on) = channel();
    let (is_first, may_go_on) = (AtomicBool::new(true), Mutex::new(may_go_on));
    driver.set(move |call| match call {
        Call::Read(_, dst) if dst.len() == IDS && is_first.swap(false, Ordering::SeqCst) => {
            reads.send(()).unwrap();
            may_go_on.lock().unwrap().recv_timeout(FOR_EVER).unwrap();
            Ok(())
        }
        _ => Ok(()),
    });
    let (writing, given) = (names.clone(), new.clone());
    let writer = thread::spawn(move || writing.write(.., &given).unwrap());
    has_read.recv_timeout(FOR_EVER).unwrap();
    set_for_this_thread(
        &driver,
        Box::new(move |bytes| {
            if bytes.is_none() {
                _ = go_on.send(());
                thread::sleep(Duration::from_millis(20));
            }
            Ok(())
        }),
    );
    file.flush().unwrap();
    driver.clear();
    writer.join().unwrap();
    let killed = File::from_bytes(driver.inner.image()).unwrap();
    assert_eq!(killed.dataset("names").unwrap().read::<String>(..).unwrap(), old);
    assert_eq!(names.read::<String>(..).unwrap(), new);
    assert_accounted(&file, 0);
}
