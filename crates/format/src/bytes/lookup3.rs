//! Jenkins' lookup3 hash. With the initial value 0 it is the checksum of HDF5 metadata (spec I.A).

/// Returns the checksum of `bytes`.
pub fn lookup3(bytes: &[u8]) -> u32 {
    lookup3_with(bytes, 0)
}

/// Returns the hash of `bytes` with the initial value `initial`. Names in dense groups use 0 as well.
///
/// The algorithm is Bob Jenkins' public-domain `hashlittle`, in its byte-at-a-time reading.
#[allow(clippy::cast_possible_truncation)] // the length enters modulo 2^32, by definition
pub fn lookup3_with(bytes: &[u8], initial: u32) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(initial);
    let mut state = [start; 3];
    // The last block, of 1 to 12 bytes, is mixed by `finish`; an empty input is not mixed at all.
    let full_blocks = bytes.len().saturating_sub(1) / 12;
    let (full, last) = bytes.split_at(full_blocks * 12);
    for block in full.as_chunks().0 {
        add(&mut state, block);
        mix(&mut state);
    }
    if !last.is_empty() {
        let mut padded = [0; 12];
        padded[..last.len()].copy_from_slice(last);
        add(&mut state, &padded);
        finish(&mut state);
    }
    state[2]
}

fn add([a, b, c]: &mut [u32; 3], block: &[u8; 12]) {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *block;
    *a = a.wrapping_add(u32::from_le_bytes([a0, a1, a2, a3]));
    *b = b.wrapping_add(u32::from_le_bytes([b0, b1, b2, b3]));
    *c = c.wrapping_add(u32::from_le_bytes([c0, c1, c2, c3]));
}

fn mix([a, b, c]: &mut [u32; 3]) {
    for (rotate_c, rotate_a, rotate_b) in [(4, 6, 8), (16, 19, 4)] {
        *a = a.wrapping_sub(*c) ^ c.rotate_left(rotate_c);
        *c = c.wrapping_add(*b);
        *b = b.wrapping_sub(*a) ^ a.rotate_left(rotate_a);
        *a = a.wrapping_add(*c);
        *c = c.wrapping_sub(*b) ^ b.rotate_left(rotate_b);
        *b = b.wrapping_add(*a);
    }
}

fn finish([a, b, c]: &mut [u32; 3]) {
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the self-test in Jenkins' lookup3.c.
    #[test]
    fn the_examples_of_the_author_hash_as_published() {
        assert_eq!(lookup3_with(b"", 0), 0xdead_beef);
        assert_eq!(lookup3_with(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(lookup3_with(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3_with(b"Four score and seven years ago", 1), 0xcd62_8161);
    }
}
