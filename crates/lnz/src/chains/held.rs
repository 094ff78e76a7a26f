//! The weights of a model as chains see them: the same for every start, and dear to make for millions of them.

use super::{Bridge, Precision};
use crate::observer::Observer;
use crate::{Error, Rbm, Result};
use lnz_kernels::GridModel;
use std::sync::Arc;

/// What engines for one model share.
#[derive(Clone)]
pub(crate) struct Held {
    /// None for float64, beyond the range of float32, and for units that are not binary.
    pub(crate) grid: Option<Arc<GridModel>>,
    pub(crate) bridge: Arc<Bridge>,
}

impl Held {
    /// The model on the grid that is asked for, or on the next finer one that fits, with a bridge in tiles.
    pub(crate) fn new(model: &Rbm, wanted: Precision, observer: &dyn Observer) -> Result<Self> {
        let grid = grid(model, wanted, observer)?;
        go_on(observer)?;
        let bridge = match grid {
            Some(_) => Bridge::in_tiles(model),
            // The readable engine has no use for one.
            None => Bridge::RowByRow { keeps_inputs: false },
        };
        Ok(Self { grid, bridge: Arc::new(bridge) })
    }

    /// The same for chains that stay at the model, and need no bridge to it.
    pub(crate) fn without_bridge(
        model: &Rbm,
        wanted: Precision,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let bridge = Arc::new(Bridge::RowByRow { keeps_inputs: false });
        Ok(Self { grid: grid(model, wanted, observer)?, bridge })
    }
}

fn grid(model: &Rbm, wanted: Precision, observer: &dyn Observer) -> Result<Option<Arc<GridModel>>> {
    go_on(observer)?;
    if wanted == Precision::F64 || !model.is_binary() {
        return Ok(None);
    }
    let coarse = if wanted == Precision::I16 { GridModel::on_16_bits(model) } else { None };
    let grid = match coarse {
        Some(grid) => Some(grid),
        None => {
            go_on(observer)?;
            GridModel::on_32_bits(model)
        }
    };
    Ok(grid.map(Arc::new))
}

fn go_on(observer: &dyn Observer) -> Result<()> {
    match observer.cancelled() {
        true => Err(Error::Cancelled { reached: "while the weights were prepared".into() }),
        false => Ok(()),
    }
}
