//! Work on many millions of elements in short steps, between which its caller may end it. The caller's
//! function is told how many bytes were worked on.

/// A function that is told of work, and whose error ends it.
pub type Worked<'w, E> = dyn FnMut(usize) -> Result<(), E> + 'w;

/// The elements of a step, which takes a few milliseconds.
const STEP: usize = 1 << 17;

/// Calls `f` with every element of a list, in order.
pub(super) fn each<T, E>(
    items: impl IntoIterator<Item = T>,
    worked: &mut Worked<'_, E>,
    mut f: impl FnMut(T),
) -> Result<(), E> {
    for (number, item) in (1..).zip(items) {
        f(item);
        if number % STEP == 0 {
            worked(STEP * size_of::<T>())?;
        }
    }
    Ok(())
}

/// Sorts elements by their keys, of which no two are equal.
///
/// A long list is first divided by samples of it, so that it is never sorted as a whole. This takes about as
/// long as one sort, and 2 bytes for each element.
pub fn sort<T, K: Ord, E>(
    items: &mut [T],
    key: impl Fn(&T) -> K,
    worked: &mut Worked<'_, E>,
) -> Result<(), E> {
    let buckets = (items.len() / STEP).next_power_of_two().min(MOST_BUCKETS);
    if buckets == 1 {
        items.sort_unstable_by_key(key);
        return Ok(());
    }
    if items.is_sorted_by_key(&key) {
        return Ok(());
    }
    let mut samples: Vec<K> = items.iter().step_by(items.len() / (buckets * SAMPLES)).map(&key).collect();
    samples.sort_unstable();
    // Bucket `i` ends before splitter `i`.
    let splitters: Vec<K> = samples
        .into_iter()
        .enumerate()
        .filter_map(|(at, key)| (at % SAMPLES == SAMPLES - 1).then_some(key))
        .collect();
    let mut bucket_of: Vec<u16> = Vec::with_capacity(items.len());
    let mut ends = vec![0_usize; splitters.len() + 1];
    each(&*items, worked, |item| {
        let key = key(item);
        let bucket = splitters.partition_point(|splitter| *splitter <= key);
        ends[bucket] += 1;
        #[expect(clippy::cast_possible_truncation, reason = "there are at most `MOST_BUCKETS` and one")]
        bucket_of.push(bucket as u16);
    })?;
    let mut begins: Vec<usize> = Vec::with_capacity(ends.len());
    let mut sum = 0;
    for end in &mut ends {
        begins.push(sum);
        sum += *end;
        *end = sum;
    }
    divide(items, &mut bucket_of, begins.clone(), &ends, worked)?;
    drop(bucket_of);
    for (begin, end) in begins.into_iter().zip(ends) {
        items[begin..end].sort_unstable_by_key(&key);
        worked((end - begin) * size_of::<T>())?;
    }
    Ok(())
}

/// Moves each element to its bucket. Bucket `i` has the places from `next[i]` to `ends[i]`.
fn divide<T, E>(
    items: &mut [T],
    bucket_of: &mut [u16],
    mut next: Vec<usize>,
    ends: &[usize],
    worked: &mut Worked<'_, E>,
) -> Result<(), E> {
    let mut left = STEP;
    for bucket in 0..ends.len() {
        while next[bucket] < ends[bucket] {
            let at = next[bucket];
            let own = usize::from(bucket_of[at]);
            // Each turn brings one element to its bucket.
            next[own] += 1;
            if own != bucket {
                items.swap(at, next[own] - 1);
                bucket_of.swap(at, next[own] - 1);
            }
            left -= 1;
            if left == 0 {
                left = STEP;
                worked(STEP * size_of::<T>())?;
            }
        }
    }
    Ok(())
}

/// More buckets would need more cache than they save time.
const MOST_BUCKETS: usize = 1 << 12;
/// The samples of each bucket, so that buckets have about the same size.
const SAMPLES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without order, with many equal ones, and their places.
    fn numbers(count: usize, modulus: u64) -> Vec<(u64, usize)> {
        let mut state = 1_u64;
        let next = |place| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % modulus, place)
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn a_list_is_sorted_in_steps_that_are_short() {
        for (count, modulus) in
            [(0, 1), (5, 3), (STEP, 1000), (3 * STEP + 7, u64::MAX), (9 * STEP, 2), (5 * STEP, 1)]
        {
            for turned in [false, true] {
                let mut found = numbers(count, modulus);
                if turned {
                    found.reverse();
                }
                let mut expected = found.clone();
                expected.sort_unstable();
                let mut longest = 0;
                let size = size_of::<(u64, usize)>();
                sort(&mut found, |item| *item, &mut |bytes| {
                    longest = longest.max(bytes);
                    Ok::<_, ()>(())
                })
                .unwrap();
                assert!(found == expected, "{count} numbers below {modulus}");
                assert!(longest <= 4 * STEP * size, "{longest} bytes in one step of {count} numbers");
            }
        }
    }

    #[test]
    fn work_ends_with_the_error_of_its_caller() {
        let count = 20 * STEP;
        // At whatever step: the list has the same elements.
        for most in [0, 3, 25, 39] {
            let (mut found, mut steps) = (numbers(count, u64::MAX), 0);
            let done = sort(&mut found, |item| *item, &mut |_| {
                steps += 1;
                if steps > most { Err("ended") } else { Ok(()) }
            });
            assert_eq!((done, steps), (Err("ended"), most + 1));
            let mut expected = numbers(count, u64::MAX);
            expected.sort_unstable();
            found.sort_unstable();
            assert!(found == expected);
        }
        let mut seen = 0;
        assert_eq!(each(0..count, &mut |_| Err("ended"), |_| seen += 1), Err("ended"));
        assert_eq!(seen, STEP);
    }
}
