//! Tests of every set of instructions against a model that follows the definition, byte by byte and bit by
//! bit.

use super::*;

const SIZES: [usize; 22] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 31, 32, 33, 100];
const COUNTS: [usize; 21] =
    [0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 255, 256, 264, 520, 1048];

#[test]
fn scalar_transposes_are_always_available_and_the_fastest_come_first() {
    let names: Vec<_> = Kernels::available().map(|kernels| kernels.name).collect();
    assert_eq!(names.last(), Some(&"scalar"));
    assert_eq!(Kernels::fastest().name, names[0]);
    #[cfg(target_arch = "x86_64")]
    assert!(names.contains(&"sse2"));
}

#[test]
fn shuffle_puts_byte_k_of_every_element_together() {
    each_case(|kernels, size, src| {
        let mut found = vec![0; src.len()];
        kernels.shuffle(size, src, &mut found);
        assert_eq!(found, model_shuffle(size, src), "{} size {size} bytes {}", kernels.name, src.len());
    });
}

#[test]
fn unshuffle_undoes_shuffle() {
    each_case(|kernels, size, src| {
        for stores in [Stores::Cached, Stores::PastCache] {
            let mut found = vec![0; src.len()];
            kernels.unshuffle(size, &model_shuffle(size, src), &mut found, stores);
            assert_eq!(found, src, "{} size {size} bytes {} {stores:?}", kernels.name, src.len());
        }
    });
}

#[test]
fn separate_planes_become_elements_at_any_alignment() {
    each_case(|kernels, size, src| {
        let n = src.len() / size;
        let src = &src[..n * size];
        let planes: Vec<Vec<u8>> = (0..size)
            .map(|k| (0..n + k % 3).map(|i| *src.get(i * size + k).unwrap_or(&0)).collect())
            .collect();
        let planes: Vec<Plane<'_>> = planes.iter().map(|plane| Plane::of(plane)).collect();
        for (before, stores) in [(1, Stores::Cached), (1, Stores::PastCache), (size, Stores::PastCache)] {
            let mut found = vec![0xee; before + src.len() + 1];
            let mut comb = Comb::of(&mut found, before, 0, 1, src.len());
            kernels.unshuffle_runs(&planes, 0, 0, &mut comb, stores);
            let (outside, found) = found.split_at(before);
            assert_eq!(found[..src.len()], *src, "{} size {size} elements {n} {stores:?}", kernels.name);
            let outside = outside.iter().chain(&found[src.len()..]);
            assert!(outside.into_iter().all(|&byte| byte == 0xee), "wrote outside the destination");
        }
    });
}

#[test]
fn a_streamed_run_is_complete_at_any_offset_in_a_cache_line() {
    for kernels in Kernels::available() {
        for size in [2, 4, 8, 16] {
            let n = 4096 / size + 37;
            let src: Vec<u8> = (0..n * size).map(|at: usize| (at * 31 + at / 251).to_le_bytes()[0]).collect();
            let shuffled = model_shuffle(size, &src);
            let planes: Vec<Plane<'_>> = shuffled.chunks(n).map(Plane::of).collect();
            for offset in (0..64).step_by(size) {
                let mut found = vec![0xee; src.len() + 192];
                let start = found.as_ptr().align_offset(64) + offset;
                let mut comb = Comb::of(&mut found, start, 0, 1, src.len());
                kernels.unshuffle_runs(&planes, 0, 0, &mut comb, Stores::PastCache);
                let place = start..start + src.len();
                assert!(found[place.clone()] == src[..], "{} size {size} offset {offset}", kernels.name);
                let outside = found[..place.start].iter().chain(&found[place.end..]);
                assert!(outside.into_iter().all(|&byte| byte == 0xee), "wrote outside the destination");
            }
        }
    }
}

#[test]
fn runs_are_written_to_the_comb_and_a_repeated_byte_serves_as_a_plane() {
    each_case(|kernels, size, src| {
        let all = src.len() / size;
        let Some(&repeated) = src.first() else { return };
        let (first, step) = (all / 5, all / 4);
        let n = step - step / 3;
        let planes: Vec<Vec<u8>> = (0..size).map(|k| (0..all).map(|i| src[i * size + k]).collect()).collect();
        let planes: Vec<Plane<'_>> = (0..size)
            .map(|k| if k % 3 == 1 { Plane::repeated(repeated) } else { Plane::of(&planes[k]) })
            .collect();
        let (len, gap) = (n * size, 5);
        let mut found = vec![0xee; 3 * (len + gap)];
        let mut comb = Comb::of(&mut found, 2 * (len + gap), -(len + gap).cast_signed(), 3, len);
        kernels.unshuffle_runs(&planes, first, step, &mut comb, Stores::Cached);
        for (r, run) in found.chunks(len + gap).rev().enumerate() {
            for (at, &byte) in run.iter().enumerate() {
                let (element, k) = (first + r * step + at / size, at % size);
                let want = if at >= len {
                    0xee
                } else if k % 3 == 1 {
                    repeated
                } else {
                    src[element * size + k]
                };
                assert_eq!(byte, want, "{} size {size} run {r} byte {at} of {len}", kernels.name);
            }
        }
    });
}

#[test]
fn planes_of_a_rack_in_any_order_become_elements() {
    each_case(|kernels, size, src| {
        let (all, pitch) = (src.len() / size, src.len() / size + 7);
        let mut bytes = vec![0xaa; pitch * size];
        for (k, plane) in model_shuffle(size, &src[..all * size]).chunks(all.max(1)).enumerate() {
            bytes[k * pitch..][..all].copy_from_slice(plane);
        }
        let (first, step) = (all / 5, all / 4);
        let n = step - step / 3;
        // Twice as many planes, so that there are enough for the widest groups.
        let given: Vec<u16> = (0..2 * size).map(|k| u16::try_from((k * 7 + 3) % size).unwrap()).collect();
        for order in [None, Some(&given[..])] {
            let rack = Rack::new(&bytes, pitch, all, size, order);
            let len = n * rack.count();
            let mut found = vec![0xee; 3 * len + 9];
            let mut comb = Comb::of(&mut found, 4, len.cast_signed(), 3, len);
            kernels.unshuffle_rack(&rack, first, step, &mut comb, Stores::PastCache);
            let element =
                |e: usize| (0..rack.count()).map(move |k| src[e * size + order.map_or(k, |o| o[k].into())]);
            let runs = (0..3).flat_map(|r| (first + r * step..first + r * step + n).flat_map(element));
            assert!(found[4..3 * len + 4].iter().copied().eq(runs), "{} size {size} of {all}", kernels.name);
            assert!(found[..4].iter().chain(&found[3 * len + 4..]).all(|&byte| byte == 0xee));
        }
    });
}

#[test]
#[should_panic(expected = "a plane is outside the rack")]
fn a_rack_whose_last_plane_is_out_of_bounds_is_refused() {
    Rack::new(&[0; 40], 10, 11, 17, Some(&[3]));
}

#[test]
fn picked_bytes_follow_the_map() {
    let bytes: Vec<u8> = (0..6000_usize).map(|at| (at * 31 + at / 251).to_le_bytes()[0]).collect();
    let mut maps: Vec<(usize, Vec<u16>)> =
        vec![(16, vec![15]), (40, vec![0, 39, 1, 38]), (300, vec![299, 7, 0])];
    for size in SIZES {
        let all = 0..u16::try_from(size).unwrap();
        let (half, start) = (all.end.div_ceil(2), all.end / 3);
        maps.extend([(size, all.clone().collect()), (size, all.clone().rev().collect())]);
        maps.extend([
            (size, (start..start + half.min(all.end - start)).collect()),
            (size, vec![all.end / 2]),
        ]);
        maps.push((size, (0..2 * all.end).map(|k| (k * 5 + 1) % all.end).collect()));
        maps.push((2 * size, all.clone().rev().chain(all.clone().rev().map(|k| k + all.end)).collect()));
    }
    for kernels in Kernels::available() {
        for (size, map) in &maps {
            let picks = Picks::new(*size, map);
            for count in COUNTS.into_iter().map(|count| count.min(bytes.len() / size)) {
                let src = &bytes[..count * size];
                let mut found = vec![0xee; count * map.len() + 2];
                picks.run(kernels, src, &mut found[1..=count * map.len()]);
                let element =
                    |element: &'_ [u8]| map.iter().map(|&k| element[usize::from(k)]).collect::<Vec<_>>();
                let expected: Vec<u8> = src.chunks_exact(*size).flat_map(element).collect();
                assert!(found[1..=expected.len()] == expected, "{} {size} {map:?} {count}", kernels.name);
                assert_eq!((found[0], found[expected.len() + 1]), (0xee, 0xee));
            }
        }
    }
}

#[test]
fn bitshuffle_puts_bit_b_of_byte_k_of_every_element_together() {
    let mut scratch = Vec::new();
    each_case(|kernels, size, src| {
        let mut found = vec![0; src.len()];
        kernels.bitshuffle(size, src, &mut found, &mut scratch);
        assert_eq!(found, model_bitshuffle(size, src), "{} size {size} bytes {}", kernels.name, src.len());
    });
}

#[test]
fn bitunshuffle_undoes_bitshuffle() {
    let mut scratch = Vec::new();
    each_case(|kernels, size, src| {
        let mut found = vec![0; src.len()];
        kernels.bitunshuffle(size, &model_bitshuffle(size, src), &mut found, &mut scratch);
        assert_eq!(found, src, "{} size {size} bytes {}", kernels.name, src.len());
    });
}

#[test]
fn with_an_element_size_of_zero_or_beyond_the_buffer_bytes_are_copied() {
    let src: Vec<u8> = (0..40).collect();
    for size in [0, 41, usize::MAX] {
        let mut dst = vec![0; 40];
        Kernels::fastest().shuffle(size, &src, &mut dst);
        assert_eq!(dst, src);
        Kernels::fastest().bitunshuffle(size, &src, &mut dst, &mut Vec::new());
        assert_eq!(dst, src);
    }
}

#[test]
#[should_panic(expected = "a plane is shorter than its elements")]
fn a_short_plane_is_refused() {
    let planes = [Plane::of(&[1, 2]), Plane::of(&[3])];
    Kernels::fastest().unshuffle_runs(&planes, 0, 0, &mut Comb::of(&mut [0; 4], 0, 0, 1, 4), Stores::Cached);
}

#[test]
fn shuffling_in_parts_gives_the_same_bytes_as_shuffling_the_whole() {
    each_case(|kernels, size, src| {
        let n = src.len() / size;
        let elements = &src[..n * size];
        let mut planes = vec![0xEE; elements.len()];
        for cuts in [[0, n / 3, n], [0, n - n / 5, n]] {
            for cut in cuts.windows(2) {
                let part = &elements[cut[0] * size..cut[1] * size];
                kernels.shuffle_part(size, part, cut[0], &mut planes);
            }
            assert!(planes == model_shuffle(size, elements), "{} {size} {n}", kernels.name);
            planes.fill(0xEE);
        }
    });
}

#[test]
#[should_panic(expected = "a plane is shorter than its elements")]
fn a_part_that_extends_past_the_planes_is_refused() {
    Kernels::fastest().shuffle_part(4, &[0; 8], 3, &mut [0; 16]);
}

fn each_case(mut check: impl FnMut(&Kernels, usize, &[u8])) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(110_000)
    .collect();
    for kernels in Kernels::available() {
        for size in SIZES {
            for count in COUNTS {
                for tail in [0, size / 2] {
                    check(kernels, size, &random[..count * size + tail]);
                }
            }
        }
    }
}

fn model_shuffle(size: usize, src: &[u8]) -> Vec<u8> {
    let n = src.len() / size;
    let planes = (0..size).flat_map(|k| (0..n).map(move |element| src[element * size + k]));
    planes.chain(src[n * size..].iter().copied()).collect()
}

fn model_bitshuffle(size: usize, src: &[u8]) -> Vec<u8> {
    let n = src.len() / size / 8 * 8;
    let mut rows = vec![0u8; n * size];
    for element in 0..n {
        for bit in 0..8 * size {
            let value = src[element * size + bit / 8] >> (bit % 8) & 1;
            rows[bit * (n / 8) + element / 8] |= value << (element % 8);
        }
    }
    rows.extend_from_slice(&src[n * size..]);
    rows
}
