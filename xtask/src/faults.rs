//! `cargo xtask faults`: what the tool does when it is killed, when the disk is full, when memory is short,
//! and when two of it write into one place.

use crate::limits::release_tool;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

/// A fault: what happens, and a test of what should.
type Fault = (&'static str, fn(&Stage) -> Result<String, String>);

const FAULTS: [Fault; 8] = [
    ("kill -9 while a model is being trained, again and again", killed),
    ("a limit on the size of files (SIGXFSZ)", file_limit),
    ("a disk that is full (needs root, for a file system of its own)", full_disk),
    ("SIGINT, SIGTERM and SIGHUP", signals),
    ("two processes that train into one folder", two_writers),
    ("a limit on memory: a model that is too large", low_memory),
    ("a limit on memory: training that is too large", low_memory_training),
    ("parts of files that a killed process has left", abandoned_parts),
];

pub(crate) fn main() -> ExitCode {
    let stage = match Stage::new() {
        Ok(stage) => stage,
        Err(problem) => {
            eprintln!("FAILED: {problem}");
            return ExitCode::FAILURE;
        }
    };
    println!("| fault | what happened |\n|---|---|");
    let mut failed = 0;
    for (name, fault) in FAULTS {
        match fault(&stage) {
            Ok(said) => println!("| {name} | {said} |"),
            Err(problem) => {
                failed += 1;
                println!("| {name} | FAILED: {problem} |");
            }
        }
    }
    let _ = std::fs::remove_dir_all(&stage.folder);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The tool, and a folder to play in.
struct Stage {
    tool: PathBuf,
    folder: PathBuf,
}

impl Stage {
    fn new() -> Result<Self, String> {
        let tool = release_tool()?;
        let folder = std::env::temp_dir().join(format!("lnz-faults-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let stage = Self { tool, folder };
        // 400 examples of 64 values, as text.
        let line = |n: usize| {
            let values = (0..64).map(|i| if (n * i).is_multiple_of(7) { "1" } else { "0" });
            values.collect::<Vec<_>>().join(",") + "\n"
        };
        let data: String = (1..=400).map(line).collect();
        std::fs::write(stage.path("data.csv"), data).map_err(|error| error.to_string())?;
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn lnz(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tool);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn train(&self, out: &str, more: &[&str]) -> Command {
        let fixed = ["train", "--data", "data.csv", "--hidden", "16", "--out", out, "--quiet"];
        self.lnz(&[&fixed[..], &["--epochs", "10000000"], more].concat())
    }

    /// A command of the shell in which `lnz` is the tool.
    fn shell(&self, script: &str) -> Result<Output, String> {
        let script = script.replace("lnz ", &format!("'{}' ", self.tool.display()));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&self.folder).output().map_err(|e| e.to_string())
    }

    fn parts(&self, folder: &str) -> usize {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return 0 };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".part")).count()
    }
}

fn run(mut command: Command) -> Result<Output, String> {
    command.output().map_err(|error| error.to_string())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().replace('|', "/").to_owned()
}

fn wait_for(path: &Path) -> Result<(), String> {
    let clock = Instant::now();
    while !path.exists() {
        if clock.elapsed() > Duration::from_secs(60) {
            return Err(format!("{} did not come", path.display()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn send(signal: &str, child: &Child) -> Result<(), String> {
    let id = child.id().to_string();
    let kill = Command::new("kill").args([signal, &id]).status();
    kill.map(drop).map_err(|error| error.to_string())
}

/// Every file that is there after a kill can be read, and the run goes on.
fn killed(stage: &Stage) -> Result<String, String> {
    const KILLS: u64 = 40;
    for k in 0..KILLS {
        let resume: &[&str] = if k > 0 { &["--resume"] } else { &[] };
        let save = [&["--save-at", "all"][..], resume].concat();
        let mut child = stage.train("killed", &save).spawn().map_err(|error| error.to_string())?;
        wait_for(&stage.path("killed/state.safetensors"))?;
        // Moments that differ from kill to kill.
        std::thread::sleep(Duration::from_millis(20 + 37 * k % 113));
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
        for name in ["state.safetensors", "history.csv"] {
            if !stage.path("killed").join(name).is_file() {
                return Err(format!("{name} is gone after kill {k}"));
            }
        }
        let output = run(stage.lnz(&["inspect", "killed/state.safetensors"]))?;
        if !output.status.success() {
            return Err(format!("after kill {k}: {}", said(&output)));
        }
    }
    let output = run(stage.train("killed", &["--resume", "--max-seconds", "1"]))?;
    match output.status.success() {
        true => {
            Ok(format!("after each of {KILLS} kills the state was whole, and training went on"))
        }
        false => Err(said(&output)),
    }
}

fn file_limit(stage: &Stage) -> Result<String, String> {
    let output =
        stage.shell("ulimit -f 8; lnz generate gwgm --visible 200 --hidden 200 -o limited.npz")?;
    refused(stage, &output, 1, "limited.npz")
}

fn full_disk(stage: &Stage) -> Result<String, String> {
    std::fs::create_dir_all(stage.path("disk")).map_err(|error| error.to_string())?;
    let mounted = stage.shell("mount -t tmpfs -o size=64k tmpfs disk")?;
    if !mounted.status.success() {
        return Ok("not run: no file system could be mounted".to_owned());
    }
    let output = stage.shell("lnz generate gwgm --visible 200 --hidden 200 -o disk/full.npz")?;
    let (left, there) = (stage.parts("disk"), stage.path("disk/full.npz").exists());
    let unmounted = stage.shell("umount disk")?;
    match (output.status.code(), left, there, unmounted.status.success()) {
        (Some(1), 0, false, true) => Ok(format!("exit code 1, nothing left; {}", said(&output))),
        other => Err(format!("{other:?}: {}", said(&output))),
    }
}

/// A sentence, this exit code, and neither the file nor a part of it.
fn refused(stage: &Stage, output: &Output, code: i32, file: &str) -> Result<String, String> {
    let sentence = said(output);
    let parts = stage.parts(".");
    match output.status.code() == Some(code)
        && sentence.starts_with("error: ")
        && parts == 0
        && !stage.path(file).exists()
    {
        true => Ok(format!("exit code {code}, nothing left; {sentence}")),
        false => Err(format!("{}, {parts} parts left; {sentence}", output.status)),
    }
}

fn signals(stage: &Stage) -> Result<String, String> {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let out = format!("signal{signal}");
        let child = stage.train(&out, &[]).spawn().map_err(|error| error.to_string())?;
        wait_for(&stage.path(&out).join("state.safetensors"))?;
        let clock = Instant::now();
        send(signal, &child)?;
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if output.status.code() != Some(code) || clock.elapsed() > Duration::from_secs(5) {
            return Err(format!("{signal}: {} after {:?}", output.status, clock.elapsed()));
        }
        if stage.parts(&out) > 0 {
            return Err(format!("{signal}: parts are left"));
        }
    }
    Ok("exit codes 130, 143 and 129, and no part left".to_owned())
}

fn two_writers(stage: &Stage) -> Result<String, String> {
    let mut first = stage.train("two", &[]).spawn().map_err(|error| error.to_string())?;
    wait_for(&stage.path("two/state.safetensors"))?;
    let output = run(stage.train("two", &["--resume"]))?;
    first.kill().and_then(|()| first.wait()).map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(2) if said(&output).contains("another process") => {
            Ok(format!("the second one: exit code 2, {}", said(&output)))
        }
        code => Err(format!("{code:?}: {}", said(&output))),
    }
}

fn low_memory(stage: &Stage) -> Result<String, String> {
    let made = run(stage.lnz(&[
        "generate",
        "gwgm",
        "--visible",
        "4000",
        "--hidden",
        "2000",
        "-o",
        "large.npz",
    ]))?;
    if !made.status.success() {
        return Err(said(&made));
    }
    short_of_memory(
        &stage.shell("ulimit -v 400000; lnz estimate large.npz --method ais --threads 1")?,
    )
}

fn low_memory_training(stage: &Stage) -> Result<String, String> {
    short_of_memory(&stage.shell(
        "ulimit -v 1000000; lnz train --data data.csv --hidden 10000000 --epochs 1 --out low --threads 1",
    )?)
}

/// A sentence about memory, and no abort.
fn short_of_memory(output: &Output) -> Result<String, String> {
    let sentence = said(output);
    match output.status.code() {
        Some(1 | 2) if sentence.contains("memory") || sentence.contains("at most") => {
            Ok(format!("{}; {sentence}", output.status))
        }
        _ => Err(format!("{}; {sentence}", output.status)),
    }
}

fn abandoned_parts(stage: &Stage) -> Result<String, String> {
    let left = stage.path(".lnz-killed.part");
    std::fs::write(&left, "half a file").map_err(|error| error.to_string())?;
    let old = stage.shell("touch -d '2 hours ago' .lnz-killed.part")?;
    let made = run(stage.lnz(&["generate", "gwgm", "-o", "next.npz"]))?;
    match (old.status.success(), made.status.success(), left.exists()) {
        (true, true, false) => Ok("removed by the next file that is written there".to_owned()),
        other => Err(format!("{other:?}")),
    }
}
