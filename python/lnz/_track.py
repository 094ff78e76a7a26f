"""log Z along a training run, by bridges from checkpoint to checkpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from . import _lnz
from ._choices import Verdict
from ._frame import frame
from ._model import as_rbm, data_argument
from ._options import count, number, seed_number, switch, thread_count
from ._progress import ProgressOption, reporter
from ._report import PathLike, words
from ._show import Line, html_table

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint of a training run and its log Z."""

    at: int
    """Its epoch or update, or its place among the others, from 1 on."""
    name: str
    log_z: float
    std_error: float
    """Of the estimate that the way began with, and of all bridges since."""
    interval: tuple[float, float]
    origin: str
    """Where log Z comes from: ``"exact"``, ``"estimate"`` (an independent one) or ``"bridge"``."""
    verdict: Verdict
    gap: float | None
    """How far the mean works of both directions of the bridge are apart, in nats."""
    betas: int | None
    """Steps of the bridge."""
    independent_log_z: float | None
    """An estimate that knows nothing of the other checkpoints, where there is one."""
    independent_error: float | None
    off_in_errors: float | None
    """log Z by way of the bridge less the independent one, in units of the error of both."""
    log_likelihood: float | None
    """Mean log-likelihood of `data`."""
    seconds: float
    sha256: str


@dataclass(frozen=True, repr=False)
class Track:
    """What :func:`track` returns: a :class:`Checkpoint` for each model."""

    rows: tuple[Checkpoint, ...]
    unit: str
    """What the numbers of the checkpoints count: ``"epoch"``, ``"update"`` or ``"checkpoint"``."""
    verdict: Verdict
    """The worst of all checkpoints."""
    _json: str = field(repr=False)
    _lines: tuple[Line, ...] = field(repr=False)
    _titles: tuple[str, ...] = field(repr=False)
    _cells: tuple[tuple[str, ...], ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(self.rows)

    def __getitem__(self, k: int) -> Checkpoint:
        return self.rows[k]

    def to_dict(self) -> dict[str, Any]:
        """The object that ``lnz track --json`` prints."""
        return cast("dict[str, Any]", json.loads(self._json))

    def to_frame(self) -> pandas.DataFrame:
        """A data frame with a row for each checkpoint; needs pandas."""
        return frame(Checkpoint, self.rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """log Z with its intervals along the run, and the independent estimates; needs matplotlib."""
        from ._plot import plot_track

        return plot_track(self, ax)

    def report(self, path: PathLike) -> None:
        """Writes a page with a figure and a table: one HTML file that needs no other file."""
        settings = {k: v for k, v in self.to_dict()["settings"].items() if v not in (None, False)}
        options = "".join(f", {name}={value!r}" for name, value in settings.items())
        command = f"lnz.track(models{options})"
        _lnz.write_track_page(os.fspath(path), self._json, words(self._lines), command)

    def __repr__(self) -> str:
        widths = [
            max(len(cell) for cell in column) for column in zip(self._titles, *self._cells)
        ]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths))
            for row in (self._titles, *self._cells)
        ]
        said = [f"{label:9}{lead}{text}" for label, _, lead, text in self._lines]
        return "\n".join([*lines, "", *said])

    def _repr_html_(self) -> str:
        return html_table(
            "log Z along the run", list(self._titles), [list(row) for row in self._cells]
        )


def track(
    models: Any,
    *,
    data: Any = None,
    check_every: int | None = None,
    no_exact: bool = False,
    chains: int | None = None,
    sweeps: int | None = None,
    betas: int | None = None,
    target_error: float | None = None,
    rounds: int | None = None,
    core: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Track:
    """log Z along a training run, as ``lnz track`` on the command line.

    The first model has an estimate of its own. Chains go from each model to the next and back, and both
    directions together give the ratio of the partition functions. The last model, and each to which no
    such bridge holds, has an independent estimate as well. Where exact values are cheap they are taken.

    Parameters
    ----------
    models
        A folder of checkpoints, a file of ``rbms`` with several updates, files in order, or a list of
        anything that :func:`estimate` takes; all of one shape.
    data
        Values in [0, 1], one row per example, or a file: the mean log-likelihood of each model is wanted.
    check_every
        Independent estimates at every so many models, besides the first and the last.
    no_exact
        Build bridges even if the models can be summed exactly.
    chains, sweeps, betas
        Chains that are carried along (a multiple of 256), sweeps of each model, and steps from one model
        to the next at most.
    target_error, rounds, core
        Of the independent estimates: see :func:`estimate`.
    max_seconds
        The seconds that the call may take; what is known by then is the result.

    >>> import lnz
    >>> models = [lnz.load(f"mnist-20h@{epoch}") for epoch in (10, 50, 100)]
    >>> found = lnz.track(models)
    >>> [row.verdict for row in found]
    ['exact', 'exact', 'exact']
    """
    threads = thread_count(threads)
    files, rbms = _run(models)
    examples = None
    if data is not None:
        examples = _lnz.Examples("data", data_argument("data", data), most=None, threads=threads)
    options = {
        "chains": count("chains", chains),
        "sweeps": count("sweeps", sweeps, least=0),
        "betas": count("betas", betas),
        "seed": seed_number(seed),
        "check_every": count("check_every", check_every),
        "no_exact": switch("no_exact", no_exact),
        "target_error": number("target_error", target_error),
        "rounds": count("rounds", rounds),
        "core": count("core", core, least=0),
        "max_seconds": number("max_seconds", max_seconds),
    }
    with reporter(progress) as report:
        found = _lnz.track_run(files, rbms, examples, options, threads=threads, progress=report)
    fields = json.loads(found.json)
    return Track(
        rows=tuple(_row(row) for row in fields["rows"]),
        unit=fields["unit"],
        verdict=fields["verdict"],
        _json=found.json,
        _lines=tuple(found.lines),
        _titles=tuple(found.titles),
        _cells=tuple(tuple(row) for row in found.rows),
    )


def _run(models: Any) -> tuple[list[str], list[_lnz.Model]]:
    """Files, or models in memory."""
    if isinstance(models, (str, os.PathLike)):
        return [os.fspath(models)], []
    if not isinstance(models, Iterable):
        kind = type(models).__name__
        raise TypeError(f"models is {kind}; expected a folder, a file, or a list of models or files")
    listed = list(models)
    if listed and all(isinstance(model, (str, os.PathLike)) for model in listed):
        return [os.fspath(model) for model in listed], []
    return [], [as_rbm(model)._model for model in listed]


def _row(row: dict[str, Any]) -> Checkpoint:
    # float() understands the words for infinite numbers.
    low, high = (float(end) for end in row["interval"])
    bridge, check = row["bridge"] or {}, row["independent"] or {}
    off, bracket = check.get("off_in_errors"), bridge.get("bracket")
    gap = None
    if bracket is not None and None not in bracket:
        gap = float(bracket[1]) - float(bracket[0])
    return Checkpoint(
        at=row["at"],
        name=row["name"],
        log_z=float(row["log_z"]),
        std_error=float(row["std_error"]),
        interval=(low, high),
        origin=row["from"],
        verdict=row["verdict"],
        gap=gap,
        betas=bridge.get("betas"),
        independent_log_z=check.get("log_z"),
        independent_error=None if not check else float(check["std_error"]),
        off_in_errors=None if off is None else float(off),
        log_likelihood=row["log_likelihood"],
        seconds=row["seconds"],
        sha256=row["sha256"],
    )
