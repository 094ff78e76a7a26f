"""log Z of many models, a row for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._estimates import estimate
from ._executor import Crew
from ._frame import frame
from ._model import as_rbm

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]


@dataclass(frozen=True)
class ModelRow:
    """A model among many: its log Z, or why there is none."""

    model: str
    """Its name, or its number among the models."""
    log_z: float | None = None
    std_error: float | None = None
    interval: tuple[float, float] | None = None
    verdict: str | None = None
    method: str | None = None
    visible: int | None = None
    hidden: int | None = None
    sha256: str | None = None
    seconds: float | None = None
    error: str | None = None
    """What is wrong with the model, where there is no result."""


@dataclass(frozen=True)
class ModelRows:
    """The rows of :func:`estimate_many`, in the order of the models."""

    rows: tuple[ModelRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def __getitem__(self, k: int) -> ModelRow:
        return self.rows[k]

    @property
    def failed(self) -> list[ModelRow]:
        """Those without a result."""
        return [row for row in self.rows if row.error is not None]

    def to_frame(self) -> pandas.DataFrame:
        """A data frame with a row for each model; needs pandas."""
        return frame(ModelRow, self.rows)


def estimate_many(
    models: Iterable[Any], *, executor: Any = None, progress: Any = False, **options: Any
) -> ModelRows:
    """log Z of many models, each as :func:`estimate` has it with the same options.

    A model that is wrong does not stop the others: its row says what is wrong. An `executor` computes one
    model on each worker, on one thread; results are the same bits without it. `progress` may be a function
    that is called with each row as soon as it is there.

    >>> import lnz
    >>> found = lnz.estimate_many(["gwgm-easy", "no-such-model", "bms-3"])
    >>> [(row.model, row.verdict) for row in found]
    [('gwgm-easy', 'exact'), ('no-such-model', None), ('bms-3', 'exact')]
    """
    models = list(models)
    tell = progress if callable(progress) else (lambda row: None)
    if executor is None:
        rows = []
        for k, model in enumerate(models):
            rows.append(_row(model, k, options))
            tell(rows[-1])
        return ModelRows(tuple(rows))
    crew = Crew(executor)
    one = {**options, "threads": options.get("threads", 1)}
    extra = {"pure": False} if crew.is_dask else {}
    futures = {
        k: executor.submit(_row, model, k, one, **extra) for k, model in enumerate(models)
    }
    found: dict[int, ModelRow] = {}
    try:
        for k, future in futures.items():
            try:
                found[k] = future.result()
            except Exception as error:
                raise RuntimeError(crew.explained(error)) from error
            tell(found[k])
    except BaseException:
        for future in futures.values():
            cancel = getattr(future, "cancel", None)
            if cancel is not None:
                cancel()
        raise
    return ModelRows(tuple(found[k] for k in range(len(models))))


def _row(model: Any, k: int, options: dict[str, Any]) -> ModelRow:
    name = model if isinstance(model, str) else f"model {k + 1}"
    try:
        rbm = as_rbm(model)
        result = estimate(rbm, progress=False, **options).to_dict()
    except (TypeError, ValueError, OSError, ArithmeticError, MemoryError) as error:
        if isinstance(error, TypeError) and "unexpected keyword" in str(error):
            raise
        return ModelRow(name, error=str(error))
    # float() understands the words for infinite numbers.
    low, high = (float(end) for end in result["interval"])
    about = result["model"]
    return ModelRow(
        model=name if isinstance(model, str) else str(about["name"] or name),
        log_z=result["log_z"],
        std_error=float(result["std_error"]),
        interval=(low, high),
        verdict=result["verdict"],
        method=result["method"],
        visible=about["visible"],
        hidden=about["hidden"],
        sha256=about["sha256"],
        seconds=result["cost"]["seconds"],
    )
