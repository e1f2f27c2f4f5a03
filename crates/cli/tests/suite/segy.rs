//! Tests `hyperslab segy`, from a SEG-Y file to slices and back.

#![allow(clippy::unwrap_used)] // A test may fail loudly outside `#[test]` functions, too.

use crate::common::Scratch;
use hyperslab_testkit::segy::SegyRecipe;
use serde_json::Value;

/// Returns a folder with a SEG-Y file of 5 inlines, 6 crosslines and 40 samples.
fn scratch(name: &str) -> (Scratch, Vec<u8>) {
    let scratch = Scratch::new(name);
    let recipe = SegyRecipe { traces: SegyRecipe::grid(5, 6), samples: 40, ..SegyRecipe::default() };
    let bytes = recipe.bytes();
    scratch.write_damaged("in.sgy", &bytes);
    (scratch, bytes)
}

#[test]
fn a_file_round_trips_through_ingest_and_export() {
    let (scratch, bytes) = scratch("segy-back");
    let said = scratch.printed(&["segy", "ingest", "%in.sgy", "%cube.h5", "--filter", "blosc2:zstd:5"]);
    assert!(said.contains("30 traces of shape (5, 6, 40)"), "{said}");
    let said = scratch.printed(&["segy", "export", "%cube.h5", "%back.sgy"]);
    assert!(said.contains("back.sgy"), "{said}");
    assert!(std::fs::read(scratch.path("back.sgy")).unwrap() == bytes);
    let (code, _, err) = scratch.run(&["segy", "export", "%cube.h5", "%back.sgy"]);
    assert!(code == 2 && err.contains("it exists"), "{err}");
    let (code, _, err) = scratch.run(&["segy", "ingest", "%in.sgy", "%cube.h5"]);
    assert!(code == 2 && err.contains("replace it (--overwrite; in Python, overwrite=True)"), "{err}");
    scratch.printed(&[
        "segy",
        "ingest",
        "%in.sgy",
        "%cube.h5",
        "--overwrite",
        "--chunks",
        "2x3x9",
        "--memory",
        "1kB",
    ]);
    scratch.write_damaged("back.sgy", b"");
}

#[test]
fn info_agrees_for_the_file_and_for_the_survey() {
    let (scratch, _) = scratch("segy-info");
    scratch.printed(&["segy", "ingest", "%in.sgy", "%cube.h5"]);
    let json = |name: &str| -> Value {
        serde_json::from_str(&scratch.printed(&["segy", "info", name, "--json"])).unwrap()
    };
    let (file, cube) = (json("%in.sgy"), json("%cube.h5"));
    for key in ["revision", "byte_order", "sample_format", "survey", "geometry_fields", "text"] {
        assert_eq!(file[key], cube[key], "{key}");
    }
    assert_eq!(
        file["axes"][0],
        serde_json::json!({"name": "inline", "first": 100, "last": 108, "length": 5})
    );
    assert_eq!(file["axes"][0], cube["axes"][0]);
    assert_eq!(cube["axes"][2]["last"], 156.0);
    assert_eq!(cube["geometry_fields"], "inline 189:i4, crossline 193:i4, x 181:i4, y 185:i4");
    let text = scratch.printed(&["segy", "info", "%cube.h5"]);
    assert!(text.contains("twt") && text.contains("0.0 to 156.0 ms"), "{text}");
    // The most important facts come first.
    let order = ["survey", "inline", "geometry fields", "sample format", "bytes", "text:"];
    let places: Vec<_> = order.iter().map(|name| text.find(&format!("\n{name}")).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn slices_are_written_as_arrays_pictures_and_segy_files() {
    let (scratch, bytes) = scratch("segy-slice");
    scratch.printed(&["segy", "ingest", "%in.sgy", "%cube.h5"]);
    let said = scratch.printed(&["segy", "slice", "%cube.h5", "--crossline", "9", "--out", "%xl.npy"]);
    assert!(said.contains("(5, 40)"), "{said}");
    let saved = std::fs::read(scratch.path("xl.npy")).unwrap();
    let npy = npyz::NpyFile::new(&saved[..]).unwrap();
    assert_eq!(npy.shape(), [5, 40]);
    let values: Vec<f32> = npy.into_vec().unwrap();
    // The value of sample 7 of inline 104, decoded from its IBM float by definition.
    let at = 3600 + (2 * 6 + 2) * (240 + 160) + 240 + 4 * 7;
    let word = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let sign = if word >> 31 == 0 { 1.0 } else { -1.0 };
    let value = sign * f64::from(word & 0xFF_FFFF) / 16_777_216.0
        * 16_f64.powi((word >> 24 & 0x7F).cast_signed() - 64);
    assert!((f64::from(values[2 * 40 + 7]) - value).abs() < 1e-12);
    scratch.printed(&["segy", "slice", "%cube.h5", "--inline", "104", "--out", "%il.sgy"]);
    let cut = std::fs::read(scratch.path("il.sgy")).unwrap();
    let line = 3600 + 2 * 6 * 400..3600 + 3 * 6 * 400;
    assert!(cut[..3600] == bytes[..3600] && cut[3600..] == bytes[line]);
    for name in ["%t.png", "%t.svg"] {
        scratch.printed(&["segy", "slice", "%cube.h5", "--slice", "57", "--out", name]);
    }
    let picture = image::open(scratch.path("t.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (1200, 900));
    assert!(std::fs::read_to_string(scratch.path("t.svg")).unwrap().contains("twt 56 ms"));
    for (args, hint) in [
        (["--inline", "105", "--out", "%x.npy"], "100 to 108, in steps of 2"),
        (["--slice", "157", "--out", "%x.npy"], "from 0 to 156 ms"),
        (["--slice", "0", "--out", "%x.sgy"], "holds traces"),
        (["--slice", "0", "--out", "%x.jpg"], "name a .png"),
        (["--offset", "0", "--out", "%x.npy"], "inline, crossline"),
    ] {
        let (code, _, err) = scratch.run(&[&["segy", "slice", "%cube.h5"][..], &args].concat());
        assert!(code == 2 && err.contains(hint), "{err}");
    }
}

#[test]
fn damaged_and_foreign_files_are_refused_with_a_position() {
    let (scratch, bytes) = scratch("segy-bad");
    scratch.write_damaged("cut.sgy", &bytes[..bytes.len() - 10]);
    let (code, _, err) = scratch.run(&["segy", "ingest", "%cut.sgy", "%cut.h5"]);
    assert!(code == 1 && err.contains("trace 29") && err.contains("byte 15200"), "{err}");
    assert!(err.contains("cut.sgy: bytes of") && err.contains("--ignore-rest (in Python"), "{err}");
    assert!(!scratch.path("cut.h5").exists());
    scratch.printed(&["segy", "ingest", "%cut.sgy", "%cut.h5", "--ignore-rest", "--as", "traces"]);
    scratch.make("other.h5", |_| ());
    let (code, _, err) = scratch.run(&["segy", "export", "%other.h5", "%x.sgy"]);
    assert!(code == 1 && err.contains("ingest the SEG-Y file first"), "{err}");
    let (code, _, err) = scratch.run(&["segy", "info", "%other.h5"]);
    assert!(code == 1 && err.contains("other.h5"), "{err}");
    for name in ["headers.sgy", "text.sgy"] {
        scratch.write_damaged(name, &bytes[..if name == "text.sgy" { 3000 } else { 3600 }]);
        let (code, _, err) = scratch.run(&["segy", "info", &format!("%{name}")]);
        assert!(code == 1 && err.contains(&format!("{name}: ")), "{err}");
    }
    let (code, _, err) = scratch.run(&["segy", "info", "%in.sgy", "--as", "prestack-line"]);
    assert!(
        code == 1 && err.contains("in.sgy: traces 0 and 1 are both at cdp 0, offset 0 (21:i4, 37:i4)"),
        "{err}"
    );
    assert!(err.contains("(--as traces; in Python, kind=\"traces\")"), "{err}");
    scratch.printed(&["segy", "ingest", "%in.sgy", "%whole.h5"]);
    let whole = std::fs::read(scratch.path("whole.h5")).unwrap();
    scratch.write_damaged("trunc.h5", &whole[..whole.len() / 2]);
    for args in [&["segy", "info", "%trunc.h5"][..], &["segy", "export", "%trunc.h5", "%x.sgy"]] {
        let (code, _, err) = scratch.run(args);
        assert!(
            code == 1 && err.contains("trunc.h5: the file is cut short") && err.contains("hint: copy"),
            "{err}"
        );
    }
    let (code, _, err) = scratch.run(&["segy", "info", "%missing.sgy"]);
    assert!(code == 1 && err.contains("missing.sgy"), "{err}");
    let (code, _, err) = scratch.run(&[
        "segy",
        "ingest",
        "%in.sgy",
        "%x.h5",
        "--inline-byte",
        "9:i3",
        "--crossline-byte",
        "9",
    ]);
    assert!(code == 2 && err.contains("kinds are"), "{err}");
}
