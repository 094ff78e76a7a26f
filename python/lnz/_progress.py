"""Progress of long work: a bar of tqdm, or a function of the caller's."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ._options import switch


class Progress(NamedTuple):
    """What a progress function is called with, about twenty times a second."""

    phase: str
    """What is being done: ``"annealing"``, ``"summing"``, ..."""
    done: int
    """Units of work finished."""
    total: int
    """Units of work in this phase."""
    log_z: float | None
    """The estimate so far; while annealing, that of log Z at `beta`."""
    beta: float | None
    """The inverse temperature reached, while annealing."""
    interval: tuple[float, float] | None
    """The 95% interval of the estimate so far, where it is one of the whole model."""


ProgressOption = bool | Callable[[Progress], object] | None
_Report = Callable[
    [str, int, int, "float | None", "float | None", "tuple[float, float] | None"], None
]
# What the bar counts in each phase; others are counted in parts of the whole.
_UNITS = {
    "summing": "states",
    "proving bounds": "passes",
    "sampling means": "steps",
    "annealing": "chain-steps",
    "training": "examples",
    "reading examples": "examples",
}


@contextmanager
def reporter(progress: ProgressOption) -> Iterator[_Report | None]:
    """The function that the compiled half calls, if any."""
    if callable(progress):
        function = progress
        yield lambda *news: _ignore(function(Progress(*news)))
        return
    if progress is None:
        wanted = sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())
    else:
        wanted = switch("progress", progress)
    tqdm = _tqdm() if wanted else None
    if tqdm is None:
        if progress is True:
            raise ImportError("progress=True needs tqdm; install lnz[progress] or tqdm")
        yield None
        return
    bar = _Bar(tqdm)
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """One bar: phases that count have their units; those of auto only tell the time and the estimate,
    because nobody knows how far away their end is."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._bar, self._unit = tqdm, None, ""

    def __call__(
        self,
        phase: str,
        done: int,
        total: int,
        log_z: float | None,
        beta: float | None,
        interval: tuple[float, float] | None,
    ) -> None:
        unit = _UNITS.get(phase, "")
        if self._bar is None or unit != self._unit:
            self.close()
            self._unit = unit
            counted: dict[str, Any] = {
                "total": total or None,
                "unit": f" {unit}",
                "unit_scale": True,
            }
            timed: dict[str, Any] = {"bar_format": "{desc}, {elapsed}{postfix}"}
            self._bar = self._tqdm(leave=False, **(counted if unit else timed))
        bar: Any = self._bar
        bar.set_description_str(phase, refresh=False)
        if unit:
            bar.n = max(bar.n, done)  # threads report out of order
        if log_z is not None:
            at = f" at beta {beta:.3f}" if beta is not None and beta < 1 else ""
            ends = "" if interval is None else " [{:.2f}, {:.2f}]".format(*interval)
            bar.set_postfix_str(f"log Z {log_z:.2f}{ends}{at}", refresh=False)
        bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _ignore(_: object) -> None:
    return None


def _in_notebook() -> bool:
    """In a notebook that can show a bar; one of characters would litter it."""
    return "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is not None


def _tqdm() -> Any:
    try:
        if _in_notebook():
            from tqdm.notebook import tqdm  # type: ignore[import-untyped]
        else:
            from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        return None
    return tqdm
