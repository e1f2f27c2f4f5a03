#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hyperslab_testkit::fuzz::change(input));
