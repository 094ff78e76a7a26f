//! Orders of every kind, carried out by a worker.

use super::{anneal, auto, exact, tempering};
use crate::crew::bits::to_hex;
use crate::crew::{Order, Output};
use crate::{Error, Observer, Rbm, Result};
use sha2::{Digest, Sha256};

/// Carries out an order on the threads of this process: what a worker does.
///
/// `model` is what [`Work::model`](crate::crew::Work::model) gave, `order` the JSON of an [`Order`]; the
/// result is an [`Output`] as bytes.
pub fn carry_out(model: &[u8], order: &str, observer: &dyn Observer) -> Result<Vec<u8>> {
    let order = Order::from_json(order)?;
    if to_hex(&Sha256::digest(model)) != order.task.model {
        return Err(Error::orders("the order is for another model than the one it came with"));
    }
    let output = match &*order.task.kind {
        // It comes with a model without a matrix.
        exact::cases::KIND => exact::cases::carry_out(model, &order, observer)?,
        _ => output_of(&Rbm::from_bytes(model)?, &order, observer)?,
    };
    Ok(output.to_bytes(&order.task.sha256()))
}

fn output_of(model: &Rbm, order: &Order, observer: &dyn Observer) -> Result<Output> {
    match &*order.task.kind {
        anneal::KIND => anneal::carry_out(model, order, observer),
        exact::layers::KIND => exact::layers::carry_out(model, order, observer),
        tempering::KIND => tempering::carry_out(model, order, observer),
        auto::KIND => auto::carry_out(model, order, observer),
        other => Err(Error::orders(format!("an order to {other} is not known here"))),
    }
}
