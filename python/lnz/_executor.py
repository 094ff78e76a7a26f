"""Executors: anything that has ``submit``, as in ``concurrent.futures``, Dask, MPI and submitit.

Work goes out as orders: a line of text each, with the model, which Dask sends to each worker once. An order
takes one thread of a worker and gives back a few bytes for each chain. Results are the same bits for any
executor and any number of workers.
"""

from __future__ import annotations

import os
from typing import Any

from . import _lnz

# Work that one core does sooner is not worth an order.
LEAST_SECONDS = 0.2
# Chains move in groups of 16; orders of 512 chains and more are about as fast as larger ones.
_GROUPS_OF_AN_ORDER = 32
_ORDERS_OF_A_WORKER = 4
# Times that Dask gets an order again, whose worker, or the model there, was lost.
_TRIES = 4


def carry_out(model: bytes, order: str) -> bytes:
    """Carries out an order: what a worker does."""
    return _lnz.carry_out(model, order, threads=1)


class Crew:
    """An executor as the compiled half wants it."""

    def __init__(self, executor: Any) -> None:
        if not callable(getattr(executor, "submit", None)):
            kind = type(executor).__name__
            raise TypeError(
                f"executor is {kind}; expected an object with submit(function, *arguments), such as a "
                "ProcessPoolExecutor or a Dask client"
            )
        self.executor, self.least_seconds = executor, LEAST_SECONDS
        self._sent: dict[str, Any] = {}

    @property
    def is_dask(self) -> bool:
        """A client, whose scheduler can keep the model on the workers."""
        return hasattr(self.executor, "scatter") and hasattr(self.executor, "scheduler_info")

    @property
    def workers(self) -> int:
        """Orders that are carried out at the same time, as far as the executor tells."""
        if self.is_dask:
            return max(1, int(sum(self.executor.nthreads().values())))
        for name in ("_max_workers", "num_workers"):
            value = getattr(self.executor, name, None)
            if isinstance(value, int) and value > 0:
                return value
        return os.cpu_count() or 1

    def parts(self, items: int, seconds: float) -> int:
        """Orders that a task of so many items is split into."""
        workers = self.workers
        each = min(_ORDERS_OF_A_WORKER, max(1, items // (workers * _GROUPS_OF_AN_ORDER)))
        return max(1, min(items, workers * each))

    def submit(self, name: str, model: bytes, orders: list[str]) -> Batch:
        """Hands all orders of a task to the executor."""
        return Batch(self, name, model, orders)

    def begin(self, name: str, model: bytes, order: str) -> Any:
        """Hands one order to the executor."""
        if not self.is_dask:
            return self.executor.submit(carry_out, model, order)
        if name not in self._sent:
            # To all of them: what only one worker has is lost with it.
            self.executor.wait_for_workers(1)
            self._sent[name] = self.executor.scatter(model, broadcast=True)
        return self.executor.submit(carry_out, self._sent[name], order, pure=False)

    def forget(self, name: str) -> None:
        """The model has to be sent again."""
        self._sent.pop(name, None)

    def explained(self, error: BaseException) -> str:
        """A failure of the executor as a sentence."""
        if isinstance(error, ImportError):
            return (
                f"a worker of the executor has no lnz, or another one ({error}); install lnz "
                f"{_lnz.__version__} where the workers run"
            )
        said = str(error) or repr(error)
        if isinstance(error, RuntimeError) and said.startswith("the order comes from lnz"):
            return said
        return f"the executor failed: {type(error).__name__}: {said}"


class Batch:
    """Orders that were handed to an executor."""

    def __init__(self, crew: Crew, name: str, model: bytes, orders: list[str]) -> None:
        self._crew, self._name, self._model, self._orders = crew, name, model, orders
        self._tries = dict.fromkeys(range(len(orders)), 1)
        self._futures = {k: crew.begin(name, model, order) for k, order in enumerate(orders)}

    def ready(self) -> list[tuple[int, bytes]]:
        """The results that have come since the last time; raises what a worker has raised."""
        results = []
        for k, future in list(self._futures.items()):
            if not future.done():
                continue
            try:
                results.append((k, future.result()))
                del self._futures[k]
            except Exception as error:
                if not self._again(k, error):
                    self.cancel()
                    raise
        return results

    def _again(self, k: int, error: Exception) -> bool:
        """Submits an order again, if a worker of Dask was lost with it."""
        kind = type(error).__name__
        lost = kind in ("KilledWorker", "CancelledError", "FutureCancelledError", "CommClosedError")
        if not (self._crew.is_dask and lost and self._tries[k] < _TRIES):
            return False
        self._tries[k] += 1
        self._crew.forget(self._name)
        self._futures[k] = self._crew.begin(self._name, self._model, self._orders[k])
        return True

    def cancel(self) -> None:
        """Cancels what has not begun."""
        for future in self._futures.values():
            cancel = getattr(future, "cancel", None)
            if cancel is not None:
                cancel()
        self._futures.clear()


def crew_of(executor: Any) -> Crew | None:
    """The crew of an executor, if there is one."""
    return None if executor is None else Crew(executor)
