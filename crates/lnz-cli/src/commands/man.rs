//! `lnz man`: manual pages, made from the same texts as the help.

use crate::args::{Cli, ManArgs};
use crate::failure::usage;
use crate::terminal;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use lnz::io;
use std::process::ExitCode;

pub(crate) fn run(args: &ManArgs) -> Result<ExitCode> {
    let mut program = Cli::command();
    program.build();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for command in pages(&program) {
            let path = folder.join(format!("{}.1", name_of(&command)));
            io::write_file(&path, page(command)?.as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let name = args.command.as_ref().map_or("lnz".to_owned(), |name| format!("lnz-{name}"));
    let found = pages(&program).into_iter().find(|command| name_of(command) == name);
    let command = found.ok_or_else(|| {
        usage(format!(
            "there is no command {}; `lnz help` lists them",
            name.trim_start_matches("lnz-")
        ))
    })?;
    terminal::print(&page(command)?)?;
    Ok(ExitCode::SUCCESS)
}

/// The program and its commands.
fn pages(program: &Command) -> Vec<Command> {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(program).chain(commands).cloned().collect()
}

/// The name of a page: `lnz-estimate`, as a program that has been built calls it.
fn name_of(command: &Command) -> &str {
    command.get_display_name().unwrap_or(command.get_name())
}

fn page(command: Command) -> Result<String> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
