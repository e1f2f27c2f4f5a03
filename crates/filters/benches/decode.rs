//! Bytes per second that Blosc chunks decode to, one thread.
//!
//! Without arguments our own encoder makes the chunks. `cargo bench -p hyperslab-filters --bench decode -- FOLDER` takes
//! the chunks of `golden/make/blosc_bench.py FOLDER`, which times python-blosc2 on the same ones.

#![allow(clippy::unwrap_used, reason = "a bench stops at the first surprise")]
#![allow(clippy::cast_precision_loss, reason = "rates are printed with three digits")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use hyperslab_filters::blosc::Blosc;
use hyperslab_filters::{Axis, Filter, FilterId, Gather, Scratch};

struct Case {
    name: String,
    blosc: Blosc,
    element_size: usize,
    shape: Vec<usize>,
    stored: Vec<u8>,
}

fn main() {
    let folder = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let cases = folder.map_or_else(encoded, |folder| read(Path::new(&folder)));
    println!("{:44} {:>12} {:>12} {:>12}", "GB/s", "whole", "in an array", "one element");
    for case in cases {
        let bytes = case.element_size * case.shape.iter().product::<usize>();
        let mut scratch = Scratch::default();
        let mut out = vec![0u8; bytes];
        let whole = best(|| {
            case.blosc.decode_into(black_box(&case.stored), &mut out, &mut scratch).unwrap();
        });
        // The chunk as a part of an array twice as wide.
        let mut wide = vec![0u8; 2 * bytes];
        let axes = axes(&case.shape, case.element_size);
        let gather =
            Gather { element_size: case.element_size, chunk_shape: &case.shape, axes: &axes, offset: 0 };
        let part = best(|| {
            let target = &mut wide[..];
            case.blosc.scatter_into(black_box(&case.stored), &gather, target, &mut scratch).unwrap();
        });
        let one: Vec<Axis> =
            axes.iter().zip(&case.shape).map(|(axis, &n)| Axis { start: n / 2, count: 1, ..*axis }).collect();
        let gather = Gather { axes: &one, ..gather };
        let element = best(|| {
            let target = &mut wide[..];
            case.blosc.scatter_into(black_box(&case.stored), &gather, target, &mut scratch).unwrap();
        });
        let rate = |time: Duration| bytes as f64 / time.as_secs_f64() / 1e9;
        println!(
            "{:44} {:12.2} {:12.2} {:9.1} us",
            case.name,
            rate(whole),
            rate(part),
            element.as_secs_f64() * 1e6
        );
    }
}

/// The axes of a whole chunk whose innermost dimension is half of the destination's.
fn axes(shape: &[usize], element_size: usize) -> Vec<Axis> {
    let mut stride = element_size;
    let mut axes = Vec::new();
    for (depth, &count) in shape.iter().rev().enumerate() {
        axes.insert(0, Axis { start: 0, step: 1, count, stride: stride.cast_signed() });
        stride *= count * if depth == 0 { 2 } else { 1 };
    }
    axes
}

/// The shortest of many runs.
fn best(mut run: impl FnMut()) -> Duration {
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < Duration::from_millis(400) {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed());
    }
    best
}

fn read(folder: &Path) -> Vec<Case> {
    let chunks = std::fs::read(folder.join("samples.bin")).unwrap();
    let lines = std::fs::read_to_string(folder.join("samples.txt")).unwrap();
    let cases = lines.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().unwrap();
        let shape: Vec<usize> = words[3].split('x').map(|n| n.parse().unwrap()).collect();
        let bytes = number(2) * shape.iter().product::<usize>();
        Case {
            name: words[0].to_owned(),
            blosc: Blosc::new(FilterId(words[1].parse().unwrap()), &[], number(2), bytes).unwrap(),
            element_size: number(2),
            shape,
            stored: chunks[number(4)..number(4) + number(5)].to_vec(),
        }
    });
    cases.collect()
}

fn encoded() -> Vec<Case> {
    let shape = [1usize, 100, 100, 100];
    let raw: Vec<u8> = (0..1_000_000i32).flat_map(i32::to_le_bytes).collect();
    let mut cases = Vec::new();
    for (codec, name) in [(0, "blosclz"), (1, "lz4"), (4, "zlib"), (5, "zstd")] {
        for (shuffle, how) in [(0, "plain"), (1, "shuffle"), (2, "bitshuffle")] {
            for id in [FilterId::BLOSC, FilterId::BLOSC2] {
                let mut client = vec![1, 0, 4, 4_000_000, 5, shuffle, codec];
                if id == FilterId::BLOSC2 {
                    client.extend([4, 1, 100, 100, 100]);
                }
                let blosc = Blosc::new(id, &client, 4, raw.len()).unwrap();
                let mut stored = Vec::new();
                blosc.encode(&raw, &mut stored, &mut Scratch::default()).unwrap();
                if !stored.is_empty() {
                    let name = format!("{id} {name} {how} ({} kB)", stored.len() / 1000);
                    cases.push(Case { name, blosc, element_size: 4, shape: shape.to_vec(), stored });
                }
            }
        }
    }
    cases
}
