"""log Z, exactly or by sampling: one function for each command of the tool."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _lnz
from ._choices import Binarize, ChainLayout, Init, Method, Precision, Start
from ._executor import crew_of
from ._model import as_rbm, data_argument
from ._options import count, number, seed_number, switch, thread_count, word
from ._options import count as count_of
from ._progress import ProgressOption, reporter
from ._results import Comparison, Estimate, Samples


def estimate(
    model: Any,
    *,
    method: Method = "auto",
    no_exact: bool = False,
    no_check: bool = False,
    target_error: float | None = None,
    max_seconds: float | None = None,
    rounds: int | None = None,
    core: int | None = None,
    start: Start | None = None,
    init: Init | None = None,
    epsilon: float | None = None,
    samples: int | None = None,
    steps: int | None = None,
    flips: int | str | None = None,
    chain_layout: ChainLayout | None = None,
    data: Any = None,
    binarize: Binarize | None = None,
    betas: int | None = None,
    chains: int | None = None,
    schedule: Any = None,
    transpose: bool = False,
    seed: int = 0,
    precision: Precision | None = None,
    after: Estimate | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
    executor: Any = None,
) -> Estimate:
    """log Z of a model and how far to trust it, as ``lnz estimate`` on the command line.

    By default, what can be summed over in a few seconds is, and the rest is sampled from several
    starts. Options that only plain annealed importance sampling (AIS) understands select it. The same
    model, options and seed give the same bits as the command line, for any number of threads.

    Parameters
    ----------
    model
        An :class:`RBM`, a file or the name of a built-in model, a tuple (weights, visible_bias,
        hidden_bias), a fitted BernoulliRBM, a torch module or a state dictionary.
    method
        ``"auto"``, ``"ais"``, ``"exact"`` or ``"tempering"`` (parallel tempering: an independent second
        opinion, whose errors may go either way; `betas` are its rungs, `chains` its ladders).
    no_exact
        Sample the whole model even if it, or parts of it, can be summed exactly.
    no_check
        With AIS: do not search for mass that it may have missed.
    max_seconds
        The seconds that the call may take; not limited by default, but with auto (60). AIS runs as many
        chains as fit into them. A TimeoutError says that the time was too short for any result.
    target_error, rounds, core
        Of auto: the standard error to stop at (0.03), exactly this many rounds, and the states around
        the modes that are summed exactly (4096). Tempering has the first two as well, and at most as many
        rounds.
    start
        Of AIS: ``"uniform"``, ``"data"``, ``"gibbs"`` (the default) or ``"metropolis"``.
    init
        First state of the chains that sample the means: ``"zero"``, ``"one"``, ``"random"``,
        ``"mf"`` (the default) or ``"ps"``.
    epsilon
        Means are pulled into [epsilon, 1 - epsilon] (0.05).
    samples, steps, chain_layout
        States that are averaged (1024), sweeps or proposals before each (100), on ``"parallel"``
        chains or a ``"single"`` one.
    flips
        Units that a Metropolis proposal flips: a number, or a share such as ``"15%"`` (``"100%"``).
    data, binarize
        A data set for the start, as an array of values in [0, 1], a file or the name of a fetched one
        (``"mnist"``), and what to do with its grey values: ``"none"``, ``"threshold"`` or
        ``"bernoulli"``.
    betas, schedule
        Intervals of the linear schedule (1024), or else a list of betas that rise from 0 to 1, or a
        text file of them.
    chains
        Independent chains (1024).
    transpose
        Exchange the layers: the same Z, a different run.
    seed
        Of all random numbers.
    precision
        Resolution of the weights that the chains see: ``"i16"`` (the default), ``"i32"``, ``"f64"``.
    after
        Of auto: the estimate of a similar model with as many units, such as the last one along a training
        run. The search begins also in the phases that were found there.
    threads
        All of the machine's by default.
    progress
        A function that is called with a :class:`Progress`, or whether to show a bar of tqdm; by
        default it is shown where a person can see it.
    executor
        Who computes long work: a ``ProcessPoolExecutor``, a Dask client, an ``MPIPoolExecutor``, an
        executor of submitit, or anything else with ``submit``. The bits of the result stay the same;
        estimates along the path of AIS are left out.

    Examples
    --------
    >>> import lnz
    >>> lnz.estimate("gwgm-hard").log_z
    275.707465995...
    >>> usual = lnz.estimate("gwgm-hard", start="uniform", transpose=True)
    >>> print(f"{usual.log_z:.2f} +- {usual.std_error:.2f}, {usual.verdict}")
    82.04 +- 0.02, suspect
    >>> usual.warnings[0].kind
    'below_lower_bound'
    """
    rbm = as_rbm(model)
    options = {
        "method": word("method", method) or "auto",
        "target_error": number("target_error", target_error),
        "max_seconds": number("max_seconds", max_seconds),
        "rounds": count("rounds", rounds),
        "core": count("core", core, least=0),
        "start": word("start", start),
        "init": word("init", init),
        "epsilon": number("epsilon", epsilon),
        "samples": count("samples", samples),
        "steps": count("steps", steps),
        "flips": flips if isinstance(flips, str) else count("flips", flips, least=0),
        "chain_layout": word("chain_layout", chain_layout),
        "data": None if data is None else data_argument("data", data),
        "binarize": word("binarize", binarize),
        "transpose": switch("transpose", transpose),
    }
    annealing = _annealing(betas, chains, schedule, seed, precision, no_exact, no_check)
    with reporter(progress) as report:
        found = _lnz.estimate(
            rbm._model,
            options,
            annealing,
            after=_starts_of(after),
            threads=thread_count(threads),
            progress=report,
            crew=crew_of(executor),
        )
    return Estimate._of(found)


def _starts_of(after: Estimate | None) -> list[list[float]] | None:
    if after is None:
        return None
    if not isinstance(after, Estimate):
        raise TypeError(f"after is {after!r}; expected what estimate has returned for another model")
    return after._starts


def exact(
    model: Any,
    *,
    force: bool = False,
    max_seconds: float | None = None,
    max_memory: float | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
    executor: Any = None,
) -> Estimate:
    """log Z as a sum over all states, as ``lnz exact`` on the command line.

    Independent parts of the model are summed one by one: over the states of the smaller layer, or, where
    couplings are few, unit by unit with tables of at most `max_memory` bytes (a quarter of the machine's).
    Work of more than ten minutes is refused, with its predicted time, unless `force`. With
    `max_seconds`, what is predicted to take longer is refused, and what does is stopped with a
    TimeoutError. An `executor` computes the parts of long sums, as for :func:`estimate`.

    >>> import lnz
    >>> lnz.exact("bms-3").verdict
    'exact'
    """
    rbm = as_rbm(model)
    with reporter(progress) as report:
        found = _lnz.exact(
            rbm._model,
            force=switch("force", force),
            max_seconds=number("max_seconds", max_seconds),
            max_memory=number("max_memory", max_memory),
            threads=thread_count(threads),
            progress=report,
            crew=crew_of(executor),
        )
    return Estimate._of(found)


def sample(
    model: Any,
    count: int,
    *,
    chains: int | None = None,
    rungs: int | None = None,
    seed: int = 0,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Samples:
    """States of a model, drawn by parallel tempering, as ``lnz sample`` on the command line.

    `chains` ladders (32) of `rungs` chains run between a fitted start and the model and exchange their
    states, so that phases are left and found again. ``estimate`` of the result is log Z of the same run:
    a suspect verdict is one on the states, too.

    >>> import lnz
    >>> drawn = lnz.sample("gwgm-easy", 100)
    >>> drawn.visible.shape, drawn.hidden.shape, drawn.visible.dtype
    ((100, 20), (100, 180), dtype('uint8'))
    """
    rbm = as_rbm(model)
    states = count_of("count", count)
    if states is None:
        raise TypeError("count is None, expected a whole number")
    with reporter(progress) as report:
        drawn = _lnz.sample(
            rbm._model,
            states,
            chains=count_of("chains", chains),
            rungs=count_of("rungs", rungs),
            seed=seed_number(seed),
            max_seconds=number("max_seconds", max_seconds),
            threads=thread_count(threads),
            progress=report,
        )
    return Samples(drawn.visible, drawn.hidden, drawn.phase, Estimate._of(drawn.found))


def bounds(
    model: Any,
    *,
    entries: float | None = None,
    passes: int | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> tuple[float, float] | None:
    """A floor and a ceiling of log Z that hold without statistics, as ``lnz bounds`` on the command line.

    For sparse models of any size, such as grids; None for a model with too many weights. Tables have
    `entries` numbers together and are gone over `passes` times; more of either tightens the bounds.

    >>> import lnz, numpy as np
    >>> ring = np.eye(40) + np.roll(np.eye(40), 1, axis=0)
    >>> rbm = lnz.RBM(ring, np.zeros(40), np.zeros(40))
    >>> floor, ceiling = lnz.bounds(rbm)
    >>> floor <= lnz.exact(rbm).log_z <= ceiling
    True
    """
    rbm = as_rbm(model)
    entries, passes = number("entries", entries), count("passes", passes)
    if entries is not None and not entries > 0:
        raise ValueError(f"entries is {entries}; expected a number above 0")
    with reporter(progress) as report:
        return _lnz.bounds(
            rbm._model, entries=entries, passes=passes, threads=thread_count(threads), progress=report
        )


def compare(
    model: Any,
    *,
    no_exact: bool = False,
    no_check: bool = False,
    betas: int | None = None,
    chains: int | None = None,
    schedule: Any = None,
    seed: int = 0,
    precision: Precision | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
    executor: Any = None,
) -> Comparison:
    """Several strategies side by side on one model, as ``lnz compare`` on the command line.

    The classical start and the paper's two recommended ones, each in both orientations; see
    :func:`estimate` for the options.

    >>> import lnz
    >>> comparison = lnz.compare("gwgm-hard")
    >>> [(row.start, row.transpose) for row in comparison if row.verdict == "consistent"]
    [('gibbs mf', True), ('gibbs ps', True)]
    """
    rbm = as_rbm(model)
    annealing = _annealing(betas, chains, schedule, seed, precision, no_exact, no_check)
    with reporter(progress) as report:
        compared = _lnz.compare(
            rbm._model,
            annealing,
            threads=thread_count(threads),
            progress=report,
            crew=crew_of(executor),
        )
    return Comparison._of(compared)


def _annealing(
    betas: int | None,
    chains: int | None,
    schedule: Any,
    seed: int,
    precision: Precision | None,
    no_exact: bool,
    no_check: bool,
) -> dict[str, Any]:
    if isinstance(schedule, os.PathLike):
        schedule = os.fspath(schedule)
    elif schedule is not None and not isinstance(schedule, str):
        schedule = np.asarray(schedule)
        if schedule.ndim != 1 or schedule.dtype.kind not in "fiu":
            raise TypeError("schedule is neither 'linear', nor a file, nor a list of numbers")
        schedule = schedule.tolist()
    return {
        "betas": count("betas", betas),
        "chains": count("chains", chains),
        "schedule": schedule,
        "seed": seed_number(seed),
        "precision": word("precision", precision),
        "no_exact": switch("no_exact", no_exact),
        "no_check": switch("no_check", no_check),
    }
