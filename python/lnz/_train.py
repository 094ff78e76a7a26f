"""Training by contrastive divergence."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _lnz
from ._choices import Binarize, Verdict, VisibleBias
from ._frame import frame
from ._model import RBM, data_argument
from ._options import MOST_THREADS, count, number, seed_number, switch, word
from ._progress import ProgressOption, reporter

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]


@dataclass(frozen=True)
class Epoch:
    """One pass through the data. What was not tracked is None."""

    epoch: int
    """Its number, from 1."""
    learning_rate: float
    reconstruction_error: float
    """Mean squared error of the reconstruction, per visible unit."""
    weight_rms: float
    """Root mean square of the weights after it."""
    log_z: float | None
    std_error: float | None
    verdict: Verdict | None
    train_log_likelihood: float | None
    """Mean log-likelihood of the data, in nats."""
    validation_log_likelihood: float | None


@dataclass(frozen=True)
class Training:
    """A trained model and how it came about."""

    model: RBM
    """The model after the last epoch; it has the means of the data and its settings with it."""
    history: tuple[Epoch, ...]
    """One entry for each epoch."""

    def to_frame(self) -> pandas.DataFrame:
        """The history as a pandas DataFrame, one row for each epoch."""
        return frame(Epoch, self.history)

    def __repr__(self) -> str:
        last = self.history[-1]
        return (
            f"Training: {last.epoch} epochs, reconstruction error {last.reconstruction_error:.4f}, "
            f"weight rms {last.weight_rms:.3f}"
        )


def train(
    data: Any,
    hidden: int,
    *,
    epochs: int = 10,
    batch: int = 100,
    learning_rate: float = 0.01,
    final_learning_rate: float | None = None,
    steps: int = 1,
    persistent: bool = False,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    visible_bias: VisibleBias = "data",
    initial_weights: float = 0.01,
    binarize: Binarize | None = None,
    track: int | Iterable[int] | None = None,
    validation: Any = None,
    track_effort: float = 1.0,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Training:
    """Trains a model on data, as ``lnz train`` on the command line: the same settings give the same bits.

    Parameters
    ----------
    data
        Values in [0, 1], one row per example, or a file.
    hidden
        Number of hidden units.
    epochs, batch
        Passes through the data, and examples in a mini-batch.
    learning_rate, final_learning_rate
        Of the first and of the last epoch; between them it falls by equal factors. Without the
        second it is constant.
    steps, persistent
        The k of CD-k, and whether the chains go on from mini-batch to mini-batch.
    momentum, weight_decay, initial_weights
        Share of the last step that is added to the next, pull of the weights towards zero, standard
        deviation of the initial weights.
    visible_bias
        The biases of the visible units start at the log-odds of the data, or at ``"zero"``.
    binarize
        Grey values are kept as probabilities (``"none"``), cut at 1/2 (``"threshold"``) or drawn anew
        in every epoch (``"bernoulli"``).
    track, validation, track_effort
        Epochs after which log Z and the likelihood are estimated: a list, or every so many. With data
        that is not learnt from, its likelihood too. An effort of 1 costs about a quarter of an epoch.
    seed, threads, progress
        As for :func:`lnz.estimate`.

    >>> import lnz, numpy as np
    >>> bars = np.kron(np.eye(4), np.ones((1, 4)))
    >>> result = lnz.train(bars, 4, epochs=200, batch=4, learning_rate=0.5, track=100)
    >>> [epoch.verdict for epoch in result.history if epoch.log_z is not None]
    ['exact', 'exact']
    >>> result.history[199].train_log_likelihood > result.history[99].train_log_likelihood
    True
    """
    whole = {"hidden": hidden, "epochs": epochs, "batch": batch, "steps": steps}
    real = {
        "learning_rate": learning_rate,
        "momentum": momentum,
        "weight_decay": weight_decay,
        "initial_weights": initial_weights,
        "track_effort": track_effort,
    }
    checked: dict[str, Any] = {name: count(name, value) for name, value in whole.items()}
    checked |= {name: number(name, value) for name, value in real.items()}
    for name, value in checked.items():
        if value is None:
            raise TypeError(f"{name} is None; expected a number")
    effort = checked.pop("track_effort")
    if not 0 < effort <= 1e6:
        raise ValueError(f"track_effort is {effort}; expected above 0, up to 1000000")
    if validation is not None and track is None:
        raise ValueError("validation needs track, the epochs whose likelihood is wanted")
    settings = {
        **checked,
        "final_learning_rate": number("final_learning_rate", final_learning_rate),
        "persistent": switch("persistent", persistent),
        "visible_bias": word("visible_bias", visible_bias) or "data",
        "binarize": word("binarize", binarize),
        "seed": seed_number(seed),
    }
    with reporter(progress) as report:
        model, history = _lnz.train(
            data_argument("data", data),
            settings,
            validation=None if validation is None else data_argument("validation", validation),
            track=_epochs(track, checked["epochs"]),
            track_effort=effort,
            threads=count("threads", threads, most=MOST_THREADS),
            progress=report,
        )
    return Training(RBM._of(model), tuple(Epoch(**fields) for fields in json.loads(history)))


def _epochs(track: Any, last: int) -> list[int]:
    if track is None:
        return []
    if isinstance(track, Iterable) and not isinstance(track, (str, bytes)):
        return [count("track", epoch, most=last) or 0 for epoch in track]
    every = count("track", track) or 1
    return list(range(every, last + 1, every))
