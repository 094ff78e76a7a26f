//! A model in float32 while it learns: biases, and weights in both orders, in panels of columns.

use crate::aligned::Aligned;

/// Lanes of a vector.
pub(crate) const LANES: usize = 16;
/// Columns of a panel: two vectors.
pub const PANEL: usize = 2 * LANES;

/// Rows of float32, stored as `[panel][row][PANEL]`, padded with zeros.
#[derive(Clone)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    /// Rows with padding, so that a panel consists of whole squares of 16 x 16.
    height: usize,
    values: Aligned<f32>,
}

impl Matrix {
    pub fn zeroed(rows: usize, columns: usize) -> Self {
        let height = rows.next_multiple_of(LANES);
        let values = Aligned::zeroed(height * columns.next_multiple_of(PANEL));
        Self { rows, columns, height, values }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Columns with padding.
    pub fn width(&self) -> usize {
        self.columns.next_multiple_of(PANEL)
    }

    /// Numbers in a panel, with its padding.
    pub fn panel_len(&self) -> usize {
        self.height * PANEL
    }

    /// All panels, one after the other.
    pub fn panels(&self) -> &[f32] {
        &self.values
    }

    pub fn panels_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The rows in shares of `rows`, with the padding; of each share its part of every panel.
    pub fn shares_mut(&mut self, rows: usize) -> Vec<Vec<&mut [f32]>> {
        let (panel_len, panels) = (self.panel_len(), self.width() / PANEL);
        let mut shares: Vec<Vec<_>> = Vec::new();
        shares.resize_with(self.height.div_ceil(rows), || Vec::with_capacity(panels));
        for panel in self.values.chunks_exact_mut(panel_len) {
            let parts = panel.chunks_mut(rows * PANEL);
            shares.iter_mut().zip(parts).for_each(|(share, part)| share.push(part));
        }
        shares
    }

    pub fn row(&self, row: usize) -> impl Iterator<Item = f32> + '_ {
        let panels = self.values.chunks_exact(self.panel_len());
        let values = panels.flat_map(move |panel| &panel[row * PANEL..][..PANEL]);
        values.take(self.columns).copied()
    }

    pub fn set_row(&mut self, row: usize, values: impl IntoIterator<Item = f32>) {
        let (columns, panel_len) = (self.columns, self.panel_len());
        let panels = self.values.chunks_exact_mut(panel_len);
        let places = panels.flat_map(move |panel| &mut panel[row * PANEL..][..PANEL]);
        places.take(columns).zip(values).for_each(|(place, value)| *place = value);
    }
}

/// The bias of a unit that does not exist: it is never on.
const NEVER: f32 = -1e4;

/// One layer: the bias of its units and the weights into it, a row for each unit of the other layer.
#[derive(Clone)]
pub struct Layer {
    /// With padding.
    pub(crate) bias: Aligned<f32>,
    pub weights: Matrix,
}

impl Layer {
    pub fn new(others: usize, units: usize) -> Self {
        let weights = Matrix::zeroed(others, units);
        let mut bias = Aligned::zeroed(weights.width());
        bias[units..].fill(NEVER);
        Self { bias, weights }
    }

    pub fn bias(&self) -> &[f32] {
        &self.bias[..self.weights.columns()]
    }

    pub fn bias_mut(&mut self) -> &mut [f32] {
        self.parts_mut().0
    }

    /// The bias and the weights.
    pub fn parts_mut(&mut self) -> (&mut [f32], &mut Matrix) {
        let units = self.weights.columns();
        (&mut self.bias[..units], &mut self.weights)
    }
}

/// Both layers; the weights are kept in both orders.
#[derive(Clone)]
pub struct Layers {
    pub visible: Layer,
    pub hidden: Layer,
}

impl Layers {
    pub fn new(visible: usize, hidden: usize) -> Self {
        Self { visible: Layer::new(hidden, visible), hidden: Layer::new(visible, hidden) }
    }
}
