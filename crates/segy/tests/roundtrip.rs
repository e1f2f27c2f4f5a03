//! Round trips of SEG-Y files of every kind through HDF5, byte for byte.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hyperslab::driver::Memory;
use hyperslab::{File, Selection};
use hyperslab_filters::FilterChoice;
use hyperslab_segy::{
    Cube, Error, Field, IngestOptions, Ingested, Numbers, SegyFile, SegyOptions, Survey, SurveyKind,
    SurveyOptions, export_to, ingest_into, silent,
};
use hyperslab_testkit::segy::SegyRecipe;
use hyperslab_testkit::sound::assert_sound;
use proptest::prelude::*;

fn open(bytes: &[u8], options: &SegyOptions) -> Result<SegyFile, Error> {
    SegyFile::from_driver(Arc::new(Memory::new(bytes.to_vec())), "survey.sgy".to_owned(), options)
}

/// Ingests a file, checks the HDF5 file, and opens it.
fn cube(bytes: &[u8], options: &IngestOptions) -> Result<(Cube, Ingested), Error> {
    let segy = open(bytes, &options.segy)?;
    let memory = Arc::new(Memory::new(Vec::new()));
    let file = File::options().create(true).truncate(true).open_on(memory.clone())?;
    let ingested = ingest_into(&segy, &file, options, &silent)?;
    file.close()?;
    assert_sound(&memory.bytes());
    let file = File::options().open_on(memory)?;
    Ok((Cube::of(file)?, ingested))
}

fn back(cube: &Cube) -> Vec<u8> {
    let out = Memory::new(Vec::new());
    export_to(cube, &out, "back.sgy", &silent).unwrap();
    out.into_bytes()
}

#[track_caller]
fn assert_round_trip(bytes: &[u8], options: &IngestOptions) -> (Cube, Ingested) {
    let (cube, ingested) = cube(bytes, options).unwrap();
    assert!(back(&cube) == bytes, "the exported file differs");
    (cube, ingested)
}

#[test]
fn every_sample_format_in_both_byte_orders_round_trips() {
    for format in [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16] {
        for little in [false, true] {
            let revision = if little { (2, 0) } else { (1, 0) };
            let recipe = SegyRecipe { format, little, revision, ..SegyRecipe::default() };
            let (cube, ingested) = assert_round_trip(&recipe.bytes(), &IngestOptions::default());
            assert_eq!(cube.data.shape(), [3, 4, 7], "format {format}");
            assert_eq!(ingested.ibm_words, 0);
        }
    }
}

#[test]
fn labels_extended_headers_further_headers_and_trailers_round_trip() {
    for revision in [(0, 0), (1, 0), (2, 0), (2, 1)] {
        let recipe = SegyRecipe {
            revision,
            label: true,
            extended: if revision.0 > 0 { 2 } else { 0 },
            additional: if revision.0 > 1 { 2 } else { 0 },
            trailers: if revision.0 > 1 { 3 } else { 0 },
            ..SegyRecipe::default()
        };
        assert_round_trip(&recipe.bytes(), &IngestOptions::default());
    }
}

#[test]
fn extended_header_records_are_counted_up_to_the_final_stanza() {
    let recipe = SegyRecipe { extended: 3, ..SegyRecipe::default() };
    let mut bytes = recipe.bytes();
    bytes[3504..3506].copy_from_slice(&(-1_i16).to_be_bytes());
    let segy = open(&bytes, &SegyOptions::default()).unwrap();
    assert_eq!((segy.layout.extended, segy.traces.count()), (3, 12));
    assert_round_trip(&bytes, &IngestOptions::default());
}

#[test]
fn traces_are_placed_by_their_headers_whatever_their_order() {
    let mut recipe = SegyRecipe { traces: SegyRecipe::grid(5, 6), format: 2, ..SegyRecipe::default() };
    let (in_order, _) = cube(&recipe.bytes(), &IngestOptions::default()).unwrap();
    let expected: Vec<i32> = in_order.data.read(Selection::All).unwrap();
    // Samples belong to the position in the file, so they move with the traces.
    let samples = usize::try_from(recipe.samples).unwrap();
    let grid = recipe.traces.clone();
    let mut orders = vec![grid.clone(), grid.iter().rev().copied().collect()];
    orders[0].sort_by_key(|&[i, x, _]| (x, i));
    let mut random = grid.clone();
    random.sort_by_key(|&[i, x, _]| (i * 7919 + x * 104_729) % 101);
    orders.push(random);
    for order in orders {
        recipe.traces.clone_from(&order);
        let (cube, _) = assert_round_trip(&recipe.bytes(), &IngestOptions::default());
        let found: Vec<i32> = cube.data.read(Selection::All).unwrap();
        for (number, trace) in order.iter().enumerate() {
            let place = grid.iter().position(|at| at == trace).unwrap();
            let row = |place: usize, of: &[i32]| of[place * samples..(place + 1) * samples].to_vec();
            assert_eq!(row(place, &found), row(number, &expected), "{trace:?}");
        }
    }
}

#[test]
fn missing_traces_read_as_nan_and_are_not_exported() {
    let mut traces = SegyRecipe::grid(4, 5);
    traces.remove(7);
    traces.remove(11);
    let recipe = SegyRecipe { traces, ..SegyRecipe::default() };
    let (cube, ingested) = assert_round_trip(&recipe.bytes(), &IngestOptions::default());
    assert_eq!((ingested.traces, cube.data.shape()), (18, vec![4, 5, 7]));
    let live: Vec<u8> = cube.file.dataset("live").unwrap().read(Selection::All).unwrap();
    assert_eq!(live.iter().map(|&is| u32::from(is)).sum::<u32>(), 18);
    let values: Vec<f32> = cube.data.read(Selection::All).unwrap();
    for (trace, live) in values.chunks(7).zip(live) {
        assert!(trace.iter().all(|value| value.is_nan() == (live == 0)));
    }
}

#[test]
fn prestack_gathers_have_an_axis_of_offsets() {
    let traces =
        (0..3).flat_map(|i| (0..2).flat_map(move |x| (0..4).map(move |o| [i, x, 100 * o]))).collect();
    let recipe = SegyRecipe { traces, ..SegyRecipe::default() };
    let (cube, _) = assert_round_trip(&recipe.bytes(), &IngestOptions::default());
    assert_eq!((cube.kind, cube.data.shape()), (SurveyKind::Prestack, vec![3, 2, 4, 7]));
    assert_eq!(cube.axes[2].values, Numbers::Integers(vec![0, 100, 200, 300]));
}

#[test]
fn a_line_that_winds_through_a_survey_is_not_a_volume() {
    let traces = (0..50).map(|i| [i, i, 0]).collect();
    let recipe = SegyRecipe { traces, ..SegyRecipe::default() };
    let (cube, ingested) = assert_round_trip(&recipe.bytes(), &IngestOptions::default());
    assert_eq!(cube.kind, SurveyKind::Traces);
    assert!(ingested.note.unwrap().contains("no geometry found"));
    let survey = SurveyOptions { kind: Some(SurveyKind::Volume), ..SurveyOptions::default() };
    let (cube, _) = assert_round_trip(&recipe.bytes(), &IngestOptions { survey, ..IngestOptions::default() });
    assert_eq!(cube.data.shape(), [50, 50, 7]);
}

#[test]
fn two_traces_at_one_position_are_an_error_that_names_them() {
    let mut traces = SegyRecipe::grid(5, 6);
    traces[17] = traces[3];
    let recipe = SegyRecipe { traces, ..SegyRecipe::default() };
    let error = cube(&recipe.bytes(), &IngestOptions::default()).unwrap_err().to_string();
    assert!(error.contains("traces 3 and 17 are both at inline 100, crossline 10"), "{error}");
}

#[test]
fn ibm_floats_that_ieee_cannot_represent_round_trip_and_are_counted() {
    let recipe = SegyRecipe::default();
    let mut bytes = recipe.bytes();
    for (trace, sample, word) in
        [(0, 0, 0x4100_0001_u32), (5, 6, 0x7FFF_FFFF), (11, 3, 0x0012_3456), (11, 4, 0x4200_0000)]
    {
        let at = 3600 + trace * (240 + 28) + 240 + 4 * sample;
        bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
    }
    for chunks in [None, Some(vec![2, 3, 2])] {
        let options = IngestOptions { chunks, memory: 1, ..IngestOptions::default() };
        let (_, ingested) = assert_round_trip(&bytes, &options);
        assert_eq!(ingested.ibm_words, 4);
    }
}

#[test]
fn a_survey_that_is_almost_in_order_is_laid_out_by_its_headers() {
    let mut traces = SegyRecipe::grid(40, 50);
    // These are between the traces that the prediction samples.
    traces.swap(1237, 1242);
    let recipe = SegyRecipe { traces, format: 2, ..SegyRecipe::default() };
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["in.sgy", "out.h5"].map(|name| folder.path().join(name));
    std::fs::write(&from, recipe.bytes()).unwrap();
    let segy = SegyFile::open(&from, &SegyOptions::default()).unwrap();
    assert!(Survey::find(&segy, &SurveyOptions::default()).unwrap().is_predicted);
    hyperslab_segy::ingest(&from, &to, &IngestOptions::default(), &silent).unwrap();
    let found = Cube::open(&to).unwrap();
    let (scanned, _) = cube(&recipe.bytes(), &IngestOptions::default()).unwrap();
    let read = |cube: &Cube| cube.data.read::<i32>(Selection::All).unwrap();
    assert!(read(&found) == read(&scanned));
    assert!(back(&found) == recipe.bytes());
    assert_sound(&std::fs::read(&to).unwrap());
}

#[test]
fn a_changed_sample_replaces_the_kept_ibm_float() {
    let mut bytes = SegyRecipe::default().bytes();
    bytes[3840..3844].copy_from_slice(&0x4200_0001_u32.to_be_bytes());
    let (cube, ingested) = cube(&bytes, &IngestOptions::default()).unwrap();
    assert_eq!(ingested.ibm_words, 1);
    drop(cube);
    let segy = open(&bytes, &SegyOptions::default()).unwrap();
    let file = File::in_memory().unwrap();
    ingest_into(&segy, &file, &IngestOptions::default(), &silent).unwrap();
    let cube = Cube::of(file).unwrap();
    cube.data.write([0..1, 0..1, 0..1], &[1.0_f32]).unwrap();
    assert_eq!(back(&cube)[3840..3844], 0x4110_0000_u32.to_be_bytes());
}

#[test]
fn changed_samples_are_exported_with_their_new_values() {
    let recipe = SegyRecipe::default();
    let bytes = recipe.bytes();
    let segy = open(&bytes, &SegyOptions::default()).unwrap();
    let file = File::in_memory().unwrap();
    ingest_into(&segy, &file, &IngestOptions::default(), &silent).unwrap();
    let cube = Cube::of(file.clone()).unwrap();
    // 118.625 is an exact IBM float from the manual. 1/3 is not exact, and is rounded.
    cube.data.write([1..2, 2..3, 0..2], &[118.625_f32, 1.0 / 3.0]).unwrap();
    let at = 3600 + 6 * (240 + 28) + 240;
    let out = back(&cube);
    assert_eq!(out[at..at + 8], [0x42, 0x76, 0xA0, 0x00, 0x40, 0x55, 0x55, 0x56]);
    assert!(out[..at] == bytes[..at] && out[at + 8..] == bytes[at + 8..]);
    cube.data.write([1..2, 2..3, 0..1], &[f32::NAN]).unwrap();
    let error = export_to(&cube, &Memory::new(Vec::new()), "x.sgy", &silent).unwrap_err().to_string();
    assert!(error.contains("sample 0 of trace 6"), "{error}");
    file.flush().unwrap();
}

#[test]
fn traces_of_several_lengths_are_refused_or_padded() {
    let (a, b) = (SegyRecipe::default(), SegyRecipe { samples: 5, ..SegyRecipe::default() });
    let (long, short) = (a.bytes(), b.bytes());
    // Revision 0, four traces of 7 samples, then four of 5.
    let mut bytes = long[..3600 + 4 * 268].to_vec();
    bytes[3500..3504].fill(0);
    bytes.extend(&short[3600 + 4 * 260..3600 + 8 * 260]);
    let error = open(&bytes, &SegyOptions::default()).unwrap_err().to_string();
    assert!(error.contains("of trace 4") && error.contains("5 samples"), "{error}");
    let segy = SegyOptions { pad: true, ..SegyOptions::default() };
    let (cube, _) = assert_round_trip(&bytes, &IngestOptions { segy, ..IngestOptions::default() });
    assert_eq!(cube.data.shape(), [2, 4, 7]);
    let values: Vec<f32> = cube.data.read([1..2, 0..4, 0..7]).unwrap();
    assert!(values.chunks(7).all(|trace| trace[5..].iter().all(|v| v.is_nan()) && !trace[4].is_nan()));
}

#[test]
fn a_truncated_file_is_refused_with_its_offset_or_read_in_part() {
    let bytes = SegyRecipe::default().bytes();
    for len in (0..bytes.len()).step_by(97) {
        let cut = &bytes[..len];
        match open(cut, &SegyOptions::default()) {
            Ok(segy) => assert!((len - 3600).is_multiple_of(268), "{len}: {}", segy.traces.count()),
            Err(Error::Format { byte, why, .. }) => assert!(byte <= len as u64, "{len}: {why}"),
            Err(other) => panic!("{len}: {other}"),
        }
        if len > 3600 + 268 {
            let segy = SegyOptions { ignore_rest: true, ..SegyOptions::default() };
            assert_round_trip(cut, &IngestOptions { segy, ..IngestOptions::default() });
        }
    }
}

#[test]
fn wrong_headers_are_errors_and_allocate_nothing() {
    let bytes = SegyRecipe { revision: (2, 0), ..SegyRecipe::default() }.bytes();
    let lies: [(usize, &[u8]); 7] = [
        (3224, &[0, 99]),
        (3504, &[0xFF, 0xFE]),
        (3504, &[0xFF, 0xFF]),
        (3506, &[0x7F, 0xFF]),
        (3512, &[0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
        (3520, &[0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
        (3520, &[0, 0, 0, 0, 0, 0, 0, 9]),
    ];
    for (at, lie) in lies {
        let mut bytes = bytes.clone();
        bytes[at..at + lie.len()].copy_from_slice(lie);
        let error = open(&bytes, &SegyOptions::default()).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{at}: {error}");
    }
    // A wrong sample count in the file header is corrected by the traces themselves.
    let mut lie = bytes.clone();
    lie[3268..3272].fill(0x7F);
    assert_eq!(open(&lie, &SegyOptions::default()).unwrap().traces.samples(), 7);
    let mut pairs = bytes;
    pairs[3296..3300].copy_from_slice(&[2, 1, 4, 3]);
    assert!(matches!(open(&pairs, &SegyOptions::default()), Err(Error::Unsupported { .. })));
}

#[test]
fn planes_are_found_by_line_number() {
    let recipe = SegyRecipe { format: 2, ..SegyRecipe::default() };
    let (cube, _) = cube(&recipe.bytes(), &IngestOptions::default()).unwrap();
    let (axis, index) = cube.find("inline", 102).unwrap();
    let plane: Vec<i32> = cube.data.read(cube.plane(axis, index)).unwrap();
    let all: Vec<i32> = cube.data.read(Selection::All).unwrap();
    assert_eq!(plane, all[28..56]);
    let error = cube.find("inline", 101).unwrap_err().to_string();
    assert!(error.contains("100 to 104, in steps of 2"), "{error}");
    assert!(cube.find("offset", 1).unwrap_err().to_string().contains("inline, crossline"));
    let x: Vec<f64> = cube.file.dataset("cdp_x").unwrap().read(Selection::All).unwrap();
    // A scalar of -10 divides by 10.
    assert!((x[5] - 102.0 * 25.0).abs() < 1e-9);
}

#[test]
fn progress_increases_to_the_total() {
    let bytes = SegyRecipe { traces: SegyRecipe::grid(20, 20), ..SegyRecipe::default() }.bytes();
    let segy = open(&bytes, &SegyOptions::default()).unwrap();
    let file = File::in_memory().unwrap();
    let last = AtomicU64::new(0);
    let options = IngestOptions { chunks: Some(vec![4, 4, 4]), memory: 1000, ..IngestOptions::default() };
    ingest_into(&segy, &file, &options, &|done, total| {
        assert_eq!(total, bytes.len() as u64);
        assert!(last.fetch_max(done, Ordering::Relaxed) <= done);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(last.into_inner(), bytes.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_survey_of_any_shape_order_and_chunks_round_trips(
        grid in (1_i32..7, 1_i32..7),
        keep in proptest::collection::vec(proptest::bool::weighted(0.9), 49),
        shuffle: u32, samples in 1_u32..20, format in proptest::sample::select(vec![1_u16, 2, 3, 5, 7, 8, 11]),
        chunk in proptest::array::uniform3(1_u64..9), memory in 1_u64..5000, filtered: bool, little: bool,
    ) {
        let mut traces = SegyRecipe::grid(grid.0, grid.1);
        let mut keep = keep.into_iter();
        traces.retain(|_| keep.next().unwrap());
        traces.sort_by_key(|&[i, x, _]| (i.cast_unsigned().wrapping_mul(shuffle) ^ x.cast_unsigned().wrapping_mul(shuffle >> 7)) % 97);
        prop_assume!(!traces.is_empty());
        let revision = if little { (2, 1) } else { (1, 0) };
        let recipe = SegyRecipe { traces, samples, format, little, revision, ..SegyRecipe::default() };
        let filters = if filtered { vec![FilterChoice::Shuffle, FilterChoice::Zstd { level: 1 }] } else { Vec::new() };
        let survey = SurveyOptions { kind: Some(SurveyKind::Volume), ..SurveyOptions::default() };
        let options = IngestOptions { survey, chunks: Some(chunk.to_vec()), memory, filters, ..IngestOptions::default() };
        let bytes = recipe.bytes();
        let (cube, _) = cube(&bytes, &options).unwrap();
        prop_assert!(back(&cube) == bytes);
    }
}

proptest! {
    /// Any bytes in the fields that place traces, read as any kind of number, give an error or an exact copy.
    #[test]
    fn headers_with_any_numbers_round_trip_or_are_errors(
        random in proptest::collection::vec(any::<u8>(), 12 * 24),
        kinds in proptest::array::uniform3(0_usize..10), survey in 0_usize..6,
        alike in any::<bool>(), little in any::<bool>(),
    ) {
        let recipe = SegyRecipe { little, revision: (2, 0), ..SegyRecipe::default() };
        let mut bytes = recipe.bytes();
        for (trace, random) in random.chunks(24).enumerate() {
            let start = 3600 + trace * (240 + 28) + 200;
            // Numbers that repeat make lines.
            let random = if alike { [random[0] % 3; 24] } else { random.try_into().unwrap() };
            bytes[start..start + 24].copy_from_slice(&random);
        }
        let names = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"];
        let field = |i: usize| format!("{}:{}", 201 + 8 * i, names[kinds[i]]).parse::<Field>().unwrap();
        let all = [SurveyKind::Volume, SurveyKind::Prestack, SurveyKind::Line, SurveyKind::PrestackLine, SurveyKind::Traces];
        let survey = SurveyOptions {
            lines: Some((field(0), field(1))),
            offset: Some(field(2)),
            cdp: Some(field(0)),
            coordinates: Some((field(1), field(2))),
            kind: all.get(survey).copied(),
        };
        let segy = open(&bytes, &SegyOptions::default()).unwrap();
        if let (Ok(found), Ok(scanned)) = (Survey::find(&segy, &survey), Survey::scan(&segy, &survey)) {
            prop_assert_eq!(found.kind, scanned.kind);
            prop_assert_eq!(found.axes, scanned.axes);
        }
        match cube(&bytes, &IngestOptions { survey, ..IngestOptions::default() }) {
            Ok((cube, _)) => {
                prop_assert!(back(&cube) == bytes);
                for axis in &cube.axes {
                    for index in 0..axis.values.len() {
                        prop_assert_eq!(cube.find(axis.name, axis.values.get(index).unwrap()).unwrap().1, index as u64);
                    }
                }
            }
            Err(error) => prop_assert!(matches!(error, Error::Format { .. } | Error::Geometry { .. }), "{}", error),
        }
    }
}
