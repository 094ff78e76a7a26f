//! Orders: whoever carries them out, in however many parts and in whatever order, the bits are the same.

use lnz::crew::{Crew, Order, Output, Work};
use lnz::{
    Ais, Auto, Error, Estimator, Exact, Finding, Gwgm, Precision, Rbm, Result, Schedule, Tempering,
};
use lnz::{Deadline, SparseModel, WithCrew, exact_log_z_sparse};
use ndarray::{Array1, Array2};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Carries every order out from its JSON and the bytes of its model, as a worker elsewhere would.
#[derive(Default)]
struct Elsewhere {
    parts: usize,
    /// Orders that are carried out before the crew fails.
    lifetime: Option<usize>,
    /// What a run folder would have.
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    decisions: Mutex<BTreeMap<String, Value>>,
    carried_out: Mutex<Vec<(String, usize, usize)>>,
}

impl Crew for Elsewhere {
    fn carry_out(&self, work: &dyn Work) -> Result<Vec<Output>> {
        let (task, model) = (work.task(), work.model());
        let (hash, ranges) = (task.sha256(), task.split(self.parts));
        // Not in their order.
        let mut ways: Vec<usize> = (0..ranges.len()).collect();
        ways.sort_by_key(|k| (k * 7919 + 13) % 101);
        let mut outputs = vec![Output::default(); ranges.len()];
        for k in ways {
            let items = ranges[k].clone();
            let name = format!("{hash} {items:?}");
            let mut kept = self.kept.lock().unwrap();
            if !kept.contains_key(&name) {
                let mut carried_out = self.carried_out.lock().unwrap();
                if self.lifetime.is_some_and(|lifetime| carried_out.len() >= lifetime) {
                    return Err(Error::orders("killed"));
                }
                let order = Order { task: task.clone(), items: items.clone() };
                let order = serde_json::to_string(&order).unwrap();
                let output = lnz::carry_out(&model, &order, &())?;
                // Of the chains of a round of auto no states are wanted.
                let is_round = task.details.get("marks").is_some();
                let kind = if is_round { "round" } else { &task.kind };
                carried_out.push((kind.to_owned(), items.len(), output.len()));
                kept.insert(name.clone(), output);
            }
            outputs[k] = Output::from_bytes(&kept[&name], &hash, &items).unwrap();
        }
        Ok(outputs)
    }

    fn decide(&self, name: &str, decide: &mut dyn FnMut() -> Result<Value>) -> Result<Value> {
        let kept = self.decisions.lock().unwrap().get(name).cloned();
        match kept {
            Some(kept) => Ok(kept),
            None => {
                let value = decide()?;
                self.decisions.lock().unwrap().insert(name.to_owned(), value.clone());
                Ok(value)
            }
        }
    }

    fn least_seconds(&self) -> f64 {
        0.0
    }
}

fn same(a: &Finding, b: &Finding) {
    assert_eq!(a.log_z.to_bits(), b.log_z.to_bits());
    assert_eq!(a.std_error.to_bits(), b.std_error.to_bits());
    assert_eq!((a.interval, a.lower_bound, a.ess), (b.interval, b.lower_bound, b.ess));
    assert_eq!((&a.diagnosis, a.effort, a.stopped), (&b.diagnosis, b.effort, b.stopped));
    assert_eq!(a.sampled(), b.sampled());
    let samples = |found: &Finding| found.ais().map(|run| run.annealed.samples.clone());
    assert_eq!(samples(a), samples(b));
    assert_eq!(a.tempering(), b.tempering());
}

fn methods() -> Vec<(Box<dyn Estimator>, Rbm)> {
    let model = || Gwgm::HARDEST.generate(3).unwrap();
    let mut ais = Ais { check: false, ..Ais::along(Schedule::linear(40).unwrap()) };
    // Not a whole number of groups.
    ais.annealing.chains = 203;
    let given = Schedule::from_betas(vec![0.0, 0.3, 0.31, 0.9, 1.0]).unwrap();
    let turned = Ais { transpose: true, check: false, ..Ais::along(given) };
    let auto = Auto { shortcuts: false, rounds: Some(2), seed: 5, ..Auto::default() };
    vec![
        (Box::new(ais), model()),
        (Box::new(turned), model()),
        (Box::new(Exact::default()), model()),
        (Box::new(auto), model()),
        (Box::new(tempering()), small()),
        (Box::new(Exact::FORCED), board()),
        (Box::new(with_fixed_units()), board()),
    ]
}

/// A model whose ladders take moments.
fn small() -> Rbm {
    Gwgm { visible: 12, hidden: 10, ..Gwgm::HARDEST }.generate(3).unwrap()
}

/// A board of 10 x 10 units that are coupled to their neighbours: the black ones are visible.
fn board() -> Rbm {
    let place = |row: usize, column: usize| (10 * row + column) / 2;
    let mut weights = Array2::zeros((50, 50));
    for (row, column) in (0..10).flat_map(|row| (0..10).map(move |column| (row, column))) {
        for (down, right) in [(0, 1), (1, 0)] {
            let (below, beside) = (row + down, column + right);
            if below < 10 && beside < 10 {
                let ends = [place(row, column), place(below, beside)];
                let [i, j] = if (row + column) % 2 == 0 { ends } else { [ends[1], ends[0]] };
                weights[[i, j]] =
                    0.3 + 0.1 * ((7 * row + 3 * column) % 11) as f64 - 0.5 * down as f64;
            }
        }
    }
    let bias = |k: usize| Array1::from_iter((0..50).map(|i| 0.1 * ((k * i) % 13) as f64 - 0.6));
    Rbm::new(weights, bias(3), bias(5)).unwrap()
}

/// So little memory that some units take their states one after the other.
fn with_fixed_units() -> Exact {
    Exact { max_bytes: Some(2048.0), ..Exact::FORCED }
}

#[test]
fn an_elimination_is_split_by_the_states_of_its_fixed_units() {
    let of = |method: Exact| {
        let crew = Elsewhere { parts: usize::MAX, ..Elsewhere::default() };
        let observer = WithCrew { observer: &(), crew: &crew };
        let found = method.estimate(&board(), &observer).unwrap().log_z;
        let carried_out = crew.carried_out.into_inner().unwrap();
        assert!(carried_out.iter().all(|(kind, ..)| kind == "eliminate"));
        (found, carried_out.len())
    };
    let ((whole, one), (sum, many)) = (of(Exact::FORCED), of(with_fixed_units()));
    assert_eq!(one, 1);
    assert!(many >= 8 && many.is_power_of_two(), "{many}");
    assert!((whole - sum).abs() < 1e-12 * whole.abs(), "{whole} and {sum}");
    // A model that has no matrix is sent as well.
    let crew = Elsewhere { parts: 3, ..Elsewhere::default() };
    let sparse = SparseModel::from(&board());
    let observer = WithCrew { observer: &(), crew: &crew };
    let found = exact_log_z_sparse(&sparse, &with_fixed_units(), &observer).unwrap();
    assert_eq!(found, exact_log_z_sparse(&sparse, &with_fixed_units(), &()).unwrap());
    assert_eq!(crew.carried_out.into_inner().unwrap().len(), 3);
}

/// Seven groups of columns, the last of which is not whole.
fn tempering() -> Tempering {
    Tempering { columns: 101, rungs: Some(4), rounds: 2, seed: 7, ..Tempering::default() }
}

#[test]
fn any_split_has_the_bits_of_one_machine() {
    for (method, model) in methods() {
        let alone = method.estimate(&model, &()).unwrap();
        for parts in [1, 2, 3, 7, 100] {
            let crew = Elsewhere { parts, ..Elsewhere::default() };
            let found = method.estimate(&model, &WithCrew { observer: &(), crew: &crew }).unwrap();
            same(&alone, &found);
            let carried_out = crew.carried_out.into_inner().unwrap();
            let splits = carried_out.iter().any(|(kind, ..)| kind != "eliminate");
            assert!(!splits || carried_out.len() >= parts.min(2), "{method:?}: {carried_out:?}");
        }
    }
}

#[test]
fn a_run_that_was_killed_again_and_again_ends_with_the_same_bits() {
    for (method, model) in methods() {
        let alone = method.estimate(&model, &()).unwrap();
        let mut crew = Elsewhere { parts: 7, ..Elsewhere::default() };
        let mut sittings = 0;
        let found = loop {
            // Two orders, then four, then eight.
            crew.lifetime = Some(2 << sittings);
            match method.estimate(&model, &WithCrew { observer: &(), crew: &crew }) {
                Ok(found) => break found,
                Err(error) => assert_eq!(error.to_string(), "killed"),
            }
            sittings += 1;
        };
        // An elimination without fixed units is one order.
        let orders = crew.carried_out.lock().unwrap().len();
        assert!(sittings >= 2 || orders == 1, "{sittings}");
        same(&alone, &found);
        // Nothing was computed twice.
        let orders = crew.carried_out.into_inner().unwrap().len();
        assert_eq!(orders, crew.kept.into_inner().unwrap().len());
    }
}

#[test]
fn the_result_of_an_order_is_small() {
    let (method, model) = methods().swap_remove(0);
    let crew = Elsewhere { parts: 3, ..Elsewhere::default() };
    method.estimate(&model, &WithCrew { observer: &(), crew: &crew }).unwrap();
    for (kind, groups, bytes) in crew.carried_out.into_inner().unwrap() {
        assert_eq!(kind, "anneal");
        assert!(bytes <= 1024 + 8 * 16 * groups, "{bytes} bytes for {groups} groups");
    }
}

/// Units that a strong coupling puts into two phases. With a weak one they are nearly independent, and
/// mostly on or mostly off.
fn coupled(visible: usize, hidden: usize, coupling: f64) -> Rbm {
    let sign = |k: usize| if ((k * 2654435761) >> 7) & 1 == 0 { 1.0 } else { -1.0 };
    let weight = |(i, j): (usize, usize)| coupling * sign(i) * sign(j + 977) / hidden as f64;
    let weights = Array2::from_shape_fn((visible, hidden), weight);
    let against = |sums: Array1<f64>| sums.mapv(|sum| -sum / 2.0);
    let biases = [1, 0].map(|axis| against(weights.sum_axis(ndarray::Axis(axis))));
    let [visible_bias, hidden_bias] = biases;
    let alone = if coupling < 1.0 { 2.0 } else { 0.0 };
    let alone = |units: usize| Array1::from_iter((0..units).map(|i| alone * sign(3 * i)));
    let (visible_bias, hidden_bias) = (visible_bias + alone(visible), hidden_bias + alone(hidden));
    Rbm::new(weights, visible_bias, hidden_bias).unwrap()
}

#[test]
fn the_result_of_an_order_of_auto_is_small() {
    for (coupling, core, phases) in [(0.9, 0, 1), (0.9, 4096, 1), (24.0, 0, 2)] {
        let model = coupled(300, 200, coupling);
        let method = Auto { rounds: Some(1), core, seed: 1, ..Auto::default() };
        let alone = method.estimate(&model, &()).unwrap();
        let sampled = &alone.sampled()[0];
        assert_eq!((sampled.phases.len(), sampled.core_used), (phases, false));
        let crew = Elsewhere { parts: 3, ..Elsewhere::default() };
        let found = method.estimate(&model, &WithCrew { observer: &(), crew: &crew }).unwrap();
        same(&alone, &found);
        let carried_out = crew.carried_out.into_inner().unwrap();
        let of_rounds = carried_out.iter().filter(|(kind, ..)| kind == "round");
        assert!(of_rounds.clone().count() >= 3);
        for (_, groups, bytes) in of_rounds {
            // What a chain is told apart by takes a bit for two phases, and one for a core.
            assert!(*bytes <= 1024 + (8 * 16 + 4) * groups, "{bytes} bytes for {groups} groups");
            assert!(phases > 1 || core > 0 || *bytes <= 1024 + 8 * 16 * groups);
        }
    }
}

#[test]
fn a_ladder_that_a_crew_moves_is_what_its_columns_make_of_it() {
    // On either engine, and with one group, one column more than that, and many.
    let model = small();
    let runs = [(2, Precision::F64, 1), (16, Precision::I32, 32), (17, Precision::I16, 2)];
    for (columns, precision, parts) in runs {
        let method = Tempering { columns, precision, ..tempering() };
        let alone = method.estimate(&model, &()).unwrap();
        let crew = Elsewhere { parts, ..Elsewhere::default() };
        let found = method.estimate(&model, &WithCrew { observer: &(), crew: &crew }).unwrap();
        same(&alone, &found);
        let carried_out = crew.carried_out.into_inner().unwrap();
        // Five placements, settling, and two rounds, in as many orders as there are groups.
        let orders = carried_out.iter().filter(|(kind, ..)| kind == "temper").count();
        assert_eq!(orders, 8 * parts.min(columns.div_ceil(16)));
    }
}

#[test]
fn a_limit_of_time_ends_tempering_between_rounds_and_the_decision_is_kept() {
    let model = small();
    let method = Tempering { rounds: 64, target_error: 1e-9, ..tempering() };
    let crew = Elsewhere { parts: 2, ..Elsewhere::default() };
    let within = |seconds: f64| {
        let observer = WithCrew { observer: &(), crew: &crew };
        let deadline = Deadline::after(seconds, &observer).between_rounds();
        method.estimate(&model, &deadline).unwrap()
    };
    let found = within(0.0);
    assert_eq!((found.effort.rounds, found.stopped), (Some(2), false));
    // However much time there is another time.
    same(&within(1e9), &found);
}

#[test]
fn an_order_for_another_model_is_refused() {
    struct Misled(Rbm);
    impl Crew for Misled {
        fn carry_out(&self, work: &dyn Work) -> Result<Vec<Output>> {
            let items = 0..work.task().items;
            let order = Order { task: work.task().clone(), items: items.clone() };
            let order = serde_json::to_string(&order).unwrap();
            let bytes = lnz::carry_out(&self.0.to_bytes(), &order, &())?;
            Ok(vec![Output::from_bytes(&bytes, &work.task().sha256(), &items).unwrap()])
        }
    }
    let (method, model) = methods().swap_remove(0);
    let crew = Misled(Gwgm::HARDEST.generate(4).unwrap());
    let error = method.estimate(&model, &WithCrew { observer: &(), crew: &crew }).unwrap_err();
    assert!(error.to_string().contains("another model"), "{error}");
}
