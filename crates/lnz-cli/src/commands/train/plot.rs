//! The history of a training run as a figure.

use anyhow::Result;
use lnz::io::write_file;
use lnz::train::Tracked;
use lnz_app::history::Row;
use lnz_figures::{Axis, Figure, Panel, Series, Style, png};
use std::path::{Path, PathBuf};

/// Draws likelihood and log Z along training, where they were tracked twice or more.
pub(super) fn draw(rows: &[Row], folder: &Path) -> Result<Option<PathBuf>> {
    let points = |of: fn(&Tracked) -> Option<f64>| {
        let at = |row: &Row| Some([row.epoch as f64, of(row.tracked.as_ref()?)?]);
        rows.iter().filter_map(at).collect::<Vec<[f64; 2]>>()
    };
    let train = points(|tracked| tracked.train);
    if train.len() < 2 {
        return Ok(None);
    }
    let validation = points(|tracked| tracked.validation);
    let mut likelihood =
        Panel::new("", Axis::linear("epoch"), Axis::linear("mean log-likelihood (nats)"))
            .with(Series::new("train", train, Style::new(0)));
    if !validation.is_empty() {
        likelihood = likelihood.with(Series::new("validation", validation, Style::new(1)));
    }
    let log_z = points(|tracked| Some(tracked.log_z));
    let log_z = Panel::new("", Axis::linear("epoch"), Axis::linear("log Z")).with(Series::new(
        "log Z",
        log_z,
        Style::new(2),
    ));
    let svg = Figure::new(vec![likelihood, log_z]).svg("training");
    let path = folder.join("history.svg");
    write_file(&path, svg.as_bytes())?;
    write_file(&folder.join("history.png"), &png(&svg)?)?;
    Ok(Some(path))
}
