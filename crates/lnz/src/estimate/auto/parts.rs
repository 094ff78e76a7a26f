//! A model taken apart into components: what can be summed is summed, and the rest is sampled.

use super::whole_progress::WholeProgress;
use super::{Auto, Sampled, rounds};
use crate::estimate::decided::decided;
use crate::estimate::exact::pendants;
use crate::math::softplus;
use crate::observer::Observer;
use crate::{Component, Rbm, Result, exact_cost, exact_log_z};
use ndarray::Array1;
use std::borrow::Cow;

/// A model taken apart: what was summed, and what is left to sample.
pub(super) struct Parts<'a> {
    /// log Z of the components that were summed, and their number.
    pub(super) exact: f64,
    pub(super) exact_components: usize,
    pub(super) to_sample: Vec<Part<'a>>,
}

/// A component that has to be sampled, or the whole model.
pub(super) struct Part<'a> {
    pub(super) model: Cow<'a, Rbm>,
    /// Its visible units; `None` for all.
    visible: Option<Vec<usize>>,
}

impl<'a> Parts<'a> {
    pub(super) fn of(model: &'a Rbm, settings: &Auto, observer: &dyn Observer) -> Result<Self> {
        if !settings.shortcuts && model.hidden() > 0 {
            let whole = Part { model: Cow::Borrowed(model), visible: None };
            return Ok(Self { exact: 0.0, exact_components: 0, to_sample: vec![whole] });
        }
        let components = model.components();
        let affordable =
            decided(observer, "exact-parts", || affordable(model, &components, settings))?;
        let mut parts =
            Self { exact: model.constant(), exact_components: 0, to_sample: Vec::new() };
        for (component, affordable) in components.into_iter().zip(affordable) {
            if component.visible.is_empty() {
                let biases = component.hidden.iter().map(|&j| model.hidden_bias()[j]);
                parts.exact += biases.map(softplus).sum::<f64>();
                parts.exact_components += 1;
                continue;
            }
            let part = model.restricted_to(&component)?;
            if component.hidden.is_empty() || affordable {
                parts.exact += exact_log_z(&part, observer)?;
                parts.exact_components += 1;
            } else if let Some(folded) = pendants::fold(model, &component)? {
                // What hangs on the rest is summed out, and a smaller model is left to be sampled.
                parts.exact += folded.log_factor;
                let visible = Some(folded.component.visible);
                parts.to_sample.push(Part { model: Cow::Owned(folded.model), visible });
            } else {
                let visible = Some(component.visible);
                parts.to_sample.push(Part { model: Cow::Owned(part), visible });
            }
        }
        Ok(parts)
    }

    /// The means of the phases of all parts, side by side; a part with fewer of them repeats its largest.
    pub(super) fn starts(&self, sampled: &[Sampled], units: usize) -> Vec<Array1<f64>> {
        let most = sampled.iter().map(|part| part.starts.len()).max().unwrap_or(0);
        let start = |k: usize| {
            let mut means = Array1::from_elem(units, 0.5);
            for (part, found) in self.to_sample.iter().zip(sampled) {
                let Some(of_part) = found.starts.get(k).or(found.starts.first()) else { continue };
                match &part.visible {
                    None => means.assign(of_part),
                    Some(visible) => {
                        visible.iter().zip(of_part).for_each(|(&i, &mean)| means[i] = mean);
                    }
                }
            }
            means
        };
        (0..most).map(start).collect()
    }

    /// Samples what is left; the parts share the time and the error between them.
    pub(super) fn sample(&self, settings: &Auto, observer: &dyn Observer) -> Result<Vec<Sampled>> {
        let observer = &WholeProgress::of(&self.to_sample, self.exact, observer);
        let count = self.to_sample.len().max(1) as f64;
        let share = Auto {
            max_seconds: settings.max_seconds / count,
            target_error: settings.target_error / count.sqrt(),
            ..settings.clone()
        };
        let sample = |part: &Part<'_>| {
            let of_part = |means: &Array1<f64>| match &part.visible {
                None => means.clone(),
                Some(visible) => means.select(ndarray::Axis(0), visible),
            };
            let data_means = settings.data_means.as_ref().map(of_part);
            let similar_means = settings.similar_means.iter().map(of_part).collect();
            let settings = Auto { data_means, similar_means, ..share.clone() };
            rounds::sample(&part.model, &settings, observer)
        };
        self.to_sample.iter().map(sample).collect()
    }
}

/// The components that can be summed exactly: one after the other, while the time lasts.
fn affordable(model: &Rbm, components: &[Component], settings: &Auto) -> Result<Vec<bool>> {
    let mut seconds_left = settings.seconds_for_sums();
    let each = components.iter().map(|component| {
        if component.visible.is_empty() {
            return Ok(true);
        }
        let seconds = exact_cost(&model.restricted_to(component)?)?.seconds;
        let affordable = component.hidden.is_empty() || seconds <= seconds_left;
        if affordable {
            seconds_left -= seconds;
        }
        Ok(affordable)
    });
    each.collect()
}
