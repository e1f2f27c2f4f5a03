//! Fuzz target `segy`: a byte of options, a byte for the types of the header fields, and a SEG-Y file. An
//! ingested file is exported unchanged.

use std::sync::Arc;

use hyperslab::File;
use hyperslab::driver::Memory;
use hyperslab_segy::{
    Cube, Field, FieldKind, IngestOptions, SegyFile, SegyOptions, SurveyKind, SurveyOptions, export_to,
    ingest_into, silent,
};

use crate::sound::assert_sound;

/// Runs the target on an input.
///
/// # Panics
/// If the exported file differs from the input.
pub fn segy(input: &[u8]) {
    let [how, fields, bytes @ ..] = input else { return };
    let is = |bit: u8| how >> bit & 1 == 1;
    let segy = SegyOptions { pad: is(0), ignore_rest: is(1), trust_length: is(2) };
    let kinds = [
        SurveyKind::Volume,
        SurveyKind::Prestack,
        SurveyKind::Line,
        SurveyKind::Traces,
        SurveyKind::PrestackLine,
    ];
    let survey = SurveyOptions {
        kind: is(3).then(|| kinds[usize::from(how >> 4) % kinds.len()]),
        ..fields.checked_sub(1).map(geometry).unwrap_or_default()
    };
    let options = IngestOptions { segy: segy.clone(), survey, memory: 64 << 10, ..IngestOptions::default() };
    let driver = Arc::new(Memory::new(bytes.to_vec()));
    let Ok(file) = SegyFile::from_driver(driver, "input".to_owned(), &segy) else { return };
    // A few hundred scattered traces make a volume of nearly only gaps if the options force a volume.
    if is(3) && file.traces.count() > MOST_TRACES {
        return;
    }
    let memory = Arc::new(Memory::new(Vec::new()));
    let Ok(made) = File::options().create(true).truncate(true).open_on(memory.clone()) else { return };
    if ingest_into(&file, &made, &options, &silent).is_err() {
        return;
    }
    let Ok(cube) = Cube::of(made.clone()) else { panic!("an ingested file cannot be opened") };
    let out = Memory::new(Vec::new());
    export_to(&cube, &out, "output", &silent).expect("an ingested file can be exported");
    assert!(out.into_bytes() == bytes, "the exported file differs from the input");
    drop(cube);
    made.close().expect("a file in memory can be closed");
    assert_sound(&memory.bytes());
}

/// Returns the fields that place traces, all of the type with this number. They begin or end with the
/// integers that a file usually has there.
fn geometry(number: u8) -> SurveyOptions {
    use FieldKind::{F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    const TYPES: [FieldKind; 10] = [F32, F64, I64, U64, I32, U32, I16, U16, I8, U8];
    let kind = TYPES[usize::from(number) % TYPES.len()];
    let inline = if kind.size() == 8 { 185 } else { 189 };
    SurveyOptions {
        lines: Some((Field::new(inline, kind), Field::new(193, kind))),
        offset: Some(Field::new(37, kind)),
        cdp: Some(Field::new(21, kind)),
        coordinates: Some((Field::new(181, kind), Field::new(185, kind))),
        kind: None,
    }
}

/// The largest number of traces that are ingested with a forced kind.
const MOST_TRACES: u64 = 100;
