//! libFuzzer on data arrays.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("data_arrays", bytes));
