//! `cargo xtask release`: everything that a release needs, made and checked here, and published nowhere.

use crate::environment::{self, Needs, ROOT, output};
use crate::outcome::Outcome;
use crate::{cargo, checks, python};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const STATIC_TARGET: &str = "x86_64-unknown-linux-musl";

/// The dry run that RELEASING.md describes.
pub(crate) fn dry_run() -> Outcome {
    let steps: [fn() -> Result<String, String>; 5] =
        [versions, licences, packages, wheel, static_tool];
    let mut said = Vec::new();
    for step in steps {
        match step() {
            Ok(words) => {
                println!("      {words}");
                said.push(words);
            }
            Err(reason) => return Outcome::Failed(reason),
        }
    }
    Outcome::Passed(said.join("; "))
}

/// Every file that names the version names the same one.
fn versions() -> Result<String, String> {
    let version = env!("CARGO_PKG_VERSION");
    let named = [
        ("Cargo.toml", format!("version = \"{version}\"")),
        ("CITATION.cff", format!("version: {version}\n")),
        ("packaging/conda/recipe.yaml", format!("version: \"{version}\"")),
        ("CHANGELOG.md", version.to_owned()),
    ];
    for (file, line) in named {
        if !read(file)?.contains(&line) {
            return Err(format!("{file} does not name the version {version}"));
        }
    }
    Ok(format!("version {version}"))
}

/// Every dependency can be used under licences that deny.toml allows.
fn licences() -> Result<String, String> {
    let allowed = allowed(&read("deny.toml")?);
    let arguments = ["metadata", "--format-version=1", "--locked"];
    let metadata: serde_json::Value = serde_json::from_str(&output(cargo().args(arguments))?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or("none");
        if !is_allowed(licence, &allowed) {
            let name = &package["name"];
            return Err(format!(
                "{name} has the licence {licence}, which deny.toml does not allow"
            ));
        }
    }
    Ok(format!("{} dependencies with allowed licences", packages.len()))
}

/// The names in the list `allow` of deny.toml.
fn allowed(text: &str) -> BTreeSet<String> {
    let list = text.split_once("allow = [").map_or("", |(_, rest)| rest);
    let list = list.split_once(']').map_or("", |(list, _)| list);
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// An expression of SPDX: all that are joined by AND are needed, one of those joined by OR.
fn is_allowed(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let plain = licence.replace('/', " OR ").replace("  ", " ");
    let needed = plain.split(" AND ");
    { needed }.all(|part| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.split(" OR ").any(|one| allowed.contains(one.trim()))
    })
}

/// Each crate compiles from its package.
fn packages() -> Result<String, String> {
    match checks::packages() {
        Outcome::Passed(_) | Outcome::Skipped(_) => Ok("crates compile from their packages".into()),
        Outcome::Failed(reason) => Err(reason),
    }
}

/// Everything that is shipped is built with this profile.
const PROFILE: &str = "dist";

/// The oldest systems that wheels for Linux are for: those with glibc 2.17, of 2014.
const OLDEST_LINUX: &str = "manylinux_2_17";

/// The wheel fits every Python from 3.10 on and the systems that its name says, and needs no Rust.
fn wheel() -> Result<String, String> {
    let target = environment::target_folder()?;
    let tools = environment::python(&target, Needs::Release)?;
    let folder = target.join("release-wheels");
    let _ = std::fs::remove_dir_all(&folder);
    let manifest = Path::new(ROOT).join("python/Cargo.toml");
    let mut build = Command::new(&tools);
    build.args(["-m", "maturin", "build", "--profile", PROFILE, "--locked", "--manifest-path"]);
    build.arg(manifest).arg("--out").arg(&folder).arg("--interpreter").arg(&tools);
    if cfg!(target_os = "linux") {
        build.args(["--zig", "--compatibility", OLDEST_LINUX]);
        // maturin asks the first Python on the path for zig.
        let own = tools.parent().map(Path::to_owned);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = own.into_iter().chain(std::env::split_paths(&path));
        build.env("PATH", std::env::join_paths(folders).map_err(|error| error.to_string())?);
    }
    output(&mut build)?;
    let wheel = only_file(&folder)?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !name.contains("-cp310-abi3-") {
        return Err(format!("{name} is not for every Python from 3.10 on"));
    }
    if cfg!(target_os = "linux") {
        // A second opinion: auditwheel reads which symbols of which libraries the wheel asks for.
        let said = output(Command::new(&tools).args(["-m", "auditwheel", "show"]).arg(&wheel))?;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        if !said.contains(&format!("following platform tag: \"{OLDEST_LINUX}_")) {
            return Err(format!("auditwheel on {name}: {said}"));
        }
    }
    let tried = match fresh(&tools, &target, &wheel)? {
        true => "works in an environment of its own without Rust",
        false => "NOT TRIED in an environment of its own: numpy cannot be had without a network",
    };
    Ok(format!("{name}, {}, {tried}", size(&wheel)?))
}

/// Installs the wheel as anybody would, where no compiler is in reach; false if numpy cannot be had.
fn fresh(tools: &Path, target: &Path, wheel: &Path) -> Result<bool, String> {
    let folder = target.join("release-fresh");
    output(Command::new(tools).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let python = environment::python_of(&folder);
    let install = |what: &[&std::ffi::OsStr]| {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]).args(what);
        output(pip.env("PATH", "/nowhere"))
    };
    if let Err(reason) = install(&["numpy".as_ref()]) {
        eprintln!("      SKIPPED: the wheel in a fresh environment: {reason}");
        return Ok(false);
    }
    install(&["--no-index".as_ref(), wheel.as_os_str()])?;
    python::without_rust(&python)?;
    Ok(true)
}

/// The tool as a program that needs no library of the system.
fn static_tool() -> Result<String, String> {
    let targets = Command::new("rustup").args(["target", "list", "--installed"]).output();
    let targets = targets.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
    if !targets.is_ok_and(|list| list.contains(STATIC_TARGET)) {
        return Ok(format!(
            "NOT MADE: the static tool, because `rustup target add {STATIC_TARGET}` is missing"
        ));
    }
    let arguments = ["build", "--profile", PROFILE, "--locked", "--package", "lnz-cli", "--target"];
    output(cargo().args(arguments).arg(STATIC_TARGET))?;
    let tool = environment::target_folder()?.join(STATIC_TARGET).join(PROFILE).join("lnz");
    let bytes = std::fs::read(&tool).map_err(|error| format!("{}: {error}", tool.display()))?;
    if has_interpreter(&bytes) {
        return Err(format!("{} asks for a dynamic linker", tool.display()));
    }
    let said = output(Command::new(&tool).args(["estimate", "gwgm-hard", "--json"]).env_clear())?;
    if !said.contains("\"verdict\":\"exact\"") {
        return Err(format!("{} says {said}", tool.display()));
    }
    let golden = ["test", "--profile", "checks", "--package", "lnz-cli", "--test", "cli", "golden"];
    output(cargo().args(golden).env("LNZ_BINARY", &tool))
        .map_err(|reason| format!("{} gives other bits: {reason}", tool.display()))?;
    Ok(format!("static tool, {}, all results on record to the last bit", size(&tool)?))
}

/// A program header of the kind PT_INTERP, which names a dynamic linker, in a 64-bit ELF file.
fn has_interpreter(elf: &[u8]) -> bool {
    let number = |at: usize, bytes: usize| {
        let field = elf.get(at..at + bytes).unwrap_or(&[0]);
        field.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)) as usize
    };
    let (first, each, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    (0..count).any(|k| number(first + k * each, 4) == 3)
}

fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let mut files = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let first = files.next().and_then(Result::ok).map(|entry| entry.path());
    first.ok_or_else(|| format!("{} is empty", folder.display()))
}

fn size(file: &Path) -> Result<String, String> {
    let length = std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(format!("{:.1} MB", length.len() as f64 / 1e6))
}

fn read(name: &str) -> Result<String, String> {
    let path = Path::new(ROOT).join(name);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_read_as_expressions() {
        let allowed = allowed("[licenses]\nallow = [\n \"MIT\", # why\n \"ISC\",\n]\n[bans]\n");
        for fine in ["MIT", "MIT OR GPL-3.0", "GPL-3.0/MIT", "(MIT OR X) AND ISC"] {
            assert!(is_allowed(fine, &allowed), "{fine}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "none", ""] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn every_file_names_the_version_and_every_licence_is_allowed() {
        versions().unwrap();
        licences().unwrap();
    }

    #[test]
    fn a_program_that_needs_a_linker_is_told() {
        let mut elf = vec![0; 0x40 + 2 * 0x38];
        elf[0x20] = 0x40;
        elf[0x36] = 0x38;
        elf[0x38] = 2;
        assert!(!has_interpreter(&elf));
        elf[0x40 + 0x38] = 3;
        assert!(has_interpreter(&elf));
        assert!(!has_interpreter(&[]));
    }
}
