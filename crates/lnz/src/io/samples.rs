//! Files of states that were drawn.

use super::{npy, npz, save};
use crate::{Error, Result, Samples};
use std::path::Path;

/// Writes states with their phases as .npz (`visible`, `hidden` and `phase`), or the visible units alone as
/// .npy or .csv; whole or not at all.
pub fn write_samples(path: &Path, samples: &Samples) -> Result<()> {
    let write = samples_writer(path)?;
    save::write_whole(path, |writer| write(writer, samples))
}

/// Fails as [`write_samples`] would, if the path is at fault; nothing is left behind.
pub fn check_samples_path(path: &Path) -> Result<()> {
    samples_writer(path)?;
    save::check_writable(path)
}

type WriteSamples = fn(&mut dyn std::io::Write, &Samples) -> std::io::Result<()>;

fn samples_writer(path: &Path) -> Result<WriteSamples> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => Ok(|writer, samples| {
            let phase: Vec<u8> = samples.phase.iter().map(|&k| k as u8).collect();
            let arrays = [
                ("visible", samples.visible.view().into_dyn()),
                ("hidden", samples.hidden.view().into_dyn()),
                ("phase", ndarray::ArrayView1::from(&phase).into_dyn()),
            ];
            npz::write_bytes(writer, &arrays)
        }),
        Some("npy") => Ok(|writer, samples| {
            let bytes: Vec<u8> = samples.visible.iter().copied().collect();
            npy::write_bytes(writer, samples.visible.shape(), &bytes)
        }),
        Some("csv") => Ok(|writer, samples| {
            samples.visible.rows().into_iter().try_for_each(|row| {
                let units: Vec<&str> = row.iter().map(|&on| ["0", "1"][usize::from(on)]).collect();
                writeln!(writer, "{}", units.join(","))
            })
        }),
        _ => {
            let problem = "its extension names no format for states; use .npz, .npy or .csv";
            Err(Error::not_writable(path, problem.to_owned()))
        }
    }
}
