//! Runs the methods over the chosen models, one or several at a time.

use crate::Chosen;
use crate::methods::Method;
use crate::options::Options;
use crate::outcome::Outcome;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All outcomes in the order of the models, whatever the number of jobs.
pub(crate) fn run(chosen: &[Chosen], options: &Options) -> Result<Vec<Outcome>, String> {
    let done = match &options.tsv {
        Some(path) => done(path),
        None => vec![],
    };
    let rows = match &options.tsv {
        Some(path) => {
            let told = |e: std::io::Error| format!("{} cannot be written: {e}", path.display());
            Some(Mutex::new(rows(path).map_err(told)?))
        }
        None => None,
    };
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    // Models at a time share the threads between them.
    let threads = (rayon::current_num_threads() / options.jobs).max(1);
    let work = || -> Result<(), String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| error.to_string())?;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(chosen) = chosen.get(at) else { return Ok(()) };
            let found_before = of_model_before(chosen, options, &done);
            if let Some(outcomes) = found_before {
                found.lock().expect("no panic").extend(outcomes.into_iter().map(|o| (at, o)));
                continue;
            }
            let outcomes = pool.install(|| of_model(chosen, options)).map_err(|error| {
                // The others need not go on.
                next.store(usize::MAX / 2, Ordering::Relaxed);
                format!("{}, seed {}: {error}", chosen.family.name, chosen.seed)
            })?;
            for outcome in outcomes {
                eprintln!("{}", outcome.line());
                if let Some(rows) = &rows {
                    let written = writeln!(rows.lock().expect("no panic"), "{}", outcome.row());
                    written.map_err(|error| format!("a row cannot be written: {error}"))?;
                }
                found.lock().expect("no panic").push((at, outcome));
            }
        }
    };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = (0..options.jobs).map(|_| scope.spawn(work)).collect();
        jobs.into_iter().try_for_each(|job| job.join().expect("no panic"))
    })?;
    let mut found = found.into_inner().expect("no panic");
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, outcome)| outcome).collect())
}

fn of_model(chosen: &Chosen, options: &Options) -> lnz::Result<Vec<Outcome>> {
    let solved = chosen.family.generate(chosen.seed)?;
    let methods = Method::all(options.peers);
    methods.iter().map(|method| method.run(chosen, &solved, options)).collect()
}

/// The outcomes that a file has already.
fn done(path: &std::path::Path) -> Vec<Outcome> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().skip(1).filter_map(Outcome::from_row).collect()
}

/// What all methods have found on a model before; none if one of them is missing.
fn of_model_before(chosen: &Chosen, options: &Options, done: &[Outcome]) -> Option<Vec<Outcome>> {
    let before = |method: &Method| done.iter().find(|o| o.is_of(*method, chosen)).cloned();
    Method::all(options.peers).iter().map(before).collect()
}

/// The file that rows are added to; a new one begins with the names of the columns.
fn rows(path: &std::path::Path) -> std::io::Result<File> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    if file.metadata()?.len() == 0 {
        writeln!(file, "{}", Outcome::COLUMNS.join("\t"))?;
    }
    Ok(file)
}
