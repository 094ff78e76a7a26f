//! The crew of a run folder: takes the results that are there, and computes those that are missing.

use super::claim::cannot_write;
use super::{Claim, RunFolder, unfit};
use lnz::crew::{Crew, Output, Task, Work};
use lnz::{Error, Result, io};
use serde_json::Value;
use std::io::{ErrorKind, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Between two looks for results that others compute.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Predicted seconds of a part on one core, where nobody says how many parts there are: what is lost when
/// a process is killed.
const SECONDS_OF_A_PART: f64 = 30.0;
/// Items of a part, so that chains are moved together, unless it takes longer than this.
const ITEMS_OF_A_PART: usize = 16;
const LONG_PART: f64 = 600.0;

/// What a process computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All that is missing and that nobody else computes just now.
    All,
    /// One part of each task, from 1 on; then it ends, or waits for the others.
    Part {
        /// Which one.
        number: usize,
        /// Wait for the others.
        wait: bool,
    },
    /// Nothing: what is missing is named.
    Nothing,
}

/// Takes the results of a run folder, and adds to them.
#[derive(Debug)]
pub struct FolderCrew<'a> {
    folder: &'a RunFolder,
    share: Share,
    /// Tasks that have come up.
    tasks: AtomicUsize,
    /// Parts that were there already.
    ready: AtomicUsize,
    missing: Mutex<Option<Missing>>,
}

/// Parts that others have to compute before the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Their numbers, from 1 on.
    pub parts: Vec<usize>,
    /// Parts of the task.
    pub of: usize,
}

impl RunFolder {
    /// A crew that computes this share of the run.
    pub fn crew(&self, share: Share) -> FolderCrew<'_> {
        FolderCrew {
            folder: self,
            share,
            tasks: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            missing: Mutex::new(None),
        }
    }

    /// The ranges of a task, one for each part.
    pub(super) fn ranges(&self, task: &Task) -> Vec<Range<usize>> {
        task.split(self.header.parts.unwrap_or_else(|| {
            let parts = |seconds: f64| (task.seconds / seconds).ceil() as usize;
            let most = (task.items / ITEMS_OF_A_PART).max(parts(LONG_PART));
            parts(SECONDS_OF_A_PART).min(most)
        }))
    }
}

/// The file of a part within the folder of its task.
pub(super) fn file_name(items: &Range<usize>) -> String {
    format!("{}-{}.part", items.start, items.end)
}

impl FolderCrew<'_> {
    /// What others have to compute, if the run has ended for the lack of it.
    pub fn missing(&self) -> Option<Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many parts were not computed here, but found in the folder.
    pub fn ready(&self) -> usize {
        self.ready.load(Ordering::Relaxed)
    }

    /// One of the parts is this process's to compute.
    fn is_mine(&self, part: usize) -> bool {
        match self.share {
            Share::All => true,
            Share::Part { number, .. } => number == part,
            Share::Nothing => false,
        }
    }

    /// The result of a part: what is there, or what is computed now; none if it is another's.
    fn part(
        &self,
        work: &dyn Work,
        place: &Path,
        part: usize,
        items: &Range<usize>,
        hash: &str,
    ) -> Result<Option<Output>> {
        let file = place.join(file_name(items));
        if let Some(output) = read(&file, hash, items)? {
            self.ready.fetch_add(1, Ordering::Relaxed);
            work.advance(items.len());
            return Ok(Some(output));
        }
        if !self.is_mine(part) {
            return Ok(None);
        }
        let Some(_lock) = self.lock(place, items)? else {
            return match self.share {
                Share::Part { wait: false, .. } => Err(Error::orders(format!(
                    "part {part} of {} is being computed by another process; it need not be computed twice",
                    self.folder.path.display()
                ))),
                _ => Ok(None),
            };
        };
        // Somebody may have finished it a moment ago.
        if let Some(output) = read(&file, hash, items)? {
            self.ready.fetch_add(1, Ordering::Relaxed);
            work.advance(items.len());
            return Ok(Some(output));
        }
        let output = work.compute(items.clone())?;
        io::write_file(&file, &output.to_bytes(hash))?;
        Ok(Some(output))
    }

    /// The right to compute a part; none while another process has it.
    fn lock(&self, place: &Path, items: &Range<usize>) -> Result<Option<Claim>> {
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Claim::of(&self.folder.path.join("locks").join(format!("{name}-{}", file_name(items))))
    }

    /// Why the run cannot go on; `missing` are numbers of parts.
    fn lacks(&self, missing: Vec<usize>, of: usize) -> Error {
        let folder = self.folder.path.display();
        let (count, list) = (missing.len(), in_ranges(&missing));
        let problem = format!(
            "{folder} lacks {count} of {of} parts: {list}; `lnz work {folder} --part N` computes one, `lnz work {folder}` all that nobody is at"
        );
        *self.missing.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Missing { parts: missing, of });
        Error::orders(problem)
    }
}

impl Crew for FolderCrew<'_> {
    fn carry_out(&self, work: &dyn Work) -> Result<Vec<Output>> {
        let (task, folder) = (work.task(), &self.folder.path);
        let hash = task.sha256();
        let number = self.tasks.fetch_add(1, Ordering::Relaxed) + 1;
        let place = folder.join("orders").join(format!("{number:03}-{}", &hash[..16]));
        for needed in [&place, &folder.join("locks")] {
            std::fs::create_dir_all(needed).map_err(|error| cannot_write(needed, error))?;
        }
        if !place.join("task.json").exists() {
            let text = serde_json::to_vec(task).unwrap_or_default();
            io::write_file(&place.join("task.json"), &text)?;
        }
        let ranges = self.folder.ranges(task);
        let mut outputs: Vec<Option<Output>> = vec![None; ranges.len()];
        loop {
            for (k, items) in ranges.iter().enumerate() {
                if work.cancelled() {
                    let done = outputs.iter().flatten().count();
                    let reached = format!(
                        "after {done} of {} parts, which are kept in {}; the same command goes on there",
                        ranges.len(),
                        folder.display()
                    );
                    return Err(Error::Cancelled { reached });
                }
                if outputs[k].is_none() {
                    outputs[k] = self.part(work, &place, k + 1, items, &hash)?;
                }
            }
            if outputs.iter().all(Option::is_some) {
                return Ok(outputs.into_iter().flatten().collect());
            }
            let waits = matches!(self.share, Share::All | Share::Part { wait: true, .. });
            if !waits {
                let missing = (1..).zip(&outputs).filter(|(_, output)| output.is_none());
                return Err(self.lacks(missing.map(|(k, _)| k).collect(), ranges.len()));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }

    fn decide(&self, name: &str, decide: &mut dyn FnMut() -> Result<Value>) -> Result<Value> {
        let place = self.folder.path.join("decisions");
        let path = place.join(format!("{name}.json"));
        if let Some(value) = decision(&path)? {
            return Ok(value);
        }
        std::fs::create_dir_all(&place).map_err(|error| cannot_write(&place, error))?;
        let value = decide()?;
        let mut draft =
            tempfile::NamedTempFile::new_in(&place).map_err(|error| cannot_write(&path, error))?;
        let text = serde_json::to_vec(&value).unwrap_or_default();
        let written = draft.write_all(&text).and_then(|()| draft.as_file().sync_all());
        written.map_err(|error| cannot_write(&path, error))?;
        match draft.persist_noclobber(&path) {
            Ok(_) => Ok(value),
            // Another process was faster, and the first one decides.
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                Ok(decision(&path)?.unwrap_or(value))
            }
            Err(error) => Err(cannot_write(&path, error.error)),
        }
    }

    fn least_seconds(&self) -> f64 {
        self.folder.header.split_above
    }
}

/// The result in a file; none if there is no such file.
fn read(file: &Path, hash: &str, items: &Range<usize>) -> Result<Option<Output>> {
    let problem = match std::fs::read(file) {
        Ok(bytes) => match Output::from_bytes(&bytes, hash, items) {
            Ok(output) => return Ok(Some(output)),
            Err(problem) => format!("{problem}; delete it, and it is computed again"),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => format!("cannot be read: {error}"),
    };
    Err(library(unfit(file, problem)))
}

fn decision(path: &Path) -> Result<Option<Value>> {
    let problem = match std::fs::read(path) {
        Ok(text) => match serde_json::from_slice(&text) {
            Ok(value) => return Ok(Some(value)),
            Err(_) => {
                "is damaged; what was decided cannot be told, begin in another folder".to_owned()
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => format!("cannot be read: {error}"),
    };
    Err(library(unfit(path, problem)))
}

fn library(error: crate::Error) -> Error {
    match error {
        crate::Error::Library(error) => error,
        other => Error::orders(other.to_string()),
    }
}

/// Numbers for people: `3, 7-9`.
pub fn in_ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let words = runs.map(|run| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    words.collect::<Vec<_>>().join(", ")
}
