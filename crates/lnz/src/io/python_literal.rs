//! The few Python literals that a .npy header is made of.

use super::Parsed;

/// A value in a header.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Text(String),
    Bool(bool),
    Integers(Vec<usize>),
    /// A list: the fields of a record, which no array of numbers has.
    Other,
}

/// Parses `{'name': value, ...}`; anything after the closing brace is padding.
pub(super) fn parse_dict(text: &str) -> Parsed<Vec<(String, Literal)>> {
    let mut rest = Rest(text);
    rest.dict().ok_or_else(|| {
        let start: String = text.chars().take(60).collect();
        format!("its .npy header is not a Python dictionary: {start:?}; the file is damaged")
    })
}

/// The text that is still to be read; None means that it does not fit.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn dict(&mut self) -> Option<Vec<(String, Literal)>> {
        let mut fields = Vec::new();
        self.expect('{')?;
        while self.expect('}').is_none() {
            let key = self.quoted()?;
            self.expect(':')?;
            fields.push((key, self.value()?));
            if self.expect(',').is_none() {
                self.expect('}')?;
                break;
            }
        }
        Some(fields)
    }

    fn value(&mut self) -> Option<Literal> {
        match self.peek()? {
            '\'' | '"' => self.quoted().map(Literal::Text),
            '(' => self.integers().map(Literal::Integers),
            '[' => self.list(),
            _ => self.boolean(),
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.0 = self.0.trim_start();
        self.0.chars().next()
    }

    fn expect(&mut self, wanted: char) -> Option<()> {
        self.peek().filter(|&found| found == wanted)?;
        self.0 = &self.0[wanted.len_utf8()..];
        Some(())
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.peek().filter(|c| ['\'', '"'].contains(c))?;
        let (inside, rest) = self.0[1..].split_once(quote)?;
        self.0 = rest;
        Some(inside.to_owned())
    }

    fn integers(&mut self) -> Option<Vec<usize>> {
        let mut integers = Vec::new();
        self.expect('(')?;
        while self.expect(')').is_none() {
            self.peek()?;
            let end = self.0.find(|c: char| !c.is_ascii_digit())?;
            integers.push(self.0[..end].parse().ok()?);
            // Python 2 wrote long integers as `3L`.
            self.0 = self.0[end..].trim_start_matches('L');
            if self.expect(',').is_none() {
                self.expect(')')?;
                break;
            }
        }
        Some(integers)
    }

    /// Skips to the bracket that closes the list.
    fn list(&mut self) -> Option<Literal> {
        let mut depth = 0usize;
        for (at, c) in self.0.char_indices() {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                self.0 = &self.0[at + 1..];
                return Some(Literal::Other);
            }
        }
        None
    }

    fn boolean(&mut self) -> Option<Literal> {
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Some(Literal::Bool(value));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them_are_parsed() {
        let text = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 4), }      \n";
        let expected = [
            ("descr".to_owned(), Literal::Text("<f8".into())),
            ("fortran_order".to_owned(), Literal::Bool(true)),
            ("shape".to_owned(), Literal::Integers(vec![3, 4])),
        ];
        assert_eq!(parse_dict(text).unwrap(), expected);
        let shape = |text: &str| parse_dict(&format!("{{\"shape\":{text}}}")).unwrap()[0].1.clone();
        assert_eq!(shape("()"), Literal::Integers(vec![]));
        assert_eq!(shape("(3,)"), Literal::Integers(vec![3]));
        assert_eq!(shape("(3L, 2L)"), Literal::Integers(vec![3, 2]));
        assert_eq!(shape("[('a', '<f4', (2,)), ('b', [('c', '|u1')])]"), Literal::Other);
    }

    #[test]
    fn anything_else_is_refused() {
        let texts =
            ["", "{", "{'a'", "{'a': }", "{'a': (1 2)}", "{'a': (-1,)}", "{'a': [}", "{'a': 'b}"];
        for text in texts {
            assert!(parse_dict(text).is_err(), "{text}");
        }
        assert!(parse_dict("{'shape': (99999999999999999999999,)}").is_err());
    }
}
