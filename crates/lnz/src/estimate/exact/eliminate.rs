//! log Z by summing out one unit after the other.

use super::plan::{MOST_LIFT, Plan};
use super::table::{Linear, Logarithmic, Scale, Source, Step, UnitFactors, is_table};
use super::watch::Watch;
use crate::math::{CompensatedSum, exp, ln};
use crate::{Observer, Result};
use lnz_kernels::enumeration::{Scaled, ScaledSum};
use rayon::prelude::*;
use std::f64::consts::{LN_2, LOG2_E};

/// Smaller tables come from the allocator's own store.
const SPARED_ENTRIES: usize = 1 << 14;

/// One elimination under way.
pub(super) struct Run<'a> {
    plan: &'a Plan,
    /// e^bias of the units that are left, with what was summed out and depends on that unit alone.
    biases: Vec<Scaled>,
    /// Tables that wait for the step that uses them.
    tables: Vec<Option<Table>>,
    /// Memory of the tables that the last step has used up; only ever used for the next one, so that it
    /// adds nothing to what a step needs.
    spare: Vec<Vec<f64>>,
    /// The product of what depends on no unit any more.
    product: Scaled,
    log_product: CompensatedSum,
}

/// The table of a step.
struct Table {
    values: Vec<f64>,
    height: Height,
}

impl Table {
    fn lift(&self) -> f64 {
        match self.height {
            Height::Linear { lift } => lift,
            Height::Logarithmic { .. } => 0.0,
        }
    }

    /// Multiplies the entries by 2^lift.
    fn lift_entries(&mut self) {
        let factor = power_of_two(self.lift());
        self.values.par_iter_mut().with_min_len(1 << 14).for_each(|value| *value *= factor);
        self.height = Height::Linear { lift: 0.0 };
    }
}

/// By what the entries of a table have to be multiplied, so that the largest is about 1. The step that
/// uses the table does so and puts the inverse into the running product.
#[derive(Clone, Copy)]
enum Height {
    /// 2^lift, of numbers.
    Linear { lift: f64 },
    /// e^-log_largest, of logarithms.
    Logarithmic { log_largest: f64 },
}

impl<'a> Run<'a> {
    /// With e^bias of each unit, which a fixed unit may have changed.
    pub(super) fn new(plan: &'a Plan, biases: Vec<Scaled>) -> Self {
        let tables = (0..plan.scopes.steps()).map(|_| None).collect();
        let log_product = CompensatedSum::default();
        Self { plan, biases, tables, spare: Vec::new(), product: Scaled::ONE, log_product }
    }

    pub(super) fn log_z(mut self, watch: &mut Watch<'_>) -> Result<f64> {
        let scopes = &self.plan.scopes;
        for step in 0..scopes.steps() {
            let width = scopes.width_of(step);
            let children: Vec<usize> =
                scopes.children(step).filter(|&child| is_table(scopes.width_of(child))).collect();
            if watch.observer.cancelled() {
                return Err(watch.cancelled());
            }
            if children.is_empty() && !is_table(width) {
                self.sum_out_leaf(step);
            } else {
                let done = match self.plan.logarithmic[step] {
                    true => self.sum_out_logarithmic(step, &children, watch.observer),
                    false => self.sum_out_linear(step, &children, watch.observer),
                };
                let Some(table) = done else { return Err(watch.cancelled()) };
                self.keep(step, table);
            }
            watch.advance(1 << width);
        }
        self.log_product.add(self.product.ln());
        Ok(self.log_product.total())
    }

    /// A unit that at most one other is coupled to: its sum goes into the bias of the other.
    fn sum_out_leaf(&mut self, step: usize) {
        let scopes = &self.plan.scopes;
        let bias = self.biases[scopes.order[step] as usize];
        let other_off = one_plus(bias);
        if let Some((_, weight)) = scopes.couplings(&self.plan.model, step).next() {
            let other_on = one_plus(bias.times(Scaled::exp(weight)).normalized());
            let other = scopes.order[scopes.scope(step)[0] as usize] as usize;
            self.biases[other] = self.biases[other].times(ratio(other_on, other_off)).normalized();
        }
        self.product = self.product.times(other_off).normalized();
    }

    /// A table of one unit or none is a bias or a number; others wait.
    fn keep(&mut self, step: usize, table: Table) {
        let scopes = &self.plan.scopes;
        if is_table(scopes.width_of(step)) {
            self.tables[step] = Some(table);
            return;
        }
        let off = table.values[0];
        let ratio_of_on = |on: f64| match table.height {
            Height::Linear { .. } => ratio(number(on), number(off)),
            Height::Logarithmic { .. } => Scaled::exp(on - off),
        };
        if let (Some(&on), Some(&other)) = (table.values.get(1), scopes.scope(step).first()) {
            let other = scopes.order[other as usize] as usize;
            self.biases[other] = self.biases[other].times(ratio_of_on(on)).normalized();
        }
        match table.height {
            Height::Linear { .. } => self.product = self.product.times(number(off)).normalized(),
            Height::Logarithmic { .. } => self.log_product.add(off),
        }
    }

    /// Takes the tables that a step uses.
    fn take(&mut self, children: &[usize]) -> Vec<Table> {
        children.iter().filter_map(|&child| self.tables[child].take()).collect()
    }

    /// One step on numbers, which powers of two keep within the range of float64.
    ///
    /// A coupling w to a unit v of the scope moves the table by 1 to e^w when v is switched on. Divided
    /// by 2^k, about e^(w/2), it moves by as much up as down; the bias of v has the 2^k.
    fn sum_out_linear(
        &mut self,
        step: usize,
        children: &[usize],
        observer: &dyn Observer,
    ) -> Option<Table> {
        let scopes = &self.plan.scopes;
        let scope = scopes.scope(step);
        let mut tables = self.take(children);
        self.make_linear(&mut tables, observer)?;
        if tables.iter().map(|table| table.lift().abs()).sum::<f64>() > MOST_LIFT {
            for table in &mut tables {
                self.product.exponent -= table.lift();
                table.lift_entries();
            }
        }
        let lift: f64 = tables.iter().map(Table::lift).sum();
        let mut off = vec![1.0; scope.len()];
        let mut on = off.clone();
        for (place, weight) in scopes.couplings(&self.plan.model, step) {
            let half = (0.5 * LOG2_E * weight).round();
            let factor = Scaled::exp(weight);
            off[place] = power_of_two(-half);
            on[place] = factor.mantissa * power_of_two(factor.exponent - half);
            self.biases[scopes.order[scope[place] as usize] as usize].exponent += half;
        }
        let bias = self.biases[scopes.order[step] as usize];
        // The larger of e^bias and 1 goes into the product.
        let high = bias.exponent.max(0.0);
        self.product.exponent += high - lift;
        let off_number = halves_of_power(lift - high);
        let [inside, above] = halves_of_power(bias.exponent + lift - high);
        let factors = [
            UnitFactors::new::<Linear>(off_number, &off),
            UnitFactors::new::<Linear>([inside, bias.mantissa * above], &on),
        ];
        let (values, largest) = self.fill::<Linear>(step, factors, children, tables, observer)?;
        // The largest entry comes to lie in [1/2, 1).
        let lift = -number(largest).exponent - 1.0;
        Some(Table { values, height: Height::Linear { lift } })
    }

    /// One step on logarithms, for weights of any size.
    fn sum_out_logarithmic(
        &mut self,
        step: usize,
        children: &[usize],
        observer: &dyn Observer,
    ) -> Option<Table> {
        let scopes = &self.plan.scopes;
        let mut tables = self.take(children);
        let log_largest = make_logarithmic(&mut tables, observer)?;
        self.log_product.add(log_largest);
        let mut on = vec![0.0; scopes.width_of(step)];
        for (place, weight) in scopes.couplings(&self.plan.model, step) {
            on[place] = weight;
        }
        let bias = self.biases[scopes.order[step] as usize].ln();
        let factors = [
            UnitFactors::new::<Logarithmic>([0.0, -log_largest], &vec![0.0; on.len()]),
            UnitFactors::new::<Logarithmic>([0.0, bias - log_largest], &on),
        ];
        let (values, log_largest) =
            self.fill::<Logarithmic>(step, factors, children, tables, observer)?;
        Some(Table { values, height: Height::Logarithmic { log_largest } })
    }

    fn fill<S: Scale>(
        &mut self,
        step: usize,
        factors: [UnitFactors; 2],
        children: &[usize],
        tables: Vec<Table>,
        observer: &dyn Observer,
    ) -> Option<(Vec<f64>, f64)> {
        let scopes = &self.plan.scopes;
        let scope = scopes.scope(step);
        let sources = (tables.iter().zip(children))
            .map(|(table, &child)| Source::new(&table.values, scope, scopes.scope(child)))
            .collect();
        // Pages that were in use before need not be fetched from the system and cleared.
        let same_size = |spare: &Vec<f64>| spare.len() == 1 << scope.len();
        let mut values = match self.spare.iter().position(same_size) {
            Some(k) => self.spare.swap_remove(k),
            None => Vec::new(),
        };
        self.spare.clear();
        values.resize(1 << scope.len(), 0.0);
        let largest = Step { factors, sources }.fill::<S>(&mut values, observer)?;
        let used = tables.into_iter().map(|table| table.values);
        self.spare.extend(used.filter(|values| values.len() >= SPARED_ENTRIES));
        Some((values, largest))
    }

    /// Turns logarithms into numbers.
    fn make_linear(&mut self, tables: &mut [Table], observer: &dyn Observer) -> Option<()> {
        for table in tables {
            if let Height::Logarithmic { log_largest } = table.height {
                change(&mut table.values, observer, |log| exp(log - log_largest))?;
                self.log_product.add(log_largest);
                table.height = Height::Linear { lift: 0.0 };
            }
        }
        Some(())
    }
}

/// Turns numbers into logarithms; returns the sum of the largest of each table.
fn make_logarithmic(tables: &mut [Table], observer: &dyn Observer) -> Option<f64> {
    let mut total = 0.0;
    for table in tables {
        match table.height {
            Height::Logarithmic { log_largest } => total += log_largest,
            Height::Linear { lift } => {
                change(&mut table.values, observer, ln)?;
                total -= lift * LN_2;
            }
        }
    }
    Some(total)
}

/// Changes every entry of a table; None if the observer asks to stop.
fn change(
    values: &mut [f64],
    observer: &dyn Observer,
    new: impl Fn(f64) -> f64 + Sync,
) -> Option<()> {
    values.par_chunks_mut(1 << 14).try_for_each(|part| {
        part.iter_mut().for_each(|value| *value = new(*value));
        (!observer.cancelled()).then_some(())
    })
}

fn number(value: f64) -> Scaled {
    Scaled { mantissa: value, exponent: 0.0 }.normalized()
}

fn one_plus(value: Scaled) -> Scaled {
    let mut sum = ScaledSum::default();
    sum.add(Scaled::ONE);
    sum.add(value);
    sum.total().normalized()
}

fn ratio(a: Scaled, b: Scaled) -> Scaled {
    Scaled { mantissa: a.mantissa / b.mantissa, exponent: a.exponent - b.exponent }
}

/// 2^k as a product of two numbers: one alone may be too small while what it multiplies makes up for it.
fn halves_of_power(k: f64) -> [f64; 2] {
    let half = (0.5 * k).round();
    [power_of_two(half), power_of_two(k - half)]
}

/// 2^k for a whole number k up to 1000; zero below -1000.
///
/// As half of a factor that is below 2^-2000, where other factors reach 2^780 at most (see
/// `LINEAR_SPREAD`), it is not missed beside a sum that is 2^-780 at least.
fn power_of_two(k: f64) -> f64 {
    if k < -1000.0 { 0.0 } else { f64::from_bits(((k as i64 + 1023) as u64) << 52) }
}
