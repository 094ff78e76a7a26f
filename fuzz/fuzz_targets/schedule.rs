//! libFuzzer on schedule.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("schedule", bytes));
