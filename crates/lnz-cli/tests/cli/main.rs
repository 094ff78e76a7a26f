//! The command-line tool as a user meets it: one process per question.

mod bad_input;
mod bench;
mod bounds;
mod commands;
mod data;
mod estimate;
mod files;
mod folders;
mod golden;
mod interrupt;
mod limits;
mod many;
mod output;
mod page;
mod paper;
mod run;
mod schema;
mod score;
mod server;
mod track;
mod train;
mod verdicts;
