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


ProgressOption = bool | Callable[[Progress], object] | None
_Report = Callable[[str, int, int, "float | None", "float | None"], None]


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
    """One bar, started anew for each phase."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._bar, self._phase = tqdm, None, ""

    def __call__(
        self, phase: str, done: int, total: int, log_z: float | None, beta: float | None
    ) -> None:
        if self._bar is None or phase != self._phase:
            self.close()
            self._phase = phase
            self._bar = self._tqdm(total=total, desc=phase, leave=False, unit_scale=True)
        bar: Any = self._bar
        bar.n = max(bar.n, done)  # threads report out of order
        if log_z is not None:
            at = f" at beta {beta:.3f}" if beta is not None and beta < 1 else ""
            bar.set_postfix_str(f"log Z {log_z:.2f}{at}", refresh=False)
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
