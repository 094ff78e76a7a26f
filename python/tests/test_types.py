"""The types of options and results name exactly what the library knows."""

from __future__ import annotations

import inspect
import typing

import pytest

import lnz
from lnz import _choices, _lnz

CHOICES = _lnz.choices()
TYPES = {
    "method": _choices.Method,
    "start": _choices.Start,
    "init": _choices.Init,
    "chain_layout": _choices.ChainLayout,
    "precision": _choices.Precision,
    "binarize": _choices.Binarize,
    "visible_bias": _choices.VisibleBias,
    "units": _choices.Units,
    "verdict": _choices.Verdict,
}
# (function, the options of it that are choices); from_torch names tensors by visible_bias.
FUNCTIONS = [
    (lnz.estimate, ["method", "start", "init", "chain_layout", "precision", "binarize"]),
    (lnz.compare, ["precision"]),
    (lnz.score, ["binarize"]),
    (lnz.train, ["visible_bias", "binarize"]),
    (lnz.load, ["units"]),
    (lnz.RBM.__init__, ["units"]),
    (lnz.RBM.from_torch, ["units"]),
]


def names(annotation) -> set[str]:
    """The words of a Literal, or of one in a union with None."""
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    return set().union(*map(names, typing.get_args(annotation)))


def test_every_choice_of_the_library_is_a_type():
    assert TYPES.keys() == CHOICES.keys()
    for setting, choices in CHOICES.items():
        assert list(typing.get_args(TYPES[setting])) == choices, setting
    given = set(typing.get_args(_choices.ScoreVerdict)) - set(CHOICES["verdict"])
    assert given == {"given"}


@pytest.mark.parametrize(
    ("function", "settings"), FUNCTIONS, ids=lambda value: getattr(value, "__qualname__", "")
)
def test_signatures_have_the_choices_of_the_library(function, settings):
    # Only the parameters: what is returned may need packages that are imported when it is asked for.
    globals_of_function = inspect.unwrap(function).__globals__
    for setting in settings:
        annotation = inspect.signature(function).parameters[setting].annotation
        annotation = eval(annotation, globals_of_function)
        assert names(annotation) == set(CHOICES[setting]), setting


@pytest.mark.parametrize("result", [lnz.Estimate, lnz.Strategy, lnz.Record, lnz.Epoch, lnz.Score])
def test_verdicts_of_results_are_those_of_the_library(result):
    module = inspect.getmodule(result)
    annotation = eval(result.__annotations__["verdict"], vars(module))
    assert names(annotation) - {"given"} == set(CHOICES["verdict"])
