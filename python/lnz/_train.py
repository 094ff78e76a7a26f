"""Training by contrastive divergence."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _lnz
from ._choices import Binarize, Verdict, VisibleBias
from ._frame import frame
from ._model import RBM, PathLike, data_argument
from ._options import count, number, seed_number, switch, thread_count, word
from ._progress import ProgressOption, reporter
from ._show import html_history

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]


@dataclass(frozen=True)
class Epoch:
    """One pass through the data. What was not tracked is None."""

    epoch: int
    """Its number, from 1; 0 is the model before it has learnt anything, where that is tracked."""
    learning_rate: float
    reconstruction_error: float
    """Mean squared error of the reconstruction, per visible unit; NaN for epoch 0."""
    weight_rms: float
    """Root mean square of the weights after it."""
    log_z: float | None
    std_error: float | None
    verdict: Verdict | None
    train_log_likelihood: float | None
    """Mean log-likelihood of the data, in nats."""
    validation_log_likelihood: float | None
    interval: tuple[float, float] | None
    """95% interval of log Z."""
    seconds: float
    """What the epoch took."""
    track_seconds: float
    """What log Z and likelihood took."""

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Epoch:
        # JSON has neither infinity, for which words stand, nor NaN.
        interval, error = fields["interval"], fields["reconstruction_error"]
        if interval is not None:
            low, high = interval
            interval = (
                -math.inf if low is None else float(low),
                math.inf if high is None else float(high),
            )
            error_of_log_z = fields["std_error"]
            fields["std_error"] = math.inf if error_of_log_z is None else float(error_of_log_z)
        error = math.nan if error is None else error
        return cls(**{**fields, "interval": interval, "reconstruction_error": error})


@dataclass(frozen=True)
class Training:
    """A trained model and how it came about."""

    model: RBM
    """The model after the last epoch; it has the means of the data and its settings with it."""
    history: tuple[Epoch, ...]
    """One entry for each epoch."""
    _json: str = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``lnz train --json`` prints; the file of a plot is None."""
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    def to_frame(self) -> pandas.DataFrame:
        """The history as a pandas DataFrame, one row for each epoch."""
        return frame(Epoch, self.history)

    def report(self, path: PathLike) -> None:
        """Writes a page with figures and the history: one HTML file that needs no other."""
        from ._report import report_training

        report_training(self, path)

    def plot(self, axes: Any = None) -> NDArray[np.object_]:
        """log Z and likelihood along the epochs that were tracked; returns the axes, two of them."""
        from ._plot import plot_training

        return plot_training(self, axes)

    def __repr__(self) -> str:
        last = self.history[-1]
        return (
            f"Training: {last.epoch} epochs, reconstruction error {last.reconstruction_error:.4f}, "
            f"weight rms {last.weight_rms:.3f}"
        )

    def _repr_html_(self) -> str:
        tracked = [(epoch.epoch, epoch) for epoch in self.history if epoch.log_z is not None]
        if not tracked:
            return f"<p>{html.escape(repr(self))}</p>"
        return html_history(f"{self!r}; log Z and likelihood in nats", "epoch", tracked)


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
    track: int | str | Iterable[int] | None = None,
    validation: Any = None,
    track_effort: float = 1.0,
    out: PathLike | None = None,
    save_at: int | str | Iterable[int] | None = None,
    resume: bool = False,
    max_seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Training:
    """Trains a model on data, as ``lnz train`` on the command line: the same settings give the same bits.

    Parameters
    ----------
    data
        Values in [0, 1], one row per example, or a file, or the name of a data set that ``lnz data
        fetch`` has got, such as ``"mnist"``.
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
        Epochs after which log Z and the likelihood are estimated: a list, every so many, or a text
        such as ``"1-20,40,100-500/100"`` or ``"all"``; 0 is before the first. With data that is not
        learnt from, its likelihood too. An effort of 1 costs about a quarter of an epoch.
    out, save_at, resume
        A folder for the history, the models of the epochs named by `save_at` and of the last, and the
        state that `resume` goes on from, to the same bits as a run that was never interrupted. Without
        it nothing is written.
    max_seconds
        The seconds that the call may take: no epoch begins that would not end by then, and the history
        is shorter. A TimeoutError says that the time was too short for the first one.
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
    last = checked["epochs"]
    keeping = {
        "track": _epochs("track", track, last),
        "track_effort": checked.pop("track_effort"),
        "out": None if out is None else os.fspath(out),
        "save_at": _epochs("save_at", save_at, last),
        "resume": switch("resume", resume),
        "max_seconds": number("max_seconds", max_seconds),
    }
    settings = {
        **checked,
        "final_learning_rate": number("final_learning_rate", final_learning_rate),
        "persistent": switch("persistent", persistent),
        "visible_bias": word("visible_bias", visible_bias) or "data",
        "binarize": word("binarize", binarize),
        "seed": seed_number(seed),
    }
    with reporter(progress) as report:
        model, trained = _lnz.train(
            data_argument("data", data),
            settings,
            keeping,
            validation=None if validation is None else data_argument("validation", validation),
            threads=thread_count(threads),
            progress=report,
        )
    history = tuple(Epoch._of(fields) for fields in json.loads(trained)["epochs"])
    return Training(RBM._of(model), history, trained)


def _epochs(name: str, epochs: Any, last: int) -> str:
    """Epochs as the command line has them: a list, every so many, or such a text already."""
    if epochs is None:
        return ""
    if isinstance(epochs, str):
        return epochs
    if isinstance(epochs, Iterable):
        return ",".join(str(count(name, epoch, least=0)) for epoch in epochs)
    every = count(name, epochs) or 1
    return f"{every}-{last}/{every}" if every <= last else ""
