//! Tests the predictions, measurements, advice and clean-up of `hyperslab tune`. No test depends on how long
//! anything takes.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use hyperslab_format::message::dataspace::Dataspace;

use crate::common::{Scratch, dataset};
use hyperslab::storage::DatasetOptions;
use hyperslab::{File, Group};
use serde_json::Value;

const SHAPE: [u64; 3] = [40, 60, 50];

/// Makes a cube with dimension scales along its first two axes, and a table.
fn cube(root: &Group) {
    let values: Vec<f32> = (0..120_000).map(|k| f32::from(u16::try_from(k % 977).unwrap()).sin()).collect();
    let cube = dataset(root, "amplitude", &SHAPE, Some(&[10, 10, 10]), &values);
    let scales = [
        dataset(root, "inline", &[40], None, &values[..40]),
        dataset(root, "crossline", &[60], None, &values[..60]),
    ];
    for (axis, (scale, name)) in scales.iter().zip(["inline", "crossline"]).enumerate() {
        scale.make_scale(name).unwrap();
        cube.attach_scale(axis, scale).unwrap();
    }
    dataset(root, "table", &[20, 30], None, &values[..600]);
}

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.make("cube.h5", cube);
    scratch
}

/// Runs `tune`, and returns what it prints. Without a terminal, it names its steps on standard error.
fn tuned(scratch: &Scratch, args: &[&str]) -> String {
    let (code, out, err) = scratch.run(args);
    assert_eq!(code, 0, "{err}");
    let steps = ["measuring ", "reading ", "writing sample ", "timing reads, round "];
    let is_step = |line: &str| steps.iter().any(|step| line.starts_with(&format!("hyperslab: {step}")));
    assert!(err.lines().all(is_step), "{err}");
    out
}

#[test]
fn without_a_terminal_each_step_has_a_line() {
    let scratch = scratch("tune-steps");
    let (_, _, err) = scratch.run(&["tune", "%cube.h5", "--edges", "8,16", "--rounds", "2"]);
    for step in
        ["measuring the medium", "reading a sample", "writing sample 2 of", "timing reads, round 2 of 2"]
    {
        assert!(err.contains(&format!("hyperslab: {step}")), "{step}: {err}");
    }
    let help = scratch.printed(&["tune", "--help"]);
    assert!(help.contains("takes a minute or more"), "{help}");
}

fn json(scratch: &Scratch, args: &[&str]) -> Value {
    let text = tuned(scratch, &[&["tune", "%cube.h5", "--json"], args].concat());
    serde_json::from_str(&text).unwrap()
}

/// The options of a short run.
const SHORT: [&str; 4] = ["--edges", "8,16", "--rounds", "1"];

/// The options of a medium so slow that only bytes matter.
const SLOW: [&str; 4] = ["--latency", "1us", "--bandwidth", "1MB/s"];

fn chunks(candidate: &Value) -> Vec<u64> {
    candidate["chunks"].as_array().unwrap().iter().map(|side| side.as_u64().unwrap()).collect()
}

#[test]
fn the_table_and_the_advice_are_printed_and_no_files_remain() {
    let scratch = scratch("tune-table");
    let text = tuned(
        &scratch,
        &[&["tune", "%cube.h5", "--access", "inline:2,crossline:1,slice"], &SHORT[..]].concat(),
    );
    for part in [
        "/amplitude  (40, 60, 50), 468.8 KiB",
        "medians of 1",
        "8x8x8",
        "16x16x16",
        "10x10x10",
        "present",
        "best",
        "inline",
        "crossline",
        "slice",
        "weighted",
        "predicted",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let heads = text.lines().filter(|line| line.starts_with("cold  ") || line.starts_with("warm  "));
    assert_eq!(heads.filter(|line| line.contains("weighted")).count(), 2, "{text}");
    let advice = text
        .lines()
        .rev()
        .find(|line| line.starts_with("Use chunks of ") || line.starts_with("Leave it as it is"));
    assert!(advice.is_some(), "{text}");
    assert_eq!(scratch.names(), ["cube.h5"]);
}

#[test]
fn the_advised_command_gives_the_advised_chunks() {
    let scratch = scratch("tune-command");
    // The only reads are whole inlines, so the present cubes cannot be the best.
    let said =
        json(&scratch, &[&["--predict", "--access", "inline", "--filter", "zstd:1"], &SLOW[..]].concat());
    let best = chunks(&said["recommended"]);
    assert_eq!(said["recommended"]["is_present"], false, "{said}");
    let command = said["recommended"]["command"].as_str().unwrap();
    assert!(command.starts_with("hyperslab repack "), "{command}");
    let (_, args) = command.split_once(" OUT ").unwrap();
    let args: Vec<&str> = args.split(' ').collect();
    scratch.printed(&[&["repack", "%cube.h5", "%out.h5"], &args[..]].concat());
    let repacked = File::open(scratch.path("out.h5")).unwrap().dataset("amplitude").unwrap();
    assert_eq!(repacked.chunk_shape(), Some(best));
    assert_eq!(repacked.filters().filters.len(), 1);
}

#[test]
fn the_advice_follows_the_weights() {
    let scratch = Scratch::new("tune-weights");
    // Noise, so that a filter does not shrink it to almost nothing.
    let noise: Vec<u32> =
        (0..1_u32 << 21).map(|k| k.wrapping_mul(2_654_435_769).rotate_left(k % 31)).collect();
    scratch.make("cube.h5", |root| _ = dataset(root, "amplitude", &[128; 3], Some(&[32; 3]), &noise));
    let medium = ["--predict", "--latency", "100us", "--bandwidth", "500MB/s", "--filter", "zstd:1"];
    for axis in 0..3 {
        let access = format!("axis{axis}");
        let said = json(&scratch, &[&medium[..], &["--access", &access]].concat());
        let best = chunks(&said["recommended"]);
        let others = (0..3).filter(|other| *other != axis).map(|other| best[other]).min().unwrap();
        assert!(best[axis] <= 4 && others >= 16, "{access}: {best:?}");
    }
    let said = json(&scratch, &[&medium[..], &["--access", "axis0:1,axis1:1,axis2:1"]].concat());
    let best = chunks(&said["recommended"]);
    assert!(best.iter().all(|side| (4..=64).contains(side)), "equal weights must favour no axis: {best:?}");
}

#[test]
fn json_contains_the_data_of_the_table() {
    let scratch = scratch("tune-json");
    let args = [&["--access", "inline:3,[0:5, :, 7]:1"], &SHORT[..]].concat();
    let said = json(&scratch, &args);
    assert_eq!(
        (&said["dataset"], &said["shape"]),
        (&Value::from("/amplitude"), &Value::from(SHAPE.to_vec()))
    );
    let accesses = serde_json::json!([
        { "name": "inline", "weight": 3.0, "elements": 3000 },
        { "name": "[0:5, :, 7]", "weight": 1.0, "elements": 300 },
    ]);
    assert_eq!(said["accesses"], accesses);
    assert_eq!(said["sample"], serde_json::json!({ "shape": SHAPE, "is_all": true, "rounds": 1 }));
    let candidates = said["candidates"].as_array().unwrap();
    assert_eq!(candidates[0]["origin"], "present");
    assert_eq!(chunks(&candidates[0]), [10, 10, 10]);
    assert!(
        [[8, 8, 8], [16, 16, 16]].iter().all(|cube| candidates.iter().any(|found| chunks(found) == cube))
    );
    for candidate in candidates {
        let bytes: u64 = chunks(candidate).iter().product::<u64>() * 4;
        assert_eq!(candidate["chunk_bytes"], bytes);
        assert!(candidate["file_bytes"].as_u64().unwrap() >= 480_000, "{candidate}");
        for kind in ["predicted", "measured"] {
            for time in ["cold_seconds", "warm_seconds"] {
                let of = |access: usize| candidate["accesses"][access][kind][time].as_f64().unwrap();
                let mean = candidate["weighted"][kind][time].as_f64().unwrap();
                assert!(of(0) > 0.0 && of(1) > 0.0, "{candidate}");
                assert!((mean - (3.0 * of(0) + of(1)) / 4.0).abs() < 1e-9 * mean, "{candidate}");
            }
        }
    }
    let best = &said["recommended"]["chunks"];
    assert!(candidates.iter().any(|candidate| candidate["chunks"] == *best));
    // The table has every shape, too.
    let table = tuned(&scratch, &[&["tune", "%cube.h5"], &args[..]].concat());
    for candidate in candidates.iter().filter(|candidate| candidate["origin"] != "search") {
        let name = chunks(candidate).iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        assert_eq!(table.matches(&format!("\n{name} ")).count(), 2, "{name}: {table}");
    }
}

#[test]
fn predict_writes_no_files() {
    let scratch = scratch("tune-predict");
    let said = json(&scratch, &["--predict", "--latency", "5ms", "--bandwidth", "200MB/s"]);
    assert!(said["sample"].is_null() && said["machine"]["is_given"] == true, "{said}");
    assert_eq!(said["machine"]["cold"]["latency_seconds"], 0.005);
    assert_eq!(said["machine"]["cold"]["bytes_per_second"], 2e8);
    for candidate in said["candidates"].as_array().unwrap() {
        assert!(
            candidate["file_bytes"].is_null() && candidate["weighted"]["measured"].is_null(),
            "{candidate}"
        );
    }
    let names: Vec<&str> =
        said["accesses"].as_array().unwrap().iter().map(|access| access["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["inline", "crossline", "axis2"], "every axis must occur once");
    let text = tuned(&scratch, &["tune", "%cube.h5", "--predict"]);
    assert!(text.contains("nothing was measured"), "{text}");
}

#[test]
fn times_of_a_sample_are_scaled_to_the_dataset_and_the_output_says_so() {
    let scratch = scratch("tune-sample");
    let args = [&["--sample", "100kB"], &SHORT[..]].concat();
    let said = json(&scratch, &args);
    assert_eq!(said["sample"]["is_all"], false);
    let sides: Vec<u64> =
        said["sample"]["shape"].as_array().unwrap().iter().map(|side| side.as_u64().unwrap()).collect();
    let elements: u64 = sides.iter().product();
    assert!((15_000..=25_000).contains(&elements), "{sides:?}");
    assert!(sides.iter().zip(SHAPE).all(|(side, len)| *side < len), "{sides:?}");
    let text = tuned(&scratch, &[&["tune", "%cube.h5"], &args[..]].concat());
    assert!(text.contains("scaled by the model to the whole dataset"), "{text}");
}

#[test]
fn contiguous_data_and_all_kinds_of_filters_can_be_tuned() {
    let scratch = scratch("tune-contiguous");
    let said = tuned(&scratch, &[&["tune", "%cube.h5", "/table", "--access", "axis1"], &SHORT[..]].concat());
    assert!(said.contains("contiguous") && said.contains("present"), "{said}");
    for filter in ["none", "gzip:1", "lzf", "blosc2:lz4", "bitshuffle:lz4"] {
        let said = json(&scratch, &[&["--filter", filter], &SHORT[..]].concat());
        assert_eq!(said["machine"]["stored_ratio"].is_null(), filter == "none", "{filter}");
    }
    // The dataset's own filters are adapted to every shape.
    for filter in ["zstd:1", "blosc2:zstd:1", "lzf"] {
        scratch.printed(&["repack", "%cube.h5", "%filtered.h5", "--overwrite", "--filter", filter]);
        tuned(&scratch, &[&["tune", "%filtered.h5", "/amplitude"], &SHORT[..]].concat());
    }
}

#[test]
fn the_picture_has_the_requested_size() {
    let scratch = scratch("tune-plot");
    let picture = scratch.path("sweep.png").display().to_string();
    let args = ["--plot", &picture, "--plot-size", "900x500"];
    tuned(&scratch, &[&["tune", "%cube.h5"], &args[..], &SHORT[..]].concat());
    let found = image::open(&picture).unwrap().to_rgb8();
    assert_eq!(found.dimensions(), (900, 500));
    let colours: std::collections::HashSet<[u8; 3]> = found.pixels().map(|pixel| pixel.0).collect();
    // The colours of the lines of the first two accesses, and of the background.
    assert!([[0, 114, 178], [213, 94, 0], [255; 3]].iter().all(|colour| colours.contains(colour)));
    let svg = scratch.path("sweep.svg").display().to_string();
    tuned(&scratch, &["tune", "%cube.h5", "--predict", "--plot", &svg]);
    let text = std::fs::read_to_string(&svg).unwrap();
    for part in ["inline", "crossline", "weighted", "ns per element", "edge of a chunk"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn errors_of_wrong_arguments_say_what_is_right_and_no_files_remain() {
    let scratch = scratch("tune-wrong");
    scratch.make("many.h5", |root| {
        dataset(root, "a", &[4, 5], None, &[0_i32; 20]);
        dataset(root, "b", &[5, 4], None, &[0_i32; 20]);
        dataset(root, "row", &[20], None, &[0_i32; 20]);
        let scalar =
            DatasetOptions::new(Dataspace::Scalar, root.dataset("a").unwrap().datatype().as_ref().clone());
        root.create_dataset("scalar", &scalar).unwrap();
        dataset::<i32>(root, "empty", &[0, 4], None, &[]);
    });
    scratch.make("none.h5", |root| _ = dataset(root, "row", &[3], None, &[1_i32, 2, 3]));
    let cases: [(&[&str], &str); 14] = [
        (&["%cube.h5", "--access", "depth:1"], "the axes are inline, crossline, axis0, axis1, axis2, slice"),
        (&["%cube.h5", "--access", "inline:0"], "is not a positive number"),
        (&["%cube.h5", "--access", "[50]:1"], "out of bounds for axis 0 with size 40"),
        (&["%cube.h5", "--access", "[0, 0, 0, 0]"], "4 indices for an array of 3 dimensions"),
        (&["%cube.h5", "--edges", "0"], "0"),
        (&["%cube.h5", "--filter", "zip"], "the filter must be one of gzip, zstd"),
        (&["%cube.h5", "--filter", "none", "--filter", "lz4"], "cannot be combined with other filters"),
        (&["%cube.h5", "--latency", "fast"], "does not begin with a number"),
        (&["%cube.h5", "--plot", "sweep.pdf"], "a picture is a .png or an .svg"),
        (&["%cube.h5", "--plot-size", "900x500"], "--plot"),
        (&["%many.h5"], "name one of /a (4, 5), /b (5, 4)"),
        (&["%many.h5", "/scalar"], "it is a scalar"),
        (&["%many.h5", "/empty"], "it is empty"),
        (&["%none.h5"], "no dataset of two or more dimensions"),
    ];
    for (args, message) in cases {
        let (code, out, err) = scratch.run(&[&["tune"], args].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(message), "{args:?}: {err}");
    }
    assert_eq!(scratch.names(), ["cube.h5", "many.h5", "none.h5"]);
}

#[test]
fn a_failure_leaves_no_files() {
    let scratch = scratch("tune-failure");
    // A byte in the middle of a compressed chunk is changed.
    scratch.printed(&["repack", "%cube.h5", "%damaged.h5", "--filter", "gzip:1", "--filter", "fletcher32"]);
    let file = File::open(scratch.path("damaged.h5")).unwrap();
    let record = file.dataset("amplitude").unwrap().chunk_at(&[2, 3, 2]).unwrap().unwrap();
    let mut bytes = std::fs::read(scratch.path("damaged.h5")).unwrap();
    drop(file);
    let at = usize::try_from(record.extent.addr.get() + record.extent.len / 2).unwrap();
    bytes[at] ^= 0xff;
    scratch.write_damaged("damaged.h5", &bytes);
    let (code, out, err) = scratch.run(&[&["tune", "%damaged.h5", "/amplitude"], &SHORT[..]].concat());
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("/amplitude"), "{err}");
    // A folder for samples that does not exist.
    let nowhere = scratch.path("nowhere").display().to_string();
    let (code, _, err) = scratch.run(&["tune", "%cube.h5", "--scratch", &nowhere]);
    assert!(code == 1 && err.contains("nowhere"), "{err}");
    assert_eq!(scratch.names(), ["cube.h5", "damaged.h5"]);
}
