//! Fuzz target `segy`: an input is a byte that says how to take the file, and a SEG-Y file. What is taken comes back byte for byte.

use std::sync::Arc;

use hyperslab::File;
use hyperslab::driver::Memory;
use hyperslab_segy::{
    Cube, IngestOptions, Kind, SegyFile, SegyOptions, SurveyOptions, export_to, ingest_into, silent,
};

use crate::sound::assert_sound;

/// The target.
///
/// # Panics
/// If what comes back differs.
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
    // A few hundred traces in their own lines and columns make a volume that is all gaps, if they are told to.
    if is(3) && file.traces.count() > MOST_TRACES {
        return;
    }
    let memory = Arc::new(Memory::new(Vec::new()));
    let Ok(made) = File::options().create(true).truncate(true).open_on(memory.clone()) else { return };
    if ingest_into(&file, &made, &options, &silent).is_err() {
        return;
    }
    let Ok(cube) = Cube::of(made.clone()) else { panic!("what was ingested cannot be opened") };
    let out = Memory::new(Vec::new());
    export_to(&cube, &out, "output", &silent).expect("what was ingested can be exported");
    assert!(out.into_bytes() == bytes, "the file came back otherwise");
    drop(cube);
    made.close().expect("a file in memory can be closed");
    assert_sound(&memory.bytes());
}

/// Traces that are laid out whatever comes of it.
const MOST_TRACES: u64 = 100;
