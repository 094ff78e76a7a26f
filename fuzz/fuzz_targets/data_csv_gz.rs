//! libFuzzer on data csv gz.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("data_csv_gz", bytes));
