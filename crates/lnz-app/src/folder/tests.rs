//! Run folders: parts in any order, by several workers, killed at any time, damaged in any way.

use super::*;
use crate::Error;
use crate::request::{AnnealingRequest, Plan, Request};
use crate::run;
use lnz::io::StoredModel;
use lnz::{Gwgm, Method, Observer, WithCrew};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Small, since every part of a run begins with what was not shared out before it.
fn model(seed: u64) -> StoredModel {
    StoredModel::from(Gwgm { hidden: 30, ..Gwgm::HARDEST }.generate(seed).unwrap())
}

fn header(parts: Option<usize>) -> Header {
    Header {
        lnz: VERSION.to_owned(),
        model: model(1).model.sha256(),
        path: "m.npz".into(),
        command: vec!["lnz".into(), "estimate".into(), "m.npz".into()],
        typed_in: "/".into(),
        settings: "settings".into(),
        parts,
        // Rounds of this small model are split, the short runs before them are not.
        split_above: 0.0005,
    }
}

/// Annealing, rounds of the default method, tempering, and a sum.
fn plans() -> Vec<Plan> {
    let annealing = AnnealingRequest { betas: Some(30), chains: Some(150), ..Default::default() };
    let ais = Request { method: Method::Ais, annealing, no_check: true, ..Default::default() };
    let mut auto = Request { no_exact: true, ..Request::default() };
    auto.auto.rounds = Some(2);
    let annealing = AnnealingRequest { betas: Some(3), chains: Some(40), ..Default::default() };
    let mut tempering = Request { method: Method::Tempering, annealing, ..Default::default() };
    tempering.auto.rounds = Some(2);
    let plan = |request: Request| request.plan().unwrap().for_folder(None).unwrap();
    let exact = Plan::Exact { settings: lnz::Exact::FORCED, max_seconds: None };
    vec![plan(ais), plan(auto), plan(tempering), exact]
}

fn log_z(plan: &Plan, observer: &dyn Observer) -> Result<u64> {
    let outcome = run::estimate(&model(1), "m", plan, Instant::now(), observer)?;
    assert!(!outcome.stopped);
    Ok(outcome.report.finding.log_z.to_bits())
}

fn in_folder(folder: &RunFolder, plan: &Plan, share: Share) -> Result<u64> {
    let crew = folder.crew(share);
    log_z(plan, &WithCrew { observer: &(), crew: &crew })
}

#[test]
fn parts_that_are_computed_one_by_one_make_the_whole() {
    for plan in plans() {
        let alone = log_z(&plan, &()).unwrap();
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::begin(place.path(), header(Some(3))).unwrap();
        assert!(in_folder(&folder, &plan, Share::Nothing).is_err());
        let first = folder.status().unwrap().tasks.remove(0);
        assert!((2..=3).contains(&first.parts));
        assert_eq!(first.missing, Vec::from_iter(1..=first.parts));
        // Backwards, again and again, until the last round is there.
        let mut rounds = 0;
        let found = loop {
            rounds += 1;
            assert!(rounds < 50);
            let parts = [3, 1, 2].map(|number| Share::Part { number, wait: false });
            if let Some(Ok(found)) =
                parts.map(|share| in_folder(&folder, &plan, share)).into_iter().find(Result::is_ok)
            {
                break found;
            }
        };
        assert_eq!(found, alone);
        assert_eq!(in_folder(&folder, &plan, Share::Nothing).unwrap(), alone);
        assert!(folder.status().unwrap().tasks.iter().all(|task| task.missing.is_empty()));
    }
}

#[test]
fn workers_at_the_same_time_share_the_work() {
    for plan in plans() {
        let alone = log_z(&plan, &()).unwrap();
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::begin(place.path(), header(Some(6))).unwrap();
        let (folder, plan) = (&folder, &plan);
        let found: Vec<u64> = std::thread::scope(|scope| {
            let shares = [Share::All, Share::All, Share::Part { number: 6, wait: true }];
            let start = |share| scope.spawn(move || in_folder(folder, plan, share).unwrap());
            let workers = shares.map(start);
            workers.map(|worker| worker.join().unwrap()).into()
        });
        assert_eq!(found, vec![alone; 3]);
    }
}

/// Says stop at the n-th time that it is asked.
struct Stop(AtomicUsize);

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }
}

#[test]
fn a_run_that_is_stopped_fifty_times_ends_with_the_same_bits() {
    let plan = &plans()[0];
    let alone = log_z(plan, &()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::begin(place.path(), header(Some(10))).unwrap();
    for k in 0..50 {
        let crew = folder.crew(Share::All);
        let stop = Stop(AtomicUsize::new(k * 37 % 211));
        let error = log_z(plan, &WithCrew { observer: &stop, crew: &crew });
        if let Err(error) = error {
            assert!(matches!(error, Error::Library(lnz::Error::Cancelled { .. })), "{error}");
        }
    }
    assert_eq!(in_folder(&folder, plan, Share::All).unwrap(), alone);
}

fn problem(result: Result<impl Sized>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_folder_of_something_else_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    assert!(problem(RunFolder::open(&path)).contains("no run folder"));
    RunFolder::begin(&path, header(None)).unwrap();
    RunFolder::begin(&path, header(None)).unwrap();
    let other = Header { settings: "others".into(), ..header(None) };
    assert!(problem(RunFolder::begin(&path, other)).contains("`lnz estimate m.npz`"));
    let other = Header { model: model(2).model.sha256(), ..header(None) };
    assert!(problem(RunFolder::begin(&path, other)).contains("another model"));
    let other = Header { parts: Some(3), ..header(None) };
    assert!(problem(RunFolder::begin(&path, other)).contains("no fixed number of parts"));
    let newer = Header { lnz: "99.0.0".into(), ..header(None) };
    std::fs::write(path.join("run.json"), serde_json::to_vec(&newer).unwrap()).unwrap();
    assert!(problem(RunFolder::open(&path)).contains("lnz 99.0.0"));
    std::fs::write(path.join("run.json"), "{").unwrap();
    assert!(problem(RunFolder::open(&path)).contains("damaged"));
    let full = tempfile::tempdir().unwrap();
    std::fs::write(full.path().join("thesis.tex"), "").unwrap();
    assert!(problem(RunFolder::begin(full.path(), header(None))).contains("no run folder"));
}

#[test]
fn a_part_that_is_missing_damaged_or_from_elsewhere_is_named() {
    let plan = &plans()[0];
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::begin(place.path(), header(Some(3))).unwrap();
    let alone = in_folder(&folder, plan, Share::All).unwrap();
    let task = std::fs::read_dir(place.path().join("orders")).unwrap().next().unwrap().unwrap();
    let part = |name: &str| task.path().join(name);
    let (first, second) = (part("0-3.part"), part("3-6.part"));
    let bytes = std::fs::read(&first).unwrap();
    let merged = || in_folder(&folder, plan, Share::Nothing);
    // Of another place in the same run.
    std::fs::copy(&second, &first).unwrap();
    assert!(problem(merged()).contains("0-3.part: has the items 3..6"));
    // Cut, and changed.
    std::fs::write(&first, &bytes[..bytes.len() - 1]).unwrap();
    assert!(problem(merged()).contains("0-3.part: is damaged"));
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&first, changed).unwrap();
    assert!(problem(merged()).contains("delete it, and it is computed again"));
    // Gone.
    std::fs::remove_file(&first).unwrap();
    assert!(problem(merged()).contains("lacks 1 of 3 parts: 1"));
    assert_eq!(in_folder(&folder, plan, Share::Part { number: 1, wait: false }).unwrap(), alone);
    assert_eq!(std::fs::read(&first).unwrap(), bytes);
}

#[test]
fn a_part_that_another_process_computes_is_left_to_it() {
    let plan = &plans()[0];
    let place = tempfile::tempdir().unwrap();
    let folder = RunFolder::begin(place.path(), header(Some(3))).unwrap();
    assert!(in_folder(&folder, plan, Share::Part { number: 1, wait: false }).is_err());
    let name = |number: usize| {
        let locks = std::fs::read_dir(place.path().join("locks")).unwrap();
        let first = locks.flatten().map(|entry| entry.path()).min().unwrap();
        let range = ["0-3", "3-6", "6-10"][number - 1];
        first.to_str().unwrap().replace("0-3", range)
    };
    let lock = std::fs::File::options().create(true).append(true).open(name(2)).unwrap();
    lock.try_lock().unwrap();
    let said = problem(in_folder(&folder, plan, Share::Part { number: 2, wait: false }));
    assert!(said.contains("part 2") && said.contains("another process"), "{said}");
    drop(lock);
    let crew = folder.crew(Share::Part { number: 2, wait: false });
    assert!(log_z(plan, &WithCrew { observer: &(), crew: &crew }).is_err());
    assert_eq!(crew.missing().unwrap().parts, [3]);
}
