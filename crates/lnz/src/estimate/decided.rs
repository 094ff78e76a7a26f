//! Decisions that a crew remembers, so that a run that goes on elsewhere or later makes the same ones.

use crate::{Error, Observer, Result};
use serde::{Serialize, de::DeserializeOwned};

/// What the crew remembers under this name, or what `decide` says, which it then remembers. Without a
/// crew, what `decide` says.
pub(super) fn decided<T: Serialize + DeserializeOwned>(
    observer: &dyn Observer,
    name: &str,
    decide: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let Some(crew) = observer.crew() else { return decide() };
    let (mut decide, mut made) = (Some(decide), None);
    let unfit = |error| Error::orders(format!("the decision `{name}` cannot be read: {error}"));
    let kept = crew.decide(name, &mut || {
        let decide =
            decide.take().ok_or_else(|| Error::orders("a decision was asked for twice"))?;
        let value = decide()?;
        let kept = serde_json::to_value(&value).map_err(unfit)?;
        made = Some(value);
        Ok(kept)
    })?;
    // What was decided here is not changed by being written down.
    match made {
        Some(value) if serde_json::to_value(&value).ok().as_ref() == Some(&kept) => Ok(value),
        _ => serde_json::from_value(kept).map_err(unfit),
    }
}
