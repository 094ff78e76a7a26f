//! Checks that no crate or module uses one above it, and that none use each other in a circle.

mod modules;
mod source;
#[cfg(test)]
mod tests;

use modules::{Modules, cycles};
use std::collections::BTreeSet;
use std::path::Path;

/// A crate: its name in paths, its folder, and the crates of this project that it may use.
struct Crate {
    name: &'static str,
    folder: &'static str,
    may_use: &'static [&'static str],
}

/// From top to bottom.
const CRATES: [Crate; 9] = [
    Crate {
        name: "lnz_cli",
        folder: "crates/lnz-cli",
        may_use: &["lnz_paper", "lnz_figures", "lnz_app", "lnz"],
    },
    Crate { name: "lnz_fuzz", folder: "fuzz", may_use: &["lnz_app", "lnz"] },
    Crate { name: "_lnz", folder: "python", may_use: &["lnz_figures", "lnz_app", "lnz"] },
    Crate {
        name: "lnz_paper",
        folder: "crates/lnz-paper",
        may_use: &["lnz_figures", "lnz_app", "lnz"],
    },
    Crate { name: "lnz_figures", folder: "crates/lnz-figures", may_use: &[] },
    Crate { name: "lnz_app", folder: "crates/lnz-app", may_use: &["lnz_figures", "lnz"] },
    Crate { name: "lnz", folder: "crates/lnz", may_use: &["lnz_kernels"] },
    Crate { name: "lnz_kernels", folder: "crates/lnz-kernels", may_use: &[] },
    Crate { name: "xtask", folder: "xtask", may_use: &[] },
];

/// Modules of `lnz` from top to bottom: each may use its own layer and those below. Every module has a layer;
/// names of modules that are still to come do no harm.
const LAYERS: [&[&str]; 7] = [
    &["train", "score", "likelihood"],
    &["estimate"],
    &["check", "choice", "sampling"],
    &["walk"],
    &["path", "chains"],
    &["builtin", "data", "energy", "identity", "io", "model", "problems"],
    &["crew", "duration", "error", "json", "math", "memory", "observer", "random"],
];

/// Cycles that are still there: the crate, the module around them, the members. This list only shrinks.
const KNOWN_CYCLES: &[(&str, &str, &[&str])] = &[];

/// Upward arrows of `lnz` that are still there. This list only shrinks.
const KNOWN_UPWARD: &[(&str, &str)] = &[];

/// Reads the sources below the top of the workspace; what is wrong, or how much was read.
pub(crate) fn check(top: &Path) -> Result<String, String> {
    let mut problems = unlisted(top)?;
    let mut cycles_seen = BTreeSet::new();
    let mut count = 0;
    for one in &CRATES {
        let read =
            |file: &str| std::fs::read_to_string(top.join(one.folder).join("src").join(file)).ok();
        let modules = Modules::load(&read).map_err(|error| format!("{}: {error}", one.folder))?;
        count += modules.len();
        problems.extend(upward_crates(one, &modules));
        for (around, graph) in modules.graphs() {
            for cycle in cycles(&graph) {
                cycles_seen.insert(cycle_name(one.name, &around.join("::"), &cycle));
            }
        }
        if one.name == "lnz" {
            problems.extend(layers(&modules, &LAYERS, KNOWN_UPWARD));
        }
    }
    let known = KNOWN_CYCLES.iter().map(|(name, around, cycle)| cycle_name(name, around, cycle));
    problems.extend(differences(
        "these modules use each other, directly or around corners",
        "KNOWN_CYCLES",
        cycles_seen,
        known.collect(),
    ));
    match problems.is_empty() {
        true => Ok(format!("{count} files of {} crates", CRATES.len())),
        false => Err(problems.join("\n")),
    }
}

/// Crates that nobody has given a place.
fn unlisted(top: &Path) -> Result<Vec<String>, String> {
    let folders =
        std::fs::read_dir(top.join("crates")).map_err(|error| format!("crates: {error}"))?;
    let names = folders.flatten().map(|entry| format!("crates/{}", entry.file_name().display()));
    let unknown = names.filter(|name| CRATES.iter().all(|one| one.folder != name));
    Ok(unknown.map(|name| format!("{name}: add it to CRATES in {}", file!())).collect())
}

fn cycle_name(name: &str, around: &str, members: &[&str]) -> String {
    let place = if around.is_empty() { name.to_owned() } else { format!("{name}::{around}") };
    format!("{place}: {}", members.join(", "))
}

/// Crates of this project that a crate uses although they are not below it.
fn upward_crates(one: &Crate, modules: &Modules) -> Vec<String> {
    let used = modules.crates();
    let ours = CRATES.iter().filter(|other| other.name != one.name && used.contains(other.name));
    let wrong = ours.filter(|other| !one.may_use.contains(&other.name));
    wrong
        .map(|other| {
            let allowed =
                if one.may_use.is_empty() { "nothing".to_owned() } else { one.may_use.join(", ") };
            format!("{} uses {}, but may only use {allowed}", one.name, other.name)
        })
        .collect()
}

/// Arrows from a lower layer to a higher one, and modules without a layer.
fn layers(modules: &Modules, layers: &[&[&str]], known: &[(&str, &str)]) -> Vec<String> {
    let layer = |name: &str| layers.iter().position(|layer| layer.contains(&name));
    let mut problems: Vec<String> = modules
        .top()
        .filter(|name| layer(name).is_none())
        .map(|name| {
            format!("lnz: the module `{name}` has no layer; add it to LAYERS in {}", file!())
        })
        .collect();
    let graphs = modules.graphs();
    let arrows = graphs.get(&Vec::new()).into_iter().flatten();
    let arrows =
        arrows.flat_map(|(from, to)| to.iter().map(move |to| (from.as_str(), to.as_str())));
    let found = arrows.filter(|(from, to)| layer(from) > layer(to));
    let arrow = |(from, to): (&str, &str)| format!("lnz {from} -> {to}");
    problems.extend(differences(
        "this arrow points upwards",
        "KNOWN_UPWARD",
        found.map(arrow).collect(),
        known.iter().copied().map(arrow).collect(),
    ));
    problems
}

/// What was found and is not known, and what is known and was not found.
fn differences(
    what: &str,
    list: &str,
    found: BTreeSet<String>,
    known: BTreeSet<String>,
) -> Vec<String> {
    let new = found.difference(&known).map(|one| format!("{one}: {what}"));
    let gone = known.difference(&found);
    let gone = gone.map(|one| format!("{one}: is gone, remove it from {list} in {}", file!()));
    new.chain(gone).collect()
}
