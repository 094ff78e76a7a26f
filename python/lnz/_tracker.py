"""log Z and likelihood along a training run."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FloatArray, rows
from ._choices import Verdict
from ._estimates import estimate, exact, score
from ._frame import frame
from ._model import RBM, as_rbm
from ._options import count, number
from ._results import Estimate

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
    """``"exact"``, ``"consistent"`` or ``"suspect"``."""
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
        Data whose mean log-likelihood is recorded, as arrays of values in [0, 1].
    examples
        At most so many rows of each are used, evenly spaced; None for all.
    exact_seconds
        log Z is exact where that is predicted to take at most this long; otherwise it comes from
        256 chains and 1000 betas of AIS, from the means of `data` if there is any. That takes about
        a second for 784 x 500 units, and is no search for missed modes: ask :func:`lnz.estimate`
        about the model that you keep.
    **options
        Options of :func:`lnz.estimate` to use instead.

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
        examples: int | None = 1000,
        exact_seconds: float = 0.5,
        **options: Any,
    ) -> None:
        self._every = count("every", every) or 1
        most = count("examples", examples)
        self._data = None if data is None else _thinned(rows("data", data), most)
        self._validation = (
            None if validation is None else _thinned(rows("validation", validation), most)
        )
        self._exact_seconds = number("exact_seconds", exact_seconds) or 0.0
        self._options = {"progress": False, **options}
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
        found = self._estimate(model)
        train, validation = (
            None
            if data is None
            else score(model, data, log_z=found, progress=False).mean_log_likelihood
            for data in (self._data, self._validation)
        )
        record = Record(
            step=call if step is None else step,
            log_z=found.log_z,
            std_error=found.std_error,
            interval=found.interval,
            verdict=found.verdict,
            train_log_likelihood=train,
            validation_log_likelihood=validation,
            seconds=time.perf_counter() - clock,
        )
        self._history.append(record)
        return record

    def _estimate(self, model: RBM) -> Estimate:
        options = self._options
        if set(options) - {"progress", "threads", "seed"}:
            return estimate(model, **options)
        threads = options.get("threads")
        if model._model.exact_seconds(threads) <= self._exact_seconds:
            return exact(model, threads=threads, progress=options["progress"])
        start: dict[str, Any] = {"samples": 256, "steps": 20}
        if self._data is not None:
            start = {"data": self._data}
        return estimate(model, betas=1000, chains=256, no_check=True, **start, **options)

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


def _thinned(data: FloatArray, most: int | None) -> FloatArray:
    if most is None or len(data) <= most:
        return data
    thinned: FloatArray = data[np.linspace(0, len(data) - 1, most).astype(int)]
    return thinned
