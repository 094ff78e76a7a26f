"""Rows as a data frame; pandas is imported when the first one is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]


def frame(kind: type[Any], rows: Iterable[Any]) -> pandas.DataFrame:
    """One row for each value of a dataclass and one column for each field, as in history.csv: an
    interval takes two, and arrays, which a row does not show, take none."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame() needs pandas; install lnz[frame] or pandas") from None
    rows = list(rows)
    columns: dict[str, list[Any]] = {}
    for field in dataclasses.fields(kind):
        values = [getattr(row, field.name) for row in rows]
        if field.name == "interval":
            for end, name in enumerate(("interval_low", "interval_high")):
                columns[name] = [None if value is None else value[end] for value in values]
        elif field.repr:
            columns[field.name] = values
    return pandas.DataFrame(columns)
