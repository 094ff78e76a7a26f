"""The compiled half; the package in front of it checks the arguments."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ._arrays import FloatArray
from ._choices import Verdict

__all__ = [
    "Compared",
    "Drawn",
    "Examples",
    "Found",
    "Likelihood",
    "LogZ",
    "Model",
    "Scored",
    "Tracked",
    "__version__",
    "bounds",
    "carry_out",
    "choices",
    "compare",
    "defaults",
    "estimate",
    "exact",
    "generate",
    "load",
    "models",
    "sample",
    "schema",
    "score",
    "tensor_names",
    "track",
    "track_run",
    "train",
    "write_compare_page",
    "write_estimate_page",
    "write_log_z",
    "write_score_page",
    "write_track_page",
    "write_train_page",
]

__version__: str

_Progress = (
    Callable[[str, int, int, float | None, float | None, tuple[float, float] | None], None] | None
)

@final
class Model:
    def __new__(
        cls,
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
    ) -> Model: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def visible_bias(self) -> NDArray[np.float64]: ...
    @property
    def hidden_bias(self) -> NDArray[np.float64]: ...
    @property
    def data_means(self) -> NDArray[np.float64] | None: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def constant(self) -> float: ...
    @property
    def exact_log_z(self) -> float | None: ...
    @property
    def metadata(self) -> dict[str, str]: ...
    @property
    def name(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def summary(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    def transposed(self) -> Model: ...
    def save(self, path: str) -> None: ...
    def log_marginals(
        self, data: FloatArray | str, *, threads: int | None
    ) -> NDArray[np.float64]: ...

@final
class Found:
    @property
    def json(self) -> str: ...
    @property
    def lines(self) -> list[tuple[str, str, str, str]]: ...
    @property
    def warnings(self) -> list[tuple[str, str, str]]: ...
    @property
    def reason(self) -> str: ...
    @property
    def log_weights(self) -> NDArray[np.float64] | None: ...
    @property
    def path(self) -> list[tuple[float, float]]: ...
    @property
    def rounds(self) -> list[tuple[float, float, float, float]]: ...
    @property
    def weights(self) -> NDArray[np.float64] | None: ...
    @property
    def starts(self) -> list[list[float]]: ...

@final
class Tracked:
    @property
    def json(self) -> str: ...
    @property
    def lines(self) -> list[tuple[str, str, str, str]]: ...
    @property
    def titles(self) -> list[str]: ...
    @property
    def rows(self) -> list[list[str]]: ...

@final
class LogZ:
    @staticmethod
    def given(value: float) -> LogZ: ...
    @staticmethod
    def read(path: str, model: Model) -> LogZ: ...
    @staticmethod
    def of_result(json: str, said: list[tuple[str, str]], model: Model) -> LogZ: ...

@final
class Scored:
    def report(self, log_z: LogZ) -> Likelihood: ...

@final
class Likelihood:
    @property
    def json(self) -> str: ...
    @property
    def lines(self) -> list[tuple[str, str, str, str]]: ...
    @property
    def warnings(self) -> list[tuple[str, str, str]]: ...
    @property
    def log_likelihoods(self) -> NDArray[np.float64]: ...

@final
class Examples:
    def __new__(
        cls, name: str, data: FloatArray | str, *, most: int | None, threads: int | None
    ) -> Examples: ...
    def mean_log_marginal(self, model: Model, threads: int | None) -> float: ...

_Tracked = tuple[float, float, Sequence[float], Verdict, float | None, float | None]

@final
class Compared:
    @property
    def json(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def titles(self) -> list[str]: ...
    @property
    def rows(self) -> list[list[str]]: ...
    @property
    def note(self) -> str | None: ...
    @property
    def log_weights(self) -> list[NDArray[np.float64]]: ...

def load(
    path: str,
    *,
    spin: bool | None,
    weights: str | None,
    visible_bias: str | None,
    hidden_bias: str | None,
    layout: str | None,
    update: int | None,
) -> Model: ...
def models() -> list[tuple[str, tuple[int, int], str, int | None]]: ...
def tensor_names() -> list[list[str]]: ...
def defaults() -> str: ...
def choices() -> dict[str, list[str]]: ...
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
    after: list[list[float]] | None,
    threads: int | None,
    progress: _Progress,
    crew: Any,
) -> Found: ...
def bounds(
    model: Model,
    *,
    entries: float | None,
    passes: int | None,
    threads: int | None,
    progress: _Progress,
) -> tuple[float, float] | None: ...
def exact(
    model: Model,
    *,
    force: bool,
    max_seconds: float | None,
    max_memory: float | None,
    threads: int | None,
    progress: _Progress,
    crew: Any,
) -> Found: ...
@final
class Drawn:
    @property
    def visible(self) -> NDArray[np.uint8]: ...
    @property
    def hidden(self) -> NDArray[np.uint8]: ...
    @property
    def phase(self) -> NDArray[np.uint64]: ...
    @property
    def found(self) -> Found: ...

def sample(
    model: Model,
    count: int,
    *,
    chains: int | None,
    rungs: int | None,
    seed: int,
    max_seconds: float | None,
    threads: int | None,
    progress: _Progress,
) -> Drawn: ...
def carry_out(model: bytes, order: str, *, threads: int | None) -> bytes: ...
def schema() -> str: ...
def write_log_z(path: str, log_z: float) -> None: ...

_Words = list[tuple[str, str]]
_Trace = tuple[NDArray[np.float64] | None, list[tuple[float, float]], list[tuple[float, ...]]]

def write_estimate_page(
    path: str, json: str, words: _Words, traced: _Trace, command: str
) -> None: ...
def write_score_page(
    path: str,
    json: str,
    words: _Words,
    log_likelihoods: NDArray[np.float64],
    traced: _Trace,
    command: str,
) -> None: ...
def write_compare_page(path: str, json: str, note: str | None, command: str) -> None: ...
def write_track_page(
    path: str, json: str, words: Sequence[tuple[str, str]], command: str
) -> None: ...
def write_train_page(
    path: str, json: str, words: _Words, settings: _Words, command: str
) -> None: ...
def compare(
    model: Model,
    annealing: dict[str, Any],
    *,
    threads: int | None,
    progress: _Progress,
    crew: Any,
) -> Compared: ...
def score(
    model: Model,
    data: FloatArray | str,
    *,
    binarize: str | None,
    seed: int,
    threads: int | None,
    progress: _Progress,
) -> Scored: ...
def track(
    model: Model,
    data: Examples | None,
    validation: Examples | None,
    *,
    track_effort: float,
    exact_seconds: float,
    seed: int,
    threads: int | None,
    progress: _Progress,
) -> _Tracked: ...
def track_run(
    files: list[str],
    models: list[Model],
    data: Examples | None,
    options: dict[str, Any],
    *,
    threads: int | None,
    progress: _Progress,
) -> Tracked: ...
def train(
    data: FloatArray | str,
    settings: dict[str, Any],
    keeping: dict[str, Any],
    *,
    validation: FloatArray | str | None,
    threads: int | None,
    progress: _Progress,
) -> tuple[Model, str]: ...
