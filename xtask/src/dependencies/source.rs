//! Reads a Rust file as far as paths need it: words and signs without comments, text and tests.

/// A path of a `use` line or of an expression: `crate::auto::tally`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UsedPath {
    pub(super) segments: Vec<String>,
    /// The name under which a `use` line makes it known; none in an expression.
    pub(super) known_as: Option<String>,
}

/// What matters of a file.
#[derive(Debug)]
pub(super) struct Source {
    /// Modules that it declares in files of their own.
    pub(super) modules: Vec<String>,
    pub(super) paths: Vec<UsedPath>,
}

impl Source {
    pub(super) fn parse(text: &str) -> Self {
        let tokens = without_tests(tokens(text));
        let declared = tokens.windows(3).filter(|three| three[0] == "mod" && three[2] == ";");
        Self { modules: declared.map(|three| three[1].clone()).collect(), paths: paths(&tokens) }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words, `::`, and all other signs one by one; no comments and no text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            Some(block_comment(rest))
        } else if c.is_whitespace() {
            Some(c.len_utf8())
        } else {
            text_literal(rest)
        };
        if let Some(length) = skipped {
            rest = &rest[length..];
            continue;
        }
        let length = match c {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token.to_owned());
        rest = after;
    }
    tokens
}

/// Length of a comment that may have comments inside.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of the string or character that the text begins with; a lifetime is neither.
fn text_literal(text: &str) -> Option<usize> {
    let opened = text.trim_start_matches('b');
    let prefix = text.len() - opened.len();
    if let Some(raw) = opened.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let inside = raw[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let length = inside.find(&close).map_or(inside.len(), |at| at + close.len());
        return Some(prefix + 1 + hashes + 1 + length);
    }
    let quote = opened.chars().next().filter(|c| *c == '"' || *c == '\'')?;
    let mut inside = opened.char_indices().skip(1);
    if quote == '\'' {
        let mut next = opened.chars().skip(1);
        let (first, second) = (next.next()?, next.next());
        if first != '\\' && second != Some('\'') {
            return None;
        }
    }
    while let Some((at, c)) = inside.next() {
        match c {
            '\\' => drop(inside.next()),
            c if c == quote => return Some(prefix + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// Drops items under `#[cfg(test)]`: tests may use whatever they like.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].iter().take(mark.len()).eq(mark.iter()) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        at += mark.len();
        let mut depth = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 && (token == ";" || token == "}") {
                break;
            }
        }
    }
    kept
}

/// All paths of more than one word.
fn paths(tokens: &[String]) -> Vec<UsedPath> {
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_use = word(at) == "use";
        at += usize::from(is_use);
        let begins = word(at).starts_with(is_word) && word(at + 1) == "::";
        if is_use || begins {
            at = path_tree(tokens, at, &[], is_use, &mut found);
        }
        at += usize::from(!is_use && !begins);
    }
    found
}

/// Reads `a::b`, `a::{b, c as d}` or `a::*` and returns where it ends.
fn path_tree(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    is_use: bool,
    found: &mut Vec<UsedPath>,
) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut segments = before.to_vec();
    loop {
        match word(at) {
            "{" => {
                at += 1;
                while at < tokens.len() && word(at) != "}" {
                    at = path_tree(tokens, at, &segments, is_use, found);
                    at += usize::from(word(at) == ",");
                }
                return at + 1;
            }
            "*" => segments.push("*".to_owned()),
            // `use a::{self}` is `use a`.
            "self" if !segments.is_empty() => {}
            name if name.starts_with(is_word) => segments.push(name.to_owned()),
            _ => {}
        }
        at += 1;
        if word(at) != "::" {
            break;
        }
        at += 1;
    }
    let mut name = segments.last().cloned();
    if is_use && word(at) == "as" {
        name = Some(word(at + 1).to_owned());
        at += 2;
    }
    found.push(UsedPath { segments, known_as: name.filter(|_| is_use) });
    at
}
