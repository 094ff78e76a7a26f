//! The paper's experiments, all of them: what is run, what is drawn, what is claimed.

mod chart;
mod claims;
mod fig1;
mod fig2;
mod fig3;
mod fig4;
mod fig5;
mod fig6;
mod fig7;
mod job;
mod page;
mod problem;
mod record;
mod row;
mod runner;
mod scale;
mod shelf;
mod statistics;
mod training;

pub(crate) use page::{Page, html, markdown};
pub(crate) use runner::{Outcome, complete};
pub(crate) use scale::Scale;
pub(crate) use shelf::Shelf;
pub(crate) use training::train_missing;

use crate::plot::Figure;
use job::Job;

/// A figure of the paper, with the runs that it needs.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// Its name on the command line and of its files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Experiments whose results it builds on.
    pub(crate) needs: &'static [&'static str],
    /// The runs, as far as they follow from results so far.
    plan: fn(&Scale, &Shelf) -> Vec<Job>,
    /// The figure of the results so far.
    figure: fn(&Shelf) -> Figure,
}

pub(crate) const EXPERIMENTS: [Experiment; 7] = [
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
    pub(crate) fn named(name: &str) -> Option<&'static Experiment> {
        EXPERIMENTS.iter().find(|experiment| experiment.name == name)
    }

    /// The figure of what a folder has so far.
    pub(crate) fn draw(&self, shelf: &Shelf) -> Figure {
        (self.figure)(shelf)
    }

    /// Runs that are there, of those that the present plan wants and this build can make.
    pub(crate) fn progress(&self, scale: &Scale, shelf: &Shelf) -> (usize, usize) {
        let known = shelf.by_key();
        let plan = (self.plan)(scale, shelf);
        let keys: std::collections::HashSet<String> = plan
            .iter()
            .filter(|job| job.problem.is_available(&shelf.models()))
            .map(|job| job.settings().key())
            .collect();
        (keys.iter().filter(|key| known.contains_key(*key)).count(), keys.len())
    }
}
