//! libFuzzer on model msgpack.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("model_msgpack", bytes));
