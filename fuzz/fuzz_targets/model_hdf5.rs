//! libFuzzer on model hdf5.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("model_hdf5", bytes));
