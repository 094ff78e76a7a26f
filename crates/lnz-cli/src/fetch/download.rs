//! One HTTP request, which appends to the part of a file that an earlier one has left.
//!
//! Ctrl-C kills at once, here: every byte that has come is in the file, and the next call continues.

use crate::progress;
use anyhow::{Context, Result, bail};
use lnz_app::numbers::bytes;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use ureq::http::StatusCode;
use ureq::{Agent, Body, http::Response};

/// How a request ended, unless it broke off.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The file is there, to its last byte.
    Complete,
    /// The server does not give it.
    Refused(String),
    /// There is no server.
    Unreachable(String),
}

/// Silence of a server that is taken for a broken connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// No known file is nearly as large; a server that sends more is not to fill the disk.
const LARGEST: u64 = 1 << 30;

/// The largest known file takes this long at 10 kB/s, and nobody waits longer for a server that trickles.
const LONGEST: Duration = Duration::from_secs(3600);

/// Appends the rest of `url` to `part`, or begins anew where the server cannot continue.
pub(super) fn download(url: &str, part: &Path, quiet: bool) -> Result<Attempt> {
    let named = || part.display().to_string();
    let mut file = File::options().create(true).append(true).open(part).with_context(named)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        bail!("{} is being downloaded by another process; wait for it to end", part.display());
    }
    let mut have = file.metadata().with_context(named)?.len();
    let mut response = request(url, have);
    if matches!(&response, Ok(response) if !continues(response, have)) {
        // The server begins at the first byte, or has none from here on: so do we.
        file.set_len(0).with_context(named)?;
        if response.as_ref().is_ok_and(|response| response.status() != StatusCode::OK) {
            response = request(url, 0);
        }
        have = 0;
    }
    let attempt = match response {
        Ok(response) if response.status().is_success() => {
            return receive(url, response, &mut file, have, part, quiet);
        }
        Ok(response) => Attempt::Refused(format!("{url} answers {}", response.status())),
        Err(error) => Attempt::Unreachable(format!("{url} cannot be reached ({error})")),
    };
    if have == 0 {
        // Nothing is left behind of a file that is not there.
        drop(file);
        std::fs::remove_file(part).with_context(named)?;
    }
    Ok(attempt)
}

fn request(url: &str, from: u64) -> Result<Response<Body>, ureq::Error> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .user_agent(concat!("lnz/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let request = agent.get(url).header("Accept-Encoding", "identity");
    match from {
        0 => request.call(),
        from => request.header("Range", format!("bytes={from}-")).call(),
    }
}

/// The answer can be appended to the bytes that are there, or is none.
fn continues(response: &Response<Body>, have: u64) -> bool {
    match response.status() {
        StatusCode::PARTIAL_CONTENT => {
            let range =
                response.headers().get("content-range").and_then(|range| range.to_str().ok());
            range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")))
        }
        StatusCode::OK | StatusCode::RANGE_NOT_SATISFIABLE => have == 0,
        _ => true,
    }
}

fn receive(
    url: &str,
    mut response: Response<Body>,
    file: &mut File,
    mut have: u64,
    part: &Path,
    quiet: bool,
) -> Result<Attempt> {
    let total = response.body().content_length().map(|length| have.saturating_add(length));
    if total.is_some_and(|total| total > LARGEST) {
        return Err(too_large(url, file, part));
    }
    let begun = Instant::now();
    let name = url.rsplit('/').next().unwrap_or(url);
    let bar = progress::bytes_bar(quiet, name, total);
    let mut reader = response.body_mut().as_reader();
    let mut buffer = vec![0; 1 << 16];
    let outcome = loop {
        bar.set_position(have);
        let read = match reader.read(&mut buffer) {
            Ok(0) => break end(url, have, total, "the connection was closed"),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => break end(url, have, total.or(Some(u64::MAX)), &error.to_string()),
        };
        have += read as u64;
        if have > LARGEST {
            break Err(too_large(url, file, part));
        }
        if begun.elapsed() > LONGEST {
            break end(url, have, total.or(Some(u64::MAX)), "an hour is over");
        }
        if let Err(error) = file.write_all(&buffer[..read]) {
            break Err(anyhow::anyhow!("{}: cannot be written: {error}", part.display()));
        }
    };
    bar.finish_and_clear();
    outcome
}

/// Nothing is left behind of a body that cannot be the file.
fn too_large(url: &str, file: &File, part: &Path) -> anyhow::Error {
    // Emptied first: where an open file cannot be removed, it takes no room at least.
    let _ = file.set_len(0);
    let _ = std::fs::remove_file(part);
    anyhow::anyhow!("{url} sends more than {}; this is not the file", bytes(LARGEST))
}

/// The last byte, or where the connection broke off.
fn end(url: &str, have: u64, total: Option<u64>, problem: &str) -> Result<Attempt> {
    match total {
        Some(total) if have < total => {
            let of =
                if total == u64::MAX { String::new() } else { format!(" of {}", bytes(total)) };
            bail!(
                "{url}: cut after {}{of} ({problem}); what there is has been kept, and the same command continues from there",
                bytes(have)
            )
        }
        _ => Ok(Attempt::Complete),
    }
}
