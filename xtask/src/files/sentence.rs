//! Reads the sentence that a source file opens with.

/// The first sentence of the `//!` lines at the top of a Rust file.
pub(super) fn of_rust(text: &str) -> Result<String, String> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    first(&paragraph.join(" "), "a `//!` line")
}

/// The first sentence of the docstring at the top of a Python file.
pub(super) fn of_python(text: &str) -> Result<String, String> {
    let docstring = text.trim_start().strip_prefix("\"\"\"").unwrap_or_default();
    let docstring = docstring.split("\"\"\"").next().unwrap_or_default();
    let lines = docstring.lines().map(str::trim);
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    first(&paragraph.join(" "), "a docstring")
}

/// The first sentence of a paragraph, with links to items as plain names.
fn first(paragraph: &str, place: &str) -> Result<String, String> {
    if paragraph.is_empty() {
        return Err(format!("does not open with a sentence on its purpose; write one in {place}"));
    }
    match end(paragraph) {
        Some(end) => Ok(paragraph[..end].replace("[`", "`").replace("`]", "`")),
        None => Err(format!("opens with words that are not a sentence: `{paragraph}`")),
    }
}

/// Behind the first full stop that ends a sentence: one outside of code, with nothing behind it or a
/// space and a word that does not go on in small letters or digits, as in `Fig. 4` and `e.g. this`.
fn end(paragraph: &str) -> Option<usize> {
    let mut in_code = false;
    for (at, sign) in paragraph.char_indices() {
        in_code ^= sign == '`';
        if sign != '.' || in_code {
            continue;
        }
        let rest = &paragraph[at + 1..];
        let next = rest.trim_start().chars().next();
        let goes_on = next.is_some_and(|next| next.is_lowercase() || next.is_ascii_digit());
        if rest.is_empty() || (rest.starts_with(' ') && !goes_on) {
            return Some(at + 1);
        }
    }
    None
}
