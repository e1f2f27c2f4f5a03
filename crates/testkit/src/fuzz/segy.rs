//! Fuzz target `segy`: a byte of options and a SEG-Y file. An ingested file is exported unchanged.

use std::sync::Arc;

use hyperslab::File;
use hyperslab::driver::Memory;
use hyperslab_segy::{
    Cube, IngestOptions, Kind, SegyFile, SegyOptions, SurveyOptions, export_to, ingest_into, silent,
};

use crate::sound::assert_sound;

/// Runs the target on an input.
///
/// # Panics
/// If the exported file differs from the input.
pub fn segy(input: &[u8]) {
    let Some((&how, bytes)) = input.split_first() else { return };
    let is = |bit: u8| how >> bit & 1 == 1;
    let segy = SegyOptions { pad: is(0), ignore_rest: is(1), trust_length: is(2) };
    let kinds = [Kind::Volume, Kind::Prestack, Kind::Line, Kind::Traces];
    let survey = SurveyOptions {
        kind: is(3).then(|| kinds[usize::from(how >> 4) % kinds.len()]),
        ..SurveyOptions::default()
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

/// The largest number of traces that are ingested with a forced kind.
const MOST_TRACES: u64 = 100;
