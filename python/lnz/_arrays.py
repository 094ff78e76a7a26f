"""From anything that looks like an array to an array that the compiled half accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]


def numbers(name: str, value: Any, dimensions: int) -> FloatArray:
    """`value` as float64 or float32 numbers of so many dimensions, without a copy where possible.

    The layout is left as it is: the compiled half reads any strides.
    """
    array = _as_numpy(name, value)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} has the dtype {array.dtype}; expected real numbers"
            + (" (a sparse matrix needs .toarray())" if hasattr(value, "toarray") else "")
        )
    if array.ndim != dimensions:
        expected = {1: "a vector (1-D)", 2: "a matrix (2-D)"}[dimensions]
        raise ValueError(f"{name} has the shape {array.shape}; expected {expected}")
    if array.dtype in (np.dtype(np.float64), np.dtype(np.float32)) and array.flags.aligned:
        return array
    return array.astype(np.float64)


def rows(name: str, value: Any) -> FloatArray:
    """A data set: a matrix with at least one row, whose bytes above 1 are grey values of 255."""
    array = _as_numpy(name, value)
    checked = numbers(name, value, 2)
    if checked.shape[0] == 0:
        raise ValueError(f"{name} has the shape {checked.shape}; expected at least one row")
    # The same rule as for files: zeros and ones stay what they are.
    if array.dtype == np.uint8 and array.max(initial=0) > 1:
        checked = checked / 255.0
    return checked


def _as_numpy(name: str, value: Any) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError(f"{name} has masked values; fill them first, with .filled(...)")
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} is {type(value).__name__}; expected an array of numbers")
    if hasattr(value, "detach"):  # a torch tensor, which may need a gradient or be on a device
        value = value.detach().cpu()
        if "bfloat16" in str(value.dtype):  # numpy has no such type
            value = value.float()
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name} is not an array of numbers: {error}") from None
