"""What estimates return: values that do not change and show themselves."""

from __future__ import annotations

import json
import math
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _lnz
from ._choices import Kind, Method, ScoreVerdict, Verdict
from ._frame import frame
from ._show import Line, as_columns, as_html, as_text, html_table

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ResultWarning:
    """A reason to distrust a result."""

    kind: str
    """A short name for programs, such as ``"below_lower_bound"``."""
    message: str
    """What was found."""
    advice: str
    """What to try next."""

    def __str__(self) -> str:
        return f"{self.message}; {self.advice}" if self.advice else self.message


@dataclass(frozen=True, repr=False)
class Estimate:
    """log Z and how far to trust it."""

    log_z: float
    """The logarithm of the partition function."""
    std_error: float
    """Its standard error: 0 for an exact value, infinite for a single chain."""
    interval: tuple[float, float]
    """The 95% interval."""
    lower_bound: float | None
    """log Z is not below this exact sum over some states; None if there was no search."""
    proven: tuple[float, float] | None
    """Floor and ceiling that hold without statistics; None where none were proven, see `lnz.bounds`."""
    verdict: Verdict
    """``"exact"``, ``"consistent"``, ``"suspect"``, or ``"unchecked"`` if the tests were off."""
    warnings: tuple[ResultWarning, ...]
    """The reasons for a suspicion, each with what to try next."""
    ess: float | None
    """Effective number of chains."""
    method: Method
    """``"auto"``, ``"ais"`` or ``"exact"``."""
    reason: str
    """What the verdict rests on."""
    log_weights: NDArray[np.float64] | None = field(compare=False)
    """The samples s_i of plain AIS, whose log-mean-exp is `log_z`; None for other methods."""
    path: NDArray[np.float64] | None = field(compare=False)
    """Rows of (beta, estimate of log Z there) along the annealing; None for other methods."""
    rounds: NDArray[np.float64] | None = field(compare=False)
    """Rows of (seconds, log Z, both ends of its interval) after each round of auto; None for others."""
    _weights: NDArray[np.float64] | None = field(compare=False)
    _json: str = field(compare=False)
    _lines: tuple[Line, ...] = field(compare=False)
    _starts: list[list[float]] = field(compare=False, repr=False)

    @classmethod
    def _of(cls, found: _lnz.Found) -> Estimate:
        fields = json.loads(found.json)
        low, high = fields["interval"]
        path = np.array(found.path) if found.path else None
        return cls(
            log_z=fields["log_z"],
            std_error=_or(fields["std_error"], math.inf),
            interval=(_or(low, -math.inf), _or(high, math.inf)),
            lower_bound=fields["lower_bound"],
            proven=fields["proven"] and tuple(fields["proven"]),
            verdict=fields["verdict"],
            warnings=tuple(ResultWarning(*warning) for warning in found.warnings),
            ess=fields["ess"],
            method=fields["method"],
            reason=found.reason,
            log_weights=_read_only(found.log_weights),
            path=_read_only(path),
            rounds=_read_only(np.array(found.rounds) if found.rounds else None),
            _weights=_read_only(found.weights),
            _json=found.json,
            _lines=tuple(found.lines),
            _starts=found.starts,
        )

    def to_dict(self) -> dict[str, Any]:
        """The object that ``lnz estimate --json`` prints, settings and cost included.

        Numbers that do not apply are None, infinite ones the words ``"Infinity"`` and ``"-Infinity"``;
        :func:`lnz.schema` has all fields. Advice is in options of the command line.
        """
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with figures, settings and the result: one HTML file that needs no other.

        It is the page of ``lnz estimate --report``, with the call that repeats the run.
        """
        from ._report import report_estimate

        report_estimate(self, path)

    def save_pr(self, path: str | os.PathLike[str]) -> None:
        """Writes log10 Z as a solution file of the UAI competitions, such as ``model.uai.PR``."""
        _lnz.write_log_z(os.fspath(path), self.log_z)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide the result, under the names of the keywords."""
        return {
            key: value for key, value in self.to_dict()["settings"].items() if value is not None
        }

    @property
    def cost(self) -> dict[str, Any]:
        """What it took: seconds, chain_steps, states, threads."""
        return {key: value for key, value in self.to_dict()["cost"].items() if value is not None}

    @overload
    def plot(self, kind: Kind, ax: Axes | None = None) -> Axes: ...
    @overload
    def plot(self, kind: Kind | None = None, *, ax: Axes) -> Axes: ...
    @overload
    def plot(self, kind: None = None, ax: None = None) -> Axes | NDArray[np.object_]: ...
    def plot(self, kind: Kind | None = None, ax: Axes | None = None) -> Axes | NDArray[np.object_]:
        """Shows the result with matplotlib; returns the axes.

        `kind` is ``"weights"`` (histogram of the log weights), ``"path"`` (log Z along the annealing),
        ``"rounds"`` (the estimate after each round of auto, with its interval) or ``"starts"`` (what
        each start found); by default what the method has, which for plain AIS is the first two, in an
        array of two axes. An exact value has nothing to plot.
        """
        from ._plot import plot_estimate

        return plot_estimate(self, kind, ax)

    def __float__(self) -> float:
        return self.log_z

    def __repr__(self) -> str:
        return as_text(self._lines)

    def _repr_html_(self) -> str:
        return as_html(self._lines)


@dataclass(frozen=True)
class Samples:
    """States of a model, and the run of parallel tempering that drew them."""

    visible: NDArray[np.uint8]
    """The visible units, one state a row."""
    hidden: NDArray[np.uint8]
    """The hidden units of the same states."""
    phase: NDArray[np.uint64]
    """The phase that each state is in."""
    estimate: Estimate
    """log Z of the same run; a suspect verdict is one on the states, too."""

    def __len__(self) -> int:
        return len(self.visible)

    def __repr__(self) -> str:
        phases = len(np.unique(self.phase))
        return f"<{len(self)} states in {phases} phases, {self.estimate.verdict}>"


@dataclass(frozen=True)
class Strategy:
    """One line of a comparison."""

    start: str
    """Where the annealing started: ``"uniform"``, ``"gibbs mf"`` or ``"gibbs ps"``."""
    transpose: bool
    """On the exchanged layers."""
    log_z: float
    std_error: float
    interval: tuple[float, float]
    ess: float
    difference: float
    """From the exact value, or from the highest estimate where there is none."""
    verdict: Verdict
    warnings: tuple[str, ...]
    """Kinds of the warnings."""
    log_weights: NDArray[np.float64] = field(compare=False, repr=False)


@dataclass(frozen=True, repr=False)
class Comparison(Sequence[Strategy]):
    """Several strategies side by side; a sequence of :class:`Strategy`."""

    exact: float | None
    """The truth, where it is cheap."""
    strategies: tuple[Strategy, ...]
    _json: str = field(compare=False)
    _model: str = field(compare=False)
    _titles: tuple[str, ...] = field(compare=False)
    _rows: tuple[tuple[str, ...], ...] = field(compare=False)
    _note: str | None = field(compare=False)

    @classmethod
    def _of(cls, compared: _lnz.Compared) -> Comparison:
        fields = json.loads(compared.json)
        strategies = tuple(
            _strategy(row, log_weights)
            for row, log_weights in zip(fields["strategies"], compared.log_weights)
        )
        rows = tuple(tuple(row) for row in compared.rows)
        texts = (compared.model, tuple(compared.titles), rows, compared.note)
        return cls(fields["exact"], strategies, compared.json, *texts)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``lnz compare --json`` prints."""
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    def to_frame(self) -> pandas.DataFrame:
        """The strategies as a pandas DataFrame, one row for each, without the log weights."""
        return frame(Strategy, self.strategies)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with a figure and a table: one HTML file that needs no other."""
        from ._report import report_comparison

        report_comparison(self, path)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Every strategy with its 95% interval, and the exact value; returns the axes."""
        from ._plot import plot_comparison

        return plot_comparison(self, ax)

    def __len__(self) -> int:
        return len(self.strategies)

    def __getitem__(self, index: Any) -> Any:
        return self.strategies[index]

    def __repr__(self) -> str:
        exact = [] if self.exact is None else [f"exact    {self.exact:.9f}"]
        note = [] if self._note is None else ["", *textwrap.wrap(self._note, 88)]
        lines = as_columns([self._titles, *self._rows])
        return "\n".join([f"model    {self._model}", *exact, "", *lines, *note])

    def _repr_html_(self) -> str:
        head = ("start", "orientation", "log Z", "95% interval", "off by", "verdict")
        rows = [
            (
                row.start,
                "transposed" if row.transpose else "original",
                f"{row.log_z:.2f}",
                f"[{row.interval[0]:.2f}, {row.interval[1]:.2f}]",
                f"{row.difference:+.2f}",
                row.verdict,
            )
            for row in self.strategies
        ]
        exact = "" if self.exact is None else f", exact log Z {self.exact:.6f}"
        return html_table(f"{self._model}{exact}", head, rows)


@dataclass(frozen=True, repr=False)
class Score:
    """The log-likelihood of data, with the uncertainty of log Z carried into it."""

    mean_log_likelihood: float
    """The mean over the examples."""
    std_error: float
    """Its standard error for these very examples, which is that of log Z."""
    interval: tuple[float, float]
    """Its 95% interval for these very examples: that of log Z, turned round."""
    sampling_error: float
    """How far the mean over other examples of the same source may lie, as a standard error."""
    examples: int
    """Number of examples."""
    log_z: float
    """The log Z that was used."""
    verdict: ScoreVerdict
    """How far to trust it: that of log Z, ``"given"`` for a number, or ``"suspect"`` when an example
    has a probability above 1."""
    warnings: tuple[ResultWarning, ...]
    """The reasons for a suspicion, and what to know about the data."""
    quantiles: dict[str, float]
    """How the log-likelihoods spread: min, q05, q25, median, q75, q95, max."""
    log_likelihoods: NDArray[np.float64] = field(compare=False)
    """The log-likelihood of each example."""
    estimate: Estimate | None = field(compare=False)
    """The estimate of log Z, unless a number or a file was given."""
    _json: str = field(compare=False)
    _lines: tuple[Line, ...] = field(compare=False)

    @classmethod
    def _of(cls, found: _lnz.Likelihood, estimate: Estimate | None) -> Score:
        fields = json.loads(found.json)
        mean, given = fields["mean_log_likelihood"], fields["interval"] is None
        low, high = (mean, mean) if given else fields["interval"]
        return cls(
            mean_log_likelihood=mean,
            std_error=0.0 if given else _or(fields["std_error"], math.inf),
            interval=(_or(low, -math.inf), _or(high, math.inf)),
            sampling_error=_or(fields["sampling_error"], math.inf),
            examples=fields["examples"],
            log_z=fields["log_z"],
            verdict=fields["verdict"] or "given",
            warnings=tuple(ResultWarning(*warning) for warning in found.warnings),
            quantiles=fields["quantiles"],
            log_likelihoods=_read_only(found.log_likelihoods),
            estimate=estimate,
            _json=found.json,
            _lines=tuple(found.lines),
        )

    def to_dict(self) -> dict[str, Any]:
        """The object that ``lnz score --json`` prints, the result of log Z included.

        Numbers that do not apply are None, infinite ones the words ``"Infinity"`` and ``"-Infinity"``;
        :func:`lnz.schema` has all fields. Advice is in options of the command line.
        """
        fields: dict[str, Any] = json.loads(self._json)
        return fields

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with figures and the result: one HTML file that needs no other."""
        from ._report import report_score

        report_score(self, path)

    def __float__(self) -> float:
        return self.mean_log_likelihood

    def __repr__(self) -> str:
        return as_text(self._lines)

    def _repr_html_(self) -> str:
        return as_html(self._lines)


def schema() -> dict[str, Any]:
    """The JSON Schema of what ``to_dict()`` returns and ``--json`` prints, as ``lnz schema`` prints it.

    >>> import lnz
    >>> sorted(lnz.schema()["$defs"]["estimate"]["required"])[:3]
    ['cost', 'ess', 'interval']
    """
    fields: dict[str, Any] = json.loads(_lnz.schema())
    return fields


def _strategy(row: dict[str, Any], log_weights: NDArray[np.float64]) -> Strategy:
    numbers = row["estimate"]
    low, high = numbers["interval"]
    return Strategy(
        start=row["start"],
        transpose=row["transpose"],
        log_z=numbers["log_z"],
        std_error=_or(numbers["std_error"], math.inf),
        interval=(_or(low, -math.inf), _or(high, math.inf)),
        ess=numbers["ess"],
        difference=row["difference"],
        verdict=row["verdict"],
        warnings=tuple(row["warnings"]),
        log_weights=_read_only(log_weights),
    )


def _or(value: float | str | None, otherwise: float) -> float:
    """JSON has no infinity: a word stands for it."""
    return otherwise if value is None else float(value)


def _read_only(array: Any) -> Any:
    if array is not None:
        array.flags.writeable = False
    return array
