//! BloscLZ: Blosc's own codec, a byte-oriented LZ77 with distances of up to 73,727 bytes.

use crate::simd::copy::Window;

/// The first distance that needs two bytes more.
const FAR: usize = 8191;

/// Decodes the first `need` bytes of a stream of `len` into `out`, whose bytes after them are clobbered. False if the
/// stream is damaged, or decodes to another length (which is only known if all of it is needed).
pub(super) fn decode(src: &[u8], out: &mut [u8], len: usize, need: usize) -> bool {
    debug_assert!(need <= len);
    let mut window = Window::new(out, need);
    let prefix = need < len;
    let Some(&first) = src.first() else { return len == 0 };
    // The three high bits of the first byte are a mark, not a match.
    let mut control = usize::from(first & 31);
    let mut at = 1;
    loop {
        if control < 32 {
            let mut run = control + 1;
            if prefix && run > window.room() {
                run = window.room();
            }
            if !window.literal(src, at, run) {
                return false;
            }
            at += run;
        } else {
            let mut run = (control >> 5) - 1;
            let high = (control & 31) << 8;
            if run == 6 {
                loop {
                    let Some(&more) = src.get(at) else { return false };
                    at += 1;
                    run += usize::from(more);
                    if more != 255 {
                        break;
                    }
                }
            }
            let Some(&low) = src.get(at) else { return false };
            at += 1;
            run += 3;
            let mut distance = high + usize::from(low) + 1;
            if low == 255 && high == 31 << 8 {
                let Some(&[high, low]) = src.get(at..at + 2) else { return false };
                at += 2;
                distance = usize::from(u16::from_be_bytes([high, low])) + FAR + 1;
            }
            if prefix && run > window.room() {
                run = window.room();
            }
            if !window.repeat(distance, run) {
                return false;
            }
        }
        if prefix && window.room() == 0 {
            return true;
        }
        let Some(&next) = src.get(at) else { return window.room() == 0 };
        control = usize::from(next);
        at += 1;
    }
}
