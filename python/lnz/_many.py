"""log Z of many models, a row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._estimates import estimate
from ._executor import Crew
from ._frame import frame
from ._model import as_rbm
from ._options import switch
from ._results import Estimate

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
    models: Iterable[Any],
    *,
    share_starts: bool = False,
    executor: Any = None,
    progress: Any = False,
    **options: Any,
) -> ModelRows:
    """log Z of many models, each as :func:`estimate` has it with the same options.

    A model that is wrong does not stop the others: its row says what is wrong. An `executor` computes one
    model on each worker, on one thread; results are the same bits without it. `progress` may be a function
    that is called with each row as soon as it is there.

    With `share_starts`, for checkpoints of a training run in their order, the search of each model begins also
    in the phases of the model before it that has a result, if it has as many units. Results then depend on
    the order, and an `executor` cannot be used.

    >>> import lnz
    >>> found = lnz.estimate_many(["gwgm-easy", "no-such-model", "bms-3"])
    >>> [(row.model, row.verdict) for row in found]
    [('gwgm-easy', 'exact'), ('no-such-model', None), ('bms-3', 'exact')]
    """
    models = list(models)
    tell = progress if callable(progress) else (lambda row: None)
    if switch("share_starts", share_starts):
        if executor is not None:
            raise ValueError(
                "share_starts goes from one model to the next, and an executor computes them at the same "
                "time; drop one of them"
            )
        return ModelRows(tuple(_shared(models, options, tell)))
    if executor is None:
        rows = []
        for k, model in enumerate(models):
            rows.append(_row(model, k, options)[0])
            tell(rows[-1])
        return ModelRows(tuple(rows))
    crew = Crew(executor)
    one = {**options, "threads": options.get("threads", 1)}
    extra = {"pure": False} if crew.is_dask else {}
    futures = {
        k: executor.submit(_row_alone, model, k, one, **extra) for k, model in enumerate(models)
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


def _shared(
    models: list[Any], options: dict[str, Any], tell: Callable[[ModelRow], Any]
) -> Iterator[ModelRow]:
    last: tuple[tuple[int, int], Estimate] | None = None
    for k, model in enumerate(models):
        row, found = _row(model, k, options, last)
        if found is not None:
            about = found.to_dict()["model"]
            last = ((about["visible"], about["hidden"]), found)
        tell(row)
        yield row


def _row_alone(model: Any, k: int, options: dict[str, Any]) -> ModelRow:
    return _row(model, k, options)[0]


def _row(
    model: Any,
    k: int,
    options: dict[str, Any],
    last: tuple[tuple[int, int], Estimate] | None = None,
) -> tuple[ModelRow, Estimate | None]:
    name = model if isinstance(model, str) else f"model {k + 1}"
    try:
        rbm = as_rbm(model)
        if last is not None and last[0] == rbm.shape:
            options = {**options, "after": last[1]}
        found = estimate(rbm, progress=False, **options)
    except (TypeError, ValueError, OSError, ArithmeticError, MemoryError) as error:
        if isinstance(error, TypeError) and "unexpected keyword" in str(error):
            raise
        return ModelRow(name, error=str(error)), None
    result = found.to_dict()
    # float() understands the words for infinite numbers.
    low, high = (float(end) for end in result["interval"])
    about = result["model"]
    row = ModelRow(
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
    return row, found
