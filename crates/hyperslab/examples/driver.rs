//! A medium of one's own, a file whose pages are in a key-value store: `cargo run --example driver`.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, RwLock};

use hyperslab::File;
use hyperslab::driver::{Capabilities, Driver, Hints};

const PAGE: usize = 4096;

/// The store: pages by their number, and the length of the file. A missing page has zeros.
#[derive(Debug, Default)]
pub(crate) struct Pages(RwLock<(BTreeMap<u64, [u8; PAGE]>, u64)>);

/// Calls `f` with the page, the offset in it and the range of the caller's bytes for each page of a range.
fn each_page(offset: u64, len: usize, mut f: impl FnMut(u64, usize, std::ops::Range<usize>)) {
    let mut done = 0;
    while done < len {
        let at = offset + done as u64;
        let within = usize::try_from(at % PAGE as u64).expect("less than a page");
        let count = (PAGE - within).min(len - done);
        f(at / PAGE as u64, within, done..done + count);
        done += count;
    }
}

impl Driver for Pages {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.read().expect("no thread panicked").1)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> io::Result<()> {
        let (pages, len) = &*self.0.read().expect("no thread panicked");
        // A read past the end is an error, and never returns fewer bytes.
        let is_inside = offset.checked_add(dst.len() as u64).is_some_and(|end| end <= *len);
        if !is_inside {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        each_page(offset, dst.len(), |page, within, range| match pages.get(&page) {
            Some(bytes) => dst[range.clone()].copy_from_slice(&bytes[within..within + range.len()]),
            None => dst[range].fill(0),
        });
        Ok(())
    }

    fn write_at(&self, offset: u64, src: &[u8]) -> io::Result<()> {
        let (pages, len) = &mut *self.0.write().expect("no thread panicked");
        let end = offset.checked_add(src.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        each_page(offset, src.len(), |page, within, range| {
            let bytes = pages.entry(page).or_insert([0; PAGE]);
            bytes[within..within + range.len()].copy_from_slice(&src[range]);
        });
        *len = end.max(*len);
        Ok(())
    }

    fn set_len(&self, new: u64) -> io::Result<()> {
        let (pages, len) = &mut *self.0.write().expect("no thread panicked");
        if new < *len {
            // What was cut must not come back when the file grows again.
            pages.retain(|page, bytes| {
                let kept = new.saturating_sub(page * PAGE as u64);
                let kept = usize::try_from(kept).map_or(PAGE, |kept| kept.min(PAGE));
                bytes[kept..].fill(0);
                kept > 0
            });
        }
        *len = new;
        Ok(())
    }

    /// Everything is durable at once, so neither a flush nor a close has work.
    fn flush(&self, _closing: bool) -> io::Result<()> {
        Ok(())
    }

    fn capabilities(&self) -> Capabilities<'_> {
        // Reading over a gap of half a page costs less than another lookup. A lookup waits for nothing, so a
        // second request in progress gains nothing.
        let hints =
            Hints { coalesce_gap: PAGE as u64 / 2, max_span: 1 << 20, queue_depth: 1, concurrent: true };
        Capabilities::new("pages", hints)
    }
}

pub(crate) fn main() -> hyperslab::Result<()> {
    let pages = Arc::new(Pages::default());
    let file = File::options().create(true).open_on(pages.clone())?;
    let t2m: Vec<f32> = (0..10_000u16).map(f32::from).collect();
    file.root().new_dataset::<f32>("t2m").shape([100, 100]).chunks([10, 100]).create_with(&t2m)?;
    file.close()?;

    let file = File::options().open_on(pages.clone())?;
    let column = file.dataset("t2m")?.read::<f32>([20..24, 7..8])?;
    println!("{column:?} from the driver {}", file.driver_info()?.name);
    println!("{} pages", pages.0.read().expect("no thread panicked").0.len());
    Ok(())
}
