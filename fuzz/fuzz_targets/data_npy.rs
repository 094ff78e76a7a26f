//! libFuzzer on data npy.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("data_npy", bytes));
