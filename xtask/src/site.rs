//! The documentation site: its tutorials run, its references are generated, its links lead somewhere.

use crate::environment::{self, Needs, ROOT, output};
use crate::outcome::Outcome;
use crate::python;
use std::path::Path;
use std::process::Command;

/// Builds the site below the target folder.
pub(crate) fn test() -> Outcome {
    match build() {
        Ok(said) => Outcome::Passed(said),
        Err(reason) => Outcome::Failed(reason),
    }
}

fn build() -> Result<String, String> {
    let target = environment::target_folder()?;
    let tools = environment::python(&target, Needs::Peers)?;
    let wheel = python::build_wheel(&tools, &target)?;
    let python = python::install(&tools, &target, &wheel)?;
    let tool = environment::tool(&target)?;
    let site = target.join("site");
    let script = Path::new(ROOT).join("docs/site/build.py");
    let said = output(Command::new(&python).arg(script).arg(tool).arg(&site))?;
    Ok(said.trim().to_owned())
}
