"""The likelihood of data."""

from __future__ import annotations

import math
import os
from typing import Any

from . import _lnz
from ._choices import Binarize
from ._estimates import estimate
from ._model import RBM, as_rbm, data_argument
from ._options import number, seed_number, thread_count, word
from ._progress import ProgressOption, reporter
from ._results import Estimate, Score


def score(
    model: Any,
    data: Any,
    *,
    log_z: Any = None,
    binarize: Binarize | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: ProgressOption = None,
    executor: Any = None,
    **options: Any,
) -> Score:
    """The log-likelihood of data under a model, as ``lnz score`` on the command line.

    The uncertainty of log Z is carried into it. An example with a probability above 1 shows that log Z
    is too low: the verdict is then ``"suspect"``, whatever log Z says of itself.

    Parameters
    ----------
    model
        As for :func:`estimate`.
    data
        Values in [0, 1], one row per example, or a file, or the name of a data set that ``lnz data
        fetch`` has got: ``"mnist"``, ``"mnist-test"``, ``"web"``.
    log_z
        A number, taken as if it were exact; an :class:`Estimate` of the same model; or a file with
        the output of ``lnz estimate --json``. Without it, ``estimate(model, **options)`` is used.
    binarize
        What to do with grey values: ``"none"``, ``"threshold"`` or ``"bernoulli"``.
    seed, threads, progress, executor
        As for :func:`estimate`; the executor is for log Z.

    Examples
    --------
    >>> import lnz
    >>> model = lnz.RBM([[0.5], [0.0]], [0.1, -0.4], [0.2])
    >>> states = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> lnz.score(model, states).mean_log_likelihood
    -1.42653...
    >>> wrong = lnz.score(model, states, log_z=0.0)
    >>> wrong.verdict, wrong.warnings[0].kind
    ('suspect', 'above_one')
    """
    rbm = as_rbm(model)
    seed = seed_number(seed)
    values = data_argument("data", data)
    if log_z is not None and options:
        raise TypeError(f"{next(iter(options))} is for estimating log Z, but log_z is given")
    known = None if log_z is None else _log_z(rbm, log_z)
    # The data first: what is wrong with it is known before minutes go into log Z.
    with reporter(progress) as report:
        scored = _lnz.score(
            rbm._model,
            values,
            binarize=word("binarize", binarize),
            seed=seed,
            threads=thread_count(threads),
            progress=report,
        )
    if known is None:
        log_z = estimate(
            rbm, seed=seed, threads=threads, progress=progress, executor=executor, **options
        )
        known = _log_z(rbm, log_z)
    return Score._of(scored.report(known), log_z if isinstance(log_z, Estimate) else None)


def _log_z(rbm: RBM, given: Any) -> _lnz.LogZ:
    if isinstance(given, Estimate):
        said = [(warning.message, warning.advice) for warning in given.warnings]
        return _lnz.LogZ.of_result(given._json, said, rbm._model)
    if isinstance(given, (str, os.PathLike)):
        return _lnz.LogZ.read(os.fspath(given), rbm._model)
    value = number("log_z", given)
    return _lnz.LogZ.given(math.nan if value is None else value)
