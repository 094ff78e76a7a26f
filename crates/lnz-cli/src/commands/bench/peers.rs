//! The methods of the league: those of lnz, and those of others that Python has installed.

use crate::args::SuiteArgs;
use crate::failure::usage;
use crate::interrupt;
use anyhow::{Context, Result};
use lnz::Method;
use lnz::io::{self, StoredModel};
use lnz::{Deadline, Observer, Rbm};
use lnz_app::league::Answer;
use lnz_app::request::{Request, StartKind};
use lnz_app::run;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = include_str!("peer.py");

/// What a peer is and what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    /// For the reader of the page.
    pub(super) about: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Default,
    Ais,
    /// A Python module.
    Python(&'static str),
}

const PEERS: [Peer; 4] = [
    Peer {
        name: "lnz",
        about: "the default method: exact where that is cheap, otherwise sampling and tests",
        kind: Kind::Default,
    },
    Peer {
        name: "ais",
        about: "plain annealed importance sampling of lnz, from the uniform start",
        kind: Kind::Ais,
    },
    Peer {
        name: "rbms",
        about: "annealed importance sampling of the Python package rbms",
        kind: Kind::Python("rbms"),
    },
    Peer {
        name: "torch",
        about: "plain annealed importance sampling in PyTorch, as one writes it, float64",
        kind: Kind::Python("torch"),
    },
];

/// The peers that were asked for and are here, and a word on each that is not.
pub(super) fn chosen(args: &SuiteArgs) -> Result<(Vec<Peer>, Vec<String>)> {
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for name in &args.peers {
        let Some(peer) = PEERS.iter().find(|peer| peer.name == name) else {
            let names: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
            return Err(usage(format!(
                "--peers has `{name}`, expected some of {}",
                names.join(", ")
            )));
        };
        match peer.kind {
            Kind::Python(module) => match installed(&args.python, module) {
                Ok(()) => here.push(*peer),
                Err(problem) => missing.push(format!("{name}: {problem}")),
            },
            _ => here.push(*peer),
        }
    }
    match here.is_empty() {
        true => Err(usage(format!("no peer is here: {}", missing.join("; ")))),
        false => Ok((here, missing)),
    }
}

fn installed(python: &Path, module: &str) -> Result<(), String> {
    let code = format!("import torch, numpy, {module}");
    match Command::new(python).args(["-c", &code]).stdin(Stdio::null()).output() {
        Err(error) => Err(format!("not run, {} cannot be started: {error}", python.display())),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let last = text.lines().last().unwrap_or("it cannot be imported").to_owned();
            Err(format!("not installed for {} ({last})", python.display()))
        }
    }
}

impl Peer {
    /// log Z of a model; the inner error says why there is none.
    pub(super) fn answer(
        &self,
        stored: &StoredModel,
        args: &SuiteArgs,
        observer: &dyn Observer,
    ) -> Result<Result<Answer, String>> {
        match self.kind {
            Kind::Python(_) => python(self.name, &stored.model, args),
            Kind::Default | Kind::Ais => self.own(stored, args, observer),
        }
    }

    fn own(
        &self,
        stored: &StoredModel,
        args: &SuiteArgs,
        observer: &dyn Observer,
    ) -> Result<Result<Answer, String>> {
        let mut request = Request::default();
        request.annealing.seed = args.seed;
        if self.kind == Kind::Ais {
            request.method = Method::Ais;
            request.annealing.betas = Some(args.betas);
            request.annealing.chains = Some(args.chains);
            request.start.start = Some(StartKind::Uniform);
        } else {
            request.max_seconds = Some(args.timeout);
        }
        // The known value must not help.
        let model = StoredModel::from(stored.model.clone());
        let clock = Instant::now();
        let deadline = Deadline::since(clock, args.timeout, observer);
        let outcome = run::estimate(&model, "model", &request.plan()?, clock, &deadline);
        let seconds = clock.elapsed().as_secs_f64();
        Ok(match outcome {
            Ok(outcome) => {
                let finding = outcome.report.finding;
                Ok(Answer {
                    log_z: finding.log_z,
                    interval: Some(finding.interval),
                    verdict: Some(finding.diagnosis.verdict),
                    seconds,
                })
            }
            Err(lnz_app::Error::Library(lnz::Error::Cancelled { .. })) => Err(late(args)),
            Err(error) => Err(error.to_string()),
        })
    }
}

fn late(args: &SuiteArgs) -> String {
    format!("no answer in {} seconds", args.timeout)
}

fn python(name: &str, model: &Rbm, args: &SuiteArgs) -> Result<Result<Answer, String>> {
    // In the temporary folder of the system, and gone afterwards whatever happens.
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let file = folder.path().join("model.npz");
    let plain = model.clone().with_constant(0.0)?;
    io::write_model(&file, &StoredModel::from(plain))?;
    let threads = rayon::current_num_threads();
    let mut child = Command::new(&args.python)
        .args(["-c", SCRIPT, name])
        .arg(&file)
        .args([args.betas, args.chains].map(|n| n.to_string()))
        .args([args.seed.to_string(), threads.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("--python {}", args.python.display()))?;
    // Imports take some seconds more, which are not counted.
    let until = Instant::now() + Duration::from_secs_f64(args.timeout + 60.0);
    loop {
        if child.try_wait()?.is_some() {
            break;
        }
        if Instant::now() > until || interrupt::requested() {
            child.kill()?;
            child.wait()?;
            return Ok(Err(late(args)));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: Option<Value> =
        text.lines().last().and_then(|line| serde_json::from_str(line).ok());
    let number = |key: &str| answer.as_ref().and_then(|answer| answer[key].as_f64());
    let (Some(log_z), Some(seconds)) = (number("log_z"), number("seconds")) else {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Ok(Err(errors.lines().last().unwrap_or("it said nothing").to_owned()));
    };
    if seconds > args.timeout {
        return Ok(Err(late(args)));
    }
    let log_z = log_z + model.constant();
    let interval = number("error").map(|error| [log_z - 1.96 * error, log_z + 1.96 * error]);
    Ok(Ok(Answer { log_z, interval, verdict: None, seconds }))
}
