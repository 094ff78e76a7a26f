"""log Z and likelihood along a training run."""

from __future__ import annotations

import html
import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _lnz
from ._choices import Verdict
from ._estimates import estimate
from ._frame import frame
from ._model import RBM, as_rbm, data_argument
from ._options import count, number, seed_number, thread_count
from ._progress import ProgressOption, reporter
from ._show import html_history

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]


@dataclass(frozen=True)
class Record:
    """The model at one step of its training."""

    step: int
    """The call, counted from 0, or the step that was given."""
    log_z: float
    std_error: float
    interval: tuple[float, float]
    verdict: Verdict
    """``"exact"``, ``"unchecked"`` (the weights agree, and no search was made) or ``"suspect"``."""
    train_log_likelihood: float | None
    """Mean log-likelihood of `data`."""
    validation_log_likelihood: float | None
    """Mean log-likelihood of `validation`."""
    seconds: float
    """What this record took."""


class LogZTracker:
    """Follows log Z, likelihood and verdict through any training loop.

    Call it with the current parameters after each step or epoch; every `every`-th call makes a
    :class:`Record`, the others return at once.

    Parameters
    ----------
    every
        Calls from one record to the next.
    data, validation
        Data whose mean log-likelihood is recorded, as arrays of values in [0, 1], files or names such
        as ``"mnist"``.
    examples
        At most so many rows of each are used, evenly spaced; None for all.
    track_effort, exact_seconds
        As in training with ``lnz.train(..., track=...)``, which gives the same numbers for the same
        model, data and seed: log Z is exact where that is predicted to take at most `exact_seconds`;
        otherwise it is annealed from the means of `data`, with `track_effort` chain-steps for each
        row, which takes about a quarter of the time of an epoch of CD-1. That is no search for missed
        modes: ask :func:`lnz.estimate` about the model that you keep.
    seed, threads, progress
        As for :func:`lnz.estimate`; no progress is shown by default.
    **options
        Other options of :func:`lnz.estimate`, to use that instead.

    >>> import lnz, numpy as np
    >>> tracker = lnz.LogZTracker(every=10, data=np.eye(6))
    >>> weights = np.zeros((6, 3))
    >>> for epoch in range(21):
    ...     weights += 0.01  # a training step
    ...     record = tracker(weights, np.zeros(6), np.zeros(3))
    >>> [(record.step, record.verdict) for record in tracker.history]
    [(0, 'exact'), (10, 'exact'), (20, 'exact')]
    """

    def __init__(
        self,
        every: int = 1,
        *,
        data: Any = None,
        validation: Any = None,
        examples: int | None = None,
        track_effort: float = 1.0,
        exact_seconds: float = 1.0,
        seed: int = 0,
        threads: int | None = None,
        progress: ProgressOption = False,
        **options: Any,
    ) -> None:
        self._every = count("every", every) or 1
        most = count("examples", examples)
        self._threads = thread_count(threads)
        self._data, self._validation = (
            None
            if given is None
            else _lnz.Examples(name, data_argument(name, given), most=most, threads=self._threads)
            for name, given in (("data", data), ("validation", validation))
        )
        self._track_effort = number("track_effort", track_effort) or 0.0
        self._exact_seconds = number("exact_seconds", exact_seconds) or 0.0
        self._seed = seed_number(seed)
        self._progress = progress
        self._options = options
        self._calls = 0
        self._history: list[Record] = []

    @property
    def history(self) -> tuple[Record, ...]:
        """All records so far."""
        return tuple(self._history)

    def __call__(self, *parameters: Any, step: int | None = None) -> Record | None:
        """Looks at the model: anything that :func:`lnz.estimate` takes, or weights, visible bias
        and hidden bias. Returns the new record, or None when this call is passed over."""
        call = self._calls
        self._calls += 1
        if call % self._every:
            return None
        clock = time.perf_counter()
        if len(parameters) not in (1, 3):
            raise TypeError(
                f"{len(parameters)} parameters; expected a model, or weights, visible_bias and "
                "hidden_bias"
            )
        model = as_rbm(parameters[0]) if len(parameters) == 1 else RBM(*parameters)
        look = self._estimate if self._options else self._track
        log_z, std_error, (low, high), verdict, train, validation = look(model)
        record = Record(
            step=call if step is None else step,
            log_z=log_z,
            std_error=std_error,
            interval=(low, high),
            verdict=verdict,
            train_log_likelihood=train,
            validation_log_likelihood=validation,
            seconds=time.perf_counter() - clock,
        )
        self._history.append(record)
        return record

    def _track(self, model: RBM) -> _lnz._Tracked:
        with reporter(self._progress) as report:
            return _lnz.track(
                model._model,
                self._data,
                self._validation,
                track_effort=self._track_effort,
                exact_seconds=self._exact_seconds,
                seed=self._seed,
                threads=self._threads,
                progress=report,
            )

    def _estimate(self, model: RBM) -> _lnz._Tracked:
        run: dict[str, Any] = {"threads": self._threads, "progress": self._progress}
        found = estimate(model, seed=self._seed, **run, **self._options)
        train, validation = (
            None
            if data is None
            else data.mean_log_marginal(model._model, self._threads) - found.log_z
            for data in (self._data, self._validation)
        )
        low, high = found.interval
        return found.log_z, found.std_error, (low, high), found.verdict, train, validation

    def to_dict(self) -> dict[str, list[Any]]:
        """The history by columns."""
        names = Record.__dataclass_fields__
        records = [asdict(record) for record in self._history]
        return {name: [record[name] for record in records] for name in names}

    def to_frame(self) -> pandas.DataFrame:
        """The history as a pandas DataFrame, one row for each record."""
        return frame(Record, self._history)

    def plot(self, axes: Any = None) -> NDArray[np.object_]:
        """log Z and likelihood against the steps; returns the axes, two of them."""
        from ._plot import plot_tracker

        return plot_tracker(self, axes)

    def _repr_html_(self) -> str:
        if not self._history:
            return f"<p>{html.escape(repr(self))}</p>"
        rows = [(record.step, record) for record in self._history]
        return html_history("log Z and mean log-likelihood, in nats", "step", rows)

    def __repr__(self) -> str:
        if not self._history:
            return f"<LogZTracker every={self._every}, no records yet>"
        last = self._history[-1]
        likelihood = last.train_log_likelihood
        seen = "" if likelihood is None else f", log-likelihood {likelihood:.2f}"
        error = "" if not math.isfinite(last.std_error) else f" +- {last.std_error:.2f}"
        return (
            f"<LogZTracker every={self._every}, {len(self._history)} records, "
            f"step {last.step}: log Z {last.log_z:.2f}{error}, {last.verdict}{seen}>"
        )
