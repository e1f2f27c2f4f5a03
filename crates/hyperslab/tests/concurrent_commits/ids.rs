//! Ids of strings are not overwritten where the committed state of the file has them: it lacks the strings of
//! new ids.

use std::sync::OnceLock;

use super::*;

/// The bytes of two ids.
const IDS: usize = 32;

/// A driver that calls a function before each read, with the number of bytes.
struct Watched {
    inner: Arc<Hooked<CrashDriver>>,
    before: OnceLock<Box<dyn Fn(usize) + Send + Sync>>,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watched")
    }
}

impl Driver for Watched {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        if let Some(before) = self.before.get() {
            before(dst.len());
        }
        self.inner.read_at(offset, dst)
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        self.inner.write_at(offset, src)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn flush(&self, closing: bool) -> io::Result<()> {
        self.inner.flush(closing)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        self.inner.capabilities()
    }
}

/// One thread has read the old ids when another one commits them, and goes on during the commit.
#[test]
fn ids_that_a_commit_refers_to_are_not_overwritten_in_place() {
    let hooked = Hooked::new(CrashDriver::new(image(LibVersion::V110)));
    let driver = Arc::new(Watched { inner: Arc::clone(&hooked), before: OnceLock::new() });
    let file = options(Durability::Power).open_on(Arc::clone(&driver) as Arc<dyn Driver>).unwrap();
    let [old, new] = [["one", "two"], ["three", "four"]].map(|names| names.map(str::to_owned));
    let names = file.root().new_dataset::<String>("names").shape([2]).create_with(&old).unwrap();
    let (reads, has_read) = channel();
    let (go_on, may_go_on) = channel();
    let (is_first, may_go_on) = (AtomicBool::new(true), Mutex::new(may_go_on));
    let wait = move |len| {
        if len == IDS && is_first.swap(false, Ordering::SeqCst) {
            reads.send(()).unwrap();
            may_go_on.lock().unwrap().recv_timeout(FOR_EVER).unwrap();
        }
    };
    assert!(driver.before.set(Box::new(wait)).is_ok());
    let (writing, given) = (names.clone(), new.clone());
    let writer = thread::spawn(move || writing.write(.., &given).unwrap());
    has_read.recv_timeout(FOR_EVER).unwrap();
    hooked.set_for_this_thread(Box::new(move |bytes| {
        if bytes.is_none() {
            _ = go_on.send(());
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }));
    file.flush().unwrap();
    hooked.clear();
    writer.join().unwrap();
    let killed = File::from_bytes(hooked.inner.image()).unwrap();
    assert_eq!(killed.dataset("names").unwrap().read::<String>(..).unwrap(), old);
    assert_eq!(names.read::<String>(..).unwrap(), new);
    assert_accounted(&file, 0);
}
