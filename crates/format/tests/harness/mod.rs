//! Checks any structure against the laws of `Structure` in one test: L1, L3, that damaged bytes never panic,
//! and that they are always an error if there is a checksum.

use std::fmt::Debug;

use hyperslab_format::bytes::lookup3::lookup3;
use hyperslab_format::{Addr, Reader, Structure, Width, Widths, Writer};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// The address of the structures under test, for structures that know their own address.
pub(crate) const AT: Addr = Addr::new(0x1000);

/// Checks the laws for the structures of `strategy` in a file with eight-byte addresses and lengths.
pub(crate) fn laws<S>(strategy: impl Strategy<Value = S>, context: &S::Context)
where
    S: Structure + PartialEq + Debug,
{
    laws_with_widths(Widths::EIGHT, strategy, context);
}

/// Checks the laws for the structures of `strategy` in a file with `widths`.
pub(crate) fn laws_with_widths<S>(widths: Widths, strategy: impl Strategy<Value = S>, context: &S::Context)
where
    S: Structure + PartialEq + Debug,
{
    run((strategy, damage()), |(structure, damage)| check(&structure, widths, context, &damage));
}

/// Checks the laws for structures that each have their own context.
pub(crate) fn laws_in_context<S, C>(strategy: impl Strategy<Value = (S, C)>)
where
    S: Structure<Context = C> + PartialEq + Debug,
    C: Debug,
{
    run((strategy, damage()), |((structure, context), damage)| {
        check(&structure, Widths::EIGHT, &context, &damage)
    });
}

/// The narrow widths, for structures whose fields depend on them.
pub(crate) const NARROW: Widths = Widths { offset: Width::Four, length: Width::Two };

/// Addresses that fit [`NARROW`], including the undefined address.
pub(crate) fn addr() -> impl Strategy<Value = Addr> {
    prop_oneof![4 => (0..u64::from(u32::MAX)).prop_map(Addr::new), 1 => Just(Addr::UNDEFINED)]
}

/// The bytes to damage: the position of each, relative to the length, and the bits to flip.
fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)
}

fn run<T: Debug>(strategy: impl Strategy<Value = T>, test: impl Fn(T) -> TestCaseResult) {
    let config = Config { failure_persistence: None, ..Config::with_cases(96) };
    if let Err(error) = TestRunner::new(config).run(&strategy, test) {
        panic!("{error}");
    }
}

fn check<S>(
    structure: &S,
    widths: Widths,
    context: &S::Context,
    damage: &[(prop::sample::Index, u8)],
) -> TestCaseResult
where
    S: Structure + PartialEq + Debug,
{
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, widths).structure(structure, context);
    prop_assert_eq!(
        bytes.len(),
        structure.encoded_len(widths, context),
        "L3: `encode` writes `encoded_len` bytes"
    );

    let mut r = Reader::new(&bytes, widths, AT);
    let decoded = r.structure::<S>(context);
    prop_assert_eq!(decoded.as_ref(), Ok(structure), "L1: `decode(encode(x)) == x`");
    prop_assert!(r.is_at_end(), "L1: {} bytes are left", r.remaining());

    for len in 0..bytes.len() {
        let shorter = Reader::new(&bytes[..len], widths, AT).structure::<S>(context);
        prop_assert!(shorter.is_err(), "L3: {len} of {} bytes decode as {shorter:?}", bytes.len());
    }

    if ends_with_checksum(&bytes) {
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let flipped = Reader::new(&bytes, widths, AT).structure::<S>(context);
            prop_assert!(flipped.is_err(), "flipping bit {bit} decodes as {flipped:?}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    // Damaged bytes may decode or fail, but must not panic.
    for (index, change) in damage {
        // `index.index(0)` would panic. Empty bytes cannot be damaged.
        if let Some(byte) = bytes.len().checked_sub(1).map(|_| index.index(bytes.len())) {
            bytes[byte] ^= change;
        }
        let _ = Reader::new(&bytes, widths, AT).structure::<S>(context);
    }
    Ok(())
}

/// Returns whether the last four bytes are the checksum of the bytes before them.
pub(crate) fn ends_with_checksum(bytes: &[u8]) -> bool {
    bytes.split_last_chunk().is_some_and(|(before, stored)| lookup3(before).to_le_bytes() == *stored)
}
