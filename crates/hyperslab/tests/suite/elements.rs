//! Rust types as elements of datasets and attributes: values are read back as written, and converted from
//! other datatypes.

#![allow(clippy::unwrap_used)] // helpers of tests may panic, as tests do

use std::sync::Arc;

use hyperslab::datatype::{Charset, Datatype, Padding, Text};
use hyperslab::driver::{Driver, Memory};
use hyperslab::{Element, Error, File, RequestError, Selection};
use hyperslab_testkit::sound::assert_sound;

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Particle {
    id: u16,
    position: [f32; 3],
    is_charged: bool,
    energy: f64,
}

/// Two members of a [`Particle`], in another order and with other number types.
#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Summary {
    energy: f32,
    id: u64,
}

const PARTICLES: [Particle; 2] = [
    Particle { id: 7, position: [1.0, 2.0, 3.0], is_charged: true, energy: 0.5 },
    Particle { id: 65_535, position: [-1.0, 0.0, f32::MAX], is_charged: false, energy: -2.0 },
];

fn round_trip<T: Element + Clone + PartialEq + std::fmt::Debug>(values: &[T]) {
    let memory = Arc::new(Memory::default());
    let file = File::options().create(true).open_on(memory.clone()).unwrap();
    let len = values.len() as u64;
    let plain = file.root().new_dataset::<T>("plain").shape([len]).create_with(values).unwrap();
    assert_eq!(plain.read::<T>(Selection::All).unwrap(), values);
    let chunked = file.root().new_dataset::<T>("chunked").shape([len]).chunks([2]).create().unwrap();
    chunked.write(0..len, values).unwrap();
    assert_eq!(chunked.read::<T>(1..len).unwrap(), values[1..]);
    file.root().set_attribute("a", values.to_vec()).unwrap();
    assert_eq!(file.root().attribute_values::<T>("a").unwrap(), values);
    file.close().unwrap();
    let mut bytes = vec![0; usize::try_from(memory.len().unwrap()).unwrap()];
    memory.read_at(0, &mut bytes).unwrap();
    assert_sound(&bytes);
}

#[test]
fn elements_of_every_type_are_read_back_as_written() {
    round_trip(&[-128_i8, 0, 127]);
    round_trip(&[0_u64, u64::MAX, 5]);
    round_trip(&[0.0_f64, f64::MIN_POSITIVE, f64::INFINITY]);
    round_trip(&[true, false, true]);
    round_trip(&[[1_i16, 2], [3, 4], [5, 6]]);
    round_trip(&[[[1.0_f32, 2.0]; 3], [[3.0, 4.0]; 3]]);
    round_trip(&PARTICLES);
    round_trip(&["", "Zugspitze", "Hohenpeißenberg"].map(str::to_owned));
    round_trip(&[vec![1_i32], vec![], vec![2, 3, 4]]);
    round_trip(&[vec![PARTICLES[0]], vec![PARTICLES[1], PARTICLES[0]]]);
}

#[test]
fn numbers_are_converted_between_types_and_clipped() {
    let file = File::in_memory().unwrap();
    let dataset = file.root().new_dataset::<i16>("d").shape([3]).create_with(&[-1_i16, 0, 300]).unwrap();
    assert_eq!(dataset.read::<f64>(..).unwrap(), [-1.0, 0.0, 300.0]);
    dataset.write(0..1, &[1e9_f64]).unwrap();
    assert_eq!(
        dataset.read::<i64>(0..1).unwrap(),
        [i64::from(i16::MAX)],
        "values are clipped, as in libhdf5"
    );
}

#[test]
fn a_record_type_reads_only_its_own_members() {
    let file = File::in_memory().unwrap();
    let dataset = file.root().new_dataset::<Particle>("d").shape([2]).create_with(&PARTICLES).unwrap();
    let expected = [Summary { energy: 0.5, id: 7 }, Summary { energy: -2.0, id: 65_535 }];
    assert_eq!(dataset.read::<Summary>(..).unwrap(), expected);
}

#[test]
fn fixed_length_strings_are_trimmed_and_padded() {
    let file = File::in_memory().unwrap();
    for (padding, room) in [(Padding::NullTerminated, 5), (Padding::NullPadded, 6), (Padding::SpacePadded, 6)]
    {
        let datatype = Datatype::Text(Text { size: 6, padding, charset: Charset::Utf8 });
        let dataset =
            file.root().new_dataset_of(format!("{padding:?}"), datatype).shape([2]).create().unwrap();
        let longest = "x".repeat(room);
        dataset.write(.., &["ä".to_owned(), longest.clone()]).unwrap();
        assert_eq!(dataset.read::<String>(..).unwrap(), ["ä", &longest]);
        let error = dataset.write(0..1, &["x".repeat(room + 1)]).unwrap_err();
        assert!(error.to_string().contains("longer than the strings of the dataset"), "{error}");
        assert_eq!(dataset.read::<String>(0..1).unwrap(), ["ä"], "a string that is too long is not written");
    }
}

#[test]
fn the_error_for_text_that_is_not_utf8_gives_the_index_of_the_string() {
    let file = File::in_memory().unwrap();
    let datatype = Datatype::Text(Text { size: 2, padding: Padding::NullPadded, charset: Charset::Ascii });
    let dataset = file.root().new_dataset_of("d", datatype).shape([2]).create().unwrap();
    dataset.write_with(.., b"ok\xff\xfe", &hyperslab::WriteOptions::default()).unwrap();
    let error = dataset.read::<String>(..).unwrap_err();
    assert!(error.to_string().contains("string 1"), "{error}");
}

#[test]
fn reading_or_writing_elements_of_another_class_is_refused() {
    let file = File::in_memory().unwrap();
    let root = file.root();
    let numbers = root.new_dataset::<f32>("numbers").shape([1]).create().unwrap();
    assert!(matches!(numbers.read::<String>(..).unwrap_err().root(), Error::Request(_)));
    assert!(matches!(numbers.read::<Vec<f32>>(..).unwrap_err().root(), Error::Request(_)));
    assert!(matches!(numbers.write(.., &["1".to_owned()]).unwrap_err().root(), Error::Request(_)));
    let texts = root.new_dataset::<String>("texts").shape([1]).create().unwrap();
    assert!(matches!(
        texts.read::<f32>(..).unwrap_err().root(),
        Error::Request(RequestError::NoConversion { .. })
    ));
    let error = numbers.write(.., &[1.0_f32, 2.0]).unwrap_err();
    assert!(
        matches!(error.root(), Error::Request(RequestError::SourceSize { expected: 4, found: 8 })),
        "{error}"
    );
}

#[test]
fn reading_an_attribute_of_several_elements_as_one_value_is_an_error() {
    let file = File::in_memory().unwrap();
    let root = file.root();
    root.set_attribute("one", [5]).unwrap();
    assert_eq!(root.attribute_value::<u8>("one").unwrap(), 5);
    root.set_attribute("two", ["a", "b"]).unwrap();
    let error = root.attribute_value::<String>("two").unwrap_err();
    assert!(error.to_string().contains("attribute_values"), "{error}");
    root.set_attribute("two", 2.5).unwrap();
    assert_eq!(root.attribute_value::<f32>("two").unwrap().to_bits(), 2.5_f32.to_bits());
    assert!(root.set_attribute("", 1).is_err());
}

#[test]
fn a_dataset_builder_refuses_inconsistent_options() {
    let file = File::in_memory().unwrap();
    let new = || file.root().new_dataset::<f32>("d");
    assert!(new().shape([4]).chunks([2, 2]).create().is_err());
    assert!(new().shape([4]).max_shape([Some(3)]).create().is_err());
    assert!(new().chunks([1]).create().is_err(), "a scalar has no chunks");
    assert!(new().shape([4]).fill_value([1.0_f32, 2.0]).create().is_err());
    assert!(new().max_shape([None]).create().is_err(), "a maximum without a shape");
    assert!(new().shape([4]).chunks([2]).compact().create().is_err());
    assert!(new().shape([4]).filter(hyperslab::filter::Shuffle).compact().create().is_err());
    assert!(new().shape([4]).create_with(&[1.0_f32]).is_err());
    assert!(new().shape([4]).skip_fill_chunks(true).create().is_err());
    assert!(new().shape([4]).max_shape([Some(5)]).chunks([6]).create().is_err(), "no chunk can be full");
    assert!(new().shape([]).chunks([]).create().is_err());
    assert!(new().shape([]).filter(hyperslab::filter::Shuffle).create().is_err());
    let bytes = || file.root().new_dataset::<u8>("d").shape([1]);
    assert!(bytes().fill_value(300).create().is_err());
    assert!(bytes().fill_value(f64::NAN).create().is_err());
    let other = File::in_memory().unwrap().root().commit_datatype("t", &f32::datatype()).unwrap();
    assert!(new().committed(other).create().is_err());
    assert!(file.root().names().unwrap().is_empty(), "nothing was created");
    assert_eq!(new().shape([]).create().unwrap().shape(), [0; 0]);
    file.root().remove("d").unwrap();
    let grows = new().shape([0]).max_shape([None]).fill_value(7_i8).create().unwrap();
    grows.resize([3]).unwrap();
    assert_eq!(grows.read::<f32>(..).unwrap(), [7.0; 3]);
    assert_eq!(grows.read::<f32>(1..=2).unwrap(), grows.read::<f32>([1..=2]).unwrap());
    assert!(grows.read::<f32>(1..=u64::MAX).is_err());
    assert!(grows.resize_axis(1, 5).is_err());
    grows.resize_axis(0, 2).unwrap();
    assert!(new().create().is_err(), "the name is taken");
}

#[test]
fn a_string_with_a_zero_byte_is_refused() {
    let file = File::in_memory().unwrap();
    let root = file.root();
    let cut = ["a\0b".to_owned()];
    let fixed = Datatype::Text(Text { size: 4, padding: Padding::NullPadded, charset: Charset::Utf8 });
    for dataset in [root.new_dataset::<String>("any"), root.new_dataset_of("fixed", fixed)] {
        let dataset = dataset.shape([1]).create().unwrap();
        let error = dataset.write(.., &cut).unwrap_err();
        assert!(error.to_string().contains("zero byte"), "{error}");
        assert_eq!(dataset.read::<String>(..).unwrap(), [""]);
    }
    assert!(root.set_attribute("a", "a\0b").is_err());
    assert!(root.attribute_names().unwrap().is_empty());
}

#[derive(Element, Debug, Clone, Copy, PartialEq)]
struct Labelled {
    r#type: u8,
    summary: [Summary; 2],
}

#[test]
fn the_member_of_a_raw_identifier_has_the_plain_name() {
    let Datatype::Compound(compound) = Labelled::datatype() else { panic!("a record is a compound") };
    let names: Vec<&str> = compound.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["type", "summary"]);
}

#[test]
fn a_record_is_an_attribute() {
    let file = File::in_memory().unwrap();
    let value = Summary { energy: 1.5, id: 7 };
    file.root().set_attribute("one", value).unwrap();
    file.root().set_attribute("two", [value, value]).unwrap();
    file.root().set_attribute("texts", vec!["a", "b"]).unwrap();
    assert_eq!(file.root().attribute_value::<Summary>("one").unwrap(), value);
    assert_eq!(file.root().attribute_values::<Summary>("two").unwrap(), [value, value]);
    assert_eq!(file.root().attribute_values::<String>("texts").unwrap(), ["a", "b"]);
}

#[test]
fn a_record_and_its_dataset_never_lose_a_member() {
    let file = File::in_memory().unwrap();
    let root = file.root();
    let particle = Particle { id: 1, position: [1.0; 3], is_charged: true, energy: 2.0 };
    let particles = root.new_dataset::<Particle>("particles").shape([1]).create_with(&[particle]).unwrap();
    // A summary lacks members of a particle: it can be read, but not written.
    assert_eq!(particles.read::<Summary>(..).unwrap(), [Summary { energy: 2.0, id: 1 }]);
    let error = particles.write(.., &[Summary { energy: 3.0, id: 3 }]).unwrap_err();
    assert!(error.to_string().contains("\"position\""), "{error}");
    assert_eq!(particles.read::<Particle>(..).unwrap(), [particle]);
    // A particle has members that a summary lacks: it cannot be read, and writing would drop nothing stored.
    let summaries = root.new_dataset::<Summary>("summaries").shape([1]).create().unwrap();
    let error = summaries.read::<Particle>(..).unwrap_err();
    assert!(
        error.to_string().contains("/summaries") && error.to_string().contains("\"position\""),
        "{error}"
    );
    summaries.write(.., &[particle]).unwrap();
    assert_eq!(summaries.read::<Summary>(..).unwrap(), [Summary { energy: 2.0, id: 1 }]);
    // The same inside arrays and sequences.
    let inner = root.new_dataset::<[Summary; 2]>("arrays").shape([1]).create().unwrap();
    assert!(inner.read::<[Particle; 2]>(..).is_err());
    let sequences = root.new_dataset::<Vec<Summary>>("sequences").shape([1]).create().unwrap();
    sequences.write(.., &[vec![Summary { energy: 1.0, id: 1 }]]).unwrap();
    assert!(sequences.read::<Vec<Particle>>(..).is_err());
}

#[test]
fn an_attribute_whose_data_do_not_fit_its_shape_is_refused() {
    let file = File::in_memory().unwrap();
    let mut attribute = hyperslab::Attribute::number("a", 1_i32);
    attribute.data.clear();
    assert!(matches!(
        file.root().put_attribute(&attribute).unwrap_err().root(),
        Error::Request(RequestError::SourceSize { expected: 4, found: 0 })
    ));
    assert!(file.root().attribute_names().unwrap().is_empty());
}

#[test]
fn elements_that_memory_has_no_room_for_are_an_error() {
    let file = File::in_memory().unwrap();
    let texts = file.root().new_dataset::<String>("d").shape([1 << 55]).chunks([1 << 10]).create().unwrap();
    let error = texts.read::<String>(..).unwrap_err();
    assert!(matches!(error.root(), Error::Request(RequestError::TooMany { .. })), "{error}");
}

#[test]
fn the_text_of_an_error_has_its_cause_once() {
    let error = File::in_memory().unwrap().dataset("missing").unwrap_err();
    assert!(std::error::Error::source(&error).is_none());
    let error = File::from_bytes(vec![0; 600]).unwrap_err();
    assert!(std::error::Error::source(&error).is_none() && error.to_string().contains("not an HDF5 file"));
}
