//! Models of 28 x 28 pixels trained on drawings of strokes that are made here.

use super::disguise::Solved;
use super::numbers::Numbers;
use super::occupations::enumerated;
use lnz::{Rbm, Result};
use ndarray::{Array1, Array2, Axis};

/// Contrastive divergence on drawings; few hidden units, so that their states can be enumerated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Strokes {
    pub(crate) hidden: usize,
    pub(crate) rate: f64,
    pub(crate) negative: Negative,
    /// Steps of training.
    pub(crate) updates: usize,
}

/// Where the chains of the negative phase begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Negative {
    /// At the data: CD-1.
    Data,
    /// Where they ended before: PCD-1.
    Last,
}

const SIDE: usize = 28;
const BATCH: usize = 20;
/// Kinds of drawings, each of a few strokes.
const KINDS: usize = 10;

impl Strokes {
    pub(crate) fn generate(&self, seed: u64) -> Result<Solved> {
        let mut numbers = Numbers::new(11, seed);
        let (visible, hidden) = (SIDE * SIDE, self.hidden);
        let kinds: Vec<Vec<Stroke>> = (0..KINDS).map(|_| Stroke::several(&mut numbers)).collect();
        let mut weights =
            Array2::from_shape_simple_fn((visible, hidden), || 0.01 * numbers.normal());
        // Pixels begin at about the share of ink, as is usual.
        let mut visible_bias: Array1<f64> = Array1::from_elem(visible, -2.0);
        let mut hidden_bias: Array1<f64> = Array1::zeros(hidden);
        let mut chains = Array2::zeros((BATCH, visible));
        for _ in 0..self.updates {
            let data = batch(&kinds, &mut numbers);
            let hidden_means = means(&data, &weights, &hidden_bias);
            let begin = match self.negative {
                Negative::Data => hidden_means.mapv(|p| numbers.bit(p)),
                Negative::Last => means(&chains, &weights, &hidden_bias).mapv(|p| numbers.bit(p)),
            };
            let dream = means(&begin, &weights.t().to_owned(), &visible_bias);
            chains = dream.mapv(|p| numbers.bit(p));
            let dream_means = means(&chains, &weights, &hidden_bias);
            let rate = self.rate / BATCH as f64;
            let gradient = data.t().dot(&hidden_means) - chains.t().dot(&dream_means);
            weights.scaled_add(rate, &gradient);
            visible_bias.scaled_add(rate, &(&data - &chains).sum_axis(Axis(0)));
            hidden_bias.scaled_add(rate, &(&hidden_means - &dream_means).sum_axis(Axis(0)));
        }
        let model = Rbm::new(weights, visible_bias, hidden_bias)?;
        let log_z = enumerated(&model)?;
        Solved::new(model, log_z)
    }
}

/// Means of a layer given the states of the other.
fn means(states: &Array2<f64>, weights: &Array2<f64>, bias: &Array1<f64>) -> Array2<f64> {
    (states.dot(weights) + bias).mapv(|input| 1.0 / (1.0 + (-input).exp()))
}

/// An arc from one point to another.
struct Stroke {
    from: [f64; 2],
    to: [f64; 2],
    bend: f64,
}

impl Stroke {
    fn several(numbers: &mut Numbers) -> Vec<Self> {
        let point = |numbers: &mut Numbers| [0, 1].map(|_| 5.0 + 18.0 * numbers.uniform());
        let mut from = point(numbers);
        (0..2 + numbers.below(2))
            .map(|_| {
                let stroke = Stroke { from, to: point(numbers), bend: 6.0 * numbers.normal() };
                from = stroke.to;
                stroke
            })
            .collect()
    }

    /// Sets the pixels near the stroke.
    fn draw(&self, shift: [f64; 2], mut row: ndarray::ArrayViewMut1<'_, f64>) {
        const POINTS: usize = 40;
        let [dx, dy] = [self.to[0] - self.from[0], self.to[1] - self.from[1]];
        let length = dx.hypot(dy).max(1.0);
        for k in 0..=POINTS {
            let t = k as f64 / POINTS as f64;
            let aside = self.bend * 4.0 * t * (1.0 - t) / length;
            let x = self.from[0] + t * dx - aside * dy + shift[0];
            let y = self.from[1] + t * dy + aside * dx + shift[1];
            for (a, b) in [(0.0, 0.0), (0.9, 0.0), (0.0, 0.9), (0.9, 0.9)] {
                let (i, j) = ((y + a) as usize, (x + b) as usize);
                if i < SIDE && j < SIDE {
                    row[i * SIDE + j] = 1.0;
                }
            }
        }
    }
}

/// Drawings of random kinds, moved a little, with some pixels flipped.
fn batch(kinds: &[Vec<Stroke>], numbers: &mut Numbers) -> Array2<f64> {
    let mut data = Array2::zeros((BATCH, SIDE * SIDE));
    for mut row in data.rows_mut() {
        let shift = [0, 1].map(|_| 1.0 * numbers.normal());
        let kind = &kinds[numbers.below(kinds.len())];
        kind.iter().for_each(|stroke| stroke.draw(shift, row.view_mut()));
        row.mapv_inplace(|on| (on - numbers.bit(0.01)).abs());
    }
    data
}
