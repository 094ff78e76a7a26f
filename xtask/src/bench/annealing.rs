//! lnz and its peers side by side: time per chain and beta step.

use super::models::Model;
use super::quartiles::Quartiles;
use super::{Bench, Problem, Side};
use serde_json::json;
use std::fmt::Write;

pub(super) const CHAINS: usize = 1024;

/// One way of annealing; `share` is how many steps it gets for each step of lnz, so that all take
/// about equally long. lnz anneals along a whole schedule, since its cost depends on the states;
/// that of the others does not.
struct Contender {
    title: &'static str,
    side: Side,
    how: &'static str,
    share: f64,
}

/// The first one is what the others are compared with.
const CONTENDERS: [Contender; 6] = [
    Contender { title: "lnz, i16", side: Side::Lnz, how: "i16", share: 1.0 },
    Contender { title: "lnz, i32", side: Side::Lnz, how: "i32", share: 1.0 },
    Contender { title: "PyTorch, usual", side: Side::Peers, how: "usual", share: 0.06 },
    Contender { title: "PyTorch, tuned", side: Side::Peers, how: "tuned", share: 0.08 },
    Contender { title: "two dense products alone", side: Side::Peers, how: "gemm", share: 0.2 },
    Contender { title: "rbms", side: Side::Peers, how: "rbms", share: 0.02 },
];

/// Microseconds per chain and step of every contender, repetition by repetition.
struct Row<'a> {
    model: &'a Model,
    times: Vec<Vec<f64>>,
    /// Milliseconds of what lnz does once per call, with 16 bits.
    fixed: Vec<f64>,
    /// The precision that lnz fell back to, where 16 bits were too coarse.
    fell_back: bool,
}

/// Steps of lnz that take a second or two on one thread of a 2023 server: a unit that is drawn costs as
/// much as some 145 weights.
pub(super) fn steps(model: &Model) -> usize {
    let cost = 145 * (model.visible + model.hidden) + model.visible * model.hidden;
    (400_000_000 / cost).max(128)
}

pub(super) fn compare(bench: &mut Bench, models: &[Model]) -> Result<String, Problem> {
    let mut text = String::from("## Annealing\n\n");
    text += "Microseconds per chain and beta step: median, and quartiles in brackets. A ratio is the\n\
             time of a peer over the time of lnz with 16 bits in the same repetition: above 1, lnz is\n\
             faster. The times are those of further steps. What a call of `anneal` does once, whatever\n\
             the number of steps (the integer weights, the first states, the exact last factor in\n\
             float64), drops out of the difference between a run and one of a quarter of its steps, and is\n\
             listed as the fixed cost; the arrays of the peers are made before the clock starts.\n\n";
    if let Some(small) = models.iter().find(|model| model.name == "180x20") {
        text += &check(bench, small)?;
    }
    let mut fell_back = false;
    for threads in [1, 2] {
        let mut rows = Vec::new();
        for model in models {
            println!("annealing {}, threads: {threads}", model.name);
            rows.push(measure(bench, model, threads)?);
        }
        let plural = if threads == 1 { "thread" } else { "threads" };
        writeln!(text, "### {threads} {plural}: ratios\n\n{}", ratios(&rows))?;
        writeln!(text, "### {threads} {plural}: microseconds\n\n{}", microseconds(&rows))?;
        writeln!(
            text,
            "### {threads} {plural}: fixed cost of a call, 16 bits\n\n{}",
            fixed(&rows)
        )?;
        fell_back |= rows.iter().any(|row| row.fell_back);
    }
    text += "Models:\n\n";
    for model in models {
        writeln!(text, "- {}: {}.", model.name, model.origin)?;
    }
    if fell_back {
        text += "\n(*) 16 bits are too coarse for this model: lnz used 32 bits by itself.\n";
    }
    Ok(text + "\n")
}

fn measure<'a>(bench: &mut Bench, model: &'a Model, threads: usize) -> Result<Row<'a>, Problem> {
    let mut row = Row {
        model,
        times: vec![Vec::new(); CONTENDERS.len()],
        fixed: Vec::new(),
        fell_back: false,
    };
    for repetition in 0..bench.repetitions {
        for k in 0..CONTENDERS.len() {
            // Each repetition starts with another contender.
            let k = (k + repetition) % CONTENDERS.len();
            let contender = &CONTENDERS[k];
            // lnz keeps at least half: few steps make large increments, which take a slower path.
            let quick = if contender.side == Side::Lnz { 0.5 } else { 0.25 };
            let share = contender.share * if bench.quick { quick } else { 1.0 };
            let steps = ((steps(model) as f64 * share) as usize).max(4);
            let request = |steps: usize| {
                json!({
                    "do": "ais",
                    "model": model.file,
                    "how": contender.how,
                    "chains": CHAINS,
                    "steps": steps,
                    "threads": threads,
                })
            };
            let answer = bench.measure(contender.side, &request(steps))?;
            let (mut seconds, mut steps) = (answer.seconds, steps);
            if contender.side == Side::Lnz {
                // Not one step: its states would be far denser at the end, and the end dearer. Not
                // half of them either: the noise of both would count twice as much.
                let few = steps / 4;
                let short = bench.measure(Side::Lnz, &request(few))?.seconds;
                let per_step = (seconds - short) / (steps - few) as f64;
                if k == 0 {
                    row.fixed.push((seconds - per_step * steps as f64) * 1e3);
                }
                (seconds, steps) = (seconds - short, steps - few);
            }
            row.times[k].push(seconds * 1e6 / (CHAINS * steps) as f64);
            row.fell_back |= contender.how == "i16" && answer.reply["how"] != "i16";
        }
    }
    Ok(row)
}

fn table(rows: &[Row<'_>], cell: impl Fn(&Row<'_>, usize) -> Option<String>) -> String {
    let titles: Vec<&str> = CONTENDERS.iter().map(|contender| contender.title).collect();
    let mut text = format!("| size | {} |\n|---|", titles.join(" | "));
    text += &"---|".repeat(titles.len());
    text.push('\n');
    for row in rows {
        let star = if row.fell_back { " (*)" } else { "" };
        let cells: Vec<String> =
            (0..titles.len()).map(|k| cell(row, k).unwrap_or_else(|| "-".into())).collect();
        text += &format!("| {}{star} | {} |\n", row.model.name, cells.join(" | "));
    }
    text
}

fn ratios(rows: &[Row<'_>]) -> String {
    table(rows, |row, k| Some(Quartiles::of_ratios(&row.times[k], &row.times[0])?.show()))
}

fn microseconds(rows: &[Row<'_>]) -> String {
    table(rows, |row, k| Some(Quartiles::of(row.times[k].iter().copied())?.show()))
}

fn fixed(rows: &[Row<'_>]) -> String {
    let mut text = String::from("| size | milliseconds |\n|---|---|\n");
    for row in rows {
        let time = Quartiles::of(row.fixed.iter().copied()).map_or("-".into(), Quartiles::show);
        text += &format!("| {} | {time} |\n", row.model.name);
    }
    text
}

/// Every contender anneals a small model whose log Z is known; a peer that computes something else
/// would make its times worthless.
fn check(bench: &mut Bench, model: &Model) -> Result<String, Problem> {
    let exact = json!({ "do": "enumerate", "model": model.file, "threads": 1 });
    let exact = bench.lnz.ask(&exact)?["log_z"].as_f64().ok_or("no exact log Z")?;
    let mut found = Vec::new();
    for contender in CONTENDERS.iter().filter(|contender| contender.how != "gemm") {
        let (model, how) = (&model.file, contender.how);
        let request = json!({
            "do": "ais", "model": model, "how": how, "chains": CHAINS, "steps": 512, "threads": 1,
        });
        let log_z = bench.worker(contender.side).ask(&request)?["log_z"].as_f64();
        let log_z = log_z.ok_or_else(|| format!("no log Z from {}", contender.title))?;
        if (log_z - exact).abs() > 0.5 {
            let title = contender.title;
            return Err(format!("{title} says log Z = {log_z}, but exactly it is {exact}").into());
        }
        found.push(format!("{} {log_z:.3}", contender.title));
    }
    Ok(format!(
        "All contenders compute the same thing: log Z of the {} model is {exact:.3}, and 512 steps of\n\
         {CHAINS} chains give {}.\n\n",
        model.name,
        found.join(", ")
    ))
}
