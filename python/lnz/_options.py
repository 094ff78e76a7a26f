"""Numbers and switches among the arguments, checked under their names."""

from __future__ import annotations

import operator
from typing import Any

# Counts above this are typing errors, and would only exhaust the memory.
LARGEST_COUNT = 100_000_000
MOST_THREADS = 1024
LARGEST_SEED = 2**64 - 1


def count(name: str, value: Any, least: int = 1, most: int = LARGEST_COUNT) -> int | None:
    """A whole number in a range, or None."""
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError(f"{name} is {value}; expected a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name} is {value!r}, a {type(value).__name__}; expected a whole number"
        ) from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}; expected a whole number from {least} to {most}")
    return number


def seed_number(value: Any) -> int:
    """The seed of all random numbers."""
    seed = count("seed", value, least=0, most=LARGEST_SEED)
    if seed is None:
        raise TypeError("seed is None; expected a whole number, so that the result can be repeated")
    return seed


def thread_count(value: Any) -> int | None:
    """How many threads work, or None for all of the machine's."""
    return count("threads", value, most=MOST_THREADS)


def number(name: str, value: Any) -> float | None:
    """A real number, or None."""
    if value is None:
        return None
    if isinstance(value, (bool, str)):
        raise TypeError(f"{name} is {value!r}; expected a number")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} is {value!r}, a {type(value).__name__}; expected a number"
        ) from None


def switch(name: str, value: Any) -> bool:
    """True or False."""
    if value is True or value is False:
        return bool(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise TypeError(f"{name} is {value!r}; expected True or False")


def word(name: str, value: Any) -> str | None:
    """One of a few names, or None; which ones, the compiled half knows."""
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{name} is {value!r}, a {type(value).__name__}; expected a string")
