//! Damages inputs at random, and then recomputes the checksums of metadata, so that decoders see the damage.

use hyperslab_format::bytes::lookup3::lookup3;

use super::input::Random;

/// The place of a checksum in a seed. The checksum covers all bytes from `start` to `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal {
    /// The offset of the structure, which begins with its signature.
    pub start: usize,
    /// The offset of the checksum.
    pub at: usize,
}

/// Finds the checksums of structures in `bytes`: structures by signature, their lengths by trial.
pub fn seals(bytes: &[u8]) -> Vec<Seal> {
    let starts =
        bytes.windows(4).enumerate().filter(|(_, window)| SIGNATURES.iter().any(|s| s[..] == **window));
    starts.filter_map(|(start, _)| seal(bytes, start)).collect()
}

fn seal(bytes: &[u8], start: usize) -> Option<Seal> {
    let end = bytes.len().min(start + LONGEST);
    (start + 8..end.saturating_sub(3)).map(|at| Seal { start, at }).find(|seal| {
        let stored = bytes.get(seal.at..seal.at + 4);
        // Zeros are padding far more often than they are a checksum.
        stored != Some(&[0; 4]) && stored == Some(&lookup3(&bytes[start..seal.at]).to_le_bytes())
    })
}

/// The signatures of structures that end with a checksum (spec II.A, III, IV.A.1, VII).
const SIGNATURES: [&[u8; 4]; 19] = [
    b"\x89HDF", b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHIB", b"FAHD", b"FADB", b"EAHD",
    b"EAIB", b"EASB", b"EADB", b"FSHD", b"FSSE", b"SMTB", b"SMLI", b"MDCI",
];

/// The largest structure whose checksum is found, because the search takes quadratic time. Longer structures
/// keep their old checksum, which is then wrong.
const LONGEST: usize = 1200;

/// Returns a damaged copy of `seed`. Most of the time its checksums are recomputed.
pub fn mutate(seed: &[u8], seals: &[Seal], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        change(&mut bytes, other, random);
    }
    if !random.once_in(16) {
        reseal(&mut bytes, seals);
    }
    bytes
}

/// Recomputes the checksums.
pub fn reseal(bytes: &mut [u8], seals: &[Seal]) {
    let len = bytes.len();
    for seal in seals.iter().filter(|seal| seal.at + 4 <= len) {
        let sum = lookup3(&bytes[seal.start..seal.at]).to_le_bytes();
        bytes[seal.at..seal.at + 4].copy_from_slice(&sum);
    }
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if bytes.is_empty() {
        bytes.push(random.u64().to_le_bytes()[0]);
        return;
    }
    let at = place(bytes, random);
    let number = word(bytes.len(), random).to_le_bytes();
    match random.below(14) {
        0..=2 => bytes[at] ^= 1 << random.below(8),
        3..=5 => bytes[at] = BOUNDARIES[random.below(BOUNDARIES.len())],
        6 => bytes[at] = random.u64().to_le_bytes()[0],
        7 => bytes[at] = bytes[at].wrapping_add(if random.once_in(2) { 1 } else { 255 }),
        8 => overwrite(bytes, at, &number[..4]),
        9 => overwrite(bytes, at, &number),
        10 => overwrite(bytes, at, &number[..2]),
        // Overwrites with a piece of this input or of another one.
        11 => {
            let piece = piece(bytes, random).to_vec();
            overwrite(bytes, at, &piece);
        }
        12 => overwrite(bytes, at, piece(other, random)),
        _ if random.once_in(4) => bytes.truncate(at),
        _ => overwrite(bytes, at, &[0; 16][..random.below(16)]),
    }
}

/// Returns the offset to change: anywhere, or shortly after the signature of a structure.
fn place(bytes: &[u8], random: &mut Random) -> usize {
    let at = random.below(bytes.len());
    if random.once_in(2) {
        return at;
    }
    let is_letter = |byte: &u8| byte.is_ascii_uppercase();
    let found = bytes[at..].windows(4).position(|window| window.iter().all(is_letter));
    found.map_or(at, |ahead| (at + ahead + 4 + random.below(64)).min(bytes.len() - 1))
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    let count = with.len().min(bytes.len() - at);
    bytes[at..at + count].copy_from_slice(&with[..count]);
}

fn piece<'b>(bytes: &'b [u8], random: &mut Random) -> &'b [u8] {
    let start = random.below(bytes.len());
    &bytes[start..bytes.len().min(start + 1 + random.below(64))]
}

/// Returns a number of a kind that decoders often handle wrongly.
fn word(len: usize, random: &mut Random) -> u64 {
    let near = (random.u64() % 5).wrapping_sub(2);
    let base = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => u64::from(u32::MAX),
        3 => 1 << random.below(64),
        4 => len as u64,
        5 | 6 => random.below(len) as u64,
        _ => random.u64(),
    };
    base.wrapping_add(near)
}

const BOUNDARIES: [u8; 12] = [0, 1, 2, 3, 4, 8, 16, 0x20, 0x7f, 0x80, 0xfe, 0xff];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_header_gets_a_matching_checksum() {
        let mut header = b"OHDR and what is in it".to_vec();
        header.extend(lookup3(&header).to_le_bytes());
        header.extend([7; 20]);
        assert_eq!(seals(&header), [Seal { start: 0, at: 22 }]);
        let mut random = Random::new(1);
        let mut sealed = 0;
        for _ in 0..100 {
            let damaged = mutate(&header, &seals(&header), b"other", &mut random);
            if damaged.len() >= 26 && damaged[..22] != header[..22] {
                sealed += usize::from(damaged[22..26] == lookup3(&damaged[..22]).to_le_bytes());
            }
        }
        assert!(sealed > 20, "{sealed}");
    }
}
