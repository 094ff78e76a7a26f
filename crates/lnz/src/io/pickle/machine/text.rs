//! Text of the oldest pickles, which escape what is not a letter.

use super::damaged;
use crate::io::Parsed;

/// Text of protocol 0: one byte for each letter, and `\u` with four digits for the rest.
pub(super) fn raw_unicode(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let [byte, after @ ..] = rest {
        let digits = after.get(1..5).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = match (byte, after.first(), digits) {
            (b'\\', Some(b'u'), Some(digits)) => u32::from_str_radix(digits, 16).ok(),
            _ => None,
        };
        match code.and_then(char::from_u32) {
            Some(letter) => {
                text.push(letter);
                rest = &after[5..];
            }
            None => {
                text.push(char::from(*byte));
                rest = after;
            }
        }
    }
    text
}

/// Takes the quotes and escapes off a string of protocol 0.
pub(super) fn unescape(line: &[u8]) -> Parsed<Vec<u8>> {
    let line = line.trim_ascii_end();
    let inside = match line {
        [b'\'', inside @ .., b'\''] | [b'"', inside @ .., b'"'] => inside,
        _ => return Err(damaged()),
    };
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().ok_or_else(damaged)? {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'x' => {
                let mut digit = || rest.next().and_then(|d| char::from(d).to_digit(16));
                let (high, low) = (digit().ok_or_else(damaged)?, digit().ok_or_else(damaged)?);
                (16 * high + low) as u8
            }
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'0' => 0,
            other => other,
        });
    }
    Ok(bytes)
}
