"""Results as pages: one HTML file each, with figures, that needs no other file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _lnz

if TYPE_CHECKING:
    from ._results import Comparison, Estimate, Score
    from ._show import Line
    from ._train import Training

PathLike = str | os.PathLike[str]
Trace = tuple[Any, list[tuple[float, float]], list[tuple[float, ...]]]

# Settings that follow from others, or that a number of rounds makes superfluous.
_NOT_TYPED = ("start_was_cut", "max_seconds", "target_error")


def report_estimate(result: Estimate, path: PathLike) -> None:
    fields = result.to_dict()
    command = _call("estimate", fields["model"]["name"], fields["method"], fields["settings"])
    _lnz.write_estimate_page(
        os.fspath(path), result._json, words(result._lines), _trace(result), command
    )


def report_score(score: Score, path: PathLike) -> None:
    fields = score.to_dict()
    names = f"{fields['model']['name']!r}, {fields['data']['name']!r}"
    trace: Trace = (None, [], []) if score.estimate is None else _trace(score.estimate)
    command = f"lnz.score({names}, log_z={score.log_z!r})"
    _lnz.write_score_page(
        os.fspath(path), score._json, words(score._lines), score.log_likelihoods, trace, command
    )


def report_comparison(comparison: Comparison, path: PathLike) -> None:
    name = comparison.to_dict()["model"]["name"]
    command = f"lnz.compare({name!r})"
    _lnz.write_compare_page(os.fspath(path), comparison._json, comparison._note, command)


def report_training(training: Training, path: PathLike) -> None:
    settings = {
        name.removeprefix("training."): value
        for name, value in training.model.metadata.items()
        if name.startswith("training.")
    }
    hidden = training.model.shape[1]
    epochs = training.history[-1].epoch if training.history else 0
    command = f"lnz.train(data, {hidden}, epochs={epochs}, ...)  # with the settings below"
    said = [("model", repr(training.model)), ("epochs", repr(training))]
    _lnz.write_train_page(os.fspath(path), training._json, said, list(settings.items()), command)


def words(lines: tuple[Line, ...]) -> list[tuple[str, str]]:
    """Label and text of each line."""
    return [(label, lead + text) for label, _, lead, text in lines]


def _trace(result: Estimate) -> Trace:
    path = [] if result.path is None else [(float(b), float(z)) for b, z in result.path]
    rounds = [] if result.rounds is None else [tuple(map(float, row)) for row in result.rounds]
    return result._weights, path, rounds


def _call(function: str, name: str, method: str, settings: dict[str, Any]) -> str:
    """The call that gives the same bits; a model in memory has no name that a program knows."""
    # Those that the default method finds by itself, or that a fixed number of rounds makes needless.
    found = {"betas", "chains"} if method == "auto" else set()
    if settings.get("rounds") or method != "auto":
        found |= set(_NOT_TYPED)
    options = {
        key: value
        for key, value in settings.items()
        if value not in (None, False) and key not in found
    }
    typed = [repr(name), f"method={method!r}"]
    typed += [f"{key}={value!r}" for key, value in options.items()]
    return f"lnz.{function}({', '.join(typed)})"
