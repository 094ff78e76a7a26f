//! The paper's experiments, figure by figure: what is run, and what is drawn from it.

pub(crate) mod chart;
pub(crate) mod fig1;
pub(crate) mod fig2;
pub(crate) mod fig3;
pub(crate) mod fig4;
pub(crate) mod fig5;
pub(crate) mod fig6;
pub(crate) mod fig7;

use crate::error::Result;
use crate::job::Job;
use crate::results::Results;
use crate::scale::Scale;
use lnz_figures::Figure;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A figure of the paper, with the runs that it needs.
#[derive(Debug)]
pub struct Experiment {
    /// Its name on the command line and of its files.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Experiments whose results it builds on.
    pub needs: &'static [&'static str],
    /// The runs, as far as they follow from results so far.
    pub(crate) plan: fn(&Scale, &Results) -> Vec<Job>,
    /// The figure of the results so far.
    figure: fn(&Results) -> Figure,
}

/// All experiments, in the order of the paper.
pub const EXPERIMENTS: [Experiment; 7] = [
    Experiment {
        name: "fig1",
        title: "the uniform start on models of known log Z",
        needs: &[],
        plan: fig1::plan,
        figure: fig1::figure,
    },
    Experiment {
        name: "fig2",
        title: "more intermediate distributions, the same wrong value",
        needs: &[],
        plan: fig2::plan,
        figure: fig2::figure,
    },
    Experiment {
        name: "fig3",
        title: "the uniform start, original and transposed",
        needs: &[],
        plan: fig3::plan,
        figure: fig3::figure,
    },
    Experiment {
        name: "fig4",
        title: "every strategy, initial state and parameter (with the first table)",
        needs: &[],
        plan: fig4::plan,
        figure: fig4::figure,
    },
    Experiment {
        name: "fig5",
        title: "the best strategies of each problem (with the second table)",
        needs: &["fig4"],
        plan: fig5::plan,
        figure: fig5::figure,
    },
    Experiment {
        name: "fig6",
        title: "the two recommended strategies",
        needs: &[],
        plan: fig6::plan,
        figure: fig6::figure,
    },
    Experiment {
        name: "fig7",
        title: "500 hidden units along learning",
        needs: &[],
        plan: fig7::plan,
        figure: fig7::figure,
    },
];

impl Experiment {
    /// The experiment of this name.
    pub fn named(name: &str) -> Option<&'static Experiment> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// The figure of what a folder has so far.
    pub fn draw(&self, results: &Results) -> Figure {
        (self.figure)(results)
    }

    /// Draws the figure into the folder, as SVG and as PNG; returns the two files.
    pub fn write_figure(&self, results: &Results) -> Result<[PathBuf; 2]> {
        let svg = self.draw(results).svg(self.name);
        let png = lnz_figures::png(&svg)?;
        Ok([
            results.write(&format!("{}.svg", self.name), svg.as_bytes())?,
            results.write(&format!("{}.png", self.name), &png)?,
        ])
    }

    /// Runs that are there, of those that the present plan wants and this build can make.
    pub fn progress(&self, scale: &Scale, results: &Results) -> (usize, usize) {
        let known = results.by_key();
        let plan = (self.plan)(scale, results);
        let keys: HashSet<String> = plan
            .iter()
            .filter(|job| job.problem.is_available(&results.models()))
            .map(|job| job.settings().key())
            .collect();
        (keys.iter().filter(|key| known.contains_key(*key)).count(), keys.len())
    }
}

impl Results {
    /// Reads what a folder has of all experiments; the folder need not exist.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::read(folder, EXPERIMENTS.iter().map(|experiment| experiment.name))
    }
}

/// These experiments and those they build on, in the order of the paper.
pub fn with_needs(chosen: &[&'static Experiment]) -> Vec<&'static Experiment> {
    let is_wanted = |experiment: &&Experiment| {
        chosen.iter().any(|c| c.name == experiment.name || c.needs.contains(&experiment.name))
    };
    EXPERIMENTS.iter().filter(is_wanted).collect()
}
