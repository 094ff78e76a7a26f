//! Where, when and for how long an experiment ran: a JSON file next to its CSV file.

use crate::error::{Error, Result};
use crate::results::Results;
use crate::scale::Scale;
use lnz_app::provenance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) lnz: String,
    pub(crate) scale: String,
    pub(crate) machine: String,
    pub(crate) instruction_set: String,
    /// Of the last run that computed anything, UTC.
    pub(crate) date: String,
    /// Time that passed, over all runs that computed something.
    pub(crate) seconds: f64,
    /// Time on one thread, by method.
    pub(crate) methods: BTreeMap<String, Spent>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) runs: usize,
    pub(crate) seconds: f64,
}

impl Record {
    /// The record so far; an unreadable one only loses times.
    pub(crate) fn read(results: &Results, name: &str) -> Self {
        std::fs::read(results.path(&file(name)))
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    pub(crate) fn count(&mut self, method: &str, seconds: f64) {
        let spent = self.methods.entry(method.to_owned()).or_default();
        spent.runs += 1;
        spent.seconds += seconds;
    }

    /// Adds what was spent here, in so many seconds.
    pub(crate) fn finish(&mut self, scale: &Scale, seconds: f64, spent: &Self) {
        for (method, more) in &spent.methods {
            let sum = self.methods.entry(method.clone()).or_default();
            sum.runs += more.runs;
            sum.seconds += more.seconds;
        }
        self.lnz = env!("CARGO_PKG_VERSION").to_owned();
        self.scale = scale.name.to_owned();
        self.machine = format!("{}, {} cores", provenance::processor(), provenance::cores());
        self.instruction_set = lnz::instruction_set().to_owned();
        self.date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
        self.seconds += seconds;
    }

    pub(crate) fn write(&self, results: &Results, name: &str) -> Result<()> {
        let rounded = Record {
            seconds: tenths(self.seconds),
            methods: self
                .methods
                .iter()
                .map(|(name, spent)| {
                    (name.clone(), Spent { seconds: tenths(spent.seconds), ..*spent })
                })
                .collect(),
            ..self.clone()
        };
        let text = serde_json::to_string_pretty(&rounded).map_err(|error| Error::Output {
            path: results.path(&file(name)),
            problem: error.to_string(),
        })?;
        results.write(&file(name), (text + "\n").as_bytes()).map(drop)
    }
}

fn file(name: &str) -> String {
    format!("{name}.json")
}

fn tenths(seconds: f64) -> f64 {
    (seconds * 10.0).round() / 10.0
}
