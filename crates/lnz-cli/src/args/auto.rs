//! Options of the default estimator.

use super::values::positive;
use clap::Args;
use lnz::Auto;
use lnz_app::request::AutoRequest;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Default method (auto)")]
pub(crate) struct AutoArgs {
    #[arg(long, value_name = "NATS",
        help = format!("Standard error of log Z to stop at [default: {}]", Auto::default().target_error))]
    pub(crate) target_error: Option<f64>,
    /// Exactly this many rounds: repeats a result bit for bit on any machine; with tempering at most as many
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) rounds: Option<usize>,
    #[arg(long, value_name = "N",
        help = format!("States around the modes that are summed exactly, 0 for none [default: {}]", Auto::default().core))]
    pub(crate) core: Option<usize>,
}

impl AutoArgs {
    pub(crate) fn request(&self) -> AutoRequest {
        AutoRequest { target_error: self.target_error, rounds: self.rounds, core: self.core }
    }

    /// The first of them that was typed.
    pub(crate) fn typed(&self) -> Option<&'static str> {
        let typed = [
            ("--target-error", self.target_error.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--core", self.core.is_some()),
        ];
        typed.into_iter().find(|(_, typed)| *typed).map(|(option, _)| option)
    }
}
