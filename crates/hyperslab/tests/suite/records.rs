//! Structs and enums with `#[derive(Element)]`, against records and enumerations that h5py wrote
//! (`data/records.py`).

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic, as tests do")]

use std::fmt::Debug;
use std::path::Path;

use hyperslab::datatype::{Array, Compound, Datatype, Enumeration};
use hyperslab::derive_support::compound;
use hyperslab::{Dataset, Element, Error, File, RequestError, WriteOptions};
use hyperslab_testkit::sound::assert_accounted;
use proptest::prelude::*;

const ROWS: u64 = 120;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
#[repr(i16)]
enum Phase {
    #[hyperslab(rename = "IDLE")]
    Idle = -3,
    #[hyperslab(rename = "ramp up")]
    RampUp,
    Hold = 300,
    Down = 7,
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
enum Level {
    Low,
    High = 255,
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Inner {
    #[hyperslab(rename = "x (m)")]
    x: f32,
    phases: [Phase; 2],
    is_valid: bool,
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Sample {
    id: u64,
    phase: Phase,
    grid: [[i16; 3]; 2],
    inner: Inner,
    many: [Inner; 2],
    r#type: u8,
}

/// Some number below 2^48 that no other row and place has.
fn part(row: u64, place: u64) -> u64 {
    (row * 64 + place + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
}

fn phase(row: u64, place: u64) -> Phase {
    [Phase::Idle, Phase::RampUp, Phase::Hold, Phase::Down][usize::try_from(part(row, place) % 4).unwrap()]
}

fn inner(row: u64, place: u64) -> Inner {
    let x = f32::from(u16::try_from(part(row, place) % 4096).unwrap()) / 8.0;
    let phases = [phase(row, place + 1), phase(row, place + 2)];
    Inner { x, phases, is_valid: part(row, place + 3) % 2 == 1 }
}

fn sample(row: u64) -> Sample {
    let cell = |place| i16::try_from(i64::try_from(part(row, place) % 65_536).unwrap() - 32_768).unwrap();
    Sample {
        id: part(row, 0),
        phase: phase(row, 1),
        grid: [[cell(2), cell(3), cell(4)], [cell(5), cell(6), cell(7)]],
        inner: inner(row, 8),
        many: [inner(row, 16), inner(row, 24)],
        r#type: u8::try_from(part(row, 32) % 256).unwrap(),
    }
}

fn samples() -> Vec<Sample> {
    (0..ROWS).map(sample).collect()
}

fn by_h5py() -> File {
    File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/records.h5")).unwrap()
}

fn stored(dataset: &Dataset) -> Vec<u8> {
    let Datatype::Compound(Compound { size, .. }) = *dataset.datatype() else { panic!("a compound") };
    let mut bytes = vec![0; usize::try_from(dataset.size() * u64::from(size)).unwrap()];
    dataset.read_into(.., &mut bytes).unwrap();
    bytes
}

/// Runs `work` on a new file, and checks the file.
fn with_file(work: impl FnOnce(&File)) {
    let file = File::in_memory().unwrap();
    work(&file);
    assert_accounted(&file, 0);
}

#[track_caller]
fn assert_not_a_value<T: Debug>(read: hyperslab::Result<T>, number: u64, text: &str) {
    let error = read.unwrap_err();
    assert!(
        matches!(error.root(), Error::Request(RequestError::NotAValue { element, .. }) if *element == number)
            && error.to_string().contains(text),
        "{error}"
    );
}

#[test]
fn records_of_h5py_are_read_with_their_enumerations() {
    let file = by_h5py();
    assert_eq!(file.dataset("packed").unwrap().read::<Sample>(..).unwrap(), samples());
    assert_eq!(file.dataset("packed").unwrap().read::<Sample>(7..9).unwrap(), [sample(7), sample(8)]);
    assert_eq!(file.root().attribute_value::<Sample>("sample").unwrap(), sample(5));
    assert_eq!(file.root().attribute_value::<Phase>("phase").unwrap(), Phase::Hold);
}

#[test]
fn members_of_a_record_are_found_by_name_in_other_places_and_integers() {
    assert_eq!(by_h5py().dataset("other").unwrap().read::<Sample>(..).unwrap(), samples());
}

#[test]
fn a_written_record_has_the_datatype_and_the_bytes_that_h5py_writes() {
    let expected = by_h5py().dataset("packed").unwrap();
    with_file(|file| {
        let new = file.root().new_dataset::<Sample>("new").shape([ROWS]).chunks([50]);
        let new = new.create_with(&samples()).unwrap();
        assert_eq!(new.datatype(), expected.datatype());
        assert_eq!(stored(&new), stored(&expected));
        file.root().set_attribute("one", sample(5)).unwrap();
        let attribute = by_h5py().root().attribute("sample").unwrap();
        assert_eq!(file.root().attribute("one").unwrap().data, attribute.data);
    });
}

#[test]
fn a_record_is_written_to_members_in_other_places_and_integers() {
    let other = by_h5py().dataset("other").unwrap();
    with_file(|file| {
        let Datatype::Compound(mut datatype) = (*other.datatype()).clone() else { panic!("a compound") };
        datatype.members.retain(|member| member.name != "more");
        let new =
            file.root().new_dataset_of("new", Datatype::Compound(datatype)).shape([ROWS]).create().unwrap();
        new.write(.., &samples()).unwrap();
        assert_eq!(new.read::<Sample>(..).unwrap(), samples());
        // What the record lacks is 0 in both.
        assert_eq!(stored(&new), stored(&other));
    });
}

#[test]
fn the_members_of_an_enumeration_are_in_the_order_of_declaration() {
    let Datatype::Enumeration(Enumeration { base, members }) = <Phase as Element>::datatype() else {
        panic!("an enumeration")
    };
    assert_eq!(*base, <i16 as Element>::datatype());
    let members: Vec<_> = members
        .iter()
        .map(|(name, bytes)| (name.as_str(), i16::from_ne_bytes(bytes.as_slice().try_into().unwrap())))
        .collect();
    assert_eq!(members, [("IDLE", -3), ("ramp up", -2), ("Hold", 300), ("Down", 7)]);
}

#[test]
fn a_number_without_a_name_is_an_error_with_the_number_and_the_element() {
    let file = by_h5py();
    let unnamed = file.dataset("unnamed").unwrap();
    assert_not_a_value(unnamed.read::<Phase>(..), 2, "element 2: 5 is not a variant of `Phase` (/unnamed)");
    assert_eq!(unnamed.read::<Phase>(0..2).unwrap(), [Phase::Down, Phase::Hold]);
    assert_eq!(unnamed.read::<i16>(..).unwrap(), [7, 300, 5], "its integer can be read");
}

#[test]
fn a_number_beyond_the_integer_of_the_enum_is_not_its_nearest_variant() {
    let file = by_h5py();
    let beyond = file.dataset("beyond").unwrap();
    assert_eq!(beyond.read::<Level>(0..2).unwrap(), [Level::Low, Level::High]);
    assert_not_a_value(beyond.read::<Level>(..), 2, "element 2: 300 is not a variant of `Level` (/beyond)");
    let below = file.dataset("below").unwrap();
    assert_not_a_value(below.read::<Level>(..), 1, "element 1: -1 is not a variant of `Level` (/below)");
}

#[test]
fn an_enumeration_with_other_names_or_numbers_is_refused() {
    let file = by_h5py();
    let read = |name: &str| file.dataset(name).unwrap().read::<Level>(..);
    assert_eq!(read("fewer names").unwrap(), [Level::Low]);
    let error = read("more names").unwrap_err().to_string();
    assert!(error.contains("name \"Middle\""), "{error}");
    let error = read("other numbers").unwrap_err().to_string();
    assert!(error.contains("name \"Low\" with the numbers 1 and 0"), "{error}");
    let error = read("integers").unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::NoConversion { .. })), "{error}");
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Reading {
    count: u16,
    levels: [Level; 2],
}

/// Two readings, of which the second has a level without a name.
const READINGS: [u8; 8] = [1, 0, 0, 255, 2, 0, 255, 4];
const WHY: &str = "member \"levels\": 4 is not a variant of `Level`";

#[test]
fn a_number_without_a_name_in_a_record_or_an_array_is_an_error() {
    let write =
        |dataset: &Dataset, bytes: &[u8]| dataset.write_with(.., bytes, &WriteOptions::default()).unwrap();
    with_file(|file| {
        let root = file.root();
        let records = root.new_dataset::<Reading>("records").shape([2]).create().unwrap();
        write(&records, &READINGS);
        assert_eq!(records.read::<Reading>(0..1).unwrap()[0].levels, [Level::Low, Level::High]);
        assert_not_a_value(records.read::<Reading>(..), 1, &format!("element 1: {WHY} (/records)"));
        let arrays = root.new_dataset::<[Reading; 2]>("arrays").shape([1]).create().unwrap();
        write(&arrays, &READINGS);
        assert_not_a_value(arrays.read::<[Reading; 2]>(..), 0, WHY);
    });
}

#[test]
fn a_number_without_a_name_in_a_sequence_is_an_error() {
    let file = File::in_memory().unwrap();
    let numbers = file.root().new_dataset::<Vec<u8>>("numbers").shape([2]).create().unwrap();
    numbers.write(.., &[vec![255_u8], vec![0, 4]]).unwrap();
    let mut ids = [0; 32];
    numbers.read_into(.., &mut ids).unwrap();
    // The same data, whose elements have names here.
    let levels = file.root().new_dataset::<Vec<Level>>("levels").shape([2]).create().unwrap();
    levels.write_with(.., &ids, &WriteOptions::default()).unwrap();
    assert_eq!(levels.read::<Vec<Level>>(0..1).unwrap(), [[Level::High]]);
    let text = "element 1: element 1 of the sequence: 4 is not a variant of `Level`";
    assert_not_a_value(levels.read::<Vec<Level>>(..), 1, text);
}

#[test]
fn a_number_without_a_name_beyond_the_integer_of_a_member_is_an_error() {
    #[derive(Element, Debug, Clone, Copy, PartialEq)]
    #[repr(i32)]
    enum Wide {
        Low,
        High = 255,
    }
    #[derive(Element)]
    struct WideReading {
        levels: [Wide; 2],
        count: u16,
    }
    with_file(|file| {
        let dataset = file.root().new_dataset::<WideReading>("wide").shape([2]).create().unwrap();
        let mut bytes = vec![0; 20];
        bytes[14..18].copy_from_slice(&300_i32.to_ne_bytes());
        dataset.write_with(.., &bytes, &WriteOptions::default()).unwrap();
        assert_eq!(dataset.read::<Reading>(0..1).unwrap(), [Reading { count: 0, levels: [Level::Low; 2] }]);
        let text = "element 1: member \"levels\": 300 is not a variant of `Level` (/wide)";
        assert_not_a_value(dataset.read::<Reading>(..), 1, text);
        let arrays = file.root().new_dataset::<[WideReading; 2]>("arrays").shape([1]).create().unwrap();
        arrays.write_with(.., &bytes, &WriteOptions::default()).unwrap();
        let text = "element 0: member \"levels\": 300 is not a variant of `Level` (/arrays)";
        assert_not_a_value(arrays.read::<[Reading; 2]>(..), 0, text);
    });
}

/// The enumeration of these names and bytes.
fn named(base: Datatype, members: &[(&str, &[u8])]) -> Datatype {
    let members = members.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    Datatype::Enumeration(Enumeration { base: Box::new(base), members })
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Flags {
    one: bool,
    two: [bool; 2],
}

#[test]
fn every_stored_number_but_0_is_true_in_each_type_with_bool() {
    let wide = |number: i16| number.to_ne_bytes();
    let of_u8 = named(<u8 as Element>::datatype(), &[("FALSE", &[0]), ("TRUE", &[1])]);
    let of_i16 = named(<i16 as Element>::datatype(), &[("FALSE", &wide(0)), ("TRUE", &wide(1))]);
    let cases = [(of_u8, vec![200, 0, 1]), (of_i16, [wide(-300), wide(0), wide(256)].concat())];
    for (datatype, bytes) in cases {
        with_file(|file| {
            let root = file.root();
            let options = WriteOptions::default();
            let numbers = root.new_dataset_of("numbers", datatype.clone()).shape([3]).create().unwrap();
            numbers.write_with(.., &bytes, &options).unwrap();
            assert_eq!(numbers.read::<bool>(..).unwrap(), [true, false, true]);

            let two = Array { base: Box::new(datatype.clone()), shape: vec![2] };
            let members = [
                ("one", datatype.clone(), bytes.len() / 3),
                ("two", Datatype::Array(two), bytes.len() / 3 * 2),
            ];
            let records = root.new_dataset_of("records", compound(members)).shape([1]).create().unwrap();
            records.write_with(.., &bytes, &options).unwrap();
            assert_eq!(records.read::<Flags>(..).unwrap(), [Flags { one: true, two: [false, true] }]);

            let three = Datatype::Array(Array { base: Box::new(datatype), shape: vec![3] });
            let arrays = root.new_dataset_of("arrays", three).shape([1]).create().unwrap();
            arrays.write_with(.., &bytes, &options).unwrap();
            assert_eq!(arrays.read::<[bool; 3]>(..).unwrap(), [[true, false, true]]);
        });
    }
}

#[test]
fn an_enumeration_with_other_names_than_bool_says_what_bool_is() {
    let text = "`bool` is the enumeration of FALSE = 0 and TRUE = 1";
    let base = <i8 as Element>::datatype;
    let other = named(base(), &[("no", &[0]), ("yes", &[1])]);
    let turned = named(base(), &[("TRUE", &[0]), ("FALSE", &[1])]);
    for (datatype, what) in [(other, "name \"no\""), (turned, "name \"TRUE\" with the numbers 0 and 1")] {
        with_file(|file| {
            let arrays = Datatype::Array(Array { base: Box::new(datatype), shape: vec![2] });
            let arrays = file.root().new_dataset_of("arrays", arrays).shape([1]).create().unwrap();
            let error = arrays.read::<[bool; 2]>(..).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains(text), "{error}");
            let error = arrays.write(.., &[[true, false]]).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        });
    }
}

#[test]
fn an_element_that_was_never_written_needs_a_variant_0_or_a_fill_value() {
    with_file(|file| {
        let new = |name: &str| file.root().new_dataset::<Phase>(name).shape([2]).chunks([2]);
        assert_not_a_value(
            new("zeros").create().unwrap().read::<Phase>(..),
            0,
            "0 is not a variant of `Phase`",
        );
        let filled = new("filled").fill_value(Phase::Hold).create().unwrap();
        assert_eq!(filled.read::<Phase>(..).unwrap(), [Phase::Hold; 2]);
    });
}

#[test]
fn an_enum_and_a_record_are_attributes() {
    with_file(|file| {
        let root = file.root();
        root.set_attribute("one", Level::High).unwrap();
        root.set_attribute("several", [Phase::Down, Phase::Idle]).unwrap();
        root.set_attribute("record", Reading { count: 5, levels: [Level::High, Level::Low] }).unwrap();
        assert_eq!(root.attribute_value::<Level>("one").unwrap(), Level::High);
        assert_eq!(root.attribute_values::<Phase>("several").unwrap(), [Phase::Down, Phase::Idle]);
        assert_eq!(root.attribute_value::<u8>("one").unwrap(), 255);
        assert_eq!(root.attribute_value::<Reading>("record").unwrap().levels, [Level::High, Level::Low]);
        root.set_attribute("several", vec![7_i16]).unwrap();
        assert!(root.attribute_values::<Phase>("several").is_err(), "an integer has no names");
    });
}

#[test]
fn every_integer_of_an_enum_keeps_its_extreme_numbers() {
    macro_rules! extremes {
        ($($integer:ident)*) => {$({
            #[derive(Element, Debug, Clone, Copy, PartialEq)]
            #[repr($integer)]
            enum Extreme {
                Least = $integer::MIN,
                Second,
                Greatest = $integer::MAX,
            }
            let all = [Extreme::Greatest, Extreme::Least, Extreme::Second];
            with_file(|file| {
                let dataset = file.root().new_dataset::<Extreme>("d").shape([3]).create_with(&all).unwrap();
                assert_eq!(dataset.read::<Extreme>(..).unwrap(), all);
                let numbers = [$integer::MAX, $integer::MIN, $integer::MIN + 1];
                assert_eq!(dataset.read::<$integer>(..).unwrap(), numbers);
                dataset.write_with(1..2, &($integer::MIN + 2).to_ne_bytes(), &WriteOptions::default()).unwrap();
                let text = format!("{} is not a variant of `Extreme`", $integer::MIN + 2);
                assert_not_a_value(dataset.read::<Extreme>(..), 1, &text);
            });
        })*};
    }
    extremes! { u8 i8 u16 i16 u32 i32 u64 i64 }
}

/// A crate that exports hyperslab under another name.
mod exporting {
    pub(super) use ::hyperslab as h5;
}

#[test]
fn a_derived_type_names_the_crate_that_it_is_told() {
    #[derive(Element, Debug, Clone, Copy, PartialEq)]
    #[hyperslab(crate = "exporting::h5")]
    #[repr(u8)]
    enum Answer {
        No,
        Yes,
    }
    #[derive(Element, Debug, Clone, Copy, PartialEq)]
    #[hyperslab(crate = "exporting::h5")]
    struct Asked {
        answer: Answer,
        times: u16,
    }
    let all = [Asked { answer: Answer::Yes, times: 2 }, Asked { answer: Answer::No, times: 1 }];
    with_file(|file| {
        let dataset = file.root().new_dataset::<Asked>("d").shape([2]).create_with(&all).unwrap();
        assert_eq!(dataset.read::<Asked>(..).unwrap(), all);
    });
}

/// Constants whose names local variables in the code of the macro could have.
#[test]
#[expect(non_upper_case_globals, reason = "constants have the names of variables here")]
fn a_derived_type_compiles_beside_constants_of_any_name() {
    const bytes: u8 = 1;
    const member: u8 = 2;
    const number: u8 = 3;
    const name: u8 = 4;
    const file: u8 = 5;
    const datatype: u8 = 6;
    const stored: u8 = 7;
    const elements: u8 = 8;

    #[derive(Element, Debug, Clone, Copy, PartialEq)]
    #[repr(u8)]
    enum Constant {
        Bytes = bytes,
        Member = member,
        Number = number,
        Name = name,
        File = file,
        Datatype = datatype,
        Stored = stored,
        Elements = elements,
    }
    #[derive(Element, Debug, Clone, Copy, PartialEq)]
    struct Pair {
        bytes: Constant,
        member: Constant,
    }
    let pairs = [
        Pair { bytes: Constant::Bytes, member: Constant::Elements },
        Pair { bytes: Constant::Stored, member: Constant::Name },
    ];
    with_file(|opened| {
        let dataset = opened.root().new_dataset::<Pair>("d").shape([2]).create_with(&pairs).unwrap();
        assert_eq!(dataset.read::<Pair>(..).unwrap(), pairs);
        opened.root().set_attribute("a", Constant::Member).unwrap();
        assert_eq!(opened.root().attribute_value::<Constant>("a").unwrap(), Constant::Member);
    });
}

fn any_inner() -> impl Strategy<Value = Inner> {
    (any::<f32>(), [any_phase(), any_phase()], any::<bool>()).prop_map(|(x, phases, is_valid)| Inner {
        x,
        phases,
        is_valid,
    })
}

fn any_phase() -> impl Strategy<Value = Phase> {
    prop::sample::select(vec![Phase::Idle, Phase::RampUp, Phase::Hold, Phase::Down])
}

fn any_sample() -> impl Strategy<Value = Sample> {
    let grid = prop::array::uniform2(prop::array::uniform3(any::<i16>()));
    let parts = (any::<u64>(), any_phase(), grid, any_inner(), [any_inner(), any_inner()], any::<u8>());
    parts.prop_map(|(id, phase, grid, inner, many, r#type)| Sample { id, phase, grid, inner, many, r#type })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn records_are_read_back_as_written(values in prop::collection::vec(any_sample(), 1..30), chunk in 1_u64..9) {
        with_file(|file| {
            let len = values.len() as u64;
            let dataset = file.root().new_dataset::<Sample>("d").shape([len]).max_shape([None]).chunks([chunk]);
            let dataset = dataset.create().unwrap();
            dataset.write(.., &values).unwrap();
            let sequences = file.root().new_dataset::<Vec<Sample>>("s").shape([2]).create().unwrap();
            let half = values.len() / 2;
            sequences.write(.., &[values[..half].to_vec(), values[half..].to_vec()]).unwrap();
            assert_eq!(dataset.read::<Sample>(..).unwrap(), values);
            assert_eq!(sequences.read::<Vec<Sample>>(..).unwrap().concat(), values);
        });
    }
}
