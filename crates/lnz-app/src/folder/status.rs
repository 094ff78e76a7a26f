//! What a run folder has and what it lacks.

use super::crew::{file_name, in_ranges};
use super::{RunFolder, unfit};
use crate::Result;
use lnz::crew::Task;
use serde::Serialize;

/// What a run folder has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The command that began it.
    pub command: String,
    /// The tasks that have come up so far, in order.
    pub tasks: Vec<TaskStatus>,
    /// log Z, once the run is finished.
    pub log_z: Option<f64>,
}

/// What there is of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskStatus {
    /// What is done.
    pub kind: String,
    /// Parts.
    pub parts: usize,
    /// The numbers of those that are missing, from 1 on.
    pub missing: Vec<usize>,
    /// Predicted seconds of the missing ones on one core.
    pub seconds: f64,
}

impl RunFolder {
    /// What there is and what is missing.
    pub fn status(&self) -> Result<Status> {
        let mut places: Vec<_> = std::fs::read_dir(self.path.join("orders"))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        places.sort();
        let mut tasks = Vec::new();
        for place in places {
            let file = place.join("task.json");
            let Ok(text) = std::fs::read(&file) else { continue };
            let task: Task = serde_json::from_slice(&text)
                .map_err(|error| unfit(&file, format!("is damaged: {error}")))?;
            let ranges = self.ranges(&task);
            let lacks = |items: &std::ops::Range<usize>| !place.join(file_name(items)).exists();
            let missing = (1..).zip(&ranges).filter(|(_, items)| lacks(items));
            let missing: Vec<usize> = missing.map(|(part, _)| part).collect();
            let items: usize = missing.iter().map(|part| ranges[part - 1].len()).sum();
            let seconds = task.seconds * items as f64 / task.items.max(1) as f64;
            tasks.push(TaskStatus { kind: task.kind, parts: ranges.len(), missing, seconds });
        }
        let log_z = self.result().and_then(|result| result["log_z"].as_f64());
        Ok(Status { command: self.header.command.join(" "), tasks, log_z })
    }
}

impl Status {
    /// For people: a line for each task, and what to do next.
    pub fn to_text(&self, folder: &str) -> String {
        let mut text = format!("{}\n", self.command);
        for (k, task) in self.tasks.iter().enumerate() {
            let done = task.parts - task.missing.len();
            text += &format!("  task {}: {}, {done} of {} parts", k + 1, task.kind, task.parts);
            if !task.missing.is_empty() {
                let seconds = crate::numbers::about(task.seconds);
                let parts = in_ranges(&task.missing);
                text += &format!("; missing {parts}, {seconds} on one core");
            }
            text.push('\n');
        }
        let is_whole = self.tasks.iter().all(|task| task.missing.is_empty());
        text += &match (self.log_z, is_whole) {
            (Some(log_z), _) => format!("finished: log Z = {log_z}\n"),
            (None, true) => format!(
                "next: `lnz merge {folder}`, or `lnz work {folder}` if there is more to do\n"
            ),
            (None, false) => {
                format!("next: `lnz work {folder}`, or `lnz work {folder} --part N`\n")
            }
        };
        text
    }
}
