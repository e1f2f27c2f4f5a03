//! Compares edits of object headers with a list of messages. After any sequence of put, replace and remove,
//! the chunks keep their addresses and do not shrink, and the header decoded from the chunks contains the
//! listed messages.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

use hyperslab_format::header::edit::{Fit, HeaderEdit, Place};
use hyperslab_format::header::{ChunkContext, ObjectHeader, Prefix, RawMessage, v2};
use hyperslab_format::message::kind;
use hyperslab_format::{Addr, ErrorKind, Extent, Reader, Widths, Writer};
use proptest::prelude::*;

const WIDTHS: Widths = Widths::EIGHT;
const V2: Prefix = Prefix::V2(v2::Prefix {
    len_width: 0,
    tracks_creation_order: false,
    indexes_creation_order: false,
    times: None,
    phase_change: None,
});

/// A single change. Indices select an existing message, modulo the number of messages.
#[derive(Debug, Clone)]
enum Change {
    Put(u16, Vec<u8>),
    Replace(usize, Vec<u8>),
    Remove(usize),
    Links(u32),
    Condense,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let data = || prop::collection::vec(any::<u8>(), 0..90);
    let kinds = prop::sample::select(vec![kind::ATTRIBUTE, kind::LINK, kind::COMMENT]);
    let change = prop_oneof![
        4 => (kinds, data()).prop_map(|(kind, data)| Change::Put(kind, data)),
        2 => (0usize..50, data()).prop_map(|(at, data)| Change::Replace(at, data)),
        2 => (0usize..50).prop_map(Change::Remove),
        1 => (1u32..4).prop_map(Change::Links),
        1 => Just(Change::Condense),
    ];
    prop::collection::vec(change, 1..30)
}

fn prefixes() -> impl Strategy<Value = Prefix> {
    let v2 = |tracks_creation_order| {
        Prefix::V2(v2::Prefix {
            len_width: 0,
            tracks_creation_order,
            indexes_creation_order: false,
            times: None,
            phase_change: None,
        })
    };
    prop::sample::select(vec![Prefix::V1 { reference_count: 1 }, v2(false), v2(true)])
}

fn raw(kind: u16, data: Vec<u8>) -> RawMessage {
    RawMessage { kind, flags: 0, creation_order: None, data: data.into(), at: Addr::UNDEFINED }
}

/// Returns a header without messages, with `room` bytes for messages.
fn empty(prefix: Prefix, room: usize) -> ObjectHeader {
    let tracks = matches!(prefix, Prefix::V2(v2::Prefix { tracks_creation_order: true, .. }));
    let nil = RawMessage { creation_order: tracks.then_some(0), ..raw(kind::NIL, vec![0; room]) };
    ObjectHeader::new(prefix, vec![nil], Addr::new(96), WIDTHS).unwrap()
}

/// Encodes the chunks of a header and decodes the header from them.
fn stored(header: &ObjectHeader) -> ObjectHeader {
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, WIDTHS).structure(header, &());
    assert_eq!(bytes.len() as u64, header.chunks[0].extent.len);
    let mut again: ObjectHeader =
        Reader::new(&bytes, WIDTHS, header.chunks[0].extent.addr).structure(&()).unwrap();
    let framing = header.prefix.framing();
    while let Some(extent) = again.next_pending() {
        let chunk = &header.chunks[again.chunks.len()];
        assert_eq!(chunk.extent, extent, "chunks are in the order of their continuations");
        let mut bytes = Vec::new();
        Writer::new(&mut bytes, WIDTHS).structure(chunk, &ChunkContext { framing, len: extent.len });
        assert_eq!(bytes.len() as u64, extent.len);
        again.decode_continuation(&mut Reader::new(&bytes, WIDTHS, extent.addr)).unwrap();
    }
    again
}

/// Returns the sorted kinds and data of the messages that a caller put into the header.
fn contents(header: &ObjectHeader) -> Vec<(u16, Vec<u8>)> {
    let own = [kind::NIL, kind::CONTINUATION, kind::REFERENCE_COUNT];
    let messages = header.messages().filter(|message| !own.contains(&message.kind));
    let mut contents: Vec<_> = messages.map(|message| (message.kind, message.data.to_vec())).collect();
    contents.sort();
    contents
}

/// Completes an edit if the message did not fit. For odd `spare`, lengthens a chunk for it; for even `spare`,
/// puts it into a new chunk with `spare * 8` bytes of spare room.
fn finish(edit: &mut HeaderEdit, fit: Fit, message: RawMessage, end: &mut u64, spare: u64) {
    let Fit::Needs(len) = fit else { return };
    if spare % 2 == 1 {
        let short = edit.short_chunks(&message);
        let (number, extent, missing) = short[usize::try_from(len).unwrap() % short.len()];
        edit.lengthen(number, Extent::new(extent.addr, extent.len + missing)).unwrap();
        assert_eq!(edit.put(message).unwrap(), Fit::Placed, "the longer chunk has room for the message");
        assert!(edit.header().chunks[number].messages.iter().all(|message| message.kind != kind::NIL));
        return;
    }
    let extent = Extent::new(Addr::new(*end), len + spare * 8);
    // Chunks are far apart, so that they can grow.
    *end += 1 << 16;
    edit.put_in(message, extent).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn an_edited_header_holds_its_messages_and_its_chunks_do_not_move(
        prefix in prefixes(),
        room in 3usize..12,
        changes in changes(),
        spare in 0u64..9,
    ) {
        let first = empty(prefix, room * 8);
        let mut edit = HeaderEdit::new(first, WIDTHS).unwrap();
        let mut end = 1 << 20;
        let padded = |mut data: Vec<u8>| {
            if matches!(prefix, Prefix::V1 { .. }) {
                data.resize(data.len().next_multiple_of(8), 0);
            }
            data
        };
        let (mut model, mut links) = (Vec::<(u16, Vec<u8>)>::new(), 1);
        for change in changes {
            let mut before: Vec<Extent> = edit.header().chunks.iter().map(|chunk| chunk.extent).collect();
            // Finds a message of the model, and its place in the header.
            let find = |edit: &HeaderEdit, at: usize| -> Option<((u16, Vec<u8>), Place)> {
                let wanted = model.get(at % model.len().max(1))?.clone();
                let place = edit.places(wanted.0).find(|(_, message)| message.data[..] == wanted.1)?.0;
                Some((wanted, place))
            };
            let mut freed = Vec::new();
            match change {
                Change::Condense => freed = edit.condense().unwrap(),
                Change::Put(kind, data) => {
                    let message = raw(kind, data.clone());
                    let fit = edit.put(message.clone()).unwrap();
                    finish(&mut edit, fit, message, &mut end, spare);
                    model.push((kind, padded(data)));
                }
                Change::Replace(at, data) => {
                    let Some((old, place)) = find(&edit, at) else { continue };
                    let message = raw(old.0, data.clone());
                    let fit = edit.replace(place, message.clone()).unwrap();
                    finish(&mut edit, fit, message, &mut end, spare);
                    let gone = model.iter().position(|held| *held == old).unwrap();
                    model[gone] = (old.0, padded(data));
                }
                Change::Remove(at) => {
                    let Some((old, place)) = find(&edit, at) else { continue };
                    prop_assert_eq!(&edit.remove(place).unwrap().data[..], &old.1[..]);
                    let gone = model.iter().position(|held| *held == old).unwrap();
                    model.remove(gone);
                }
                Change::Links(count) => {
                    let fit = edit.set_reference_count(count).unwrap();
                    let message = edit.message(&hyperslab_format::message::small::ReferenceCount { count }, 0);
                    finish(&mut edit, fit, message, &mut end, spare);
                    links = count;
                }
            }
            let header = stored(edit.header());
            before.retain(|extent| !freed.contains(extent));
            prop_assert_eq!(&header, edit.header());
            model.sort();
            prop_assert_eq!(contents(&header), model.clone());
            prop_assert_eq!(header.reference_count(WIDTHS).unwrap(), links);
            for extent in before {
                let is_it = |now: Extent| now.addr == extent.addr && now.len >= extent.len;
                prop_assert!(header.chunks.iter().any(|chunk| is_it(chunk.extent)), "{:?} moved", extent);
            }
        }
    }

    #[test]
    fn unchanged_chunks_are_not_written_again(sizes in prop::collection::vec(8usize..60, 2..12)) {
        let mut header = empty(V2, 40);
        let mut end = 1 << 20;
        for size in sizes {
            let mut edit = HeaderEdit::new(header.clone(), WIDTHS).unwrap();
            let message = raw(kind::COMMENT, vec![7; size]);
            let fit = edit.put(message.clone()).unwrap();
            finish(&mut edit, fit, message, &mut end, 0);
            let (after, changed) = edit.finish();
            for (number, chunk) in after.chunks.iter().enumerate() {
                let is_new = !header.chunks.contains(chunk);
                prop_assert!(!is_new || changed.contains(&number), "chunk {} changed and is not reported", number);
            }
            prop_assert!(changed.len() <= 2, "{:?} of {} chunks", changed, after.chunks.len());
            header = after;
        }
    }
}

#[test]
fn a_message_longer_than_its_length_field_is_an_error() {
    let prefix = Prefix::V1 { reference_count: 1 };
    let header = empty(prefix, 80);
    let mut edit = HeaderEdit::new(header, WIDTHS).unwrap();
    let error = edit.put(raw(kind::ATTRIBUTE, vec![0; 65_536])).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::TooLarge { field: "Size of Message Data", .. }), "{error}");
    let too_small =
        edit.put_in(raw(kind::ATTRIBUTE, vec![0; 400]), Extent::new(Addr::new(4096), 64)).unwrap_err();
    assert!(matches!(too_small.kind, ErrorKind::Value { field: "Length", .. }), "{too_small}");
    let nowhere = edit.remove(Place { chunk: 0, message: 5 }).unwrap_err();
    assert!(matches!(nowhere.kind, ErrorKind::Missing { .. }), "{nowhere}");
}

#[test]
fn a_header_without_room_for_a_continuation_is_an_error() {
    let prefix = Prefix::V1 { reference_count: 1 };
    let header = empty(prefix, 8);
    let mut edit = HeaderEdit::new(header, WIDTHS).unwrap();
    let error = edit.put(raw(kind::ATTRIBUTE, vec![0; 80])).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Missing { what: "room for a continuation message" }), "{error}");
}

#[test]
fn condense_frees_chunks_whose_messages_fit_into_earlier_chunks() {
    for prefix in [Prefix::V1 { reference_count: 1 }, V2] {
        let mut edit = HeaderEdit::new(empty(prefix, 80), WIDTHS).unwrap();
        let mut end = 1 << 20;
        for byte in 0..6 {
            let message = raw(kind::LINK, vec![byte; 40]);
            let fit = edit.put(message.clone()).unwrap();
            finish(&mut edit, fit, message, &mut end, 0);
        }
        let further: Vec<Extent> = edit.header().chunks.iter().skip(1).map(|chunk| chunk.extent).collect();
        assert!(further.len() > 1);
        assert_eq!(edit.condense().unwrap(), [], "every chunk is needed");
        while edit.places(kind::LINK).count() > 1 {
            let place = edit.places(kind::LINK).next().unwrap().0;
            edit.remove(place).unwrap();
        }
        let mut freed = edit.condense().unwrap();
        freed.reverse();
        assert_eq!(freed, further);
        let (header, changed) = edit.finish();
        assert_eq!(contents(&stored(&header)), [(kind::LINK, vec![5; 40])]);
        assert_eq!((header.chunks.len(), changed.into_iter().collect::<Vec<_>>()), (1, vec![0]));
    }
}

#[test]
fn the_length_field_of_the_first_chunk_widens_as_the_chunk_grows() {
    let mut edit = HeaderEdit::new(empty(V2, 80), WIDTHS).unwrap();
    for (byte, width) in [(0, 0), (1, 1), (2, 1)] {
        let message = raw(kind::COMMENT, vec![byte; 150]);
        assert!(matches!(edit.put(message.clone()).unwrap(), Fit::Needs(_)));
        finish(&mut edit, Fit::Needs(0), message, &mut 0, 1);
        let Prefix::V2(prefix) = edit.header().prefix else { unreachable!() };
        assert_eq!(prefix.len_width, width);
        assert_eq!(&stored(edit.header()), edit.header());
    }
    let long = raw(kind::COMMENT, vec![3; 65_500]);
    finish(&mut edit, Fit::Needs(0), long, &mut 0, 1);
    assert!(matches!(edit.header().prefix, Prefix::V2(v2::Prefix { len_width: 2, .. })));
    assert_eq!(contents(&stored(edit.header())).len(), 4);
}

#[test]
fn lengthen_refuses_another_address_a_smaller_size_and_a_missing_chunk() {
    let mut edit = HeaderEdit::new(empty(V2, 80), WIDTHS).unwrap();
    let extent = edit.header().chunks[0].extent;
    for wrong in [Extent::new(Addr::new(97), extent.len + 8), Extent::new(extent.addr, extent.len - 8)] {
        let error = edit.lengthen(0, wrong).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Missing { .. }), "{error}");
    }
    assert!(edit.lengthen(1, extent).is_err());
}
