//! Runs a target again and again, keeps inputs that were answered in a new way, and reports what is wrong.
//!
//! The sentence of a refusal, without its numbers, takes the place of coverage: an input that leads to a
//! sentence nobody has seen before has come to a new place, and is changed further.

use crate::mutate::{Mutator, Random};
use crate::targets::Target;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Answers to inputs of some kilobytes that take longer are a fault, also on a busy machine.
const TOO_SLOW: Duration = Duration::from_secs(10);

/// Inputs that are kept besides the seeds.
const MOST_KEPT: usize = 4000;

/// Feeds one target.
pub struct Driver<'a> {
    target: &'a Target,
    inputs: Vec<Vec<u8>>,
    /// Hashes of the answers so far.
    seen: HashSet<u64>,
    mutator: Mutator,
    /// The input of the moment, for the case that it ends the process.
    last: Option<File>,
    report: Report,
}

/// What was done, and what was found.
#[derive(Debug, Default)]
pub struct Report {
    /// Inputs that were parsed.
    pub executions: u64,
    /// Different answers.
    pub answers: usize,
    /// Inputs at which the parser panicked or took too long, each with what happened.
    pub faults: Vec<(String, Vec<u8>)>,
}

impl<'a> Driver<'a> {
    /// A driver that begins with these inputs; the same seed makes the same inputs. Each is in the file
    /// `last` while it is parsed.
    pub fn new(target: &'a Target, inputs: Vec<Vec<u8>>, seed: u64, last: Option<File>) -> Self {
        let mutator = Mutator { random: Random::new(seed) };
        let (seen, report) = (HashSet::new(), Report::default());
        let mut driver = Self { target, inputs, seen, mutator, last, report };
        for k in 0..driver.inputs.len() {
            let input = driver.inputs[k].clone();
            driver.execute(input, false);
        }
        driver
    }

    /// Parses so many new inputs.
    pub fn run(&mut self, executions: u64) {
        for _ in 0..executions {
            let input = self.mutator.next(&self.inputs);
            self.execute(input, true);
        }
    }

    /// What there is so far.
    pub fn report(mut self) -> Report {
        self.report.answers = self.seen.len();
        self.report
    }

    /// Faults so far.
    pub fn faults(&self) -> usize {
        self.report.faults.len()
    }

    fn execute(&mut self, input: Vec<u8>, keep: bool) {
        if let Some(file) = &mut self.last {
            let kept = file.rewind().and_then(|()| file.write_all(&input));
            // A disk that is full is no fault of the parser.
            let _ = kept.and_then(|()| file.set_len(input.len() as u64));
        }
        let clock = Instant::now();
        let target = self.target;
        let answer = catch_unwind(AssertUnwindSafe(|| target.run(&input)));
        self.report.executions += 1;
        let took = clock.elapsed();
        match answer {
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or(panic.downcast_ref::<&str>().copied());
                let what = format!("panicked: {}", said.unwrap_or("without a word"));
                self.report.faults.push((what, input));
            }
            Ok(_) if took > TOO_SLOW => {
                self.report.faults.push((format!("took {} s", took.as_secs()), input));
            }
            Ok(answer) => {
                let is_new = self.seen.insert(words_of(&answer));
                if is_new && keep && self.inputs.len() < MOST_KEPT {
                    self.inputs.push(input);
                }
            }
        }
    }
}

/// A hash of the words of a sentence: numbers, names and paths differ from input to input.
fn words_of(answer: &str) -> u64 {
    let is_word = |word: &str| {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !bare.is_empty()
            && bare.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !word.contains(['`', '/', '"'])
    };
    let words = answer.split_whitespace().map(|word| if is_word(word) { word } else { "#" });
    words.take(24).fold(0, |hash, word| hash_of(hash, word.as_bytes()))
}

/// FNV-1a, after what was hashed before.
pub fn hash_of(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// All files in a folder, in the order of their names; none if there is no such folder.
pub fn read_inputs(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}
