//! The option for a page, and the command that repeats a run.

use anyhow::Result;
use clap::Args;
use lnz::io;
use std::path::PathBuf;

/// Whether a page is wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run and output")]
pub(crate) struct ReportArgs {
    /// Write a page with figures, settings and the result: one HTML file that needs no other file
    #[arg(id = "report", long = "report", value_name = "FILE.html")]
    path: Option<PathBuf>,
}

impl ReportArgs {
    /// Refuses a file that cannot be written, before the first second of work.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.path {
            Some(path) => Ok(io::check_npy_path(path)?),
            None => Ok(()),
        }
    }

    /// Writes the page that is made with the command that was typed.
    pub(crate) fn write(&self, page: impl FnOnce(&str) -> String) -> Result<()> {
        self.write_repeating("", page)
    }

    /// The same for a run that only repeats itself with one more option.
    pub(crate) fn write_repeating(
        &self,
        more: &str,
        page: impl FnOnce(&str) -> String,
    ) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
        let command = repeating(typed.collect(), more);
        Ok(io::write_file(path, page(&command).as_bytes())?)
    }
}

/// The command without its page, as a shell reads it.
fn repeating(typed: Vec<String>, more: &str) -> String {
    let mut words = vec!["lnz".to_owned()];
    let mut typed = typed.into_iter();
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--report" => drop(typed.next()),
            word if word.starts_with("--report=") => {}
            word => words.push(quoted(word)),
        }
    }
    let has_it = more.split(' ').next().is_some_and(|name| words.iter().any(|word| word == name));
    if !more.is_empty() && !has_it {
        words.push(more.to_owned());
    }
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=%+@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_on_the_page_makes_the_same_result() {
        let typed = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            repeating(typed("estimate m.npz --report run.html -q"), "--rounds 3"),
            "lnz estimate m.npz -q --rounds 3"
        );
        assert_eq!(
            repeating(typed("estimate it's;rm --report=x --rounds 3"), "--rounds 3"),
            r"lnz estimate 'it'\''s;rm' --rounds 3"
        );
    }
}
