//! Runs a target again and again, keeps inputs that were answered in a new way, and reports what is wrong.
//!
//! The sentence of a refusal, without its numbers, takes the place of coverage: an input that leads to a
//! sentence nobody has seen before has come to a new place, and is changed further.

use crate::mutate::{Mutator, Random};
use crate::targets::{Target, scratch};
use std::collections::HashSet;
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
    seen: HashSet<String>,
    mutator: Mutator,
    folder: PathBuf,
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
    /// A driver that begins with these inputs; the same seed makes the same inputs.
    pub fn new(target: &'a Target, inputs: Vec<Vec<u8>>, seed: u64) -> Self {
        let mutator = Mutator { random: Random::new(seed) };
        let (seen, report) = (HashSet::new(), Report::default());
        let mut driver = Self { target, inputs, seen, mutator, folder: scratch(), report };
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
        let clock = Instant::now();
        let target = self.target;
        let answer = catch_unwind(AssertUnwindSafe(|| target.run(&self.folder, &input)));
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
                let is_new = self.seen.insert(without_numbers(&answer));
                if is_new && keep && self.inputs.len() < MOST_KEPT {
                    self.inputs.push(input);
                }
            }
        }
    }
}

/// The words of a sentence: numbers, names and paths differ from input to input.
fn without_numbers(answer: &str) -> String {
    let is_word = |word: &str| {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !bare.is_empty() && bare.chars().all(char::is_alphabetic) && !word.contains(['`', '/', '"'])
    };
    let words = answer.split_whitespace().map(|word| if is_word(word) { word } else { "#" });
    words.take(24).collect::<Vec<_>>().join(" ")
}

/// All files in a folder, in the order of their names; none if there is no such folder.
pub fn read_inputs(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}
