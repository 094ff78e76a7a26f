//! Every parser for a few thousand damaged inputs, and for those that were once too much.

use lnz_fuzz::{Driver, TARGETS, read_inputs};
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, 512 << 20);

/// Inputs for each target: seconds for all of them together.
const EXECUTIONS: u64 = 3000;

fn folder(kind: &str, target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target)
}

#[test]
fn every_parser_survives_damage() {
    for (number, target) in TARGETS.iter().enumerate() {
        let seeds = read_inputs(&folder("seeds", target.name));
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        let mut driver = Driver::new(target, seeds, number as u64, None);
        driver.run(EXECUTIONS);
        let report = driver.report();
        let faults: Vec<&String> = report.faults.iter().map(|(what, _)| what).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", target.name);
        // Damage leads to different sentences: it is not all thrown away at the first byte.
        assert!(report.answers > 2, "{} has {} answers", target.name, report.answers);
    }
}

#[test]
fn a_file_on_the_disk_is_read_like_its_bytes() {
    let mut models = 0;
    for target in TARGETS.iter().filter(|target| target.name.starts_with("model_")) {
        for entry in std::fs::read_dir(folder("seeds", target.name)).unwrap() {
            let path = entry.unwrap().path();
            let (options, bytes) = (lnz::io::ReadOptions::default(), std::fs::read(&path).unwrap());
            let from_disk = lnz::io::read_model_with(&path, &options);
            let from_memory = lnz::io::read_model_bytes(&path, &bytes, &options);
            models += usize::from(from_disk.is_ok());
            match (from_disk, from_memory) {
                (Ok(one), Ok(other)) => assert_eq!(one, other, "{}", path.display()),
                (one, other) => {
                    assert_eq!(one.unwrap_err().to_string(), other.unwrap_err().to_string());
                }
            }
        }
    }
    assert!(models > 20, "{models}");
}

#[test]
fn what_was_once_too_much_is_refused() {
    let mut count = 0;
    for target in &TARGETS {
        let inputs = read_inputs(&folder("regressions", target.name));
        count += inputs.len();
        let report = Driver::new(target, inputs, 0, None).report();
        let faults: Vec<&String> = report.faults.iter().map(|(what, _)| what).collect();
        assert!(faults.is_empty(), "{}: {faults:?}", target.name);
    }
    assert!(count > 0);
}

#[test]
fn every_target_can_be_run_by_cargo_fuzz() {
    let manifest = include_str!("../Cargo.toml");
    for target in &TARGETS {
        let path = format!("fuzz_targets/{}.rs", target.name);
        assert!(manifest.contains(&format!("path = \"{path}\"")), "{path} is not in Cargo.toml");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path));
        assert!(text.unwrap().contains(&format!("{:?}", target.name)), "{path}");
    }
}
