"""The compiled half; the package in front of it checks the arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import FloatArray

__version__: str

_Progress = Callable[[str, int, int, float | None, float | None], None] | None

class Model:
    def __init__(
        self,
        weights: FloatArray,
        visible_bias: FloatArray,
        hidden_bias: FloatArray,
        *,
        spin: bool,
        constant: float,
        data_means: FloatArray | None,
        exact_log_z: float | None,
        metadata: dict[str, str],
        name: str,
    ) -> None: ...
    weights: NDArray[np.float64]
    visible_bias: NDArray[np.float64]
    hidden_bias: NDArray[np.float64]
    data_means: NDArray[np.float64] | None
    shape: tuple[int, int]
    constant: float
    exact_log_z: float | None
    metadata: dict[str, str]
    name: str
    summary: str
    def exact_seconds(self, threads: int | None) -> float: ...
    def transposed(self) -> Model: ...
    def save(self, path: str) -> None: ...
    def log_marginals(
        self,
        name: str,
        data: FloatArray | str,
        *,
        binarize: str | None,
        seed: int,
        threads: int | None,
        progress: _Progress,
    ) -> NDArray[np.float64]: ...

class Found:
    json: str
    lines: list[tuple[str, str, str, str]]
    warnings: list[tuple[str, str, str]]
    reason: str
    log_weights: NDArray[np.float64] | None
    path: list[tuple[float, float]]

class Compared:
    json: str
    model: str
    titles: str
    rows: list[str]
    note: str | None
    log_weights: list[NDArray[np.float64]]

def load(path: str, *, spin: bool | None) -> Model: ...
def models() -> list[tuple[str, tuple[int, int], str]]: ...
def tensor_names() -> list[list[str]]: ...
def defaults() -> str: ...
def generate(
    sizes: tuple[int | None, int | None],
    moments: Sequence[float | None],
    *,
    blocks: int | None,
    shuffle: bool,
    seed: int,
    no_exact: bool,
    threads: int | None,
    progress: _Progress,
    name: str,
) -> Model: ...
def estimate(
    model: Model,
    options: dict[str, Any],
    annealing: dict[str, Any],
    *,
    threads: int | None,
    progress: _Progress,
) -> Found: ...
def exact(
    model: Model, *, force: bool, threads: int | None, progress: _Progress
) -> Found: ...
def compare(
    model: Model,
    annealing: dict[str, Any],
    *,
    threads: int | None,
    progress: _Progress,
) -> Compared: ...
