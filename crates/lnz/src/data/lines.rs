//! The lines of a text file, none of them longer than it may be.

use super::packed::{Stream, unreadable};
use crate::io::Parsed;
use std::io::{BufRead, Read};

/// Reads one line after the other.
pub(super) struct Lines {
    stream: Stream,
    /// A longer line is taken for a file of another kind.
    longest: u64,
    /// The present line, with its end.
    pub(super) line: Vec<u8>,
    /// Its number, from 1 on.
    pub(super) number: usize,
    /// Read so far.
    pub(super) bytes: u64,
}

impl Lines {
    pub(super) fn new(stream: Stream, longest: u64) -> Self {
        Self { stream, longest, line: Vec::new(), number: 0, bytes: 0 }
    }

    /// Goes on to the next line; false at the end.
    pub(super) fn advance(&mut self) -> Parsed<bool> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.stream).take(self.longest).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| unreadable(&error))? as u64;
        self.bytes += read;
        if read == self.longest {
            return Err(format!("line {} is longer than {} bytes", self.number, self.longest));
        }
        Ok(read > 0)
    }
}
