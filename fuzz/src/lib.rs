//! Fuzz targets for every parser of lnz, and a driver that needs no nightly compiler.
//!
//! A parser may refuse what it is given, with a sentence. It may not panic, abort, take more than half a
//! gigabyte for a file of some kilobytes, or take seconds. `cargo xtask fuzz --minutes 10` looks for
//! bytes that make one do so; `cargo fuzz run TARGET --features libfuzzer` does the same with libFuzzer.
//!
//! | file | has |
//! |---|---|
//! | `targets` | the parsers, and how bytes become a file for them |
//! | `mutate` | damage: how one input becomes another |
//! | `driver` | runs a target, keeps what is new, and what is wrong |

mod driver;
mod mutate;
mod targets;

pub use driver::{Driver, Report, hash_of, read_inputs};
pub use mutate::{Mutator, Random};
pub use targets::{TARGETS, Target};

/// Bytes through one target, for libFuzzer: a fault is a panic.
pub fn run(name: &str, bytes: &[u8]) {
    if let Some(target) = TARGETS.iter().find(|target| target.name == name) {
        target.run(bytes);
    }
}
