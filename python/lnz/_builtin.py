"""Models that come with lnz, or that it makes."""

from __future__ import annotations

from typing import NamedTuple

from . import _lnz
from ._model import RBM
from ._options import count, number, seed_number, switch, thread_count
from ._progress import ProgressOption, reporter


class BuiltIn(NamedTuple):
    """A built-in model."""

    name: str
    """For :func:`lnz.load` and everything that takes a model."""
    shape: tuple[int, int]
    """Visible and hidden units."""
    description: str
    """What it is good for."""
    epoch: int | None
    """The epoch after which training was stopped; None for a generated model."""


def models() -> list[BuiltIn]:
    """The built-in models: generated ones, and trained ones after several epochs.

    A name without its epoch, ``"mnist-20h"``, stands for the last one.

    >>> import lnz
    >>> [model.name for model in lnz.models()][0]
    'gwgm-hard'
    >>> [model.epoch for model in lnz.models() if model.name.startswith("mnist-20h@")]
    [10, 50, 100, 200, 300, 400, 500]
    """
    return [BuiltIn(*entry) for entry in _lnz.models()]


def generate_gwgm(
    *,
    visible: int = 20,
    hidden: int = 180,
    mu_mu: float = -10.0,
    sigma_mu: float = 10.0,
    mu_sigma: float = 20.0,
    sigma_sigma: float = 10.0,
    lambda_: float = 0.1,
    seed: int = 0,
    no_exact: bool = False,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> RBM:
    """A model with Gaussian weights whose mean and deviation are Gaussian themselves.

    The defaults are the paper's hardest family. `lambda_` scales both moments for the biases. The
    exact log Z is added where that takes a few seconds, unless `no_exact`.

    >>> import lnz
    >>> model = lnz.generate_gwgm(visible=6, hidden=8, seed=7)
    >>> model.exact_log_z == lnz.exact(model).log_z
    True
    """
    moments = (mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda_)
    return _generate(
        visible, hidden, moments, None, False, seed, no_exact, threads, progress, "gwgm"
    )


def generate_bms(
    *,
    blocks: int = 3,
    shuffle: bool = False,
    visible: int = 20,
    hidden: int = 180,
    mu_mu: float = -10.0,
    sigma_mu: float = 10.0,
    mu_sigma: float = 20.0,
    sigma_sigma: float = 10.0,
    lambda_: float = 0.1,
    seed: int = 0,
    no_exact: bool = False,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> RBM:
    """Several GWGM models side by side, without weights between them; Z is the product of theirs.

    >>> import lnz
    >>> lnz.generate_bms(blocks=2, visible=3, hidden=4, shuffle=True).shape
    (6, 8)
    """
    moments = (mu_mu, sigma_mu, mu_sigma, sigma_sigma, lambda_)
    return _generate(
        visible, hidden, moments, count("blocks", blocks), switch("shuffle", shuffle), seed,
        no_exact, threads, progress, "bms",
    )  # fmt: skip


def _generate(
    visible: int,
    hidden: int,
    moments: tuple[float, ...],
    blocks: int | None,
    shuffle: bool,
    seed: int,
    no_exact: bool,
    threads: int | None,
    progress: ProgressOption,
    name: str,
) -> RBM:
    names = ("mu_mu", "sigma_mu", "mu_sigma", "sigma_sigma", "lambda_")
    with reporter(progress) as report:
        model = _lnz.generate(
            (count("visible", visible), count("hidden", hidden, least=0)),
            [number(name, value) for name, value in zip(names, moments)],
            blocks=blocks,
            shuffle=shuffle,
            seed=seed_number(seed),
            no_exact=switch("no_exact", no_exact),
            threads=thread_count(threads),
            progress=report,
            name=name,
        )
    return RBM._of(model)
