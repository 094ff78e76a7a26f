//! Runs a command and keeps of its answer what is the same on every machine.

use crate::files::Folder;
use crate::run::lnz;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Fields and columns that depend on the machine, the day or the version.
const VOLATILE: [&str; 10] = [
    "run",
    "seconds",
    "start_seconds",
    "track_seconds",
    "threads",
    "machine",
    "instruction_set",
    "date",
    "lnz",
    "trained_by",
];

/// The folder in which the commands run, with the bytes of all its files so far.
pub(crate) struct Stage {
    folder: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Stage {
    pub(crate) fn new(folder: &Folder) -> Self {
        let folder = PathBuf::from(folder.path(""));
        let files = files(&folder);
        Self { folder, files }
    }

    /// The answer to one command: what it printed, and the files that it wrote or changed. As in a shell, ` > FILE`
    /// at the end keeps what was printed in a file, for a later command.
    pub(crate) fn run(&mut self, command: &str) -> Value {
        let (words, target) = command.split_once(" > ").unwrap_or((command, ""));
        let arguments: Vec<&str> = words.split_whitespace().collect();
        let mut output = lnz(&arguments).current_dir(&self.folder).output().unwrap();
        if !target.is_empty() {
            fs::write(self.folder.join(target), std::mem::take(&mut output.stdout)).unwrap();
        }
        let mut answer = Map::new();
        answer.insert("command".to_owned(), json!(command));
        answer.insert("exit".to_owned(), json!(output.status.code()));
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if stdout.starts_with('{') {
            let object = serde_json::from_str(&stdout).unwrap();
            answer.insert("json".to_owned(), settled(object));
        } else if !stdout.is_empty() {
            answer.insert("text".to_owned(), settled_lines(&stdout));
        }
        // On a busy machine a command takes minutes, and says each minute how far it is: `lnz: 1 min 0 s, ...`.
        let is_news = |line: &&str| {
            let said = line.strip_prefix("lnz: ");
            said.is_some_and(|said| said.starts_with(|c: char| c.is_ascii_digit()))
        };
        let complaints: Vec<&str> = stderr.lines().filter(|line| !is_news(line)).collect();
        // Kept even if empty: a new field is allowed, a new complaint is not.
        answer.insert("stderr".to_owned(), settled_lines(&complaints.join("\n")));
        let before = std::mem::replace(&mut self.files, files(&self.folder));
        let is_new = |(name, bytes): &(&String, &Vec<u8>)| before.get(*name) != Some(*bytes);
        let written: Map<String, Value> = (self.files.iter().filter(is_new))
            .map(|(name, bytes)| (name.clone(), contents(name, bytes)))
            .collect();
        if !written.is_empty() {
            answer.insert("files".to_owned(), Value::Object(written));
        }
        Value::Object(answer)
    }
}

/// All files by their path in the folder, except pictures that other programs' code has rasterised.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(file, b)| (format!("{name}/{file}"), b)));
        } else if !name.ends_with(".png") {
            found.insert(name.to_owned(), fs::read(&path).unwrap());
        }
    }
    found
}

/// Tables by column, models by tensor, so that new ones are allowed; of other files the hash.
fn contents(name: &str, bytes: &[u8]) -> Value {
    match name.rsplit_once('.').unwrap().1 {
        "safetensors" => tensors(bytes),
        "json" => settled(serde_json::from_slice(bytes).unwrap()),
        "csv" => settled(columns(std::str::from_utf8(bytes).unwrap())),
        _ => json!(sha256(bytes)),
    }
}

fn tensors(bytes: &[u8]) -> Value {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (header, data) = bytes[8..].split_at(length);
    let mut header: Map<String, Value> = serde_json::from_slice(header).unwrap();
    let metadata = header.remove("__metadata__").unwrap_or_else(|| json!({}));
    for tensor in header.values_mut() {
        let offsets = tensor["data_offsets"].take();
        let [start, end] = [0, 1].map(|n| offsets[n].as_u64().unwrap() as usize);
        let (dtype, shape) = (tensor["dtype"].take(), tensor["shape"].take());
        *tensor = json!({"dtype": dtype, "shape": shape, "sha256": sha256(&data[start..end])});
    }
    json!({"metadata": settled(metadata), "tensors": header})
}

fn columns(table: &str) -> Value {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let column = |n: usize| rows.iter().map(|row| json!(row[n])).collect::<Value>();
    names.iter().enumerate().map(|(n, name)| ((*name).to_owned(), column(n))).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn settled(value: Value) -> Value {
    match value {
        Value::Object(fields) => (fields.into_iter())
            .filter(|(name, _)| !VOLATILE.contains(&name.as_str()))
            .map(|(name, value)| (name, settled(value)))
            .collect(),
        Value::Array(values) => values.into_iter().map(settled).collect(),
        other => other,
    }
}

fn settled_lines(text: &str) -> Value {
    text.lines().map(settled_line).collect()
}

/// The words of a line, with durations and numbers of threads replaced. Blanks do not count, since the width of
/// columns depends on durations; nor does the time for a start, which is told from a millisecond on.
fn settled_line(line: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let unit = words.peek().map_or("", |next| bare(next));
        let is_number = word == "one" || bare(word).chars().all(|c| c.is_ascii_digit() || c == '.');
        let placeholder = match unit {
            "ns" | "us" | "µs" | "ms" | "s" | "min" | "h" | "d" => "TIME",
            "thread" | "threads" => "THREADS",
            _ => "",
        };
        if is_number && !placeholder.is_empty() {
            words.next();
            kept.pop_if(|last| placeholder == "TIME" && *last == "under");
            kept.push(placeholder);
        } else {
            kept.push(word);
        }
    }
    kept.join(" ").replace("TIME start in TIME", "TIME")
}

fn bare(word: &str) -> &str {
    word.trim_matches([',', '.', ';', ':', '(', ')'])
}

#[test]
fn durations_and_threads_are_replaced() {
    let line = "  cost     320 chain-steps in under 1 ms, start in 7.4 ms  on one thread";
    assert_eq!(settled_line(line), "cost 320 chain-steps in TIME on THREADS");
    let same = "log Z 66.265367 ± under 0.000001";
    assert_eq!(settled_line(same), same);
}

#[test]
fn a_table_is_kept_by_column_without_seconds() {
    let kept = settled(columns("epoch,seconds,log_z\n0,0.1,7\n1,0.2,7.5\n"));
    assert_eq!(kept, json!({"epoch": ["0", "1"], "log_z": ["7", "7.5"]}));
}
