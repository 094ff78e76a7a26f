//! libFuzzer on saved result.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("saved_result", bytes));
