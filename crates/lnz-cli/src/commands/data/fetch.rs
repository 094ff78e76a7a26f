//! `lnz data fetch`: a well-known data set into the cache or another folder.

use crate::args::FetchArgs;
use crate::failure::usage;
use crate::fetch::{self, Fetched};
use crate::terminal::{self, Table, good};
use anyhow::Result;
use lnz_app::data_sets::{KnownFile, KnownSet};
use lnz_app::numbers::bytes;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &FetchArgs) -> Result<ExitCode> {
    let set = KnownSet::named(&args.set)
        .ok_or_else(|| usage(format!("`{}` is no known data set", args.set)))?;
    let bases: Vec<String> = match &args.url {
        Some(url) if !(url.starts_with("http://") || url.starts_with("https://")) => {
            return Err(usage(format!("--url is {url}; expected http://... or https://...")));
        }
        Some(url) => vec![url.clone()],
        None => set.bases.iter().map(|&base| base.to_owned()).collect(),
    };
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => set.cache().map_err(|error| usage(format!("{error}, or use --dir")))?,
    };
    let files = fetch::fetch_all(set.files, &folder, &bases, args.quiet)?;
    let files: Vec<_> = set.files.iter().zip(files).collect();
    if args.json {
        terminal::print_json(&to_json(&set, &folder, &files))?;
    } else {
        terminal::print(&to_text(&set, &folder, &files, args.dir.is_none()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_text(
    set: &KnownSet,
    folder: &Path,
    files: &[(&KnownFile, Fetched)],
    in_cache: bool,
) -> String {
    let mut table = Table::default();
    table.line(set.name, folder.display().to_string());
    for (_, file) in files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let done = if file.is_new { "fetched" } else { "was there" };
        let checked = good().apply_to("contents as published");
        table.line("", format!("{name:<27} {:>8}  {done}, {checked}", bytes(file.bytes)));
    }
    if in_cache {
        let names: Vec<String> =
            set.files.iter().filter_map(|file| Some(format!("--data {}", file.alias?))).collect();
        table.line("use", names.join(", "));
    }
    table.text()
}

fn to_json(set: &KnownSet, folder: &Path, files: &[(&KnownFile, Fetched)]) -> Value {
    let file = |(known, file): &(&KnownFile, Fetched)| {
        json!({
            "path": file.path,
            "bytes": file.bytes,
            "contents_sha256": known.sha256,
            "fetched": file.is_new,
            "name": known.alias,
        })
    };
    json!({
        "schema": lnz_app::schema::VERSION,
        "set": set.name,
        "folder": folder,
        "files": files.iter().map(file).collect::<Vec<_>>(),
    })
}
