//! The arguments of instructions, as they lie in a pickle.

use super::{FALSE, Machine, TRUE, damaged};
use crate::io::Parsed;
use crate::io::pickle::graph::Node;
use std::ops::Range;

impl Machine<'_> {
    pub(super) fn bytes(&mut self, count: usize) -> Parsed<&[u8]> {
        let range = self.range(count)?;
        Ok(&self.file[range])
    }

    /// The next bytes; none are copied before they are known to be there.
    pub(super) fn range(&mut self, count: usize) -> Parsed<Range<usize>> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.file.len());
        let end = end.ok_or("is a pickle that ends early; the file is cut short")?;
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        self.bytes(N)?.try_into().map_err(|_| damaged())
    }

    pub(super) fn unsigned(&mut self, bytes: usize) -> Parsed<u64> {
        Ok(self.bytes(bytes)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn sized(&mut self, bytes: usize) -> Parsed<Range<usize>> {
        let count = self.unsigned(bytes)?;
        self.range(usize::try_from(count).map_err(|_| damaged())?)
    }

    /// The rest of the line, without its end.
    pub(super) fn line(&mut self) -> Parsed<Range<usize>> {
        let rest = &self.file[self.at..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(damaged)?;
        let range = self.at..self.at + length;
        self.at += length + 1;
        Ok(range)
    }

    pub(super) fn number_line(&mut self) -> Parsed<u64> {
        let line = self.line()?;
        let text = std::str::from_utf8(&self.file[line]).map_err(|_| damaged())?;
        text.trim().parse().map_err(|_| damaged())
    }

    pub(super) fn int_line(&mut self) -> Parsed<()> {
        let line = self.line()?;
        let text = std::str::from_utf8(&self.file[line]).map_err(|_| damaged())?;
        match text.trim().trim_end_matches('L') {
            "01" => self.stack.push(TRUE),
            "00" => self.stack.push(FALSE),
            // An integer that is too long for us is no size, and kept as an inexact number.
            digits => {
                let float = digits.parse().map_err(|_| damaged())?;
                self.push(digits.parse().map_or(Node::Float(float), Node::Int))?;
            }
        }
        Ok(())
    }

    pub(super) fn global_lines(&mut self) -> Parsed<String> {
        let (module, name) = (self.line()?, self.line()?);
        let text = |range: Range<usize>| String::from_utf8_lossy(&self.file[range]).into_owned();
        Ok(format!("{}.{}", text(module), text(name)))
    }

    pub(super) fn long(&mut self, bytes: usize) -> Parsed<()> {
        let range = self.sized(bytes)?;
        let bytes = &self.file[range];
        let node = if bytes.len() <= 8 {
            let negative = bytes.last().is_some_and(|&last| last >= 0x80);
            let mut value = [if negative { 0xff } else { 0 }; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            Node::Int(i64::from_le_bytes(value))
        } else {
            Node::OwnBytes(bytes.iter().take(64).copied().collect())
        };
        self.push(node)
    }
}
