//! libFuzzer on model torch pickle.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lnz_fuzz::run("model_torch_pickle", bytes));
