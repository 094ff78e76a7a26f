//! A process that measures: requests and answers are lines of JSON.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(super) struct Worker {
    name: String,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{name} cannot be started: {error}"))?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.ok_or("a worker without standard output")?);
        Ok(Self { name, child, requests, answers })
    }

    pub(super) fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let name = self.name.clone();
        let failed = |what: &str| format!("{name} {what} when asked {request}");
        let mut line = String::new();
        self.requests
            .as_mut()
            .and_then(|stdin| writeln!(stdin, "{request}").and_then(|()| stdin.flush()).ok())
            .ok_or_else(|| failed("had ended"))?;
        self.answers.read_line(&mut line).map_err(|_| failed("did not answer"))?;
        if line.is_empty() {
            // The status tells a crash from a process that something else ended.
            let status = self.child.wait().map_or("unknown".into(), |status| status.to_string());
            return Err(failed(&format!("ended without an answer ({status})")));
        }
        let answer: Value =
            serde_json::from_str(&line).map_err(|_| failed("did not answer in JSON"))?;
        match &answer["error"] {
            Value::String(error) => Err(failed(&format!("said \"{error}\""))),
            _ => Ok(answer),
        }
    }
}

impl Drop for Worker {
    /// A worker ends when its requests do.
    fn drop(&mut self) {
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
