//! log Z as a sum over how many units are on in each group of equal visible ones.
//!
//! Visible units form a group when their weights are the same; biases may differ. Given how many of
//! each group are on, hidden units are independent. With groups of one unit this is enumeration.

use super::sums::{log_counts, log_sum, softplus};
use lnz::{Rbm, Result};
use ndarray::Array2;
use rayon::prelude::*;

/// log Z of a model whose visible units form these groups.
pub(crate) fn log_z(model: &Rbm, groups: &[Vec<usize>]) -> f64 {
    // Terms for the threads; not so many that they would fill the memory.
    let mut terms = 1;
    let is_outer = |group: &&Vec<usize>| {
        terms *= group.len() + 1;
        terms <= 50_000
    };
    let outer = groups.iter().take_while(is_outer).count();
    let logs: Vec<f64> = log_terms(model, groups, outer).into_iter().map(|(_, log)| log).collect();
    log_sum(&logs)
}

/// log Z by a sum over all states of the smaller layer.
pub(crate) fn enumerated(model: &Rbm) -> Result<f64> {
    if model.visible() > model.hidden() {
        return enumerated(&model.transposed()?);
    }
    let singles: Vec<Vec<usize>> = (0..model.visible()).map(|unit| vec![unit]).collect();
    Ok(log_z(model, &singles))
}

/// For all numbers of units on in the first `outer` groups, the log of the sum over everything else.
pub(super) fn log_terms(
    model: &Rbm,
    groups: &[Vec<usize>],
    outer: usize,
) -> Vec<(Vec<usize>, f64)> {
    let sum = Sum::new(model, groups);
    let on_of = |mut state: usize| -> Vec<usize> {
        let mut on = Vec::with_capacity(outer);
        for group in &groups[..outer] {
            on.push(state % (group.len() + 1));
            state /= group.len() + 1;
        }
        on
    };
    let states: usize = groups[..outer].iter().map(|group| group.len() + 1).product();
    (0..states)
        .into_par_iter()
        .map(|state| {
            let on = on_of(state);
            let log = sum.over_the_rest(&on);
            (on, log)
        })
        .collect()
}

/// The sum with hidden units of equal weights and biases taken together.
struct Sum {
    constant: f64,
    /// Of each group, by the number of units on.
    counts: Vec<Vec<f64>>,
    /// Groups x kinds of hidden units.
    weights: Array2<f64>,
    bias: Vec<f64>,
    /// Hidden units of each kind.
    copies: Vec<f64>,
    /// Exponentials of inputs can be multiplied without overflow, this many at a time.
    safe_products: usize,
    /// Of each group, by the number of units on: the exponentials of what they add to the inputs.
    steps: Vec<Vec<Vec<f64>>>,
}

impl Sum {
    fn new(model: &Rbm, groups: &[Vec<usize>]) -> Self {
        let of_group = |group: &Vec<usize>| model.weights().row(group[0]).to_owned();
        for group in groups {
            let first = of_group(group);
            let is_equal = group.iter().all(|&unit| model.weights().row(unit) == first);
            assert!(is_equal, "the units of a group have different weights");
        }
        assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), model.visible());
        let column = |hidden: usize| -> Vec<u64> {
            let weights = groups.iter().map(|g| model.weights()[[g[0], hidden]]);
            weights.chain([model.hidden_bias()[hidden]]).map(f64::to_bits).collect()
        };
        let mut kinds: Vec<(Vec<u64>, usize, f64)> = Vec::new();
        let mut place = std::collections::HashMap::new();
        for hidden in 0..model.hidden() {
            let key = column(hidden);
            let at = *place.entry(key.clone()).or_insert_with(|| {
                kinds.push((key, hidden, 0.0));
                kinds.len() - 1
            });
            kinds[at].2 += 1.0;
        }
        let weights = Array2::from_shape_fn((groups.len(), kinds.len()), |(g, k)| {
            model.weights()[[groups[g][0], kinds[k].1]]
        });
        let bias: Vec<f64> = kinds.iter().map(|kind| model.hidden_bias()[kind.1]).collect();
        let largest_input = |k: usize| {
            let sizes = groups.iter().zip(weights.column(k));
            bias[k].abs() + sizes.map(|(group, w)| group.len() as f64 * w.abs()).sum::<f64>()
        };
        let largest = (0..kinds.len()).map(largest_input).fold(1.0, f64::max);
        // Below e^600, a double; with copies logarithms are taken one by one.
        let are_single = kinds.iter().all(|kind| kind.2 == 1.0);
        let safe_products = if are_single { (600.0 / largest) as usize } else { 0 };
        let step = |g: usize, on: usize| weights.row(g).mapv(|w| (on as f64 * w).exp()).to_vec();
        let steps_of = |g: usize| (0..=groups[g].len()).map(|on| step(g, on)).collect();
        let has_steps = safe_products >= 2;
        Self {
            constant: model.constant(),
            safe_products,
            steps: if has_steps { (0..groups.len()).map(steps_of).collect() } else { vec![] },
            counts: groups
                .iter()
                .map(|group| {
                    let biases: Vec<f64> = group.iter().map(|&i| model.visible_bias()[i]).collect();
                    log_counts(&biases)
                })
                .collect(),
            copies: kinds.iter().map(|kind| kind.2).collect(),
            weights,
            bias,
        }
    }

    fn over_the_rest(&self, on: &[usize]) -> f64 {
        let mut input = self.bias.clone();
        let mut log = self.constant;
        for (group, &on) in on.iter().enumerate() {
            add(&mut input, on as f64, self.weights.row(group).as_slice());
            log += self.counts[group][on];
        }
        let mut logs = Vec::new();
        if self.safe_products >= 2 {
            let factors: Vec<f64> = input.iter().map(|a| a.exp()).collect();
            self.descend_by_factors(on.len(), &factors, log, &mut logs);
        } else {
            self.descend(on.len(), &input, log, &mut logs);
        }
        log_sum(&logs)
    }

    /// Groups from `group` on, given the inputs that those before it make.
    fn descend(&self, group: usize, input: &[f64], log: f64, logs: &mut Vec<f64>) {
        if group == self.counts.len() {
            let terms = input.iter().zip(&self.copies).map(|(a, copies)| copies * softplus(*a));
            logs.push(log + terms.sum::<f64>());
            return;
        }
        for (on, count) in self.counts[group].iter().enumerate() {
            let mut input = input.to_vec();
            add(&mut input, on as f64, self.weights.row(group).as_slice());
            self.descend(group + 1, &input, log + count, logs);
        }
    }

    /// The same with exp(input): a product instead of a sum of logarithms.
    fn descend_by_factors(&self, group: usize, factors: &[f64], log: f64, logs: &mut Vec<f64>) {
        if group == self.counts.len() {
            logs.push(log + self.log_product(factors));
            return;
        }
        for ((on, count), steps) in self.counts[group].iter().enumerate().zip(&self.steps[group]) {
            if on == 0 {
                self.descend_by_factors(group + 1, factors, log + count, logs);
                continue;
            }
            let next: Vec<f64> = factors.iter().zip(steps).map(|(a, b)| a * b).collect();
            self.descend_by_factors(group + 1, &next, log + count, logs);
        }
    }

    /// Sum of log(1 + factor), in lanes that a processor can multiply side by side.
    fn log_product(&self, factors: &[f64]) -> f64 {
        const LANES: usize = 8;
        let mut log = 0.0;
        for factors in factors.chunks(LANES * self.safe_products) {
            let mut lanes = [1.0; LANES];
            for row in factors.chunks(LANES) {
                lanes.iter_mut().zip(row).for_each(|(lane, factor)| *lane *= 1.0 + factor);
            }
            log += lanes.iter().map(|lane| lane.ln()).sum::<f64>();
        }
        log
    }
}

fn add(input: &mut [f64], scale: f64, weights: Option<&[f64]>) {
    let weights = weights.expect("rows are contiguous");
    input.iter_mut().zip(weights).for_each(|(input, weight)| *input += scale * weight);
}
