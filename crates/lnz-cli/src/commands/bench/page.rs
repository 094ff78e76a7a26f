//! The league as text, as Markdown and as an HTML page.

use super::peers::Peer;
use crate::terminal::fitted;
use lnz_app::league::{Row, Standing};
use lnz_app::numbers::duration;
use lnz_figures::{Axis, Cell, Dash, Figure, Panel, Series, Style, Table, document};
use maud::html;

/// All that the league has to show.
pub(super) struct League {
    pub(super) standings: Vec<Standing>,
    pub(super) peers: Vec<Peer>,
    pub(super) rows: Vec<Row>,
    /// Peers that were asked for and are not installed.
    pub(super) missing: Vec<String>,
    /// Files without a known value.
    pub(super) left_out: Vec<String>,
    pub(super) machine: String,
    pub(super) settings: String,
}

impl League {
    pub(super) fn text(&self) -> String {
        let mut text = fitted(&self.standings_table()) + "\n" + &fitted(&self.rows_table());
        for line in self.remarks() {
            text += &format!("\n  {line}");
        }
        text + "\n"
    }

    pub(super) fn markdown(&self) -> String {
        let remarks: String = self.remarks().iter().map(|line| format!("- {line}\n")).collect();
        format!(
            "{}\n{}\n{remarks}",
            self.standings_table().markdown(),
            self.rows_table().markdown()
        )
    }

    /// All answers; the standings follow from them.
    pub(super) fn csv(&self) -> String {
        self.rows_table().csv()
    }

    pub(super) fn html(&self) -> String {
        let body = html! {
            header {
                h1 { "Known partition functions, estimated" }
                p { "Methods held against models whose log Z is known. Made by " code { "lnz bench suite" } "." }
                p.small { (self.machine) "; " (self.settings) }
            }
            section id="standings" {
                h2 { "Standings" }
                (self.standings_table().html())
                dl { @for peer in &self.peers { dt { (peer.name) } dd { (peer.about) } } }
                ul { @for remark in self.remarks() { li { (remark) } } }
            }
            section id="figure" { h2 { "Time and error" } (self.figure().html("time-and-error")) }
            section id="models" { h2 { "All models" } (self.rows_table().html()) }
        };
        document("Known partition functions, estimated by lnz and others", body)
    }

    fn standings_table(&self) -> Table {
        let head = [
            "method",
            "answers",
            "within a factor of 32",
            "median error",
            "largest error",
            "intervals that hold",
            "confidently wrong",
            "time",
            "mean TAP",
        ];
        let mut table = Table::new("Less TAP is better; select a head to sort", &head);
        for s in &self.standings {
            let of = |n: usize, all: usize| Cell::number(n as f64, format!("{n} of {all}"));
            let error = |value: Option<f64>| match value {
                Some(value) => Cell::number(value, nats(value)),
                None => Cell::text("-"),
            };
            let intervals =
                if s.intervals == 0 { Cell::text("none") } else { of(s.covered, s.intervals) };
            table.rows.push(vec![
                Cell::text(&s.peer),
                of(s.answered, s.models),
                of(s.within_32, s.models),
                error(s.median_error),
                error(s.largest_error),
                intervals,
                Cell::number(s.confidently_wrong as f64, s.confidently_wrong.to_string()),
                Cell::number(s.seconds, duration(s.seconds)),
                Cell::number(s.mean_tap, format!("{:.2}", s.mean_tap)),
            ]);
        }
        table
    }

    fn rows_table(&self) -> Table {
        let head = [
            "model",
            "units",
            "log Z",
            "method",
            "error",
            "95% interval",
            "verdict",
            "time",
            "TAP",
        ];
        let mut table =
            Table::new("Errors and intervals are differences to the known log Z, in nats", &head);
        for row in &self.rows {
            let mut cells = vec![
                Cell::text(&row.model),
                Cell::number(
                    (row.visible + row.hidden) as f64,
                    format!("{} x {}", row.visible, row.hidden),
                ),
                Cell::number(row.known, format!("{:.3}", row.known)),
                Cell::text(&row.peer),
            ];
            match &row.answer {
                Ok(answer) => {
                    let error = answer.log_z - row.known;
                    let interval = answer.interval.map_or("-".to_owned(), |[low, high]| {
                        format!("[{}, {}]", nats(low - row.known), nats(high - row.known))
                    });
                    let verdict = answer.verdict.map_or("-", |verdict| verdict.name());
                    cells.extend([
                        Cell::number(error, nats(error)),
                        Cell::text(interval),
                        Cell::text(verdict),
                        Cell::number(answer.seconds, duration(answer.seconds)),
                    ]);
                }
                Err(problem) => cells.extend([
                    Cell::text("-"),
                    Cell::text("-"),
                    Cell::text(problem),
                    Cell::text("-"),
                ]),
            }
            cells.push(Cell::number(row.tap, format!("{:.2}", row.tap)));
            table.rows.push(cells);
        }
        table
    }

    fn figure(&self) -> Figure {
        /// An exact value has no error to show on a logarithmic axis; rounding stands for it.
        const LEAST_ERROR: f64 = 1e-9;
        let mut panel = Panel::new("", Axis::log("seconds"), Axis::log("|error| of log Z"));
        for (k, peer) in self.peers.iter().enumerate() {
            let of_peer = self.rows.iter().filter(|row| row.peer == peer.name);
            let points = of_peer.filter_map(|row| {
                let answer = row.answer.as_ref().ok()?;
                Some([answer.seconds.max(1e-4), row.error()?.abs().max(LEAST_ERROR)])
            });
            let style = Style { dash: Dash::None, ..Style::new(k) };
            panel = panel.with(Series::new(peer.name, points.collect(), style));
        }
        Figure::new(vec![panel])
    }

    fn remarks(&self) -> Vec<String> {
        let mut lines = vec![format!("{}; {}", self.machine, self.settings)];
        lines.extend(self.missing.iter().map(|line| format!("missing peer {line}")));
        lines.extend(self.left_out.iter().map(|line| format!("left out {line}")));
        lines
    }
}

/// An error with the digits that count; float64 has no more than these.
fn nats(error: f64) -> String {
    match error.abs() {
        size if size < 5e-7 => "0".to_owned(),
        size if size < 5e-4 => format!("{error:.0e}"),
        size if size < 100.0 => format!("{error:.3}"),
        _ => format!("{error:.1}"),
    }
}
