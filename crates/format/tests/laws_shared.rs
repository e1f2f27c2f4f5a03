//! Checks the structures of shared messages, cache images and driver information against the laws of
//! `Structure`.

#[allow(dead_code)] // each test program uses only a part of the shared harness
mod harness;

use hyperslab_format::btree2::record::{Record, Records, SharedRecordLocation};
use hyperslab_format::cache_image::{CacheImage, CacheImageEntry};
use hyperslab_format::message::small::{CacheImageMessage, SharedMessages};
use hyperslab_format::shared_messages::list::{SharedMessageList, SharedMessageListContext};
use hyperslab_format::shared_messages::table::{IndexForm, SharedMessageIndex, SharedMessageTable};
use hyperslab_format::superblock::driver_information::{
    DriverBlock, DriverInformation, DriverMessage, KINDS, MultiInformation, MultiMember,
};
use hyperslab_format::{Addr, Extent, Structure, Widths};
use proptest::collection::vec;
use proptest::prelude::*;

use harness::{AT, NARROW, addr, laws, laws_in_context, laws_with_widths};

fn index() -> impl Strategy<Value = SharedMessageIndex> {
    let form = prop_oneof![Just(IndexForm::List), Just(IndexForm::BTree)];
    let numbers = (any::<u16>(), any::<u32>(), 100..200_u16, any::<u16>(), 0..100_u16);
    (form, numbers, addr(), addr()).prop_map(|(form, numbers, at, heap)| {
        let (message_types, min_message_size, list_max, btree_min, messages) = numbers;
        SharedMessageIndex { form, message_types, min_message_size, list_max, btree_min, messages, at, heap }
    })
}

fn record() -> impl Strategy<Value = Record> {
    let heap = (any::<u32>(), any::<[u8; 8]>())
        .prop_map(|(reference_count, id)| SharedRecordLocation::Heap { reference_count, id });
    let header = (any::<u8>(), any::<u16>(), addr())
        .prop_map(|(message_type, index, addr)| SharedRecordLocation::Header { message_type, index, addr });
    (any::<u32>(), prop_oneof![heap, header])
        .prop_map(|(hash, location)| Record::SharedMessage { hash, location })
}

#[test]
fn messages_of_the_extension() {
    let table = (addr(), 1..=8_u8).prop_map(|(table, indexes)| SharedMessages { table, indexes });
    laws(table, &());
    let image = (addr(), 0..1_u64 << 15).prop_map(|(addr, len)| Extent::new(addr, len));
    laws_with_widths(NARROW, image.prop_map(|extent| CacheImageMessage { extent }), &());
}

#[test]
fn tables() {
    let table = vec(index(), 1..=8).prop_map(|indexes| {
        let count = u8::try_from(indexes.len()).unwrap();
        (SharedMessageTable { indexes }, count)
    });
    laws_in_context(table);
    laws_with_widths(NARROW, index(), &());
}

#[test]
fn lists_have_space_for_further_records() {
    let list = (vec(record(), 0..9), 0..5_u16).prop_map(|(records, spare)| {
        let form = SharedMessageList::record_form(Widths::EIGHT).unwrap();
        let messages = u16::try_from(records.len()).unwrap();
        let list = SharedMessageList { records: Records::new(form, &records) };
        (list, SharedMessageListContext { messages, list_max: messages + spare })
    });
    laws_in_context(list);
}

#[test]
fn cache_images() {
    let entry =
        (any::<[u8; 4]>(), any::<[u16; 2]>(), any::<i32>(), vec(addr(), 0..3), vec(any::<u8>(), 0..40));
    let entry = (entry, 0..1_u64 << 30).prop_map(|((state, children, rank, parents, bytes), at)| {
        let ([kind, flags, ring, age], [children, dirty_children], at) = (state, children, Addr::new(at));
        CacheImageEntry { kind, flags, ring, age, children, dirty_children, rank, at, parents, bytes }
    });
    let image = vec(entry, 0..5).prop_map(|entries| {
        let image = CacheImage { entries };
        let len = image.encoded_len(Widths::EIGHT, &Extent::new(AT, 0)) as u64;
        (image, Extent::new(AT, len))
    });
    laws_in_context(image);
}

fn driver_information() -> impl Strategy<Value = DriverInformation> {
    let family = any::<u64>().prop_map(|member_size| DriverInformation::Family { member_size });
    let member = || (any::<u64>(), any::<u64>(), vec(1..=255_u8, 0..20));
    let map = proptest::array::uniform6(0..=6_u8);
    let multi = (map, vec(member(), KINDS)).prop_map(|(map, mut members)| {
        members.truncate(MultiInformation::kinds(&map).len());
        let member = |(start, end, name)| MultiMember { start, end, name };
        DriverInformation::Multi(MultiInformation { map, members: members.into_iter().map(member).collect() })
    });
    let other =
        vec(any::<u8>(), 0..20).prop_map(|bytes| DriverInformation::Other { name: *b"NCSAothr", bytes });
    prop_oneof![family, multi, other]
}

#[test]
fn drivers() {
    laws(driver_information().prop_map(DriverBlock), &());
    laws(driver_information().prop_map(DriverMessage), &());
}

#[test]
fn a_member_holds_the_kinds_that_the_map_leads_to_it() {
    assert_eq!(MultiInformation::kinds(&[1, 1, 3, 3, 1, 1]), [1, 3]);
    assert_eq!(MultiInformation::kinds(&[0; 6]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(MultiInformation::kinds(&[2, 2, 2, 4, 2, 2]), [2, 4]);
}
