//! The history of a training run as a figure.

use anyhow::Result;
use lnz::io::write_file;
use lnz_app::history::Row;
use lnz_app::page;
use lnz_app::session::Trained;
use lnz_figures::png;
use std::path::{Path, PathBuf};

/// Draws likelihood and log Z along training, where they were tracked twice or more.
pub(super) fn draw(trained: &Trained, folder: &Path) -> Result<Option<PathBuf>> {
    let epochs: Vec<_> = trained.history.rows().iter().map(Row::to_json).collect();
    let Some(figure) = page::history(&epochs) else { return Ok(None) };
    let svg = figure.svg("training");
    let path = folder.join("history.svg");
    write_file(&path, svg.as_bytes())?;
    write_file(&folder.join("history.png"), &png(&svg)?)?;
    Ok(Some(path))
}
